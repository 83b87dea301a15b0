// The line is read by words, not by Lua's grammar: what is not understood ends a chain. Strings and comments are passed
// over; what stands before `=` is written, not read.

#include "script/trouble_chain.h"

#include "base/plain.h"
#include "base/redact.h"
#include "script/freeze.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_LOCALS_MAX = 250, CHAIN_STACK = 8, CHAIN_TABLES_MAX = 40 };

static const char *const keywords[] = { "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                        "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                        "repeat",   "return", "then", "true", "until",  "while" };

/// A chain while it is followed.
struct chain {
    lua_State *L;
    int level;
    const char *at, *end;
    const char *begin; // of the chain's text
};

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

bool chain_is_name(struct text word)
{
    if (word.length == 0 || isdigit((unsigned char)word.data[0])) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (!is_word_byte(word.data[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (text_equals_c(word, keywords[i])) {
            return false;
        }
    }
    return true;
}

/// Pushes the local or upvalue that the name means; false: there is none, nothing is pushed.
static bool push_variable(lua_State *L, int level, struct text name)
{
    lua_Debug where;
    int found = 0;

    if (lua_getstack(L, level, &where) == 0) {
        return false;
    }
    for (int i = 1; i <= CHAIN_LOCALS_MAX; i++) {
        const char *local = lua_getlocal(L, &where, i);
        if (local == NULL) {
            break;
        }
        lua_pop(L, 1);
        found = text_equals_c(name, local) ? i : found; // the last one hides the others
    }
    if (found > 0) {
        return lua_getlocal(L, &where, found) != NULL;
    }
    if (lua_getinfo(L, "f", &where) == 0) {
        return false;
    }
    for (int i = 1; i <= CHAIN_LOCALS_MAX; i++) {
        const char *upvalue = lua_getupvalue(L, -1, i);
        if (upvalue == NULL) {
            break;
        }
        if (text_equals_c(name, upvalue)) {
            lua_remove(L, -2);
            return true;
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return false;
}

static struct text take_word(struct chain *chain)
{
    struct text word = { chain->at, 0 };

    while (chain->at < chain->end && is_word_byte(*chain->at)) {
        chain->at++;
        word.length++;
    }
    return word;
}

static void skip_blanks(struct chain *chain)
{
    while (chain->at < chain->end && isspace((unsigned char)*chain->at)) {
        chain->at++;
    }
}

/// The key within brackets becomes a value: a number, a text, a variable with plain fields. False: something else.
static bool push_key(struct chain *chain)
{
    lua_State *L = chain->L;

    skip_blanks(chain);
    if (chain->at == chain->end) {
        return false;
    }
    if (*chain->at == '"' || *chain->at == '\'') {
        const char *close = memchr(chain->at + 1, *chain->at, (size_t)(chain->end - chain->at - 1));
        if (close == NULL || memchr(chain->at, '\\', (size_t)(close - chain->at)) != NULL) {
            return false;
        }
        lua_pushlstring(L, chain->at + 1, (size_t)(close - chain->at - 1));
        chain->at = close + 1;
        return true;
    }
    struct text word = take_word(chain);
    uint64_t number;
    if (text_to_u64(word, &number)) {
        lua_pushnumber(L, (lua_Number)number);
        return true;
    }
    if (!chain_is_name(word) || !push_variable(L, chain->level, word)) {
        return false;
    }
    while (chain->at + 1 < chain->end && chain->at[0] == '.' && is_word_byte(chain->at[1])) {
        chain->at++;
        word = take_word(chain);
        if (!freeze_raw(L, lua_gettop(L))) {
            lua_pop(L, 1);
            return false;
        }
        lua_pushlstring(L, word.data, word.length);
        lua_rawget(L, -2);
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
    return true;
}

/// Pushes the key of the next step of the chain; false: it ends here, nothing is pushed.
static bool push_step(struct chain *chain)
{
    const char *before = chain->at;
    int top = lua_gettop(chain->L);

    skip_blanks(chain);
    bool has_next = chain->at + 1 < chain->end;
    if (has_next && (chain->at[0] == '.' || chain->at[0] == ':') && is_word_byte(chain->at[1])) {
        chain->at++;
        struct text word = take_word(chain);
        lua_pushlstring(chain->L, word.data, word.length);
        return true;
    }
    if (has_next && chain->at[0] == '[' && chain->at[1] != '[') {
        chain->at++;
        if (push_key(chain)) {
            skip_blanks(chain);
            if (chain->at < chain->end && *chain->at == ']') {
                chain->at++;
                return true;
            }
        }
    }
    lua_settop(chain->L, top);
    chain->at = before;
    return false;
}

/// What follows the chain: an index?
static bool goes_on(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    bool is_join = rest.at + 1 < rest.end && rest.at[0] == '.' && rest.at[1] == '.';
    return rest.at < rest.end && !is_join && (*rest.at == '.' || *rest.at == ':' || *rest.at == '[');
}

static bool is_written(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return rest.at < rest.end && *rest.at == '=' && (rest.at + 1 == rest.end || rest.at[1] != '=');
}

/// Does the value on top, which the step `name` led to, fit the wish?
static bool fits(const struct chain *chain, const struct chain_wish *wish, struct text name, bool is_variable)
{
    if (strcmp(lua_typename(chain->L, lua_type(chain->L, -1)), wish->type) != 0) {
        return false;
    }
    if (wish->name.data != NULL && (wish->is_variable != is_variable || !text_equals(wish->name, name))) {
        return false;
    }
    return wish->goes_on ? goes_on(chain) : !goes_on(chain) && !is_written(chain);
}

static void tell_key(lua_State *L, int index, char *place)
{
    if (lua_type(L, index) == LUA_TSTRING) {
        struct text key;
        key.data = lua_tolstring(L, index, &key.length);
        place[redact_copy(place, CHAIN_TEXT, key)] = '\0';
        plain_clean(place, strlen(place));
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        (void)snprintf(place, CHAIN_TEXT, "[%.14g]", lua_tonumber(L, index));
    } else {
        (void)snprintf(place, CHAIN_TEXT, "[?]");
    }
}

/// Follows the chain whose first name was just read. True: a fault; its table, if any, is on top. Else nothing is left.
static bool follow(struct chain *chain, struct text base, const struct chain_wish *wish, struct chain_fault *fault)
{
    lua_State *L = chain->L;
    int top = lua_gettop(L);

    if (!push_variable(L, chain->level, base)) {
        return false;
    }
    if (fits(chain, wish, base, true)) {
        (void)snprintf(fault->name, sizeof fault->name, "%.*s", TEXT_ARGS(base));
        fault->owner[0] = '\0';
        fault->table = 0;
        lua_settop(L, top);
        return true;
    }
    for (int steps = 0; steps < CHAIN_TABLES_MAX && lua_checkstack(L, CHAIN_STACK); steps++) {
        size_t length = (size_t)(chain->at - chain->begin);
        if (!freeze_raw(L, lua_gettop(L))) {
            break;
        }
        int table = lua_gettop(L);
        if (!push_step(chain)) {
            break;
        }
        tell_key(L, -1, fault->name);
        struct text name = text_of(fault->name);
        lua_rawget(L, table);
        if (fits(chain, wish, name, false)) {
            (void)snprintf(fault->owner, sizeof fault->owner, "%.*s", (int)length, chain->begin);
            lua_pushvalue(L, table);
            lua_replace(L, top + 1);
            lua_settop(L, top + 1);
            fault->table = top + 1;
            return true;
        }
    }
    lua_settop(L, top);
    return false;
}

/// Steps over what is no code. False: the rest of the line is a comment.
static bool skip_string(struct chain *chain)
{
    char quote = *chain->at;

    if (quote == '-' && chain->at + 1 < chain->end && chain->at[1] == '-') {
        return false;
    }
    chain->at++;
    if (quote != '"' && quote != '\'') {
        return true;
    }
    while (chain->at < chain->end && *chain->at != quote) {
        chain->at += *chain->at == '\\' && chain->at + 1 < chain->end ? 2 : 1;
    }
    chain->at += chain->at < chain->end;
    return true;
}

bool chain_find(lua_State *L, int level, struct text line, const struct chain_wish *wish, struct chain_fault *fault)
{
    struct chain chain = { .L = L, .level = level, .at = line.data, .end = line.data + line.length };
    char before = ' '; // the last byte that is no blank

    while (chain.at < chain.end && lua_checkstack(L, CHAIN_STACK)) {
        if (!is_word_byte(*chain.at)) {
            bool is_join = before == '.' && *chain.at == '.';
            before = is_join ? ' ' : isspace((unsigned char)*chain.at) ? before : *chain.at;
            if (!skip_string(&chain)) {
                return false;
            }
            continue;
        }
        chain.begin = chain.at;
        struct text word = take_word(&chain);
        const char *behind = chain.at;
        bool is_base = before != '.' && before != ':' && chain_is_name(word);
        if (is_base && follow(&chain, word, wish, fault)) {
            return true;
        }
        chain.at = behind; // what stands in brackets is looked at by itself
        before = 'a';
    }
    return false;
}
