#include "cli/cli.h"

#include "app/fixture_suite.h"
#include "app/generation.h"
#include "base/json_write.h"

struct test {
    const struct cli_options *options;
    struct json_writer *json; // NULL: for a person
    size_t findings;
};

static void test_report(void *context, const struct failure *failure)
{
    struct test *test = context;

    test->findings++;
    cli_tell_finding(test->json, failure, test->options->is_colourless);
}

static void test_print(const struct fixture_suite *suite, size_t findings, struct buffer *out)
{
    buffer_printf(out, "%zu fixture%s of %zu supplier%s: %zu passed, %zu failed", suite->fixtures,
                  suite->fixtures == 1 ? "" : "s", suite->suppliers, suite->suppliers == 1 ? "" : "s",
                  suite->fixtures - suite->failed, suite->failed);
    if (suite->updated > 0) {
        buffer_printf(out, ", %zu updated", suite->updated);
    }
    buffer_printf(out, "; %zu finding%s", findings, findings == 1 ? "" : "s");
    fixture_suite_tell_bare(suite, out);
    buffer_append_byte(out, '\n');
}

static void test_write(const struct fixture_suite *suite, struct json_writer *json)
{
    json_field_u64(json, "suppliers", suite->suppliers);
    json_field_u64(json, "suppliers_without_fixtures", suite->bare);
    json_field_u64(json, "fixtures", suite->fixtures);
    json_field_u64(json, "failed", suite->failed);
    json_field_u64(json, "updated", suite->updated);
}

/// False: there was nothing to run them by.
static bool test_run(struct test *test, struct fixture_suite *suite)
{
    struct settings *settings = NULL;
    struct generation *generation = NULL;

    if (cli_load(test->options, test_report, test, &settings, &generation) == STATUS_OK) {
        suite->settings = settings;
        suite->catalogue = generation_catalogue(generation);
        fixture_suite_run(suite);
    }
    bool is_run = generation != NULL;
    generation_release(&generation);
    settings_release(&settings);
    return is_run;
}

int cmd_test(const struct cli_options *options)
{
    struct test test = { .options = options };
    struct fixture_suite suite = { .names = options->arguments,
                                   .name_count = options->argument_count,
                                   .is_updating = options->is_updating,
                                   .report = test_report,
                                   .context = &test };
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, 64 * 1024 * 1024);
    json_writer_init(&json, &out);
    if (options->is_json) {
        test.json = &json;
        json_begin_object(&json);
        json_key(&json, "findings");
        json_begin_array(&json);
    }
    bool is_run = test_run(&test, &suite);
    if (options->is_json) {
        json_end_array(&json);
        test_write(&suite, &json);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        test_print(&suite, test.findings, &out);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    if (!is_run) {
        return CLI_CANNOT_LOAD;
    }
    return test.findings == 0 ? CLI_OK : CLI_FINDINGS;
}
