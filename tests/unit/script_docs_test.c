// What is said of the helpers held against the helpers: types in scripts/types/, the reference in scripts/README.md,
// and how they take misuse. The comparing is done in Lua (script_docs.lua), in a plain state; this runs pieces of
// script in a sandbox for it.

#include "base/places.h"
#include "model/data_set.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/run_response.h"
#include "script/sandbox.h"
#include "unit/script_stick.h"

#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT_LITERAL(literal)                                                                                          \
    {                                                                                                                  \
        "" literal, sizeof(literal) - 1                                                                                \
    }

enum { RESULTS_MAX = 8, GROWTH_CAP = 64 << 20 };

static struct script_set *set;
static struct state *state;
static struct sandbox *sandbox; // the state's
static const struct script_account account = {
    .serial = 1,
    .name = TEXT_LITERAL("main"),
    .context = TEXT_LITERAL("{\"account\":\"main\",\"options\":{},\"secret\":{\"ACME_PASSWORD\":\"secret\"}}"),
};
static struct places *places;
static struct data_set *data;
static lua_State *plain;

/// A result of a piece of script, as plain data.
struct result {
    char kind[16];
    struct buffer text;
};

struct piece {
    struct text name, source;
    struct run_response *view; // of the response that it is given
    struct result results[RESULTS_MAX];
    int count;
    bool is_error;
    struct buffer message;
};

// ---- in the sandbox

static void describe_failure(const struct script_fail *fail, struct buffer *out)
{
    buffer_printf(out, "%s", fail->kind);
    if (fail->code != NULL) {
        buffer_printf(out, " %s", fail->code);
    }
    if (fail->wait.after_ms > 0) {
        buffer_printf(out, " after %llu ms", (unsigned long long)fail->wait.after_ms);
    }
    if (fail->message != NULL) {
        buffer_printf(out, ": %s", fail->message);
    }
}

static void take_result(lua_State *L, int index, struct result *result)
{
    struct script_fail fail;

    snprintf(result->kind, sizeof result->kind, "%s", luaL_typename(L, index));
    buffer_init(&result->text, 1 << 20);
    if (bind_fail_read(L, index, &fail)) {
        snprintf(result->kind, sizeof result->kind, "failure");
        describe_failure(&fail, &result->text);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        buffer_append_text(&result->text, bind_text_at(L, index));
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        buffer_printf(&result->text, "%.14g", lua_tonumber(L, index));
    } else if (lua_type(L, index) == LUA_TBOOLEAN) {
        buffer_append_c(&result->text, lua_toboolean(L, index) ? "true" : "false");
    } else if (freeze_is_table(L, index)) {
        snprintf(result->kind, sizeof result->kind, "table");
        if (!bind_json_encode(L, index, &result->text)) {
            lua_pop(L, 1);
        }
    } else {
        buffer_append_c(&result->text, luaL_typename(L, index));
    }
}

/// Pushes what a function of a supplier is given: a response and a context.
static void push_given(lua_State *L, struct piece *piece)
{
    const struct header header = { TEXT("content-type"), TEXT("application/json") };
    const struct http_response response = { .status = 200,
                                            .headers = (struct header *)(uintptr_t)&header,
                                            .header_count = 1 };
    const struct run_context context = { .serial = account.serial,
                                         .wall_us = UINT64_C(1795942800) * 1000000,
                                         .remaining_us = 1000000,
                                         .part = 1,
                                         .parts = 1,
                                         .step = 1,
                                         .state = TEXT("{}"),
                                         .login = TEXT("\"token-1\"") };

    run_response_make(L, piece->view, &response);
    run_response_push(L);
    state_learn_account(L, state, &account);
    run_push_context(L, state, &context);
}

static int run_piece(lua_State *L)
{
    struct piece *piece = lua_touserdata(L, 1);

    lua_settop(L, 0);
    bind_time_set_places(L, places);
    if (!sandbox_load(L, piece->name, piece->source)) {
        return lua_error(L);
    }
    push_given(L, piece);
    lua_call(L, 2, LUA_MULTRET);
    piece->count = lua_gettop(L) < RESULTS_MAX ? lua_gettop(L) : RESULTS_MAX;
    for (int i = 0; i < piece->count; i++) {
        take_result(L, i + 1, &piece->results[i]);
    }
    return 0;
}

static void on_error(lua_State *L, void *context)
{
    struct piece *piece = context;
    struct script_fail fail;

    if (bind_fail_read(L, -1, &fail)) {
        describe_failure(&fail, &piece->message);
    } else {
        buffer_append_c(&piece->message, lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
    }
}

// ---- for the plain state

static void push_text(lua_State *L, const struct buffer *buffer)
{
    lua_pushlstring(L, buffer->length == 0 ? "" : buffer->data, buffer->length);
}

/// sandbox_run(name, source, body) -> true and a list of {kind, text}, or false and the message.
static int docs_run(lua_State *L)
{
    struct run run = { .state = state };
    struct run_response view = { .run = &run, .status = 200 };
    struct piece piece = { .name = text_of(luaL_checkstring(L, 1)), .view = &view };

    view.body.data = luaL_optlstring(L, 3, "", &view.body.length);
    view.reading = charset_begin(TEXT("application/json"), view.body);
    buffer_init(&view.converted, 1 << 16);
    piece.source.data = luaL_checklstring(L, 2, &piece.source.length);
    buffer_init(&piece.message, 1 << 16);
    enum sandbox_result end = sandbox_call(sandbox, run_piece, on_error, &piece);
    lua_pushboolean(L, end == SANDBOX_OK);
    if (end != SANDBOX_OK) {
        push_text(L, &piece.message);
    } else {
        lua_createtable(L, piece.count, 0);
    }
    for (int i = 0; i < piece.count; i++) {
        if (end == SANDBOX_OK) {
            lua_createtable(L, 0, 2);
            lua_pushstring(L, piece.results[i].kind);
            lua_setfield(L, -2, "kind");
            push_text(L, &piece.results[i].text);
            lua_setfield(L, -2, "text");
            lua_rawseti(L, -2, i + 1);
        }
        buffer_fini(&piece.results[i].text);
    }
    buffer_fini(&piece.message);
    run_response_forget(state);
    buffer_fini(&view.converted);
    return 2;
}

/// What of a sandbox is listed: names of a table, each a line "PREFIX.NAME KIND".
struct listing {
    struct buffer lines;
    bool is_response;
};

static void list_members(lua_State *L, int table, const char *prefix, struct buffer *lines, int depth)
{
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        char name[128];
        if (lua_type(L, -2) != LUA_TSTRING) {
            continue;
        }
        snprintf(name, sizeof name, "%s%s", prefix, lua_tostring(L, -2));
        bool is_table = freeze_is_table(L, -1);
        buffer_printf(lines, "%s %s\n", name, is_table ? "table" : luaL_typename(L, -1));
        if (is_table && depth > 0 && freeze_raw(L, lua_gettop(L))) {
            strcat(name, ".");
            list_members(L, lua_gettop(L), name, lines, depth - 1);
            lua_pop(L, 1);
        }
    }
}

/// The globals are behind the environment of any chunk.
static int list_globals(lua_State *L)
{
    struct piece *piece = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("names"), TEXT("return 1"))) {
        return lua_error(L);
    }
    lua_getfenv(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_getmetatable(L, 2);
    lua_getfield(L, 3, "__index");
    luaL_checktype(L, 4, LUA_TTABLE);
    list_members(L, 4, "", &piece->message, 1);
    return 0;
}

/// The fields of a response; `body` is made when it is asked for.
static int list_response(lua_State *L)
{
    struct piece *piece = lua_touserdata(L, 1);
    struct http_response response = { .status = 200 };
    struct run run = { .state = state };
    struct run_response view = { .run = &run };

    lua_settop(L, 0);
    run_response_make(L, &view, &response);
    lua_settop(L, 0);
    run_response_push(L);
    require(freeze_raw(L, 1));
    list_members(L, 2, "", &piece->message, 0);
    run_response_forget(state);
    return 0;
}

static int list_context(lua_State *L)
{
    struct piece *piece = lua_touserdata(L, 1);
    struct run run = { .state = state };
    struct run_response view = { .run = &run };

    piece->view = &view;
    lua_settop(L, 0);
    push_given(L, piece);
    require(freeze_raw(L, 2));
    list_members(L, 3, "", &piece->message, 0);
    run_response_forget(state);
    return 0;
}

static int docs_list(lua_State *L, lua_CFunction list)
{
    struct piece piece = { .count = 0 };

    buffer_init(&piece.message, 1 << 20);
    bool is_ok = sandbox_call(sandbox, list, on_error, &piece) == SANDBOX_OK;
    push_text(L, &piece.message);
    buffer_fini(&piece.message);
    return is_ok ? 1 : lua_error(L);
}

static int docs_globals(lua_State *L)
{
    return docs_list(L, list_globals);
}

static int docs_response(lua_State *L)
{
    return docs_list(L, list_response);
}

static int docs_context(lua_State *L)
{
    return docs_list(L, list_context);
}

// ---- stage

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    print_message("%s:%u: %s\n", failure->file, failure->line, failure->message);
}

static void add_table(const char *name, const struct text *keys, size_t key_count, const char *text)
{
    char path[] = "/tmp/script_docs_test.XXXXXX";
    struct data_table *table = NULL;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    struct text *owned = calloc(key_count, sizeof *owned);
    memcpy(owned, keys, key_count * sizeof *owned);
    const struct data_table_options options = {
        .path = path, .keys = owned, .key_count = key_count, .keys_file = path, .keys_line = 1
    };
    assert_int_equal(data_table_load(&options, on_finding, NULL, &table), STATUS_OK);
    assert_int_equal(data_set_add(data, text_of(name), &table), STATUS_OK);
    free(owned);
    unlink(path);
}

static int set_up(void **unused)
{
    const struct script_source source = { TEXT("good"), TEXT("tests/unit/data/script/suppliers/good.lua") };

    (void)unused;
    stick_add(); // that supplier's product calls it
    assert_int_equal(script_set_load("tests/unit/data/script/scripts", &source, 1, on_finding, NULL, &set), STATUS_OK);
    sandbox_globals_extend(NULL);
    state = state_create(set, GROWTH_CAP);
    assert_non_null(state);
    sandbox = state->sandbox;
    assert_int_equal(places_load("scripts/data/airports.txt", on_finding, NULL, &places), STATUS_OK);
    data = data_set_create(3);
    const struct text pair[] = { TEXT("supplier"), TEXT("city") };
    const struct text one[] = { TEXT("property") };
    add_table("properties", pair, 2, "supplier\tcity\tproperty\nacme\tLON\tA-1001\nacme\tLON\tA-1002\n");
    add_table("hotels", one, 1, "property\tname\tstars\nA-1001\tGrand\t5\n");
    add_table("closed", one, 1, "property\nA-1009\n");
    sandbox->data = data;
    plain = luaL_newstate();
    luaL_openlibs(plain);
    if (luaL_loadfile(plain, "tests/unit/script_docs.lua") != 0) {
        fail_msg("%s", lua_tostring(plain, -1));
    }
    static const luaL_Reg functions[] = { { "run", docs_run },
                                          { "globals", docs_globals },
                                          { "response", docs_response },
                                          { "context", docs_context },
                                          { NULL, NULL } };
    lua_newtable(plain);
    luaL_register(plain, NULL, functions);
    if (lua_pcall(plain, 1, 1, 0) != 0) {
        fail_msg("%s", lua_tostring(plain, -1));
    }
    lua_setglobal(plain, "docs");
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    lua_close(plain);
    state_destroy(&state);
    script_set_release(&set);
    places_destroy(&places);
    data_set_release(&data);
    return 0;
}

/// A function of script_docs.lua returns what is wrong, a line each.
static void assert_right(const char *function)
{
    lua_getglobal(plain, "docs");
    lua_getfield(plain, -1, function);
    if (lua_pcall(plain, 0, 1, 0) != 0) {
        fail_msg("%s: %s", function, lua_tostring(plain, -1));
    }
    size_t length;
    const char *wrong = lua_tolstring(plain, -1, &length);
    assert_non_null(wrong);
    if (length > 0) {
        fputs(wrong, stderr);
        fail_msg("%s: see above", function);
    }
    lua_settop(plain, 0);
}

static void every_helper_is_declared_and_every_declared_one_exists(void **unused)
{
    (void)unused;
    assert_right("check_globals");
}

static void a_response_has_the_fields_that_are_declared(void **unused)
{
    (void)unused;
    assert_right("check_response");
}

static void a_context_has_the_fields_that_are_declared(void **unused)
{
    (void)unused;
    assert_right("check_context");
}

static void a_suppliers_table_has_the_fields_that_are_declared(void **unused)
{
    (void)unused;
    assert_right("check_supplier");
}

static void every_helper_takes_as_many_arguments_as_declared(void **unused)
{
    (void)unused;
    assert_right("check_too_many");
}

static void a_call_without_its_arguments_raises_at_the_callers_line(void **unused)
{
    (void)unused;
    assert_right("check_too_few");
}

static void an_argument_of_another_type_raises_at_the_callers_line(void **unused)
{
    (void)unused;
    assert_right("check_types");
}

static void every_row_of_the_reference_gives_what_it_says(void **unused)
{
    (void)unused;
    assert_right("check_rows");
}

static void every_block_of_the_reference_loads(void **unused)
{
    (void)unused;
    assert_right("check_blocks");
}

static void every_helper_has_an_example(void **unused)
{
    (void)unused;
    assert_right("check_examples");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_helper_is_declared_and_every_declared_one_exists),
        cmocka_unit_test(a_response_has_the_fields_that_are_declared),
        cmocka_unit_test(a_context_has_the_fields_that_are_declared),
        cmocka_unit_test(a_suppliers_table_has_the_fields_that_are_declared),
        cmocka_unit_test(every_helper_takes_as_many_arguments_as_declared),
        cmocka_unit_test(a_call_without_its_arguments_raises_at_the_callers_line),
        cmocka_unit_test(an_argument_of_another_type_raises_at_the_callers_line),
        cmocka_unit_test(every_row_of_the_reference_gives_what_it_says),
        cmocka_unit_test(every_block_of_the_reference_loads),
        cmocka_unit_test(every_helper_has_an_example),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
