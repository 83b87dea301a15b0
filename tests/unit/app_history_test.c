// The history of generations and the events, as operators read them.

#include "app/events.h"
#include "app/history.h"
#include "base/json_tree.h"
#include "base/redact.h"
#include "model/data_set.h"
#include "unit/app_generation_stage.h"

static struct history history;

static void publish(const char *why)
{
    struct reload_answer *answer = reload_answer_create(RELOAD_COMMAND, TEXT("ann@desk"), text_of(why));
    struct settings *settings = settings_acquire((struct settings *)(uintptr_t)generation_settings(running));

    assert_non_null(answer);
    answer->outcome = RELOAD_PUBLISHED;
    answer->generation = generation_number(running);
    history_note(&history, running, settings, answer);
    settings_release(&settings);
    reload_answer_release(&answer);
}

static void change_acme(int pages)
{
    char options[32];

    snprintf(options, sizeof(options), "pages = %d", pages);
    write_supplier("acme", options, "", "return {}");
    assert_builds();
}

static void what_ran_can_be_found_for_a_while(void **state)
{
    uint32_t first = generation_number(running), numbers[HISTORY_KEPT + 2];
    struct history_found found = { 0 };
    struct failure why = { 0 };
    (void)state;

    publish("the first");
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        change_acme(10 + (int)i);
        publish("one more");
        numbers[i] = generation_number(running);
    }
    assert_int_equal(history_find(&history, first, &found, &why), STATUS_NOT_FOUND);
    assert_non_null(strstr(why.message, "is not kept"));
    char kept[64];
    snprintf(kept, sizeof(kept), "generations %u to %u are kept", numbers[2], numbers[COUNT_OF(numbers) - 1]);
    assert_non_null(strstr(why.help, kept));
    assert_int_equal(history_find(&history, numbers[1], &found, &why), STATUS_NOT_FOUND);
    assert_int_equal(history_find(&history, numbers[2], &found, &why), STATUS_OK);
    struct script_set *again = script_set_again(found.set);
    assert_non_null(again);
    ptrdiff_t index = script_set_find_supplier(again, TEXT("acme"));
    const struct script_file *file = script_set_supplier_file(again, (size_t)index);
    assert_non_null(memmem(file->source.data, file->source.length, "pages = 12", 10));
    script_set_release(&again);
    history_found_fini(&found);
}

static void declare_table(const char *name)
{
    char more[2 * PATH_SIZE], text[64];

    snprintf(text, sizeof(text), "id\tname\nx\t%s\n", name);
    write_as("hotels.tsv", text);
    snprintf(more, sizeof(more), "data: { hotels: { file: %s/hotels.tsv, key: [id] } }\n", folder);
    write_settings(more);
    assert_builds();
    publish(name);
}

static void tables_are_kept_while_there_is_room(void **state)
{
    uint32_t numbers[4];
    struct failure why = { 0 };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char name[16];
        snprintf(name, sizeof(name), "Inn %zu", i);
        if (i == 3) {
            history.data_max = 2 * data_table_stats(data_set_table(generation_catalogue(running)->data, 0)).bytes;
        }
        declare_table(name);
        numbers[i] = generation_number(running);
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct history_found found = { 0 };
        assert_int_equal(history_find(&history, numbers[i], &found, &why), STATUS_OK);
        assert_non_null(found.set);
        assert_int_equal(found.data != NULL, i > 0); // what runs does not count, and two more have room
        history_found_fini(&found);
    }
}

static struct json_node *written(struct arena *arena, struct buffer *out)
{
    struct json_node *root = NULL;
    const char *sentence = NULL;
    size_t offset;

    if (json_tree_read(arena, buffer_text(out), &root, &offset, &sentence) != STATUS_OK) {
        fail_msg("%s at %zu", sentence, offset);
    }
    return root;
}

static void the_newest_come_first_and_the_oldest_go(void **state)
{
    struct buffer out;
    struct json_writer json;
    struct arena arena;
    (void)state;

    for (int i = 0; i < HISTORY_MAX + 5; i++) {
        publish("again");
    }
    change_acme(77);
    publish("the last");
    buffer_init(&out, 4 << 20);
    arena_init(&arena, 32 << 20);
    json_writer_init(&json, &out);
    history_write(&history, &json);
    const struct json_node *list = written(&arena, &out);
    assert_int_equal(list->count, HISTORY_MAX);
    const struct json_node *newest = list->first;
    assert_int_equal(json_tree_member(newest, "running")->kind, JSON_TRUE);
    assert_int_equal(json_tree_member(newest->next, "running")->kind, JSON_FALSE);
    const struct json_node *reload = json_tree_member(newest, "reload");
    assert_true(text_equals_c(json_tree_member(reload, "why")->text, "the last"));
    assert_true(text_equals_c(json_tree_member(reload, "who")->text, "ann@desk"));
    struct text label = version_of(running, "acme")->label;
    const struct json_node *suppliers = json_tree_member(json_tree_member(newest, "scripts"), "suppliers");
    assert_true(text_equals(json_tree_element(suppliers, 0)->text, label));
    size_t kept = 0;
    for (const struct json_node *each = list->first; each != NULL; each = each->next) {
        kept += json_tree_member(each, "kept")->kind == JSON_TRUE ? 1 : 0;
    }
    assert_int_equal(kept, HISTORY_KEPT);
    arena_fini(&arena);
    buffer_fini(&out);
}

static void events_are_a_ring_without_secrets(void **state)
{
    struct events events;
    struct failure because = { 0 };
    struct buffer out;
    struct json_writer json;
    struct arena arena;
    (void)state;

    assert_int_equal(redact_add(TEXT("hunter-2-of-acme")), STATUS_OK);
    assert_int_equal(events_init(&events), STATUS_OK);
    for (int i = 0; i < EVENTS_MAX + 3; i++) {
        failure_set(&because, "number %d", i);
        events_note(&events, EVENT_RELOAD, 7, (struct text){ 0 }, &because);
    }
    failure_at(&because, "suppliers/acme.lua", 12, 0);
    failure_set(&because, "it said hunter-2-of-acme");
    events_note(&events, EVENT_WENT_BACK, 8, TEXT("acme"), &because);
    assert_int_equal(events_count(&events, EVENT_RELOAD), EVENTS_MAX + 3);
    assert_int_equal(events_count(&events, EVENT_WENT_BACK), 1);
    assert_int_equal(events_count(&events, EVENT_KEPT), 0);
    buffer_init(&out, 4 << 20);
    arena_init(&arena, 32 << 20);
    json_writer_init(&json, &out);
    events_write(&events, UINT64_MAX, &json);
    const struct json_node *list = written(&arena, &out);
    assert_int_equal(list->count, EVENTS_MAX);
    assert_true(text_equals_c(json_tree_member(list->first, "event")->text, "went_back"));
    assert_true(text_equals_c(json_tree_member(list->first, "name")->text, "acme"));
    assert_true(text_equals_c(json_tree_member(list->first, "line")->text, "12"));
    assert_true(text_equals_c(json_tree_member(list->first, "message")->text, "it said ***"));
    assert_true(text_equals_c(json_tree_member(list->first->next, "message")->text, "number 258"));
    assert_null(json_tree_member(list->first->next, "name"));
    buffer_clear(&out);
    json_writer_init(&json, &out);
    events_write(&events, 2, &json);
    assert_int_equal(written(&arena, &out)->count, 2);
    arena_fini(&arena);
    buffer_fini(&out);
    events_fini(&events);
}

static int begin(void **state)
{
    history_init(&history);
    return set_up(state);
}

static int end(void **state)
{
    history_fini(&history);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_ran_can_be_found_for_a_while, begin, end),
        cmocka_unit_test_setup_teardown(tables_are_kept_while_there_is_room, begin, end),
        cmocka_unit_test_setup_teardown(the_newest_come_first_and_the_oldest_go, begin, end),
        cmocka_unit_test_setup_teardown(events_are_a_ring_without_secrets, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
