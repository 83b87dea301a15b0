// Logins over generations, one case after the other.
#include "unit/app_login_counter.h"

static void log_in(struct counter *counter, const char *value)
{
    assert_int_equal(counter->call_count, 1);
    go_out(counter);
    come_back(counter, value);
    turn(counter);
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

/// The login's answer is a refusal that says for how long.
static void refuse_for(struct counter *counter, enum script_verdict verdict, uint64_t wait_ms)
{
    go_out(counter);
    struct script_call *call = counter->calls[0];
    struct login_call *read = CONTAINER_OF(call, struct login_call, call);

    take_call(counter, call);
    read->verdict = verdict;
    read->retry_after_ms = wait_ms;
    call->on_done(call);
    turn(counter);
}

static void a_login_that_is_refused_for_a_while_is_not_fetched_for_so_long(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));
    struct part_end end = { 0 };
    struct login login = { 0 };

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    refuse_for(&scene->counter, SCRIPT_FAIL_QUOTA, 86400000);
    assert_int_equal(first.told, 1);
    assert_int_equal(first.wait.end.outcome, OUTCOME_REJECTED);
    assert_int_equal(first.wait.end.rejection, REJECTION_QUOTA);
    assert_in_range(first.wait.end.retry_after_ms, 3500000, 3600000); // what it said has an upper end
    assert_int_equal(login_desk_take(&scene->counter.desk, old_of(scene), 0, &login, &end), LOGIN_FAILED);
    assert_in_range(end.retry_after_ms, 3500000, first.wait.end.retry_after_ms);
    scene_close(scene);
}

static void a_login_that_is_busy_for_a_day_is_fetched_again_within_the_hour(void **state)
{
    (void)state;
    struct scene *scene = scene_open("{1}", "acme", "main", "{1}");
    struct waiting first = wait_for(old_of(scene));
    struct part_end end = { 0 };
    struct login login = { 0 };

    assert_int_equal(login_desk_start(&scene->counter.desk, &first.wait), STATUS_OK);
    refuse_for(&scene->counter, SCRIPT_FAIL_BUSY, 86400000);
    assert_int_equal(first.told, 1);
    assert_in_range(first.wait.end.retry_after_ms, 3500000, 3600000);
    assert_int_equal(login_desk_take(&scene->counter.desk, old_of(scene), 0, &login, &end), LOGIN_FAILED);
    assert_in_range(end.retry_after_ms, 3500000, first.wait.end.retry_after_ms);
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
        cmocka_unit_test(a_login_that_is_refused_for_a_while_is_not_fetched_for_so_long),
        cmocka_unit_test(a_login_that_is_busy_for_a_day_is_fetched_again_within_the_hour),
        cmocka_unit_test(an_errand_holds_the_ground_of_its_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
