// form: what HTML forms post, application/x-www-form-urlencoded. Written like a query string; read in the order of the
// body, since some signatures are over just that.

#include "script/bind.h"
#include "script/bind_support.h"

enum { FORM_PAIRS_MAX = 10000 };

static int form_encode(lua_State *L)
{
    bind_at_most(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    if (!bind_url_query(L, 1, out)) {
        return luaL_argerror(L, 1, lua_tostring(L, -1));
    }
    bind_push_result(L, out);
    return 1;
}

/// Pushes the piece, decoded. False: it cannot be; the number of the byte is at `*wrong`.
static bool push_piece(lua_State *L, struct text body, struct text piece, struct buffer *scratch, size_t *wrong)
{
    buffer_clear(scratch);
    size_t at = bind_url_decode(piece, scratch);
    if (at > 0) {
        *wrong = (size_t)(piece.data - body.data) + at;
        return false;
    }
    bind_push_text(L, buffer_text(scratch));
    return true;
}

/// Calls `take` with key and value on top of the stack (it takes them off) for each pair of the body at 1. False: nil
/// and a sentence are pushed.
static bool each_pair(lua_State *L, void (*take)(lua_State *L, int result))
{
    struct text body = bind_check_text(L, 1);
    struct text rest = body.length == 0 ? (struct text){ NULL, 0 } : body;
    struct buffer *scratch = bind_push_buffer(L, BIND_OUTPUT_MAX);
    size_t wrong = 0, count = 0;

    lua_newtable(L);
    int result = lua_gettop(L);
    while (rest.data != NULL) {
        struct text value, key = text_split(text_split(rest, '&', &rest), '=', &value);
        if (value.data == NULL) {
            value = (struct text){ key.data + key.length, 0 };
        }
        if (key.length == 0 && value.length == 0) {
            continue;
        }
        if (++count > FORM_PAIRS_MAX || !push_piece(L, body, key, scratch, &wrong) ||
            !push_piece(L, body, value, scratch, &wrong)) {
            bind_drop_buffer(scratch);
            if (wrong > 0) {
                (void)bind_refuse(L, "two hexadecimal digits expected after %% at byte %d", (int)wrong);
            } else {
                (void)bind_refuse(L, "more than %d fields", FORM_PAIRS_MAX);
            }
            return false;
        }
        take(L, result);
    }
    bind_drop_buffer(scratch);
    return true;
}

/// A key that comes again has a list of its values.
static void take_field(lua_State *L, int result)
{
    lua_pushvalue(L, -2);
    lua_rawget(L, result);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_rawset(L, result);
        return;
    }
    if (!lua_istable(L, -1)) {
        lua_createtable(L, 2, 0);
        lua_insert(L, -2);
        lua_rawseti(L, -2, 1);
        lua_pushvalue(L, -3);
        lua_pushvalue(L, -2);
        lua_rawset(L, result);
    }
    lua_insert(L, -2);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    lua_pop(L, 2);
}

static void take_pair(lua_State *L, int result)
{
    lua_createtable(L, 2, 0);
    lua_insert(L, -3);
    lua_rawseti(L, -3, 2);
    lua_rawseti(L, -2, 1);
    lua_rawseti(L, result, (int)lua_objlen(L, result) + 1);
}

static int form_read(lua_State *L, void (*take)(lua_State *L, int result))
{
    bind_at_most(L, 1);
    if (lua_gettop(L) == 1 && lua_isnil(L, 1)) {
        return bind_refuse(L, "there is no form");
    }
    return each_pair(L, take) ? 1 : 2;
}

static int form_decode(lua_State *L)
{
    return form_read(L, take_field);
}

static int form_pairs(lua_State *L)
{
    return form_read(L, take_pair);
}

void bind_form(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "encode", form_encode }, { "decode", form_decode }, { "pairs", form_pairs }, { NULL, NULL }
    };

    bind_push_module(L, functions);
}
