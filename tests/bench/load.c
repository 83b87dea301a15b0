// bench_load: one cell of a benchmark: a load on a running engine, and what came of it as one JSON object.
//
//   bench_load --port 8080 --body FILE --budget-ms 2000 --rate 50 --seconds 20 [--seed 1] [--timing FILE]
//              [--engine-pid PID --engine-cpu N] [--farm-pid PID] [--streams] [--slow-readers N]
//              [--concurrency N [--rest PERCENT] (closed mode, without --rate)]
#include "app/timing.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "bench/client.h"
#include "bench/process.h"
#include "bench/slow.h"
#include "bench/summary.h"
#include "bench/witness.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REQUEST = 1 << 20, GRACE_US = 5000000 };

struct arguments {
    uint16_t port;
    const char *body;
    const char *timing;
    uint64_t budget_ms;
    double rate, seconds;
    uint64_t seed;
    uint32_t concurrency, rest_percent;
    bool has_streams;
    uint32_t slow_readers;
    int engine_pid, engine_cpu, farm_pid;
};

static bool take_option(struct arguments *arguments, int option, const char *value)
{
    switch (option) {
    case 'p':
        arguments->port = (uint16_t)strtoul(value, NULL, 10);
        break;
    case 'b':
        arguments->body = value;
        break;
    case 'B':
        arguments->budget_ms = strtoul(value, NULL, 10);
        break;
    case 'r':
        arguments->rate = strtod(value, NULL);
        break;
    case 's':
        arguments->seconds = strtod(value, NULL);
        break;
    case 'S':
        arguments->seed = strtoull(value, NULL, 10);
        break;
    case 't':
        arguments->timing = value;
        break;
    case 'e':
        arguments->engine_pid = (int)strtol(value, NULL, 10);
        break;
    case 'c':
        arguments->engine_cpu = (int)strtol(value, NULL, 10);
        break;
    case 'f':
        arguments->farm_pid = (int)strtol(value, NULL, 10);
        break;
    case 'C':
        arguments->concurrency = (uint32_t)strtoul(value, NULL, 10);
        break;
    case 'R':
        arguments->rest_percent = (uint32_t)strtoul(value, NULL, 10);
        break;
    case 'x':
        arguments->has_streams = true;
        break;
    case 'w':
        arguments->slow_readers = (uint32_t)strtoul(value, NULL, 10);
        break;
    default:
        return false;
    }
    return true;
}

static bool parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option OPTIONS[] = {
        { "port", required_argument, NULL, 'p' },
        { "body", required_argument, NULL, 'b' },
        { "budget-ms", required_argument, NULL, 'B' },
        { "rate", required_argument, NULL, 'r' },
        { "seconds", required_argument, NULL, 's' },
        { "seed", required_argument, NULL, 'S' },
        { "timing", required_argument, NULL, 't' },
        { "engine-pid", required_argument, NULL, 'e' },
        { "engine-cpu", required_argument, NULL, 'c' },
        { "farm-pid", required_argument, NULL, 'f' },
        { "concurrency", required_argument, NULL, 'C' },
        { "streams", no_argument, NULL, 'x' },
        { "slow-readers", required_argument, NULL, 'w' },
        { "rest", required_argument, NULL, 'R' },
        { NULL, 0, NULL, 0 },
    };
    int option;

    *arguments = (struct arguments){ .budget_ms = 2000, .seconds = 10, .seed = 1, .engine_cpu = -1 };
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        if (!take_option(arguments, option, optarg)) {
            return false;
        }
    }
    return arguments->rest_percent < 100 && arguments->port != 0 && arguments->body != NULL &&
           (arguments->rate > 0 || arguments->concurrency > 0);
}

static const char *const ACCEPT[CALLER_KINDS] = {
    [CALLER_SINGLE] = "application/json",
    [CALLER_SSE] = "text/event-stream",
    [CALLER_NDJSON] = "application/x-ndjson",
};

/// The whole HTTP request: the body under the budget as a header.
static bool make_request(struct buffer *request, struct text body, enum caller_kind kind, uint64_t budget_ms)
{
    buffer_init(request, MAX_REQUEST);
    buffer_printf(request,
                  "POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: %s\r\n"
                  "Search-Budget-Ms: %llu\r\nContent-Length: %zu\r\n\r\n",
                  ACCEPT[kind], (unsigned long long)budget_ms, body.length);
    return buffer_append_text(request, body);
}

/// What is sent: by the callers of each kind, and by the slow readers.
struct requests {
    struct buffer callers[CALLER_KINDS];
    struct buffer slow[SLOW_KINDS];
};

static bool make_requests(const struct arguments *arguments, struct requests *requests)
{
    static const enum caller_kind SLOW[SLOW_KINDS] = { CALLER_SINGLE, CALLER_SSE, CALLER_SINGLE, CALLER_NDJSON };
    char bytes[64 << 10];
    FILE *file = fopen(arguments->body, "r");
    bool is_fine = file != NULL;

    if (file == NULL) {
        return false;
    }
    struct text body = { bytes, fread(bytes, 1, sizeof bytes, file) };
    fclose(file);
    for (unsigned i = 0; i < CALLER_KINDS; i++) {
        is_fine = make_request(&requests->callers[i], body, (enum caller_kind)i, arguments->budget_ms) && is_fine;
    }
    for (unsigned i = 0; i < SLOW_KINDS; i++) {
        is_fine = make_request(&requests->slow[i], body, SLOW[i], SLOW_BUDGET_MS) && is_fine;
    }
    return is_fine;
}

/// The load itself, with the slow readers beside it.
static bool run(const struct arguments *arguments, const struct requests *requests, struct client_result *result,
                struct summary *summary)
{
    struct client_options options = {
        .host = "127.0.0.1",
        .port = arguments->port,
        .has_streams = arguments->has_streams,
        .rate = arguments->rate,
        .concurrency = arguments->concurrency,
        .rest_percent = arguments->rest_percent,
        .seconds = arguments->seconds,
        .seed = arguments->seed,
        .grace_us = arguments->budget_ms * 1000 + GRACE_US,
    };
    struct slow_options slow = { .host = options.host, .port = options.port, .count = arguments->slow_readers };
    struct slow_result slow_result = { 0 };

    for (unsigned i = 0; i < CALLER_KINDS; i++) {
        options.requests[i] = buffer_text(&requests->callers[i]);
    }
    for (unsigned i = 0; i < SLOW_KINDS; i++) {
        slow.request[i] = buffer_text(&requests->slow[i]);
    }
    if (slow.count > 0 && !slow_start(&slow)) {
        return false;
    }
    bool is_fine = client_run(&options, result);
    if (slow.count > 0) {
        slow_stop(&slow_result);
    }
    summary->slow_asked = slow_result.asked;
    summary->slow_answered = slow_result.answered;
    summary->slow_cut = slow_result.cut;
    return is_fine;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct requests requests;
    struct client_result result;
    struct summary summary = { 0 };

    if (!parse_arguments(argc, argv, &arguments) || !make_requests(&arguments, &requests)) {
        fprintf(stderr, "bench_load: wrong arguments (see the top of tests/bench/load.c)\n");
        return 2;
    }
    bool has_witness = arguments.engine_cpu >= 0 && witness_start(arguments.engine_cpu);
    uint64_t engine_cpu = process_cpu_us(arguments.engine_pid);
    uint64_t farm_cpu = process_cpu_us(arguments.farm_pid);
    uint64_t began_us = clock_now_us();
    if (!run(&arguments, &requests, &result, &summary)) {
        fprintf(stderr, "bench_load: the load could not be run\n");
        return 1;
    }
    uint64_t took_us = clock_now_us() - began_us;
    summary.engine_cpu_us = process_cpu_us(arguments.engine_pid) - engine_cpu;
    summary.farm_share = (double)(process_cpu_us(arguments.farm_pid) - farm_cpu) / (double)took_us;
    summary.has_witness = has_witness;
    witness_stop();
    summary.rate = arguments.rate;
    summary.took_us = took_us;
    summary_of_client(&summary, &result, arguments.budget_ms * 1000);
    if (arguments.timing != NULL && !summary_of_timing(&summary, arguments.timing, began_us)) {
        fprintf(stderr, "bench_load: %s is no timing file of this version\n", arguments.timing);
        return 1;
    }
    summary_print(&summary, stdout);
    free(result.samples);
    for (unsigned i = 0; i < CALLER_KINDS; i++) {
        buffer_fini(&requests.callers[i]);
    }
    for (unsigned i = 0; i < SLOW_KINDS; i++) {
        buffer_fini(&requests.slow[i]);
    }
    return 0;
}
