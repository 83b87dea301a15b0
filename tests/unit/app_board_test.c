#include "app/board.h"

#include "base/clock.h"
#include "support/note_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

enum { HEARD_MAX = 256, PATIENCE = 6000, NAP_US = 10000, WORDS = 20 };

/// One engine: its board, and what it heard.
struct node {
    struct board *board;
    pthread_mutex_t lock;
    struct switch_word words[HEARD_MAX];
    size_t word_count;
    struct park_word parks[HEARD_MAX];
    size_t park_count;
};

struct scene {
    struct note_store notes;
    struct node one, two;
};

static struct scene scene;

static void on_switch(void *context, const struct switch_word *word)
{
    struct node *node = context;

    pthread_mutex_lock(&node->lock);
    if (node->word_count < HEARD_MAX) {
        node->words[node->word_count++] = *word;
    }
    pthread_mutex_unlock(&node->lock);
}

static void on_park(void *context, const struct park_word *word)
{
    struct node *node = context;

    pthread_mutex_lock(&node->lock);
    if (node->park_count < HEARD_MAX) {
        node->parks[node->park_count++] = *word;
    }
    pthread_mutex_unlock(&node->lock);
}

static void node_open(struct node *node)
{
    const struct board_hooks hooks = { .on_switch = on_switch, .on_park = on_park, .context = node };

    *node = (struct node){ 0 };
    pthread_mutex_init(&node->lock, NULL);
    assert_int_equal(board_create(&scene.notes.store, &hooks, &node->board, NULL), STATUS_OK);
    assert_int_equal(board_start(node->board, NULL), STATUS_OK);
}

static void node_close(struct node *node, uint64_t grace_us)
{
    board_stop(node->board, grace_us);
    board_destroy(&node->board);
    pthread_mutex_destroy(&node->lock);
}

static int scene_open(void **state)
{
    (void)state;
    note_store_init(&scene.notes);
    node_open(&scene.one);
    node_open(&scene.two);
    return 0;
}

static int scene_close(void **state)
{
    (void)state;
    node_close(&scene.one, 0);
    node_close(&scene.two, 0);
    note_store_fini(&scene.notes);
    return 0;
}

static size_t heard(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    size_t count = node->word_count;
    pthread_mutex_unlock(&node->lock);
    return count;
}

static size_t heard_parks(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    size_t count = node->park_count;
    pthread_mutex_unlock(&node->lock);
    return count;
}

static void await(struct node *node, size_t (*count)(struct node *node), size_t least)
{
    for (int i = 0; i < PATIENCE && count(node) < least; i++) {
        usleep(NAP_US);
    }
    assert_in_range(count(node), least, HEARD_MAX);
}

static void say(struct node *node, enum switch_action action, const char *supplier)
{
    struct switch_word word = { .action = action, .who = "ann", .said_us = board_stamp_us(node->board) };

    (void)snprintf(word.supplier, sizeof(word.supplier), "%s", supplier);
    board_tell_switch(node->board, &word);
}

static void park(struct node *node, enum park_kind kind, uint64_t for_us, uint32_t parks)
{
    struct park_word word = { .kind = kind, .supplier = "acme", .account = "main", .parks = parks };

    word.said_us = clock_wall_us();
    word.until_us = for_us > 0 ? word.said_us + for_us : 0;
    (void)snprintf(word.mark, sizeof(word.mark), "%s", kind == PARK_AUTH ? "00ff" : "");
    board_tell_park(node->board, &word);
}

/// The note that the boards write, once it says this.
static void await_note(const char *name, const char *words)
{
    bool is_there = false;

    for (int i = 0; i < PATIENCE && !is_there; i++) {
        struct block *note = note_store_find(&scene.notes, name);
        struct text text = block_text(note);
        is_there = note != NULL && memmem(text.data, text.length, words, strlen(words)) != NULL;
        block_release(&note);
        usleep(is_there ? 0 : NAP_US);
    }
    assert_true(is_there);
}

static void what_is_told_to_one_the_other_one_hears_once(void **state)
{
    (void)state;
    say(&scene.one, SWITCH_DISABLE, "acme");
    await(&scene.two, heard, 1);
    assert_string_equal(scene.two.words[0].supplier, "acme");
    assert_string_equal(scene.two.words[0].who, "ann");
    say(&scene.two, SWITCH_ENABLE, "acme");
    await(&scene.one, heard, 1);
    assert_int_equal(scene.one.words[0].action, SWITCH_ENABLE);
    assert_int_equal(heard(&scene.two), 1); // neither its own word nor one twice
    assert_true(scene.one.words[0].said_us > scene.two.words[0].said_us);
}

static void nothing_is_lost_when_both_write_at_once(void **state)
{
    (void)state;
    char name[SWITCH_NAME_SIZE];

    for (int i = 0; i < WORDS; i++) {
        (void)snprintf(name, sizeof(name), "one_%d", i);
        say(&scene.one, SWITCH_DISABLE, name);
        (void)snprintf(name, sizeof(name), "two_%d", i);
        say(&scene.two, SWITCH_DISABLE, name);
    }
    await(&scene.one, heard, WORDS);
    await(&scene.two, heard, WORDS);
    assert_int_equal(heard(&scene.one), WORDS);
    assert_int_equal(heard(&scene.two), WORDS);
}

static void words_wait_while_the_store_is_down_and_outlive_its_memory(void **state)
{
    (void)state;
    say(&scene.one, SWITCH_DISABLE, "acme");
    await(&scene.two, heard, 1);
    note_store_set_down(&scene.notes, true);
    say(&scene.one, SWITCH_DISABLE, "omni");
    say(&scene.two, SWITCH_DISABLE, "kilo");
    note_store_forget(&scene.notes);
    note_store_set_down(&scene.notes, false);
    await(&scene.two, heard, 2);
    await(&scene.one, heard, 1);
    assert_string_equal(scene.two.words[1].supplier, "omni");
    assert_string_equal(scene.one.words[0].supplier, "kilo");
    await_note("switches-1", "\"acme\"");
    await_note("switches-1", "\"kilo\"");
}

static void what_stands_there_and_is_nonsense_is_written_anew(void **state)
{
    (void)state;
    note_store_put(&scene.notes, "switches-1", TEXT("{\"version\":1,\"words\":[7]}"));
    say(&scene.one, SWITCH_DISABLE, "acme");
    await(&scene.two, heard, 1);
    await_note("switches-1", "\"acme\"");
}

static void what_is_told_last_is_written_before_it_ends(void **state)
{
    (void)state;
    say(&scene.one, SWITCH_DISABLE, "acme");
    board_stop(scene.one.board, UINT64_C(60000000));
    struct block *note = note_store_find(&scene.notes, "switches-1");
    assert_non_null(note);
    assert_non_null(memmem(block_text(note).data, block_text(note).length, "\"acme\"", 6));
    block_release(&note);
}

static void parks_are_heard_the_longest_of_quotas_and_the_latest_of_credentials(void **state)
{
    (void)state;
    static const uint64_t MINUTE = 60000000;

    park(&scene.one, PARK_QUOTA, MINUTE, 0);
    await(&scene.two, heard_parks, 1);
    park(&scene.two, PARK_QUOTA, MINUTE / 2, 0); // less than is known
    park(&scene.two, PARK_AUTH, MINUTE, 1);
    await(&scene.one, heard_parks, 1);
    assert_int_equal(scene.one.parks[0].kind, PARK_AUTH);
    assert_string_equal(scene.one.parks[0].mark, "00ff");
    park(&scene.one, PARK_AUTH, 0, 0); // they are taken again
    await(&scene.two, heard_parks, 2);
    assert_int_equal(scene.two.parks[1].kind, PARK_AUTH);
    assert_int_equal(scene.two.parks[1].until_us, 0);
    assert_int_equal(heard_parks(&scene.one), 1);
}

static void what_is_remembered_is_written_for_the_others_and_told_to_nobody_here(void **state)
{
    (void)state;
    const struct board_hooks hooks = { .on_switch = on_switch, .on_park = on_park, .context = &scene.one };
    struct switch_word word = { .action = SWITCH_DISABLE, .supplier = "acme", .said_us = clock_wall_us() };
    struct board *third = NULL;

    assert_int_equal(board_create(&scene.notes.store, &hooks, &third, NULL), STATUS_OK);
    board_remember(third, &word);
    assert_true(board_stamp_us(third) > word.said_us);
    assert_int_equal(board_start(third, NULL), STATUS_OK);
    await(&scene.two, heard, 1);
    board_stop(third, 0);
    board_destroy(&third);
    await(&scene.one, heard, 1); // by its own board
    assert_int_equal(heard(&scene.one), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_told_to_one_the_other_one_hears_once, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(nothing_is_lost_when_both_write_at_once, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(words_wait_while_the_store_is_down_and_outlive_its_memory, scene_open,
                                        scene_close),
        cmocka_unit_test_setup_teardown(what_stands_there_and_is_nonsense_is_written_anew, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(what_is_told_last_is_written_before_it_ends, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(parks_are_heard_the_longest_of_quotas_and_the_latest_of_credentials, scene_open,
                                        scene_close),
        cmocka_unit_test_setup_teardown(what_is_remembered_is_written_for_the_others_and_told_to_nobody_here,
                                        scene_open, scene_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
