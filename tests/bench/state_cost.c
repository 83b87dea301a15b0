// What a full Lua state costs: building one with all suppliers of a set loaded, and destroying it.
//
//   bench_state STATES SUPPLIER_FILE...
//
// Each file plays a supplier, in turn, until there are forty. Prints the CPU time of this thread for each state, and
// its memory: what Lua holds, and what the process has grown by.

#include "base/clock.h"
#include "script/state_fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUPPLIERS = 40, GROWTH_CAP = 16 << 20, FILE_LIMIT_US = 2000000 };

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    fprintf(stderr, "%s:%u: %s\n", failure->file, failure->line, failure->message);
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_state: %s\n", what);
    exit(1);
}

static void on_file(void *context)
{
    (void)context;
}

static bool is_hurried(void *context)
{
    (void)context;
    return false;
}

static size_t resident_bytes(void)
{
    long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "re");

    if (stream == NULL || fscanf(stream, "%*s %ld", &pages) != 1) {
        fail("/proc/self/statm cannot be read");
    }
    fclose(stream);
    return (size_t)pages * 4096;
}

static struct script_set *load(char **files, size_t count)
{
    static char names[SUPPLIERS][128];
    struct script_source sources[SUPPLIERS];
    struct script_set *set;

    for (size_t i = 0; i < SUPPLIERS; i++) {
        const char *file = files[i % count];
        const char *slash = strrchr(file, '/');
        // Files name themselves, so those that play several suppliers do it under one name.
        snprintf(names[i], sizeof names[i], "%s", slash == NULL ? file : slash + 1);
        sources[i] =
            (struct script_source){ .name = { names[i], strlen(names[i]) - strlen(".lua") }, .file = text_of(file) };
    }
    if (script_set_load("scripts", sources, SUPPLIERS, on_finding, NULL, &set) != STATUS_OK) {
        fail("the scripts cannot be loaded");
    }
    return set;
}

int main(int argument_count, char **arguments)
{
    size_t count = argument_count > 2 ? strtoul(arguments[1], NULL, 10) : 0;
    if (count == 0) {
        fail("usage: bench_state STATES SUPPLIER_FILE...");
    }
    struct script_set *set = load(&arguments[2], (size_t)argument_count - 2);
    struct state **states = calloc(count, sizeof(struct state *));
    struct state_fill fill = {
        .file_limit_us = FILE_LIMIT_US, .end_us = UINT64_MAX, .on_file = on_file, .is_hurried = is_hurried
    };
    if (states == NULL || !state_fill_init(&fill, set)) {
        fail("no memory");
    }
    size_t resident = resident_bytes();
    uint64_t begun_us = clock_thread_cpu_us();
    for (size_t i = 0; i < count; i++) {
        states[i] = state_create(set, GROWTH_CAP);
    }
    uint64_t created_us = clock_thread_cpu_us();
    size_t used = 0;
    size_t loads = 0;
    for (size_t i = 0; i < count; i++) {
        if (states[i] == NULL || !state_fill_run(&fill, states[i])) {
            fail("no memory");
        }
        used += states[i]->sandbox->heap.used;
        loads += states[i]->loads;
    }
    uint64_t filled_us = clock_thread_cpu_us();
    size_t grown = resident_bytes() - resident;
    for (size_t i = 0; i < count; i++) {
        state_destroy(&states[i]);
    }
    uint64_t destroyed_us = clock_thread_cpu_us();
    printf(
        "%zu states of %zu files: create %.3f ms, fill %.3f ms, destroy %.3f ms, Lua %zu KiB, resident %zu KiB each\n",
        count, loads / count, (double)(created_us - begun_us) / 1000 / (double)count,
        (double)(filled_us - created_us) / 1000 / (double)count,
        (double)(destroyed_us - filled_us) / 1000 / (double)count, (used / count) >> 10, (grown / count) >> 10);
    state_fill_fini(&fill);
    script_set_release(&set);
    free(states);
    return 0;
}
