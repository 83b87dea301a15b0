#include "base/log.h"
#include "base/redact.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/sandbox.h"

enum { MESSAGE_MAX = 1000 };

// The line says where in the script it comes from; control characters become blanks, so that one call is one line.
static int write_line(lua_State *L, enum log_level level)
{
    struct text text = bind_check_text(L, 1);
    char line[MESSAGE_MAX];
    size_t length = redact_copy(line, sizeof line, text); // before its control characters go: a secret may have some

    for (size_t i = 0; i < length; i++) {
        line[i] = (unsigned char)line[i] < 0x20 || line[i] == 0x7f ? ' ' : line[i];
    }
    if (!sandbox_may_log(L)) {
        return 0;
    }
    luaL_where(L, 1);
    log_line(level, "script", "%s%.*s", lua_tostring(L, -1), (int)length, line);
    return 0;
}

static int log_debug(lua_State *L)
{
    bind_at_most(L, 1);
    return write_line(L, LOG_DEBUG);
}

static int log_info(lua_State *L)
{
    bind_at_most(L, 1);
    return write_line(L, LOG_INFO);
}

static int log_warning(lua_State *L)
{
    bind_at_most(L, 1);
    return write_line(L, LOG_WARNING);
}

static int log_error(lua_State *L)
{
    bind_at_most(L, 1);
    return write_line(L, LOG_ERROR);
}

void bind_log(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "debug", log_debug }, { "info", log_info }, { "warning", log_warning }, { "error", log_error }, { NULL, NULL }
    };

    bind_push_module(L, functions);
}
