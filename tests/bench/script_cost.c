// What one answer costs a script worker: inflating nothing, decoding, mapping, checking and writing the offers.
//
//   bench_script SUPPLIER_FILE COUNT BODY...
//
// Runs NORMALISE of the supplier COUNT times over the bodies in turn, on this thread and without a pool, and prints CPU
// time per answer. Under `valgrind --tool=callgrind --toggle-collect=run_normalise` the instructions are the same in
// every run. Bodies are answers of the farm, kept with curl.

#include "base/clock.h"
#include "script/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MAX = 16, GROWTH_CAP = 16 << 20, BODY_CAP = 8 << 20, LIMIT_US = 10000000 };

static const char facts_json[] =
    "{\"product\":\"flights\",\"currency\":\"EUR\",\"market\":\"ES\",\"locale\":\"es-ES\",\"device\":\"mobile\","
    "\"query\":{\"cabin\":\"economy\",\"slices\":[{\"origin\":\"MAD\",\"destination\":\"LHR\",\"date\":\"2030-05-12\"},"
    "{\"origin\":\"LHR\",\"destination\":\"MAD\",\"date\":\"2030-05-19\"}],\"travellers\":[{\"type\":\"adult\"}]}}";

struct bench {
    struct script_set *set;
    struct script_account account;
    struct block *facts;
    struct block *bodies[BODIES_MAX];
    size_t body_count;
    struct guard guard;
    size_t offers, dropped;
};

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    fprintf(stderr, "%s:%u: %s\n", failure->file, failure->line, failure->message);
}

static void on_watch(void *context, uint64_t check_us)
{
    (void)context;
    (void)check_us;
}

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "bench_script: %s: %s\n", what, detail);
    exit(1);
}

static struct block *read_file(const char *path)
{
    struct buffer bytes;
    char part[4096];
    size_t length;
    FILE *file = fopen(path, "rbe");

    if (file == NULL) {
        fail("cannot be read", path);
    }
    buffer_init(&bytes, BODY_CAP);
    while ((length = fread(part, 1, sizeof part, file)) > 0) {
        (void)buffer_append(&bytes, part, length);
    }
    fclose(file);
    struct block *block = block_from_buffer(&bytes);
    if (block == NULL) {
        fail("too large", path);
    }
    return block;
}

static void load(struct bench *bench, const char *file)
{
    const char *slash = strrchr(file, '/');
    struct text name = text_of(slash == NULL ? file : slash + 1);
    name.length -= name.length > 4 ? 4 : 0;
    struct script_source source = { .name = name, .file = text_of(file) };

    if (script_set_load("scripts", &source, 1, on_finding, NULL, &bench->set) != STATUS_OK) {
        fail("cannot be loaded", file);
    }
    bench->account = (struct script_account){
        .serial = 1,
        .name = TEXT("main"),
        .context = TEXT("{\"account\":\"main\",\"options\":{\"base_url\":\"http://127.0.0.1\"},\"secret\":{}}"),
    };
    bench->facts = block_create(text_of(facts_json));
}

static void normalise(struct bench *bench, struct run *run, struct block *body)
{
    struct http_response *response = http_response_create();
    uint64_t now_us = clock_now_us();

    if (response == NULL) {
        fail("no memory", "response");
    }
    response->status = 200;
    response->body = block_acquire(body);
    struct normalise_call *call = normalise_call_create(TEXT("s-1"), bench->facts, response);
    if (call == NULL) {
        fail("no memory", "call");
    }
    call->call.set = bench->set;
    call->account = &bench->account;
    call->body_cap = BODY_CAP;
    call->times = (struct script_times){ now_us, now_us + LIMIT_US, clock_wall_us() };
    call->allocation_end_us = call->times.end_us;
    if (!run_normalise(run, call) || call->verdict != SCRIPT_OK) {
        fail(script_verdict_name(call->verdict), call->message);
    }
    bench->offers += call->offers->count;
    bench->dropped += call->offers->dropped;
    script_call_destroy(&call->call);
}

int main(int argc, char **argv)
{
    struct bench bench = { .offers = 0 };
    struct run run = { .guard = &bench.guard, .build_limit_us = LIMIT_US, .normalise_limit_us = LIMIT_US };

    if (argc < 4) {
        fail("usage", "bench_script SUPPLIER_FILE COUNT BODY...");
    }
    size_t count = strtoul(argv[2], NULL, 10);
    load(&bench, argv[1]);
    for (int i = 3; i < argc && bench.body_count < BODIES_MAX; i++) {
        bench.bodies[bench.body_count++] = read_file(argv[i]);
    }
    guard_init(&bench.guard, on_watch, NULL);
    guard_attach(&bench.guard);
    run.state = state_create(bench.set, GROWTH_CAP);
    if (run.state == NULL || count == 0) {
        fail("nothing to run", argv[1]);
    }
    uint64_t begun_us = clock_thread_cpu_us();
    for (size_t i = 0; i < count; i++) {
        normalise(&bench, &run, bench.bodies[i % bench.body_count]);
    }
    double used_us = (double)(clock_thread_cpu_us() - begun_us);
    printf("%s: %.1f us an answer, %zu offers, %zu dropped\n", argv[1], used_us / (double)count, bench.offers / count,
           bench.dropped);
    guard_detach(&bench.guard);
    guard_fini(&bench.guard);
    state_destroy(&run.state);
    for (size_t i = 0; i < bench.body_count; i++) {
        block_release(&bench.bodies[i]);
    }
    block_release(&bench.facts);
    script_set_release(&bench.set);
    return 0;
}
