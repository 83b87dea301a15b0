#include "base/json_tree.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static struct json_node *read_tree(const char *json)
{
    struct json_node *root;
    size_t offset;
    const char *why;

    if (json_tree_read(&arena, text_of(json), &root, &offset, &why) != STATUS_OK) {
        fail_msg("%s at %zu", why, offset);
    }
    return root;
}

static void a_document_becomes_nodes_in_its_order(void **state)
{
    const char *json = "{ \"b\": [1, \"x\\u0041\", null], \"a\": {\"c\": false} }";
    struct json_node *root = read_tree(json);

    (void)state;
    assert_int_equal(root->kind, JSON_BEGIN_OBJECT);
    assert_int_equal(root->count, 2);
    assert_true(text_equals_c(root->first->key, "b"));
    assert_ptr_equal(root->first->parent, root);
    struct json_node *list = json_tree_member(root, "b");
    assert_int_equal(list->count, 3);
    assert_true(text_equals_c(json_tree_element(list, 1)->text, "xA"));
    assert_int_equal(json_tree_element(list, 2)->kind, JSON_NULL);
    assert_null(json_tree_element(list, 3));
    assert_int_equal(json_tree_member(json_tree_member(root, "a"), "c")->kind, JSON_FALSE);
    assert_null(json_tree_member(root, "c"));
    assert_null(json_tree_member(NULL, "c"));
}

static void every_node_knows_its_bytes(void **state)
{
    const char *json = " { \"a\" : [ 1.50 , \"q\\\"\" ,true, false,null ] } ";
    struct json_node *root = read_tree(json);
    struct json_node *list = json_tree_member(root, "a");
    static const char *const sources[] = { "1.50", "\"q\\\"\"", "true", "false", "null" };

    (void)state;
    assert_true(text_equals_c(root->source, "{ \"a\" : [ 1.50 , \"q\\\"\" ,true, false,null ] }"));
    assert_true(text_equals_c(list->source, "[ 1.50 , \"q\\\"\" ,true, false,null ]"));
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        assert_true(text_equals_c(json_tree_element(list, i)->source, sources[i]));
    }
}

static void values_are_equal_whatever_their_spelling_and_order(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_equal;
    } ROWS[] = {
        { "{\"a\":1,\"b\":[true]}", "{ \"b\": [ true ], \"a\": 1.0 }", true },
        { "1e2", "100", true },
        { "\"A\"", "\"\\u0041\"", true },
        { "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "1", "\"1\"", false },
        { "0.1", "0.10000001", false },
        { "null", "false", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        assert_int_equal(json_tree_equals(read_tree(ROWS[i].a), read_tree(ROWS[i].b)), ROWS[i].is_equal);
        assert_int_equal(json_tree_equals(read_tree(ROWS[i].b), read_tree(ROWS[i].a)), ROWS[i].is_equal);
    }
}

static void what_is_no_document_says_where(void **state)
{
    struct json_node *root;
    size_t offset;
    const char *why;

    (void)state;
    assert_int_equal(json_tree_read(&arena, TEXT("{\"a\":1,}"), &root, &offset, &why), STATUS_INVALID);
    assert_null(root);
    assert_int_equal(offset, 7);
    assert_int_not_equal(strlen(why), 0);
    assert_int_equal(json_tree_read(&arena, TEXT(""), &root, &offset, &why), STATUS_INVALID);
    assert_int_equal(json_tree_read(&arena, TEXT("1 2"), &root, &offset, &why), STATUS_INVALID);
    assert_int_equal(json_tree_read(&arena, TEXT("[1"), &root, &offset, &why), STATUS_INVALID);
}

static void a_tree_that_is_too_large_is_refused(void **state)
{
    struct arena small;
    struct json_node *root;
    size_t offset;
    const char *why;

    (void)state;
    arena_init(&small, 300);
    assert_int_equal(json_tree_read(&small, TEXT("[1,2,3,4,5,6,7,8,9]"), &root, &offset, &why), STATUS_NO_MEMORY);
    assert_null(root);
    arena_fini(&small);
}

static void a_place_counts_lines_and_bytes(void **state)
{
    struct text text = TEXT("ab\ncd\n\nx");
    struct json_place place = json_place_of(text, 4);

    (void)state;
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 2);
    place = json_place_of(text, 7);
    assert_int_equal(place.line, 4);
    assert_int_equal(place.column, 1);
    place = json_place_of(text, 0);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.column, 1);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
    char folder[] = "/tmp/base_json_tree_test.XXXXXX";
    char path[64];
    struct buffer bytes;
    const char *why = "";

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    buffer_init(&bytes, 8);
    assert_int_equal(file_read(path, &bytes, NULL), STATUS_NOT_FOUND);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("12345678", file);
    fclose(file);
    assert_int_equal(file_read(path, &bytes, NULL), STATUS_OK);
    assert_true(text_equals_c(buffer_text(&bytes), "12345678"));
    assert_true(file_replace(path, TEXT("123456789"), &why));
    buffer_clear(&bytes);
    assert_int_equal(file_read(path, &bytes, NULL), STATUS_FULL);
    buffer_fini(&bytes);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    buffer_init(&bytes, 8);
    assert_int_equal(file_read(path, &bytes, NULL), STATUS_INVALID);
    assert_false(file_replace("/nowhere/at/all", TEXT("x"), &why));
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    buffer_fini(&bytes);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(a_document_becomes_nodes_in_its_order),
        WITH_ARENA(every_node_knows_its_bytes),
        WITH_ARENA(values_are_equal_whatever_their_spelling_and_order),
        WITH_ARENA(what_is_no_document_says_where),
        WITH_ARENA(a_tree_that_is_too_large_is_refused),
        WITH_ARENA(a_place_counts_lines_and_bytes),
        WITH_ARENA(a_file_is_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
