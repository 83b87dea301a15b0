// Our matcher beside LuaJIT's own: whatever the pattern, both find, capture, replace and complain alike.

#include "script/sandbox.h"
#include "support/pattern_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>

enum { PAIRS = 200000, BATCH = 500, TEXT_MAX = 64 };

// ---- chance

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

struct bytes {
    char data[TEXT_MAX];
    size_t length;
};

static void add(struct bytes *bytes, const char *data, size_t length)
{
    if (bytes->length + length < sizeof bytes->data) {
        memcpy(bytes->data + bytes->length, data, length);
        bytes->length += length;
    }
}

static void add_c(struct bytes *bytes, const char *text)
{
    add(bytes, text, strlen(text));
}

static void add_one_of(struct bytes *bytes, const char *choices)
{
    add(bytes, choices + chance((uint32_t)strlen(choices)), 1);
}

/// Mostly a few bytes, so that something matches; now and then any byte at all.
static void add_byte(struct bytes *bytes)
{
    char any = (char)chance(256);
    if (chance(40) == 0) {
        add(bytes, &any, 1);
    } else {
        add_one_of(bytes, "aaaabbbc01 ()%-.A_,[]^$");
    }
}

static void make_subject(struct bytes *bytes)
{
    uint32_t length = chance(5) == 0 ? 0 : chance(18);

    bytes->length = 0;
    for (uint32_t i = 0; i < length; i++) {
        add_byte(bytes);
    }
}

static void add_set(struct bytes *bytes)
{
    add_c(bytes, chance(3) == 0 ? "[^" : "[");
    for (uint32_t i = chance(4); i > 0; i--) {
        switch (chance(5)) {
        case 0:
            add_c(bytes, "%");
            add_one_of(bytes, "acdglpsuwxzACDGLPSUWXZq%]-[^");
            break;
        case 1:
            add_one_of(bytes, "aA0%");
            add_c(bytes, "-");
            add_one_of(bytes, "bcZ9%]");
            break;
        default:
            add_byte(bytes);
            break;
        }
    }
    if (chance(30) != 0) {
        add_c(bytes, "]");
    }
}

static void add_item(struct bytes *bytes)
{
    switch (chance(6)) {
    case 0:
        add_c(bytes, ".");
        break;
    case 1:
        add_c(bytes, "%");
        add_one_of(bytes, "aacddlpsswwuxzgACDGLPSUWXZ.%-()qyQ");
        break;
    case 2:
        add_set(bytes);
        break;
    default:
        add_one_of(bytes, "aaabbc01A_ ,");
        break;
    }
    if (chance(2) == 0) {
        add_one_of(bytes, "*+-?");
    }
}

static void add_special(struct bytes *bytes)
{
    static const char *const specials[] = { "%b()", "%bab", "%baa", "%f[%w]", "%f[^a]", "%f[%z]", "%f",  "%b",
                                            "%ba",  "%1",   "%2",   "%0",     "%",      "^",      "$",   "()",
                                            "(",    ")",    "(a",   "(.-)",   "(.*)",   "(%w+)",  "%1*", "[]]" };
    add_c(bytes, specials[chance(COUNT_OF(specials))]);
}

static void make_pattern(struct bytes *bytes)
{
    uint32_t open = 0;

    bytes->length = 0;
    if (chance(6) == 0) {
        add_c(bytes, "^");
    }
    for (uint32_t i = chance(6) + (chance(20) != 0); i > 0; i--) {
        switch (chance(9)) {
        case 0:
            add_special(bytes);
            break;
        case 1:
            add_c(bytes, "(");
            open++;
            break;
        case 2:
            add_byte(bytes);
            break;
        default:
            add_item(bytes);
            break;
        }
        if (open > 0 && chance(2) == 0) {
            add_c(bytes, ")");
            open--;
        }
    }
    for (; open > 0 && chance(20) != 0; open--) {
        add_c(bytes, ")");
    }
    if (chance(6) == 0) {
        add_c(bytes, "$");
    }
}

static void make_replacement(struct bytes *bytes)
{
    bytes->length = 0;
    for (uint32_t i = chance(5); i > 0; i--) {
        if (chance(2) == 0) {
            add_c(bytes, "%");
            add_one_of(bytes, "0112%a");
        } else {
            add_byte(bytes);
        }
    }
    if (chance(40) == 0) {
        add_c(bytes, "%");
    }
}

// ---- both sides

struct pair {
    struct bytes subject, pattern, replacement;
    int init, most;
    char *found[2];
    size_t length[2];
};

static struct pair pairs[BATCH];
static int side;

/// The probe is on top and stays there.
static void probe_all(lua_State *L)
{
    for (size_t i = 0; i < BATCH; i++) {
        struct pair *pair = &pairs[i];
        lua_pushvalue(L, -1);
        lua_pushlstring(L, pair->subject.data, pair->subject.length);
        lua_pushlstring(L, pair->pattern.data, pair->pattern.length);
        lua_pushlstring(L, pair->replacement.data, pair->replacement.length);
        lua_pushinteger(L, pair->init);
        lua_pushinteger(L, pair->most);
        lua_call(L, 5, 1);
        size_t length;
        const char *found = lua_tolstring(L, -1, &length);
        pair->found[side] = malloc(length + 1);
        memcpy(pair->found[side], found, length + 1);
        pair->length[side] = length;
        lua_pop(L, 1);
    }
}

static int probe_ours(lua_State *L)
{
    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("probe.lua"), text_of(pattern_probe))) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    probe_all(L);
    return 0;
}

static int probe_theirs(lua_State *L)
{
    if (luaL_loadbuffer(L, pattern_probe, sizeof pattern_probe - 1, "@probe.lua") != 0) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    probe_all(L);
    return 0;
}

static void say_difference(const struct pair *pair)
{
    size_t at = 0;
    while (at < pair->length[0] && at < pair->length[1] && pair->found[0][at] == pair->found[1][at]) {
        at++;
    }
    at = at > 60 ? at - 60 : 0;
    fail_msg("subject \"%.*s\" pattern \"%.*s\" replacement \"%.*s\" init %d most %d\n ours:   %.200s\n theirs: %.200s",
             (int)pair->subject.length, pair->subject.data, (int)pair->pattern.length, pair->pattern.data,
             (int)pair->replacement.length, pair->replacement.data, pair->init, pair->most,
             pair->found[0] + (at < pair->length[0] ? at : pair->length[0]),
             pair->found[1] + (at < pair->length[1] ? at : pair->length[1]));
}

struct tally {
    size_t matches, errors, nothing;
};

static void compare_batch(struct sandbox *sandbox, lua_State *plain, struct tally *tally)
{
    for (size_t i = 0; i < BATCH; i++) {
        make_subject(&pairs[i].subject);
        make_pattern(&pairs[i].pattern);
        make_replacement(&pairs[i].replacement);
        pairs[i].init = (int)chance(24) - 12;
        pairs[i].most = (int)chance(5) - 1;
    }
    side = 0;
    assert_int_equal(sandbox_call(sandbox, probe_ours, NULL, NULL), SANDBOX_OK);
    side = 1;
    assert_int_equal(lua_cpcall(plain, probe_theirs, NULL), 0);
    for (size_t i = 0; i < BATCH; i++) {
        const struct pair *pair = &pairs[i];
        if (pair->length[0] != pair->length[1] || memcmp(pair->found[0], pair->found[1], pair->length[0]) != 0) {
            say_difference(pair);
        }
        tally->errors += strncmp(pair->found[1], "string:error", 12) == 0;
        tally->nothing += strncmp(pair->found[1], "nil:", 4) == 0;
        tally->matches += strncmp(pair->found[1], "number:", 7) == 0;
        free(pair->found[0]);
        free(pair->found[1]);
    }
}

static void two_hundred_thousand_patterns_give_what_luajit_gives(void **state)
{
    (void)state;
    struct sandbox *sandbox = sandbox_create(256 << 20, NULL, NULL);
    lua_State *plain = luaL_newstate();
    struct tally tally = { 0, 0, 0 };

    assert_non_null(sandbox);
    assert_non_null(plain);
    luaL_openlibs(plain);
    luaJIT_setmode(plain, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    seed = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < PAIRS; i += BATCH) {
        compare_batch(sandbox, plain, &tally);
    }
    print_message("%zu match, %zu are malformed, %zu find nothing\n", tally.matches, tally.errors, tally.nothing);
    // A corpus in which hardly anything matches, or everything is malformed, would prove nothing.
    assert_true(tally.matches > PAIRS / 5);
    assert_true(tally.errors > PAIRS / 50);
    assert_true(tally.nothing > PAIRS / 10);
    lua_close(plain);
    sandbox_destroy(&sandbox);
}

// ---- classes

static const char classes_chunk[] =
    "local out, letters = {}, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-'\n"
    "for letter in letters:gmatch('.') do\n"
    "  local found = {}\n"
    "  for byte = 0, 255 do\n"
    "    local c = string.char(byte)\n"
    "    local class = '%' .. letter\n"
    "    for _, pattern in ipairs({ class, '[' .. class .. ']', '[^' .. class .. ']', '[a' .. class .. ']' }) do\n"
    "      local ok, at = pcall(string.find, c, pattern)\n"
    "      found[#found + 1] = ok and (at and '1' or '0') or '!'\n"
    "    end\n"
    "  end\n"
    "  out[#out + 1] = letter .. ' ' .. table.concat(found)\n"
    "end\n"
    "return table.concat(out, '\\n')\n";

static char *class_answers[2];

static int ask_classes(lua_State *L, bool is_ours)
{
    lua_settop(L, 0);
    if (is_ours ? !sandbox_load(L, TEXT("classes.lua"), text_of(classes_chunk))
                : luaL_loadstring(L, classes_chunk) != 0) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    class_answers[is_ours] = strdup(lua_tostring(L, -1));
    return 0;
}

static int ask_our_classes(lua_State *L)
{
    return ask_classes(L, true);
}

static int ask_their_classes(lua_State *L)
{
    return ask_classes(L, false);
}

static void every_class_takes_the_bytes_that_luajits_takes(void **state)
{
    (void)state;
    struct sandbox *sandbox = sandbox_create(64 << 20, NULL, NULL);
    lua_State *plain = luaL_newstate();
    luaL_openlibs(plain);
    assert_int_equal(sandbox_call(sandbox, ask_our_classes, NULL, NULL), SANDBOX_OK);
    assert_int_equal(lua_cpcall(plain, ask_their_classes, NULL), 0);
    assert_true(strlen(class_answers[0]) > 256 * 52);
    assert_string_equal(class_answers[1], class_answers[0]);
    free(class_answers[0]);
    free(class_answers[1]);
    lua_close(plain);
    sandbox_destroy(&sandbox);
}

// ---- the matcher by itself

static uint32_t refills;

static bool refill_some(struct pattern_allowance *allowance)
{
    allowance->left = 1000;
    return ++refills < 100;
}

static enum pattern_result search(const char *subject, size_t length, const char *pattern)
{
    struct pattern_allowance allowance = { .left = 0, .refill = refill_some };
    struct pattern_match match;
    const char *start;
    const char *end;

    refills = 0;
    pattern_begin(&match, (struct text){ subject, length }, pattern, true, &allowance);
    return pattern_search(&match, subject, &start, &end);
}

static void a_bomb_ends_when_its_allowance_is_used_up(void **state)
{
    enum { LENGTH = 1 << 20 };
    static const char *const bombs[] = {
        ".-.-.-.-.-b", "(.*)(.*)(.*)(.*)b", "a*a*a*a*a*a*b", "[^b]-[^b]-[^b]-b", "%a+%a+%a+%a+b", "(a*)%1(a*)%2(a*)b",
        ".-%b()",      "a?a?a?.*.*.*b",     "%f[b].*b",      "(.-)(.-)(.-)%1b",
    };
    char *subject = malloc(LENGTH);
    (void)state;
    memset(subject, 'a', LENGTH);
    for (size_t i = 0; i < COUNT_OF(bombs); i++) {
        enum pattern_result result = search(subject, LENGTH, bombs[i]);
        if (result != PATTERN_STOPPED) {
            fail_msg("%s: %d", bombs[i], (int)result);
        }
    }
    free(subject);
}

static void a_set_of_a_million_bytes_is_read_once_only(void **state)
{
    enum { LENGTH = 1 << 20 };
    char *pattern = malloc(LENGTH + 3);
    (void)state;
    memset(pattern, 'x', LENGTH);
    pattern[0] = '[';
    memcpy(pattern + LENGTH, "]+", 3);
    assert_int_equal(search("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 40, pattern), PATTERN_NONE);
    assert_true(refills < 5);
    free(pattern);
}

static void more_sets_than_are_kept_are_told_apart(void **state)
{
    static const char pattern[] = "[a][b][c][d][e]?[f]-[g]";
    (void)state;
    assert_int_equal(search("xabcxabcdg", 10, pattern), PATTERN_FOUND);
    assert_int_equal(search("abcxfabcdffg", 12, pattern), PATTERN_FOUND);
    assert_int_equal(search("abcdxabcdg", 10, pattern), PATTERN_FOUND); // the first set gave way in between
    assert_int_equal(search("abcxfabcdffxg", 13, pattern), PATTERN_NONE);
}

static void as_many_items_as_luajit_takes_are_taken(void **state)
{
    char pattern[1024];
    char *end = pattern;
    (void)state;
    for (size_t i = 0; i < 190; i++) {
        end = stpcpy(end, "a?");
    }
    (void)stpcpy(end, "$");
    assert_int_equal(search("aaaaaaaaaa", 10, pattern), PATTERN_FOUND);
    char many[200];
    end = many;
    for (size_t i = 0; i < 32; i++) {
        end = stpcpy(end, "()");
    }
    assert_int_equal(search("a", 1, many), PATTERN_FOUND);
    (void)stpcpy(end, "()");
    assert_int_equal(search("a", 1, many), PATTERN_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hundred_thousand_patterns_give_what_luajit_gives),
        cmocka_unit_test(every_class_takes_the_bytes_that_luajits_takes),
        cmocka_unit_test(a_bomb_ends_when_its_allowance_is_used_up),
        cmocka_unit_test(a_set_of_a_million_bytes_is_read_once_only),
        cmocka_unit_test(more_sets_than_are_kept_are_told_apart),
        cmocka_unit_test(as_many_items_as_luajit_takes_are_taken),
    };
    return cmocka_run_group_tests_name("script_pattern", tests, NULL, NULL);
}
