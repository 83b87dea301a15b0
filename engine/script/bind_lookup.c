// lookup(table, key…): the rows of the table that have that key, or nil. With one column beside the key a list of its
// cells, with several a list of rows by the names of the columns, with none a list of `true`. All of it is read-only.
// The tables come with the call, for they belong to the generation and not to the scripts.

#include "model/data_set.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/sandbox.h"

enum { ROWS_BETWEEN_LOOKS = 256 };

/// Within reason for whoever reads the message: "(supplier, city)".
static const char *push_key_names(lua_State *L, const struct data_table *table)
{
    size_t count;
    const struct text *names = data_table_keys(table, &count);
    luaL_Buffer words;

    luaL_buffinit(L, &words);
    for (size_t i = 0; i < count; i++) {
        luaL_addstring(&words, i == 0 ? "(" : ", ");
        luaL_addlstring(&words, names[i].data, names[i].length);
    }
    luaL_addchar(&words, ')');
    luaL_pushresult(&words);
    return lua_tostring(L, -1);
}

static size_t check_table(lua_State *L, const struct data_set *data)
{
    struct text name = bind_check_text(L, 1);

    if (data == NULL) {
        luaL_error(L, "there are no tables while a file is loaded: look up within a function, such as build_request");
    }
    ptrdiff_t index = data_set_find(data, name);
    if (index < 0) {
        trouble_code(L, CODE_LOOKUP);
        const char *nearest = data_set_nearest(data, name);
        luaL_argerror(L, 1,
                      nearest == NULL
                          ? lua_pushfstring(L, "the settings declare no table \"%s\" in `data`", name.data)
                          : lua_pushfstring(L, "the settings declare no table \"%s\" in `data`; did you mean \"%s\"?",
                                            name.data, nearest));
    }
    return (size_t)index;
}

/// False: a part of the key is nil, so there is nothing to look for.
static bool check_key(lua_State *L, const struct data_table *table, struct text *key)
{
    size_t count;
    bool is_whole = true;

    int given = lua_gettop(L) - 1;
    (void)data_table_keys(table, &count);
    if (given != (int)count) {
        trouble_code(L, CODE_LOOKUP);
        luaL_error(L, "lookup(\"%s\") takes the key %s, %d value(s), but got %d", lua_tostring(L, 1),
                   push_key_names(L, table), (int)count, given); // less the table and these names
    }
    for (size_t i = 0; i < count; i++) {
        int argument = (int)i + 2;
        if (lua_isnil(L, argument)) {
            is_whole = false;
        } else {
            key[i] = bind_check_text(L, argument);
        }
    }
    return is_whole;
}

/// Pushes what one row is for scripts; the names of its columns lie at `names` and above.
static void push_row(lua_State *L, const struct text *cells, size_t count, int names)
{
    if (count == 0) {
        lua_pushboolean(L, 1);
    } else if (count == 1) {
        bind_push_text(L, cells[0]);
    } else {
        lua_createtable(L, 0, (int)count);
        for (size_t i = 0; i < count; i++) {
            lua_pushvalue(L, names + (int)i);
            bind_push_text(L, cells[i]);
            lua_rawset(L, -3);
        }
        freeze_shallow(L);
    }
}

static void push_rows(lua_State *L, const struct data_table *table, const struct data_rows *rows)
{
    struct text cells[DATA_COLUMNS_MAX];
    size_t count;
    const struct text *columns = data_table_values(table, &count);
    int names = lua_gettop(L) + 1;

    luaL_checkstack(L, (int)count + 10, "too many columns");
    for (size_t i = 0; i < count && count > 1; i++) {
        bind_push_text(L, columns[i]);
    }
    lua_createtable(L, (int)rows->count, 0);
    for (size_t row = 0; row < rows->count; row++) {
        if (row % ROWS_BETWEEN_LOOKS == 0) {
            sandbox_stop_here(L);
        }
        data_table_cells(table, rows, row, cells);
        push_row(L, cells, count, names);
        lua_rawseti(L, -2, (int)row + 1);
    }
    freeze_shallow(L);
}

static int lookup_rows(lua_State *L)
{
    struct data_set *data = sandbox_of(L)->data;
    struct text key[DATA_KEYS_MAX];
    struct data_rows rows;
    size_t index = check_table(L, data);
    const struct data_table *table = data_set_table(data, index);

    if (!check_key(L, table, key)) {
        lua_pushnil(L);
    } else if (!data_table_find(table, key, &rows)) {
        data_set_note_miss(data, index, key);
        lua_pushnil(L);
    } else {
        data_set_note_hit(data, index);
        push_rows(L, table, &rows);
    }
    return 1;
}

void bind_lookup(lua_State *L)
{
    lua_pushcfunction(L, lookup_rows);
}
