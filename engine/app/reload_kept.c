// What lies on the disk and does not run: its rows, and how long they stand.

#include "app/reload_internal.h"
#include "app/settings_compare.h"
#include "model/catalogue.h"

#include <stdio.h>

const char *reload_kind_name(enum script_kind kind)
{
    static const char *const names[] = {
        [SCRIPT_KIND_PRODUCT] = "product", [SCRIPT_KIND_SUPPLIER] = "supplier", [SCRIPT_KIND_SCRIPTS] = "scripts",
        [SCRIPT_KIND_TABLE] = "table",     [SCRIPT_KIND_RATES] = "rates",       [SCRIPT_KIND_SECRETS] = "secrets",
    };
    return names[kind];
}

const char *reload_fate_name(enum script_fate fate)
{
    static const char *const names[] = {
        [SCRIPT_SAME] = "same",       [SCRIPT_CHANGED] = "changed", [SCRIPT_ADDED] = "added",
        [SCRIPT_REMOVED] = "removed", [SCRIPT_KEPT] = "kept",       [SCRIPT_LEFT_OUT] = "left_out",
        [SCRIPT_SHADOW] = "shadow",
    };
    return names[fate];
}

// ------------------------------------------------------------------------------------------------------------- scripts

/// Only what runs knows of fixtures that failed, of trials and of rollbacks; a start takes any script that passes its
/// check.
static const char *on_restart(struct reload_making *making, const struct script_change *change)
{
    const unsigned char *digest = change->on_disk.data != NULL ? change->on_disk_digest : NULL;
    struct failure because;
    bool is_good = held_refuses(&making->reload->held, change->kind, change->name, digest, &because) ||
                   held_refuses(&making->failing, change->kind, change->name, digest, &because);

    return change->kind == SCRIPT_KIND_SECRETS ? "off" : is_good ? "runs" : "fails";
}

void reload_tell_kept(struct reload_making *making, const struct script_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct script_change *change = &changes->items[i];
        struct reload_row row = {
            .kind = reload_kind_name(change->kind),
            .fate = reload_fate_name(change->fate),
            .name = change->name,
            .file = change->file,
            .running = change->running,
            .on_disk = change->on_disk,
            .because = change->because,
        };
        if (change->fate == SCRIPT_KEPT || change->fate == SCRIPT_LEFT_OUT) {
            row.on_restart = on_restart(making, change);
            reload_answer_add_kept(making->answer, &row);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ settings

/// Settings that do not run, beside those that do: "generation 30".
static void tell_settings(struct reload_making *making, const char *fate, const char *on_restart,
                          const struct failure *because)
{
    const struct settings *running = generation_settings(making->running);
    char label[32];
    int length = snprintf(label, sizeof(label), "generation %u", making->reload->settings_generation);
    struct reload_row row = {
        .kind = "settings",
        .fate = fate,
        .name = TEXT("settings"),
        .running = { label, (size_t)length },
        .because = *because,
        .on_restart = on_restart,
    };

    if (because->file[0] != '\0') {
        row.file = text_of(because->file);
    } else if (running->file_count == 1) { // of several it is not known which
        row.file = text_of(running->files[running->file_count - 1].path);
    }
    reload_answer_add_kept(making->answer, &row);
}

void reload_tell_kept_settings(struct reload_making *making, const struct failure *because)
{
    tell_settings(making, "kept", "runs", because);
}

static void pass_over(void *context, const struct failure *failure)
{
    (void)context;
    (void)failure;
}

static bool refuses_held(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                         struct failure *because)
{
    struct reload_making *making = context;

    if (atomic_load(&making->reload->is_draining)) {
        failure_set(because, "the engine is stopping");
        return true;
    }
    return held_refuses(&making->reload->held, kind, name, digest, because);
}

static void tell_waiting(struct reload_making *making, const struct script_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct script_change *change = &changes->items[i];
        struct reload_row row = {
            .kind = reload_kind_name(change->kind),
            .fate = "waits",
            .name = change->name,
            .file = change->file,
            .running = change->before,
            .on_disk = change->running,
            .on_restart = "runs",
        };
        if (change->fate != SCRIPT_KEPT && change->fate != SCRIPT_LEFT_OUT) {
            failure_set(&row.because, "it waits until the settings can run");
            reload_answer_add_kept(making->answer, &row);
        }
    }
}

static void tell_as_before(struct reload_making *making)
{
    struct reload_answer *standing = reload_standing(making->reload);

    for (size_t i = 0; standing != NULL && i < standing->kept_count; i++) {
        if (strcmp(standing->kept[i].kind, "settings") != 0) {
            reload_answer_add_kept(making->answer, &standing->kept[i]);
        }
    }
    reload_answer_release(&standing);
}

/// What would run with the settings that run: nothing of it does until those on the disk are mended.
static void look_behind(struct reload_making *making)
{
    struct settings *settings = reload_settings_of(making->running);
    struct generation_order order = {
        .settings = settings,
        .previous = making->running,
        .refuses = refuses_held,
        .refuses_context = making,
    };
    struct script_changes changes;
    struct generation *seen = NULL;

    script_changes_init(&changes);
    bool is_seen = generation_build_over(&order, pass_over, NULL, &seen, &changes) == STATUS_OK &&
                   !atomic_load(&making->reload->is_draining);
    if (is_seen) {
        reload_tell_kept(making, &changes);
        tell_waiting(making, &changes);
    } else {
        tell_as_before(making);
    }
    generation_release(&seen);
    script_changes_fini(&changes);
    settings_release(&settings);
}

void reload_tell_refused(struct reload_making *making)
{
    const struct reload_answer *answer = making->answer;
    const struct settings *running = generation_settings(making->running);
    size_t torn = making->settings != NULL ? settings_find_torn(running, making->settings, pass_over, NULL) : 0;
    bool is_torn_only = torn > 0 && torn == answer->finding_count + answer->finding_more;

    tell_settings(making, "refused", is_torn_only ? "runs" : "fails", &answer->findings[0]);
    look_behind(making);
}

// ---------------------------------------------------------------------------------------------------------- what
// stands

/// What the disk alone does not tell: settings that it refused, and versions that fail and run on.
static bool stays(const struct reload_row *row)
{
    return strcmp(row->fate, "refused") == 0 || strcmp(row->fate, "failing") == 0;
}

/// The same row, told before.
static const struct reload_row *find_told(const struct reload_answer *standing, const struct reload_row *row)
{
    const struct reload_row *told = reload_answer_find_kept(standing, row->kind, row->name);
    bool is_same = told != NULL && strcmp(told->fate, row->fate) == 0 && text_equals(told->on_disk, row->on_disk);
    return is_same ? told : NULL;
}

static void keep_times(struct reload_answer *answer, const struct reload_answer *standing)
{
    for (size_t i = 0; i < answer->kept_count; i++) {
        struct reload_row *row = &answer->kept[i];
        const struct reload_row *told = find_told(standing, row);
        row->since_wall_us = told != NULL ? told->since_wall_us : answer->began_wall_us;
    }
}

static void copy_restarts(struct reload_answer *made, const struct reload_answer *from)
{
    for (size_t i = 0; i < from->restart_count; i++) {
        const struct reload_restart *restart = &from->restarts[i];
        reload_answer_add_restart(made, restart->setting.data, restart->file.data, restart->line);
    }
}

/// The rows of this answer, and what was not looked at again.
static struct reload_answer *stand_with(const struct reload_answer *answer, const struct reload_answer *standing)
{
    struct reload_answer *made = reload_answer_create(answer->source, answer->who, answer->why);

    for (size_t i = 0; made != NULL && i < answer->kept_count; i++) {
        reload_answer_add_kept(made, &answer->kept[i]);
    }
    for (size_t i = 0; made != NULL && standing != NULL && i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        if (stays(row) && reload_answer_find_kept(made, row->kind, row->name) == NULL) {
            reload_answer_add_kept(made, row);
        }
    }
    if (made != NULL && standing != NULL) {
        copy_restarts(made, standing);
    }
    return made;
}

struct reload_answer *reload_stand(struct reload_answer *answer, struct reload_answer *standing)
{
    bool has_seen_settings = reload_answer_find_kept(answer, "settings", TEXT("settings")) != NULL;

    keep_times(answer, standing);
    if (answer->outcome == RELOAD_REFUSED && answer->source != RELOAD_TRIAL) { // which tells of what fails
        return answer->is_disk_refused && answer->kept_count > 0 ? stand_with(answer, standing) : NULL;
    }
    if (answer->is_rollback && !has_seen_settings && standing != NULL) {
        return stand_with(answer, standing); // what lies on the disk is refused still, or waits for a restart still
    }
    return reload_answer_acquire(answer);
}
