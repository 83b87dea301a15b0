// A global that no sandbox has would only be met when its line runs, so each is touched once here. Look-ups that name
// their table are kept: which tables there are is for the settings to say.

#include "script/sandbox_globals.h"
#include "script/script_check.h"
#include "script/script_globals.h"

#include <string.h>

enum { SECRETS_MAX = 64 };

/// Reads or sets a global as the script would: (environment, name, is_set).
static int check_touch(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_toboolean(L, 3)) {
        lua_pushboolean(L, 1);
        lua_settable(L, 1);
    } else {
        lua_gettable(L, 1);
    }
    return 0;
}

/// Is the field of that global there? (name, field).
static int check_touch_field(lua_State *L)
{
    sandbox_globals_check_field(L, lua_tostring(L, 1), lua_tostring(L, 2));
    return 0;
}

/// A secret that is nearly one of those that the table at 1 declares; any other `x.secret.y` may be an answer's.
static void check_secret(lua_State *L, struct script_check *check, const struct script_file *file,
                         const struct script_global *global)
{
    const char *names[SECRETS_MAX];
    size_t count = 0;
    int top = lua_gettop(L);

    if (top == 0 || !lua_istable(L, 1)) {
        return;
    }
    lua_getfield(L, 1, "secrets");
    size_t length = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
    for (size_t i = 1; i <= length && count < SECRETS_MAX; i++) {
        lua_rawgeti(L, top + 1, (int)i);
        names[count] = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; // the list keeps it
        bool is_it = names[count] != NULL && strcmp(names[count], global->field) == 0;
        count += names[count] != NULL ? 1 : 0;
        lua_pop(L, 1);
        if (is_it) {
            lua_settop(L, top);
            return;
        }
    }
    const char *nearest = text_nearest(text_of(global->field), names, count);
    if (nearest != NULL) {
        script_check_report(check, file, global->line, CODE_SECRET_MISSING, NULL,
                            "there is no secret \"%s\": did you mean \"%s\"?", global->field, nearest);
    }
    lua_settop(L, top);
}

bool script_check_keep_look_up(struct script_check *check, const struct script_look_up *look_up)
{
    size_t count = check->look_up_count;
    struct script_look_up *items = check->look_ups;

    if ((count & (count - 1)) == 0) { // full: twice the room
        items = arena_alloc_array(check->arena, count == 0 ? 1 : count * 2, sizeof *items);
        if (items == NULL) {
            return false;
        }
        memcpy(items, count == 0 ? items : check->look_ups, count * sizeof *items);
    }
    items[count] = *look_up;
    items[count].table = arena_copy(check->arena, look_up->table);
    if (items[count].table.data == NULL) {
        return false;
    }
    check->look_ups = items;
    check->look_up_count = count + 1;
    return true;
}

static void check_keep_table(struct script_check *check, const struct script_file *file,
                             const struct script_global *global)
{
    struct script_look_up look_up = {
        .table = global->table, .file = file->path, .line = global->line, .supplier = -1
    };

    if (!script_check_keep_look_up(check, &look_up)) {
        script_check_report(check, file, global->line, CODE_MEMORY, NULL, "not enough memory to keep its look-ups");
    }
}

/// False: it is not, and the message is pushed.
static bool check_is_there(lua_State *L, const struct script_global *global)
{
    if (global->field != NULL) {
        lua_pushcfunction(L, check_touch_field);
        lua_pushstring(L, global->name);
        lua_pushstring(L, global->field);
        return lua_pcall(L, 2, 0, 0) == 0;
    }
    lua_pushcfunction(L, check_touch);
    sandbox_globals_push_environment(L);
    lua_pushstring(L, global->name);
    lua_pushboolean(L, global->is_set);
    return lua_pcall(L, 3, 0, 0) == 0;
}

/// Reports globals and fields of helpers that are not there, in functions that nobody has called yet too.
void script_check_globals(lua_State *L, struct script_check *check, const struct script_file *file)
{
    struct script_global *globals;
    size_t count;

    if (script_globals_list(file->source, check->arena, &globals, &count) != STATUS_OK) {
        script_check_report(check, file, 0, CODE_MEMORY, NULL, "there was no memory to look for unknown globals");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (globals[i].table.data != NULL) {
            check_keep_table(check, file, &globals[i]);
        }
        if (globals[i].field != NULL && globals[i].name[0] == '\0') {
            check_secret(L, check, file, &globals[i]);
            continue;
        }
        if (!check_is_there(L, &globals[i])) {
            sandbox_check(L);
            script_check_report(check, file, globals[i].line,
                                globals[i].is_set ? CODE_GLOBAL_WRITTEN : CODE_GLOBAL_UNKNOWN, NULL, "%s",
                                lua_tostring(L, -1));
            lua_pop(L, 1);
        }
    }
}
