// bench_policy: plays the trace of one seed for every row, and prints what came of it as a JSON array.
//
//   bench_policy --population FILE --ordinary FILE --grid FILE --seed N [--searches N] [--row BEGIN] [--no-grid]
//
// The ordinary population is what static time-outs are read from. --row: of rows whose names begin so.
#include "bench/policy/figures.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 1 << 20 };

struct arguments {
    const char *population, *ordinary, *grid, *row;
    uint64_t seed;
    uint32_t searches;
    bool has_no_grid;
};

static bool parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option OPTIONS[] = {
        { "population", required_argument, NULL, 'p' }, { "ordinary", required_argument, NULL, 'o' },
        { "grid", required_argument, NULL, 'g' },       { "seed", required_argument, NULL, 's' },
        { "searches", required_argument, NULL, 'n' },   { "row", required_argument, NULL, 'r' },
        { "no-grid", no_argument, NULL, 'x' },          { NULL, 0, NULL, 0 },
    };
    int option;

    *arguments = (struct arguments){ .seed = 1 };
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (option) {
        case 'p':
            arguments->population = optarg;
            break;
        case 'o':
            arguments->ordinary = optarg;
            break;
        case 'g':
            arguments->grid = optarg;
            break;
        case 's':
            arguments->seed = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            arguments->searches = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            arguments->row = optarg;
            break;
        case 'x':
            arguments->has_no_grid = true;
            break;
        default:
            return false;
        }
    }
    return arguments->population != NULL && arguments->ordinary != NULL && arguments->grid != NULL && optind == argc;
}

static bool is_wanted(const struct arguments *arguments, const struct row *row)
{
    bool is_of_grid = strcmp(row->group, "table") != 0;
    return !(is_of_grid && arguments->has_no_grid) &&
           (arguments->row == NULL || strncmp(arguments->row, row->name, strlen(arguments->row)) == 0);
}

static bool play_rows(const struct arguments *arguments, const struct trace *trace, const struct history *history,
                      struct json_writer *json)
{
    static struct row rows[ROWS_MAX];
    size_t count;

    if (!rows_make(arguments->grid, rows, &count)) {
        fprintf(stderr, "bench_policy: %s cannot be read\n", arguments->grid);
        return false;
    }
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        struct figures figures;
        if (!is_wanted(arguments, &rows[i])) {
            continue;
        }
        if (figures_of(trace, &rows[i], history, &figures) != STATUS_OK) {
            fprintf(stderr, "bench_policy: out of memory\n");
            return false;
        }
        json_begin_object(json);
        json_field_c(json, "row", rows[i].name);
        json_field_c(json, "group", rows[i].group);
        json_field_u64(json, "knob", (uint64_t)rows[i].knob);
        json_field_u64(json, "seed", trace->seed);
        figures_write(&figures, json);
        json_end_object(json);
    }
    json_end_array(json);
    return true;
}

int main(int argc, char **argv)
{
    static struct population population, ordinary;
    static struct history history;
    struct arguments arguments;
    struct population_error error;
    struct trace *trace;
    struct buffer output;
    struct json_writer json;

    if (!parse_arguments(argc, argv, &arguments)) {
        fprintf(stderr, "usage: bench_policy --population FILE --ordinary FILE --grid FILE --seed N [--searches N] "
                        "[--row BEGIN] [--no-grid]\n");
        return 2;
    }
    if (!population_read(arguments.population, &population, &error) ||
        !population_read(arguments.ordinary, &ordinary, &error)) {
        fprintf(stderr, "bench_policy: %s\n", error.text);
        return 2;
    }
    if (history_read(&ordinary, &history) != STATUS_OK ||
        trace_create(&population, arguments.seed, arguments.searches, &trace) != STATUS_OK) {
        fprintf(stderr, "bench_policy: out of memory\n");
        return 1;
    }
    buffer_init(&output, OUTPUT_MAX);
    json_writer_init(&json, &output);
    bool is_good = play_rows(&arguments, trace, &history, &json);
    if (is_good) {
        printf("%.*s\n", TEXT_ARGS(buffer_text(&output)));
    }
    buffer_fini(&output);
    trace_destroy(&trace);
    return is_good ? 0 : 1;
}
