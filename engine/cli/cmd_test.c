#include "cli/cli.h"

#include "app/fixture_suite.h"
#include "app/generation.h"
#include "base/clock.h"
#include "base/json_write.h"

#include <unistd.h>

enum { FAILED_SHOWN = 20, FAILED_MAX = 1 << 20, PROGRESS_FROM_US = 1000000 };

struct test {
    const struct cli_options *options;
    struct json_writer *json; // NULL: for a person
    size_t findings;
    struct buffer failed; // the fixtures that did, a line each: findings, blank, path
    size_t run;
    uint64_t began_us;
    bool has_progress; // a line of it stands on the terminal
};

/// Long runs tell a person how far they are, on a line that the next one overwrites.
static void test_show_progress(struct test *test, const char *path)
{
    bool is_due = test->json == NULL && isatty(STDERR_FILENO) && clock_now_us() - test->began_us > PROGRESS_FROM_US;

    if (is_due) {
        fprintf(stderr, "\r\033[K%zu fixtures, %.*s", test->run, CLI_WIDTH_MIN - 24, path);
        (void)fflush(stderr);
        test->has_progress = true;
    }
}

static void test_clear_progress(struct test *test)
{
    if (test->has_progress) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        test->has_progress = false;
    }
}

static void test_on_fixture(void *context, const struct script_supplier *script, const struct fixture *fixture)
{
    struct test *test = context;

    (void)script;
    test->run++;
    if (fixture->findings > 0) {
        buffer_printf(&test->failed, "%zu %.*s\n", fixture->findings, TEXT_ARGS(fixture->path));
    }
    test_show_progress(test, fixture->path.data);
}

/// What failed, by name, under everything that was found.
static void test_print_failed(const struct test *test, struct buffer *out)
{
    struct text rest = buffer_text(&test->failed);
    size_t shown = 0, more = 0;

    while (rest.length > 0) {
        struct text path, line = text_split(rest, '\n', &rest);
        struct text findings = text_split(line, ' ', &path);
        if (shown++ < FAILED_SHOWN) {
            buffer_printf(out, "failed     %.*s: %.*s finding%s\n", TEXT_ARGS(path), TEXT_ARGS(findings),
                          text_equals_c(findings, "1") ? "" : "s");
        } else {
            more++;
        }
    }
    if (more > 0) {
        buffer_printf(out, "failed     and %zu more\n", more);
    }
}

static void test_write_failed(const struct test *test, struct json_writer *json)
{
    struct text rest = buffer_text(&test->failed);

    json_key(json, "failed_fixtures");
    json_begin_array(json);
    while (rest.length > 0) {
        struct text path, line = text_split(rest, '\n', &rest);
        (void)text_split(line, ' ', &path);
        json_text(json, path);
    }
    json_end_array(json);
}

static void test_report(void *context, const struct failure *failure)
{
    struct test *test = context;

    test->findings++;
    test_clear_progress(test);
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

    if (cli_load_for(test->options, test->options->arguments, test->options->argument_count, test_report, test,
                     &settings, &generation) == STATUS_OK) {
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
    struct test test = { .options = options, .began_us = clock_now_us() };
    struct fixture_suite suite = { .names = options->arguments,
                                   .name_count = options->argument_count,
                                   .is_updating = options->is_updating,
                                   .report = test_report,
                                   .on_fixture = test_on_fixture,
                                   .context = &test };
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, 64 * 1024 * 1024);
    buffer_init(&test.failed, FAILED_MAX);
    json_writer_init(&json, &out);
    if (options->is_json) {
        test.json = &json;
        json_begin_object(&json);
        json_key(&json, "findings");
        json_begin_array(&json);
    }
    bool is_run = test_run(&test, &suite);
    test_clear_progress(&test);
    if (options->is_json) {
        json_end_array(&json);
        test_write(&suite, &json);
        test_write_failed(&test, &json);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        test_print_failed(&test, &out);
        test_print(&suite, test.findings, &out);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    buffer_fini(&test.failed);
    if (!is_run) {
        return CLI_CANNOT_LOAD;
    }
    return suite.unknown > 0 ? CLI_USAGE : test.findings == 0 ? CLI_OK : CLI_FINDINGS;
}
