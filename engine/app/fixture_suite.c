#include "app/fixture_suite.h"

#include "app/fixture_folder.h"
#include "app/fixture_run.h"
#include "app/fixture_secret.h"
#include "base/clock.h"
#include "model/data_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Limits of scripts are there to keep them off each other; a test on a busy machine has time.
enum { PATH_SIZE = FIXTURE_PATH_SIZE, BUILD_LIMIT_US = 100000, NORMALISE_LIMIT_US = 1000000, KNOWN_MAX = 1024 };

static void suite_find(struct fixture_suite *suite, const char *file, enum code code, const char *help,
                       const char *format, ...) PRINTF_LIKE(5, 6);

static void suite_find(struct fixture_suite *suite, const char *file, enum code code, const char *help,
                       const char *format, ...)
{
    struct failure failure = { 0 };
    va_list arguments;

    va_start(arguments, format);
    failure_fill(&failure, code, help, format, arguments);
    va_end(arguments);
    failure_at(&failure, file, 0, 0);
    suite->report(suite->context, &failure);
}

// ---- what is found of one supplier

/// A bug of the script, and how many fixtures it ends.
struct bug {
    struct failure failure;
    size_t count;
};

/// Kept until all its fixtures have run: the bugs go first.
struct supplier_findings {
    struct fixture_suite *suite;
    const struct script_supplier *script;
    struct bug *bugs;
    size_t bug_count;
    struct failure *others;
    size_t other_count;
};

static void keep_finding(void *context, const struct failure *failure)
{
    struct supplier_findings *found = context;
    struct failure *grown = realloc(found->others, (found->other_count + 1) * sizeof(*grown));

    if (grown == NULL) {
        found->suite->report(found->suite->context, failure);
        return;
    }
    found->others = grown;
    grown[found->other_count++] = *failure;
}

static bool is_name_of(struct text path, struct text name)
{
    size_t head = path.length - name.length;

    return name.length <= path.length && memcmp(path.data + head, name.data, name.length) == 0 &&
           (head == 0 || path.data[head - 1] == '/');
}

/// "acme.lua:95: sentence" becomes a finding at its line; the file is known by its whole path. A file that is no script
/// is no place, but words of somebody.
static void fill_bug(const struct supplier_findings *found, struct text detail, struct failure *failure)
{
    const struct script_supplier *script = found->script;
    struct text rest, sentence = { 0 };
    struct text file = text_split(detail, ':', &rest);
    uint64_t line = 0;
    bool has_place = rest.data != NULL && text_to_u64(text_split(rest, ':', &sentence), &line) && line <= UINT32_MAX;
    bool is_own = has_place && file.length > 0 && is_name_of(script->file, file);
    struct text whole = { 0 }, source;
    has_place = is_own || (has_place && script_set_find_source(found->suite->catalogue->set, file, &whole, &source));

    while (sentence.length > 0 && sentence.data[0] == ' ') {
        sentence = (struct text){ sentence.data + 1, sentence.length - 1 };
    }
    if (has_place && sentence.data != NULL) {
        char path[sizeof(failure->file)];
        (void)snprintf(path, sizeof(path), "%.*s", TEXT_ARGS(is_own ? script->file : whole));
        failure_at(failure, path, (uint32_t)line, 0);
        failure_set(failure, "%.*s", TEXT_ARGS(sentence));
    } else {
        failure_at(failure, script->file.data, 0, 0);
        failure_set(failure, "%.*s", TEXT_ARGS(detail));
    }
}

/// What is found out about an answer that nobody ever gave says so, with the remedy.
static void note_invented(const struct supplier_findings *found, const struct fixture *fixture, struct failure *failure)
{
    const char *slash = strrchr(fixture->path.data, '/');
    const char *file = slash == NULL ? fixture->path.data : slash + 1;

    if (fixture->is_invented) {
        failure_note(failure,
                     "the answer of this fixture is invented, by `lastcall new`: delete it, or put a real answer in "
                     "its place with `lastcall record %.*s … --as %.*s --force`",
                     TEXT_ARGS(found->script->name), (int)strcspn(file, "."), file);
    }
}

/// Its words, or, where the script itself raised it, all that was found out there.
static void describe_bug(const struct supplier_findings *found, const struct fixture *fixture, struct failure *failure)
{
    const struct script_supplier *script = found->script;

    fill_bug(found, fixture->bug, failure);
    failure_code(failure, fixture->bug_code);
    const struct failure *trouble = fixture->trouble;
    if (trouble != NULL && (trouble->line == failure->line || failure->line == 0)) {
        struct failure place = *failure;
        *failure = *trouble;
        if (failure->file[0] == '\0' || is_name_of(script->file, text_of(failure->file))) {
            failure_at(failure, place.file, trouble->line != 0 ? trouble->line : place.line, 0);
        }
    }
    failure_note(failure, "first met in %.*s", TEXT_ARGS(fixture->path));
    note_invented(found, fixture, failure);
}

static void keep_bug(struct supplier_findings *found, const struct fixture *fixture)
{
    struct failure failure = { 0 };

    describe_bug(found, fixture, &failure);
    for (size_t i = 0; i < found->bug_count; i++) {
        const struct failure *known = &found->bugs[i].failure;
        if (strcmp(known->message, failure.message) == 0 && strcmp(known->file, failure.file) == 0 &&
            known->line == failure.line) {
            found->bugs[i].count++;
            return;
        }
    }
    struct bug *grown = realloc(found->bugs, (found->bug_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        found->suite->report(found->suite->context, &failure);
        return;
    }
    found->bugs = grown;
    grown[found->bug_count++] = (struct bug){ failure, 1 };
}

static void tell_findings(struct supplier_findings *found)
{
    for (size_t i = 0; i < found->bug_count; i++) {
        struct bug *bug = &found->bugs[i];
        size_t length = strlen(bug->failure.message);
        (void)snprintf(bug->failure.message + length, sizeof(bug->failure.message) - length, " (%zu fixture%s)",
                       bug->count, bug->count == 1 ? "" : "s");
        found->suite->report(found->suite->context, &bug->failure);
    }
    for (size_t i = 0; i < found->other_count; i++) {
        found->suite->report(found->suite->context, &found->others[i]);
    }
    free(found->bugs);
    free(found->others);
}

// ---- one supplier

static void run_file(struct fixture_suite *suite, const struct fixture_subject *subject, const char *path,
                     struct supplier_findings *found)
{
    struct fixture fixture;
    size_t before = found->other_count;

    suite->fixtures++;
    if (fixture_read(&fixture, path, keep_finding, found)) {
        fixture.is_updating = suite->is_updating;
        fixture_find_secrets(&fixture, subject);
        fixture_run(&fixture, subject);
        if (fixture.bug.data != NULL) {
            keep_bug(found, &fixture);
        } else if (fixture.edit_count > 0 && fixture_save(&fixture)) {
            suite->updated++;
        }
    }
    for (size_t i = before; i < found->other_count; i++) {
        note_invented(found, &fixture, &found->others[i]);
    }
    suite->failed += fixture.findings > 0;
    if (suite->on_fixture != NULL) {
        suite->on_fixture(suite->context, subject->script, &fixture);
    }
    fixture_fini(&fixture);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool is_in_time(const struct fixture_suite *suite, uint64_t began_us)
{
    uint64_t now_us = clock_now_us();
    return (suite->supplier_max_us == 0 || now_us - began_us < suite->supplier_max_us) &&
           (suite->all_max_us == 0 || now_us - suite->began_us < suite->all_max_us);
}

static void find_late(struct supplier_findings *found, const char *path)
{
    struct failure failure = { 0 };

    failure_at(&failure, path, 0, 0);
    failure_set(&failure, "the fixtures took too long; this one and those after it were not run");
    failure_help(&failure, "`lastcall test %.*s` runs them without haste", TEXT_ARGS(found->script->name));
    keep_finding(found, &failure);
}

static void run_supplier(struct fixture_suite *suite, const struct fixture_subject *subject, const char *folder)
{
    struct supplier_findings found = { .suite = suite, .script = subject->script };
    struct dirent **entries = NULL;
    char path[PATH_SIZE + 300];
    int count = scandir(folder, &entries, fixture_folder_has, alphasort);

    if (count < 0 && errno != ENOENT) {
        suite_find(suite, folder, CODE_FIXTURE_UNREADABLE, "", "the fixtures cannot be read: %s", strerror(errno));
    } else if (count <= 0 && suite->name_count > 0 && !suite->is_lenient && !suite->allows_bare) {
        suite_find(suite, folder, CODE_FIXTURE_MISSING, "a fixture is ok-….json or odd-….json in this folder",
                   "`%.*s` has no fixtures", TEXT_ARGS(subject->script->name));
    }
    if (count > 0) {
        suite->suppliers++;
    } else if (suite->bare++ < FIXTURE_BARE_SHOWN) {
        suite->bare_names[suite->bare - 1] = subject->script->name;
    }
    size_t failed = suite->failed;
    uint64_t began_us = clock_now_us();
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (!is_in_time(suite, began_us)) {
            find_late(&found, path);
            suite->failed++;
            break;
        }
        run_file(suite, subject, path, &found);
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    tell_findings(&found);
    if (suite->on_supplier != NULL) {
        suite->on_supplier(suite->context, subject->script, suite->failed - failed);
    }
}

// ---- all of them

bool fixture_suite_is_named(const char *const *names, size_t count, struct text name)
{
    bool is_named = count == 0;

    for (size_t i = 0; i < count && !is_named; i++) {
        is_named = text_equals_c(name, names[i]);
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
        if (fixture_folder_of(script_set_supplier(set, i), folder)) {
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
            suite_find(suite, NULL, CODE_SUPPLIER_NAME, help, "there is no supplier `%s`", suite->names[i]);
            suite->unknown++;
        }
    }
}

void fixture_suite_tell_bare(const struct fixture_suite *suite, struct buffer *out)
{
    size_t shown = suite->bare < FIXTURE_BARE_SHOWN ? suite->bare : FIXTURE_BARE_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        buffer_printf(out, "%s%.*s", i == 0 ? "; no fixtures for " : ", ", TEXT_ARGS(suite->bare_names[i]));
    }
    if (suite->bare > shown) {
        buffer_printf(out, " and %zu more", suite->bare - shown);
    }
}

// ---- folders that are nobody's

/// The names in a suppliers' directory that end so, without their end.
struct stems {
    struct dirent **entries;
    int count;
};

static int is_folder_of_fixtures(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".test");
}

static int is_script(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".lua");
}

static struct stems stems_read(const char *directory, int (*is_one)(const struct dirent *entry))
{
    struct stems stems = { 0 };

    stems.count = scandir(directory, &stems.entries, is_one, alphasort);
    for (int i = 0; i < stems.count; i++) {
        *strrchr(stems.entries[i]->d_name, '.') = '\0';
    }
    return stems;
}

static void stems_free(struct stems *stems)
{
    for (int i = 0; i < stems->count; i++) {
        free(stems->entries[i]);
    }
    free(stems->entries);
}

/// One folder `NAME.test`; a finding unless the directory has `NAME.lua`.
static void check_folder(struct fixture_suite *suite, const char *directory, const char *name,
                         const struct stems *scripts)
{
    const char *known[KNOWN_MAX];
    char folder[PATH_SIZE], help[400];
    size_t count = 0;

    for (int i = 0; i < scripts->count; i++) {
        if (strcmp(scripts->entries[i]->d_name, name) == 0) {
            return;
        }
        if (count < KNOWN_MAX) {
            known[count++] = scripts->entries[i]->d_name;
        }
    }
    const char *nearest = text_nearest(text_of(name), known, count);
    (void)snprintf(help, sizeof(help),
                   nearest == NULL ? "fixtures of `NAME.lua` are in `NAME.test` beside it%s"
                                   : "did you mean `%s.test`?",
                   nearest == NULL ? "" : nearest);
    (void)snprintf(folder, sizeof(folder), "%s/%s.test", directory, name);
    suite_find(suite, folder, CODE_SUPPLIER_NAME, help, "there is no supplier `%s` in this directory", name);
}

static void check_folders(struct fixture_suite *suite)
{
    for (size_t i = 0; i < suite->settings->suppliers_dir_count; i++) {
        const char *directory = suite->settings->suppliers_dirs[i].data;
        struct stems folders = stems_read(directory, is_folder_of_fixtures);
        struct stems scripts = stems_read(directory, is_script);
        for (int j = 0; j < folders.count; j++) {
            check_folder(suite, directory, folders.entries[j]->d_name, &scripts);
        }
        stems_free(&folders);
        stems_free(&scripts);
    }
}

static void run_all(struct fixture_suite *suite, struct worker_pool *workers)
{
    const struct catalogue *catalogue = suite->catalogue;
    char folder[PATH_SIZE];

    for (size_t i = 0; i < script_set_supplier_count(catalogue->set); i++) {
        const struct script_supplier *script = script_set_supplier(catalogue->set, i);
        if (!fixture_suite_is_named(suite->names, suite->name_count, script->name) ||
            !fixture_folder_of(script, folder)) {
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
                                                 .deliver = fixture_world_deliver,
                                                 .watches_fields = true };
    const struct catalogue *catalogue = suite->catalogue;
    struct worker_pool *workers = NULL;
    struct failure why = { 0 };

    suite->began_us = clock_now_us();
    if (!suite->is_lenient) {
        find_unknown(suite, catalogue->set);
    }
    if (suite->name_count == 0) {
        check_folders(suite);
    }
    if (worker_pool_create(&options, &workers, &why) != STATUS_OK) {
        suite->report(suite->context, &why);
        return;
    }
    data_set_keep_misses(catalogue->data);
    run_all(suite, workers);
    worker_pool_destroy(&workers);
}
