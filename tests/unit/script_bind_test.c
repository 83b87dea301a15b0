#include "script/bind.h"

#include "script/bind_json.h"
#include "script/freeze.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sandbox *box;

static int freeze_it(lua_State *L)
{
    lua_settop(L, 1);
    freeze_deep(L);
    return 1;
}

static int open_state(void **state)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } modules[] = { { "json", bind_json },   { "url", bind_url }, { "crypto", bind_crypto }, { "time", bind_time },
                    { "money", bind_money }, { "log", bind_log }, { "fail", bind_fail } };
    box = sandbox_create(64 << 20, NULL, NULL);
    assert_non_null(box);
    lua_State *L = box->L;

    luaL_openlibs(L);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED"); // the sandbox has taken the language's own out of the globals
    for (const char *const *name = (const char *const[]){ "string", "table", "math", NULL }; *name != NULL; name++) {
        lua_getfield(L, -1, *name);
        lua_setglobal(L, *name);
    }
    lua_pop(L, 1);
    for (size_t i = 0; i < COUNT_OF(modules); i++) {
        modules[i].push(L);
        lua_setglobal(L, modules[i].name);
    }
    bind_text(L);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_settable(L, LUA_GLOBALSINDEX);
    }
    lua_pop(L, 1);
    lua_register(L, "freeze", freeze_it);
    *state = L;
    return 0;
}

static int close_state(void **state)
{
    (void)state;
    sandbox_destroy(&box);
    return 0;
}

// The results of an expression as one text, " | " between them; "error: …" when it raises.
static const char *value_of(lua_State *L, const char *expression)
{
    static char shown[4096];
    char chunk[2048];

    // Not a tail call: that would take the caller's line away.
    (void)snprintf(chunk, sizeof chunk,
                   "local function pack(...) return { n = select('#', ...), ... } end "
                   "local results = pack(%s) return unpack(results, 1, results.n)",
                   expression);
    lua_settop(L, 0);
    if (luaL_loadbuffer(L, chunk, strlen(chunk), "=test") != 0 || lua_pcall(L, 0, LUA_MULTRET, 0) != 0) {
        (void)snprintf(shown, sizeof shown, "error: %s", lua_tostring(L, -1));
        return shown;
    }
    size_t length = 0;
    shown[0] = '\0';
    for (int i = 1; i <= lua_gettop(L); i++) {
        lua_getglobal(L, "tostring");
        lua_pushvalue(L, i);
        lua_call(L, 1, 1);
        length +=
            (size_t)snprintf(shown + length, sizeof shown - length, "%s%s", i > 1 ? " | " : "", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return shown;
}

struct row {
    const char *expression;
    const char *result;
};

static void check_rows(void **state, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = value_of(*state, rows[i].expression);
        if (strcmp(got, rows[i].result) != 0) {
            print_error("%s\n  gives    %s\n  expected %s\n", rows[i].expression, got, rows[i].result);
        }
        assert_string_equal(got, rows[i].result);
    }
}

#define CHECK(rows) check_rows(state, rows, COUNT_OF(rows))

static void json_is_written_with_sorted_keys(void **state)
{
    static const struct row rows[] = {
        { "json.encode{ b = 1, a = { c = true, aa = 'x' } }", "{\"a\":{\"aa\":\"x\",\"c\":true},\"b\":1}" },
        { "json.encode{ 3, 2, 1 }", "[3,2,1]" },
        { "json.encode{}", "{}" },
        { "json.encode(json.array{})", "[]" },
        { "json.encode(json.array())", "[]" },
        { "json.encode{ a = json.null }", "{\"a\":null}" },
        { "json.encode('a\\n\"\\\\')", "\"a\\n\\\"\\\\\"" },
        { "json.encode{ 0.1, 1e300, 12345678901234, -0.5, 1/3 }",
          "[0.1,1e+300,12345678901234,-0.5,0.3333333333333333]" },
        { "json.encode(freeze{ list = json.array{}, inner = { 1, { z = 2, y = 1 } } })",
          "{\"inner\":[1,{\"y\":1,\"z\":2}],\"list\":[]}" },
    };
    CHECK(rows);
}

static void what_cannot_be_json_raises_with_its_path(void **state)
{
    static const struct row rows[] = {
        { "json.encode{ a = { 1, 0/0 } }", "error: test:1: json.encode: a[2]: not a finite number" },
        { "json.encode{ a = { b = print } }", "error: test:1: json.encode: a.b: a function cannot be JSON" },
        { "json.encode{ 1, x = 2 }",
          "error: test:1: json.encode: a table is either a list or has text keys, not both" },
        { "json.encode{ [1] = 1, [3] = 3 }", "error: test:1: json.encode: a list without holes expected" },
        { "json.encode('\\255')", "error: test:1: json.encode: the text is not UTF-8" },
        { "(function() local t = {} t.t = t return json.encode(t) end)()",
          "error: test:1: json.encode: t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t.t: "
          "nested deeper than 30 levels" },
    };
    CHECK(rows);
}

static void json_is_read_strictly(void **state)
{
    static const struct row rows[] = {
        { "json.encode(json.decode('{\"b\":[1,2.5,-3e2],\"a\":{\"x\":null,\"y\":[]},\"c\":{}}'))",
          "{\"a\":{\"y\":[]},\"b\":[1,2.5,-300],\"c\":{}}" },
        { "json.decode('null')", "nil" },
        { "json.decode('\"\\\\u00e9\\\\ud83d\\\\ude00\"')", "\xc3\xa9\xf0\x9f\x98\x80" },
        { "json.decode('{\"a\":1,\"a\":2}').a", "2" },
        { "json.decode('0.1') == 0.1 and json.decode('123456789012345') == 123456789012345", "true" },
        { "json.decode('1.7976931348623157e308') == 1.7976931348623157e308", "true" },
        { "json.decode('-0.000123456789') == -0.000123456789", "true" },
        { "(json.decode('1e999'))", "nil" },
        { "select('#', json.decode('[1,]'))", "2" },
        { "(json.decode('2.'))", "nil" },
        { "(json.decode('[1] x'))", "nil" },
        { "(json.decode(''))", "nil" },
        { "(json.decode(('['):rep(65) .. (']'):rep(65)))", "nil" },
        { "json.decode(3)", "error: test:1: bad argument #1 to 'decode' (text expected, got number)" },
    };
    CHECK(rows);
}

static void long_arrays_and_objects_are_whole(void **state)
{
    lua_State *L = *state;

    assert_string_equal(value_of(L, "(function() local t, o = {}, {} "
                                    "for i = 1, 1000 do t[i] = i o['k' .. i] = i end "
                                    "local a, b = json.decode(json.encode(t)), json.decode(json.encode(o)) "
                                    "local sum, n = 0, 0 for i = 1, 1000 do sum = sum + a[i] + b['k' .. i] end "
                                    "for _ in pairs(b) do n = n + 1 end return #a, n, sum end)()"),
                        "1000 | 1000 | 1001000");
}

static void urls_are_built_and_taken_apart(void **state)
{
    static const struct row rows[] = {
        { "url.encode('a b/\xc3\xa9~-._')", "a%20b%2F%C3%A9~-._" },
        { "url.decode('a%20b%2f+c')", "a b/ c" },
        { "url.decode('50%')", "nil | two hexadecimal digits expected after % at byte 3" },
        { "url.query{ b = 2, a = { 'x', 'y z' }, c = true }", "a=x&a=y%20z&b=2&c=true" },
        { "url.query{ { 'b', 2 }, { 'a', 1.5 } }", "b=2&a=1.5" },
        { "url.query{}", "" },
        { "url.query(freeze{ a = { 1, 2 } })", "a=1&a=2" },
        { "url.query{ a = { {} } }",
          "error: test:1: bad argument #1 to 'query' (query field `a`: text, a number or a flag expected, got table)" },
        { "url.join('https://x.example/v1/', '/search')", "https://x.example/v1/search" },
        { "url.join('https://x.example/v1', 'search', { q = 1 })", "https://x.example/v1/search?q=1" },
        { "url.join('https://x.example/?a=1', nil, { q = 1 })", "https://x.example/?a=1&q=1" },
    };
    CHECK(rows);
}

static void digests_agree_with_published_vectors(void **state)
{
    static const struct row rows[] = {
        { "crypto.hex(crypto.sha1('abc'))", "a9993e364706816aba3e25717850c26c9cd0d89d" },
        { "crypto.hex(crypto.sha256('abc'))", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "crypto.hex(crypto.md5(''))", "d41d8cd98f00b204e9800998ecf8427e" },
        { "crypto.hex(crypto.sha512('abc')):sub(1, 32)", "ddaf35a193617abacc417349ae204131" },
        { "crypto.hex(crypto.hmac('sha256', 'Jefe', 'what do ya want for nothing?'))",
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { "crypto.hex(crypto.hmac('sha1', 'Jefe', 'what do ya want for nothing?'))", // RFC 2202
          "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
        { "crypto.hex(crypto.hmac('md5', 'Jefe', 'what do ya want for nothing?'))",
          "750c783e6ab0b503eaa86e310a5db738" },
        { "crypto.hex(crypto.hmac('sha512', 'Jefe', 'what do ya want for nothing?')):sub(1, 32)", // RFC 4231
          "164b7a7bfcf819e2e395fbe73b56e0a3" },
        { "crypto.base64('fo'), crypto.base64('foobar'), crypto.base64url('\\251\\239\\255')",
          "Zm8= | Zm9vYmFy | --__" },
        { "crypto.base64_decode('Zm8='), crypto.base64_decode('Zm8'), crypto.base64url_decode('--__') == "
          "'\\251\\239\\255'",
          "fo | fo | true" },
        { "crypto.base64_decode('Zm9')", "nil | not base64: stray bits at the end" },
        { "(crypto.base64_decode('Z'))", "nil" },
        { "crypto.hex_decode('00fF') == '\\0\\255'", "true" },
        { "#crypto.random(16), crypto.random(8) ~= crypto.random(8)", "16 | true" },
        { "crypto.uuid():match('^%x+%-%x+%-4%x+%-[89ab]%x+%-%x+$') ~= nil, #crypto.uuid()", "true | 36" },
        { "crypto.hmac('sha3', 'k', 'm')",
          "error: test:1: bad argument #1 to 'hmac' (\"sha256\", \"sha1\", \"sha512\" or \"md5\" expected)" },
        // The digest of WS-Security's username token.
        { "crypto.base64(crypto.sha1(crypto.base64_decode('PZgFvh5439plJpKpIyf5ucmXhNU=') .. '2013-01-11T09:41:03Z' "
          ".. crypto.sha1('WBSPassword')))",
          "ic3AOJElVpvkz9ZBKd105Siry28=" },
    };
    CHECK(rows);
}

static void times_are_read_in_every_spelling(void **state)
{
    static const struct row rows[] = {
        { "time.local_time('2022-04-16T20:00:00')", "2022-04-16T20:00:00" },
        { "time.local_time('2022-04-16 20:00')", "2022-04-16T20:00:00" },
        { "time.local_time('20220416T2000')", "2022-04-16T20:00:00" },
        { "time.local_time('2022-04-16T20:00:00.250+11:00')", "2022-04-16T20:00:00" },
        { "time.local_time('2022-12-31T24:00')", "2023-01-01T00:00:00" },
        { "(time.local_time('2022-04-16'))", "nil" },
        { "(time.local_time('2022-02-30T10:00'))", "nil" },
        { "(time.local_time('2022-04-16T20:00:00x'))", "nil" },
        { "time.local_time(nil)", "nil" },
        { "time.utc('2022-04-16T20:00:00+10:30')", "2022-04-16T09:30:00Z" },
        { "time.utc('20220101T003000,5-0100')", "2022-01-01T01:30:00.500Z" },
        { "time.utc('2022-04-16T20:00:00')", "nil | a time with `Z` or an offset expected" },
        { "time.epoch('1970-01-02T00:00:00Z'), time.epoch('2000-02-29T12:00:00.5Z')", "86400 | 951825600.5" },
        { "time.iso(951825600), time.iso(0.25), time.iso(0, -90)",
          "2000-02-29T12:00:00Z | 1970-01-01T00:00:00.250Z | 1969-12-31T22:30:00-01:30" },
        { "time.http('Sun, 06 Nov 1994 08:49:37 GMT')", "784111777" },
        { "(time.http('Mon, 06 Nov 1994 08:49:37 GMT'))", "nil" },
        { "time.date('20270503'), time.date('2027-05-03T10:00Z')", "2027-05-03 | 2027-05-03" },
        { "time.ddmmyy('160427'), (time.ddmmyy('320427'))", "2027-04-16 | nil" },
        { "time.at('2027-12-31', 1, '0015')", "2028-01-01T00:15:00" },
        { "time.utc(5)", "error: test:1: bad argument #1 to 'utc' (text expected, got number)" },
    };
    CHECK(rows);
}

static void durations_are_minutes(void **state)
{
    static const struct row rows[] = {
        { "time.minutes('PT01H35M'), time.minutes('PT28H'), time.minutes('P1DT1H10M0S')", "95 | 1680 | 1510" },
        { "time.minutes('P0DT1H59M0S'), time.minutes('P1W'), time.minutes('PT1.5H')", "119 | 10080 | 90" },
        { "time.minutes('P0Y0M1D')", "1440" },
        { "(time.minutes('P1M')), (time.minutes('PT')), (time.minutes('P')), (time.minutes('PT5')), "
          "(time.minutes('1H'))",
          "nil | nil | nil | nil | nil" },
        { "(time.minutes('PT5M1H'))", "nil" },
        { "time.duration(95), time.duration(0), time.duration(120)", "PT1H35M | PT0M | PT2H" },
    };
    CHECK(rows);
}

static void dates_are_counted(void **state)
{
    static const struct row rows[] = {
        { "time.add_days('2024-02-28', 2), time.add_days('2027-01-01', -1)", "2024-03-01 | 2026-12-31" },
        { "time.days_between('2027-05-01', '2028-05-01')", "366" },
        { "time.weekday('2027-05-03'), time.weekday('1969-12-28')", "1 | 7" },
        { "time.minutes_between('2027-05-03T23:50:00', '2027-05-04T01:00:00')", "70" },
        { "time.minutes_between('2027-05-03T10:00:00+02:00', '2027-05-03T10:00:00Z')", "120" },
        { "time.utc(nil), time.epoch(nil), time.iso(nil), time.date(nil), time.ddmmyy(nil), time.http(nil)",
          "nil | nil | nil | nil | nil | nil" },
        { "time.minutes(nil), time.duration(nil), time.add_days(nil, 2), time.days_between('2027-05-01', nil)",
          "nil | nil | nil | nil" },
        { "time.minutes_between(nil, nil), time.weekday(nil), time.at(nil, 1, '0015'), time.zone(nil)",
          "nil | nil | nil | nil" },
        { "time.local_time(nil), time.utc_at(nil, 'SYD'), time.local_at(nil, 'SYD')", "nil | nil | nil" },
        { "time.add_days('2027-02-29', 1)",
          "error: test:1: bad argument #1 to 'add_days' (a date such as 2027-05-03 expected)" },
    };
    CHECK(rows);
}

static void money_is_exact_decimal_text(void **state)
{
    static const struct row rows[] = {
        { "money.parse('412.3', 'EUR'), money.parse('60200.00', 'KRW'), money.parse('1', 'BHD')",
          "412.30 | 60200 | 1.000" },
        { "money.parse('412.305', 'EUR')", "nil | more decimals than the currency has, got \"412.305\"" },
        { "money.parse('1', 'NUC')", "nil | a currency of ISO 4217 expected, got \"NUC\"" },
        { "money.parse(nil, 'EUR')", "nil" },
        { "money.parse(412.3, 'EUR')", "error: test:1: bad argument #1 to 'parse' (a float is an error: money is "
                                       "decimal text such as \"412.30\")" },
        { "(money.parse('1,5', 'EUR')), (money.parse('.5', 'EUR')), (money.parse('1.', 'EUR')), (money.parse('', "
          "'EUR'))",
          "nil | nil | nil | nil" },
        { "(money.parse('99999999999999999999', 'EUR'))", "nil" },
        { "money.round('412.305', 'EUR'), money.round('-0.5', 'JPY'), money.round('0.4', 'JPY')", "412.31 | -1 | 0" },
        { "money.split('EUR178.74')", "178.74 | EUR" },
        { "money.split('KRW60200')", "60200 | KRW" },
        { "money.scaled('41230', 2, 'EUR'), money.scaled(41230, 2, 'EUR')", "412.30 | 412.30" },
        { "(money.scaled('41235', 3, 'EUR'))", "nil" },
        { "money.add('0.10', '0.20', 'EUR'), money.sub('1', '1.01', 'EUR'), money.mul('0.1', 3, 'EUR')",
          "0.30 | -0.01 | 0.30" },
        { "money.sum({ '605.90', '21.10' }, 'GBP'), money.sum({}, 'JPY')", "627.00 | 0" },
        { "money.sum({ '1', 2 }, 'GBP')",
          "error: test:1: bad argument #1 to 'sum' ([2]: money is decimal text; a float is an error)" },
        { "money.compare('9.5', '10'), money.compare('1.0', '1'), money.compare('2', '1.99')", "-1 | 0 | 1" },
        { "money.add('1', '1', 'XXX')",
          "error: test:1: bad argument #3 to 'add' (a currency of ISO 4217 expected, got \"XXX\")" },
        { "money.add('1', nil, 'EUR'), money.sub(nil, '1', 'EUR'), money.mul('1', nil, 'EUR'), money.sum(nil, 'EUR')",
          "nil | nil | nil | nil" },
        { "money.compare(nil, '1'), money.exponent(nil), money.scaled('1', nil, 'EUR'), money.add('1', '1', nil)",
          "nil | nil | nil | nil" },
        { "money.add('1')", "error: test:1: bad argument #3 to 'add' (text expected, got no value)" },
        { "money.exponent('EUR'), money.exponent('CLF'), money.exponent('NUC'), money.exponent('ZWG')",
          "2 | 4 | nil | 2" },
        { "money.add('9000000000000', '9000000000000', 'EUR')", "error: test:1: the sum is out of range" },
    };
    CHECK(rows);
}

static void lists_are_mapped_filtered_and_walked(void **state)
{
    static const struct row rows[] = {
        { "table.concat(map({ 1, 2, 3 }, function(v, i) return v ~= 2 and v * i or nil end), ',')", "1,9" },
        { "table.concat(filter(freeze{ 1, 2, 3 }, function(v) return v > 1 end), ',')", "2,3" },
        { "first({ 5, 6 }), first({ 5, 6 }, function(v) return v > 5 end), first({}, print)", "5 | 6 | nil" },
        { "get({ a = { { b = 7 } } }, 'a', 1, 'b'), get(nil, 'a'), get(freeze{ a = { b = 1 } }, 'a', 'b')",
          "7 | nil | 1" },
        { "(function() local o = '' for k, v in sorted_pairs{ b = 2, a = 1, [2] = 'y', [10] = 'z', [1] = 'x' } do "
          "o = o .. k .. v .. ' ' end return o end)()",
          "1x 2y 10z a1 b2 " },
        { "map(3, print)", "error: test:1: bad argument #1 to 'map' (a list expected, got number)" },
    };
    CHECK(rows);
}

static struct script_fail read_fail(lua_State *L, const char *expression, bool *is_fail)
{
    struct script_fail fail;

    (void)value_of(L, expression);
    *is_fail = bind_fail_read(L, 1, &fail);
    return fail;
}

static void failures_carry_their_kind(void **state)
{
    bool is_fail = false;
    struct script_fail fail = read_fail(*state, "fail.quota{ retry_after = 1.5, message = 'slow' }", &is_fail);

    assert_true(is_fail);
    assert_string_equal(fail.kind, "quota");
    assert_string_equal(fail.message, "slow");
    assert_int_equal(fail.wait.after_ms, 1500);
    fail = read_fail(*state, "fail.supplier{ code = 'E1', message = 'no' }", &is_fail);
    assert_true(is_fail);
    assert_string_equal(fail.code, "E1");
    fail = read_fail(*state, "fail.busy()", &is_fail);
    assert_true(is_fail);
    assert_string_equal(fail.kind, "busy");
    assert_null(fail.message);
    (void)read_fail(*state, "fail.auth('x'), 1", &is_fail);
    assert_true(is_fail);
    (void)read_fail(*state, "fail.unexpected('a.b')", &is_fail);
    assert_true(is_fail);
}

static void a_table_that_looks_like_a_failure_is_none(void **state)
{
    bool is_fail = true;

    (void)read_fail(*state, "setmetatable({ kind = 'quota' }, {})", &is_fail);
    assert_false(is_fail);
    (void)read_fail(*state, "{ kind = 'quota' }", &is_fail);
    assert_false(is_fail);
    (void)read_fail(*state, "'quota'", &is_fail);
    assert_false(is_fail);
    assert_string_equal(value_of(*state, "getmetatable(fail.busy('x')), tostring(fail.busy('x'))"),
                        "fail | fail.busy: x");
}

static void waits_that_make_no_sense_are_not_said(void **state)
{
    static const char *const senseless[] = { "-1", "'2abc'", "0", "0/0", "'Mon, 03 May 2027'", "{}", "nil" };
    bool is_fail = false;
    char expression[100];

    for (size_t i = 0; i < COUNT_OF(senseless); i++) {
        (void)snprintf(expression, sizeof expression, "fail.quota{ retry_after = %s }", senseless[i]);
        assert_int_equal(read_fail(*state, expression, &is_fail).wait.after_ms, 0);
        assert_true(is_fail);
    }
    assert_int_equal(read_fail(*state, "fail.quota{ retry_after = '120' }", &is_fail).wait.after_ms, 120000);
    assert_int_equal(read_fail(*state, "fail.quota{ retry_after = 1e18 }", &is_fail).wait.after_ms, 86400000);
}

static void sha256_for_the_loader_agrees_with_the_helper(void **state)
{
    unsigned char digest[32];

    bind_crypto_sha256(TEXT("abc"), digest);
    (void)value_of(*state, "crypto.sha256('abc')");
    assert_memory_equal(lua_tostring(*state, 1), digest, sizeof digest);
}

// Bytes in use outside of Lua: by the sanitizer's count where there is one, for it replaces malloc.
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes != NULL ? __sanitizer_get_current_allocated_bytes()
                                                           : mallinfo2().uordblks + mallinfo2().hblkhd;
}

// The collector sees only their few bytes, so what a refused text leaves behind would be left for long.
static void a_refusal_keeps_no_buffer(void **state)
{
    static const char *const refused[] = { "crypto.base64_decode(long .. '!')",
                                           "crypto.base64url_decode(long .. '!')",
                                           "crypto.hex_decode(long .. 'x!')",
                                           "url.decode(long .. '%x')",
                                           "url.encode(wide)",
                                           "url.join(long, 'x', 7)" };

    (void)value_of(*state, "rawset(_G, 'long', ('A'):rep(2 ^ 20)), rawset(_G, 'wide', ('\\255'):rep(2 ^ 22))");
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char call[128];
        (void)snprintf(call, sizeof call, "(function() for _ = 1, 20 do pcall(function() return %s end) end end)()",
                       refused[i]);
        lua_gc(*state, LUA_GCSTOP, 0);
        size_t before = allocated_bytes();
        (void)value_of(*state, call);
        assert_true(allocated_bytes() < before + (4 << 20));
        lua_gc(*state, LUA_GCRESTART, 0);
        lua_gc(*state, LUA_GCCOLLECT, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_is_written_with_sorted_keys, open_state, close_state),
        cmocka_unit_test_setup_teardown(what_cannot_be_json_raises_with_its_path, open_state, close_state),
        cmocka_unit_test_setup_teardown(json_is_read_strictly, open_state, close_state),
        cmocka_unit_test_setup_teardown(long_arrays_and_objects_are_whole, open_state, close_state),
        cmocka_unit_test_setup_teardown(urls_are_built_and_taken_apart, open_state, close_state),
        cmocka_unit_test_setup_teardown(digests_agree_with_published_vectors, open_state, close_state),
        cmocka_unit_test_setup_teardown(times_are_read_in_every_spelling, open_state, close_state),
        cmocka_unit_test_setup_teardown(durations_are_minutes, open_state, close_state),
        cmocka_unit_test_setup_teardown(dates_are_counted, open_state, close_state),
        cmocka_unit_test_setup_teardown(money_is_exact_decimal_text, open_state, close_state),
        cmocka_unit_test_setup_teardown(lists_are_mapped_filtered_and_walked, open_state, close_state),
        cmocka_unit_test_setup_teardown(failures_carry_their_kind, open_state, close_state),
        cmocka_unit_test_setup_teardown(a_table_that_looks_like_a_failure_is_none, open_state, close_state),
        cmocka_unit_test_setup_teardown(waits_that_make_no_sense_are_not_said, open_state, close_state),
        cmocka_unit_test_setup_teardown(a_refusal_keeps_no_buffer, open_state, close_state),
        cmocka_unit_test_setup_teardown(sha256_for_the_loader_agrees_with_the_helper, open_state, close_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
