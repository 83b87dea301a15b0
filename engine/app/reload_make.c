// One generation over another: settings and scripts read, judged, built, published; and the rows that tell of it.

#include "app/generation_fixtures.h"
#include "app/reload_internal.h"
#include "app/settings_compare.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdlib.h>

enum { FIXTURE_ROUNDS_MAX = 3 };

void reload_making_init(struct reload_making *making, struct reload *reload, struct reload_answer *answer)
{
    *making =
        (struct reload_making){ .reload = reload, .answer = answer, .running = engine_generation(reload->engine) };
    script_changes_init(&making->changes);
    held_init(&making->failing);
    answer->outcome = RELOAD_UNCHANGED;
    answer->generation = answer->previous = generation_number(making->running);
}

void reload_making_fini(struct reload_making *making)
{
    held_fini(&making->failing);
    script_changes_fini(&making->changes);
    generation_release(&making->built);
    settings_release(&making->settings);
    generation_release(&making->running);
}

void reload_on_finding(void *context, const struct failure *failure)
{
    struct reload_making *making = context;
    reload_answer_add_finding(making->answer, failure);
}

// ------------------------------------------------------------------------------------------------------------ settings

/// They never change; they are only counted.
struct settings *reload_settings_of(const struct generation *generation)
{
    return settings_acquire((struct settings *)(uintptr_t)generation_settings(generation));
}

static void on_difference(void *context, const struct settings_difference *difference)
{
    struct reload_making *making = context;
    const struct failure *place = &difference->failure;
    reload_answer_add_restart(making->answer, difference->setting, place->file[0] != '\0' ? place->file : NULL,
                              place->line);
}

static bool refuse_settings(struct reload_making *making)
{
    making->answer->is_disk_refused = making->answer->finding_count > 0;
    if (making->answer->finding_count == 0) {
        reload_answer_refuse(making->answer, "the settings could not be read: out of memory", "try again");
    }
    making->answer->outcome = RELOAD_REFUSED;
    return false;
}

enum status reload_read_settings(const struct settings *running, settings_finding report, void *context,
                                 struct settings **fresh)
{
    const char **paths = calloc(running->file_count + 1, sizeof(*paths));

    *fresh = NULL;
    if (paths == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < running->file_count; i++) {
        paths[i] = running->files[i].path;
    }
    enum status status = settings_read(paths, running->file_count, report, context, fresh);
    free(paths);
    return status;
}

/// What needs a restart keeps its running value and is told. False: refused.
static bool read_settings(struct reload_making *making)
{
    const struct settings *running = generation_settings(making->running);
    struct failure because = { 0 };

    if (reload_read_settings(running, reload_on_finding, making, &making->settings) != STATUS_OK) {
        return refuse_settings(making);
    }
    held_meet_settings(&making->reload->held, making->settings);
    if (held_refuses_settings(&making->reload->held, making->settings->files_hash, &because)) {
        making->disk_hash = making->settings->files_hash;
        settings_release(&making->settings);
        making->settings = reload_settings_of(making->running);
        reload_tell_kept_settings(making, &because);
        return true;
    }
    making->disk_hash = making->settings->files_hash;
    if (settings_compare(running, making->settings, on_difference, making) > 0 &&
        settings_keep_running(making->settings, running) != STATUS_OK) {
        return refuse_settings(making);
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- rows

/// Rows of suppliers of which neither the script nor the settings changed: then it is a secret or a certificate.
static void tell_secrets(struct reload_making *making)
{
    const struct catalogue *before = generation_catalogue(making->running);
    const struct catalogue *now = generation_catalogue(making->built);

    for (size_t i = 0, j = 0; i < now->supplier_count; i++) { // both are sorted by name
        const struct catalogue_supplier *supplier = &now->suppliers[i];
        while (j < before->supplier_count && text_compare(before->suppliers[j].name, supplier->name) < 0) {
            j++;
        }
        const struct catalogue_supplier *old = j < before->supplier_count ? &before->suppliers[j] : NULL;
        if (old != NULL && text_equals(old->name, supplier->name) && text_equals(old->script, supplier->script) &&
            !generation_is_same_supplier(supplier, old)) {
            struct reload_row row = {
                .kind = "secrets", .fate = "changed", .name = supplier->name, .running = supplier->script
            };
            reload_answer_add_changed(making->answer, &row);
        }
    }
}

static void on_settings_name(void *context, struct text name)
{
    reload_answer_add_settings_name(context, name);
}

void reload_tell_changes(struct reload_making *making)
{
    const struct settings *running = generation_settings(making->running);

    for (size_t i = 0; i < making->changes.count; i++) {
        const struct script_change *change = &making->changes.items[i];
        struct reload_row row = {
            .kind = reload_kind_name(change->kind),
            .fate = reload_fate_name(change->fate),
            .name = change->name,
            .file = change->file,
            .running = change->running,
            .before = change->before,
        };
        if (change->fate != SCRIPT_KEPT && change->fate != SCRIPT_LEFT_OUT && change->fate != SCRIPT_SHADOW) {
            reload_answer_add_changed(making->answer, &row);
        }
    }
    making->answer->settings_changed = !settings_is_same(running, generation_settings(making->built));
    settings_name_changes(running, generation_settings(making->built), on_settings_name, making->answer);
    if (!making->answer->settings_changed) {
        tell_secrets(making);
    }
}

// ------------------------------------------------------------------------------------------------------------ building

/// script_order.refuses: what is held back, what failed its fixtures, and all of it once the engine stops.
static bool refuses(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                    struct failure *because)
{
    struct reload_making *making = context;

    if (atomic_load(&making->reload->is_draining)) {
        failure_set(because, "the engine is stopping");
        return true;
    }
    return reload_is_not_promoted(making, kind, name, digest, because) ||
           held_refuses(&making->reload->held, kind, name, digest, because) ||
           held_refuses(&making->failing, kind, name, digest, because);
}

static bool is_given_up(struct reload_making *making)
{
    if (!atomic_load(&making->reload->is_draining)) {
        return false;
    }
    if (!making->answer->is_draining) {
        making->answer->is_draining = true;
        making->answer->finding_count = 0;
        reload_answer_refuse(making->answer, "the engine is stopping", "send it to another one");
    }
    return true;
}

bool reload_build(struct reload_making *making, struct script_set *candidate, struct script_set *fixed)
{
    struct generation_order order = {
        .settings = making->settings,
        .previous = making->running,
        .candidate = candidate,
        .fixed = fixed,
        .fixed_data = making->data,
        .fixed_rates = making->rates,
        .refuses = refuses,
        .refuses_context = making,
        .shadows = making->reload->shadows.names,
        .shadow_count = making->reload->shadows.count,
    };
    struct reload_answer *answer = making->answer;

    script_changes_fini(&making->changes);
    script_changes_init(&making->changes);
    enum status status = generation_build_over(&order, reload_on_finding, making, &making->built, &making->changes);
    if (is_given_up(making)) {
        return false;
    }
    if (status != STATUS_OK) {
        answer->outcome = RELOAD_REFUSED;
        if (status == STATUS_NO_MEMORY) { // what was found until then is not the reason
            answer->finding_count = 0;
            answer->finding_more = 0;
        }
        answer->is_disk_refused = answer->finding_count > 0 && fixed == NULL;
        if (answer->finding_count == 0) {
            answer->is_passing = true;
            reload_answer_refuse(answer, "the generation could not be built: out of memory", "try again");
        }
        return false;
    }
    answer->finding_count = 0; // they only kept back what they are about, and stand in its row
    answer->finding_more = 0;
    return true;
}

static void on_missing_secret(void *context, const struct failure *missing)
{
    (void)context;
    log_line(LOG_WARNING, "reload", "%s: it is off; %s", missing->message, missing->help);
}

/// False: the answer says why not.
static bool has_room(struct reload_making *making)
{
    bool is_room = engine_await_room(making->reload->engine);

    if (is_given_up(making)) {
        return false;
    }
    if (!is_room) {
        making->answer->is_passing = true;
        reload_answer_refuse(making->answer, "searches of too many generations are under way still",
                             "try again when they have ended");
    }
    return is_room;
}

static bool publish(struct reload_making *making)
{
    (void)generation_missing_secrets(making->built, on_missing_secret, NULL);
    if (engine_publish(making->reload->engine, generation_acquire(making->built)) != STATUS_OK) {
        making->answer->is_passing = true;
        reload_answer_refuse(making->answer, "the generation could not be published: out of memory", "try again");
        return false;
    }
    making->answer->outcome = RELOAD_PUBLISHED;
    making->answer->generation = generation_number(making->built);
    return true;
}

/// A generation whose files workers would have to load in the midst of searches. Whoever goes back goes back all the
/// same: what waits for him is worse.
static bool are_too_slow(struct reload_making *making, const struct worker_pool_slow *slow)
{
    const struct script_set *set = generation_catalogue(making->built)->set;
    size_t index = slow->script.index;
    struct reload_answer *answer = making->answer;
    struct failure why = { 0 };

    if (!slow->is_too_slow) {
        return false;
    }
    const struct script_file *file =
        slow->script.is_product ? script_set_product_file(set, index) : script_set_supplier_file(set, index);
    failure_at(&why, file->path.data, 0, 0);
    failure_set(&why,
                "the file and its modules take %llu ms to load, and each worker loads all files: it takes too long",
                (unsigned long long)(slow->load_us / 1000));
    failure_help(&why,
                 "move the work into a function, or what it makes into a look-up table; other files may be as slow");
    if (answer->is_rollback || answer->source == RELOAD_TRIAL) {
        log_line(LOG_WARNING, "reload", "%s: %s", why.file, why.message);
        return false;
    }
    answer->outcome = RELOAD_REFUSED;
    reload_answer_add_finding(answer, &why);
    return true;
}

bool reload_publish(struct reload_making *making)
{
    struct worker_pool_slow slow = { .is_too_slow = false };
    struct worker_pool *workers = making->reload->engine->workers;
    struct script_set *now = generation_catalogue(making->built)->set;
    bool has_states = now != generation_catalogue(making->running)->set;

    if (has_states) {
        (void)worker_pool_prepare(workers, now, &slow);
    }
    if (!is_given_up(making) && !are_too_slow(making, &slow) && has_room(making) && publish(making)) {
        return true;
    }
    if (has_states) {
        generation_release(&making->built);
        (void)worker_pool_bury(workers); // what was prepared for it
    }
    return false;
}

// ------------------------------------------------------------------------------------------------------------ fixtures

/// A supplier whose new version fails its fixtures keeps the one that runs, as if the file were broken.
static void on_failing(void *context, struct text supplier, const unsigned char *digest, const struct failure *first)
{
    struct reload_making *making = context;

    if (held_add(&making->failing, SCRIPT_KIND_SUPPLIER, supplier, digest, first) != STATUS_OK) {
        log_line(LOG_ERROR, "reload", "no memory to hold %.*s back, whose fixtures fail", TEXT_ARGS(supplier));
    }
}

static bool has_version(const struct script_set *set, struct text name, const unsigned char *digest)
{
    ptrdiff_t index = script_set_find_supplier(set, name);
    return index >= 0 && memcmp(digest, script_set_supplier_digest(set, (size_t)index), SCRIPT_DIGEST) == 0;
}

/// Is every supplier's version one that ran before, or one whose fixtures were tried with `tried`?
static bool are_all_tried(const struct reload_making *making, const struct script_set *tried)
{
    const struct script_set *now = generation_catalogue(making->built)->set;
    const struct script_set *running = generation_catalogue(making->running)->set;

    for (size_t i = 0; i < script_set_supplier_count(now); i++) {
        struct text name = script_set_supplier(now, i)->name;
        const unsigned char *digest = script_set_supplier_digest(now, i);
        if (!has_version(running, name, digest) && !has_version(tried, name, digest)) {
            return false;
        }
    }
    return true;
}

/// Builds once more without those whose fixtures fail, and again when a file has changed meanwhile. False: the answer
/// says why not.
static bool try_fixtures(struct reload_making *making)
{
    for (size_t i = 0; i < FIXTURE_ROUNDS_MAX; i++) {
        size_t failing = making->failing.count;
        if (making->built == making->running) {
            return true;
        }
        (void)generation_try_fixtures(making->built, &making->changes, on_failing, making);
        if (making->failing.count == failing) {
            return !is_given_up(making);
        }
        struct generation *tried = making->built;
        making->built = NULL;
        bool is_built = reload_build(making, generation_catalogue(tried)->set, NULL);
        bool is_done = !is_built || are_all_tried(making, generation_catalogue(tried)->set);
        generation_release(&tried);
        if (is_done) {
            return is_built;
        }
    }
    making->answer->is_passing = true;
    reload_answer_refuse(making->answer, "files kept changing while they were read", "reload again when they rest");
    return false;
}

// ------------------------------------------------------------------------------------------------------------ the
// whole

static void begin_trials(struct reload_making *making)
{
    struct script_set *before = generation_catalogue(making->running)->set;
    struct script_set *now = generation_catalogue(making->built)->set;

    if (trials_begin(&making->reload->trials, before, now) != STATUS_OK) {
        log_line(LOG_ERROR, "reload", "no memory for trials: what is wrong does not go back by itself");
    }
}

/// Versions that failed their trial, could not go back, and run still.
static void tell_failing_still(struct reload_making *making)
{
    const struct script_set *now = generation_catalogue(making->built)->set;
    struct reload_answer *standing = reload_standing(making->reload);

    for (size_t i = 0; standing != NULL && i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        ptrdiff_t index = script_set_find_supplier(now, row->name);
        if (strcmp(row->fate, "failing") == 0 && index >= 0 &&
            text_equals(script_set_supplier(now, (size_t)index)->label, row->running)) {
            reload_answer_add_kept(making->answer, row);
        }
    }
    reload_answer_release(&standing);
}

void reload_from_disk(struct reload *reload, struct reload_answer *answer)
{
    struct reload_making making;

    reload_making_init(&making, reload, answer);
    if (read_settings(&making) && reload_build(&making, NULL, NULL) && try_fixtures(&making)) {
        held_forget_changed(&reload->held, &making.changes, generation_catalogue(making.built)->set, making.disk_hash);
        reload_tell_kept(&making, &making.changes);
        tell_failing_still(&making);
        if (making.built != making.running) {
            reload_tell_changes(&making);
            if (reload_publish(&making)) {
                begin_trials(&making);
            }
        }
        if (answer->outcome != RELOAD_REFUSED) {
            reload_follow_shadows(&making, true);
        }
    } else if (answer->is_disk_refused && !answer->is_draining) {
        reload_tell_refused(&making);
    }
    reload_making_fini(&making);
}
