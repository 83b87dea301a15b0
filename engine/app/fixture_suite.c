#include "app/fixture_suite.h"

#include "app/fixture_run.h"
#include "model/data_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Limits of scripts are there to keep them off each other; a test on a busy machine has time.
enum { PATH_SIZE = 4096, BUILD_LIMIT_US = 100000, NORMALISE_LIMIT_US = 1000000 };

static void suite_find(struct fixture_suite *suite, const char *file, const char *help, const char *format, ...)
    PRINTF_LIKE(4, 5);

static void suite_find(struct fixture_suite *suite, const char *file, const char *help, const char *format, ...)
{
    struct failure failure = { 0 };
    char sentence[sizeof(failure.message)];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    failure_set(&failure, "%s", sentence);
    failure_help(&failure, "%s", help);
    if (file != NULL) {
        failure_at(&failure, file, 0, 0);
    }
    suite->report(suite->context, &failure);
}

// ---- one supplier

static void run_file(struct fixture_suite *suite, const struct fixture_subject *subject, const char *path)
{
    struct fixture fixture;

    suite->fixtures++;
    if (fixture_read(&fixture, path, suite->report, suite->context)) {
        fixture.is_updating = suite->is_updating;
        fixture_run(&fixture, subject);
        if (fixture.edit_count > 0 && fixture_save(&fixture)) {
            suite->updated++;
        }
    }
    suite->failed += fixture.findings > 0;
    fixture_fini(&fixture);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static int is_fixture(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".json") && !ends_with(entry->d_name, ".body.json");
}

/// "suppliers/acme.lua" -> "suppliers/acme.test"; false: the file is an alias of another's, or its name is too long.
static bool folder_of(const struct script_supplier *script, char folder[PATH_SIZE])
{
    static const char LUA[] = ".lua";
    size_t length = script->file.length, tail = sizeof(LUA) - 1;

    if (length < tail + script->name.length || length + 2 > PATH_SIZE) {
        return false;
    }
    struct text stem = { script->file.data, length - tail };
    struct text name = { stem.data + stem.length - script->name.length, script->name.length };
    bool is_whole = stem.length == name.length || name.data[-1] == '/';
    (void)snprintf(folder, PATH_SIZE, "%.*s.test", TEXT_ARGS(stem));
    return is_whole && text_equals(name, script->name);
}

static void run_supplier(struct fixture_suite *suite, const struct fixture_subject *subject, const char *folder)
{
    struct dirent **entries = NULL;
    char path[PATH_SIZE + 300];
    int count = scandir(folder, &entries, is_fixture, alphasort);

    if (count < 0 && errno != ENOENT) {
        suite_find(suite, folder, "", "the fixtures cannot be read: %s", strerror(errno));
    } else if (count <= 0 && suite->name_count > 0) {
        suite_find(suite, folder, "a fixture is ok-….json or odd-….json in this folder", "`%.*s` has no fixtures",
                   TEXT_ARGS(subject->script->name));
    }
    suite->suppliers += count > 0;
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        run_file(suite, subject, path);
        free(entries[i]);
    }
    free(entries);
}

// ---- all of them

static bool is_wanted(const struct fixture_suite *suite, struct text name)
{
    bool is_named = suite->name_count == 0;

    for (size_t i = 0; i < suite->name_count && !is_named; i++) {
        is_named = text_equals_c(name, suite->names[i]);
    }
    return is_named;
}

/// The names that no file stands for.
static void find_unknown(struct fixture_suite *suite, const struct script_set *set)
{
    enum { CANDIDATES = 256 };
    const char *candidates[CANDIDATES];
    size_t count = 0;
    char folder[PATH_SIZE], help[160];

    for (size_t i = 0; i < script_set_supplier_count(set) && count < CANDIDATES; i++) {
        if (folder_of(script_set_supplier(set, i), folder)) {
            candidates[count++] = script_set_supplier(set, i)->name.data;
        }
    }
    for (size_t i = 0; i < suite->name_count; i++) {
        bool is_known = false;
        for (size_t j = 0; j < count && !is_known; j++) {
            is_known = strcmp(suite->names[i], candidates[j]) == 0;
        }
        if (!is_known) {
            const char *nearest = text_nearest(text_of(suite->names[i]), candidates, count);
            (void)snprintf(help, sizeof(help), nearest == NULL ? "it is the name of a file%s" : "did you mean `%s`?",
                           nearest == NULL ? "" : nearest);
            suite_find(suite, NULL, help, "there is no supplier `%s`", suite->names[i]);
        }
    }
}

static void run_all(struct fixture_suite *suite, struct worker_pool *workers)
{
    const struct catalogue *catalogue = generation_catalogue(suite->generation);
    char folder[PATH_SIZE];

    for (size_t i = 0; i < script_set_supplier_count(catalogue->set); i++) {
        const struct script_supplier *script = script_set_supplier(catalogue->set, i);
        if (!is_wanted(suite, script->name) || !folder_of(script, folder)) {
            continue;
        }
        const struct fixture_subject subject = {
            .settings = suite->settings, .catalogue = catalogue, .script = script, .index = i, .workers = workers
        };
        run_supplier(suite, &subject, folder);
    }
}

void fixture_suite_run(struct fixture_suite *suite)
{
    const struct worker_pool_options options = { .threads = 1,
                                                 .build_limit_us = BUILD_LIMIT_US,
                                                 .normalise_limit_us = NORMALISE_LIMIT_US,
                                                 .deliver = fixture_world_deliver };
    const struct catalogue *catalogue = generation_catalogue(suite->generation);
    struct worker_pool *workers = NULL;
    struct failure why = { 0 };

    find_unknown(suite, catalogue->set);
    if (worker_pool_create(&options, &workers, &why) != STATUS_OK) {
        suite->report(suite->context, &why);
        return;
    }
    data_set_keep_misses(catalogue->data);
    run_all(suite, workers);
    worker_pool_destroy(&workers);
}
