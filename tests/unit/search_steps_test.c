// Parts, steps, polls and pages of one supplier, over the real search/ in a virtual world.
#include "search/part.h"
#include "support/play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- parts and steps

static void parts_run_side_by_side_and_their_offers_add_up(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 100 * MS, .first_id = 0, .offers = 3 },
        { .part = 2, .step = 1, .after_us = 300 * MS, .first_id = 3, .offers = 2 },
    };
    struct play play;
    (void)state;
    play_init(&play);
    struct virtual_supplier *supplier = play_add(&play, "a", 0, 0);
    *supplier = (struct virtual_supplier){ .name = "a", .parts = 2, .steps = STEPS, .step_count = 2 };
    play_run(&play);
    assert_true(play.is_complete);
    assert_int_equal(play.replied_at_us - 1000000, 301 * MS);
    play_expect_entry(&play, "a", "\"outcome\":\"answered\",\"parts\":{\"sent\":2,\"ok\":2,\"failed\":0}");
    play_expect_body(&play, "\"offers_found\":5");
    play_finish(&play, 1);
}

static void a_failed_part_makes_the_answer_partial(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 100 * MS, .offers = 3 },
        { .part = 2, .step = 1, .result = FETCH_CONNECT_FAILED },
        { .part = 3, .step = 1, .after_us = 50 * MS, .normalise = SCRIPT_EMPTY },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .parts = 3, .steps = STEPS, .step_count = 3 };
    play_run(&play);
    assert_int_equal(play.status, 200);
    assert_false(play.is_complete);
    play_expect_entry(&play, "a",
                      "\"outcome\":\"answered\",\"partial\":true,\"parts\":{\"sent\":3,\"ok\":2,\"failed\":1}");
    play_expect_body(&play, "\"percent\":100,\"eligible\":1,\"answered\":1");
    play_finish(&play, 1);
}

static void a_part_cut_by_the_ceiling_keeps_what_the_others_brought(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 100 * MS, .offers = 3 },
        { .part = 2, .step = 1, .hangs = true },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] =
        (struct virtual_supplier){ .name = "a", .parts = 2, .steps = STEPS, .step_count = 2, .ceiling_us = 500 * MS };
    play_run(&play);
    play_expect_entry(&play, "a",
                      "\"outcome\":\"answered\",\"bound\":\"ceiling\",\"phase\":\"first_byte\",\"partial\":true");
    play_expect_body(&play, "\"reasons\":[\"ceiling\"]");
    play_finish(&play, 1);
}

static void without_offers_the_earliest_failed_part_decides(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 300 * MS, .normalise = SCRIPT_EMPTY },
        { .part = 2, .step = 1, .after_us = 200 * MS, .normalise = SCRIPT_UNPARSABLE },
        { .part = 3, .step = 1, .after_us = 100 * MS, .result = FETCH_CONNECT_FAILED },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .parts = 3, .steps = STEPS, .step_count = 3 };
    play_run(&play);
    play_expect_entry(&play, "a", "\"outcome\":\"unparsable\"");
    play_finish(&play, 1);
}

static void polls_replace_add_and_end_when_the_script_says_so(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1,
          .step = 1,
          .after_us = 50 * MS,
          .normalise = SCRIPT_EMPTY,
          .has_next = true,
          .next_after_us = 100 * MS,
          .is_incomplete = true },
        { .part = 1,
          .step = 2,
          .after_us = 50 * MS,
          .offers = 4,
          .has_next = true,
          .next_after_us = 100 * MS,
          .is_incomplete = true },
        { .part = 1,
          .step = 3,
          .after_us = 50 * MS,
          .first_id = 2,
          .offers = 3,
          .merge = MERGE_REPLACE,
          .has_next = true,
          .next_after_us = 100 * MS,
          .is_incomplete = true },
        { .part = 1, .step = 4, .after_us = 50 * MS, .first_id = 4, .offers = 2 },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .steps = STEPS, .step_count = 4 };
    play_run(&play);
    assert_true(play.is_complete);
    assert_int_equal(play.replied_at_us - 1000000, 501 * MS);
    // 0 1 2 3, then 2 3 4 in their place, then 4 again and 5.
    play_expect_body(&play,
                     "\"offers\":[{\"id\":\"a:2\",\"item\":\"a2\"},{\"id\":\"a:3\",\"item\":\"a3\"},{\"id\":\"a:4\","
                     "\"item\":\"a4\"},{\"id\":\"a:5\",\"item\":\"a5\"}]");
    play_expect_body(&play, "\"offers_found\":4");
    play_finish(&play, 1);
}

static void a_poll_cut_by_the_budget_keeps_the_steps_before_it(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 50 * MS, .offers = 4, .has_next = true, .next_after_us = 100 * MS },
        { .part = 1, .step = 2, .hangs = true },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .steps = STEPS, .step_count = 2 };
    play_run(&play);
    play_expect_entry(
        &play, "a",
        "\"outcome\":\"answered\",\"bound\":\"budget\",\"phase\":\"first_byte\",\"partial\":true,\"offers\":4");
    play_finish(&play, 1);
}

static void a_step_that_comes_after_the_end_is_not_waited_for(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 50 * MS, .offers = 4, .has_next = true, .next_after_us = 5000 * MS },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .steps = STEPS, .step_count = 1 };
    play_run(&play);
    assert_int_equal(play.replied_at_us - 1000000, 51 * MS);
    play_expect_entry(&play, "a", "\"bound\":\"budget\",\"phase\":\"pause\",\"partial\":true,\"offers\":4");
    play_finish(&play, 1);
}

static void a_script_that_says_incomplete_is_not_whole(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 50 * MS, .offers = 4, .is_incomplete = true },
    };
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0);
    play.suppliers[0] = (struct virtual_supplier){ .name = "a", .steps = STEPS, .step_count = 1 };
    play_run(&play);
    assert_false(play.is_complete);
    play_expect_entry(&play, "a", "\"outcome\":\"answered\",\"partial\":true,\"offers\":4");
    play_finish(&play, 1);
}

static void a_caller_who_leaves_between_steps_leaves_nothing_behind(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 30 * MS, .offers = 4, .has_next = true, .next_after_us = 70 * MS },
        { .part = 1,
          .step = 2,
          .after_us = 30 * MS,
          .offers = 4,
          .merge = MERGE_REPLACE,
          .has_next = true,
          .next_after_us = 70 * MS },
        { .part = 1, .step = 3, .hangs = true },
        { .part = 2, .step = 1, .after_us = 90 * MS, .offers = 2 },
    };
    (void)state;
    for (uint64_t leave_us = 0; leave_us <= 400 * MS; leave_us += 3 * MS + 7) {
        struct play play;
        play_init(&play);
        play_add(&play, "a", 0, 0);
        play.suppliers[0] = (struct virtual_supplier){
            .name = "a", .parts = 2, .steps = STEPS, .step_count = 4, .normalise_us = 10 * MS
        };
        uint64_t start = play_start(&play);
        play_search(&play);
        virtual_world_run(&play.virtual, start + leave_us);
        search_cancel(&play.search);
        play_finish(&play, 0);
    }
}

// ---- limits

static void a_limit_of_steps_is_named_before_what_the_script_warns_of(void **state)
{
    struct virtual_step steps[PART_MAX_STEPS];
    struct play play;
    (void)state;
    for (uint32_t i = 0; i < PART_MAX_STEPS; i++) {
        steps[i] = (struct virtual_step){
            .part = 1, .step = i + 1, .after_us = 1 * MS, .first_id = i, .offers = 1, .warnings = 1, .has_next = true
        };
    }
    play_init(&play);
    play.budget_us = 8000 * MS;
    struct virtual_supplier *supplier = play_add(&play, "a", 0, 0);
    *supplier = (struct virtual_supplier){ .name = "a", .parts = 1, .steps = steps, .step_count = PART_MAX_STEPS };
    play_run(&play);
    assert_false(play.is_complete);
    play_expect_entry(&play, "a",
                      "\"outcome\":\"answered\",\"partial\":true,\"warnings\":101,"
                      "\"first_warning\":\"stopped after 100 steps, the most of one part\"");
    play_finish(&play, 1);
}

static void a_full_supplier_is_partial_without_a_bound_and_says_why(void **state)
{
    static const struct virtual_step STEPS[] = {
        { .part = 1, .step = 1, .after_us = 1 * MS, .offers = 900, .has_next = true },
        { .part = 1, .step = 2, .after_us = 1 * MS, .first_id = 900, .offers = 900, .has_next = true },
        { .part = 1, .step = 3, .after_us = 1 * MS, .first_id = 1800, .offers = 900, .has_next = true },
        { .part = 2, .step = 1, .hangs = true, .phase = PHASE_FIRST_BYTE },
    };
    struct play play;
    (void)state;
    play_init(&play);
    struct virtual_supplier *supplier = play_add(&play, "a", 0, 0);
    *supplier = (struct virtual_supplier){ .name = "a", .parts = 2, .steps = STEPS, .step_count = COUNT_OF(STEPS) };
    play_run(&play);
    assert_false(play.is_complete);
    play_expect_entry(&play, "a", "\"outcome\":\"answered\",\"partial\":true,\"parts\":{\"sent\":2,\"ok\":1");
    play_expect_body(&play, "\"first_warning\":\"stopped at 2000 offers, the most of one supplier\"");
    play_expect_body(&play, "\"offers_found\":2000");
    play_finish(&play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_run_side_by_side_and_their_offers_add_up),
        cmocka_unit_test(a_failed_part_makes_the_answer_partial),
        cmocka_unit_test(a_part_cut_by_the_ceiling_keeps_what_the_others_brought),
        cmocka_unit_test(without_offers_the_earliest_failed_part_decides),
        cmocka_unit_test(polls_replace_add_and_end_when_the_script_says_so),
        cmocka_unit_test(a_poll_cut_by_the_budget_keeps_the_steps_before_it),
        cmocka_unit_test(a_step_that_comes_after_the_end_is_not_waited_for),
        cmocka_unit_test(a_script_that_says_incomplete_is_not_whole),
        cmocka_unit_test(a_caller_who_leaves_between_steps_leaves_nothing_behind),
        cmocka_unit_test(a_limit_of_steps_is_named_before_what_the_script_warns_of),
        cmocka_unit_test(a_full_supplier_is_partial_without_a_bound_and_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
