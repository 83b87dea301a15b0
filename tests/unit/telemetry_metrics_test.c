// Metrics: counted from records, written for Prometheus.
#include "telemetry/metrics.h"

#include "model/last_known.h"

#include "telemetry/metric_names.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct text NAMES[] = { { "acme", 4 }, { "omni", 4 }, { "zeta", 4 } };
static const struct text CALLERS[] = { { "web", 3 }, { "app", 3 } };

static int setup(void **state)
{
    static const struct text tables[] = { { "properties", 10 } };
    struct metrics_options options = { .suppliers = NAMES,
                                       .supplier_count = COUNT_OF(NAMES),
                                       .thread_count = 2,
                                       .version = "1.2.3",
                                       .tables = tables,
                                       .table_count = 1,
                                       .callers = CALLERS,
                                       .caller_count = COUNT_OF(CALLERS) };
    struct metrics *metrics = NULL;
    assert_int_equal(metrics_create(&options, &metrics), STATUS_OK);
    *state = metrics;
    return 0;
}

static int teardown(void **state)
{
    struct metrics *metrics = *state;
    metrics_destroy(&metrics);
    assert_null(metrics);
    return 0;
}

static char *written(struct metrics *metrics)
{
    struct buffer out;
    buffer_init(&out, 16 << 20);
    metrics_write(metrics, &out);
    assert_false(out.is_full);
    return buffer_take(&out);
}

/// Is `line` one whole line of the text?
static void assert_line(struct metrics *metrics, const char *line)
{
    char wanted[256];
    char *text = written(metrics);
    snprintf(wanted, sizeof(wanted), "\n%s\n", line);
    if (strstr(text, wanted) == NULL) {
        fail_msg("no line `%s` in\n%s", line, text);
    }
    free(text);
}

static void assert_no(struct metrics *metrics, const char *part)
{
    char *text = written(metrics);
    if (strstr(text, part) != NULL) {
        fail_msg("`%s` stands in\n%s", part, text);
    }
    free(text);
}

static struct search_record_entry entry(const char *name, enum outcome outcome)
{
    return (struct search_record_entry){
        .name = text_of(name), .outcome = outcome, .was_asked = true, .ceiling_us = UINT64_MAX, .requests = 1
    };
}

/// A record over the given entries; sent in time.
static struct search_record record_of(struct search_record_entry *entries, size_t count)
{
    return (struct search_record){ .status = 200,
                                   .took_us = 1200000,
                                   .effective_us = 2000000,
                                   .sent_us = 1200100,
                                   .was_sent = true,
                                   .entries = entries,
                                   .entry_count = count };
}

static void each_attempt_counts_once_by_its_outcome(void **state)
{
    struct metrics *metrics = *state;
    struct search_record_entry entries[] = { entry("acme", OUTCOME_ANSWERED), entry("omni", OUTCOME_CUT),
                                             entry("zeta", OUTCOME_SKIPPED) };
    entries[0].offers = 31;
    entries[0].dropped = 2;
    entries[0].took_us = 450000;
    entries[0].requests = 3;
    entries[1].bound = BOUND_BUDGET;
    entries[1].phase = PHASE_FIRST_BYTE;
    entries[1].offers = 5; // of an attempt that did not answer: nothing
    entries[2].was_asked = false;
    entries[2].requests = 0;
    struct search_record record = record_of(entries, COUNT_OF(entries));

    metrics_count_search(metrics, &record);
    metrics_count_search(metrics, &record);
    assert_int_equal(metrics_sum(metrics, METRIC_SEARCHES), 2);
    assert_int_equal(metrics_sum(metrics, METRIC_ATTEMPTS), 6);
    assert_int_equal(metrics_sum(metrics, METRIC_ATTEMPTS_CUT), 2);
    assert_int_equal(metrics_sum(metrics, METRIC_SUPPLIER_DURATION), 2);
    assert_line(metrics, "lastcall_searches_total{status=\"200\"} 2");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"acme\",outcome=\"answered\"} 2");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"omni\",outcome=\"cut\"} 2");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"zeta\",outcome=\"skipped\"} 2");
    assert_line(metrics, "lastcall_attempts_cut_total{supplier=\"omni\",bound=\"budget\",phase=\"first_byte\"} 2");
    assert_line(metrics, "lastcall_supplier_requests_total{supplier=\"acme\"} 6");
    assert_line(metrics, "lastcall_offers_total{supplier=\"acme\"} 62");
    assert_line(metrics, "lastcall_offers_total{supplier=\"omni\"} 0");
    assert_line(metrics, "lastcall_offers_dropped_total{supplier=\"acme\"} 4");
    assert_no(metrics, "outcome=\"failed\"");
    assert_no(metrics, "supplier=\"other\"");
}

static void what_was_known_counts_apart(void **state)
{
    struct metrics *metrics = *state;
    struct search_record_entry entries[] = { entry("acme", OUTCOME_CACHED), entry("omni", OUTCOME_CUT),
                                             entry("zeta", OUTCOME_UNPARSABLE) };
    entries[0].has_last_known = entries[1].has_last_known = true;
    entries[0].last_offers = 7;
    entries[1].last_offers = 12;
    entries[2].code = TEXT(PRICE_GUARD_CODE);
    struct search_record record = record_of(entries, COUNT_OF(entries));
    record.store = (struct search_record_store){ .found = 2, .absent = 3, .faults = 4, .late = 5 };

    metrics_count_search(metrics, &record);
    assert_line(metrics, "lastcall_offers_cached_total{supplier=\"acme\"} 7");
    assert_line(metrics, "lastcall_offers_indicative_total{supplier=\"acme\"} 0");
    assert_line(metrics, "lastcall_attempts_indicative_total{supplier=\"acme\"} 0");
    assert_line(metrics, "lastcall_offers_indicative_total{supplier=\"omni\"} 12");
    assert_line(metrics, "lastcall_attempts_indicative_total{supplier=\"omni\"} 1");
    assert_line(metrics, "lastcall_answers_held_back_total{supplier=\"omni\"} 0");
    assert_line(metrics, "lastcall_answers_held_back_total{supplier=\"zeta\"} 1");
    assert_line(metrics, "lastcall_last_known_found_total 2");
    assert_line(metrics, "lastcall_last_known_absent_total 3");
    assert_line(metrics, "lastcall_last_known_faults_total 4");
    assert_line(metrics, "lastcall_last_known_late_total 5");
}

static void a_histogram_is_cumulative_and_in_seconds(void **state)
{
    struct metrics *metrics = *state;
    struct search_record record = record_of(NULL, 0);

    metrics_count_search(metrics, &record);
    record.took_us = 5000; // an edge belongs to its bucket
    metrics_count_search(metrics, &record);
    record.took_us = 60000000;
    metrics_count_search(metrics, &record);
    assert_line(metrics, "# TYPE lastcall_search_duration_seconds histogram");
    assert_line(metrics, "lastcall_search_duration_seconds_bucket{le=\"0.005\"} 1");
    assert_line(metrics, "lastcall_search_duration_seconds_bucket{le=\"1\"} 1");
    assert_line(metrics, "lastcall_search_duration_seconds_bucket{le=\"1.5\"} 2");
    assert_line(metrics, "lastcall_search_duration_seconds_bucket{le=\"10\"} 2");
    assert_line(metrics, "lastcall_search_duration_seconds_bucket{le=\"+Inf\"} 3");
    assert_line(metrics, "lastcall_search_duration_seconds_sum 61.205000");
    assert_line(metrics, "lastcall_search_duration_seconds_count 3");
    assert_line(metrics, "lastcall_supplier_duration_seconds_bucket{supplier=\"acme\",le=\"+Inf\"} 0");
    assert_line(metrics, "lastcall_supplier_duration_seconds_sum{supplier=\"acme\"} 0.000000");
}

static void late_slow_lost_and_cancelled_are_told_apart(void **state)
{
    struct metrics *metrics = *state;
    struct search_record record = record_of(NULL, 0);

    record.sent_us = record.effective_us + 1;
    metrics_count_search(metrics, &record); // late
    record.was_client_slow = true;
    metrics_count_search(metrics, &record); // slow, so not late
    record.was_sent = false;
    record.was_client_slow = false;
    metrics_count_search(metrics, &record); // lost
    record.status = 0;
    metrics_count_search(metrics, &record); // cancelled
    record.status = 418;
    record.was_sent = true;
    record.sent_us = 1;
    metrics_count_search(metrics, &record);
    assert_line(metrics, "lastcall_searches_late_total 1");
    assert_line(metrics, "lastcall_replies_client_slow_total 1");
    assert_line(metrics, "lastcall_replies_lost_total 1");
    assert_line(metrics, "lastcall_searches_total{status=\"cancelled\"} 1");
    assert_line(metrics, "lastcall_searches_total{status=\"other\"} 1");
    assert_int_equal(metrics_sum(metrics, METRIC_SEARCH_DURATION), 4);
}

static void searches_are_counted_by_the_callers_that_are_known(void **state)
{
    struct metrics *metrics = *state;
    struct search_record record = record_of(NULL, 0);

    metrics_count_search(metrics, &record);
    record.caller = TEXT("app");
    metrics_count_search(metrics, &record);
    record.status = 504;
    metrics_count_search(metrics, &record);
    record.caller = TEXT("stranger");
    metrics_count_search(metrics, &record);
    assert_line(metrics, "lastcall_searches_total{status=\"200\"} 1");
    assert_line(metrics, "lastcall_searches_total{caller=\"app\",status=\"200\"} 1");
    assert_line(metrics, "lastcall_searches_total{caller=\"app\",status=\"504\"} 1");
    assert_line(metrics, "lastcall_searches_total{status=\"504\"} 1");
    assert_no(metrics, "caller=\"web\"");
    assert_no(metrics, "stranger");
    assert_int_equal(metrics_sum(metrics, METRIC_SEARCHES), 4);
}

static void refusals_are_counted_by_status(void **state)
{
    static const uint16_t given[] = { 400, 404, 405, 413, 415, 422, 503, 504, 431, 413 };
    struct metrics *metrics = *state;

    for (size_t i = 0; i < COUNT_OF(given); i++) {
        metrics_count_refusal(metrics, given[i]);
    }
    assert_line(metrics, "lastcall_requests_refused_total{status=\"400\"} 1");
    assert_line(metrics, "lastcall_requests_refused_total{status=\"413\"} 2");
    assert_line(metrics, "lastcall_requests_refused_total{status=\"other\"} 1");
    assert_int_equal(metrics_sum(metrics, METRIC_REQUESTS_REFUSED), COUNT_OF(given));
    assert_int_equal(metrics_sum(metrics, METRIC_SEARCHES), 0);
}

static void a_name_that_is_not_configured_counts_as_other(void **state)
{
    struct metrics *metrics = *state;
    struct search_record_entry entries[] = { entry("zeta", OUTCOME_EMPTY), entry("nobody\"}", OUTCOME_EMPTY),
                                             entry("acme", OUTCOME_EMPTY) };
    struct search_record record = record_of(entries, COUNT_OF(entries));

    metrics_count_search(metrics, &record);
    assert_line(metrics, "lastcall_attempts_total{supplier=\"zeta\",outcome=\"empty\"} 1");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"other\",outcome=\"empty\"} 1");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"acme\",outcome=\"empty\"} 1");
    assert_line(metrics, "lastcall_supplier_requests_total{supplier=\"other\"} 1");
    assert_no(metrics, "nobody");
}

static void labels_are_capped(void **state)
{
    (void)state;
    static char names[METRICS_MAX_SUPPLIERS + 10][16];
    struct text texts[METRICS_MAX_SUPPLIERS + 10];
    struct metrics *metrics = NULL;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        snprintf(names[i], sizeof(names[i]), "s%05zu", i);
        texts[i] = text_of(names[i]);
    }
    struct metrics_options options = {
        .suppliers = texts, .supplier_count = COUNT_OF(texts), .thread_count = 1, .version = "x"
    };
    assert_int_equal(metrics_create(&options, &metrics), STATUS_OK);
    struct search_record_entry entries[] = { entry(names[METRICS_MAX_SUPPLIERS], OUTCOME_EMPTY) };
    struct search_record record = record_of(entries, 1);
    metrics_count_search(metrics, &record);
    assert_line(metrics, "lastcall_attempts_total{supplier=\"other\",outcome=\"empty\"} 1");
    assert_no(metrics, names[METRICS_MAX_SUPPLIERS]);
    metrics_destroy(&metrics);
}

static void samples_are_set_by_thread(void **state)
{
    struct metrics *metrics = *state;

    metrics_set(metrics, METRIC_LOOP_TURNS, 1, 17);
    metrics_set(metrics, METRIC_LOOP_TURNS, 2, 99); // no such thread
    metrics_set(metrics, METRIC_LOOP_TIMER_LATE, 0, 1500);
    metrics_set(metrics, METRIC_GENERATION, 0, 4);
    assert_line(metrics, "# TYPE lastcall_loop_turns_total counter");
    assert_line(metrics, "lastcall_loop_turns_total{thread=\"0\"} 0");
    assert_line(metrics, "lastcall_loop_turns_total{thread=\"1\"} 17");
    assert_line(metrics, "lastcall_loop_timer_late_max_seconds{thread=\"0\"} 0.001500");
    assert_line(metrics, "lastcall_generation 4");
    assert_line(metrics, "lastcall_build_info{version=\"1.2.3\"} 1");
    assert_no(metrics, " 99\n");
}

static void samples_of_suppliers_without_a_line_add_up(void **state)
{
    static const struct text names[] = { { "acme", 4 }, { "beta", 4 }, { "zeta", 4 }, { "yoke", 4 } };
    static const uint64_t cpu_us[] = { 1500000, 20, 3, 4 };
    struct metrics *metrics = *state;

    for (int i = 0; i < 2; i++) { // set, not added
        metrics_set_suppliers(metrics, METRIC_SCRIPT_CPU, names, cpu_us, COUNT_OF(names));
    }
    assert_line(metrics, "# TYPE lastcall_script_cpu_seconds_total counter");
    assert_line(metrics, "lastcall_script_cpu_seconds_total{supplier=\"acme\"} 1.500000");
    assert_line(metrics, "lastcall_script_cpu_seconds_total{supplier=\"omni\"} 0.000000");
    assert_line(metrics, "lastcall_script_cpu_seconds_total{supplier=\"zeta\"} 0.000003");
    assert_line(metrics, "lastcall_script_cpu_seconds_total{supplier=\"other\"} 0.000024");
}

static void every_metric_is_told_with_its_help_and_type(void **state)
{
    static const char *const names[] = {
#define X(symbol, name, type, labels, about) name,
#include "telemetry/metrics.def"
#undef X
    };
    char *text = written(*state);

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char wanted[128];
        snprintf(wanted, sizeof(wanted), "# HELP lastcall_%s ", names[i]);
        assert_non_null(strstr(text, wanted));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(names[i], names[j]);
        }
    }
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
}

enum { COUNTERS = 4, ROUNDS = 20000 };

static void *count_much(void *argument)
{
    struct search_record_entry entries[] = { entry("acme", OUTCOME_ANSWERED) };
    struct search_record record = record_of(entries, 1);

    for (int i = 0; i < ROUNDS; i++) {
        metrics_count_search(argument, &record);
    }
    return NULL;
}

static void several_threads_lose_nothing(void **state)
{
    pthread_t threads[COUNTERS];

    for (int i = 0; i < COUNTERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_much, *state), 0);
    }
    free(written(*state)); // reading disturbs nobody
    for (int i = 0; i < COUNTERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(metrics_sum(*state, METRIC_SEARCHES), COUNTERS * ROUNDS);
    assert_int_equal(metrics_sum(*state, METRIC_ATTEMPTS), COUNTERS * ROUNDS);
}

static void misses_are_told_by_table(void **state)
{
    struct metrics *metrics = *state;

    assert_line(metrics, "lastcall_lookup_misses_total{table=\"properties\"} 0");
    metrics_set_table(metrics, METRIC_LOOKUP_MISSES, TEXT("properties"), 12);
    metrics_set_table(metrics, METRIC_LOOKUP_MISSES, TEXT("unheard"), 5); // there is no such table
    assert_line(metrics, "lastcall_lookup_misses_total{table=\"properties\"} 12");
    assert_int_equal(metrics_sum(metrics, METRIC_LOOKUP_MISSES), 12);
}

static void count_one(struct metrics *metrics, const char *name)
{
    struct search_record_entry entries[] = { entry(name, OUTCOME_EMPTY) };
    struct search_record record = record_of(entries, 1);

    metrics_count_search(metrics, &record);
}

static void names_come_and_go_and_those_that_are_gone_keep_their_lines(void **state)
{
    static const struct text names[] = { TEXT("beta"), TEXT("zeta") };
    static const struct text tables[] = { TEXT("airports") };
    struct metrics *metrics = *state;

    count_one(metrics, "acme");
    count_one(metrics, "beta"); // nobody's yet
    metrics_name(metrics, METRIC_NAMES_SUPPLIERS, names, COUNT_OF(names));
    metrics_name(metrics, METRIC_NAMES_TABLES, tables, COUNT_OF(tables));
    count_one(metrics, "beta");
    count_one(metrics, "acme"); // a search of the generation before
    metrics_set_table(metrics, METRIC_LOOKUP_MISSES, TEXT("airports"), 3);
    assert_line(metrics, "lastcall_attempts_total{supplier=\"beta\",outcome=\"empty\"} 1");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"acme\",outcome=\"empty\"} 2");
    assert_line(metrics, "lastcall_attempts_total{supplier=\"other\",outcome=\"empty\"} 1");
    assert_line(metrics, "lastcall_offers_total{supplier=\"beta\"} 0");
    assert_line(metrics, "lastcall_lookup_misses_total{table=\"airports\"} 3");
    assert_line(metrics, "lastcall_lookup_misses_total{table=\"properties\"} 0");
    metrics_name(metrics, METRIC_NAMES_SUPPLIERS, NAMES, COUNT_OF(NAMES));
    count_one(metrics, "acme"); // back, and counting on
    assert_line(metrics, "lastcall_attempts_total{supplier=\"acme\",outcome=\"empty\"} 3");
}

static void a_counter_goes_on_when_what_it_is_taken_from_begins_anew(void **state)
{
    static const uint64_t values[] = { 40, 45, 2, 5, 0, 7 };
    static const char *const lines[] = { "40", "45", "47", "50", "50", "57" };
    struct metrics *metrics = *state;

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char line[128];
        metrics_set_suppliers(metrics, METRIC_SCRIPT_DRIFT, NAMES, &values[i], 1);
        metrics_set_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[i], 1);
        snprintf(line, sizeof(line), "lastcall_script_drift_total{supplier=\"acme\"} %s", lines[i]);
        assert_line(metrics, line);
        snprintf(line, sizeof(line), "lastcall_script_limits_total{supplier=\"acme\",limit=\"time\"} %s", lines[i]);
        assert_line(metrics, line);
    }
}

static void what_ran_before_and_runs_again_is_not_counted_twice(void **state)
{
    static const uint64_t values[] = { 50, 0, 3, 50, 52 };
    struct metrics *metrics = *state;

    metrics_set_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[0], 1);
    metrics_begin_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[1], 1); // another version
    metrics_set_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[2], 1);
    metrics_begin_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[3], 1); // the first again
    metrics_set_limits(metrics, METRIC_SCRIPT_LIMITS, SCRIPT_LIMIT_TIME, NAMES, &values[4], 1);
    assert_line(metrics, "lastcall_script_limits_total{supplier=\"acme\",limit=\"time\"} 55");
    metrics_set_suppliers(metrics, METRIC_SCRIPT_DRIFT, NAMES, &values[4], 1);
    metrics_begin_suppliers(metrics, METRIC_SCRIPT_DRIFT, NAMES, &values[2], 1);
    metrics_set_suppliers(metrics, METRIC_SCRIPT_DRIFT, NAMES, &values[0], 1);
    assert_line(metrics, "lastcall_script_drift_total{supplier=\"acme\"} 99");
    metrics_set_table(metrics, METRIC_LOOKUP_MISSES, TEXT("properties"), 12);
    metrics_begin_table(metrics, METRIC_LOOKUP_MISSES, TEXT("properties"), 4);
    metrics_set_table(metrics, METRIC_LOOKUP_MISSES, TEXT("properties"), 13);
    assert_line(metrics, "lastcall_lookup_misses_total{table=\"properties\"} 21");
}

static void a_gauge_of_a_supplier_that_is_gone_is_nothing(void **state)
{
    static const uint64_t values[] = { 4, 5, 6 };
    struct metrics *metrics = *state;

    metrics_set_suppliers(metrics, METRIC_SUPPLIER_RUNNING, NAMES, values, 3);
    metrics_set_suppliers(metrics, METRIC_SUPPLIER_RUNNING, NAMES, values, 2);
    assert_line(metrics, "lastcall_supplier_requests_running{supplier=\"omni\"} 5");
    assert_line(metrics, "lastcall_supplier_requests_running{supplier=\"zeta\"} 0");
}

static void only_full_lines_are_given_away_and_no_sum_falls(void **state)
{
    static char names[METRICS_MAX_SUPPLIERS][16];
    static struct text texts[METRICS_MAX_SUPPLIERS];
    struct metrics *metrics = *state;
    uint64_t limits = 9;
    uint64_t running = 3;

    count_one(metrics, "acme");
    metrics_set_suppliers(metrics, METRIC_SUPPLIER_KEPT_IN, NAMES, &limits, 1);
    metrics_set_suppliers(metrics, METRIC_SUPPLIER_RUNNING, NAMES, &running, 1);
    uint64_t buckets = metrics_sum(metrics, METRIC_SUPPLIER_DURATION);
    for (unsigned round = 0; round < 6; round++) {
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            snprintf(names[i], sizeof(names[i]), "r%us%zu", round, i);
            texts[i] = text_of(names[i]);
        }
        metrics_name(metrics, METRIC_NAMES_SUPPLIERS, texts, COUNT_OF(texts));
        count_one(metrics, names[0]);
        assert_int_equal(metrics_sum(metrics, METRIC_ATTEMPTS), round + 2);
        assert_int_equal(metrics_sum(metrics, METRIC_SUPPLIER_KEPT_IN), 9);
        assert_int_equal(metrics_sum(metrics, METRIC_SUPPLIER_RUNNING), 0);
        assert_int_equal(metrics_sum(metrics, METRIC_SUPPLIER_DURATION), buckets + round + 1);
        assert_no(metrics, "supplier=\"acme\"");
    }
    assert_line(metrics, "lastcall_supplier_requests_kept_in_total{supplier=\"other\"} 9");
    for (size_t i = COUNT_OF(names) / 2; i < COUNT_OF(names); i++) { // half of them go
        snprintf(names[i], sizeof(names[i]), "last%zu", i);
        texts[i] = text_of(names[i]);
    }
    metrics_name(metrics, METRIC_NAMES_SUPPLIERS, texts, COUNT_OF(texts));
    assert_line(metrics, "lastcall_attempts_total{supplier=\"r5s0\",outcome=\"empty\"} 1"); // and not this one
    count_one(metrics, names[COUNT_OF(names) - 1]);
    assert_line(metrics, "lastcall_attempts_total{supplier=\"last511\",outcome=\"empty\"} 1");
}

static void there_is_an_end_to_names(void **state)
{
    struct metrics *metrics = *state;
    char name[32] = "";

    for (unsigned i = 0; i < METRIC_NAMES_EVER + 50; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        const struct text only = text_of(name);
        metrics_name(metrics, METRIC_NAMES_SUPPLIERS, &only, 1);
        count_one(metrics, name);
    }
    assert_int_equal(metrics_sum(metrics, METRIC_ATTEMPTS), METRIC_NAMES_EVER + 50);
    assert_no(metrics, name); // too late for a line: it counts among the others
}

static void *name_much(void *argument)
{
    unsigned seed = 5;

    for (int i = 0; i < ROUNDS / 20; i++) {
        static const struct text names[] = { { "acme", 4 }, { "beta", 4 }, { "omni", 4 }, { "zeta", 4 } };
        seed = seed * 1103515245U + 12345U;
        metrics_name(argument, METRIC_NAMES_SUPPLIERS, names + (seed >> 16) % 2, 1 + (seed >> 18) % 3);
    }
    return NULL;
}

static void naming_disturbs_no_counting(void **state)
{
    pthread_t threads[2];

    assert_int_equal(pthread_create(&threads[0], NULL, count_much, *state), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, name_much, *state), 0);
    free(written(*state));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(metrics_sum(*state, METRIC_ATTEMPTS), ROUNDS);
}

static void what_went_on_counts_apart_but_for_its_requests(void **state)
{
    struct search_record *record = search_record_create(1, 64);

    assert_non_null(record);
    record->kind = RECORD_LATE;
    record->late = (struct search_record_late){ 140000, true, 3, 1 };
    record->entries[0].name = search_record_keep(record, TEXT("acme"));
    record->entries[0].outcome = OUTCOME_ANSWERED;
    record->entries[0].offers = 12;
    record->entries[0].requests = 2;
    record->entries[0].was_asked = true;
    metrics_count_search(*state, record);
    record->late.is_compared = false;
    record->entries[0].outcome = OUTCOME_EMPTY;
    record->entries[0].offers = 0;
    metrics_count_search(*state, record);
    record->entries[0].outcome = OUTCOME_CUT;
    metrics_count_search(*state, record);
    record->kind = RECORD_PROBE;
    metrics_count_search(*state, record);
    assert_line(*state, "lastcall_supplier_requests_total{supplier=\"acme\"} 8");
    assert_line(*state, "lastcall_attempts_lingered_total{supplier=\"acme\",outcome=\"answered\"} 1");
    assert_line(*state, "lastcall_attempts_lingered_total{supplier=\"acme\",outcome=\"cut\"} 1");
    assert_line(*state, "lastcall_supplier_probes_total{supplier=\"acme\",outcome=\"cut\"} 1");
    assert_line(*state, "lastcall_attempts_late_by_seconds_count{supplier=\"acme\"} 2");
    assert_line(*state, "lastcall_late_offers_total{supplier=\"acme\"} 12");
    assert_line(*state, "lastcall_late_new_items_total{supplier=\"acme\"} 3");
    assert_line(*state, "lastcall_late_cheapest_items_total{supplier=\"acme\"} 1");
    assert_int_equal(metrics_sum(*state, METRIC_ATTEMPTS), 0);
    assert_int_equal(metrics_sum(*state, METRIC_SEARCHES), 0);
    assert_int_equal(metrics_sum(*state, METRIC_OFFERS), 0);
    search_record_destroy(&record);
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(misses_are_told_by_table),
        PLAY(each_attempt_counts_once_by_its_outcome),
        PLAY(what_was_known_counts_apart),
        PLAY(what_went_on_counts_apart_but_for_its_requests),
        PLAY(a_histogram_is_cumulative_and_in_seconds),
        PLAY(late_slow_lost_and_cancelled_are_told_apart),
        PLAY(searches_are_counted_by_the_callers_that_are_known),
        PLAY(refusals_are_counted_by_status),
        PLAY(a_name_that_is_not_configured_counts_as_other),
        cmocka_unit_test(labels_are_capped),
        PLAY(samples_are_set_by_thread),
        PLAY(samples_of_suppliers_without_a_line_add_up),
        PLAY(every_metric_is_told_with_its_help_and_type),
        PLAY(several_threads_lose_nothing),
        PLAY(names_come_and_go_and_those_that_are_gone_keep_their_lines),
        PLAY(a_counter_goes_on_when_what_it_is_taken_from_begins_anew),
        PLAY(what_ran_before_and_runs_again_is_not_counted_twice),
        PLAY(a_gauge_of_a_supplier_that_is_gone_is_nothing),
        PLAY(only_full_lines_are_given_away_and_no_sum_falls),
        PLAY(there_is_an_end_to_names),
        PLAY(naming_disturbs_no_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
