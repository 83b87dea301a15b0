// Logins over generations that come and go by chance.
#include "unit/app_login_counter.h"

#include <sched.h>

enum { MOVES = 1000, LIVE = 3 };

static struct stage *chance(unsigned *seed)
{
    static const char *const names[] = { "acme", "bravo", "delta", "echo", "fox", "golf" };
    static const char *const contexts[] = { "{1}", "{2}" };
    struct stage *stage = stage_make();

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (stage_dice(seed, 3) != 0) {
            add_account(stage, names[i], "main", contexts[stage_dice(seed, 2)]);
        }
        if (stage_dice(seed, 3) == 0) {
            add_account(stage, names[i], "uk", contexts[stage_dice(seed, 2)]);
        }
    }
    return stage;
}

/// The oldest call that is out.
static void answer(struct counter *counter)
{
    if (counter->call_count == 0) {
        sched_yield(); // another desk has fetched it
        return;
    }
    const struct login_errand *errand = counter->calls[0]->owner;
    if (errand->state == ERRAND_BUILDING) {
        go_out(counter);
    } else {
        come_back(counter, "\"any\"");
    }
}

/// Some of those who may be asked are; most are answered, some are given up.
static void search_some(struct counter *counter, struct stage *stage, unsigned *seed)
{
    for (size_t i = 0; i < stage->catalogue.supplier_count; i++) {
        struct waiting waiting = wait_for(stage_account(stage, i, 0));
        if (stage_dice(seed, 3) != 0 || take(counter, waiting.wait.account, "\"any\"") != LOGIN_ABSENT ||
            counter->call_count == CALLS_MAX) {
            continue;
        }
        assert_int_equal(login_desk_start(&counter->desk, &waiting.wait), STATUS_OK);
        if (stage_dice(seed, 3) == 0) {
            login_desk_cancel(&counter->desk, &waiting.wait);
            continue;
        }
        while (waiting.told == 0) {
            answer(counter);
            turn(counter);
        }
        login_drop(&waiting.wait.login);
    }
}

static void a_thousand_moves_leave_nothing_behind(void **state)
{
    (void)state;
    struct counter counter;
    struct login_book *book = NULL;
    struct stage *live[LIVE] = { NULL };
    unsigned seed = 11;

    assert_int_equal(login_book_create(NULL, &book), STATUS_OK);
    counter_open(&counter, book);
    for (size_t i = 0; i < MOVES; i++) {
        struct stage **place = &live[i % LIVE];
        if (*place != NULL) {
            while (counter.call_count > 0) { // they end before their generation goes
                answer(&counter);
            }
            turn(&counter);
            login_book_leave(book, &(*place)->catalogue);
            stage_free(place);
        }
        *place = chance(&seed);
        assert_int_equal(login_book_move(book, &(*place)->catalogue), STATUS_OK);
        search_some(&counter, live[stage_dice(&seed, i < LIVE ? (unsigned)i + 1 : LIVE)], &seed);
        turn(&counter);
        assert_in_range(login_book_count(book), 0, 24); // six suppliers, two accounts, two secrets
    }
    counter_close(&counter);
    for (size_t i = 0; i < LIVE; i++) {
        login_book_leave(book, &live[i]->catalogue);
        stage_free(&live[i]);
    }
    assert_int_equal(login_book_count(book), 0);
    login_book_destroy(&book);
}

/// A loop of its own that asks on whichever generation is the newest, while another thread moves and leaves.
struct busy {
    struct login_book *book;
    pthread_mutex_t lock;
    struct stage *newest; // under the lock
    atomic_bool is_over;
};

static void *ask_while_moving(void *argument)
{
    struct busy *busy = argument;
    struct counter counter;
    unsigned seed = 3;

    counter_open(&counter, busy->book);
    while (!atomic_load(&busy->is_over)) {
        pthread_mutex_lock(&busy->lock);
        struct stage *stage = busy->newest;
        struct ground *ground = ground_hold(&stage->ground);
        pthread_mutex_unlock(&busy->lock);
        search_some(&counter, stage, &seed);
        ground_drop(&ground);
        if (counter.call_count > 0) {
            answer(&counter); // somebody at the other desk may wait for what nobody waits for here
        }
        turn(&counter);
    }
    counter_close(&counter);
    return NULL;
}

static void two_loops_ask_while_a_third_thread_moves(void **state)
{
    (void)state;
    struct busy busy = { .book = NULL };
    struct stage *live[LIVE] = { NULL };
    pthread_t threads[2];
    unsigned seed = 5;
    int moves = 0;

    pthread_mutex_init(&busy.lock, NULL);
    busy.newest = live[0] = chance(&seed);
    assert_int_equal(login_book_create(&live[0]->catalogue, &busy.book), STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_while_moving, &busy), 0);
    }
    while (moves < 300) {
        size_t free_place = LIVE;
        for (size_t i = 0; i < LIVE; i++) {
            if (live[i] != NULL && atomic_load(&live[i]->is_over)) {
                login_book_leave(busy.book, &live[i]->catalogue);
                free(live[i]);
                live[i] = NULL;
            }
            free_place = live[i] == NULL ? i : free_place;
        }
        if (free_place == LIVE) {
            sched_yield();
            continue;
        }
        struct stage *next = live[free_place] = chance(&seed);
        assert_int_equal(login_book_move(busy.book, &next->catalogue), STATUS_OK);
        pthread_mutex_lock(&busy.lock);
        struct ground *ground = &busy.newest->ground;
        busy.newest = next;
        pthread_mutex_unlock(&busy.lock);
        ground_drop(&ground);
        moves++;
    }
    atomic_store(&busy.is_over, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    struct ground *ground = &busy.newest->ground;
    ground_drop(&ground);
    for (size_t i = 0; i < LIVE; i++) {
        if (live[i] != NULL) {
            assert_true(live[i]->is_over);
            login_book_leave(busy.book, &live[i]->catalogue);
            free(live[i]);
        }
    }
    assert_int_equal(login_book_count(busy.book), 0);
    login_book_destroy(&busy.book);
    pthread_mutex_destroy(&busy.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_moves_leave_nothing_behind),
        cmocka_unit_test(two_loops_ask_while_a_third_thread_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
