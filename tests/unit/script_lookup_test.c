// lookup() in a sandbox, over tables that were written and loaded for the test.

#include "model/data_set.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { GROWTH_CAP = 1 << 20 };

static struct data_set *data;
static struct sandbox *sandbox;

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    fail_msg("%s:%u: %s", failure->file, failure->line, failure->message);
}

static void add_table(const char *name, const char *bytes, const char *first, const char *second)
{
    char path[] = "/tmp/lookup_test.XXXXXX";
    struct text keys[] = { text_of(first), text_of(second) };
    struct data_table_options options = { .path = path, .keys = keys, .key_count = second == NULL ? 1 : 2 };
    struct data_table *table;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
    close(fd);
    assert_int_equal(data_table_load(&options, on_finding, NULL, &table), STATUS_OK);
    unlink(path);
    assert_int_equal(data_set_add(data, text_of(name), &table), STATUS_OK);
    assert_null(table);
}

static void add_wide_table(void)
{
    char *bytes = malloc(1 << 20);
    size_t length = (size_t)sprintf(bytes, "key\ta\tb\n");
    for (int i = 0; i < DATA_ROWS_PER_KEY; i++) {
        length += (size_t)sprintf(bytes + length, "all\t%d\tcell number %d\n", i, i);
    }
    add_table("wide", bytes, "key", NULL);
    free(bytes);
}

static int open_sandbox(void **state)
{
    (void)state;
    data = data_set_create(4);
    assert_non_null(data);
    add_table("properties",
              "supplier\tcity\tproperty\nexpedia\tLON\tp1\nexpedia\tLON\tp2\nexpedia\tPAR\tp3\nacme\tLON\t\n",
              "supplier", "city");
    add_table("hotels", "id\tname\tstars\nh1\tGrand H\xC3\xB4tel\t5\n", "id", NULL);
    add_table("airports", "code\nHND\n", "code", NULL);
    add_wide_table();
    sandbox = sandbox_create(GROWTH_CAP, NULL, NULL);
    assert_non_null(sandbox);
    sandbox->data = data;
    return 0;
}

static int close_sandbox(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    data_set_release(&data);
    assert_null(data);
    return 0;
}

struct job {
    const char *chunk;
    char shown[1024];
};

static int run_chunk(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);
    if (!sandbox_load(L, TEXT("test.lua"), text_of(job->chunk))) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    snprintf(job->shown, sizeof(job->shown), "%s", lua_tostring(L, -1));
    return 0;
}

static void on_error(lua_State *L, void *context)
{
    struct job *job = context;
    snprintf(job->shown, sizeof(job->shown), "error: %s", lua_tostring(L, -1));
}

/// What the chunk returns, as text; "error: …" when it raises.
static const char *run(const char *chunk)
{
    static struct job job;
    job = (struct job){ .chunk = chunk };
    (void)sandbox_call(sandbox, run_chunk, on_error, &job);
    return job.shown;
}

static void assert_gives(const char *chunk, const char *expected)
{
    assert_string_equal(run(chunk), expected);
}

static void assert_raises(const char *chunk, const char *words)
{
    const char *shown = run(chunk);
    if (strncmp(shown, "error: test.lua:", 16) != 0 || strstr(shown, words) == NULL) {
        fail_msg("\"%s\" raises no \"%s\"", shown, words);
    }
}

static void one_column_beside_the_key_gives_a_list_of_cells(void **state)
{
    (void)state;
    assert_gives("return json.encode(lookup('properties', 'expedia', 'LON'))", "[\"p1\",\"p2\"]");
    assert_gives("local l = lookup('properties', 'expedia', 'LON') return #l .. l[1] .. l[2] .. tostring(l[3])",
                 "2p1p2nil");
    assert_gives("return json.encode(lookup('properties', 'acme', 'LON'))", "[\"\"]");
    assert_gives("local all = '' for _, id in ipairs(lookup('properties', 'expedia', 'LON')) do all = all .. id end "
                 "return all",
                 "p1p2");
}

static void several_columns_give_rows_by_name(void **state)
{
    (void)state;
    assert_gives("local row = lookup('hotels', 'h1')[1] return row.name .. row.stars .. tostring(row.id)",
                 "Grand H\xC3\xB4tel5nil");
    assert_gives("return json.encode(lookup('hotels', 'h1'))", "[{\"name\":\"Grand H\xC3\xB4tel\",\"stars\":\"5\"}]");
}

static void no_column_beside_the_key_gives_true(void **state)
{
    (void)state;
    assert_gives("return tostring(lookup('airports', 'HND')[1])", "true");
}

static void a_miss_gives_nil_and_is_counted(void **state)
{
    (void)state;
    uint64_t before = data_set_misses(data, 0);
    assert_gives("return tostring(lookup('properties', 'expedia', 'ROM'))", "nil");
    assert_gives("return tostring(lookup('properties', 'nobody', 'LON'))", "nil");
    assert_gives("return tostring(lookup('properties', 'expedia', 'PAR')[1])", "p3");
    assert_int_equal(data_set_misses(data, 0), before + 2);
    assert_int_equal(data_set_misses(data, 1), 0);
}

static void a_part_that_is_nil_gives_nil_and_is_no_miss(void **state)
{
    (void)state;
    uint64_t before = data_set_misses(data, 0);
    assert_gives("return tostring(lookup('properties', 'expedia', nil))", "nil");
    assert_int_equal(data_set_misses(data, 0), before);
}

static void lists_and_rows_are_read_only(void **state)
{
    (void)state;
    assert_raises("lookup('properties', 'expedia', 'LON')[1] = 'x'", "read-only");
    assert_raises("lookup('hotels', 'h1')[1].name = 'x'", "read-only");
}

static void misuse_raises_at_the_callers_line(void **state)
{
    (void)state;
    assert_raises("\n\nlookup('propertys', 'a', 'b')", "test.lua:3: bad argument #1");
    assert_raises("lookup('propertys', 'a', 'b')", "did you mean \"properties\"?");
    assert_raises("lookup('zzzzzzzzzz', 'a', 'b')", "declare no table \"zzzzzzzzzz\"");
    assert_raises("lookup('properties', 'a')", "takes the key (supplier, city), 2 value(s), but got 1");
    assert_raises("lookup('properties', 'a', 'b', 'c')", "but got 3");
    assert_raises("lookup('properties', 'a', 7)", "bad argument #3");
    assert_raises("lookup()", "bad argument #1");
    assert_raises("lookup({}, 'a')", "bad argument #1");
    sandbox->data = NULL;
    assert_raises("lookup('properties', 'a', 'b')", "while a file is loaded");
    sandbox->data = data;
}

static void what_a_look_up_gives_counts_as_the_scripts_memory(void **state)
{
    (void)state;
    struct job job = { .chunk = "local kept = {} for i = 1, 5 do kept[i] = lookup('wide', 'all') end return #kept" };
    assert_int_equal(sandbox_call(sandbox, run_chunk, on_error, &job), SANDBOX_OUT_OF_MEMORY);
    sandbox_destroy(&sandbox);
    sandbox = sandbox_create(64 << 20, NULL, NULL);
    sandbox->data = data;
    assert_gives("local l = lookup('wide', 'all') return #l .. l[10000].b", "10000cell number 9999");
}

static void a_set_lives_as_long_as_somebody_holds_it(void **state)
{
    (void)state;
    struct data_set *held = data_set_acquire(data);
    struct data_set *other = held;
    data_set_release(&other);
    assert_null(other);
    assert_int_equal(data_set_find(held, TEXT("hotels")), 1);
    assert_int_equal(data_set_find(held, TEXT("hotel")), -1);
    assert_string_equal(data_set_nearest(held, TEXT("hotel")), "hotels");
    assert_null(data_set_acquire(NULL));
    assert_int_equal(data_set_count(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_column_beside_the_key_gives_a_list_of_cells),
        cmocka_unit_test(several_columns_give_rows_by_name),
        cmocka_unit_test(no_column_beside_the_key_gives_true),
        cmocka_unit_test(a_miss_gives_nil_and_is_counted),
        cmocka_unit_test(a_part_that_is_nil_gives_nil_and_is_no_miss),
        cmocka_unit_test(lists_and_rows_are_read_only),
        cmocka_unit_test(misuse_raises_at_the_callers_line),
        cmocka_unit_test(what_a_look_up_gives_counts_as_the_scripts_memory),
        cmocka_unit_test(a_set_lives_as_long_as_somebody_holds_it),
    };
    return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
