// What a request for a poll, a page or a source gets: which offers, and how the answer says that there is more.

#include "farm/step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BODY "{\"trip\":[{\"from\":\"MAD\",\"to\":\"LHR\",\"date\":\"2030-05-12\"}]}"

struct stage {
    struct sessions *sessions;
    struct supplier supplier;
    struct step step;
    const char *status;
    const char *why;
    char tail[STEP_TAIL_MAX];
};

static struct stage stage;

static bool ask(const char *method, const char *path, const char *query_string, const char *body)
{
    struct request request = {
        .method = text_of(method), .path = text_of(path), .query_string = text_of(query_string), .body = text_of(body)
    };
    bool is_read = step_read(&stage.step, &stage.supplier, stage.sessions, &request, &stage.status, &stage.why);
    size_t length = is_read ? step_write_tail(&stage.step, &stage.supplier, stage.tail) : 0;
    stage.tail[length] = '\0';
    return is_read;
}

static void assert_window(unsigned first, unsigned count, bool is_last)
{
    assert_int_equal(stage.step.first, first);
    assert_int_equal(stage.step.count, count);
    assert_int_equal(stage.step.is_last, is_last);
}

/// The text value of a member of the tail.
static const char *member(const char *name)
{
    static char value[64];
    char key[32];

    snprintf(key, sizeof(key), "\"%s\":\"", name);
    const char *start = strstr(stage.tail, key);
    if (start == NULL) {
        return NULL;
    }
    start += strlen(key);
    snprintf(value, sizeof(value), "%.*s", (int)strcspn(start, "\""), start);
    return value;
}

static void begin(enum supplier_shape shape, unsigned rounds)
{
    stage.supplier = (struct supplier){ .shape = shape, .rounds = rounds, .poll_ms = 120, .seed = 5, .index = 2 };
    sessions_reset(stage.sessions, 5);
}

static const char *poll_path(void)
{
    static char path[64];
    snprintf(path, sizeof(path), "/v1/searches/%s", member("id"));
    return path;
}

static void polls_that_add_give_what_came_after_those_seen(void **state)
{
    (void)state;
    char path[64];

    begin(SUPPLIER_POLL_ADD, 3);
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    assert_window(0, 10, false);
    assert_string_equal(member("status"), "pending");
    assert_non_null(strstr(stage.tail, "\"poll_after_ms\":120}"));
    snprintf(path, sizeof(path), "%s", poll_path());
    assert_true(ask("GET", path, "after=10", ""));
    assert_window(10, 10, false);
    assert_true(ask("GET", path, "after=10", "")); // the answer before was lost: nothing is
    assert_window(10, 20, true);
    assert_string_equal(member("status"), "complete");
    assert_true(ask("GET", path, "after=30", ""));
    assert_window(30, 0, true);
    assert_int_equal(stage.supplier.counters.steps, 3);
}

static void polls_that_replace_give_the_list_as_it_is_now(void **state)
{
    (void)state;
    begin(SUPPLIER_POLL_REPLACE, 3);
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    assert_window(0, 20, false);
    assert_true(ask("GET", poll_path(), NULL, ""));
    assert_window(5, 20, false);
    assert_true(ask("GET", poll_path(), NULL, ""));
    assert_window(10, 20, true);
    assert_true(ask("GET", poll_path(), NULL, ""));
    assert_window(10, 20, true);
}

static void one_round_is_whole_at_once(void **state)
{
    (void)state;
    begin(SUPPLIER_POLL_REPLACE, 1);
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    assert_window(0, 20, true);
    begin(SUPPLIER_PAGES, 1);
    assert_true(ask("POST", "/v1/pages", NULL, BODY));
    assert_window(0, 30, true);
    assert_string_equal(stage.tail, "}");
}

static void more_rounds_than_offers_are_possible(void **state)
{
    (void)state;
    unsigned given = 0;

    begin(SUPPLIER_PAGES, 100);
    assert_true(ask("POST", "/v1/pages", NULL, BODY));
    given += stage.step.count;
    for (int page = 2; page <= 100; page++) {
        char cursor[64];
        snprintf(cursor, sizeof(cursor), "cursor=%s", member("next_cursor"));
        assert_true(ask("POST", "/v1/pages", cursor, BODY));
        given += stage.step.count;
    }
    assert_int_equal(given, 30);
    assert_true(stage.step.is_last);
}

static void a_search_that_nobody_made_is_not_found(void **state)
{
    (void)state;
    begin(SUPPLIER_POLL_ADD, 3);
    assert_false(ask("GET", "/v1/searches/0000000000000000", "after=0", ""));
    assert_string_equal(stage.status, "404 Not Found");
    assert_false(ask("GET", "/v1/searches/12", "after=0", ""));
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    char path[64];
    snprintf(path, sizeof(path), "%s", poll_path());
    stage.supplier.index++; // somebody else's
    assert_false(ask("GET", path, "after=0", ""));
    stage.supplier.index--;
    assert_false(ask("GET", path, NULL, ""));
    assert_string_equal(stage.status, "400 Bad Request");
    assert_false(ask("GET", path, "after=31", ""));
    assert_true(ask("GET", path, "after=0", ""));
}

static void an_old_search_is_forgotten_when_the_ring_comes_round(void **state)
{
    (void)state;
    char path[64];

    begin(SUPPLIER_POLL_REPLACE, 3);
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    snprintf(path, sizeof(path), "%s", poll_path());
    for (int i = 0; i < 16383; i++) {
        assert_true(ask("POST", "/v1/searches", NULL, BODY));
    }
    assert_true(ask("GET", path, NULL, ""));
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    assert_false(ask("GET", path, NULL, ""));
    assert_true(ask("POST", "/v1/searches", NULL, BODY));
    assert_true(ask("GET", poll_path(), NULL, ""));
}

static void a_cursor_belongs_to_its_search(void **state)
{
    (void)state;
    char cursor[64];

    begin(SUPPLIER_PAGES, 3);
    assert_true(ask("POST", "/v1/pages", NULL, BODY));
    assert_window(0, 10, false);
    snprintf(cursor, sizeof(cursor), "cursor=%s", member("next_cursor"));
    assert_false(
        ask("POST", "/v1/pages", cursor, "{\"trip\":[{\"from\":\"MAD\",\"to\":\"LHR\",\"date\":\"2030-05-13\"}]}"));
    assert_string_equal(stage.why, "the cursor belongs to another search");
    assert_false(ask("POST", "/v1/pages", "cursor=", BODY));
    assert_true(ask("POST", "/v1/pages", cursor, BODY));
    assert_window(10, 10, false);
}

static void four_sources_share_the_offers(void **state)
{
    (void)state;
    unsigned given = 0;

    begin(SUPPLIER_PARTS, 3);
    for (int source = 1; source <= 4; source++) {
        char path[32];
        snprintf(path, sizeof(path), "/v1/sources/%d", source);
        assert_true(ask("POST", path, NULL, BODY));
        assert_int_equal(stage.step.first, given);
        assert_int_equal(stage.step.source, source);
        assert_string_equal(stage.tail, "}");
        given += stage.step.count;
    }
    assert_int_equal(given, 30);
    assert_false(ask("POST", "/v1/sources/5", NULL, BODY));
    assert_false(ask("POST", "/v1/sources/0", NULL, BODY));
    assert_false(ask("POST", "/v1/sources", NULL, BODY));
    assert_false(ask("POST", "/v1/sourcesx/1", NULL, BODY));
    assert_false(ask("POST", "/v1", NULL, BODY));
    assert_string_equal(stage.status, "404 Not Found");
    assert_false(ask("POST", "/v1/sources/1", NULL, "{}"));
    assert_string_equal(stage.status, "400 Bad Request");
    assert_false(ask("GET", "/v1/sources/1", NULL, BODY));
    assert_string_equal(stage.status, "405 Method Not Allowed");
}

static int set_up(void **state)
{
    (void)state;
    stage.sessions = sessions_create();
    return stage.sessions != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sessions_destroy(&stage.sessions);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polls_that_add_give_what_came_after_those_seen),
        cmocka_unit_test(polls_that_replace_give_the_list_as_it_is_now),
        cmocka_unit_test(one_round_is_whole_at_once),
        cmocka_unit_test(more_rounds_than_offers_are_possible),
        cmocka_unit_test(a_search_that_nobody_made_is_not_found),
        cmocka_unit_test(an_old_search_is_forgotten_when_the_ring_comes_round),
        cmocka_unit_test(a_cursor_belongs_to_its_search),
        cmocka_unit_test(four_sources_share_the_offers),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
