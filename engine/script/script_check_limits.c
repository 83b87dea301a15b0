// `limits` of a supplier: each of them a row here, but for the size of a body.

#include "script/bind_support.h"
#include "script/script_check.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#define BODY_CAP (UINT64_C(8) << 20)
#define BODY_CAP_MAX (UINT64_C(64) << 20)
enum { BODY_CAP_MIN = 1024 };

enum { NOT_STORED = -1 };

static const struct {
    const char *name;
    int offset;    // of a number in struct request_limits
    uint32_t most; // 0: read by script_check_extra.c
} LIMITS[] = {
    { "rps", offsetof(struct request_limits, per_second), REQUEST_LIMIT_RPS_MAX },
    { "per_minute", offsetof(struct request_limits, per_minute), REQUEST_LIMIT_MINUTE_MAX },
    { "per_day", offsetof(struct request_limits, per_day), REQUEST_LIMIT_DAY_MAX },
    { "concurrent", offsetof(struct request_limits, concurrent), REQUEST_LIMIT_CONCURRENT_MAX },
    { "body", NOT_STORED, 1 },
    { "hedge", NOT_STORED, 0 },
    { "call_cost", NOT_STORED, 0 },
    { "retry_on", NOT_STORED, 0 },
};

struct limits_check {
    lua_State *L;
    struct script_check *check;
    const struct script_file *file;
    struct script_supplier *supplier;
    uint32_t line; // of `limits`
};

/// "2MiB", "512KiB", "4096B". False: not a size.
static bool read_size(lua_State *L, int index, uint64_t *size)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = { { "KiB", 1024 }, { "MiB", 1024 * 1024 }, { "GiB", 1024 * 1024 * 1024 }, { "B", 1 } };

    if (lua_type(L, index) != LUA_TSTRING) {
        return false;
    }
    struct text text;
    text.data = lua_tolstring(L, index, &text.length);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        struct text unit = text_of(units[i].unit);
        if (text.length > unit.length && memcmp(text.data + text.length - unit.length, unit.data, unit.length) == 0) {
            struct text digits = { text.data, text.length - unit.length };
            uint64_t number;
            if (!text_to_u64(text_trim(digits), &number) || number > BODY_CAP_MAX) {
                return false;
            }
            *size = number * units[i].factor;
            return true;
        }
    }
    return false;
}

/// The size on top of the stack.
static void take_body(struct limits_check *limits)
{
    uint64_t size = 0;

    if (!read_size(limits->L, -1, &size) || size < BODY_CAP_MIN || size > BODY_CAP_MAX) {
        script_check_report(limits->check, limits->file, script_check_line_of(limits->file, "body", limits->line),
                            CODE_FIELD_VALUE, "write a size from 1KiB to 64MiB, such as \"2MiB\"",
                            "limits.body is not a size");
        return;
    }
    limits->supplier->body_cap = size;
}

/// The number on top of the stack.
static void take_number(struct limits_check *limits, size_t row)
{
    double number = lua_type(limits->L, -1) == LUA_TNUMBER ? lua_tonumber(limits->L, -1) : 0;
    char help[64];

    if (!(number >= 1 && number <= LIMITS[row].most) || number != (double)(uint32_t)number) {
        snprintf(help, sizeof help, "write a whole number from 1 to %u", LIMITS[row].most);
        script_check_report(limits->check, limits->file,
                            script_check_line_of(limits->file, LIMITS[row].name, limits->line), CODE_FIELD_VALUE, help,
                            "limits.%s is no number of requests", LIMITS[row].name);
        return;
    }
    uint32_t whole = (uint32_t)number;
    memcpy((char *)&limits->supplier->limits + LIMITS[row].offset, &whole, sizeof whole);
}

static void find_unknown(struct limits_check *limits, const char *key)
{
    const char *names[COUNT_OF(LIMITS)];
    char help[128] = "";

    for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
        names[i] = LIMITS[i].name;
    }
    const char *nearest = text_nearest(text_of(key), names, COUNT_OF(names));
    if (nearest != NULL) {
        snprintf(help, sizeof help, "did you mean `%s`?", nearest);
    }
    script_check_report(limits->check, limits->file, script_check_line_of(limits->file, key, limits->line),
                        CODE_FIELD_UNKNOWN, help, "unknown field `limits.%s`", key);
}

/// One entry; its value is on top of the stack.
static void take_limit(struct limits_check *limits, const char *key)
{
    size_t row = 0;

    while (row < COUNT_OF(LIMITS) && strcmp(LIMITS[row].name, key) != 0) {
        row++;
    }
    if (row == COUNT_OF(LIMITS)) {
        find_unknown(limits, key);
    } else if (script_check_extra_limit(limits->L, limits->check, limits->file, limits->supplier, key, limits->line)) {
        return;
    } else if (LIMITS[row].offset == NOT_STORED) {
        take_body(limits);
    } else {
        take_number(limits, row);
    }
}

void script_check_limits(lua_State *L, struct script_check *check, const struct script_file *file,
                         struct script_supplier *supplier)
{
    struct limits_check limits = { .L = L, .check = check, .file = file, .supplier = supplier };

    supplier->body_cap = BODY_CAP;
    supplier->limits = (struct request_limits){ 0 };
    supplier->extra = (struct extra_terms){ .may_hedge = false };
    lua_getfield(L, 1, "limits");
    (void)bind_unwrap(L, lua_gettop(L));
    if (lua_istable(L, -1)) {
        limits.line = script_check_line_of(file, "limits", 1);
        for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
            take_limit(&limits, lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?");
        }
    }
    lua_pop(L, 1);
}
