// The line is read by words, not by Lua's grammar: what is not understood ends a chain. Strings and comments are passed
// over, also those that began on a line before; what stands before `=` is written, not read.
//
// Which chain the interpreter stumbled over is not known, only what it says of it: a name, or the operation. So all
// that fits is counted, and what might fit and cannot be followed, such as what a call gave. Where that is more than
// one, nobody knows, and nothing is told.

#include "script/trouble_chain.h"

#include "base/plain.h"
#include "base/redact.h"
#include "script/freeze.h"
#include "script/trouble_quote.h"

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

/// A line while it is read.
struct scan {
    struct chain chain;
    const char *line; // where its code begins
    const struct chain_wish *wish;
    struct chain_fault *fault;
    int fault_slot; // where the table of the fault is kept
    uint32_t faults, unknown;
    const char *followed; // up to here the steps are known
    const char *known;    // behind the last operand whose value is known
    bool is_right;        // an operator was read, and waits for what stands right of it
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

static bool is_join(const struct chain *rest)
{
    return rest->at + 1 < rest->end && rest->at[0] == '.' && rest->at[1] == '.';
}

/// What follows the chain: an index?
static bool goes_on(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return rest.at < rest.end && !is_join(&rest) && (*rest.at == '.' || *rest.at == ':' || *rest.at == '[');
}

static bool is_called(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return rest.at < rest.end && strchr("({\"'", *rest.at) != NULL;
}

/// `for … in chain do` calls it, too.
static bool is_iterated(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return text_equals_c(take_word(&rest), "do");
}

static bool is_written(const struct chain *chain)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return rest.at < rest.end && *rest.at == '=' && (rest.at + 1 == rest.end || rest.at[1] != '=');
}

/// The length of the operator of the wish that stands here; 0: none does.
static size_t operator_at(const struct chain *chain, enum chain_place place)
{
    char byte = chain->at < chain->end ? *chain->at : '\0';
    bool is_equal = chain->at + 1 < chain->end && chain->at[1] == '=';

    switch (place) {
    case CHAIN_JOINED:
        return is_join(chain) ? 2 : 0;
    case CHAIN_COMPARED:
        return byte == '<' || byte == '>' ? 1 + (size_t)is_equal : 0;
    case CHAIN_RECKONED:
        return byte != '\0' && strchr("+-*/%^", byte) != NULL ? 1 : 0;
    case CHAIN_MEASURED:
        return byte == '#' ? 1 : 0;
    case CHAIN_INDEXED:
    case CHAIN_CALLED:
    case CHAIN_GIVEN:
        break;
    }
    return 0;
}

/// Does the chain end where what is wished for stands?
static bool has_place(const struct scan *scan)
{
    const struct chain *chain = &scan->chain;
    struct chain rest = *chain;

    if (scan->wish->place == CHAIN_INDEXED) {
        return goes_on(chain);
    }
    if (goes_on(chain) || is_written(chain)) {
        return false;
    }
    if (scan->wish->place == CHAIN_CALLED) {
        return is_called(chain) || is_iterated(chain);
    }
    if (is_called(chain)) {
        return false;
    }
    skip_blanks(&rest);
    return scan->wish->place == CHAIN_GIVEN || scan->is_right || operator_at(&rest, scan->wish->place) > 0;
}

/// Does `chain and` stand before the chain on its line? Then it is not nil when it is read.
static bool is_guarded(const struct scan *scan)
{
    size_t length = (size_t)(scan->chain.at - scan->chain.begin);

    for (const char *at = scan->line; at + length < scan->chain.begin; at++) {
        bool is_part = at > scan->line && (is_word_byte(at[-1]) || at[-1] == '.' || at[-1] == ':');
        if (is_part || memcmp(at, scan->chain.begin, length) != 0 || is_word_byte(at[length])) {
            continue;
        }
        struct chain rest = { .at = at + length, .end = scan->chain.begin };
        skip_blanks(&rest);
        if (text_equals_c(take_word(&rest), "and")) {
            return true;
        }
    }
    return false;
}

/// Does the value on top, which the step `name` led to, fit the wish? A name in brackets is none that Lua tells.
static bool fits(const struct scan *scan, struct text name, bool is_variable, bool is_in_brackets)
{
    const struct chain_wish *wish = scan->wish;
    lua_State *L = scan->chain.L;
    bool is_told = wish->place == CHAIN_INDEXED || wish->place == CHAIN_CALLED;

    if (strcmp(lua_typename(L, lua_type(L, -1)), wish->type) != 0 || !has_place(scan) || is_guarded(scan)) {
        return false;
    }
    if (wish->name.data == NULL) {
        return !is_told || is_in_brackets || (wish->place == CHAIN_CALLED && is_iterated(&scan->chain));
    }
    return wish->is_variable == is_variable && text_equals(wish->name, name);
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

/// The step behind the chain as the line writes it: ".amount"; empty when it is not that simple.
static void tell_after(const struct chain *chain, char *place)
{
    struct chain rest = *chain;

    place[0] = '\0';
    if (goes_on(chain) && *rest.at == '.') {
        rest.at++;
        struct text word = take_word(&rest);
        (void)snprintf(place, CHAIN_TEXT, ".%.*s", TEXT_ARGS(word));
    }
}

/// Keeps a fault whose table, 0 for none, is on the stack. The same again is no other; the table stays for the first.
static void keep_fault(struct scan *scan, struct text owner, int table, const char *name)
{
    lua_State *L = scan->chain.L;
    struct chain_fault *fault = scan->fault;

    if (scan->faults > 0 && strcmp(fault->name, name) == 0 && (table == 0) == (fault->table == 0) &&
        (table == 0 || lua_topointer(L, table) == lua_topointer(L, fault->table))) {
        return;
    }
    if (++scan->faults > 1) {
        return;
    }
    (void)snprintf(fault->name, sizeof fault->name, "%s", name);
    (void)snprintf(fault->owner, sizeof fault->owner, "%.*s", TEXT_ARGS(owner));
    tell_after(&scan->chain, fault->after);
    fault->at = scan->chain.at > scan->chain.begin ? scan->chain.at - 1 : scan->chain.at;
    fault->table = 0;
    if (table > 0) {
        lua_pushvalue(L, table);
        lua_replace(L, scan->fault_slot);
        fault->table = scan->fault_slot;
    }
}

/// A field of what is no table is not asked for, since that may raise: it is the one that the interpreter names.
static void look_at_object(struct scan *scan)
{
    struct chain *chain = &scan->chain;
    const struct chain_wish *wish = scan->wish;
    lua_State *L = chain->L;
    struct text owner = { chain->begin, (size_t)(chain->at - chain->begin) }, key = { NULL, 0 };
    char name[CHAIN_TEXT];

    if (lua_type(L, -1) != LUA_TUSERDATA || !push_step(chain)) {
        return;
    }
    if (lua_type(L, -1) == LUA_TSTRING && wish->name.data != NULL && !wish->is_variable) {
        key.data = lua_tolstring(L, -1, &key.length);
    }
    if (key.data != NULL && text_equals(key, wish->name) && has_place(scan) && !is_guarded(scan)) {
        tell_key(L, -1, name);
        keep_fault(scan, owner, 0, name);
    }
    lua_pop(L, 1);
}

/// Follows the chain whose first name was just read, as far as it is plain. True: its value is known as a whole.
static bool follow(struct scan *scan, struct text base)
{
    struct chain *chain = &scan->chain;
    lua_State *L = chain->L;
    int top = lua_gettop(L);
    char name[CHAIN_TEXT];

    if (!push_variable(L, chain->level, base)) {
        return false;
    }
    if (fits(scan, base, true, false)) {
        (void)snprintf(name, sizeof name, "%.*s", TEXT_ARGS(base));
        keep_fault(scan, (struct text){ NULL, 0 }, 0, name);
    }
    for (int steps = 0; steps < CHAIN_TABLES_MAX && lua_checkstack(L, CHAIN_STACK); steps++) {
        struct text owner = { chain->begin, (size_t)(chain->at - chain->begin) };
        if (!freeze_raw(L, lua_gettop(L))) {
            look_at_object(scan);
            break;
        }
        int table = lua_gettop(L);
        if (!push_step(chain)) {
            break;
        }
        bool is_in_brackets = chain->at[-1] == ']';
        struct text key = { NULL, 0 };
        tell_key(L, -1, name);
        if (lua_type(L, -1) == LUA_TSTRING) {
            key.data = lua_tolstring(L, -1, &key.length);
        }
        lua_pushvalue(L, -1); // the key stays while its text is in use
        lua_rawget(L, table);
        if (fits(scan, key, false, is_in_brackets)) {
            keep_fault(scan, owner, table, name);
        }
        lua_replace(L, table + 1);
        lua_settop(L, table + 1);
    }
    bool is_whole = !goes_on(chain) && !is_called(chain);
    lua_settop(L, top);
    return is_whole;
}

// ---- the line

/// Steps to before the first argument of a call, or to the `=` of a loop over numbers. False: neither stands here.
static bool open_arguments(struct chain *chain, bool is_loop)
{
    skip_blanks(chain);
    while (is_loop && chain->at < chain->end && *chain->at != '=' && (is_word_byte(*chain->at) || *chain->at == ' ')) {
        chain->at++;
    }
    return chain->at < chain->end && *chain->at == (is_loop ? '=' : '(');
}

/// Does the argument end here?
static bool is_argument_end(const struct chain *chain, bool is_loop)
{
    struct chain rest = *chain;

    skip_blanks(&rest);
    return rest.at < rest.end &&
           (*rest.at == ',' || (is_loop ? text_equals_c(take_word(&rest), "do") : *rest.at == ')'));
}

/// The argument of a call of the wished function: the whole of it is a chain, a literal, or not known. Those of a loop
/// are where it begins, its limit and its step.
static void look_at_argument(struct scan *scan)
{
    struct scan inner = *scan;
    struct chain *chain = &inner.chain;
    uint32_t number = 1, depth = 0;
    bool is_string, is_loop = text_equals_c(scan->wish->function, "for");

    if (!open_arguments(chain, is_loop)) {
        return;
    }
    for (chain->at++; chain->at < chain->end && number < scan->wish->argument;) {
        char byte = *chain->at;
        if (depth == 0 && byte == ')') {
            break;
        }
        depth += strchr("({[", byte) != NULL;
        depth -= strchr(")}]", byte) != NULL;
        number += byte == ',' && depth == 0;
        if (byte == '[' || !trouble_quote_skip(&chain->at, chain->end, &is_string)) {
            chain->at++;
        }
    }
    skip_blanks(chain);
    chain->begin = chain->at;
    bool is_literal =
        chain->at < chain->end && (strchr("\"'{", *chain->at) != NULL || isdigit((unsigned char)*chain->at));
    struct text word = take_word(chain);
    bool is_known = number == scan->wish->argument && chain_is_name(word) && follow(&inner, word);
    if (!is_known || !is_argument_end(chain, is_loop)) {
        scan->unknown += !is_literal;
        return;
    }
    scan->faults = inner.faults;
}

/// A word that is the step of something that was not followed.
static void look_at_step(struct scan *scan, struct text word)
{
    const struct chain_wish *wish = scan->wish;

    if (wish->place != CHAIN_GIVEN && wish->name.data != NULL && !wish->is_variable && text_equals(wish->name, word) &&
        has_place(scan)) {
        scan->unknown++;
    }
}

static void look_at_word(struct scan *scan, char before)
{
    struct chain *chain = &scan->chain;
    const char *begin = chain->at;
    struct text word = take_word(chain);
    const char *behind = chain->at;
    bool is_step = before == '.' || before == ':', is_right = scan->is_right;
    bool is_known = isdigit((unsigned char)word.data[0]) != 0 || text_equals_c(word, "nil");

    if (scan->wish->function.data != NULL && text_equals(scan->wish->function, word)) {
        look_at_argument(scan);
    }
    chain->begin = begin;
    if (is_step && begin >= scan->followed) {
        look_at_step(scan, word);
    } else if (!is_step && chain_is_name(word) && scan->wish->place != CHAIN_GIVEN) {
        is_known = follow(scan, word);
        scan->followed = chain->at > scan->followed ? chain->at : scan->followed;
    }
    if (is_known) {
        scan->known = chain->at > scan->known ? chain->at : scan->known;
    }
    scan->unknown += is_right && !is_known && scan->wish->name.data == NULL;
    scan->is_right = false;
    chain->at = behind; // what stands in brackets is looked at by itself
}

/// Anything else: an operator of the wish, or what something unknown begins or ends with.
static void look_at_mark(struct scan *scan, const char *last)
{
    struct chain *chain = &scan->chain;
    const struct chain_wish *wish = scan->wish;
    bool is_unnamed = wish->name.data == NULL;
    size_t length = operator_at(chain, wish->place);

    if (length > 0) {
        bool is_prefix = wish->place == CHAIN_MEASURED ||
                         (*chain->at == '-' && (last == NULL || strchr("(,={[<>~+-*/%^#", *last) != NULL));
        scan->unknown += is_unnamed && (scan->is_right || (!is_prefix && (last == NULL || scan->known != last + 1)));
        scan->is_right = true;
        chain->at += length;
        return;
    }
    scan->unknown += scan->is_right && is_unnamed;
    scan->is_right = false;
    bool is_close = *chain->at == ')' || (*chain->at == ']' && chain->at >= scan->followed);
    chain->at += is_join(chain) ? 2 : 1;
    if (is_close && is_unnamed && (wish->place == CHAIN_INDEXED || wish->place == CHAIN_CALLED)) {
        scan->unknown += has_place(scan); // what a call gave, or a key that is not followed
    }
}

enum chain_count chain_find(lua_State *L, int level, struct text source, struct text line,
                            const struct chain_wish *wish, struct chain_fault *fault)
{
    struct scan scan = { .chain = { .L = L, .level = level, .end = line.data + line.length },
                         .wish = wish,
                         .fault = fault };
    const char *last = NULL; // byte that is no blank
    bool is_string;

    *fault = (struct chain_fault){ .table = 0 };
    lua_pushnil(L);
    scan.fault_slot = lua_gettop(L);
    scan.chain.at = trouble_quote_code_of(source, line);
    scan.line = scan.chain.at;
    while (scan.chain.at < scan.chain.end && lua_checkstack(L, CHAIN_STACK)) {
        const char *at = scan.chain.at;
        if (isspace((unsigned char)*at)) {
            scan.chain.at++;
            continue;
        }
        if (is_word_byte(*at)) {
            look_at_word(&scan, last == NULL || (last > line.data && last[0] == '.' && last[-1] == '.') ? ' ' : *last);
        } else if (!trouble_quote_skip(&scan.chain.at, scan.chain.end, &is_string)) {
            look_at_mark(&scan, last);
        } else if (is_string) {
            scan.is_right = false;
            scan.known = scan.chain.at > scan.known ? scan.chain.at : scan.known;
        } else {
            continue; // a comment
        }
        last = scan.chain.at - 1;
    }
    lua_settop(L, scan.fault_slot);
    return scan.faults + scan.unknown > 1 ? CHAIN_MANY : scan.faults == 1 ? CHAIN_ONE : CHAIN_NONE;
}
