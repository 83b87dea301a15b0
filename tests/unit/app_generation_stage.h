/// Generation stage: a folder with settings, scripts and suppliers that tests change between two builds.
///
/// Threads: one.
/// Memory:  the stage's, from set_up to tear_down.
#pragma once

#include "app/generation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINDINGS_MAX = 32, PATH_SIZE = 256, DOCUMENT_MAX = 8192, REFUSED_MAX = 8 };

struct findings {
    struct failure items[FINDINGS_MAX];
    size_t count;
};

static struct findings findings;
static char folder[PATH_SIZE];
static struct generation *running; // what the last build gave
static struct generation *previous;
static struct script_changes changes;

static inline void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    if (findings.count < FINDINGS_MAX) {
        findings.items[findings.count] = *failure;
    }
    findings.count++;
}

static inline const char *path_of(const char *name)
{
    static char paths[4][2 * PATH_SIZE];
    static size_t next;
    char *path = paths[next++ % COUNT_OF(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void write_as(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/// A supplier that does nothing wrong; `options` and `more` are Lua of its table, `normalise` the body of the function.
static inline void write_supplier(const char *name, const char *options, const char *more, const char *normalise)
{
    char file[PATH_SIZE], text[DOCUMENT_MAX];
    snprintf(file, sizeof file, "suppliers/%s.lua", name);
    snprintf(text, sizeof text,
             "return {\n  name = \"%s\",\n  product = \"flights\",\n  owner = \"o@example.com\",\n"
             "  hosts = { \"api.%s.example\" },\n  options = { %s },\n  %s\n"
             "  build_request = function(_, _)\n    return { method = \"GET\", url = \"https://api.%s.example/\" }\n"
             "  end,\n  normalise = function(response, _, _)\n    %s\n  end,\n}\n",
             name, name, options, more, name, normalise);
    write_as(file, text);
}

/// The settings: the directories of the stage, and `more`.
static inline void write_settings(const char *more)
{
    char text[DOCUMENT_MAX];
    snprintf(text, sizeof text, "suppliers_dir: %s/suppliers\nscripts_dir: %s/scripts\n%s", folder, folder, more);
    write_as("lastcall.yaml", text);
}

static inline void write_product(const char *more)
{
    char text[DOCUMENT_MAX];
    snprintf(text, sizeof text,
             "return {\n  name = \"flights\",\n  query = function(_, _)\n    return { currency = \"EUR\" }\n"
             "  end,\n  offer = {\n    { \"id\", \"text\", required = true, max = 64 },\n"
             "    { \"price\", { { \"total\", \"money\", required = true },\n"
             "      { \"currency\", \"currency\", required = true } }, required = true },\n"
             "    { \"flight\", \"text\", item = true, max = 16 },\n  },\n  %s\n}\n",
             more);
    write_as("scripts/products/flights.lua", text);
}

static inline void print_all(void)
{
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        const struct failure *failure = &findings.items[i];
        print_message("%s:%u:%u: %s (%s)\n", failure->file, failure->line, failure->column, failure->message,
                      failure->help);
    }
}

/// Reads the settings and builds over what runs by `order` (its settings and previous are filled in). On STATUS_OK
/// `running` is the new one, and `previous` what it was.
static inline enum status build_by(struct generation_order order)
{
    const char *name = path_of("lastcall.yaml");
    struct generation *built = NULL;
    struct settings *settings = NULL;

    findings.count = 0;
    script_changes_fini(&changes);
    script_changes_init(&changes);
    enum status status = settings_read(&name, 1, on_finding, NULL, &settings);
    if (status == STATUS_OK) {
        order.settings = settings;
        order.previous = running;
        status = generation_build_over(&order, on_finding, NULL, &built, &changes);
    }
    settings_release(&settings);
    if (status == STATUS_OK) {
        generation_release(&previous);
        previous = running;
        running = built;
    } else {
        assert_null(built);
    }
    return status;
}

static inline void assert_builds(void)
{
    enum status status = build_by((struct generation_order){ 0 });
    print_all();
    assert_int_equal(status, STATUS_OK);
}

static inline const struct script_change *change_of(enum script_kind kind, const char *name)
{
    for (size_t i = 0; i < changes.count; i++) {
        if (changes.items[i].kind == kind && text_equals_c(changes.items[i].name, name)) {
            return &changes.items[i];
        }
    }
    static const struct script_change none;
    fail_msg("no change of %s", name);
    return &none;
}

static inline void assert_fate(enum script_kind kind, const char *name, enum script_fate fate)
{
    assert_int_equal(change_of(kind, name)->fate, fate);
}

static inline const struct script_version *version_of(const struct generation *generation, const char *name)
{
    const struct script_set *set = generation_catalogue(generation)->set;
    ptrdiff_t index = script_set_find_supplier(set, text_of(name));
    return index < 0 ? NULL : script_set_supplier_version(set, (size_t)index);
}

static inline void assert_found(const char *sentence)
{
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        if (strstr(findings.items[i].message, sentence) != NULL) {
            return;
        }
    }
    fail_msg("not found: %s", sentence);
}

static inline int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/app_generation_over_test.XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(path_of("suppliers"), 0700), 0);
    assert_int_equal(mkdir(path_of("scripts"), 0700), 0);
    assert_int_equal(mkdir(path_of("scripts/products"), 0700), 0);
    script_changes_init(&changes);
    write_product("");
    write_supplier("acme", "pages = 2", "", "return {}");
    write_supplier("bravo", "", "", "return {}");
    write_settings("");
    assert_builds();
    assert_int_equal(findings.count, 0);
    assert_int_equal(changes.count, 0);
    return 0;
}

static inline int tear_down(void **state)
{
    char command[2 * PATH_SIZE];
    (void)state;
    generation_release(&running);
    generation_release(&previous);
    script_changes_fini(&changes);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    return 0;
}
