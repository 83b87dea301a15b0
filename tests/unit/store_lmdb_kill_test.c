// A process that writes is killed, twenty times; what it had acknowledged is there, and right.
#include "unit/store_lmdb_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 20, PER_ROUND = 100000, FLYING = 64, ROOM = 900 };

static void query_of(uint32_t number, char out[16])
{
    (void)snprintf(out, 16, "q%u", number);
}

/// Of different sizes, so that pages come and go.
static size_t offers_of(uint32_t number)
{
    return 1 + number % 13;
}

static struct store_call *keep_call(struct fixture *fixture, uint32_t number)
{
    char query[16];
    struct offer_batch *batch = store_stage_batch(offers_of(number), 900, number);

    query_of(number % ROOM, query); // many are written over
    struct store_call *call = store_stage_keep_call(&fixture->stage, "acme", "main", query, batch, now_ms + number,
                                                    now_ms + HOUR_MS, now_ms + number);
    offer_batch_release(&batch);
    call->life_ms = number; // to be told from the others
    return call;
}

/// Keeps on, and tells of each that was acknowledged; until it is killed.
_Noreturn static void write_until_killed(struct fixture *fixture, uint32_t number, int acknowledged)
{
    uint32_t flying = 0;

    open_store(fixture, 64 * MIB);
    for (;;) {
        for (; flying < FLYING; flying++) {
            store_stage_submit(&fixture->stage, keep_call(fixture, number++));
        }
        struct store_call *call = store_stage_await(&fixture->stage);
        uint32_t done = (uint32_t)call->life_ms;
        if (call->state != STORE_FOUND || write(acknowledged, &done, sizeof done) != sizeof done) {
            _exit(1);
        }
        store_call_destroy(&call);
        flying--;
    }
}

/// What was acknowledged last, of each query; and when to begin with the next.
static uint32_t hear(int acknowledged, uint32_t latest[ROOM], uint32_t *count)
{
    uint32_t number = 0, most = 0;

    for (*count = 0; read(acknowledged, &number, sizeof number) == sizeof number; ++*count) {
        latest[number % ROOM] = number;
        most = number > most ? number : most;
    }
    return most;
}

static void kill_after(pid_t child, int acknowledged, uint32_t acknowledgements, uint32_t latest[ROOM])
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < acknowledgements; i++) {
        assert_int_equal(read(acknowledged, &number, sizeof number), sizeof number);
        latest[number % ROOM] = number;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void assert_right(struct fixture *fixture, uint32_t slot, uint32_t acknowledged)
{
    char query[16];

    query_of(slot, query);
    struct store_call *call =
        store_stage_do(&fixture->stage, store_stage_look_call(&fixture->stage, STORE_READ, "acme", "main", query, 0,
                                                              now_ms + PER_ROUND));
    assert_int_equal(call->entries[0].state, STORE_FOUND);
    uint32_t number = (uint32_t)(call->entries[0].head.observed_ms - now_ms);
    assert_true(number >= acknowledged); // one after it may have been kept, and not told any more
    assert_int_equal(number % ROOM, slot);
    struct offer_batch *expected = store_stage_batch(offers_of(number), 900, number);
    assert_int_equal(call->entries[0].offers->count, expected->count);
    for (size_t i = 0; i < expected->count; i++) {
        assert_true(text_equals(call->entries[0].offers->offers[i].id, expected->offers[i].id));
        assert_int_equal(call->entries[0].offers->offers[i].json.length, expected->offers[i].json.length + 6);
    }
    offer_batch_release(&expected);
    store_call_destroy(&call);
}

static void what_was_acknowledged_outlives_twenty_kills(void **state)
{
    struct fixture *fixture = *state;
    uint32_t latest[ROOM] = { 0 }, next = ROOM, count = 0, total = 0;

    close_store(fixture);
    for (uint32_t round = 0; round < KILLS; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            write_until_killed(fixture, next, ends[1]);
        }
        close(ends[1]);
        kill_after(child, ends[0], 50 + round * 37 % 200, latest);
        uint32_t most = hear(ends[0], latest, &count);
        close(ends[0]);
        next = (most > next ? most : next) + 1000; // none that was under way comes twice
        total += count;
        open_store(fixture, 64 * MIB);
        for (uint32_t slot = 0; slot < ROOM; slot++) {
            if (latest[slot] != 0) {
                assert_right(fixture, slot, latest[slot]);
            }
        }
        assert_int_equal(report_of(fixture).corrupt, 0);
        assert_int_equal(report_of(fixture).faults, 0);
        close_store(fixture);
    }
    print_message("acknowledged beside the awaited: %u\n", total);
}

int main(void)
{
    now_ms = clock_wall_us() / 1000;
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_was_acknowledged_outlives_twenty_kills),
    };
    return cmocka_run_group_tests_name("store/lmdb kill", tests, NULL, NULL);
}
