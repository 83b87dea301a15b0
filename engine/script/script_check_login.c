#include "script/script_check.h"

#include <stdio.h>
#include <string.h>

static const char *const login_fields[] = { "build_request", "read" };

static bool login_is_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(login_fields); i++) {
        if (strcmp(login_fields[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void login_check_unknown(lua_State *L, struct script_check *check, const struct script_file *file, int table,
                                uint32_t line)
{
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        const char *nearest = text_nearest(text_of(name), login_fields, COUNT_OF(login_fields));
        char help[128] = "it has `build_request` and `read`";
        if (login_is_known(name)) {
            continue;
        }
        if (nearest != NULL) {
            snprintf(help, sizeof help, "did you mean `%s`?", nearest);
        }
        uint32_t own_line = script_check_line_of(file, name, line);
        script_check_report(check, file, own_line != 0 ? own_line : line, help, "unknown field `login.%s`", name);
    }
}

void script_check_login(lua_State *L, struct script_check *check, const struct script_file *file,
                        struct script_supplier *supplier)
{
    int top = lua_gettop(L);

    lua_getfield(L, 1, "sign");
    supplier->signs = lua_isfunction(L, -1);
    lua_getfield(L, 1, "login");
    int table = lua_gettop(L);
    supplier->logs_in = lua_istable(L, table);
    if (supplier->logs_in) {
        uint32_t line = script_check_line_of(file, "login", 1);
        for (size_t i = 0; i < COUNT_OF(login_fields); i++) {
            lua_getfield(L, table, login_fields[i]);
            if (!lua_isfunction(L, -1)) {
                script_check_report(
                    check, file, line, "login = { build_request = function(ctx), read = function(response, ctx) }",
                    lua_isnil(L, -1) ? "field `login.%s` is missing" : "field `login.%s` must be a function",
                    login_fields[i]);
            }
            lua_pop(L, 1);
        }
        login_check_unknown(L, check, file, table, line);
    }
    lua_settop(L, top);
}
