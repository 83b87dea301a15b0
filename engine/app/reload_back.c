// Ways back: an operator's, to a generation before, and a script's own, when its trial is lost.

#include "app/reload_internal.h"
#include "app/settings_compare.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdio.h>

// ------------------------------------------------------------------------------------------------------------ rollback

/// A look at the disk, at which nothing but what runs may run.
struct look {
    const struct script_set *running;
    const struct failure *because;
};

static bool is_running(const struct script_set *set, enum script_kind kind, struct text name,
                       const unsigned char *digest)
{
    bool is_product = kind == SCRIPT_KIND_PRODUCT;
    ptrdiff_t index = is_product ? script_set_find_product(set, name) : script_set_find_supplier(set, name);

    if (index < 0 || digest == NULL) {
        return false;
    }
    const unsigned char *runs =
        is_product ? script_set_product_digest(set, (size_t)index) : script_set_supplier_digest(set, (size_t)index);
    return memcmp(digest, runs, SCRIPT_DIGEST) == 0;
}

static bool refuse_others(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                          struct failure *because)
{
    const struct look *look = context;

    if (is_running(look->running, kind, name, digest)) {
        return false;
    }
    *because = *look->because;
    return true;
}

static void pass_over(void *context, const struct failure *failure)
{
    (void)context;
    (void)failure;
}

static const unsigned char *digest_on_disk(const struct script_change *change)
{
    return change->on_disk.data != NULL ? change->on_disk_digest : NULL;
}

/// What lies on the disk and differs from what was rolled back to must not come back with the next reload.
static void hold_scripts_back(struct reload_making *making, const struct failure *because)
{
    struct look look = { generation_catalogue(making->built)->set, because };
    struct generation_order order = {
        .settings = making->settings,
        .previous = making->built,
        .refuses = refuse_others,
        .refuses_context = &look,
    };
    struct script_changes changes;
    struct generation *seen = NULL;

    script_changes_init(&changes);
    if (generation_build_over(&order, pass_over, NULL, &seen, &changes) != STATUS_OK) {
        log_line(LOG_WARNING, "reload",
                 "the scripts on the disk could not be read: the next reload takes what it finds");
    }
    for (size_t i = 0; i < changes.count; i++) {
        const struct script_change *change = &changes.items[i];
        bool is_kept = change->fate == SCRIPT_KEPT || change->fate == SCRIPT_LEFT_OUT;
        if (is_kept &&
            held_add(&making->reload->held, change->kind, change->name, digest_on_disk(change), because) != STATUS_OK) {
            log_line(LOG_ERROR, "reload", "no memory to hold %.*s back", TEXT_ARGS(change->name));
        }
    }
    reload_tell_kept(making->answer, &changes);
    generation_release(&seen);
    script_changes_fini(&changes);
}

static void hold_settings_back(struct reload_making *making, const struct failure *because)
{
    struct settings *on_disk = NULL;

    // What cannot be read would be refused anyway, and whoever mends it changes it.
    if (reload_read_settings(making->settings, pass_over, NULL, &on_disk) == STATUS_OK &&
        on_disk->files_hash != making->settings->files_hash) {
        held_add_settings(&making->reload->held, on_disk->files_hash, because);
        reload_tell_kept_settings(making, because);
    }
    settings_release(&on_disk);
}

static void explain_rollback(struct failure *because, uint32_t number, const struct reload_answer *answer)
{
    *because = (struct failure){ 0 };
    failure_set(because, "generation %u was rolled back to%s%.*s", number, answer->who.length > 0 ? " by " : "",
                TEXT_ARGS(answer->who));
    failure_help(because, "it runs again when its file changes, or with `lastcall reload --retry NAME`");
}

/// The scripts are another set, but may be the same ones.
static bool is_what_runs(const struct reload_making *making)
{
    return making->changes.count == 0 && settings_is_same(making->settings, generation_settings(making->running));
}

void reload_roll_back(struct reload *reload, uint32_t number, struct reload_answer *answer)
{
    struct reload_making making;
    struct script_set *kept = NULL;
    struct script_set *again = NULL;
    struct failure because = { 0 };

    reload_making_init(&making, reload, answer);
    if (history_find(&reload->history, number, &making.settings, &kept, &because) != STATUS_OK) {
        answer->outcome = RELOAD_REFUSED;
        reload_answer_add_finding(answer, &because);
    } else if ((again = script_set_again(kept)) == NULL) {
        reload_answer_refuse(answer, "the generation could not be built: out of memory", "try again");
    } else if (reload_build(&making, NULL, again)) {
        if (is_what_runs(&making)) {
            generation_release(&making.built);
            making.built = generation_acquire(making.running);
        }
        reload_tell_changes(&making);
        if (making.built == making.running || reload_publish(&making)) {
            trials_follow(&reload->trials, generation_catalogue(making.built)->set);
            reload_end_shadows(&making);
            explain_rollback(&because, number, answer);
            hold_scripts_back(&making, &because);
            hold_settings_back(&making, &because);
        }
    }
    script_set_release(&again);
    script_set_drop(&kept);
    reload_making_fini(&making);
}

// ---------------------------------------------------------------------------------------------------------- going back

/// Rows of what was kept back before still hold, but for this supplier's.
static void tell_standing(struct reload *reload, struct text name, struct reload_answer *answer)
{
    struct reload_answer *standing = reload_standing(reload);

    for (size_t i = 0; standing != NULL && i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        if (strcmp(row->kind, "supplier") != 0 || !text_equals(row->name, name)) {
            reload_answer_add_kept(answer, row);
        }
    }
    for (size_t i = 0; standing != NULL && i < standing->restart_count; i++) {
        const struct reload_restart *restart = &standing->restarts[i];
        reload_answer_add_restart(answer, restart->setting.data, restart->file.data, restart->line);
    }
    reload_answer_release(&standing);
}

static void tell_went_back(struct reload_making *making, const struct trial_lost *lost)
{
    struct reload_answer *answer = making->answer;

    reload_tell_changes(making);
    tell_standing(making->reload, lost->name, answer);
    for (size_t i = 0; i < answer->changed_count; i++) {
        struct reload_row *row = &answer->changed[i];
        if (text_equals(row->name, lost->name)) {
            row->fate = "went_back";
            row->because = lost->because;
            struct reload_row kept = *row;
            kept.fate = "kept";
            kept.before = (struct text){ 0 };
            kept.on_disk = row->before;
            reload_answer_add_kept(answer, &kept);
        }
    }
}

static void go_back(struct reload *reload, const struct trial_lost *lost, struct reload_answer *answer)
{
    struct reload_making making;
    struct script_set *set = NULL;

    reload_making_init(&making, reload, answer);
    making.settings = reload_settings_of(making.running);
    struct script_set *running = generation_catalogue(making.running)->set;
    ptrdiff_t index = script_set_find_supplier(running, lost->name);
    enum status status = script_set_with(running, lost->fallback, lost->name, reload_on_finding, &making, &set);
    if (status != STATUS_OK) {
        reload_answer_refuse(answer, "its version before cannot run again", "mend the script, or roll back");
    } else if (reload_build(&making, NULL, set)) {
        tell_went_back(&making, lost);
        bool is_published = reload_publish(&making);
        if (is_published) {
            reload_follow_shadows(&making, false);
        }
        if (is_published &&
            held_add(&reload->held, SCRIPT_KIND_SUPPLIER, lost->name,
                     script_set_supplier_digest(running, (size_t)index), &lost->because) != STATUS_OK) {
            log_line(LOG_ERROR, "reload", "no memory to hold %.*s back", TEXT_ARGS(lost->name));
        }
    }
    script_set_release(&set);
    reload_making_fini(&making);
}

/// "acme@77aa: 5 of its first 37 calls failed, first: suppliers/acme.lua:12: …"
static void explain_trial(const struct reload *reload, const struct trial_lost *lost, char *out, size_t size)
{
    struct generation *running = engine_generation(reload->engine);
    const struct script_set *set = generation_catalogue(running)->set;
    ptrdiff_t index = script_set_find_supplier(set, lost->name);
    struct text label = index >= 0 ? script_set_supplier(set, (size_t)index)->label : lost->name;
    char first[1024];

    failure_print(&lost->because, first, sizeof(first));
    (void)snprintf(out, size, "%.*s: %llu of its first %llu calls failed, first: %s", TEXT_ARGS(label),
                   (unsigned long long)lost->seen.errors, (unsigned long long)lost->seen.calls, first);
    generation_release(&running);
}

/// What runs again may be on a trial of its own; one that could not go back is not asked again.
static void end_lost(struct reload *reload, const struct trial_lost *lost, bool went_back)
{
    struct generation *running = engine_generation(reload->engine);

    if (went_back) {
        trials_follow(&reload->trials, generation_catalogue(running)->set);
    } else {
        trials_end(&reload->trials, lost->name);
    }
    generation_release(&running);
}

void reload_judge_trials(struct reload *reload)
{
    struct generation *running = engine_generation(reload->engine);
    const struct settings *settings = generation_settings(running);
    struct trial_limits limits = { settings->reload_trial_calls, settings->reload_trial_errors };
    struct trial_lost lost;
    bool is_lost = trials_find_lost(&reload->trials, generation_catalogue(running)->set, &limits, &lost);

    generation_release(&running);
    if (!is_lost) {
        return;
    }
    char why[1536];
    uint64_t began_us = clock_now_us();
    explain_trial(reload, &lost, why, sizeof(why));
    struct reload_answer *answer = reload_answer_create(RELOAD_TRIAL, TEXT("trial"), text_of(why));
    if (answer != NULL) {
        go_back(reload, &lost, answer);
        answer->took_us = clock_now_us() - began_us;
        reload_note(reload, answer);
    }
    end_lost(reload, &lost, answer != NULL && answer->outcome == RELOAD_PUBLISHED);
    reload_answer_release(&answer);
}
