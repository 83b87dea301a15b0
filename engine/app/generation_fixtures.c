#include "app/generation_fixtures.h"

#include "app/fixture_suite.h"
#include "model/data_set.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture_trial {
    const struct script_set *set;
    const struct script_changes *changes;
    generation_fixture_failure report;
    void *context;
    struct failure first; // since the last supplier ended
    bool has_first;
    size_t failed;
};

static void note_finding(void *context, const struct failure *failure)
{
    struct fixture_trial *trial = context;
    if (!trial->has_first) {
        trial->first = *failure;
        trial->has_first = true;
    }
}

static bool is_new(const struct script_change *change)
{
    return change->kind == SCRIPT_KIND_SUPPLIER && (change->fate == SCRIPT_CHANGED || change->fate == SCRIPT_ADDED);
}

static void fail_supplier(struct fixture_trial *trial, struct text name)
{
    ptrdiff_t index = script_set_find_supplier(trial->set, name);
    if (index >= 0) {
        trial->report(trial->context, name, script_set_supplier_digest(trial->set, (size_t)index), &trial->first);
        trial->failed++;
    }
}

// What the file of one supplier does, it does for all names that it plays.
static void end_supplier(void *context, const struct script_supplier *script, size_t failed)
{
    struct fixture_trial *trial = context;
    if (failed > 0 && !trial->has_first) {
        failure_at(&trial->first, script->file.data, 0, 0);
        failure_set(&trial->first, "%zu fixture%s failed", failed, failed == 1 ? "" : "s");
    }
    for (size_t i = 0; i < trial->changes->count && (failed > 0 || trial->has_first); i++) {
        const struct script_change *change = &trial->changes->items[i];
        if (is_new(change) && text_equals(change->file, script->file)) {
            fail_supplier(trial, change->name);
        }
    }
    trial->has_first = false;
    trial->first = (struct failure){ 0 };
}

static void fail_all(struct fixture_trial *trial, const struct failure *why)
{
    trial->first = *why;
    for (size_t i = 0; i < trial->changes->count; i++) {
        if (is_new(&trial->changes->items[i])) {
            fail_supplier(trial, trial->changes->items[i].name);
        }
    }
}

// The names whose files changed, as the set has them: terminated. A file is tested as the supplier of its own name,
// which has a new version as soon as another name that it plays has one.
static size_t names_of(const struct fixture_trial *trial, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->changes->count; i++) {
        const struct script_change *change = &trial->changes->items[i];
        ptrdiff_t index = is_new(change) ? script_set_find_supplier(trial->set, change->name) : -1;
        if (index >= 0) {
            names[count++] = script_set_supplier(trial->set, (size_t)index)->name.data;
        }
    }
    return count;
}

static void run_apart(struct fixture_trial *trial, const struct generation *generation, const char *const *names,
                      size_t count)
{
    struct catalogue apart = *generation_catalogue(generation);
    struct failure why = { 0 };

    apart.set = script_set_apart(apart.set);
    apart.data = data_set_apart(apart.data);
    if (apart.set == NULL || apart.data == NULL) {
        failure_set(&why, "the fixtures could not be run: out of memory");
        fail_all(trial, &why);
    } else {
        struct fixture_suite suite = { .settings = generation_settings(generation),
                                       .catalogue = &apart,
                                       .names = names,
                                       .name_count = count,
                                       .is_lenient = true,
                                       .supplier_max_us = FIXTURES_SUPPLIER_MAX_US,
                                       .all_max_us = FIXTURES_ALL_MAX_US,
                                       .report = note_finding,
                                       .context = trial,
                                       .on_supplier = end_supplier };
        fixture_suite_run(&suite);
        if (trial->has_first) { // nothing was run: no supplier ended after it
            why = trial->first;
            fail_all(trial, &why);
        }
    }
    data_set_release(&apart.data);
    script_set_release(&apart.set);
}

size_t generation_try_fixtures(const struct generation *generation, const struct script_changes *changes,
                               generation_fixture_failure report, void *context)
{
    struct fixture_trial trial = {
        .set = generation_catalogue(generation)->set, .changes = changes, .report = report, .context = context
    };
    const char **names = calloc(changes->count + 1, sizeof(*names));
    struct failure why = { 0 };

    if (names == NULL) {
        failure_set(&why, "the fixtures could not be run: out of memory");
        fail_all(&trial, &why);
        return trial.failed;
    }
    size_t count = names_of(&trial, names);
    if (count > 0) {
        run_apart(&trial, generation, names, count);
    }
    free(names);
    return trial.failed;
}
