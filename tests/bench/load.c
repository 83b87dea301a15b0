// bench_load: one cell of a benchmark: a load on a running engine, and what came of it as one JSON object.
//
//   bench_load --port 8080 --body FILE --budget-ms 2000 --rate 50 --seconds 20 [--seed 1] [--timing FILE]
//              [--engine-pid PID --engine-cpu N] [--farm-pid PID] [--concurrency N (closed mode, without --rate)]
#include "app/timing.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "bench/client.h"
#include "bench/process.h"
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
    uint32_t concurrency;
    int engine_pid, engine_cpu, farm_pid;
};

static bool parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option OPTIONS[] = {
        { "port", required_argument, NULL, 'p' },        { "body", required_argument, NULL, 'b' },
        { "budget-ms", required_argument, NULL, 'B' },   { "rate", required_argument, NULL, 'r' },
        { "seconds", required_argument, NULL, 's' },     { "seed", required_argument, NULL, 'S' },
        { "timing", required_argument, NULL, 't' },      { "engine-pid", required_argument, NULL, 'e' },
        { "engine-cpu", required_argument, NULL, 'c' },  { "farm-pid", required_argument, NULL, 'f' },
        { "concurrency", required_argument, NULL, 'C' }, { NULL, 0, NULL, 0 },
    };
    int option;

    *arguments = (struct arguments){ .budget_ms = 2000, .seconds = 10, .seed = 1, .engine_cpu = -1 };
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (option) {
        case 'p':
            arguments->port = (uint16_t)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            arguments->body = optarg;
            break;
        case 'B':
            arguments->budget_ms = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            arguments->rate = strtod(optarg, NULL);
            break;
        case 's':
            arguments->seconds = strtod(optarg, NULL);
            break;
        case 'S':
            arguments->seed = strtoull(optarg, NULL, 10);
            break;
        case 't':
            arguments->timing = optarg;
            break;
        case 'e':
            arguments->engine_pid = (int)strtol(optarg, NULL, 10);
            break;
        case 'c':
            arguments->engine_cpu = (int)strtol(optarg, NULL, 10);
            break;
        case 'f':
            arguments->farm_pid = (int)strtol(optarg, NULL, 10);
            break;
        case 'C':
            arguments->concurrency = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    return arguments->port != 0 && arguments->body != NULL && (arguments->rate > 0 || arguments->concurrency > 0);
}

/// The whole HTTP request: the file's body under the budget as a header.
static bool make_request(const struct arguments *arguments, struct buffer *request)
{
    char body[64 << 10];
    FILE *file = fopen(arguments->body, "r");
    size_t length = 0;

    if (file == NULL) {
        return false;
    }
    length = fread(body, 1, sizeof body, file);
    fclose(file);
    buffer_init(request, MAX_REQUEST);
    buffer_printf(request,
                  "POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
                  "Search-Budget-Ms: %llu\r\nContent-Length: %zu\r\n\r\n",
                  arguments->port, (unsigned long long)arguments->budget_ms, length);
    return buffer_append(request, body, length);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct buffer request;
    struct client_result result;
    struct summary summary = { 0 };

    if (!parse_arguments(argc, argv, &arguments) || !make_request(&arguments, &request)) {
        fprintf(stderr, "bench_load: wrong arguments (see the top of tests/bench/load.c)\n");
        return 2;
    }
    struct client_options options = {
        .host = "127.0.0.1",
        .port = arguments.port,
        .request = buffer_text(&request),
        .rate = arguments.rate,
        .concurrency = arguments.concurrency,
        .seconds = arguments.seconds,
        .seed = arguments.seed,
        .grace_us = arguments.budget_ms * 1000 + GRACE_US,
    };
    bool has_witness = arguments.engine_cpu >= 0 && witness_start(arguments.engine_cpu);
    uint64_t engine_cpu = process_cpu_us(arguments.engine_pid);
    uint64_t farm_cpu = process_cpu_us(arguments.farm_pid);
    uint64_t began_us = clock_now_us();
    if (!client_run(&options, &result)) {
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
    buffer_fini(&request);
    return 0;
}
