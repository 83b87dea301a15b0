// Breakers as several loops share them: calls that begin and end in any order, on any thread, late, or after a reload;
// probes that are lost; suppliers that die and recover. Time is a number that all of them push on.
#include "app/permits.h"

#include "unit/app_moves_stage.h"

#include <sched.h>
#include <stdatomic.h>

enum { LOOPS = 4, STEPS = 6000, OUT = 16, SUPPLIERS = 5, NAMES_OF_EACH = 2, RELOADS = 60 };

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static atomic_uint_fast64_t virtual_us;

static uint64_t virtual_now(void)
{
    return atomic_load(&virtual_us);
}

/// What may be true of an account, if its calls are made one at a time.
struct model {
    pthread_mutex_t lock;
    struct breaker_pass out; // the probe that was lent last
    bool is_out;
    uint64_t lent_us; // not before
};

struct crowd {
    struct permits *permits;
    bool is_modelled;     // one call of an account at a time; else all threads at once, and only the end is looked at
    pthread_mutex_t lock; // of `newest`
    struct stage *newest;
    atomic_bool is_dead[SUPPLIERS];
    struct model models[SUPPLIERS][NAMES_OF_EACH];
    atomic_uint probes, refused, passed, lost, mistakes;
    atomic_bool is_over;
};

struct loop {
    struct crowd *crowd;
    unsigned seed;
};

/// A call that is out, on the generation that it began on.
struct call {
    struct stage *stage;
    size_t supplier, account;
    struct breaker_pass pass;
    bool has_permit;
    uint32_t lingering;
};

static struct stage *stage_of_all(void)
{
    static const char *const names[SUPPLIERS] = { "acme", "bravo", "delta", "echo", "fox" };
    struct stage *stage = stage_make();

    for (size_t i = 0; i < SUPPLIERS; i++) {
        stage_add(stage, names[i], "main", "{}")->limits = (struct request_limits){ .concurrent = 400 };
        stage_add(stage, names[i], "uk", "{}");
        stage->suppliers[i].is_enabled = true;
    }
    stage->catalogue.linger_learn = 200000;
    stage->catalogue.breaker =
        (struct breaker_settings){ .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
    return stage;
}

static struct stage *acquire(struct crowd *crowd)
{
    pthread_mutex_lock(&crowd->lock);
    struct stage *stage = crowd->newest;
    (void)ground_hold(&stage->ground);
    pthread_mutex_unlock(&crowd->lock);
    return stage;
}

static void model_enter(struct crowd *crowd, size_t supplier, size_t account)
{
    if (crowd->is_modelled) {
        pthread_mutex_lock(&crowd->models[supplier][account].lock);
    }
}

static void model_leave(struct crowd *crowd, size_t supplier, size_t account)
{
    if (crowd->is_modelled) {
        pthread_mutex_unlock(&crowd->models[supplier][account].lock);
    }
}

/// Two probes of one state are never out at once, unless the first one's lease is over.
static void model_lend(struct crowd *crowd, const struct call *call, uint64_t before_us)
{
    struct model *model = &crowd->models[call->supplier][call->account];

    if (!crowd->is_modelled) {
        return;
    }
    if (model->is_out && model->out.epoch == call->pass.epoch && virtual_now() < model->lent_us + BREAKER_LEASE_US) {
        atomic_fetch_add(&crowd->mistakes, 1);
    }
    model->is_out = true;
    model->out = call->pass;
    model->lent_us = before_us;
}

static void model_return(struct crowd *crowd, const struct call *call)
{
    struct model *model = &crowd->models[call->supplier][call->account];

    if (crowd->is_modelled && model->out.probe == call->pass.probe && model->out.epoch == call->pass.epoch) {
        model->is_out = false;
    }
}

static bool call_begin(struct loop *loop, struct call *call)
{
    struct crowd *crowd = loop->crowd;
    uint64_t wait_us = 0;

    *call = (struct call){ .stage = acquire(crowd),
                           .supplier = stage_dice(&loop->seed, SUPPLIERS),
                           .account = stage_dice(&loop->seed, NAMES_OF_EACH) };
    const struct script_account *account = stage_account(call->stage, call->supplier, call->account);
    model_enter(crowd, call->supplier, call->account);
    uint64_t before_us = virtual_now();
    enum breaker_answer answer = permits_ask(crowd->permits, account, &call->pass, &wait_us);
    if (answer == BREAKER_PROBE) {
        model_lend(crowd, call, before_us);
    }
    model_leave(crowd, call->supplier, call->account);
    atomic_fetch_add(answer == BREAKER_REFUSE ? &crowd->refused
                     : answer == BREAKER_PASS ? &crowd->passed
                                              : &crowd->probes,
                     1);
    if (answer == BREAKER_REFUSE) {
        struct ground *ground = &call->stage->ground;
        ground_drop(&ground);
        return false;
    }
    call->has_permit = permits_begin(crowd->permits, account, &wait_us) == QUOTA_FREE;
    return true;
}

/// Of a supplier that is well: good, or our own doing.
static struct health_result result_of(struct loop *loop, const struct call *call)
{
    static const enum health_end bad[] = { HEALTH_BAD, HEALTH_UNREACHABLE, HEALTH_CUT };
    bool is_dead = atomic_load(&loop->crowd->is_dead[call->supplier]);
    struct health_result result = { .pass = call->pass, .took_us = 10 * MS + stage_dice(&loop->seed, 300) * MS };

    if (is_dead) {
        result.end = bad[stage_dice(&loop->seed, COUNT_OF(bad))];
        result.took_us += 6 * SECOND;
        result.pending_us = 6 * SECOND;
        return result;
    }
    unsigned dice = stage_dice(&loop->seed, 4);
    result.end = dice == 0 ? HEALTH_CUT : dice == 1 ? HEALTH_OURS : HEALTH_GOOD;
    result.pending_us = dice == 0 ? 5 * MS : 0;
    result.value = 1;
    return result;
}

static void call_end(struct loop *loop, struct call *call)
{
    struct crowd *crowd = loop->crowd;
    const struct script_account *account = stage_account(call->stage, call->supplier, call->account);
    struct health_result result = result_of(loop, call);
    struct ground *ground = &call->stage->ground;
    bool is_lost = call->pass.probe != 0 && stage_dice(&loop->seed, 6) == 0; // nobody tells of it

    if (call->has_permit) {
        permits_end(crowd->permits, account);
    }
    if (call->lingering > 0) {
        permits_end_linger(crowd->permits, account, call->lingering);
    }
    if (is_lost) {
        atomic_fetch_add(&crowd->lost, 1);
    } else {
        model_enter(crowd, call->supplier, call->account);
        permits_tell(crowd->permits, account, &result);
        model_return(crowd, call);
        model_leave(crowd, call->supplier, call->account);
    }
    ground_drop(&ground);
}

/// Something that only looks, or lingers, beside all that.
static void call_look(struct loop *loop, struct call *call)
{
    struct crowd *crowd = loop->crowd;
    const struct script_account *account = stage_account(call->stage, call->supplier, call->account);
    struct permits_view view;

    if (call->lingering == 0 && permits_want_linger(crowd->permits, account, 2, false)) {
        call->lingering = 2;
    }
    permits_look(crowd->permits, account, &view);
    if (view.breaker_percent > 100 || view.breaker_refuses_us > 10 * SECOND || view.samples < 0) {
        atomic_fetch_add(&crowd->mistakes, 1);
    }
}

static void *be_a_loop(void *argument)
{
    struct loop *loop = argument;
    struct call out[OUT];
    size_t count = 0;

    for (int step = 0; step < STEPS; step++) {
        unsigned dice = stage_dice(&loop->seed, 100);
        atomic_fetch_add(&virtual_us, dice == 0 ? 4 * SECOND : stage_dice(&loop->seed, 40) * MS);
        if (dice < 50 && count < OUT) {
            count += call_begin(loop, &out[count]);
        } else if (count > 0 && dice < 90) {
            size_t which = stage_dice(&loop->seed, (unsigned)count);
            call_end(loop, &out[which]);
            out[which] = out[--count];
        } else if (count > 0) {
            call_look(loop, &out[stage_dice(&loop->seed, (unsigned)count)]);
        }
        if (stage_dice(&loop->seed, 400) == 0) {
            size_t supplier = stage_dice(&loop->seed, SUPPLIERS);
            atomic_store(&loop->crowd->is_dead[supplier], stage_dice(&loop->seed, 2) == 0);
        }
    }
    while (count > 0) {
        call_end(loop, &out[--count]);
    }
    return NULL;
}

/// Frees those that nothing stands on; how many are left.
static size_t leave_those_over(struct crowd *crowd, struct stage **live, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&live[i]->is_over)) {
            permits_leave(crowd->permits, &live[i]->catalogue);
            free(live[i]);
        } else {
            live[left++] = live[i];
        }
    }
    return left;
}

static void *be_the_builder(void *argument)
{
    struct crowd *crowd = argument;
    struct stage *live[3] = { crowd->newest };
    size_t count = 1;

    for (int reload = 0; reload < RELOADS && !atomic_load(&crowd->is_over);) {
        count = leave_those_over(crowd, live, count);
        if (count == COUNT_OF(live)) {
            sched_yield();
            continue;
        }
        reload++;
        struct stage *next = live[count++] = stage_of_all();
        if (permits_move(crowd->permits, &next->catalogue) != STATUS_OK) {
            atomic_fetch_add(&crowd->mistakes, 1);
        }
        pthread_mutex_lock(&crowd->lock);
        struct ground *ground = &crowd->newest->ground;
        crowd->newest = next;
        pthread_mutex_unlock(&crowd->lock);
        ground_drop(&ground);
    }
    while (!atomic_load(&crowd->is_over)) {
        sched_yield();
    }
    while ((count = leave_those_over(crowd, live, count)) > 1) {
    }
    return NULL;
}

/// All are well now: whoever is not asked is tried out, and asked again, with nothing left of what was.
static void everybody_comes_back(struct crowd *crowd)
{
    struct stage *stage = crowd->newest;
    uint64_t wait_us = 0;

    for (size_t i = 0; i < SUPPLIERS; i++) {
        for (size_t j = 0; j < NAMES_OF_EACH; j++) {
            const struct script_account *account = stage_account(stage, i, j);
            struct health_result result = { .end = HEALTH_GOOD, .took_us = 100 * MS, .value = 1 };
            struct permits_view view;
            for (int round = 0; round < 1200; round++) { // two minutes
                if (permits_ask(crowd->permits, account, &result.pass, &wait_us) != BREAKER_REFUSE) {
                    permits_tell(crowd->permits, account, &result);
                }
                atomic_fetch_add(&virtual_us, 100 * MS);
            }
            permits_look(crowd->permits, account, &view);
            assert_int_equal(view.breaker, BREAKER_CLOSED);
            assert_int_equal(view.breaker_percent, 100);
            assert_int_equal(view.running, 0);
            bool has_room = false; // for as many as there may be: none of before lingers
            for (int round = 0; round < 10000 && !has_room; round++) {
                has_room = permits_want_linger(crowd->permits, account, PERMITS_LINGER, false);
            }
            assert_true(has_room);
            permits_end_linger(crowd->permits, account, PERMITS_LINGER);
        }
    }
}

static void play(bool is_modelled, unsigned seed)
{
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    struct loop loops[LOOPS];
    pthread_t threads[LOOPS], builder;

    assert_non_null(crowd);
    crowd->is_modelled = is_modelled;
    pthread_mutex_init(&crowd->lock, NULL);
    for (size_t i = 0; i < SUPPLIERS * NAMES_OF_EACH; i++) {
        pthread_mutex_init(&crowd->models[i / NAMES_OF_EACH][i % NAMES_OF_EACH].lock, NULL);
    }
    assert_int_equal(permits_create(NULL, &crowd->permits), STATUS_OK);
    permits_set_clock(crowd->permits, virtual_now);
    crowd->newest = stage_of_all();
    assert_int_equal(permits_move(crowd->permits, &crowd->newest->catalogue), STATUS_OK);
    assert_int_equal(pthread_create(&builder, NULL, be_the_builder, crowd), 0);
    for (size_t i = 0; i < LOOPS; i++) {
        loops[i] = (struct loop){ crowd, seed * 100 + (unsigned)i };
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_loop, &loops[i]), 0);
    }
    for (size_t i = 0; i < LOOPS; i++) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&crowd->is_over, true);
    pthread_join(builder, NULL);
    assert_int_equal(crowd->mistakes, 0);
    assert_true(crowd->passed > 0 && crowd->refused > 0 && crowd->probes > 0 && crowd->lost > 0);
    everybody_comes_back(crowd);
    permits_leave(crowd->permits, &crowd->newest->catalogue);
    assert_int_equal(permits_count(crowd->permits), 0);
    permits_destroy(&crowd->permits);
    stage_free(&crowd->newest);
    free(crowd);
}

static void loops_lend_one_probe_at_a_time(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        play(true, seed);
    }
}

static void loops_that_do_everything_at_once_confuse_no_breaker(void **state)
{
    (void)state;
    for (unsigned seed = 5; seed <= 8; seed++) {
        play(false, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_lend_one_probe_at_a_time),
        cmocka_unit_test(loops_that_do_everything_at_once_confuse_no_breaker),
    };
    atomic_store(&virtual_us, 3600 * SECOND);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
