// What became of a reload, told to those who did not ask: history, events, log, and what the status shows.

#include "app/reload_internal.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdio.h>
#include <stdlib.h>

/// The first reason of a refusal, with its place; else what changed.
static void summarise(const struct reload_answer *answer, struct failure *sentence)
{
    struct buffer line;

    *sentence = (struct failure){ 0 };
    if (answer->outcome == RELOAD_REFUSED && answer->finding_count > 0) {
        *sentence = answer->findings[0];
        failure_set(sentence, "refused, asked for by %s: %s", reload_source_name(answer->source),
                    answer->findings[0].message);
        return;
    }
    buffer_init(&line, sizeof(sentence->message));
    reload_answer_print(answer, &line);
    failure_set(sentence, "%.*s", TEXT_ARGS(buffer_text(&line)));
    buffer_fini(&line);
}

/// Was the same row told before?
static bool is_told(const struct reload_answer *standing, const struct reload_row *row)
{
    const struct reload_row *told = reload_answer_find_kept(standing, row->kind, row->name);
    return told != NULL && text_equals(told->on_disk, row->on_disk) &&
           strcmp(told->because.message, row->because.message) == 0;
}

static bool is_restart_told(const struct reload_answer *standing, const struct reload_restart *restart)
{
    for (size_t i = 0; standing != NULL && i < standing->restart_count; i++) {
        if (text_equals(standing->restarts[i].setting, restart->setting)) {
            return true;
        }
    }
    return false;
}

static void note_kept(struct reload *reload, const struct reload_answer *answer, const struct reload_answer *standing)
{
    for (size_t i = 0; i < answer->kept_count; i++) {
        const struct reload_row *row = &answer->kept[i];
        if (!is_told(standing, row)) {
            events_note(&reload->events, EVENT_KEPT, answer->generation, row->name, &row->because);
        }
    }
    for (size_t i = 0; i < answer->restart_count; i++) {
        const struct reload_restart *restart = &answer->restarts[i];
        if (!is_restart_told(standing, restart)) {
            struct failure because = { 0 };
            failure_at(&because, restart->file.data, restart->line, 0);
            failure_set(&because, "%.*s takes effect after a restart only", TEXT_ARGS(restart->setting));
            events_note(&reload->events, EVENT_RESTART_NEEDED, answer->generation, restart->setting, &because);
        }
    }
}

static void note_went_back(struct reload *reload, const struct reload_answer *answer)
{
    for (size_t i = 0; i < answer->changed_count; i++) {
        const struct reload_row *row = &answer->changed[i];
        if (strcmp(row->fate, "went_back") == 0) {
            struct failure because = row->because;
            failure_set(&because, "%.*s runs again: %s", TEXT_ARGS(row->running), row->because.message);
            events_note(&reload->events, EVENT_WENT_BACK, answer->generation, row->name, &because);
        }
    }
}

static void note_events(struct reload *reload, const struct reload_answer *answer, const struct reload_answer *standing)
{
    struct failure sentence;
    enum event_kind kind = answer->is_rollback ? EVENT_ROLLBACK : EVENT_RELOAD;

    summarise(answer, &sentence);
    if (answer->outcome == RELOAD_UNCHANGED) {
        if (answer->source != RELOAD_WATCH) {
            log_line(LOG_INFO, "reload", "%s", sentence.message);
        }
    } else {
        events_note(&reload->events, kind, answer->generation, (struct text){ 0 }, &sentence);
    }
    if (answer->outcome != RELOAD_REFUSED) {
        note_went_back(reload, answer);
        if (answer->source != RELOAD_TRIAL) {
            note_kept(reload, answer, standing);
        }
    }
}

static void note_history(struct reload *reload, struct reload_answer *answer)
{
    struct generation *running = engine_generation(reload->engine);
    struct settings *settings = reload_settings_of(running);

    history_note(&reload->history, running, settings, answer);
    settings_release(&settings);
    generation_release(&running);
}

void reload_note(struct reload *reload, struct reload_answer *answer)
{
    struct reload_answer *standing = reload_standing(reload);
    struct reload_answer *old_last = NULL;
    struct reload_answer *old_standing = NULL;

    note_events(reload, answer, standing);
    if (answer->outcome == RELOAD_PUBLISHED) {
        note_history(reload, answer);
    }
    pthread_mutex_lock(&reload->mutex);
    reload->counts[answer->outcome]++;
    old_last = reload->last;
    reload->last = reload_answer_acquire(answer);
    if (answer->outcome != RELOAD_REFUSED || answer->source == RELOAD_TRIAL) { // which tells of what fails
        old_standing = reload->standing;
        reload->standing = reload_answer_acquire(answer);
    }
    pthread_mutex_unlock(&reload->mutex);
    reload_answer_release(&old_last);
    reload_answer_release(&old_standing);
    reload_answer_release(&standing);
}

// --------------------------------------------------------------------------------------------------------- quarantines

/// One line for each script in quarantine; what was told before is not told again.
static void tell_quarantine(struct reload *reload, const struct generation *running, struct script_id script,
                            struct text name, struct text label, struct buffer *now)
{
    char line[EVENT_NAME_MAX + 2];
    char why[256];

    if (!script_set_tell_quarantine(generation_catalogue(running)->set, script, why, sizeof(why))) {
        return;
    }
    (void)snprintf(line, sizeof(line), "%.*s\n", TEXT_ARGS(label));
    buffer_append_c(now, line);
    if (reload->quarantined == NULL || strstr(reload->quarantined, line) == NULL) {
        struct failure because = { 0 };
        failure_set(&because, "%.*s: %s", TEXT_ARGS(label), why);
        events_note(&reload->events, EVENT_QUARANTINE, generation_number(running), name, &because);
    }
}

void reload_tell_quarantines(struct reload *reload)
{
    struct generation *running = engine_generation(reload->engine);
    const struct script_set *set = generation_catalogue(running)->set;
    struct buffer now;

    buffer_init(&now, QUARANTINES_TOLD * EVENT_NAME_MAX);
    for (size_t i = 0; i < script_set_product_count(set); i++) {
        struct script_id script = { .is_product = true, .index = i };
        tell_quarantine(reload, running, script, script_set_product(set, i), script_set_product_version(set, i)->label,
                        &now);
    }
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        struct script_id script = { .index = i };
        tell_quarantine(reload, running, script, script_set_supplier(set, i)->name, script_set_supplier(set, i)->label,
                        &now);
    }
    free(reload->quarantined);
    reload->quarantined = now.length > 0 ? buffer_take(&now) : NULL;
    buffer_fini(&now);
    generation_release(&running);
}
