// The scripts' own way back: fresh versions that fail make room for those before them, all at once.

#include "app/reload_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdio.h>
#include <stdlib.h>

/// Those that were lost, and what becomes of each.
struct losers {
    struct trial_lost *lost;
    bool *can_go_back;
    size_t count;
};

/// Room for all that are on trial. False: there is no memory, and the next look tries again.
static bool losers_init(struct losers *losers, size_t most)
{
    *losers = (struct losers){
        .lost = calloc(most, sizeof(*losers->lost)),
        .can_go_back = calloc(most, sizeof(*losers->can_go_back)),
    };
    return losers->lost != NULL && losers->can_go_back != NULL;
}

static void losers_fini(struct losers *losers)
{
    free(losers->lost);
    free(losers->can_go_back);
}

static const struct trial_lost *find(const struct losers *losers, struct text name)
{
    for (size_t i = 0; i < losers->count; i++) {
        if (losers->can_go_back[i] && text_equals(losers->lost[i].name, name)) {
            return &losers->lost[i];
        }
    }
    return NULL;
}

/// Rows of what was kept back before still hold, but for those of the losers.
static void tell_standing(struct reload_making *making, const struct reload_answer *standing,
                          const struct losers *losers)
{
    for (size_t i = 0; standing != NULL && i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        if (strcmp(row->kind, "supplier") != 0 || find(losers, row->name) == NULL) {
            reload_answer_add_kept(making->answer, row);
        }
    }
    for (size_t i = 0; standing != NULL && i < standing->restart_count; i++) {
        const struct reload_restart *restart = &standing->restarts[i];
        reload_answer_add_restart(making->answer, restart->setting.data, restart->file.data, restart->line);
    }
}

static void tell_went_back(struct reload_making *making, const struct losers *losers)
{
    struct reload_answer *answer = making->answer;

    reload_tell_changes(making);
    struct reload_answer *standing = reload_standing(making->reload);
    tell_standing(making, standing, losers);
    for (size_t i = 0; i < answer->changed_count; i++) {
        struct reload_row *row = &answer->changed[i];
        const struct trial_lost *lost = find(losers, row->name);
        if (lost != NULL) {
            row->fate = "went_back";
            row->because = lost->because;
            struct reload_row kept = *row;
            kept.fate = "kept";
            kept.on_restart = "runs";
            kept.before = (struct text){ 0 };
            const struct reload_row *before = reload_answer_find_kept(standing, "supplier", row->name);
            kept.on_disk = before != NULL ? before->on_disk : row->before; // this one may have been gone back to, too
            reload_answer_add_kept(answer, &kept);
        }
    }
    reload_answer_release(&standing);
}

/// They failed, and run on: what was before them does not go with what runs beside them now. It stands until another
/// version runs.
static void tell_failing(struct reload_making *making, const struct losers *losers)
{
    const struct script_set *set = generation_catalogue(making->running)->set;
    struct reload_answer *answer = making->answer;

    for (size_t i = 0; i < losers->count; i++) {
        const struct trial_lost *lost = &losers->lost[i];
        ptrdiff_t index = script_set_find_supplier(set, lost->name);
        struct reload_row row = { .kind = "supplier", .fate = "failing", .name = lost->name, .because = lost->because };
        const char *why = answer->finding_count > 0 ? answer->findings[0].message : "it could not be built";

        if (losers->can_go_back[i] || index < 0) {
            continue;
        }
        row.running = script_set_supplier(set, (size_t)index)->label;
        row.file = script_set_supplier_file(set, (size_t)index)->path;
        failure_set(&row.because, "%s (and the version before cannot run again: %s)", lost->because.message, why);
        failure_help(&row.because, "mend the script, or roll back");
        reload_answer_add_kept(answer, &row);
        events_note(&making->reload->events, EVENT_KEPT, answer->generation, row.name, &row.because);
    }
}

/// Nothing could go back.
static void tell_refused(struct reload_making *making, const struct losers *losers)
{
    struct reload_answer *standing = reload_standing(making->reload);

    tell_standing(making, standing, losers);
    tell_failing(making, losers);
    reload_answer_release(&standing);
}

static void hold_back(struct reload_making *making, const struct losers *losers)
{
    const struct script_set *was_running = generation_catalogue(making->running)->set;

    for (size_t i = 0; i < losers->count; i++) {
        const struct trial_lost *lost = &losers->lost[i];
        ptrdiff_t index = script_set_find_supplier(was_running, lost->name);
        if (losers->can_go_back[i] && index >= 0 &&
            held_add(&making->reload->held, SCRIPT_KIND_SUPPLIER, lost->name,
                     script_set_supplier_digest(was_running, (size_t)index), &lost->because) != STATUS_OK) {
            log_line(LOG_ERROR, "reload", "no memory to hold %.*s back", TEXT_ARGS(lost->name));
        }
    }
}

/// The running set with the version before of each that can go back; NULL: of none. What cannot is a finding.
static struct script_set *without_losers(struct reload_making *making, struct losers *losers)
{
    struct script_set *made = NULL;

    for (size_t i = 0; i < losers->count; i++) {
        const struct trial_lost *lost = &losers->lost[i];
        struct script_set *from = made != NULL ? made : generation_catalogue(making->running)->set;
        struct script_set *next = NULL;
        losers->can_go_back[i] =
            script_set_with(from, lost->fallback, lost->name, reload_on_finding, making, &next) == STATUS_OK;
        if (losers->can_go_back[i]) {
            script_set_release(&made);
            made = next;
        } else {
            log_line(LOG_WARNING, "reload", "%.*s fails, and the version before cannot run again",
                     TEXT_ARGS(lost->name));
        }
    }
    return made;
}

static void go_back(struct reload *reload, struct losers *losers, struct reload_answer *answer)
{
    struct reload_making making;

    reload_making_init(&making, reload, answer);
    making.settings = reload_settings_of(making.running);
    making.data = generation_catalogue(making.running)->data; // tables and rates stay: they are not on trial
    making.rates = generation_catalogue(making.running)->rates;
    struct script_set *set = without_losers(&making, losers);
    if (set == NULL) {
        answer->outcome = RELOAD_REFUSED;
        tell_refused(&making, losers);
    } else if (reload_build(&making, NULL, set)) {
        tell_went_back(&making, losers);
        tell_failing(&making, losers);
        if (reload_publish(&making)) {
            hold_back(&making, losers);
            reload_follow_shadows(&making, false);
        }
    } else {
        memset(losers->can_go_back, 0, losers->count * sizeof(*losers->can_go_back)); // not with the settings of now
        tell_refused(&making, losers);
    }
    script_set_release(&set);
    reload_making_fini(&making);
}

/// "acme@77aa: 5 of its first 37 calls failed, first: suppliers/acme.lua:12: … (and 3 more scripts)"
static void explain(const struct script_set *running, const struct losers *losers, char *out, size_t size)
{
    const struct trial_lost *lost = &losers->lost[0];
    ptrdiff_t index = script_set_find_supplier(running, lost->name);
    struct text label = index >= 0 ? script_set_supplier(running, (size_t)index)->label : lost->name;
    char first[1024], others[48] = "";

    failure_print(&lost->because, first, sizeof(first));
    if (losers->count > 1) {
        (void)snprintf(others, sizeof(others), " (and %zu more scripts)", losers->count - 1);
    }
    (void)snprintf(out, size, "%.*s: %llu of its first %llu calls failed, first: %s%s", TEXT_ARGS(label),
                   (unsigned long long)lost->seen.errors, (unsigned long long)lost->seen.calls, first, others);
}

/// What runs again may be on a trial of its own. Who could not go back is not asked again; where only room was missing,
/// the next look tries once more.
static void end_lost(struct reload *reload, const struct losers *losers)
{
    struct generation *running = engine_generation(reload->engine);

    for (size_t i = 0; i < losers->count; i++) {
        if (!losers->can_go_back[i]) {
            trials_end(&reload->trials, losers->lost[i].name);
        }
    }
    trials_follow(&reload->trials, generation_catalogue(running)->set);
    generation_release(&running);
}

/// All that were lost go back in one generation, so that a file of many suppliers costs one publish.
static void take_back(struct reload *reload, const struct script_set *running, struct losers *losers)
{
    char why[1536];
    uint64_t began_us = clock_now_us();

    explain(running, losers, why, sizeof(why));
    struct reload_answer *answer = reload_answer_create(RELOAD_TRIAL, TEXT("trial"), text_of(why));
    if (answer != NULL) {
        go_back(reload, losers, answer);
        answer->took_us = clock_now_us() - began_us;
        reload_note(reload, answer);
        end_lost(reload, losers);
    }
    reload_answer_release(&answer);
}

void reload_judge_trials(struct reload *reload)
{
    if (reload->trials.count == 0) {
        return;
    }
    struct generation *running = engine_generation(reload->engine);
    const struct settings *settings = generation_settings(running);
    const struct script_set *set = generation_catalogue(running)->set;
    struct trial_limits limits = { settings->reload_trial_calls, settings->reload_trial_errors };
    size_t most = reload->trials.count;
    struct losers losers;

    if (losers_init(&losers, most)) {
        losers.count = trials_find_lost(&reload->trials, set, &limits, losers.lost, most);
    }
    if (losers.count > 0) {
        take_back(reload, set, &losers);
    }
    losers_fini(&losers);
    generation_release(&running);
}

// --------------------------------------------------------------------------------------------------------------
// telling

/// "\nacme@3f9a\nbravo@1111\n"; NULL: none is.
static char *print_trials(const struct trials *trials, const struct script_set *set)
{
    struct buffer labels;
    char *printed = NULL;

    buffer_init(&labels, 2 * EVENT_NAME_MAX * (trials->count + 1));
    for (size_t i = 0; i < trials->count; i++) {
        const struct trial *trial = &trials->items[i];
        ptrdiff_t index = script_set_find_supplier(set, text_of(trial->name));
        if (index >= 0 && memcmp(script_set_supplier_digest(set, (size_t)index), trial->digest, SCRIPT_DIGEST) == 0) {
            buffer_append_byte(&labels, '\n');
            buffer_append_text(&labels, script_set_supplier(set, (size_t)index)->label);
            buffer_append_byte(&labels, '\n');
        }
    }
    if (labels.length > 0) {
        printed = buffer_take(&labels);
    }
    buffer_fini(&labels);
    return printed;
}

void reload_tell_trials(struct reload *reload)
{
    struct generation *running = engine_generation(reload->engine);
    char *now = print_trials(&reload->trials, generation_catalogue(running)->set);

    pthread_mutex_lock(&reload->mutex);
    char *before = reload->on_trial;
    reload->on_trial = now;
    pthread_mutex_unlock(&reload->mutex);
    free(before);
    generation_release(&running);
}
