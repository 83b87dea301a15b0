#include "app/admin_view.h"

#include "app/admin_view_overload.h"
#include "app/login_book.h"
#include "app/nodes.h"
#include "app/permits.h"
#include "app/reload.h"
#include "app/store_desk.h"
#include "app/suppliers_view.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/data_set.h"
#include "script/drift.h"
#include "script/rates.h"
#include "script/script_set.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"

#include <stdlib.h>

/// Of those that run; a version that was gone back from is in quarantine no more.
static size_t count_quarantined(const struct script_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < script_set_product_count(set); i++) {
        count += script_set_is_quarantined(set, (struct script_id){ .is_product = true, .index = i }) ? 1 : 0;
    }
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        count += script_set_is_quarantined(set, (struct script_id){ .index = i }) ? 1 : 0;
    }
    return count;
}

static void write_scripts(struct engine *engine, const struct catalogue *catalogue, struct json_writer *json)
{
    struct worker_pool_counts counts;

    worker_pool_counts(engine->workers, &counts);
    json_key(json, "script_threads");
    json_begin_object(json);
    json_field_u64(json, "workers", counts.workers);
    json_field_u64(json, "lost", counts.lost);
    json_field_u64(json, "quarantined", count_quarantined(catalogue->set));
    json_field_u64(json, "queued", counts.queued);
    json_field_u64(json, "states", counts.states);
    json_end_object(json);
}

static void write_attribution(struct engine *engine, struct json_writer *json)
{
    struct text path = engine->settings->attribution_file;
    struct attribution_counts counts;

    attribution_counts(engine->attribution, &counts);
    json_key(json, "attribution");
    json_begin_object(json);
    if (path.data != NULL) {
        json_field_text(json, "file", path);
    }
    json_field_u64(json, "written", counts.written);
    json_field_u64(json, "dropped", counts.dropped);
    json_field_u64(json, "failed", counts.failed);
    json_field_u64(json, "kept", counts.kept);
    json_end_object(json);
}

/// The field `quarantined` with the reason, when the script is in quarantine. Catalogue and set have one order.
static void write_quarantine(const struct catalogue *catalogue, struct script_id script, struct json_writer *json)
{
    char why[256];

    if (script_set_tell_quarantine(catalogue->set, script, why, sizeof(why))) {
        json_field_c(json, "quarantined", why);
    }
}

static void write_drifting(void *context, const char *path, uint64_t since_wall_us)
{
    struct json_writer *json = context;
    char since[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(since_wall_us, since);

    json_begin_object(json);
    json_field_c(json, "path", path);
    json_field_text(json, "since", (struct text){ since, length });
    json_end_object(json);
}

static void count_drifting(void *context, const char *path, uint64_t since_wall_us)
{
    (void)path;
    (void)since_wall_us;
    (*(size_t *)context)++;
}

/// The field `drift` with the paths that have stopped appearing, when there are any.
static void write_drift(const struct drift *drift, struct json_writer *json)
{
    size_t count = 0;

    drift_list(drift, count_drifting, &count);
    if (count > 0) {
        json_key(json, "drift");
        json_begin_array(json);
        drift_list(drift, write_drifting, json);
        json_end_array(json);
    }
}

/// The field `limits` with those that the script has met, when there are any.
static void write_limits(const struct catalogue *catalogue, struct script_id script, struct json_writer *json)
{
    bool has_any = false;

    for (size_t i = 0; i < SCRIPT_LIMIT_COUNT; i++) {
        uint64_t times = script_set_limit_count(catalogue->set, script, (enum script_limit)i);
        if (times == 0) {
            continue;
        }
        if (!has_any) {
            json_key(json, "limits");
            json_begin_object(json);
            has_any = true;
        }
        json_field_u64(json, script_limit_name((enum script_limit)i), times);
    }
    if (has_any) {
        json_end_object(json);
    }
}

static void write_products(const struct catalogue *catalogue, struct json_writer *json)
{
    json_key(json, "products");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue->product_count; i++) {
        json_begin_object(json);
        json_field_text(json, "name", catalogue->products[i]);
        write_quarantine(catalogue, (struct script_id){ .is_product = true, .index = i }, json);
        write_limits(catalogue, (struct script_id){ .is_product = true, .index = i }, json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_count(struct json_writer *json, const char *name, uint64_t count)
{
    if (count > 0) {
        json_field_u64(json, name, count);
    }
}

static void write_auth(const struct permits_view *view, struct json_writer *json)
{
    json_key(json, "auth");
    json_begin_object(json);
    json_field_c(json, "state", !view->is_parked ? "taken" : view->parked_us > 0 ? "parked" : "probing");
    json_field_u64(json, "parks", view->auth_parks);
    if (view->parked_us > 0) {
        json_field_u64(json, "retry_in_ms", view->parked_us / 1000);
    }
    json_end_object(json);
}

static void write_kinds(struct json_writer *json, const char *name, const uint64_t *counts)
{
    json_key(json, name);
    json_begin_object(json);
    for (enum extra_kind kind = EXTRA_RETRY; kind < EXTRA_KINDS; kind++) {
        json_field_u64(json, extra_kind_name(kind), counts[kind]);
    }
    json_end_object(json);
}

/// Calls that were made twice, and why others were not.
static void write_extra(const struct extra_counts *counts, struct json_writer *json)
{
    json_key(json, "extra_calls");
    json_begin_object(json);
    write_kinds(json, "sent", counts->sent);
    write_kinds(json, "won", counts->won);
    write_kinds(json, "wasted", counts->wasted);
    json_key(json, "refused");
    json_begin_object(json);
    for (enum extra_answer answer = EXTRA_YES + 1; answer <= EXTRA_ALLOWANCE; answer++) {
        if (counts->refused[answer] > 0) {
            json_field_u64(json, extra_answer_name(answer), counts->refused[answer]);
        }
    }
    json_end_object(json);
    json_end_object(json);
}

/// What an account may be asked, how much of it is used, and until when the supplier wants nothing of it.
static void write_account(struct engine *engine, const struct catalogue_supplier *supplier,
                          const struct script_account *account, struct json_writer *json)
{
    struct permits_view view;
    char until[CLOCK_UTC_SIZE];

    permits_look(engine->permits, account, &view);
    json_begin_object(json);
    json_field_text(json, "name", account->name);
    (void)suppliers_view_switch(engine, supplier->name, account->name, json);
    suppliers_view_health(&view, json);
    write_auth(&view, json);
    write_extra(&view.extra, json);
    json_key(json, "limits");
    json_begin_object(json);
    write_count(json, "rps", view.limits.per_second);
    write_count(json, "per_minute", view.limits.per_minute);
    write_count(json, "per_day", view.limits.per_day);
    write_count(json, "concurrent", view.limits.concurrent);
    write_count(json, "body", account->body_cap);
    json_end_object(json);
    json_key(json, "used");
    json_begin_object(json);
    json_field_u64(json, "second", view.used[QUOTA_SECOND]);
    json_field_u64(json, "minute", view.used[QUOTA_MINUTE]);
    json_field_u64(json, "day", view.used[QUOTA_DAY]);
    json_field_u64(json, "running", view.running);
    write_count(json, "bearable", view.concurrency);
    json_end_object(json);
    json_field_u64(json, "looks", view.looks);
    json_field_u64(json, "kept_in", view.refused_by_rate + view.refused_by_block + view.refused_by_number);
    if (view.blocked_us > 0) {
        clock_print_utc(clock_wall_us() + view.blocked_us, until);
        json_field_c(json, "blocked_until", until);
    }
    json_end_object(json);
}

static void write_accounts(struct engine *engine, const struct catalogue_supplier *supplier, struct json_writer *json)
{
    json_key(json, "accounts");
    json_begin_array(json);
    for (size_t i = 0; i < supplier->account_count; i++) {
        write_account(engine, supplier, &supplier->account[i], json);
    }
    json_end_array(json);
}

/// The modes of a supplier's accounts when some are not live: "dark 5%", or each by its name: "uk test, main live".
static void write_modes(const struct catalogue_supplier *supplier, struct json_writer *json)
{
    struct buffer words;
    bool has_dark = false;
    bool is_live = true;

    buffer_init(&words, 4096);
    for (size_t i = 0; i < supplier->account_count; i++) {
        const struct script_account *account = &supplier->account[i];
        is_live = is_live && account->mode == MODE_LIVE;
        has_dark = has_dark || account->mode == MODE_DARK;
        buffer_printf(&words, "%s%.*s %s", i > 0 ? ", " : "", TEXT_ARGS(account->name), mode_name(account->mode));
    }
    if (!is_live && supplier->mode != MODE_LIVE) {
        buffer_clear(&words);
        buffer_append_c(&words, mode_name(supplier->mode));
    }
    if (has_dark) {
        buffer_printf(&words, " %.10g%%", (double)supplier->traffic / 10000.0);
    }
    if (!is_live) {
        json_field_text(json, "mode", buffer_text(&words));
    }
    buffer_fini(&words);
}

/// The field `login` of a supplier whose accounts log in.
static void write_login(struct engine *engine, const struct catalogue_supplier *supplier, struct json_writer *json)
{
    if (supplier->account->login == 0) {
        return;
    }
    struct login_counts counts = login_book_counts(engine->logins, supplier);
    json_key(json, "login");
    json_begin_object(json);
    json_field_u64(json, "accounts", supplier->account_count);
    json_field_u64(json, "held", counts.held);
    json_field_u64(json, "made", counts.made);
    json_field_u64(json, "renewed", counts.renewed);
    json_field_u64(json, "failed", counts.failed);
    json_field_u64(json, "refused", counts.refused);
    json_field_u64(json, "waiting", counts.waiting);
    json_end_object(json);
}

/// The field `trial` of a supplier whose version is a new one: how it fares, and how long that matters.
static void write_trial(struct engine *engine, const struct generation *generation, size_t supplier,
                        struct json_writer *json)
{
    const struct catalogue *catalogue = generation_catalogue(generation);
    const struct settings *settings = generation_settings(generation);
    struct script_trial seen;

    if (!reload_is_on_trial(engine->reload, catalogue->suppliers[supplier].script)) {
        return;
    }
    script_set_trial(catalogue->set, (struct script_id){ .index = supplier }, &seen);
    json_key(json, "trial");
    json_begin_object(json);
    json_field_u64(json, "calls", seen.calls);
    json_field_u64(json, "errors", seen.errors);
    json_field_u64(json, "of_calls", settings->reload_trial_calls);
    json_field_u64(json, "lost_at_errors", settings->reload_trial_errors);
    json_end_object(json);
}

static void write_suppliers(struct engine *engine, const struct generation *generation, struct json_writer *json)
{
    const struct catalogue *catalogue = generation_catalogue(generation);

    json_key(json, "suppliers");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        json_begin_object(json);
        json_field_text(json, "name", supplier->name);
        json_field_text(json, "product", supplier->product);
        json_field_text(json, "script", supplier->script);
        json_field_bool(json, "enabled", supplier->is_enabled);
        if (!supplier->is_enabled && supplier->because.length > 0) {
            json_field_text(json, "because", supplier->because);
        }
        (void)suppliers_view_switch(engine, supplier->name, (struct text){ 0 }, json);
        write_modes(supplier, json);
        write_quarantine(catalogue, (struct script_id){ .index = i }, json);
        write_trial(engine, generation, i, json);
        write_accounts(engine, supplier, json);
        write_login(engine, supplier, json);
        write_limits(catalogue, (struct script_id){ .index = i }, json);
        write_drift(script_set_drift(catalogue->set, i), json);
        json_end_object(json);
    }
    json_end_array(json);
}

void admin_view_status(struct engine *engine, struct json_writer *json)
{
    struct generation *generation = engine_generation(engine); // kept while it is told of
    const struct catalogue *catalogue = generation_catalogue(generation);
    const char *because = NULL;
    bool is_ready = engine_is_ready(engine, &because);

    json_begin_object(json);
    json_field_c(json, "version", LASTCALL_VERSION);
    json_field_u64(json, "generation", catalogue->generation);
    json_field_u64(json, "uptime_s", (clock_now_us() - engine->started_us) / 1000000);
    json_field_u64(json, "searches", metrics_sum(engine->metrics, METRIC_SEARCHES));
    json_field_bool(json, "ready", is_ready);
    if (!is_ready) {
        struct text rest;
        json_field_text(json, "because", text_split(text_of(because), '\n', &rest));
    }
    json_field_bool(json, "draining", atomic_load(&engine->is_draining));
    write_scripts(engine, catalogue, json);
    admin_view_write_overload(engine, catalogue, json);
    write_attribution(engine, json);
    store_desk_write(engine->store, engine->settings, json);
    write_products(catalogue, json);
    write_suppliers(engine, generation, json);
    nodes_write(engine, json);
    reload_write_status(engine->reload, json);
    json_end_object(json);
    generation_release(&generation);
}

static void sample_scripts(struct engine *engine, const struct catalogue *catalogue)
{
    struct worker_pool_counts counts;

    worker_pool_counts(engine->workers, &counts);
    metrics_set(engine->metrics, METRIC_SCRIPT_CALLS, 0, counts.calls);
    metrics_set(engine->metrics, METRIC_SCRIPT_ERRORS, 0, counts.errors);
    metrics_set(engine->metrics, METRIC_SCRIPT_TIMEOUTS, 0, counts.timeouts);
    metrics_set(engine->metrics, METRIC_SCRIPT_MEMORY, 0, counts.memory);
    metrics_set(engine->metrics, METRIC_SCRIPT_DROPPED, 0, counts.dropped);
    metrics_set(engine->metrics, METRIC_SCRIPT_WORKERS, 0, counts.workers);
    metrics_set(engine->metrics, METRIC_SCRIPT_LOST, 0, counts.lost);
    metrics_set(engine->metrics, METRIC_SCRIPT_QUARANTINED, 0, count_quarantined(catalogue->set));
    metrics_set(engine->metrics, METRIC_SCRIPT_QUEUED, 0, counts.queued);
    metrics_set(engine->metrics, METRIC_SCRIPT_STATES, 0, counts.states);
    metrics_set(engine->metrics, METRIC_SCRIPT_LOADS, 0, counts.loads);
}

static void sample_reloads(struct engine *engine)
{
    struct reload_answer *standing = reload_standing(engine->reload);

    for (size_t i = 0; i < RELOAD_OUTCOME_COUNT; i++) {
        metrics_set(engine->metrics, METRIC_RELOADS, i, reload_count(engine->reload, (enum reload_outcome)i));
    }
    metrics_set(engine->metrics, METRIC_RELOAD_KEPT, 0, standing != NULL ? standing->kept_count : 0);
    metrics_set(engine->metrics, METRIC_RELOAD_RESTART_NEEDED, 0, standing != NULL ? standing->restart_count : 0);
    metrics_set(engine->metrics, METRIC_SCRIPTS_WENT_BACK, 0,
                events_count(reload_events(engine->reload), EVENT_WENT_BACK));
    reload_answer_release(&standing);
}

static void sample_limits(struct engine *engine, const struct catalogue *catalogue, const struct text *names,
                          uint64_t *values)
{
    for (size_t limit = 0; limit < SCRIPT_LIMIT_COUNT; limit++) {
        for (size_t i = 0; i < catalogue->supplier_count; i++) {
            values[i] =
                script_set_limit_count(catalogue->set, (struct script_id){ .index = i }, (enum script_limit)limit);
        }
        metrics_set_limits(engine->metrics, METRIC_SCRIPT_LIMITS, (enum script_limit)limit, names, values,
                           catalogue->supplier_count);
    }
}

enum { SUPPLIER_SAMPLES = 17 };
static const enum metric SUPPLIER_ROWS[SUPPLIER_SAMPLES] = {
    METRIC_SCRIPT_CPU,
    METRIC_SCRIPT_PUT_BACK,
    METRIC_SCRIPT_IN_QUARANTINE,
    METRIC_SUPPLIER_RUNNING,
    METRIC_SUPPLIER_KEPT_IN,
    METRIC_SUPPLIER_BLOCKED,
    METRIC_SCRIPT_DRIFT,
    METRIC_BREAKER_OPEN,
    METRIC_BREAKER_TRIPS,
    METRIC_SUPPLIER_SWITCHED_OFF,
    METRIC_AUTH_PARKED,
    METRIC_AUTH_PARKS,
    METRIC_LOOKS,
    METRIC_EXTRA_SENT,
    METRIC_EXTRA_WON,
    METRIC_EXTRA_WASTED,
    METRIC_EXTRA_REFUSED,
};

/// What a supplier's script has used, whether it is in quarantine, and how its accounts stand; beside SUPPLIER_ROWS.
static void sample_supplier(struct engine *engine, const struct catalogue *catalogue, size_t index,
                            uint64_t values[SUPPLIER_SAMPLES])
{
    const struct catalogue_supplier *supplier = &catalogue->suppliers[index];
    struct cpu_usage usage = worker_pool_usage(engine->workers, supplier->name);

    values[0] = usage.cpu_us;
    values[1] = usage.put_back;
    values[2] = script_set_is_quarantined(catalogue->set, (struct script_id){ .index = index }) ? 1 : 0;
    bool is_wholly = false;
    values[9] = suppliers_view_is_off(engine, supplier, &is_wholly) ? 1 : 0;
    values[6] = drift_answers(script_set_drift(catalogue->set, index));
    for (size_t i = 0; i < supplier->account_count; i++) {
        struct permits_view view;
        permits_look(engine->permits, &supplier->account[i], &view);
        values[3] += view.running;
        values[4] += view.refused_by_rate + view.refused_by_block + view.refused_by_number + view.refused_others;
        values[5] = view.blocked_us > values[5] ? view.blocked_us : values[5];
        values[7] += view.breaker != BREAKER_CLOSED;
        values[8] += view.breaker_trips;
        values[10] += view.is_parked;
        values[11] += view.auth_parks;
        values[12] += view.looks;
        extra_counts_sum(&view.extra, &values[13]);
    }
}

static void sample_suppliers(struct engine *engine, const struct catalogue *catalogue)
{
    size_t count = catalogue->supplier_count;
    struct text *names = calloc(count + 1, sizeof(*names));
    uint64_t *values = calloc((count + 1) * SUPPLIER_SAMPLES, sizeof(*values));

    for (size_t i = 0; i < count && names != NULL && values != NULL; i++) {
        uint64_t samples[SUPPLIER_SAMPLES] = { 0 };
        sample_supplier(engine, catalogue, i, samples);
        names[i] = catalogue->suppliers[i].name;
        for (size_t row = 0; row < SUPPLIER_SAMPLES; row++) {
            values[row * count + i] = samples[row];
        }
    }
    for (size_t row = 0; row < SUPPLIER_SAMPLES && names != NULL && values != NULL; row++) {
        metrics_set_suppliers(engine->metrics, SUPPLIER_ROWS[row], names, values + row * count, count);
    }
    if (names != NULL && values != NULL) {
        sample_limits(engine, catalogue, names, values);
    }
    free(values);
    free(names);
}

static void sample_logins(struct engine *engine, const struct catalogue *catalogue)
{
    enum { ROWS = 5 };
    static const enum metric rows[ROWS] = { METRIC_LOGINS, METRIC_LOGINS_RENEWED, METRIC_LOGINS_FAILED,
                                            METRIC_LOGINS_REFUSED, METRIC_LOGINS_WAITING };
    size_t count = catalogue->supplier_count;
    struct text *names = calloc(count + 1, sizeof(*names));
    uint64_t *values = calloc(ROWS * (count + 1), sizeof(*values));

    for (size_t i = 0; i < count && names != NULL && values != NULL; i++) {
        struct login_counts counts = login_book_counts(engine->logins, &catalogue->suppliers[i]);
        const uint64_t row_values[ROWS] = { counts.made, counts.renewed, counts.failed, counts.refused,
                                            counts.waiting };
        names[i] = catalogue->suppliers[i].name;
        for (size_t row = 0; row < ROWS; row++) {
            values[row * count + i] = row_values[row];
        }
    }
    for (size_t row = 0; row < ROWS && names != NULL && values != NULL; row++) {
        metrics_set_suppliers(engine->metrics, rows[row], names, &values[row * count], count);
    }
    free(values);
    free(names);
}

void admin_view_sample_of(struct engine *engine, const struct catalogue *catalogue)
{
    struct attribution_counts counts;
    const char *because = NULL;
    size_t enabled = 0;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        bool is_off = false;
        (void)suppliers_view_is_off(engine, &catalogue->suppliers[i], &is_off);
        enabled += catalogue->suppliers[i].is_enabled && !is_off ? 1 : 0;
    }
    sample_scripts(engine, catalogue);
    admin_view_sample_overload(engine);
    sample_suppliers(engine, catalogue);
    sample_logins(engine, catalogue);
    for (size_t i = 0; i < data_set_count(catalogue->data); i++) {
        metrics_set_table(engine->metrics, METRIC_LOOKUP_MISSES, data_set_name(catalogue->data, i),
                          data_set_misses(catalogue->data, i));
    }
    attribution_counts(engine->attribution, &counts);
    metrics_set(engine->metrics, METRIC_ATTRIBUTION_WRITTEN, 0, counts.written);
    metrics_set(engine->metrics, METRIC_ATTRIBUTION_DROPPED, 0, counts.dropped);
    metrics_set(engine->metrics, METRIC_ATTRIBUTION_FAILED, 0, counts.failed);
    store_desk_sample(engine->store, engine->metrics);
    metrics_set(engine->metrics, METRIC_LOG_DROPPED, 0, log_dropped());
    metrics_set(engine->metrics, METRIC_READY, 0, engine_is_ready(engine, &because) ? 1 : 0);
    if (catalogue->rates != NULL) {
        uint64_t wall_us = clock_wall_us();
        metrics_set(engine->metrics, METRIC_FX_AGE, 0, rates_age_us(catalogue->rates, wall_us));
        metrics_set(engine->metrics, METRIC_FX_STALE, 0, rates_is_stale(catalogue->rates, wall_us) ? 1 : 0);
    }
    metrics_set(engine->metrics, METRIC_GENERATION, 0, catalogue->generation);
    metrics_set(engine->metrics, METRIC_GENERATIONS_LIVE, 0, engine_generations_live(engine));
    metrics_set(engine->metrics, METRIC_SUPPLIERS_ENABLED, 0, enabled);
    metrics_set(engine->metrics, METRIC_START_TIME, 0, engine->started_wall_us);
}

void admin_view_sample(struct engine *engine)
{
    engine_moves_lock(&engine->moves);
    struct generation *generation = engine_generation(engine);
    admin_view_sample_of(engine, generation_catalogue(generation));
    sample_reloads(engine);
    generation_release(&generation);
    engine_moves_unlock(&engine->moves);
}

/// Did the supplier's script count on in the next catalogue?
static bool has_script(const struct catalogue *catalogue, const struct catalogue_supplier *wanted)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        if (text_equals(supplier->name, wanted->name)) {
            return text_equals(supplier->script, wanted->script);
        }
    }
    return false;
}

static void begin_script(struct metrics *metrics, const struct catalogue *now, size_t index)
{
    const struct text *name = &now->suppliers[index].name;
    uint64_t value = drift_answers(script_set_drift(now->set, index));

    metrics_begin_suppliers(metrics, METRIC_SCRIPT_DRIFT, name, &value, 1);
    for (size_t limit = 0; limit < SCRIPT_LIMIT_COUNT; limit++) {
        value = script_set_limit_count(now->set, (struct script_id){ .index = index }, (enum script_limit)limit);
        metrics_begin_limits(metrics, METRIC_SCRIPT_LIMITS, (enum script_limit)limit, name, &value, 1);
    }
}

void admin_view_begin(struct engine *engine, const struct catalogue *before, const struct catalogue *now)
{
    for (size_t i = 0; i < now->supplier_count; i++) {
        if (!has_script(before, &now->suppliers[i])) {
            begin_script(engine->metrics, now, i);
        }
    }
    for (size_t i = 0; now->data != before->data && i < data_set_count(now->data); i++) {
        metrics_begin_table(engine->metrics, METRIC_LOOKUP_MISSES, data_set_name(now->data, i),
                            data_set_misses(now->data, i));
    }
}
