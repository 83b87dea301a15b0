// What decoding a real document costs: by our strict decoder, by a declared shape, and by lua-cjson.
//
//   bench_decode ROUNDS SHAPES_FILE DOCUMENT...
//
// All ways run in turn, in one process, each time over an empty heap; the median of the rounds is told, in CPU time.
// lua-cjson neither checks UTF-8 nor refuses what is no JSON, so what stands beside ours is cjson and our check. The
// shapes of a document are found by its file's name; without one, that way is left out.

#include "base/clock.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "script/bind.h"
#include "script/bind_shape.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 1001, FILE_CAP = 64 << 20, GROWTH_CAP = 1 << 30 };

enum way { WAY_WHOLE, WAY_SHAPE, WAY_CJSON, WAY_CHECK, WAYS };

struct bench {
    struct sandbox *ours;
    lua_State *cjson; // its decoder is at 1
    struct buffer shapes;
    const char *shapes_path;
    // the document in hand
    const char *name;
    struct text document;
    bool has_shape;
    uint64_t took_us;
    uint64_t times_us[WAYS][ROUNDS_MAX];
};

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "bench_decode: %s: %s\n", what, detail);
    exit(1);
}

static void read_file(struct buffer *bytes, const char *path)
{
    char part[4096];
    size_t length;
    FILE *file = fopen(path, "rbe");

    if (file == NULL) {
        fail("cannot be read", path);
    }
    buffer_init(bytes, FILE_CAP);
    while ((length = fread(part, 1, sizeof part, file)) > 0) {
        (void)!buffer_append(bytes, part, length);
    }
    fclose(file);
    if (bytes->is_full) {
        fail("too large", path);
    }
}

// ---- ours ----------------------------------------------------------------------------------------------------------

static void on_error(lua_State *L, void *context)
{
    (void)context;
    fail("our decoder", lua_tostring(L, -1));
}

static int load_shapes(lua_State *L)
{
    struct bench *bench = lua_touserdata(L, 1);

    if (!sandbox_load(L, text_of(bench->shapes_path), buffer_text(&bench->shapes))) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "shapes");
    return 0;
}

static int decode_whole(lua_State *L)
{
    struct bench *bench = lua_touserdata(L, 1);
    uint64_t begun_us = clock_thread_cpu_us();

    if (!bind_json_decode(L, bench->document)) {
        return lua_error(L);
    }
    bench->took_us = clock_thread_cpu_us() - begun_us;
    return 0;
}

static int decode_shape(lua_State *L)
{
    struct bench *bench = lua_touserdata(L, 1);
    struct shape_unread unread = { .count = 0 };

    lua_getfield(L, LUA_REGISTRYINDEX, "shapes");
    lua_getfield(L, -1, bench->name);
    bench->has_shape = !lua_isnil(L, -1);
    if (!bench->has_shape) {
        return 0;
    }
    uint64_t begun_us = clock_thread_cpu_us();
    if (!bind_shape_decode(L, lua_gettop(L), bench->document, &unread)) {
        return lua_error(L);
    }
    bench->took_us = clock_thread_cpu_us() - begun_us;
    if (unread.count > 0) {
        fail("the shape does not fit", unread.first);
    }
    return 0;
}

static void run_ours(struct bench *bench, enum way way, size_t round)
{
    lua_gc(bench->ours->L, LUA_GCCOLLECT, 0);
    (void)sandbox_call(bench->ours, way == WAY_WHOLE ? decode_whole : decode_shape, on_error, bench);
    bench->times_us[way][round] = bench->took_us;
}

// ---- theirs --------------------------------------------------------------------------------------------------------

static lua_State *open_cjson(void)
{
    lua_State *L = luaL_newstate();

    if (L == NULL) {
        fail("no memory", "cjson");
    }
    luaL_openlibs(L);
    if (luaL_dostring(L, "jit.off() return require('cjson').decode") != 0) {
        fprintf(stderr, "bench_decode: skipped, lua-cjson is not installed\n");
        exit(3);
    }
    lua_gc(L, LUA_GCSTOP, 0);
    return L;
}

static void run_cjson(struct bench *bench, size_t round)
{
    lua_State *L = bench->cjson;

    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_gc(L, LUA_GCSTOP, 0);
    lua_pushvalue(L, 1);
    lua_pushlstring(L, bench->document.data, bench->document.length); // ours reads the bytes where they are
    uint64_t begun_us = clock_thread_cpu_us();
    if (lua_pcall(L, 1, 1, 0) != 0) {
        fail("cjson", lua_tostring(L, -1));
    }
    bench->times_us[WAY_CJSON][round] = clock_thread_cpu_us() - begun_us;
    lua_settop(L, 1);
}

static void run_check(struct bench *bench, size_t round)
{
    uint64_t begun_us = clock_thread_cpu_us();
    size_t offset = 0;
    const char *why = NULL;

    if (!json_is_valid(bench->document, &offset, &why)) {
        fail(bench->name, why);
    }
    bench->times_us[WAY_CHECK][round] = clock_thread_cpu_us() - begun_us;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure(struct bench *bench, const char *path, size_t rounds, struct json_writer *json)
{
    static const char *const names[WAYS] = { "whole_us", "shape_us", "cjson_us", "check_us" };
    const char *slash = strrchr(path, '/');
    struct buffer bytes;

    read_file(&bytes, path);
    bench->name = slash == NULL ? path : slash + 1;
    bench->document = buffer_text(&bytes);
    for (size_t round = 0; round < rounds; round++) {
        run_ours(bench, WAY_WHOLE, round);
        run_ours(bench, WAY_SHAPE, round);
        run_cjson(bench, round);
        run_check(bench, round);
    }
    json_begin_object(json);
    json_field_c(json, "variant", bench->name);
    json_field_u64(json, "bytes", bytes.length);
    for (size_t way = 0; way < WAYS; way++) {
        qsort(bench->times_us[way], rounds, sizeof(uint64_t), compare);
        if (way != WAY_SHAPE || bench->has_shape) {
            json_field_u64(json, names[way], bench->times_us[way][rounds / 2]);
        }
    }
    json_end_object(json);
    buffer_fini(&bytes);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct buffer out;
    struct json_writer json;

    if (argc < 4) {
        fail("usage", "bench_decode ROUNDS SHAPES_FILE DOCUMENT...");
    }
    size_t rounds = strtoul(argv[1], NULL, 10);
    if (rounds == 0 || rounds > ROUNDS_MAX) {
        fail("rounds", "1 to 1001");
    }
    bench.shapes_path = argv[2];
    read_file(&bench.shapes, argv[2]);
    bench.cjson = open_cjson();
    bench.ours = sandbox_create(GROWTH_CAP, NULL, NULL);
    if (bench.ours == NULL) {
        fail("no memory", "sandbox");
    }
    (void)sandbox_call(bench.ours, load_shapes, on_error, &bench);
    buffer_init(&out, FILE_CAP);
    json_writer_init(&json, &out);
    json_begin_array(&json);
    for (int i = 3; i < argc; i++) {
        measure(&bench, argv[i], rounds, &json);
    }
    json_end_array(&json);
    printf("%.*s\n", TEXT_ARGS(buffer_text(&out)));
    buffer_fini(&out);
    buffer_fini(&bench.shapes);
    sandbox_destroy(&bench.ours);
    lua_close(bench.cjson);
    return 0;
}
