#include "support/virtual_extra.h"

#include "support/virtual_supplier.h"
#include "support/virtual_world.h"

#include <stdlib.h>

enum { KNOWN_ANSWERS = 200, DEFAULT_CALLS = 1000, DEFAULT_VALUE = 10 };

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

static struct virtual_extra *extra_of(struct virtual_world *virtual, const struct script_account *account)
{
    return &virtual->extra[virtual_supplier_index(virtual, account)];
}

void virtual_extra_init(struct virtual_world *virtual)
{
    virtual->extra = calloc(virtual->supplier_count + 1, sizeof(*virtual->extra));
    require(virtual->extra != NULL);
    extra_engine_init(&virtual->extra_engine);
}

void virtual_extra_fini(struct virtual_world *virtual)
{
    free(virtual->extra);
}

/// Each by half, and as many of each as make it known.
static void learn(struct virtual_extra *extra, const struct virtual_extra_given *given, uint64_t now_us)
{
    for (int i = 0; given->is_known && i < KNOWN_ANSWERS; i++) {
        uint64_t us = i % 2 == 0 ? given->median_us : given->late_us;
        latency_arrived(&extra->latency, given->early_us > 0 && i % 5 < 2 ? given->early_us : us, 1, now_us);
    }
    (void)latency_fit(&extra->latency, now_us, &extra->curve);
    for (int i = 0; given->connect_us > 0 && i < KNOWN_ANSWERS; i++) {
        latency_arrived(&extra->book.connects, given->connect_us, 1, now_us);
    }
    (void)latency_fit(&extra->book.connects, now_us, &extra->book.connect_curve);
    if (given->is_known) {
        extra_book_value(&extra->book, given->value > 0 ? given->value : DEFAULT_VALUE);
    }
}

static struct extra_state state_of(struct virtual_world *virtual, const struct script_account *account)
{
    size_t index = virtual_supplier_index(virtual, account);
    const struct virtual_extra_given *given = &virtual->suppliers[index].extra;

    return (struct extra_state){ .curve = &virtual->extra[index].curve,
                                 .is_closed = !given->is_not_closed,
                                 .running = virtual->quotas[index].running + given->running,
                                 .most = virtual->suppliers[index].limits.concurrent };
}

void virtual_extra_begin(struct virtual_world *virtual, struct extra_settings settings, bool is_overloaded)
{
    extra_engine_set(&virtual->extra_engine, settings);
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        const struct virtual_extra_given *given = &virtual->suppliers[i].extra;
        struct virtual_extra *extra = &virtual->extra[i];
        extra_book_init(&extra->book);
        latency_init(&extra->latency);
        latency_curve_init(&extra->curve);
        learn(extra, given, virtual->now_us);
        extra->book.allowance.share = settings.per_supplier;
        for (uint32_t call = given->calls != 0 ? given->calls : DEFAULT_CALLS; call > 0; call--) {
            allowance_earn(&extra->book.allowance, virtual->now_us);
            allowance_earn(&virtual->extra_engine.allowance, virtual->now_us);
        }
        if (given->has_quota) {
            extra_book_quota(&extra->book, virtual->now_us);
        }
    }
    virtual->is_extra_overloaded = is_overloaded;
}

struct extra_times virtual_extra_call(struct world *world, const struct script_account *account,
                                      const struct extra_call *call)
{
    struct virtual_world *virtual = virtual_of(world);
    struct extra_state state = state_of(virtual, account);

    return extra_book_call(&extra_of(virtual, account)->book, &virtual->extra_engine, &state, call, virtual->now_us);
}

void virtual_extra_connected(struct world *world, const struct script_account *account, uint64_t us)
{
    struct virtual_world *virtual = virtual_of(world);
    extra_book_connected(&extra_of(virtual, account)->book, us, virtual->now_us);
}

/// No hedge is ever sent whose median does not fit what remains.
static void check_hedge(struct virtual_world *virtual, const struct extra_state *state,
                        const struct extra_question *question)
{
    uint64_t median_us = 0;

    if (!latency_quantile(state->curve, 0.5, &median_us) || median_us > question->left_us) {
        virtual_world_blame(virtual, "a hedge was granted whose median does not fit what remains");
    }
}

enum extra_answer virtual_extra_ask(struct world *world, const struct script_account *account,
                                    const struct extra_question *question)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_extra *extra = extra_of(virtual, account);
    struct extra_state state = state_of(virtual, account);
    double had = allowance_left(&extra->book.allowance, virtual->now_us);
    struct extra_question own = *question;

    own.is_overloaded = own.is_overloaded || virtual->is_extra_overloaded;
    enum extra_answer answer = extra_book_ask(&extra->book, &virtual->extra_engine, &state, &own, virtual->now_us);

    if (answer != EXTRA_YES) {
        extra->refused = answer;
        return answer;
    }
    if (had < 0.999) {
        virtual_world_blame(virtual, "an extra call was granted beyond its allowance");
    }
    if (question->kind == EXTRA_HEDGE) {
        check_hedge(virtual, &state, question);
    }
    extra->granted[question->kind]++;
    return answer;
}

void virtual_extra_tell(struct world *world, const struct script_account *account, const struct extra_result *result)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_extra *extra = extra_of(virtual, account);
    uint32_t told = 0;

    extra->told[result->kind][result->fate]++;
    for (enum extra_fate fate = EXTRA_WON; fate <= EXTRA_NOT_SENT; fate++) {
        told += extra->told[result->kind][fate];
    }
    if (told > extra->granted[result->kind]) {
        virtual_world_blame(virtual, "what became of an extra call was told twice");
    }
    extra->loser_us = result->loser_us;
    extra_book_tell(&extra->book, &virtual->extra_engine, &extra->latency, result, virtual->now_us);
}

size_t virtual_extra_untold(const struct virtual_world *virtual)
{
    size_t untold = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        for (enum extra_kind kind = EXTRA_RETRY; kind < EXTRA_KINDS; kind++) {
            untold += virtual->extra[i].granted[kind];
            for (enum extra_fate fate = EXTRA_WON; fate <= EXTRA_NOT_SENT; fate++) {
                untold -= virtual->extra[i].told[kind][fate];
            }
        }
    }
    return untold;
}
