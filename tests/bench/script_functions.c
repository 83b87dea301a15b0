// How long the functions take that scripts may call: each with the largest input that a call's memory allows, and
// patterns beside LuaJIT's own. What is over 20 ms must look whether it is to stop; `looks` says that it does.
//
//   bench_script_functions [patterns | functions [NUMBER]]

#include "base/clock.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 16 << 20, ROUNDS = 200000, LIMIT_US = 200000 };

struct job {
    const char *source;
    uint64_t us;
    char message[200];
};

static void run_source(lua_State *L, struct job *job)
{
    lua_call(L, 0, 1);
    if (lua_isfunction(L, -1)) {
        uint64_t begun_us = clock_thread_cpu_us();
        lua_call(L, 0, 0);
        job->us = clock_thread_cpu_us() - begun_us;
    }
}

static int run_ours(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("bench.lua"), text_of(job->source))) {
        return lua_error(L);
    }
    run_source(L, job);
    return 0;
}

static int run_theirs(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (luaL_loadstring(L, job->source) != 0) {
        return lua_error(L);
    }
    run_source(L, job);
    return 0;
}

static void keep_message(lua_State *L, void *context)
{
    struct job *job = context;
    const char *message = lua_tostring(L, -1);
    snprintf(job->message, sizeof job->message, "%s", message == NULL ? "?" : message);
}

// ---- patterns

struct pattern_case {
    const char *about;
    const char *call;
};

static const struct pattern_case patterns[] = {
    { "a date", "(\"2026-11-30T09:15\"):match(\"^(%d+)-(%d+)-(%d+)\")" },
    { "a date, fixed width", "(\"2026-11-30\"):match(\"^(%d%d%d%d)-(%d%d)-(%d%d)$\")" },
    { "trim", "(\"   some words here   \"):match(\"^%s*(.-)%s*$\")" },
    { "a price", "(\"GBP 1,234.50\"):match(\"(%u+)%s+([%d,%.]+)\")" },
    { "a key and a value", "(\"currency=EUR; total=12.00\"):match(\"(%w+)=(%w+)\")" },
    { "host of a URL", "(\"https://api.example.com/v1/x?q=1\"):match(\"^https?://([^/?#]+)\")" },
    { "find in 500 bytes", "long:find(\"needle(%d+)\")" },
    { "find plain in 500 bytes", "long:find(\"needle42\", 1, true)" },
    { "no match in 500 bytes", "long:find(\"[xyz]%d%d%d\")" },
    { "gsub with text", "(\"a b c d e f g h\"):gsub(\"%s\", \"-\")" },
    { "gsub with a table", "(\"$name is $age\"):gsub(\"%$(%w+)\", map)" },
    { "gsub with a function", "(\"one two three\"):gsub(\"%w+\", upper)" },
    { "gmatch over 10 words", "for w in words:gmatch(\"%a+\") do local _ = w end" },
    { "balanced", "(\"f(a(b)c)d\"):match(\"%b()\")" },
    { "a file's ending", "(\"path/to/some.file.json\"):match(\"%.([^.]*)$\")" },
    { "lazy over 500 bytes", "long:match(\"<(.-)>needle\")" },
    { "greedy over 500 bytes", "long:match(\"(.*)needle\")" },
};

static const char prelude[] = "local long = (\"some text < that goes on \"):rep(20) .. \">needle42 end\"\n"
                              "local words = \"the quick brown fox jumps over the lazy dog again\"\n"
                              "local map = { name = \"x\", age = \"12\" }\n"
                              "local function upper(w) return w:upper() end\n";

static double measure(struct sandbox *sandbox, lua_State *plain, const char *call, bool is_ours)
{
    char source[2048];
    const char *keep = strncmp(call, "for ", 4) == 0 ? "" : "local _ = ";
    struct job job = { .source = source };
    uint64_t best_us = UINT64_MAX;

    snprintf(source, sizeof source, "%sreturn function() for _ = 1, %d do %s%s end end", prelude, ROUNDS, keep, call);
    for (int round = 0; round < 5; round++) {
        if (is_ours && sandbox_call(sandbox, run_ours, keep_message, &job) != SANDBOX_OK) {
            printf("%s: %s\n", call, job.message);
        } else if (!is_ours && lua_cpcall(plain, run_theirs, &job) != 0) {
            printf("%s: %s\n", call, lua_tostring(plain, -1));
        }
        best_us = job.us < best_us ? job.us : best_us;
    }
    return (double)best_us * 1000 / ROUNDS;
}

static void measure_patterns(void)
{
    struct sandbox *sandbox = sandbox_create(MEMORY * 8, NULL, NULL);
    lua_State *plain = luaL_newstate();

    require(sandbox != NULL && plain != NULL);
    luaL_openlibs(plain);
    luaJIT_setmode(plain, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    printf("%-26s %8s %8s\n", "", "ours ns", "LuaJIT");
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        double ours = measure(sandbox, plain, patterns[i].call, true);
        double theirs = measure(sandbox, plain, patterns[i].call, false);
        printf("%-26s %8.0f %8.0f  %.2f\n", patterns[i].about, ours, theirs, ours / theirs);
    }
    lua_close(plain);
    sandbox_destroy(&sandbox);
}

// ---- functions

#define BIG "local big = (\"0123456789abcdef\"):rep(262144) "
#define FOUR "local four = (\"0123456789abcdef\"):rep(262144) "
#define LIST "local list = {} for i = 1, 500000 do list[i] = i end "
#define SAME "local same = (\"x\"):rep(1000000) local list = {} for i = 1, 500000 do list[i] = same end "
#define KEYS "local keys = {} for i = 1, 50000 do keys[\"key\" .. i] = i end "

static const struct pattern_case functions[] = {
    { "string.upper, 4 MiB", BIG "return function() big:upper() end" },
    { "string.lower, 4 MiB", BIG "return function() big:lower() end" },
    { "string.reverse, 4 MiB", BIG "return function() big:reverse() end" },
    { "string.sub, 4 MiB", BIG "return function() big:sub(2) end" },
    { "string.rep, a byte to 4 MiB", "return function() (\"x\"):rep(4194304) end" },
    { "string.rep, 2 texts to 4 MiB", "return function() (\"x\"):rep(2097152, \",\") end" },
    { "string.byte, all it takes", BIG "return function() big:byte(1, 7990) end" },
    { "string.format, %s of 4 MiB", BIG "return function() string.format(\"%s!\", big) end" },
    { "string.format, %q of 2 MiB",
      "local two = (\"\\0\\n\\\"a\"):rep(524288) return function() string.format(\"%q\", two) end" },
    { "string.format, 4 MiB of %%", "local f = (\"%%\"):rep(2097152) return function() string.format(f) end" },
    { "string.format, 7,900 of %99.99f", "local f, t = (\"%99.99f\"):rep(7900), {} for i = 1, 7900 do t[i] = 1e308 end "
                                         "return function() string.format(f, unpack(t)) end" },
    { "string.find, plain, 4 MiB", BIG "return function() big:find(\"fedcba\", 1, true) end" },
    { "string.find, plain, bad case",
      "local a = (\"a\"):rep(4194304) local b = (\"a\"):rep(2000) .. \"b\" return function() a:find(b, 1, true) end" },
    { "string.gsub, . of 1 MiB", "local one = (\"a\"):rep(1048576) return function() one:gsub(\".\", \"b\") end" },
    { "table.concat, 500,000", LIST "return function() table.concat(list) end" },
    { "table.concat, 1,500,000 empty",
      "local list = {} for i = 1, 700000 do list[i] = \"\" end return function() table.concat(list, \"\") end" },
    { "table.insert at the front", LIST "return function() table.insert(list, 1, 0) end" },
    { "table.remove at the front", LIST "return function() table.remove(list, 1) end" },
    { "table.maxn, 500,000", LIST "return function() table.maxn(list) end" },
    { "table.sort, 100,000 numbers",
      "local list = {} for i = 1, 100000 do list[i] = (i * 7919) % 100003 end return function() table.sort(list) end" },
    { "table.sort, 20,000 long texts",
      "local a, b = (\"x\"):rep(1000000) .. 1, (\"x\"):rep(1000000) .. 2 local list = {} for i = 1, 20000 do list[i] = "
      "i % 3 == 0 and a or b end return function() table.sort(list) end" },
    { "unpack, 7,900", LIST "return function() unpack(list, 1, 7900) end" },
    { "next over holes",
      "local t = {} for i = 1, 300000 do t[\"k\" .. i % 2 .. i] = nil end for i = 1, 100000 do t[i * 2.5] = 1 end for "
      "i = 1, 100000 do t[i * 2.5] = nil end t.last = 1 return function() next(t) end" },
    { "tonumber, 4 MiB of digits",
      "local four = (\"1234567890123456\"):rep(262144) return function() tonumber(four) end" },
    { "tonumber, base 16, 4 MiB", FOUR "return function() tonumber(four, 16) end" },
    { "tonumber, 4 MiB of blanks", "local b = (\" \"):rep(4194304) return function() tonumber(b) end" },
    { "a < b, 2 MiB", "local two = (\"0123456789abcdef\"):rep(131072) local a, b = two .. 1, two .. 2 return "
                      "function() return a < b end" },
    { "json.encode, 4 MiB text", FOUR "return function() json.encode(four) end" },
    { "json.encode, 500,000 numbers", LIST "return function() json.encode(list) end" },
    { "json.encode, 50,000 keys", KEYS "return function() json.encode(keys) end" },
    { "json.encode, one big text often", "local t, s = {}, (\"x\"):rep(1000000) for i = 1, 100 do t[i] = s end return "
                                         "function() pcall(json.encode, t) end" },
    { "json.decode, 1 MiB list",
      "local s = \"[\" .. (\"1,\"):rep(524288) .. \"1]\" return function() json.decode(s) end" },
    { "json.decode, 4 MiB text",
      "local s = '\"' .. (\"x\"):rep(4000000) .. '\"' return function() json.decode(s) end" },
    { "url.encode, 2 MiB", "local s = (\" \"):rep(2097152) return function() url.encode(s) end" },
    { "url.decode, 4 MiB", "local s = (\"%20\"):rep(1398101) return function() url.decode(s) end" },
    { "url.query, 50,000 keys", KEYS "return function() url.query(keys) end" },
    { "crypto.sha1, 4 MiB", FOUR "return function() crypto.sha1(four) end" },
    { "crypto.sha256, 4 MiB", FOUR "return function() crypto.sha256(four) end" },
    { "crypto.sha512, 4 MiB", FOUR "return function() crypto.sha512(four) end" },
    { "crypto.md5, 4 MiB", FOUR "return function() crypto.md5(four) end" },
    { "crypto.hmac, 4 MiB", FOUR "return function() crypto.hmac(\"sha512\", \"key\", four) end" },
    { "crypto.base64, 4 MiB", FOUR "return function() crypto.base64(four) end" },
    { "crypto.base64_decode, 4 MiB", FOUR "return function() crypto.base64_decode(four) end" },
    { "crypto.hex, 3 MiB", "local four = (\"0123456789abcdef\"):rep(196608) "
                           "return function() crypto.hex(four) end" },
    { "crypto.hex_decode, 4 MiB", FOUR "return function() crypto.hex_decode(four) end" },
    { "money.sum, 500,000",
      "local list = {} for i = 1, 500000 do list[i] = \"12.34\" end return function() money.sum(list, \"EUR\") end" },
    { "money.parse, 4 MiB", "local s = (\"1\"):rep(4194304) return function() pcall(money.parse, s, \"EUR\") end" },
    { "map with a function of C", SAME "return function() map(list, string.upper) end" },
    { "filter with a function of C", SAME "return function() filter(list, string.reverse) end" },
    { "first with a function of C", SAME "return function() first(list, string.rep) end" },
    { "sorted_pairs, 50,000", KEYS "return function() sorted_pairs(keys) end" },
    { "xml.parse, 1 MiB",
      "local s = \"<a>\" .. (\"<b>x</b>\"):rep(131072) .. \"</a>\" return function() xml.parse(s) end" },
    { "xml.build, 50,000 elements", "local t = { name = \"a\" } for i = 1, 50000 do t[i] = { name = \"b\", \"x\" } end "
                                    "return function() xml.build(t) end" },
    { "form.encode, 50,000 keys", KEYS "return function() form.encode(keys) end" },
    { "log.info, 4 MiB", FOUR "return function() log.debug(four) end" },
    { "time.parse, 4 MiB", FOUR "return function() pcall(time.parse, four) end" },
};

static void measure_functions(size_t first, size_t end)
{
    for (size_t i = first; i < end && i < COUNT_OF(functions); i++) {
        struct job job = { .source = functions[i].call };
        uint64_t best_us = UINT64_MAX;
        for (int round = 0; round < 2; round++) {
            struct sandbox *sandbox = sandbox_create(MEMORY, NULL, NULL);
            require(sandbox != NULL);
            job.us = 0;
            sandbox->end_cpu_us = clock_thread_cpu_us() + LIMIT_US;
            enum sandbox_result result = sandbox_call(sandbox, run_ours, keep_message, &job);
            if (result != SANDBOX_OK && job.message[0] == '\0') {
                snprintf(job.message, sizeof job.message, "%s",
                         result == SANDBOX_STOPPED ? "stopped" : "out of memory");
            }
            sandbox_destroy(&sandbox);
            best_us = job.us < best_us ? job.us : best_us;
        }
        printf("%-34s %9.2f ms  %s\n", functions[i].about, (double)best_us / 1000, job.message);
    }
}

int main(int count, char **arguments)
{
    if (count < 2 || strcmp(arguments[1], "patterns") == 0) {
        measure_patterns();
    }
    if (count < 2 || strcmp(arguments[1], "functions") == 0) {
        size_t one = count > 2 ? (size_t)atoi(arguments[2]) : 0;
        measure_functions(one, count > 2 ? one + 1 : COUNT_OF(functions));
    }
    return 0;
}
