#include "support/virtual_health.h"

#include "policy/shed.h"
#include "support/virtual_supplier.h"
#include "support/virtual_world.h"

#include "model/catalogue.h"

#include <stdio.h>
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
        struct auth_park *auth = &virtual->health[i].auth;
        auth_park_init(auth);
        for (uint32_t refusal = 0; refusal < virtual->suppliers[i].auth_refusals; refusal++) {
            (void)auth_park_tell(auth, NULL, AUTH_REFUSED, virtual->now_us);
        }
        auth->until_us = virtual->suppliers[i].is_tried_out && auth->until_us != 0 ? virtual->now_us : auth->until_us;
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

void virtual_health_watch(struct virtual_world *virtual, uint64_t seed)
{
    breaker_guard_init(&virtual->guard, (uint32_t) virtual->supplier_count);
    virtual->health_dice = seed | 1;
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        struct virtual_health *health = &virtual->health[i];
        if (health->known == NULL) {
            health->known = calloc(1, sizeof(*health->known));
            require(health->known != NULL);
            health_init(health->known, SETTINGS, virtual->now_us);
        }
        health->known->breaker.supplier = i + 1;
    }
}

static uint32_t roll(struct virtual_world *virtual)
{
    if (virtual->health_dice == 0) {
        return MIDDLE;
    }
    virtual->health_dice = virtual->health_dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(virtual->health_dice >> 32);
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
        answer = health_ask(health->known, roll(virtual), virtual->now_us, pass);
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
        struct breaker_guard *guard = virtual->health_dice != 0 ? &virtual->guard : NULL;
        (void)health_tell(health->known, guard, result, roll(virtual), virtual->now_us);
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

bool virtual_is_switched_off(struct world *world, const struct catalogue_supplier *supplier,
                             const struct script_account *account, char *why, size_t size)
{
    struct virtual_world *virtual = virtual_of(world);
    const struct virtual_supplier *
        behaviour = &virtual->suppliers[virtual_supplier_index(virtual, account != NULL ? account : supplier->account)];

    if (behaviour->off == NULL || virtual->now_us < virtual->began_us + behaviour->off_after_us) {
        return false;
    }
    if (why != NULL) {
        (void)snprintf(why, size, "%s", behaviour->off);
    }
    return true;
}

bool virtual_auth_ask(struct world *world, const struct script_account *account, struct auth_pass *pass,
                      uint64_t *wait_us)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];
    bool may_go = auth_park_ask(&health->auth, virtual->now_us, pass, wait_us);

    health->auth_asked += may_go;
    return may_go;
}

void virtual_auth_tell(struct world *world, const struct script_account *account, const struct auth_pass *pass,
                       enum auth_end end)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_health *health = &virtual->health[virtual_supplier_index(virtual, account)];

    health->auth_told += pass != NULL;
    if (health->auth_told > health->auth_asked) {
        virtual_world_blame(virtual, "what became of an attempt's credentials was told twice");
    }
    (void)auth_park_tell(&health->auth, pass, end, virtual->now_us);
}

void virtual_health_deny_login(struct virtual_world *virtual, const struct virtual_supplier *supplier)
{
    struct auth_park *auth = &virtual->health[supplier - virtual->suppliers].auth;
    (void)auth_park_tell(auth, NULL, AUTH_REFUSED, virtual->now_us);
}

enum overload_level virtual_overload(struct world *world)
{
    struct admission admission = { .rung = virtual_of(world)->machine.rung };
    return admission_level(&admission);
}

double virtual_shed_share(struct world *world)
{
    return shed_share(virtual_of(world)->machine.rung);
}

double virtual_worth(struct world *world, const struct script_account *account)
{
    struct virtual_world *virtual = virtual_of(world);
    uint32_t worth = virtual->suppliers[virtual_supplier_index(virtual, account)].worth;

    return worth != 0 ? worth : 1;
}

bool virtual_linger_wants(struct world *world, const struct script_account *account, uint32_t parts, bool fills)
{
    struct virtual_world *virtual = virtual_of(world);
    size_t index = virtual_supplier_index(virtual, account);
    bool is_off = virtual_is_switched_off(world, NULL, account, NULL, 0);
    bool is_wanted = (fills || virtual->suppliers[index].lingers) && !is_off;

    is_wanted = is_wanted && virtual_overload(world) == OVERLOAD_NONE;
    virtual->health[index].lingering += is_wanted ? parts : 0;
    return is_wanted;
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

void virtual_late_ended(struct world *world, struct search_record *record, enum outcome spoiled,
                        const struct failure *trouble)
{
    struct virtual_world *virtual = virtual_of(world);
    const struct search_record_entry *entry = &record->entries[0];

    (void)trouble;
    if ((spoiled != OUTCOME_COUNT) && outcome_row(spoiled)->breaker != BREAKER_SCRIPT) {
        virtual_world_blame(virtual, "a script is blamed for what it did not do");
    }
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        struct virtual_health *health = &virtual->health[i];
        if (text_equals_c(entry->name, virtual->suppliers[i].name)) {
            health->lates++;
            health->late_kind = record->kind;
            health->late = record->late;
            health->late_entry = *entry;
        }
    }
    virtual->late_requests += entry->requests;
    search_record_destroy(&record);
}

size_t virtual_health_untold(const struct virtual_world *virtual)
{
    size_t untold = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        const struct virtual_health *health = &virtual->health[i];
        untold += health->asked - health->told + health->lingering;
        untold += health->auth_asked - health->auth_told + health->auth.is_probing;
    }
    return untold;
}
