// Keys that stand twice in one object, at any depth.
#include "base/json_unique.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool on_duplicate(void *context, struct text pointer, bool is_cut)
{
    struct buffer *found = context;
    buffer_printf(found, "%.*s%s ", TEXT_ARGS(pointer), is_cut ? "..." : "");
    return true;
}

/// The pointers of all duplicates, each with a blank behind it.
static enum status find(struct text document, struct buffer *found)
{
    struct json_reader reader;

    buffer_init(found, 1 << 20);
    buffer_append_c(found, "");
    json_reader_init(&reader, document);
    enum status status = json_skip_unique(&reader, json_next(&reader), TEXT("/query"), on_duplicate, found);
    if (status == STATUS_OK) {
        assert_int_equal(json_next(&reader), JSON_END); // it stands right behind the value
    }
    return status;
}

static void expect(const char *document, const char *pointers)
{
    struct buffer found;

    assert_int_equal(find(text_of(document), &found), STATUS_OK);
    if (!text_equals_c(buffer_text(&found), pointers)) {
        fail_msg("`%s`: found `%.*s`, not `%s`", document, TEXT_ARGS(buffer_text(&found)), pointers);
    }
    buffer_fini(&found);
}

static void a_document_without_duplicates_has_none(void **state)
{
    (void)state;
    expect("1", "");
    expect("{}", "");
    expect("[[], {}, \"a\", null]", "");
    expect("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}", "");
    expect("{\"a\":1,\"A\":2,\"\":3,\"ab\":4}", "");
}

static void a_key_that_stands_twice_is_told_with_its_pointer(void **state)
{
    (void)state;
    expect("{\"a\":1,\"a\":2}", "/query/a ");
    expect("{\"a\":1,\"b\":{\"c\":[1,[],{\"d\":1,\"e\":{},\"d\":2}]}}", "/query/b/c/2/d ");
    expect("[{\"x\":1},{\"x\":1,\"x\":2},{\"x\":1,\"x\":2}]", "/query/1/x /query/2/x ");
    expect("{\"a\":1,\"a\":2,\"a\":3}", "/query/a /query/a ");
    expect("{\"\":1,\"\":2}", "/query/ ");
    expect("{\"a/b~c\":1,\"a/b~c\":2}", "/query/a~1b~0c ");
    expect("{\"a\":{\"b\":1},\"a\":{\"b\":1,\"b\":2}}", "/query/a /query/a/b ");
}

static void escapes_do_not_hide_a_duplicate(void **state)
{
    (void)state;
    expect("{\"a\":1,\"\\u0061\":2}", "/query/a ");
    expect("{\"\\u00e9\":1,\"b\":2,\"\xc3\xa9\":3}", "/query/\xc3\xa9 ");
    expect("{\"\\n\":1,\"n\":2}", "");
}

static void an_object_of_many_keys_is_looked_through_too(void **state)
{
    struct buffer document;
    struct buffer found;

    (void)state;
    buffer_init(&document, 1 << 24);
    buffer_append_byte(&document, '{');
    for (int i = 0; i < 20000; i++) {
        buffer_printf(&document, "\"k%05d\":{\"k00001\":0},\"\\u006b-%d\":1,", i, i);
    }
    buffer_append_c(&document, "\"k-19999\":1,\"k00000\":[{}],\"k00003\":[{\"z\":0,\"z\":0}]}");
    assert_int_equal(find(buffer_text(&document), &found), STATUS_OK);
    assert_true(text_equals_c(buffer_text(&found), "/query/k-19999 /query/k00000 /query/k00003 /query/k00003/0/z "));
    buffer_fini(&found);
    buffer_fini(&document);
}

static void a_broken_document_is_told_by_its_reader(void **state)
{
    static const char *const documents[] = { "{\"a\":1,\"a\":2", "{\"a\":[1,{\"b\":\"\\ud800\"}]}", "[1,]", "{\"a\"}" };
    struct buffer found;
    char deep[200];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        assert_int_equal(find(text_of(documents[i]), &found), STATUS_INVALID);
        buffer_fini(&found);
    }
    memset(deep, '[', sizeof deep);
    assert_int_equal(find((struct text){ deep, sizeof deep }, &found), STATUS_INVALID);
    buffer_fini(&found);
}

static void the_deepest_document_that_the_reader_takes_is_walked(void **state)
{
    struct buffer document;
    struct buffer found;

    (void)state;
    buffer_init(&document, 4096);
    for (int i = 0; i < JSON_MAX_DEPTH; i++) {
        buffer_append_c(&document, "{\"a\":");
    }
    buffer_append_c(&document, "1,\"a\":1");
    for (int i = 0; i < JSON_MAX_DEPTH; i++) {
        buffer_append_byte(&document, '}');
    }
    assert_int_equal(find(buffer_text(&document), &found), STATUS_OK);
    assert_int_equal(found.length, strlen("/query... ") + 2 * ((JSON_UNIQUE_POINTER_MAX - strlen("/query")) / 2));
    buffer_fini(&found);
    buffer_fini(&document);
}

static void a_pointer_that_is_too_long_ends_at_a_whole_key(void **state)
{
    struct buffer document;

    (void)state;
    buffer_init(&document, 4096);
    buffer_append_c(&document, "{\"a\":{\"");
    for (int i = 0; i < 60; i++) {
        buffer_append_c(&document, "~"); // two bytes each in a pointer
    }
    buffer_append_c(&document, "\":{\"b\":1,\"b\":1},\"c\":{\"d\":1,\"d\":1}}}");
    buffer_append_byte(&document, '\0');
    expect(document.data, "/query/a... /query/a/c/d ");
    expect("{\"a\":{\"b\\u0000\":1,\"b\\u0000\":2}}", "/query/a... ");
    buffer_fini(&document);
}

struct patience {
    size_t told, most;
};

static bool on_patience(void *context, struct text pointer, bool is_cut)
{
    struct patience *patience = context;

    (void)pointer;
    (void)is_cut;
    return ++patience->told < patience->most;
}

static void who_has_heard_enough_is_told_no_more(void **state)
{
    struct patience patience = { .most = 2 };
    struct json_reader reader;

    (void)state;
    json_reader_init(&reader, TEXT("[{\"a\":1,\"a\":1,\"a\":1,\"a\":1},{\"b\":1,\"b\":1},{\"c\":[{}]}]"));
    assert_int_equal(json_skip_unique(&reader, json_next(&reader), TEXT(""), on_patience, &patience), STATUS_OK);
    assert_int_equal(patience.told, 2);
    assert_int_equal(json_next(&reader), JSON_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_without_duplicates_has_none),
        cmocka_unit_test(a_key_that_stands_twice_is_told_with_its_pointer),
        cmocka_unit_test(escapes_do_not_hide_a_duplicate),
        cmocka_unit_test(an_object_of_many_keys_is_looked_through_too),
        cmocka_unit_test(a_broken_document_is_told_by_its_reader),
        cmocka_unit_test(the_deepest_document_that_the_reader_takes_is_walked),
        cmocka_unit_test(a_pointer_that_is_too_long_ends_at_a_whole_key),
        cmocka_unit_test(who_has_heard_enough_is_told_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
