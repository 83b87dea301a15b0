#include "app/switch_ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

static const uint64_t WALL = UINT64_C(1796072513000000), SECOND = 1000000, DAY = UINT64_C(86400) * 1000000;

static struct switch_word news[SWITCH_LEDGER_MAX];
static size_t news_count;

static void on_news(void *context, const struct switch_word *word)
{
    (void)context;
    assert_in_range(news_count, 0, SWITCH_LEDGER_MAX - 1);
    news[news_count++] = *word;
}

static struct switch_ledger *made(void)
{
    struct switch_ledger *ledger = NULL;

    assert_int_equal(switch_ledger_create(&ledger), STATUS_OK);
    return ledger;
}

static struct switch_word word_of(enum switch_action action, const char *supplier, const char *account,
                                  uint64_t said_us)
{
    struct switch_word word = { .action = action, .said_us = said_us, .ceiling_us = 900000 };

    (void)snprintf(word.supplier, sizeof(word.supplier), "%s", supplier);
    (void)snprintf(word.account, sizeof(word.account), "%s", account);
    (void)snprintf(word.who, sizeof(word.who), "ann");
    (void)snprintf(word.why, sizeof(word.why), "it answers \"nonsense\"");
    return word;
}

static bool say(struct switch_ledger *ledger, enum switch_action action, const char *supplier, const char *account,
                uint64_t said_us)
{
    struct switch_word word = word_of(action, supplier, account, said_us);

    return switch_ledger_put(ledger, &word, WALL);
}

/// Terminated; the caller's.
static char *written(struct switch_ledger *ledger, uint64_t wall_us)
{
    struct buffer out;

    buffer_init(&out, 4 << 20);
    switch_ledger_write(ledger, wall_us, &out);
    char *document = buffer_take(&out);
    assert_non_null(document);
    return document;
}

/// True: the document lacks something.
static bool merge(struct switch_ledger *ledger, const char *document)
{
    struct text text = document != NULL ? text_of(document) : (struct text){ 0 };
    bool lacks = false;

    news_count = 0;
    assert_int_equal(switch_ledger_merge(ledger, text, WALL, on_news, NULL, &lacks, NULL), STATUS_OK);
    return lacks;
}

static void what_one_has_written_the_other_one_knows_and_no_more_is_lacking(void **state)
{
    (void)state;
    struct switch_ledger *one = made(), *two = made();

    assert_false(merge(one, NULL));
    assert_true(say(one, SWITCH_DISABLE, "acme", "", WALL));
    assert_true(say(one, SWITCH_SET_CEILING, "omni", "uk", WALL + 1));
    assert_true(merge(one, NULL));
    char *document = written(one, WALL);
    assert_false(merge(two, document));
    assert_int_equal(news_count, 2);
    assert_int_equal(news[0].action, SWITCH_DISABLE);
    assert_string_equal(news[0].supplier, "acme");
    assert_string_equal(news[0].why, "it answers \"nonsense\"");
    assert_int_equal(news[1].ceiling_us, 900000);
    assert_string_equal(news[1].account, "uk");
    assert_false(merge(two, document));
    assert_int_equal(news_count, 0);
    assert_false(merge(one, document));
    assert_int_equal(switch_ledger_latest_us(two), WALL + 1);
    free(document);
    switch_ledger_destroy(&one);
    switch_ledger_destroy(&two);
}

static void the_later_word_wins_in_whatever_order_they_come(void **state)
{
    (void)state;
    struct switch_ledger *one = made(), *two = made(), *three = made();

    assert_true(say(one, SWITCH_DISABLE, "acme", "", WALL));
    assert_true(say(two, SWITCH_ENABLE, "acme", "", WALL + SECOND));
    assert_false(say(two, SWITCH_DRAIN, "acme", "", WALL)); // it was said before
    char *of_one = written(one, WALL), *of_two = written(two, WALL);
    assert_true(merge(two, of_one)); // it lacks the later one
    assert_int_equal(news_count, 0);
    assert_false(merge(one, of_two));
    assert_int_equal(news_count, 1);
    assert_int_equal(news[0].action, SWITCH_ENABLE);
    assert_false(merge(three, of_two));
    assert_true(merge(three, of_one));
    assert_int_equal(news_count, 0);
    free(of_one);
    free(of_two);
    switch_ledger_destroy(&one);
    switch_ledger_destroy(&two);
    switch_ledger_destroy(&three);
}

static void two_words_of_one_moment_end_the_same_everywhere(void **state)
{
    (void)state;
    struct switch_ledger *one = made(), *two = made();

    assert_true(say(one, SWITCH_DISABLE, "acme", "", WALL));
    assert_true(say(two, SWITCH_DRAIN, "acme", "", WALL));
    char *of_one = written(one, WALL), *of_two = written(two, WALL);
    (void)merge(one, of_two);
    (void)merge(two, of_one);
    char *now_one = written(one, WALL), *now_two = written(two, WALL);
    assert_string_equal(now_one, now_two);
    free(of_one);
    free(of_two);
    free(now_one);
    free(now_two);
    switch_ledger_destroy(&one);
    switch_ledger_destroy(&two);
}

static void what_is_taken_back_of_all_is_taken_back_of_accounts_but_not_what_was_said_later(void **state)
{
    (void)state;
    struct switch_ledger *ledger = made();

    assert_true(say(ledger, SWITCH_DISABLE, "acme", "uk", WALL));
    assert_true(say(ledger, SWITCH_DISABLE, "acme", "main", WALL + 2 * SECOND));
    assert_true(say(ledger, SWITCH_SET_CEILING, "acme", "uk", WALL)); // about something else
    assert_true(say(ledger, SWITCH_ENABLE, "acme", "", WALL + SECOND));
    assert_int_equal(switch_ledger_count(ledger), 3);
    assert_false(say(ledger, SWITCH_DISABLE, "acme", "uk", WALL));      // it comes late
    assert_true(say(ledger, SWITCH_DISABLE, "acme", "de", WALL + DAY)); // this one does not
    switch_ledger_destroy(&ledger);
}

static void a_word_that_leaves_nothing_is_kept_for_a_week_and_one_in_force_for_ever(void **state)
{
    (void)state;
    struct switch_ledger *ledger = made();
    struct switch_word brief = word_of(SWITCH_DISABLE, "brief", "", WALL);

    brief.until_us = WALL + 60 * SECOND;
    assert_true(switch_ledger_put(ledger, &brief, WALL));
    assert_true(say(ledger, SWITCH_DISABLE, "acme", "", WALL));
    assert_true(say(ledger, SWITCH_ENABLE, "omni", "", WALL));
    free(written(ledger, WALL + 6 * DAY));
    assert_int_equal(switch_ledger_count(ledger), 3);
    free(written(ledger, WALL + 8 * DAY));
    assert_int_equal(switch_ledger_count(ledger), 1);
    switch_ledger_destroy(&ledger);
}

static void where_it_is_full_the_oldest_that_leaves_nothing_makes_room(void **state)
{
    (void)state;
    struct switch_ledger *ledger = made();
    char name[SWITCH_NAME_SIZE];

    for (int i = 0; i < SWITCH_LEDGER_MAX; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        assert_true(say(ledger, i < 2 ? SWITCH_ENABLE : SWITCH_DISABLE, name, "", WALL + (uint64_t)(i == 0)));
    }
    assert_true(say(ledger, SWITCH_DISABLE, "another", "", WALL));
    assert_int_equal(switch_ledger_count(ledger), SWITCH_LEDGER_MAX);
    assert_true(say(ledger, SWITCH_ENABLE, "s1", "", WALL)); // it was the oldest, and is news again
    assert_false(say(ledger, SWITCH_DISABLE, "another", "", WALL));
    switch_ledger_destroy(&ledger);
}

static void a_document_that_is_none_counts_for_nothing_and_says_where(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "",
        "[]",
        "{\"version\":2,\"words\":[]}",
        "{\"version\":1}",
        "{\"version\":1,\"words\":[{\"supplier\":\"acme\",\"said\":\"disable\"}]}",
        "{\"version\":1,\"words\":[{\"supplier\":\"acme\",\"said\":\"shout\",\"said_us\":1}]}",
        "{\"version\":1,\"words\":[{\"supplier\":\"ac me\",\"said\":\"disable\",\"said_us\":1}]}",
        "{\"version\":1,\"words\":[{\"supplier\":\"acme\",\"said\":\"set_ceiling\",\"said_us\":1,\"ceiling_us\":0}]}",
        "{\"version\":1,\"words\":[{\"supplier\":\"good\",\"said\":\"disable\",\"said_us\":1},{\"said\":7}]}",
        "{\"version\":1,\"words\":[{\"supplier\":\"acme\",\"said\":\"disable\",\"said_us\":1}]",
    };
    struct switch_ledger *ledger = made();
    bool lacks = false;

    news_count = 0;
    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        struct failure why = { 0 };
        assert_int_equal(switch_ledger_merge(ledger, text_of(BAD[i]), WALL, on_news, NULL, &lacks, &why),
                         STATUS_INVALID);
        assert_true(why.message[0] != '\0');
        assert_int_equal(news_count, 0);
        assert_int_equal(switch_ledger_count(ledger), 0);
    }
    switch_ledger_destroy(&ledger);
}

static void a_switch_and_its_word_say_the_same(void **state)
{
    (void)state;
    struct switch_item item = { .kind = SWITCH_BREAKER_OPEN,
                                .supplier = "acme",
                                .who = "ann",
                                .since_wall_us = WALL - SECOND,
                                .until_us = 90 * SECOND };
    struct switch_word word = switch_word_of_item(&item, 30 * SECOND, WALL);

    assert_int_equal(word.action, SWITCH_OPEN);
    assert_int_equal(word.said_us, WALL - SECOND);
    assert_int_equal(word.until_us, WALL + 60 * SECOND);
    assert_false(switch_word_is_past(&word, WALL));
    assert_true(switch_word_is_past(&word, WALL + 60 * SECOND));
    word.until_us = 0; // opened once, not held
    assert_true(switch_word_is_past(&word, WALL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_has_written_the_other_one_knows_and_no_more_is_lacking),
        cmocka_unit_test(the_later_word_wins_in_whatever_order_they_come),
        cmocka_unit_test(two_words_of_one_moment_end_the_same_everywhere),
        cmocka_unit_test(what_is_taken_back_of_all_is_taken_back_of_accounts_but_not_what_was_said_later),
        cmocka_unit_test(a_word_that_leaves_nothing_is_kept_for_a_week_and_one_in_force_for_ever),
        cmocka_unit_test(where_it_is_full_the_oldest_that_leaves_nothing_makes_room),
        cmocka_unit_test(a_document_that_is_none_counts_for_nothing_and_says_where),
        cmocka_unit_test(a_switch_and_its_word_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
