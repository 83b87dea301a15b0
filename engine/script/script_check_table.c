// Fields of a supplier that are tables of functions, such as `revalidate`.

#include "script/script_check.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

/// Reports the key on top of the stack unless it is one of the names.
static void check_name(lua_State *L, struct script_check *check, const struct script_file *file, const char *field,
                       const char *const *names, size_t count)
{
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?";
    char help[128] = "";

    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, names[i]) == 0) {
            return;
        }
    }
    const char *nearest = text_nearest(text_of(key), names, count);
    if (nearest != NULL) {
        snprintf(help, sizeof help, "did you mean `%s`?", nearest);
    }
    script_check_report(check, file, script_check_line_of(file, key, script_check_line_of(file, field, 1)),
                        CODE_FIELD_UNKNOWN, help, "unknown field `%s.%s`", field, key);
}

void script_check_functions(lua_State *L, struct script_check *check, const struct script_file *file, const char *field,
                            const char *const *names, size_t count)
{
    uint32_t line = script_check_line_of(file, field, 1);

    lua_getfield(L, 1, field);
    if (!lua_istable(L, -1)) {
        lua_pop(L, 1); // nothing, or reported already
        return;
    }
    for (size_t i = 0; i < count; i++) {
        lua_getfield(L, -1, names[i]);
        if (lua_isnil(L, -1)) {
            script_check_report(check, file, line, CODE_FIELD_MISSING, NULL, "field `%s.%s` is missing", field,
                                names[i]);
        } else if (!lua_isfunction(L, -1)) {
            script_check_report(check, file, script_check_line_of(file, names[i], line), CODE_FIELD_TYPE, NULL,
                                "field `%s.%s` must be a function, not a %s", field, names[i], luaL_typename(L, -1));
        }
        lua_pop(L, 1);
    }
    for (lua_pushnil(L); lua_next(L, -2) != 0;) {
        lua_pop(L, 1);
        check_name(L, check, file, field, names, count);
    }
    lua_pop(L, 1);
}
