// What is kept back, told once: when it begins, and when it ends.

#include "app/reload_internal.h"

#include <stdio.h>

enum { NAMES_TOLD = 6 };

/// Was the same row told before? A script that is kept back for what a module lacks is told with the module.
static bool is_told(const struct reload_answer *before, const struct reload_row *row)
{
    const struct reload_row *told = reload_answer_find_kept(before, row->kind, row->name);
    bool has_disk = row->on_disk.length > 0;

    return told != NULL && strcmp(told->fate, row->fate) == 0 && text_equals(told->on_disk, row->on_disk) &&
           (has_disk || strcmp(told->because.message, row->because.message) == 0);
}

static bool is_same_reason(const struct reload_row *a, const struct reload_row *b)
{
    return a->because.line > 0 && a->because.line == b->because.line && strcmp(a->because.file, b->because.file) == 0 &&
           strcmp(a->because.message, b->because.message) == 0;
}

/// The row that tells for this one, too: the module that is broken, else the first of the same reason.
static const struct reload_row *leader_of(const struct reload_answer *now, const struct reload_row *row)
{
    const struct reload_row *leader = NULL;

    for (size_t i = 0; i < now->kept_count; i++) {
        const struct reload_row *other = &now->kept[i];
        bool is_module = strcmp(other->kind, "scripts") == 0;
        if (is_same_reason(other, row) && (leader == NULL || (is_module && strcmp(leader->kind, "scripts") != 0))) {
            leader = other;
        }
    }
    return leader != NULL ? leader : row;
}

/// " (keeps back alpha, bravo and 6 more)"
static void name_followers(const struct reload_answer *now, const struct reload_row *leader, struct buffer *out)
{
    size_t count = 0;

    for (size_t i = 0; i < now->kept_count; i++) {
        const struct reload_row *row = &now->kept[i];
        if (row == leader || !is_same_reason(row, leader)) {
            continue;
        }
        if (count++ < NAMES_TOLD) {
            buffer_printf(out, "%s%.*s", count == 1 ? " (keeps back " : ", ", TEXT_ARGS(row->name));
        }
    }
    if (count > NAMES_TOLD) {
        buffer_printf(out, " and %zu more", count - NAMES_TOLD);
    }
    if (count > 0) {
        buffer_append_byte(out, ')');
    }
}

static void note_row(struct reload *reload, const struct reload_answer *now, const struct reload_row *row)
{
    struct failure because = row->because;
    enum event_kind kind = strcmp(row->fate, "left_out") == 0 ? EVENT_LEFT_OUT : EVENT_KEPT;
    struct buffer followers;

    buffer_init(&followers, sizeof(because.message));
    name_followers(now, row, &followers);
    failure_set(&because, "%s%.*s", row->because.message, TEXT_ARGS(buffer_text(&followers)));
    buffer_fini(&followers);
    events_note(&reload->events, kind, now->generation, row->name, &because);
}

static bool is_restart_told(const struct reload_answer *before, const struct reload_restart *restart)
{
    for (size_t i = 0; before != NULL && i < before->restart_count; i++) {
        if (text_equals(before->restarts[i].setting, restart->setting)) {
            return true;
        }
    }
    return false;
}

static void note_restarts(struct reload *reload, const struct reload_answer *now, const struct reload_answer *before)
{
    for (size_t i = 0; i < now->restart_count; i++) {
        const struct reload_restart *restart = &now->restarts[i];
        if (!is_restart_told(before, restart)) {
            struct failure because = { 0 };
            failure_at(&because, restart->file.data, restart->line, 0);
            failure_set(&because, "%.*s takes effect after a restart only", TEXT_ARGS(restart->setting));
            events_note(&reload->events, EVENT_RESTART_NEEDED, now->generation, restart->setting, &because);
        }
    }
}

static void note_mended(struct reload *reload, const struct reload_answer *now, const struct reload_answer *before)
{
    for (size_t i = 0; before != NULL && i < before->kept_count; i++) {
        const struct reload_row *row = &before->kept[i];
        bool is_leader = leader_of(before, row) == row;
        if (is_leader && reload_answer_find_kept(now, row->kind, row->name) == NULL) {
            struct failure because = row->because;
            failure_set(&because, "it is kept back no more, as it was for: %s", row->because.message);
            failure_help(&because, "%s", "");
            events_note(&reload->events, EVENT_MENDED, now->generation, row->name, &because);
        }
    }
}

void reload_note_kept(struct reload *reload, const struct reload_answer *now, const struct reload_answer *before)
{
    for (size_t i = 0; i < now->kept_count; i++) {
        const struct reload_row *row = &now->kept[i];
        bool is_refusal = strcmp(row->fate, "refused") == 0; // which was told as a whole
        if (!is_refusal && strcmp(row->fate, "waits") != 0 && leader_of(now, row) == row && !is_told(before, row)) {
            note_row(reload, now, row);
        }
    }
    note_restarts(reload, now, before);
    note_mended(reload, now, before);
}
