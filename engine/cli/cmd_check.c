#include "cli/cli.h"

#include "app/fixture_suite.h"
#include "app/generation.h"
#include "app/inspection.h"
#include "app/startup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "model/data_set.h"
#include "script/rates.h"

#include <stdio.h>

struct check {
    const struct cli_options *options;
    struct json_writer *json; // NULL: for a person
    size_t findings;
    bool is_overdue; // a file took too long to load
    bool is_unread;  // a file of the settings
    struct fixture_suite suite;
    struct inspection inspection;
    struct buffer warnings; // a line each
};

enum { WARNINGS_MAX = 1 << 20 };

static void check_report(void *context, const struct failure *failure)
{
    struct check *check = context;

    check->findings++;
    check->is_unread = check->is_unread || failure->code == CODE_SETTINGS_UNREADABLE;
    cli_tell_finding(check->json, failure, check->options->is_colourless);
}

struct check_counts {
    size_t products, suppliers, on, accounts;
};

/// Is it one of those that are to be looked at?
static bool check_is_about(const struct check *check, const struct catalogue_supplier *supplier)
{
    return fixture_suite_is_named(check->options->arguments, check->options->argument_count, supplier->name);
}

static struct check_counts check_count(const struct check *check, const struct catalogue *catalogue)
{
    struct check_counts counts = { .products = catalogue->product_count };

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (!check_is_about(check, &catalogue->suppliers[i])) {
            continue;
        }
        counts.suppliers++;
        counts.on += catalogue->suppliers[i].is_enabled;
        counts.accounts += catalogue->suppliers[i].account_count;
    }
    return counts;
}

/// What fixtures looked up, and what was not there.
static void check_print_look_ups(const struct data_set *data, size_t index, struct buffer *out)
{
    uint64_t misses = data_set_misses(data, index), all = misses + data_set_hits(data, index);

    if (all == 0) {
        return;
    }
    buffer_printf(out, "; fixtures: %llu look-up%s, %llu miss%s", (unsigned long long)all, all == 1 ? "" : "s",
                  (unsigned long long)misses, misses == 1 ? "" : "es");
    if (misses > 0) {
        buffer_append_c(out, " (");
        data_set_tell_misses(data, index, out);
        buffer_append_byte(out, ')');
    }
}

static void check_print_tables(const struct data_set *data, struct buffer *out)
{
    if (data_set_count(data) > 0) {
        buffer_printf(out, "tables     %zu\n", data_set_count(data));
    }
    for (size_t i = 0; i < data_set_count(data); i++) {
        struct data_table_stats stats = data_table_stats(data_set_table(data, i));
        buffer_printf(out, "           %.*s: %zu rows, %zu keys", TEXT_ARGS(data_set_name(data, i)), stats.rows,
                      stats.keys);
        if (stats.repeated > 0) {
            buffer_printf(out, ", %zu of them with several rows, at most %zu", stats.repeated, stats.most);
        }
        buffer_printf(out, "; %.1f MiB", (double)stats.bytes / 1048576.0);
        check_print_look_ups(data, i, out);
        buffer_append_byte(out, '\n');
    }
}

static void check_write_tables(const struct data_set *data, struct json_writer *json)
{
    json_key(json, "tables");
    json_begin_array(json);
    for (size_t i = 0; i < data_set_count(data); i++) {
        struct data_table_stats stats = data_table_stats(data_set_table(data, i));
        json_begin_object(json);
        json_field_text(json, "name", data_set_name(data, i));
        json_field_u64(json, "rows", stats.rows);
        json_field_u64(json, "keys", stats.keys);
        json_field_u64(json, "repeated_keys", stats.repeated);
        json_field_u64(json, "most_rows", stats.most);
        json_field_u64(json, "bytes", stats.bytes);
        json_field_u64(json, "look_ups", data_set_hits(data, i) + data_set_misses(data, i));
        json_field_u64(json, "misses", data_set_misses(data, i));
        json_end_object(json);
    }
    json_end_array(json);
}

static bool check_is_stale(const struct rates *rates)
{
    return rates_is_stale(rates, clock_wall_us());
}

static void check_print_rates(const struct rates *rates, struct buffer *out)
{
    if (rates != NULL) {
        buffer_printf(out, "rates      %.*s of %.*s: %zu currencies, base %.*s\n", TEXT_ARGS(rates_id(rates)),
                      TEXT_ARGS(rates_as_of(rates)), rates_count(rates), TEXT_ARGS(rates_base(rates)));
        if (check_is_stale(rates)) {
            buffer_append_c(out, "           warning: older than `fx.max_age`, so no price is converted\n");
        }
    }
}

static void check_write_rates(const struct rates *rates, struct json_writer *json)
{
    if (rates != NULL) {
        json_key(json, "rates");
        json_begin_object(json);
        json_field_text(json, "id", rates_id(rates));
        json_field_text(json, "as_of", rates_as_of(rates));
        json_field_text(json, "base", rates_base(rates));
        json_field_u64(json, "currencies", rates_count(rates));
        json_field_bool(json, "stale", check_is_stale(rates));
        json_end_object(json);
    }
}

static void check_print_warnings(const struct check *check, struct buffer *out)
{
    struct text rest = buffer_text(&check->warnings);

    while (rest.length > 0) {
        struct text line = text_split(rest, '\n', &rest);
        buffer_printf(out, "           warning: %.*s\n", TEXT_ARGS(line));
    }
}

static void check_write_warnings(const struct check *check, struct json_writer *json)
{
    struct text rest = buffer_text(&check->warnings);

    json_key(json, "warnings");
    json_begin_array(json);
    while (rest.length > 0) {
        json_text(json, text_split(rest, '\n', &rest));
    }
    json_end_array(json);
}

static void check_print(const struct check *check, const struct catalogue *catalogue, struct buffer *out)
{
    struct check_counts counts = check_count(check, catalogue);

    buffer_printf(out, "products   %zu:", counts.products);
    for (size_t i = 0; i < catalogue->product_count; i++) {
        buffer_printf(out, " %.*s", TEXT_ARGS(catalogue->products[i]));
    }
    buffer_printf(out, "\nsuppliers  %zu: %zu on, %zu off\n", counts.suppliers, counts.on,
                  counts.suppliers - counts.on);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        if (!supplier->is_enabled && check_is_about(check, supplier)) {
            buffer_printf(out, "           off: %.*s%s%.*s\n", TEXT_ARGS(supplier->name),
                          supplier->because.length > 0 ? ", " : "", TEXT_ARGS(supplier->because));
        }
    }
    buffer_printf(out, "accounts   %zu\n", counts.accounts);
    check_print_tables(catalogue->data, out);
    check_print_rates(catalogue->rates, out);
    if (catalogue->rules != NULL && check->options->argument_count == 0) {
        buffer_printf(out, "rules      %zu\n", catalogue->rules->rule_count);
    }
    check_print_warnings(check, out);
}

static void check_write(const struct check *check, const struct catalogue *catalogue, struct json_writer *json)
{
    struct check_counts counts = check_count(check, catalogue);

    json_key(json, "products");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue->product_count; i++) {
        json_text(json, catalogue->products[i]);
    }
    json_end_array(json);
    json_key(json, "suppliers");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        if (!check_is_about(check, supplier)) {
            continue;
        }
        json_begin_object(json);
        json_field_text(json, "name", supplier->name);
        json_field_text(json, "product", supplier->product);
        json_field_text(json, "script", supplier->script);
        json_field_bool(json, "enabled", supplier->is_enabled);
        if (!supplier->is_enabled && supplier->because.length > 0) {
            json_field_text(json, "because", supplier->because);
        }
        json_end_object(json);
    }
    json_end_array(json);
    json_field_u64(json, "accounts", counts.accounts);
    check_write_tables(catalogue->data, json);
    check_write_rates(catalogue->rates, json);
    json_field_u64(json, "rules", catalogue->rules == NULL ? 0 : catalogue->rules->rule_count);
    check_write_warnings(check, json);
}

static void check_print_fixtures(const struct fixture_suite *suite, struct buffer *out)
{
    buffer_printf(out, "fixtures   %zu of %zu suppliers: %zu failed", suite->fixtures, suite->suppliers + suite->bare,
                  suite->failed);
    fixture_suite_tell_bare(suite, out);
    buffer_append_byte(out, '\n');
}

static void check_tell(void *context, enum inspection_weight weight, const struct failure *failure)
{
    struct check *check = context;
    char line[sizeof(failure->file) + sizeof(failure->message) + 32];

    if (weight == INSPECTION_FINDING || check->options->is_strict) {
        check_report(check, failure);
    } else if (weight == INSPECTION_WARNING) {
        (void)failure_print(failure, line, sizeof(line));
        buffer_printf(&check->warnings, "%s\n", line);
    }
}

static void check_on_fixture(void *context, const struct script_supplier *script, const struct fixture *fixture)
{
    struct check *check = context;
    inspection_note(&check->inspection, script, fixture);
}

/// The fixtures, and what they and the settings say together.
static void check_inspect(struct check *check, const struct settings *settings, const struct catalogue *catalogue)
{
    check->suite = (struct fixture_suite){ .settings = settings,
                                           .catalogue = catalogue,
                                           .names = check->options->arguments,
                                           .name_count = check->options->argument_count,
                                           .allows_bare = true,
                                           .report = check_report,
                                           .on_fixture = check_on_fixture,
                                           .context = check };
    if (!inspection_init(&check->inspection, settings, catalogue)) {
        struct failure why = { .message = "the settings and scripts could not be inspected: out of memory" };
        check_report(check, &why);
        return;
    }
    check->inspection.names = check->options->arguments;
    check->inspection.name_count = check->options->argument_count;
    check->inspection.tell = check_tell;
    check->inspection.context = check;
    fixture_suite_run(&check->suite);
    inspection_run(&check->inspection);
    inspection_fini(&check->inspection);
}

static void check_secrets(struct check *check, const struct generation *generation)
{
    const struct cli_options *options = check->options;

    for (size_t i = 0; i < options->argument_count; i++) {
        (void)generation_missing_secrets_of(generation, text_of(options->arguments[i]), check_report, check);
    }
    if (options->argument_count == 0) {
        (void)generation_missing_secrets(generation, check_report, check);
    }
}

/// What can be loaded is also tested.
static void check_run(struct check *check, struct settings **settings, struct generation **generation)
{
    const struct cli_options *options = check->options;

    enum status status =
        cli_load_for(options, options->arguments, options->argument_count, check_report, check, settings, generation);
    if (status != STATUS_OK) {
        check->is_overdue = status == STATUS_TIMEOUT;
        return;
    }
    if (options->argument_count == 0) {
        startup_check(*settings, check_report, check);
    }
    check_inspect(check, *settings, generation_catalogue(*generation));
    if (options->has_secrets) {
        check_secrets(check, *generation);
    }
}

int cmd_check(const struct cli_options *options)
{
    struct check check = { .options = options };
    struct settings *settings = NULL;
    struct generation *generation = NULL;
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, 64 * 1024 * 1024);
    buffer_init(&check.warnings, WARNINGS_MAX);
    json_writer_init(&json, &out);
    if (options->is_json) {
        check.json = &json;
        json_begin_object(&json);
        json_key(&json, "findings");
        json_begin_array(&json);
    }
    check_run(&check, &settings, &generation);
    const struct catalogue *catalogue = generation != NULL ? generation_catalogue(generation) : NULL;
    if (options->is_json) {
        json_end_array(&json);
        if (catalogue != NULL) {
            check_write(&check, catalogue, &json);
            json_field_u64(&json, "fixtures", check.suite.fixtures);
            json_field_u64(&json, "fixtures_failed", check.suite.failed);
            json_field_u64(&json, "suppliers_without_fixtures", check.suite.bare);
        }
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        if (catalogue != NULL) {
            check_print(&check, catalogue, &out);
            check_print_fixtures(&check.suite, &out);
        }
        buffer_printf(&out, "%zu finding%s\n", check.findings, check.findings == 1 ? "" : "s");
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    buffer_fini(&check.warnings);
    generation_release(&generation);
    settings_release(&settings);
    if (check.is_overdue || check.is_unread) {
        return CLI_CANNOT_LOAD;
    }
    return check.findings == 0 ? CLI_OK : CLI_FINDINGS;
}
