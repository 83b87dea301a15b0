// Logins over generations: a real loop and book, a world whose script calls the test answers by hand.
#include "app/login_book.h"

#include "app/login_errand.h"
#include "base/clock.h"
#include "model/request_call.h"
#include "unit/app_moves_stage.h"

#include <sched.h>

enum { CALLS_MAX = 8 };

/// A loop with a desk, and the calls that its errands have out.
struct counter {
    struct world world;
    struct loop *loop;
    struct login_book *book;
    struct login_desk desk;
    struct script_call *calls[CALLS_MAX];
    size_t call_count;
    int cancelled;
    int fetches;
};

static struct counter *counter_of(struct world *world)
{
    return CONTAINER_OF(world, struct counter, world);
}

static uint64_t now_us(struct world *world)
{
    (void)world;
    return clock_now_us();
}

static enum status submit(struct world *world, struct script_call *call)
{
    struct counter *counter = counter_of(world);

    assert_in_range(counter->call_count, 0, CALLS_MAX - 1);
    counter->calls[counter->call_count++] = call;
    return STATUS_OK;
}

static void take_call(struct counter *counter, const struct script_call *call)
{
    size_t kept = 0;

    for (size_t i = 0; i < counter->call_count; i++) {
        if (counter->calls[i] != call) {
            counter->calls[kept++] = counter->calls[i];
        }
    }
    counter->call_count = kept;
}

static void cancel(struct world *world, struct script_call *call)
{
    struct counter *counter = counter_of(world);

    take_call(counter, call);
    counter->cancelled++;
    script_call_destroy(call);
}

static enum status fetch(struct world *world, struct fetch *fetch)
{
    counter_of(world)->fetches++;
    fetch->started_us = clock_now_us();
    fetch->response = http_response_create();
    assert_non_null(fetch->response);
    fetch->response->status = 200;
    return STATUS_OK;
}

static void fetch_stop(struct world *world, struct fetch *fetch)
{
    (void)world;
    (void)fetch;
}

static const struct world_ops OPS = {
    .now_us = now_us,
    .script_submit = submit,
    .script_cancel = cancel,
    .fetch_start = fetch,
    .fetch_cancel = fetch_stop,
};

static void counter_open(struct counter *counter, struct login_book *book)
{
    *counter = (struct counter){ .world = { .ops = &OPS }, .book = book };
    assert_int_equal(loop_create(&counter->loop), STATUS_OK);
    assert_int_equal(login_desk_open(&counter->desk, book, &counter->world, counter->loop), STATUS_OK);
}

/// Receives what was posted.
static void turn(struct counter *counter)
{
    loop_stop(counter->loop);
    loop_run(counter->loop);
}

static void counter_close(struct counter *counter)
{
    login_desk_close(&counter->desk);
    turn(counter);
    loop_destroy(&counter->loop);
}

/// The errand's first call is answered: the request goes out and its answer comes, up to what reads it.
static void go_out(struct counter *counter)
{
    struct http_request request = { .method = TEXT("POST"), .url = TEXT("https://acme.example/login") };
    struct script_call *call = counter->calls[0];
    struct login_errand *errand = call->owner;
    struct login_call *built = CONTAINER_OF(call, struct login_call, call);

    take_call(counter, call);
    built->verdict = SCRIPT_OK;
    built->request = http_request_create(&request);
    assert_non_null(built->request);
    call->on_done(call);
    assert_int_equal(errand->state, ERRAND_FETCHING);
    errand->fetch.on_done(&errand->fetch);
}

static void come_back(struct counter *counter, const char *value)
{
    struct script_call *call = counter->calls[0];
    struct login_call *read = CONTAINER_OF(call, struct login_call, call);

    take_call(counter, call);
    read->verdict = value != NULL ? SCRIPT_OK : SCRIPT_ERROR;
    read->value = value != NULL ? block_create(text_of(value)) : NULL;
    read->life_us = UINT64_C(3600000000);
    call->on_done(call);
}

static void log_in(struct counter *counter, const char *value)
{
    assert_int_equal(counter->call_count, 1);
    go_out(counter);
    come_back(counter, value);
    turn(counter);
}

struct waiting {
    struct login_wait wait;
    int told;
};

static void on_told(struct login_wait *wait)
{
    CONTAINER_OF(wait, struct waiting, wait)->told++;
}

static struct waiting wait_for(struct script_account *account)
{
    return (struct waiting){ .wait = { .account = account, .on_done = on_told } };
}

static enum login_state take(struct counter *counter, const struct script_account *account, const char *value)
{
    struct login login = { 0 };
    struct part_end end;
    enum login_state state = login_desk_take(&counter->desk, account, 0, &login, &end);

    if (state == LOGIN_HERE) {
        assert_true(text_equals_c(block_text(login.value), value));
    }
    login_drop(&login);
    return state;
}

static struct script_account *add_account(struct stage *stage, const char *supplier, const char *account,
                                          const char *context)
{
    struct script_account *made = stage_add(stage, supplier, account, context);

    made->login = 1;
    return made;
}

/// A stage with one account that logs in.
static struct stage *stage_of(const char *supplier, const char *account, const char *context)
{
    struct stage *stage = stage_make();

    add_account(stage, supplier, account, context);
    return stage;
}

struct scene {
    struct login_book *book;
    struct counter counter;
    struct stage *old, *new;
};

static struct scene *scene_open(const char *old_context, const char *new_supplier, const char *new_account,
                                const char *new_context)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    assert_non_null(scene);
    scene->old = stage_of("acme", "main", old_context);
    scene->new = stage_of(new_supplier, new_account, new_context);
    assert_int_equal(login_book_create(&scene->old->catalogue, &scene->book), STATUS_OK);
    counter_open(&scene->counter, scene->book);
    return scene;
}

static void scene_close(struct scene *scene)
{
    counter_close(&scene->counter);
    login_book_destroy(&scene->book);
    stage_free(&scene->old);
    stage_free(&scene->new);
    free(scene);
}

static struct script_account *old_of(struct scene *scene)
{
    return stage_account(scene->old, 0, 0);
}

static struct script_account *new_of(struct scene *scene)
{
    return stage_account(scene->new, 0, 0);
}

static void move(struct scene *scene)
{
    assert_int_equal(login_book_move(scene->book, &scene->new->catalogue), STATUS_OK);
    turn(&scene->counter);
}

static void leave(struct scene *scene)
{
    login_book_leave(scene->book, &scene->old->catalogue);
    turn(&scene->counter);
}

static void a_login_serves_the_generation_after_the_one_that_fetched_it(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));
    struct waiting second = wait_for(new_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    move(scene);
    assert_int_equal(login_desk_start(&scene->counter.desk, &second.wait), STATUS_OK);
    log_in(&scene->counter, "\"one\""); // one errand for both
    assert_int_equal(first.told + second.told, 2);
    assert_int_equal(scene->counter.fetches, 1);
    login_drop(&first.wait.login);
    login_drop(&second.wait.login);
    leave(scene);
    assert_int_equal(take(&scene->counter, new_of(scene), "\"one\""), LOGIN_HERE);
    assert_int_equal(login_book_count(scene->book), 1);
    assert_int_equal(login_book_counts(scene->book, &scene->new->suppliers[0]).made, 1);
    scene_close(scene);
}

static void an_account_whose_secret_changed_begins_anew_beside_the_old_one(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{2}");
    struct waiting first = wait_for(old_of(scene));
    struct waiting second = wait_for(new_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    log_in(&scene->counter, "\"one\"");
    move(scene);
    assert_int_equal(take(&scene->counter, new_of(scene), NULL), LOGIN_ABSENT);
    assert_int_equal(take(&scene->counter, old_of(scene), "\"one\""), LOGIN_HERE); // the searches of before
    assert_int_equal(login_desk_start(&scene->counter.desk, &second.wait), STATUS_OK);
    log_in(&scene->counter, "\"two\"");
    assert_int_equal(take(&scene->counter, old_of(scene), "\"one\""), LOGIN_HERE);
    assert_int_equal(take(&scene->counter, new_of(scene), "\"two\""), LOGIN_HERE);
    login_drop(&first.wait.login);
    login_drop(&second.wait.login);
    leave(scene);
    assert_int_equal(login_book_count(scene->book), 1);
    assert_int_equal(login_book_counts(scene->book, &scene->new->suppliers[0]).made, 2); // the sum does not fall
    scene_close(scene);
}

static void a_route_that_changed_is_another_login(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    const struct fetch_route route = { .id = 7 };
    struct waiting first = wait_for(old_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    log_in(&scene->counter, "\"one\"");
    login_drop(&first.wait.login);
    new_of(scene)->route = &route;
    move(scene);
    assert_int_equal(take(&scene->counter, new_of(scene), NULL), LOGIN_ABSENT);
    scene_close(scene);
}

static void a_renamed_account_starts_fresh(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "uk", "{1}");
    struct waiting first = wait_for(old_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    log_in(&scene->counter, "\"one\"");
    login_drop(&first.wait.login);
    move(scene);
    leave(scene);
    assert_int_equal(take(&scene->counter, new_of(scene), NULL), LOGIN_ABSENT);
    assert_int_equal(login_book_count(scene->book), 1);
    scene_close(scene);
}

static void who_waits_for_a_supplier_that_goes_is_told_all_the_same(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "bravo", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    move(scene);
    assert_int_equal(scene->counter.cancelled, 0);
    log_in(&scene->counter, "\"one\"");
    assert_int_equal(first.told, 1);
    assert_non_null(first.wait.login.value);
    login_drop(&first.wait.login);
    assert_true(list_is_empty(&scene->counter.desk.errands)); // no timer is left
    leave(scene);
    assert_int_equal(login_book_count(scene->book), 1); // bravo's
    scene_close(scene);
}

static void what_nobody_waits_for_ends_when_its_supplier_goes(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "bravo", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    login_desk_cancel(&scene->counter.desk, &first.wait); // its search ended; the errand goes on
    assert_int_equal(scene->counter.call_count, 1);
    move(scene);
    assert_int_equal(scene->counter.cancelled, 1);
    assert_true(list_is_empty(&scene->counter.desk.errands));
    // A late search of before still gets one.
    first = wait_for(old_of(scene));
    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    log_in(&scene->counter, "\"one\"");
    assert_int_equal(first.told, 1);
    login_drop(&first.wait.login);
    leave(scene);
    assert_int_equal(login_book_count(scene->book), 1);
    scene_close(scene);
}

static void who_waits_at_another_desk_is_told_when_the_one_that_fetches_closes(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct counter other;
    struct waiting gone = wait_for(old_of(scene));
    struct waiting left = wait_for(old_of(scene));

    counter_open(&other, scene->book);
    assert_int_equal(login_desk_start(&other.desk, &gone.wait), STATUS_OK);
    login_desk_cancel(&other.desk, &gone.wait);
    assert_int_equal(login_desk_start(&scene->counter.desk, &left.wait), STATUS_OK);
    assert_int_equal(scene->counter.call_count, 0); // the other desk fetches it
    counter_close(&other);
    turn(&scene->counter);
    assert_int_equal(left.told, 1);
    assert_null(left.wait.login.value);
    assert_int_equal(left.wait.end.outcome, OUTCOME_SHED);
    scene_close(scene);
}

static void a_pause_after_a_failure_goes_on(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    log_in(&scene->counter, NULL);
    assert_int_equal(first.told, 1);
    assert_null(first.wait.login.value);
    move(scene);
    leave(scene);
    assert_int_equal(take(&scene->counter, new_of(scene), NULL), LOGIN_FAILED);
    assert_int_equal(login_book_counts(scene->book, &scene->new->suppliers[0]).failed, 1);
    scene_close(scene);
}

static void an_errand_holds_the_ground_of_its_generation(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));
    struct ground *ground = &scene->old->ground;

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    move(scene);
    ground_drop(&ground); // the engine's own hold: the next one is out
    assert_false(scene->old->is_over);
    log_in(&scene->counter, "\"one\"");
    assert_true(scene->old->is_over);
    login_drop(&first.wait.login);
    leave(scene);
    (void)memset(scene->old->suppliers, 0xA5, sizeof(scene->old->suppliers)); // gone
    assert_int_equal(take(&scene->counter, new_of(scene), "\"one\""), LOGIN_HERE);
    counter_close(&scene->counter);
    login_book_destroy(&scene->book);
    free(scene->old);
    stage_free(&scene->new);
    free(scene);
}

// ------------------------------------------------------------------------------------------------------------ chance

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
        cmocka_unit_test(a_login_serves_the_generation_after_the_one_that_fetched_it),
        cmocka_unit_test(an_account_whose_secret_changed_begins_anew_beside_the_old_one),
        cmocka_unit_test(a_route_that_changed_is_another_login),
        cmocka_unit_test(a_renamed_account_starts_fresh),
        cmocka_unit_test(who_waits_for_a_supplier_that_goes_is_told_all_the_same),
        cmocka_unit_test(what_nobody_waits_for_ends_when_its_supplier_goes),
        cmocka_unit_test(who_waits_at_another_desk_is_told_when_the_one_that_fetches_closes),
        cmocka_unit_test(a_pause_after_a_failure_goes_on),
        cmocka_unit_test(an_errand_holds_the_ground_of_its_generation),
        cmocka_unit_test(a_thousand_moves_leave_nothing_behind),
        cmocka_unit_test(two_loops_ask_while_a_third_thread_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
