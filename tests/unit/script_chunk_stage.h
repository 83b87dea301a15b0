/// Chunk stage: runs pieces of Lua in a sandbox of their own and compares what they give.
///
/// Use: once in a test program; `chunk_read`, when set, is what the chunk gets as its one argument.
#pragma once

#include "script/sandbox.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct job {
    const char *source;
    char result[4096];
    char message[512];
};

static struct sandbox *sandbox;
static lua_CFunction chunk_read; // NULL: no argument

static int run_chunk(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(job->source))) {
        return lua_error(L);
    }
    if (chunk_read != NULL) {
        lua_pushcfunction(L, chunk_read);
    }
    lua_call(L, chunk_read != NULL ? 1 : 0, 1);
    snprintf(job->result, sizeof job->result, "%s", lua_tostring(L, -1));
    return 0;
}

static void on_error(lua_State *L, void *context)
{
    struct job *job = context;
    snprintf(job->message, sizeof job->message, "%s", lua_tostring(L, -1));
}

static int open_sandbox(void **state)
{
    (void)state;
    sandbox = sandbox_create(64 << 20, NULL, NULL);
    assert_non_null(sandbox);
    return 0;
}

static int close_sandbox(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

/// The chunk, which may begin with `local read = …`, returns the text `wanted`.
static void assert_gives(const char *source, const char *wanted)
{
    struct job job = { .source = source };

    if (sandbox_call(sandbox, run_chunk, on_error, &job) != SANDBOX_OK) {
        fail_msg("%s: %s", source, job.message);
    }
    if (strcmp(job.result, wanted) != 0) {
        fail_msg("%s:\n   gives %s\n  wanted %s", source, job.result, wanted);
    }
}

static void assert_raises(const char *source, const char *wanted)
{
    struct job job = { .source = source };

    assert_int_equal(sandbox_call(sandbox, run_chunk, on_error, &job), SANDBOX_ERROR);
    if (strstr(job.message, wanted) == NULL) {
        fail_msg("%s: %s", source, job.message);
    }
}
