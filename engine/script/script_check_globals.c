// A global that no sandbox has would only be met when its line runs, so each is touched once here. Look-ups that name
// their table are kept: which tables there are is for the settings to say.

#include "script/sandbox_globals.h"
#include "script/script_check.h"
#include "script/script_globals.h"

#include <string.h>

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
        .table = global->table, .file = file->path, .line = global->line, .supplier = check->supplier
    };

    if (!script_check_keep_look_up(check, &look_up)) {
        script_check_report(check, file, global->line, NULL, "not enough memory to keep its look-ups");
    }
}

/// Reports globals that are not there, in functions that nobody has called yet too.
void script_check_globals(lua_State *L, struct script_check *check, const struct script_file *file)
{
    struct script_global *globals;
    size_t count;

    if (script_globals_list(file->source, check->arena, &globals, &count) != STATUS_OK) {
        script_check_report(check, file, 0, NULL, "there was no memory to look for unknown globals");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (globals[i].table.data != NULL) {
            check_keep_table(check, file, &globals[i]);
        }
        lua_pushcfunction(L, check_touch);
        sandbox_globals_push_environment(L);
        lua_pushstring(L, globals[i].name);
        lua_pushboolean(L, globals[i].is_set);
        if (lua_pcall(L, 3, 0, 0) != 0) {
            sandbox_check(L);
            script_check_report(check, file, globals[i].line, NULL, "%s", lua_tostring(L, -1));
            lua_pop(L, 1);
        }
    }
}
