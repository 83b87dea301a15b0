/// Fixture stage: a supplier in a folder of its own, one fixture beside it, and what is found.
///
/// Threads: one.
/// Memory:  the stage's, from set_up to tear_down.
#pragma once

#include "app/fixture_suite.h"
#include "app/generation.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINDINGS_MAX = 16, PATH_SIZE = 256, DOCUMENT_MAX = 1 << 16 };

static const char SLICE[] = "{\"segments\":[{\"carrier\":\"ZZ\",\"number\":\"7\",\"from\":\"MAD\",\"to\":\"LHR\","
                            "\"departs\":\"2027-05-12T08:05\",\"arrives\":\"2027-05-12T09:35\"}]}";

// One step, two offers, everything that a fixture may expect. The tests change pieces of it.
static const char RIGHT[] =
    "{ \"about\": \"two offers\",\n"
    "  \"search\": { \"product\": \"flights\", \"budget_ms\": 2000,\n"
    "    \"query\": { \"slices\": [{ \"origin\": \"MAD\", \"destination\": \"LHR\", \"date\": \"2027-05-12\" }],\n"
    "      \"travellers\": [{ \"type\": \"adult\" }], \"cabin\": \"economy\", \"currency\": \"EUR\" } },\n"
    "  \"now\": \"2026-11-29T09:00:00Z\",\n"
    "  \"secrets\": { \"ACME_KEY\": \"test-key\" },\n"
    "  \"exchanges\": [{\n"
    "    \"expect_request\": { \"method\": \"POST\", \"url\": \"https://api.acme.example/search\",\n"
    "      \"headers\": { \"content-type\": \"application/json\" },\n"
    "      \"json\": { \"from\": \"MAD\", \"city\": \"Madrid\", \"left\": 1200 } },\n"
    "    \"response\": { \"status\": 200, \"after_ms\": 402,\n"
    "      \"json\": { \"currency\": \"EUR\", \"offers\": [{ \"id\": \"b\", \"total\": \"30.00\", \"slices\": [SLICE] "
    "},\n"
    "        { \"id\": \"a\", \"total\": \"20.00\", \"slices\": [SLICE] }] } } }],\n"
    "  \"expect\": { \"outcome\": \"answered\", \"offers\": 2, \"took_ms\": 402,\n"
    "    \"first\": { \"id\": \"acme:a\", \"price\": { \"total\": \"20.00\" } },\n"
    "    \"offers[1]\": { \"id\": \"acme:b\" } },\n"
    "  \"ceilings\": [{ \"progress\": { \"offers\": 500 }, \"expect_ms\": 700.5 }, { \"expect_ms\": 1200 }],\n"
    "  \"revalidate\": [{ \"offer\": 0, \"ref\": \"r1\",\n"
    "    \"exchanges\": [{ \"expect_request\": { \"method\": \"GET\", \"url\": "
    "\"https://api.acme.example/offers/r1\",\n"
    "        \"headers\": { \"X-Key\": \"test-key\" } },\n"
    "      \"response\": { \"json\": { \"total\": \"20.00\" } } }],\n"
    "    \"expect\": { \"status\": \"confirmed\", \"now\": { \"total\": \"20.00\", \"currency\": \"EUR\" } } }]\n"
    "}\n";

struct findings {
    struct failure items[FINDINGS_MAX];
    size_t count;
};

static struct findings findings;

static inline void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    if (findings.count < FINDINGS_MAX) {
        findings.items[findings.count] = *failure;
    }
    findings.count++;
}

// ---- the stage: a folder with settings, the supplier and its fixtures

static char folder[PATH_SIZE];
static struct settings *settings;
static struct generation *generation;

static inline const char *path_of(const char *name)
{
    static char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void write_as(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline int set_up(void **state)
{
    char document[1024];
    struct buffer script;
    const char *name;

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/app_fixture_test.XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(path_of("acme.test"), 0700), 0);
    buffer_init(&script, DOCUMENT_MAX);
    assert_int_equal(file_read("tests/unit/data/fixture/acme.lua", &script, NULL), STATUS_OK);
    buffer_append_byte(&script, '\0');
    write_as("acme.lua", script.data);
    buffer_fini(&script);
    write_as("cities.tsv", "airport\tcity\nMAD\tMadrid\n");
    snprintf(document, sizeof document,
             "suppliers_dir: %s\nscripts_dir: scripts\ndata: { cities: { file: %s/cities.tsv, key: [airport] } }\n",
             folder, folder);
    write_as("lastcall.yaml", document);
    findings.count = 0;
    name = path_of("lastcall.yaml");
    assert_int_equal(settings_read(&name, 1, on_finding, NULL, &settings), STATUS_OK);
    assert_int_equal(generation_build(settings, on_finding, NULL, &generation), STATUS_OK);
    assert_int_equal(findings.count, 0);
    return 0;
}

static inline int tear_down(void **state)
{
    static const char *const names[] = { "acme.lua",
                                         "cities.tsv",
                                         "lastcall.yaml",
                                         "acme.test/ok-a.json",
                                         "acme.test/odd-a.json",
                                         "acme.test/a.body.json",
                                         "acme.test/a.json",
                                         "acme.test" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)remove(path_of(names[i]));
    }
    assert_int_equal(rmdir(folder), 0);
    generation_release(&generation);
    settings_release(&settings);
    return 0;
}

/// `text` with the first `old` as `new`, and every SLICE spelled out; free with free().
static inline char *with(const char *text, const char *old, const char *new)
{
    char *out = calloc(1, DOCUMENT_MAX);
    const char *at = *old == '\0' ? NULL : strstr(text, old);
    size_t length = 0;

    assert_non_null(out);
    if (*old != '\0') {
        assert_non_null(at);
    }
    for (const char *from = text; *from != '\0';) {
        const char *put = NULL;
        if (from == at) {
            put = new;
            from += strlen(old);
        } else if (strncmp(from, "[SLICE]", 7) == 0) {
            out[length++] = '[';
            put = SLICE;
            from += 6;
        }
        if (put != NULL) {
            length += (size_t)snprintf(out + length, DOCUMENT_MAX - length, "%s", put);
        } else {
            out[length++] = *from++;
        }
        assert_true(length + 16 < DOCUMENT_MAX);
    }
    return out;
}

static inline struct fixture_suite run(bool is_updating)
{
    struct fixture_suite suite = { .settings = settings,
                                   .catalogue = generation_catalogue(generation),
                                   .is_updating = is_updating,
                                   .report = on_finding };
    findings.count = 0;
    fixture_suite_run(&suite);
    return suite;
}

static inline void assert_found(const char *sentence, uint32_t line)
{
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        if (strstr(findings.items[i].message, sentence) != NULL) {
            assert_int_equal(findings.items[i].line, line);
            return;
        }
    }
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        print_message("%s:%u: %s\n", findings.items[i].file, findings.items[i].line, findings.items[i].message);
    }
    fail_msg("expected `%s`", sentence);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
