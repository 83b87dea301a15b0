// The operator's way back: a generation of before runs again, and what lies on the disk waits.

#include "app/reload_internal.h"
#include "app/settings_compare.h"
#include "base/file_digest.h"
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

/// The file of what runs of a script; NULL: nothing does.
static const struct script_file *running_file(const struct script_set *set, const struct script_change *change)
{
    bool is_product = change->kind == SCRIPT_KIND_PRODUCT;
    ptrdiff_t index =
        is_product ? script_set_find_product(set, change->name) : script_set_find_supplier(set, change->name);

    if (index < 0) {
        return NULL;
    }
    return is_product ? script_set_product_file(set, (size_t)index) : script_set_supplier_file(set, (size_t)index);
}

/// A script that was rolled back stays so while its file says the same, whatever becomes of its modules; one that was
/// rolled back for its modules alone runs again when these change.
static enum status hold_back(struct reload_making *making, const struct script_change *change,
                             const struct failure *because)
{
    const unsigned char *digest = digest_on_disk(change);
    bool is_script = change->kind == SCRIPT_KIND_PRODUCT || change->kind == SCRIPT_KIND_SUPPLIER;
    enum status status = held_add(&making->reload->held, change->kind, change->name, digest, because);

    if (status != STATUS_OK || !is_script || digest == NULL || change->file.data == NULL) {
        return status;
    }
    const struct script_file *file = running_file(generation_catalogue(making->built)->set, change);
    if (file != NULL && file_digest_of(file->source) == file_digest(change->file.data)) {
        return STATUS_OK;
    }
    return held_by_source(&making->reload->held, change->kind, change->name, digest, change->file.data);
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
        if (is_kept && hold_back(making, change, because) != STATUS_OK) {
            log_line(LOG_ERROR, "reload", "no memory to hold %.*s back", TEXT_ARGS(change->name));
        }
    }
    reload_tell_kept(making, &changes);
    generation_release(&seen);
    script_changes_fini(&changes);
}

static void hold_settings_back(struct reload_making *making, const struct failure *because)
{
    struct settings *on_disk = NULL;

    // What cannot be read would be refused anyway, and whoever mends it changes it.
    if (reload_read_settings(making->settings, pass_over, NULL, &on_disk) == STATUS_OK &&
        on_disk->files_hash != making->settings->files_hash && !settings_is_same(on_disk, making->settings)) {
        held_add_settings_values(&making->reload->held, on_disk, because);
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
    for (size_t i = 0; i < making->changes.count; i++) {
        enum script_fate fate = making->changes.items[i].fate;
        if (fate != SCRIPT_KEPT && fate != SCRIPT_LEFT_OUT) {
            return false;
        }
    }
    return settings_is_same(making->settings, generation_settings(making->running));
}

static bool build_found(struct reload_making *making, const struct history_found *found, struct script_set *again)
{
    making->settings = settings_acquire(found->settings);
    making->data = found->data;
    making->rates = found->rates;
    return reload_build(making, NULL, again);
}

/// Tables that were too large to be kept are those of the disk.
static void tell_forgotten(struct reload_answer *answer, uint32_t number, const struct history_found *found)
{
    struct reload_row row = { .kind = "table", .fate = "kept", .name = TEXT("data") };

    if (found->data == NULL) {
        failure_set(&row.because, "the tables of generation %u are not kept any more, so those on the disk run",
                    number);
        failure_help(&row.because, "put their files back as they were, and reload");
        reload_answer_add_kept(answer, &row);
    }
}

void reload_roll_back(struct reload *reload, uint32_t number, struct reload_answer *answer)
{
    struct reload_making making;
    struct history_found found = { 0 };
    struct script_set *again = NULL;
    struct failure because = { 0 };

    reload_making_init(&making, reload, answer);
    if (history_find(&reload->history, number, &found, &because) != STATUS_OK) {
        answer->outcome = RELOAD_REFUSED;
        reload_answer_add_finding(answer, &because);
    } else if ((again = script_set_again(found.set)) == NULL) {
        reload_answer_refuse(answer, "the generation could not be built: out of memory", "try again");
    } else if (build_found(&making, &found, again)) {
        if (is_what_runs(&making)) {
            generation_release(&making.built);
            making.built = generation_acquire(making.running);
        }
        reload_tell_changes(&making);
        if (making.built == making.running || reload_publish(&making)) {
            trials_follow(&reload->trials, generation_catalogue(making.built)->set);
            reload_end_shadows(&making);
            held_forget_running(&reload->held, generation_catalogue(making.built)->set, making.settings->files_hash);
            explain_rollback(&because, number, answer);
            hold_scripts_back(&making, &because);
            hold_settings_back(&making, &because);
            tell_forgotten(answer, number, &found);
        }
    }
    script_set_release(&again);
    history_found_fini(&found);
    reload_making_fini(&making);
}
