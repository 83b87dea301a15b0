#include "support/virtual_health.h"

#include "support/virtual_supplier.h"
#include "support/virtual_world.h"

#include <stdlib.h>

// The dice of a play fall in the middle: what waits, waits as long as it says.
enum { MIDDLE = INT32_MAX };

static const struct breaker_settings SETTINGS = {
    .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35
};

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

void virtual_health_init(struct virtual_world *virtual)
{
    virtual->health = calloc(virtual->supplier_count + 1, sizeof(*virtual->health));
    require(virtual->health != NULL);
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        enum breaker_state state = virtual->suppliers[i].breaker;
        if (state == BREAKER_CLOSED) {
            continue;
        }
        struct health *known = calloc(1, sizeof(*known));
        require(known != NULL);
        health_init(known, SETTINGS, virtual->now_us);
        breaker_trip(&known->breaker, MIDDLE, virtual->now_us);
        if (state == BREAKER_HALF_OPEN) {
            known->breaker.until_us = virtual->now_us;
        } else {
            known->breaker.until_us = virtual->now_us + UINT64_C(60) * 1000000;
        }
        virtual->health[i].known = known;
    }
}

/// What it is read to be now is what searches see from now on.
static void publish(const struct virtual_world *virtual, struct virtual_health *health)
{
    struct known *known = malloc(sizeof(*known));

    require(known != NULL);
    known->curve = health->known->curve;
    known->worth = health->worth;
    known_finish(known, virtual->held_cost);
    knowledge_drop(&health->knowledge);
    health->knowledge = &known->knowledge;
    health->fits = health->known->fits;
}

static void remember(const struct virtual_world *virtual, const struct virtual_past *past,
                     struct virtual_health *health)
{
    struct latency *latency = &health->known->latency;
    uint64_t now_us = virtual->now_us;

    for (uint32_t i = 0; i < past->calls; i++) {
        uint32_t place = i * 100 / past->calls;
        if (place >= past->arrive_percent) {
            latency_censored(latency, past->gave_up_us, now_us);
            continue;
        }
        latency_arrived(latency, past->from_us + (past->to_us - past->from_us) * place / past->arrive_percent, 1,
                        now_us);
        if (past->items >= 0) {
            worth_note(&health->worth, 0, past->items, false, now_us);
        }
    }
    (void)latency_fit(latency, now_us, &health->known->curve);
    publish(virtual, health);
}

void virtual_health_remember(struct virtual_world *virtual)
{
    static const struct breaker_settings off = { .is_on = false };

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        const struct virtual_past *past = &virtual->suppliers[i].past;
        struct virtual_health *health = &virtual->health[i];
        if (health->known == NULL && (past->calls > 0 || virtual->learns)) {
            health->known = calloc(1, sizeof(*health->known));
            require(health->known != NULL);
            health_init(health->known, off, virtual->now_us);
        }
        if (past->calls > 0) {
            remember(virtual, past, health);
        }
    }
}

void virtual_health_fini(struct virtual_world *virtual)
{
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        free(virtual->health[i].known);
        knowledge_drop(&virtual->health[i].knowledge);
    }
    free(virtual->health);
}

enum breaker_answer virtual_health_ask(struct world *world, const struct script_account *account,
                                       struct breaker_pass *pass, uint64_t *wait_us)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];
    enum breaker_answer answer = BREAKER_PASS;

    *pass = (struct breaker_pass){ .epoch = 1 };
    *wait_us = 0;
    if (health->known != NULL) {
        answer = health_ask(health->known, MIDDLE, virtual->now_us, pass);
        *wait_us = breaker_refuses_us(&health->known->breaker, virtual->now_us);
    }
    health->asked += answer != BREAKER_REFUSE;
    return answer;
}

void virtual_health_tell(struct world *world, const struct script_account *account, const struct health_result *result)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];

    health->told++;
    health->last = result->end;
    health->pending_us = result->pending_us;
    health->value = result->value;
    if (health->told > health->asked) {
        virtual_world_blame(virtual, "what became of an attempt was told twice");
    }
    if (result->took_us > virtual->now_us || result->pending_us > result->took_us) {
        virtual_world_blame(virtual, "an attempt took less time than its fetch");
    }
    if (health->known != NULL) {
        (void)health_tell(health->known, NULL, result, MIDDLE, virtual->now_us);
        if (health->known->fits != health->fits) {
            publish(virtual, health);
        }
    }
}

struct knowledge *virtual_knowledge(struct world *world, const struct script_account *account)
{
    struct virtual_world *virtual = virtual_of(world);
    return knowledge_hold(virtual->health[virtual_supplier_index(virtual, account)].knowledge);
}

void virtual_worth_tell(struct world *world, const struct script_account *account, uint64_t kind, double items,
                        bool has_won)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];

    health->noted++;
    health->items = items;
    health->has_won = has_won;
    worth_note(&health->worth, kind, items, has_won, virtual->now_us);
}

bool virtual_linger_wants(struct world *world, const struct script_account *account, uint32_t parts)
{
    struct virtual_world *virtual = virtual_of(world);
    size_t index = virtual_supplier_index(virtual, account);

    virtual->health[index].lingering += virtual->suppliers[index].lingers ? parts : 0;
    return virtual->suppliers[index].lingers;
}

void virtual_linger_ended(struct world *world, const struct script_account *account, uint32_t parts)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];

    if (health->lingering < parts) {
        virtual_world_blame(virtual, "more parts have ended than lingered");
    }
    health->lingering -= parts;
}

size_t virtual_health_untold(const struct virtual_world *virtual)
{
    size_t untold = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        untold += virtual->health[i].asked - virtual->health[i].told + virtual->health[i].lingering;
    }
    return untold;
}
