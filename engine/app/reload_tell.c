// What became of a reload, told to those who did not ask: history, events, log, and what the status shows.

#include "app/reload_internal.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdio.h>
#include <stdlib.h>

/// A refusal: by whose wish, and its first reason with its place.
static void note_refused(struct reload *reload, const struct reload_answer *answer)
{
    struct failure sentence = { 0 };
    struct failure first = { .message = "out of memory" };
    char what[48] = "reload";

    if (answer->finding_count > 0) {
        first = answer->findings[0];
    }
    sentence = first;
    if (answer->is_rollback) {
        (void)snprintf(what, sizeof(what), "rollback to %u", answer->roll_back_to);
    } else if (answer->is_disk_refused) {
        (void)snprintf(what, sizeof(what), "settings");
    }
    failure_set(&sentence, "%s refused: %s (asked for by %s)", what, first.message, reload_source_name(answer->source));
    if (answer->is_draining) {
        log_line(LOG_INFO, "reload", "%s", sentence.message); // it is the end that was asked for
    } else {
        events_note(&reload->events, EVENT_REFUSED, answer->generation, (struct text){ 0 }, &sentence);
    }
}

static void note_changed(struct reload *reload, const struct reload_answer *answer)
{
    for (size_t i = 0; i < answer->changed_count; i++) {
        const struct reload_row *row = &answer->changed[i];
        struct failure because = row->because;
        if (strcmp(row->fate, "went_back") == 0) {
            failure_set(&because, "%.*s runs again: %s", TEXT_ARGS(row->running), row->because.message);
            events_note(&reload->events, EVENT_WENT_BACK, answer->generation, row->name, &because);
        } else if (strcmp(row->fate, "removed") == 0) {
            failure_set(&because, "%s %.*s is gone, before it %.*s ran", row->kind, TEXT_ARGS(row->name),
                        TEXT_ARGS(row->before));
            events_note(&reload->events, EVENT_REMOVED, answer->generation, row->name, &because);
        }
    }
}

static void note_done(struct reload *reload, const struct reload_answer *answer)
{
    struct failure sentence = { 0 };
    struct buffer line;

    buffer_init(&line, sizeof(sentence.message));
    reload_answer_print(answer, &line);
    failure_set(&sentence, "%.*s", TEXT_ARGS(buffer_text(&line)));
    buffer_fini(&line);
    if (answer->outcome == RELOAD_PUBLISHED) {
        events_note(&reload->events, answer->is_rollback ? EVENT_ROLLBACK : EVENT_RELOAD, answer->generation,
                    (struct text){ 0 }, &sentence);
    } else if (answer->source != RELOAD_WATCH) {
        log_line(LOG_INFO, "reload", "%s", sentence.message);
    }
}

static void note_events(struct reload *reload, const struct reload_answer *answer, const struct reload_answer *before,
                        const struct reload_answer *now)
{
    if (answer->outcome == RELOAD_REFUSED) {
        note_refused(reload, answer);
    } else {
        note_done(reload, answer);
        note_changed(reload, answer);
    }
    if (now != NULL && answer->source != RELOAD_TRIAL) {
        reload_note_kept(reload, now, before);
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

/// A look of the watch that finds nothing new is not worth to take the place of one that did.
static bool is_last(const struct reload *reload, const struct reload_answer *answer, bool is_news)
{
    bool is_vain = answer->outcome == RELOAD_UNCHANGED && answer->source == RELOAD_WATCH && !is_news;
    bool is_over = reload->last != NULL && reload->last->is_disk_refused; // the refusal is true no more

    return !answer->is_draining && (!is_vain || is_over);
}

/// Is what is kept back now other than before?
static bool is_news(const struct reload_answer *now, const struct reload_answer *before)
{
    size_t kept = before != NULL ? before->kept_count : 0;
    bool is_same =
        now != NULL && now->kept_count == kept && now->restart_count == (before != NULL ? before->restart_count : 0);

    for (size_t i = 0; is_same && i < kept; i++) {
        is_same = now->kept[i].since_wall_us == before->kept[i].since_wall_us;
    }
    return !is_same;
}

static void take(struct reload_answer **place, struct reload_answer *answer, struct reload_answer **old)
{
    *old = *place;
    *place = reload_answer_acquire(answer);
}

void reload_note(struct reload *reload, struct reload_answer *answer)
{
    struct reload_answer *before = reload_standing(reload);
    struct reload_answer *now = reload_stand(answer, before);
    struct reload_answer *old[3] = { NULL };
    bool is_new = is_news(now, before);

    note_events(reload, answer, before, now);
    if (answer->outcome == RELOAD_PUBLISHED) {
        note_history(reload, answer);
        reload->settings_generation = answer->settings_changed ? answer->generation : reload->settings_generation;
    }
    pthread_mutex_lock(&reload->mutex);
    reload->counts[answer->outcome]++;
    if (is_last(reload, answer, is_new)) {
        take(&reload->last, answer, &old[0]);
    }
    if (answer->outcome == RELOAD_PUBLISHED) {
        take(&reload->published, answer, &old[1]);
    }
    if (now != NULL) {
        take(&reload->standing, now, &old[2]);
    }
    pthread_mutex_unlock(&reload->mutex);
    for (size_t i = 0; i < COUNT_OF(old); i++) {
        reload_answer_release(&old[i]);
    }
    reload_answer_release(&now);
    reload_answer_release(&before);
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
