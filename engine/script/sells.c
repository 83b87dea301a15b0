#include "script/sells.h"

#include "model/rule.h"

#include <stdio.h>
#include <string.h>

bool sells_plural(struct text fact, char *name, size_t size)
{
    char last = fact.length > 0 ? fact.data[fact.length - 1] : 's';
    char before = fact.length > 1 ? fact.data[fact.length - 2] : 'a';
    bool is_plural = last == 's';
    bool ends_in_y = last == 'y' && strchr("aeiou", before) == NULL;
    int kept = (int)fact.length - (ends_in_y ? 1 : 0);
    int length = snprintf(name, size, "%.*s%s", kept, fact.data, is_plural ? "" : ends_in_y ? "ies" : "s");

    return (size_t)length < size;
}

/// The fact as it is written; absent: the search does not have it. It stays on the stack.
static struct text sells_push_fact(lua_State *L, int search, struct text fact)
{
    struct text text = { NULL, 0 };

    lua_pushlstring(L, fact.data, fact.length);
    lua_gettable(L, search);
    if (lua_type(L, -1) == LUA_TBOOLEAN) {
        text = lua_toboolean(L, -1) ? TEXT("true") : TEXT("false");
    } else if (lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER) {
        lua_pushvalue(L, -1); // a number becomes a text, and the search keeps its own
        lua_remove(L, -2);
        text.data = lua_tolstring(L, -1, &text.length);
    }
    return text;
}

static bool sells_is_listed(const struct sells_term *term, struct text fact)
{
    for (size_t i = 0; i < term->value_count; i++) {
        if (text_equals(term->values[i], fact)) {
            return true;
        }
    }
    return false;
}

/// Writes why the term refuses the fact; false: it does not.
static bool sells_say(const struct sells_term *term, struct text fact, char *reason, size_t size)
{
    struct rule_fact number = rule_fact_of(fact);

    switch (term->kind) {
    case SELLS_LISTED:
        if (fact.data == NULL) {
            snprintf(reason, size, "%.*s not given, and only some are sold", TEXT_ARGS(term->fact));
            return true;
        }
        snprintf(reason, size, "%.*s %.*s not sold", TEXT_ARGS(term->fact), TEXT_ARGS(fact));
        return !sells_is_listed(term, fact);
    case SELLS_AT_MOST:
        snprintf(reason, size, "%.*s %.*s not sold, at most %lld", TEXT_ARGS(term->fact), TEXT_ARGS(fact),
                 (long long)term->bound);
        return number.is_integer && number.integer > term->bound;
    case SELLS_AT_LEAST:
        snprintf(reason, size, "%.*s %.*s not sold, at least %lld", TEXT_ARGS(term->fact), TEXT_ARGS(fact),
                 (long long)term->bound);
        return number.is_integer && number.integer < term->bound;
    }
    return false;
}

bool sells_refuse(lua_State *L, int search, const struct script_supplier *supplier, char *reason, size_t size)
{
    for (size_t i = 0; i < supplier->sells_count; i++) {
        struct text fact = sells_push_fact(L, search, supplier->sells[i].fact);
        bool is_refused = sells_say(&supplier->sells[i], fact, reason, size);
        lua_pop(L, 1);
        if (is_refused) {
            return true;
        }
    }
    return false;
}
