// The desk at which answers are given to shadows, over a world that keeps the calls: what a call has, how many there
// are.

#include "app/shadow.h"
#include "model/ground.h"
#include "unit/app_generation_stage.h"

static const struct text names[] = { TEXT("acme") };

enum { CALLS_MAX = 16 };

/// A world of which only the clock and the workers are there.
struct stand {
    struct world world;
    struct shadow_desk desk;
    uint64_t now_us;
    struct script_call *calls[CALLS_MAX]; // with the workers
    size_t call_count, submitted;
    bool refuses;
};

static struct stand stand;
static struct shadows *shadows;

static uint64_t stand_now_us(struct world *world)
{
    (void)world;
    return stand.now_us;
}

static enum status stand_submit(struct world *world, struct script_call *call)
{
    (void)world;
    if (stand.refuses) {
        return STATUS_FULL;
    }
    assert_true(stand.call_count < CALLS_MAX);
    stand.calls[stand.call_count++] = call;
    stand.submitted++;
    return STATUS_OK;
}

static const struct world_ops OPS = { .now_us = stand_now_us, .script_submit = stand_submit };

static void stand_open(void)
{
    stand = (struct stand){ .world = { .ops = &OPS }, .now_us = 1000000 };
    shadow_desk_init(&stand.desk, &stand.world);
    assert_int_equal(shadows_create(&shadows), STATUS_OK);
    stand.desk.shadows = shadows;
}

static void stand_close(void)
{
    shadow_desk_close(&stand.desk);
    shadows_destroy(&shadows);
}

/// Acme's file is a shadow of it from here on.
static void follow(void)
{
    assert_int_equal(build_by((struct generation_order){ .shadows = names, .shadow_count = COUNT_OF(names) }),
                     STATUS_OK);
    assert_int_equal(shadows_follow(shadows, names, COUNT_OF(names), generation_catalogue(running), &changes),
                     STATUS_OK);
}

static const struct catalogue_supplier *acme(void)
{
    return &generation_catalogue(running)->suppliers[0];
}

/// An answer of acme was normalised; the caller destroys it.
static struct normalise_call *answer(enum script_verdict verdict)
{
    struct block *facts = block_create(TEXT("{}"));
    struct http_response *response = http_response_create();
    assert_non_null(response);
    response->status = 203;
    response->body = block_create(TEXT("the body"));
    struct normalise_call *call = normalise_call_create(TEXT("01SEARCH"), facts, response);
    assert_non_null(call);
    block_release(&facts);
    catalogue_carry(generation_catalogue(running), &call->call);
    call->account = acme()->account;
    call->call.seed = 7;
    call->call.begun_us = 900000;
    call->call.deadline_us = 950000;
    call->times = (struct script_times){ .arrival_us = 800000, .end_us = 990000, .arrival_wall_us = 5 };
    call->allocation_end_us = 980000;
    call->took_us = 11;
    call->body_cap = 12;
    call->part = 2;
    call->parts = 3;
    call->step = 4;
    call->state = block_create(TEXT("{\"polls\":1}"));
    call->verdict = verdict;
    return call;
}

static void give(enum script_verdict verdict)
{
    struct normalise_call *call = answer(verdict);
    shadow_desk_take(&stand.desk, acme()->shadow, call);
    script_call_destroy(&call->call);
}

/// The workers give the first call back.
static void back(enum script_verdict verdict)
{
    struct script_call *call = stand.calls[0];
    assert_true(stand.call_count > 0);
    stand.call_count--;
    memmove(stand.calls, stand.calls + 1, stand.call_count * sizeof(void *));
    CONTAINER_OF(call, struct normalise_call, call)->verdict = verdict;
    call->on_done(call);
}

static void expect_report(const char *words)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, 1 << 20);
    json_writer_init(&json, &out);
    shadows_write(shadows, true, &json);
    buffer_append_byte(&out, '\0');
    if (strstr(out.data, words) == NULL) {
        fail_msg("no %s in %s", words, out.data);
    }
    buffer_fini(&out);
}

static void a_shadow_is_given_what_the_live_one_was_and_stands_last(void **state)
{
    (void)state;
    stand_open();
    write_supplier("acme", "pages = 3", "", "return {}");
    follow();
    give(SCRIPT_EMPTY);
    assert_int_equal(stand.call_count, 1);
    const struct normalise_call *call = CONTAINER_OF(stand.calls[0], struct normalise_call, call);
    assert_ptr_equal(call->account, acme()->shadow);
    assert_true(call->call.is_last);
    assert_int_equal(call->call.deadline_us, stand.now_us + SHADOW_PATIENCE_US);
    assert_int_equal(call->call.now_us, 900000);
    assert_int_equal(call->call.seed, 7);
    assert_ptr_equal(call->call.set, generation_catalogue(running)->set);
    assert_ptr_equal(call->call.ground, generation_catalogue(running)->ground);
    assert_int_equal(call->times.arrival_us, 800000);
    assert_int_equal(call->allocation_end_us, 980000);
    assert_int_equal(call->took_us + call->body_cap + call->part + call->parts + call->step, 11 + 12 + 2 + 3 + 4);
    assert_true(text_equals_c(block_text(call->state), "{\"polls\":1}"));
    assert_int_equal(call->response->status, 203);
    assert_true(text_equals_c(block_text(call->response->body), "the body"));
    back(SCRIPT_EMPTY);
    assert_int_equal(shadows_compare(shadows), 1);
    expect_report("\"answers\":1,\"same\":1,\"different\":0,\"skipped\":0,\"errors\":0");
    stand_close();
}

static void one_is_with_the_workers_at_a_time_and_what_is_too_much_is_skipped(void **state)
{
    (void)state;
    stand_open();
    follow();
    for (size_t i = 0; i < SHADOW_MOST + 3; i++) {
        give(SCRIPT_EMPTY);
    }
    assert_int_equal(stand.submitted, 1);
    expect_report("\"answers\":0,\"same\":0,\"different\":0,\"skipped\":3");
    for (size_t i = 0; i < SHADOW_MOST; i++) {
        assert_int_equal(stand.call_count, 1);
        back(SCRIPT_ERROR);
    }
    give(SCRIPT_EMPTY); // they are back, but nobody has compared them yet
    assert_int_equal(stand.call_count, 0);
    assert_int_equal(shadows_compare(shadows), SHADOW_MOST);
    expect_report("\"answers\":4,\"same\":0,\"different\":4,\"skipped\":4,\"errors\":4");
    give(SCRIPT_EMPTY);
    assert_int_equal(stand.call_count, 1);
    back(SCRIPT_DROPPED);
    assert_int_equal(shadows_compare(shadows), 0);
    expect_report("\"answers\":4,\"same\":0,\"different\":4,\"skipped\":5,\"errors\":4");
    stand_close();
}

static void workers_that_take_nothing_are_no_trouble(void **state)
{
    (void)state;
    stand_open();
    follow();
    stand.refuses = true;
    give(SCRIPT_EMPTY);
    give(SCRIPT_EMPTY);
    expect_report("\"answers\":0,\"same\":0,\"different\":0,\"skipped\":2");
    stand_close();
}

static void out_of_memory_three_times_is_enough(void **state)
{
    (void)state;
    stand_open();
    follow();
    for (size_t i = 0; i < 5; i++) {
        give(SCRIPT_EMPTY);
        if (stand.call_count > 0) {
            back(SCRIPT_MEMORY);
        }
        (void)shadows_compare(shadows);
    }
    assert_int_equal(stand.submitted, SHADOW_MEMORY_MOST);
    expect_report("\"answers\":3,\"same\":0,\"different\":3,\"skipped\":2,\"errors\":3");
    stand_close();
}

static void what_comes_back_for_a_report_that_ended_is_told_to_nobody(void **state)
{
    (void)state;
    stand_open();
    follow();
    give(SCRIPT_EMPTY);
    give(SCRIPT_EMPTY);
    write_supplier("acme", "pages = 4", "", "return {}");
    follow();
    expect_report("\"answers\":0");
    back(SCRIPT_ERROR);
    back(SCRIPT_ERROR);
    assert_int_equal(shadows_compare(shadows), 2);
    expect_report("\"answers\":0,\"same\":0,\"different\":0,\"skipped\":0,\"errors\":0");
    stand_close();
}

static void a_report_goes_on_over_a_reload_that_is_about_others(void **state)
{
    (void)state;
    stand_open();
    follow();
    give(SCRIPT_EMPTY);
    back(SCRIPT_EMPTY);
    (void)shadows_compare(shadows);
    write_supplier("bravo", "pages = 9", "", "return {}");
    follow();
    expect_report("\"answers\":1,\"same\":1");
    assert_int_equal(shadows_follow(shadows, names, 0, generation_catalogue(running), &changes), STATUS_OK);
    expect_report("[]");
    give(SCRIPT_EMPTY);
    assert_int_equal(stand.call_count, 0);
    stand_close();
}

static void a_desk_that_closes_keeps_no_generation(void **state)
{
    (void)state;
    stand_open();
    follow();
    give(SCRIPT_EMPTY);
    give(SCRIPT_EMPTY);
    give(SCRIPT_EMPTY);
    shadow_desk_close(&stand.desk);
    give(SCRIPT_EMPTY);
    assert_int_equal(stand.submitted, 1);
    back(SCRIPT_EMPTY);
    assert_int_equal(stand.call_count, 0);
    shadows_destroy(&shadows); // with one that nobody has compared
    struct ground *ground = generation_catalogue(running)->ground;
    assert_int_equal(atomic_load(&ground->holds), running == previous ? 2 : 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shadow_is_given_what_the_live_one_was_and_stands_last),
        cmocka_unit_test(one_is_with_the_workers_at_a_time_and_what_is_too_much_is_skipped),
        cmocka_unit_test(workers_that_take_nothing_are_no_trouble),
        cmocka_unit_test(out_of_memory_three_times_is_enough),
        cmocka_unit_test(what_comes_back_for_a_report_that_ended_is_told_to_nobody),
        cmocka_unit_test(a_report_goes_on_over_a_reload_that_is_about_others),
        cmocka_unit_test(a_desk_that_closes_keeps_no_generation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
