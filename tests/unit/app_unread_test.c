// Which fields of an answer a script never reads, and how bodies are shown.
#include "app/pretty.h"
#include "app/unread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct arena arena;
static struct unread unread;
static char told[1024];

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 16 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

/// "path×count path×count"
static const char *find(const char *reads, const char *body)
{
    size_t length = 0;

    unread_find(&unread, &arena, text_of(reads), text_of(body));
    told[0] = '\0';
    for (size_t i = 0; i < unread.count; i++) {
        length += (size_t)snprintf(told + length, sizeof(told) - length, "%s%.*s×%zu", i == 0 ? "" : " ",
                                   TEXT_ARGS(unread.paths[i].path), unread.paths[i].count);
    }
    return told;
}

static void assert_text(const char *expected, struct text text)
{
    char shown[1024];

    (void)snprintf(shown, sizeof(shown), "%.*s", TEXT_ARGS(text));
    assert_string_equal(shown, expected);
}

static void a_field_is_told_once_with_how_often_it_came(void **state)
{
    (void)state;

    assert_string_equal(find("{\"trees\":[{\"o\":{\"a\":{\"l\":{\"o\":{\"b\":1}}}}}]}",
                             "{\"a\":[{\"b\":1,\"c\":2},{\"b\":1,\"c\":{\"d\":3}}],\"e\":[]}"),
                        "a[].c×2 e×1");
    assert_true(unread.is_known);
}

static void maps_raw_values_and_several_trees_are_followed(void **state)
{
    (void)state;

    assert_string_equal(
        find("{\"trees\":[{\"o\":{\"m\":{\"m\":{\"o\":{\"x\":1}}},\"r\":2}},{\"o\":{\"s\":1}}]}",
             "{\"m\":{\"k1\":{\"x\":1,\"y\":1},\"k2\":{\"x\":1,\"y\":1}},\"r\":{\"z\":1},\"s\":1,\"t\":1}"),
        "m{}.y×2 t×1");
}

static void elements_and_attributes_of_xml_are_told_by_the_names_of_the_script(void **state)
{
    (void)state;

    assert_string_equal(
        find("{\"trees\":[{\"o\":{\"a:R\":{\"o\":{\"O\":{\"l\":{\"o\":{\"@id\":1,\"P\":1}}}}}},\"x\":{\"a\":\"u\"}}]}",
             "<b:R xmlns:b=\"u\" v=\"1\" b:w=\"2\"><O id=\"1\" n=\"2\"><P>1</P><Q><b:S/></Q></O><b:O id=\"2\"/>"
             "<b:T/><z:U xmlns:z=\"other\"/></b:R>"),
        "a:R.@v×1 a:R.@a:w×1 a:R.O[].@n×1 a:R.O[].Q×1 a:R.a:T×1 a:R.U×1");
    // Names without a prefix are of one namespace: one of another needs a prefix, for which the document's will do.
    assert_string_equal(find("{\"trees\":[{\"o\":{\"R\":{\"o\":{\"P\":1}}},\"x\":{\"\":\"u\"}}]}",
                             "<R xmlns=\"u\"><P/><Q/><z:U xmlns:z=\"other\"/></R>"),
                        "R.Q×1 R.z:U×1");
}

static void an_element_of_another_namespace_than_the_script_says_is_told_with_both(void **state)
{
    (void)state;

    assert_string_equal(find("{\"trees\":[{\"o\":{\"s:E\":{\"o\":{\"a:R\":{\"o\":{\"a:P\":1}}}}},"
                             "\"x\":{\"s\":\"urn:s\",\"a\":\"urn:v51\"}}]}",
                             "<S:E xmlns:S=\"urn:s\"><q:R xmlns:q=\"urn:v52\"><q:P/></q:R></S:E>"),
                        "s:E.R×1");
    assert_text("an element of urn:v52, but `a` is urn:v51", unread.paths[0].kind);
    assert_string_equal(find("{\"trees\":[{\"o\":{\"R\":1},\"x\":{\"\":\"urn:a\"}}]}", "<R><P/></R>"), "R×1");
    assert_text("an element of no namespace, but a name without a prefix is urn:a", unread.paths[0].kind);
}

static void nobody_can_tell_of_a_body_that_is_taken_whole_or_is_no_document(void **state)
{
    (void)state;

    assert_string_equal(find("{\"all\":true}", "{\"a\":1}"), "");
    assert_true(unread.is_all_read);
    assert_string_equal(find("{\"trees\":[{\"o\":{}}]}", "{ broken"), "");
    assert_false(unread.is_known);
    assert_string_equal(find("", "{\"a\":1}"), "");
    assert_false(unread.is_known);
}

static void assert_pretty(const char *body, bool is_form, const char *expected)
{
    struct buffer out;

    buffer_init(&out, 1 << 16);
    pretty_body(text_of(body), is_form, &out);
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    buffer_fini(&out);
}

static void bodies_are_shown_a_thing_a_line(void **state)
{
    (void)state;

    assert_pretty("{\"a\":[1,2],\"b\":{}}", false, "{\n  \"a\": [1, 2],\n  \"b\": {}\n}");
    assert_pretty("<?xml version=\"1.0\"?>\n<a><b x=\"1\"/> <c>t</c></a>", false,
                  "<?xml version=\"1.0\"?>\n<a>\n  <b x=\"1\"/>\n  <c>t</c>\n</a>");
    assert_pretty("a=1&b=2", true, "a=1\nb=2");
    assert_pretty("just words", false, "just words");
    assert_pretty("<", false, "<");
}

enum { MANY = 20000 };

/// Large answers are those that one wants to look at most.
static void an_answer_of_many_elements_is_looked_at_whole(void **state)
{
    static char body[64 + MANY * 32];
    size_t length = (size_t)snprintf(body, sizeof(body), "<R>");

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        length += (size_t)snprintf(body + length, sizeof(body) - length, "<O><P>1</P><Q>2</Q></O>");
    }
    (void)snprintf(body + length, sizeof(body) - length, "</R>");
    assert_string_equal(find("{\"trees\":[{\"o\":{\"R\":{\"o\":{\"O\":{\"l\":{\"o\":{\"P\":1}}}}}}}]}", body),
                        "R.O[].Q×20000");
    assert_true(unread.is_known);
    assert_null(unread.why);
}

static void one_that_is_too_large_is_not_known_and_it_is_told(void **state)
{
    static char body[64 + 30 * MANY * 5];
    size_t length = (size_t)snprintf(body, sizeof(body), "<R>");

    (void)state;
    for (size_t i = 0; i < 26 * MANY; i++) {
        length += (size_t)snprintf(body + length, sizeof(body) - length, "<O/>");
    }
    (void)snprintf(body + length, sizeof(body) - length, "</R>");
    (void)find("{\"trees\":[{\"o\":{\"R\":{\"o\":{\"P\":1}}}}]}", body);
    assert_false(unread.is_known);
    assert_non_null(unread.why);
    // What is no document is told by the script.
    (void)find("{\"trees\":[{\"o\":{\"R\":{\"o\":{\"P\":1}}}}]}", "<R><P></R>");
    assert_false(unread.is_known);
    assert_null(unread.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_of_many_elements_is_looked_at_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_too_large_is_not_known_and_it_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_field_is_told_once_with_how_often_it_came, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maps_raw_values_and_several_trees_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(elements_and_attributes_of_xml_are_told_by_the_names_of_the_script, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_element_of_another_namespace_than_the_script_says_is_told_with_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nobody_can_tell_of_a_body_that_is_taken_whole_or_is_no_document, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bodies_are_shown_a_thing_a_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
