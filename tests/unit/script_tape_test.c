// The tape: what is declared is there, nothing else is, and the document is judged as strictly as ever.
#include "script/tape.h"

#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
    struct arena arena;
    struct declared *root;
    struct tape tape;
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    assert_non_null(world);
    arena_init(&world->arena, 1 << 20);
    world->root = declared_root(&world->arena);
    tape_init(&world->tape);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    tape_fini(&world->tape);
    arena_fini(&world->arena);
    free(world);
    return 0;
}

static struct declared *member(struct world *world, struct declared *node, const char *name)
{
    struct declared *made = NULL;
    assert_int_equal(declared_member(&world->arena, node, text_of(name), &made), DECLARED_OK);
    return made;
}

static struct declared *element(struct world *world, struct declared *node, enum declared_kind kind)
{
    struct declared *made = NULL;
    assert_int_equal(declared_element(&world->arena, node, kind, &made), DECLARED_OK);
    return made;
}

static enum tape_result read_json(struct world *world, const char *json)
{
    return tape_read_json(&world->tape, text_of(json), world->root, NULL, NULL);
}

#define ASSERT_TEXT(node, expected)                                                                                    \
    do {                                                                                                               \
        assert_int_equal((node)->text.length, strlen(expected));                                                       \
        assert_memory_equal((node)->text.data, expected, strlen(expected));                                            \
    } while (0)

static void declared_members_are_there_in_their_places(void **state)
{
    struct world *world = *state;
    struct declared *name = member(world, world->root, "name");
    struct declared *price = member(world, world->root, "price");
    struct declared *total = member(world, price, "total");
    const char *documents[] = {
        "{\"name\":\"a\\u0041b\",\"skipped\":{\"name\":[1,{\"x\":2}]},\"price\":{\"currency\":\"EUR\",\"total\":412.30}"
        "}",
        " { \"price\" : { \"total\" : 412.30 , \"total2\":1} , \"x\" : [ [ ] ] , \"n\\u0061me\" : \"aAb\" } ",
    };

    for (size_t i = 0; i < COUNT_OF(documents) * 3; i++) { // the order of the one before must not matter
        assert_int_equal(read_json(world, documents[i % COUNT_OF(documents)]), TAPE_OK);
        const struct tape_node *root = tape_root(&world->tape);
        assert_int_equal(root->kind, TAPE_OBJECT);
        const struct tape_node *node = tape_member(&world->tape, root, name->place);
        assert_int_equal(node->kind, TAPE_TEXT);
        ASSERT_TEXT(node, "aAb");
        node = tape_member(&world->tape, tape_member(&world->tape, root, price->place), total->place);
        assert_int_equal(node->kind, TAPE_NUMBER);
        ASSERT_TEXT(node, "412.30");
    }
}

static void lists_are_chained_in_their_order(void **state)
{
    struct world *world = *state;
    struct declared *offers = member(world, world->root, "offers");
    struct declared *id = member(world, element(world, offers, DECLARED_LIST), "id");
    char json[4096] = "{\"offers\":[";
    const struct tape_node *nodes = NULL;
    uint32_t count = 0;

    for (int i = 0; i < 100; i++) {
        (void)snprintf(json + strlen(json), sizeof json - strlen(json), "%s{\"x\":[],\"id\":%d}", i > 0 ? "," : "", i);
    }
    strcat(json, "]}");
    assert_int_equal(read_json(world, json), TAPE_OK);
    const struct tape_node *list = tape_member(&world->tape, tape_root(&world->tape), offers->place);
    assert_int_equal(list->kind, TAPE_LIST);
    assert_int_equal(list->count, 100);
    nodes = world->tape.nodes;
    for (uint32_t at = list->first; at != 0; at = nodes[at].next) {
        char expected[16];
        (void)snprintf(expected, sizeof expected, "%u", count++);
        ASSERT_TEXT(tape_member(&world->tape, &nodes[at], id->place), expected);
    }
    assert_int_equal(count, 100);
}

static void the_values_of_a_map_come_with_their_keys(void **state)
{
    struct world *world = *state;
    element(world, world->root, DECLARED_MAP);

    assert_int_equal(read_json(world, "{\"a\":1,\"b\\n\":true,\"\":null}"), TAPE_OK);
    const struct tape_node *map = tape_root(&world->tape);
    const struct tape_node *nodes = world->tape.nodes;
    assert_int_equal(map->kind, TAPE_MAP);
    assert_int_equal(map->count, 3);
    uint32_t at = map->first;
    ASSERT_TEXT(&nodes[at], "a");
    ASSERT_TEXT(&nodes[at + 1], "1");
    at = nodes[at].next;
    ASSERT_TEXT(&nodes[at], "b\n");
    assert_int_equal(nodes[at + 1].kind, TAPE_TRUE);
    at = nodes[at].next;
    ASSERT_TEXT(&nodes[at], "");
    assert_int_equal(nodes[at + 1].kind, TAPE_NULL);
    assert_int_equal(nodes[at].next, 0);
}

static void a_raw_value_is_its_bytes(void **state)
{
    struct world *world = *state;
    static const char *const values[] = { "{\"a\":[1, 2]}", "[ ]", "\"a\\u0041\"", "-1.5e3", "true", "false", "null" };
    struct declared *raw = member(world, world->root, "raw");

    raw->kind = DECLARED_RAW;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char json[100];
        (void)snprintf(json, sizeof json, "{\"raw\" : %s , \"b\":1}", values[i]);
        assert_int_equal(read_json(world, json), TAPE_OK);
        ASSERT_TEXT(tape_member(&world->tape, tape_root(&world->tape), raw->place), values[i]);
    }
}

static void what_is_not_as_declared_says_what_it_is(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *value;
        enum tape_kind kind;
        const char *name;
    } rows[] = { { "[1]", TAPE_OTHER, "a list" },  { "{\"a\":1}", TAPE_OTHER, "an object" },
                 { "null", TAPE_NULL, "null" },    { "true", TAPE_TRUE, "true" },
                 { "1", TAPE_NUMBER, "a number" }, { "\"\"", TAPE_TEXT, "a text" } };
    struct declared *scalar = member(world, world->root, "a");

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char json[100];
        (void)snprintf(json, sizeof json, "{\"a\":%s}", rows[i].value);
        assert_int_equal(read_json(world, json), TAPE_OK);
        const struct tape_node *node = tape_member(&world->tape, tape_root(&world->tape), scalar->place);
        assert_int_equal(node->kind, rows[i].kind);
        assert_string_equal(tape_kind_name(node), rows[i].name);
    }
    assert_int_equal(read_json(world, "{}"), TAPE_OK);
    assert_int_equal(tape_member(&world->tape, tape_root(&world->tape), scalar->place)->kind, TAPE_NONE);
}

static void of_equal_keys_the_last_one_counts(void **state)
{
    struct world *world = *state;
    struct declared *deep = member(world, member(world, world->root, "a"), "b");

    assert_int_equal(read_json(world, "{\"a\":{\"b\":1},\"a\":{\"c\":2}}"), TAPE_OK);
    const struct tape_node *a = tape_member(&world->tape, tape_root(&world->tape), 0);
    assert_int_equal(tape_member(&world->tape, a, deep->place)->kind, TAPE_NONE);
    struct declared *list = member(world, world->root, "list");
    element(world, list, DECLARED_LIST);
    assert_int_equal(read_json(world, "{\"list\":[1,2],\"list\":[]}"), TAPE_OK);
    const struct tape_node *node = tape_member(&world->tape, tape_root(&world->tape), list->place);
    assert_int_equal(node->count, 0);
    assert_int_equal(node->first, 0);
}

// Every prefix of a document is no document, and what is skipped is judged like what is read.
static void a_broken_document_is_refused_wherever_it_breaks(void **state)
{
    struct world *world = *state;
    static const char whole[] =
        "{\"a\":[{\"b\":\"x\\n\",\"c\":[1,-2.5e1,{\"d\":null}]},{}],\"e\":true,\"f\":\"\xC3\xA9\"}";
    static const char *const broken[] = { "{\"a\":01}",      "{\"z\":01}",       "{\"a\":[1,]}",   "{\"z\":[1,]}",
                                          "{\"z\":\"\\x\"}", "{\"z\":\"\xFF\"}", "{\"a\" 1}",      "{\"a\":1}{}",
                                          "{'a':1}",         "{\"z\":nul}",      "{\"a\":\"\n\"}", "" };

    member(world, element(world, member(world, world->root, "a"), DECLARED_LIST), "b");
    assert_int_equal(read_json(world, whole), TAPE_OK);
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        struct text cut = { whole, length };
        assert_int_equal(tape_read_json(&world->tape, cut, world->root, NULL, NULL), TAPE_BROKEN);
        assert_non_null(world->tape.error);
        assert_true(world->tape.offset <= length);
    }
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        assert_int_equal(read_json(world, broken[i]), TAPE_BROKEN);
        assert_false(json_is_valid(text_of(broken[i]), NULL, NULL));
    }
}

static void a_tree_that_contradicts_itself_is_refused(void **state)
{
    struct world *world = *state;
    struct declared *made = NULL;
    struct declared *list = member(world, world->root, "list");
    char path[100];

    struct declared *deep = member(world, element(world, list, DECLARED_LIST), "deep");
    assert_int_equal(declared_member(&world->arena, list, TEXT("x"), &made), DECLARED_CONFLICT);
    assert_int_equal(declared_element(&world->arena, list, DECLARED_MAP, &made), DECLARED_CONFLICT);
    assert_int_equal(declared_element(&world->arena, world->root, DECLARED_LIST, &made), DECLARED_CONFLICT);
    assert_ptr_equal(member(world, world->root, "list"), list);
    declared_path(deep, path, sizeof path);
    assert_string_equal(path, "list[].deep");
    declared_path(world->root, path, sizeof path);
    assert_string_equal(path, ".");
    for (int i = 0; i < 300; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "m%d", i);
        enum declared_result result = declared_member(&world->arena, deep, text_of(name), &made);
        assert_int_equal(result, i < DECLARED_MEMBERS_MAX - 1 ? DECLARED_OK : DECLARED_TOO_MANY);
    }
    assert_ptr_equal(declared_find(deep, TEXT("m254")), deep->members[254]);
    assert_null(declared_find(deep, TEXT("m255")));
}

static void too_many_values_are_too_many(void **state)
{
    struct world *world = *state;
    size_t count = 1100000;
    char *json = malloc(count * 2 + 16);
    size_t length = 0;

    assert_non_null(json);
    element(world, world->root, DECLARED_LIST);
    json[length++] = '[';
    for (size_t i = 0; i < count; i++) {
        json[length++] = '1';
        json[length++] = i + 1 < count ? ',' : ']';
    }
    struct text text = { json, length };
    assert_int_equal(tape_read_json(&world->tape, text, world->root, NULL, NULL), TAPE_FULL);
    tape_trim(&world->tape);
    assert_int_equal(world->tape.capacity, 0);
    free(json);
}

static bool stop_at_third(void *context)
{
    return ++*(int *)context == 3;
}

static void reading_ends_when_it_is_told_to(void **state)
{
    struct world *world = *state;
    int asked = 0;
    member(world, element(world, world->root, DECLARED_LIST), "a");
    struct text json = TEXT("[{\"a\":1},{\"a\":1},{\"a\":1},{\"a\":1}]");

    assert_int_equal(tape_read_json(&world->tape, json, world->root, stop_at_third, &asked), TAPE_STOPPED);
    assert_int_equal(asked, 3);
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(declared_members_are_there_in_their_places),
        PLAY(lists_are_chained_in_their_order),
        PLAY(the_values_of_a_map_come_with_their_keys),
        PLAY(a_raw_value_is_its_bytes),
        PLAY(what_is_not_as_declared_says_what_it_is),
        PLAY(of_equal_keys_the_last_one_counts),
        PLAY(a_broken_document_is_refused_wherever_it_breaks),
        PLAY(a_tree_that_contradicts_itself_is_refused),
        PLAY(too_many_values_are_too_many),
        PLAY(reading_ends_when_it_is_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
