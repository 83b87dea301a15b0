// Two engines in one process, as far as logins go: each with a book, a desk and a loop, and one store of notes for
// both.
#include "unit/app_login_counter.h"

#include "app/login_share.h"
#include "support/note_store.h"

enum { PATIENCE = 2000, NAP_US = 5000 };

struct engine_of_logins {
    struct stage *stage;
    struct login_book *book;
    struct counter counter;
};

struct scene {
    struct note_store notes;
    struct token_ring ring;
    struct engine_of_logins one, two;
};

static void engine_open(struct engine_of_logins *engine, struct scene *scene, const char *context)
{
    engine->stage = stage_make();
    add_account(engine->stage, "acme", "main", context);
    assert_int_equal(login_book_create(&engine->stage->catalogue, &engine->book), STATUS_OK);
    login_book_share(engine->book, &scene->ring);
    counter_open(&engine->counter, engine->book);
    engine->counter.home.loop = engine->counter.loop;
    engine->counter.home.store = &scene->notes.store;
}

static struct scene *scene_open(const char *context_one, const char *context_two)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    assert_non_null(scene);
    note_store_init(&scene->notes);
    token_ring_init(&scene->ring);
    assert_int_equal(token_ring_make(&scene->ring, TOKEN_OFFER), STATUS_OK);
    engine_open(&scene->one, scene, context_one);
    engine_open(&scene->two, scene, context_two);
    return scene;
}

static void engine_close(struct engine_of_logins *engine)
{
    counter_close(&engine->counter);
    login_book_leave(engine->book, &engine->stage->catalogue);
    login_book_destroy(&engine->book);
    stage_free(&engine->stage);
}

static void scene_close(struct scene *scene)
{
    engine_close(&scene->one);
    engine_close(&scene->two);
    note_store_fini(&scene->notes);
    token_ring_fini(&scene->ring);
    free(scene);
}

static struct script_account *account_of(struct engine_of_logins *engine)
{
    return stage_account(engine->stage, 0, 0);
}

struct stopper {
    struct timer timer;
    struct loop *loop;
};

static void on_stop(struct timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct stopper, timer)->loop);
}

/// Its loop runs for a while, timers included.
static void run(struct engine_of_logins *engine)
{
    struct stopper stopper = { .timer = { .on_due = on_stop }, .loop = engine->counter.loop };

    assert_int_equal(loop_timer_start(stopper.loop, &stopper.timer, clock_now_us() + NAP_US), STATUS_OK);
    loop_run(stopper.loop);
}

/// Lets both go on until this one has begun a fetch of its own.
static void await_fetch(struct scene *scene, struct engine_of_logins *engine)
{
    for (int i = 0; i < PATIENCE && engine->counter.call_count == 0; i++) {
        run(&scene->one);
        run(&scene->two);
    }
    assert_int_equal(engine->counter.call_count, 1);
}

static void await_told(struct scene *scene, const struct waiting *waiting)
{
    for (int i = 0; i < PATIENCE && waiting->told == 0; i++) {
        run(&scene->one);
        run(&scene->two);
    }
    assert_int_equal(waiting->told, 1);
}

static void start(struct engine_of_logins *engine, struct waiting *waiting)
{
    assert_int_equal(login_desk_start(&engine->counter.desk, &waiting->wait), STATUS_OK);
}

static void answer(struct engine_of_logins *engine, const char *value)
{
    go_out(&engine->counter);
    come_back(&engine->counter, value);
    turn(&engine->counter);
}

static void got(struct scene *scene, struct waiting *waiting, const char *value)
{
    await_told(scene, waiting);
    assert_true(text_equals_c(block_text(waiting->wait.login.value), value));
    login_drop(&waiting->wait.login);
}

/// The first engine has fetched this login.
static void fetch_by_one(struct scene *scene, const char *value)
{
    struct waiting waiting = wait_for(account_of(&scene->one));

    start(&scene->one, &waiting);
    await_fetch(scene, &scene->one);
    answer(&scene->one, value);
    got(scene, &waiting, value);
}

static void what_one_has_fetched_the_other_one_uses(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting second = wait_for(account_of(&scene->two));

    fetch_by_one(scene, "\"first\"");
    start(&scene->two, &second);
    got(scene, &second, "\"first\"");
    assert_int_equal(take(&scene->two.counter, account_of(&scene->two), "\"first\""), LOGIN_HERE);
    assert_int_equal(scene->two.counter.fetches, 0);
    assert_int_equal(login_book_counts(scene->two.book, &scene->two.stage->suppliers[0]).adopted, 1);
    assert_int_equal(login_book_counts(scene->two.book, &scene->two.stage->suppliers[0]).made, 0);
    struct block *note = note_store_find(&scene->notes, "login:acme:main:");
    assert_non_null(note);
    assert_null(memmem(block_text(note).data, block_text(note).length, "first", 5)); // sealed
    block_release(&note);
    assert_null(note_store_find(&scene->notes, "claim:")); // given back
    scene_close(scene);
}

static void who_comes_while_the_other_one_fetches_waits_for_that(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one)), second = wait_for(account_of(&scene->two));

    start(&scene->one, &first);
    await_fetch(scene, &scene->one);
    start(&scene->two, &second);
    for (int i = 0; i < 20; i++) { // it looks, finds the claim, and pauses
        run(&scene->two);
    }
    assert_int_equal(scene->two.counter.call_count, 0);
    answer(&scene->one, "\"first\"");
    got(scene, &first, "\"first\"");
    got(scene, &second, "\"first\"");
    assert_int_equal(scene->one.counter.fetches + scene->two.counter.fetches, 1);
    scene_close(scene);
}

static void a_claim_whose_owner_is_gone_is_waited_for_no_longer_than_it_should(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one)), second = wait_for(account_of(&scene->two));

    start(&scene->one, &first);
    await_fetch(scene, &scene->one); // and never ends
    start(&scene->two, &second);
    await_fetch(scene, &scene->two);
    answer(&scene->two, "\"second\"");
    got(scene, &second, "\"second\"");
    answer(&scene->one, "\"first\"");
    got(scene, &first, "\"first\"");
    scene_close(scene);
}

static void a_login_that_was_refused_is_not_taken_again_but_a_newer_one_is(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting second = wait_for(account_of(&scene->two)), third = wait_for(account_of(&scene->two));
    struct waiting first = wait_for(account_of(&scene->one));
    struct login login;
    struct part_end end;

    fetch_by_one(scene, "\"old\"");
    start(&scene->two, &second);
    got(scene, &second, "\"old\"");
    uint64_t number = 1;
    assert_int_equal(login_desk_take(&scene->two.counter.desk, account_of(&scene->two), number, &login, &end),
                     LOGIN_ABSENT);
    third.wait.refused = number;
    start(&scene->two, &third);
    await_fetch(scene, &scene->two); // what stands in the store is what was refused
    answer(&scene->two, "\"new\"");
    got(scene, &third, "\"new\"");
    assert_int_equal(login_desk_take(&scene->one.counter.desk, account_of(&scene->one), number, &login, &end),
                     LOGIN_ABSENT);
    first.wait.refused = number;
    start(&scene->one, &first);
    got(scene, &first, "\"new\"");
    assert_int_equal(scene->one.counter.fetches, 1);
    assert_int_equal(scene->two.counter.fetches, 1);
    scene_close(scene);
}

static void other_credentials_are_another_login(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{2}");
    struct waiting second = wait_for(account_of(&scene->two));

    fetch_by_one(scene, "\"first\"");
    start(&scene->two, &second);
    await_fetch(scene, &scene->two);
    answer(&scene->two, "\"second\"");
    got(scene, &second, "\"second\"");
    scene_close(scene);
}

static void a_note_that_cannot_be_opened_is_no_login(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one));
    char mark[ACCOUNT_MARK_SIZE], name[LOGIN_SHARE_NAME];

    assert_true(account_mark(&scene->ring, TEXT("acme"), account_of(&scene->one), mark));
    (void)snprintf(name, sizeof(name), "login:acme:main:%s", mark);
    note_store_put(&scene->notes, name, TEXT("a note that somebody else has left here, long enough to be sealed"));
    start(&scene->one, &first);
    await_fetch(scene, &scene->one);
    answer(&scene->one, "\"first\"");
    got(scene, &first, "\"first\"");
    scene_close(scene);
}

static void a_store_that_is_down_or_silent_is_done_without(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one)), second = wait_for(account_of(&scene->two));

    note_store_set_down(&scene->notes, true);
    start(&scene->one, &first);
    await_fetch(scene, &scene->one);
    answer(&scene->one, "\"first\"");
    got(scene, &first, "\"first\"");
    note_store_set_down(&scene->notes, false);
    scene->notes.is_silent = true;
    start(&scene->two, &second);
    await_fetch(scene, &scene->two);
    answer(&scene->two, "\"second\"");
    got(scene, &second, "\"second\"");
    scene_close(scene);
}

static void after_a_failure_the_others_leave_it_alone_as_long_as_its_engine(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one));

    start(&scene->one, &first);
    await_fetch(scene, &scene->one);
    answer(&scene->one, NULL);
    await_told(scene, &first);
    assert_null(first.wait.login.value);
    struct block *claim = note_store_find(&scene->notes, "claim:acme:main:");
    assert_non_null(claim);
    block_release(&claim);
    scene_close(scene);
}

static void a_desk_that_closes_while_it_looks_leaves_nothing(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "{1}");
    struct waiting first = wait_for(account_of(&scene->one));

    start(&scene->one, &first);
    login_desk_cancel(&scene->one.counter.desk, &first.wait);
    scene_close(scene); // before the answer of the store has come home
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_has_fetched_the_other_one_uses),
        cmocka_unit_test(who_comes_while_the_other_one_fetches_waits_for_that),
        cmocka_unit_test(a_claim_whose_owner_is_gone_is_waited_for_no_longer_than_it_should),
        cmocka_unit_test(a_login_that_was_refused_is_not_taken_again_but_a_newer_one_is),
        cmocka_unit_test(other_credentials_are_another_login),
        cmocka_unit_test(a_note_that_cannot_be_opened_is_no_login),
        cmocka_unit_test(a_store_that_is_down_or_silent_is_done_without),
        cmocka_unit_test(after_a_failure_the_others_leave_it_alone_as_long_as_its_engine),
        cmocka_unit_test(a_desk_that_closes_while_it_looks_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
