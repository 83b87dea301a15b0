#include "app/reload_answer.h"

#include "app/settings_apply.h"
#include "base/clock.h"
#include "base/redact.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { ANSWER_ARENA = 32 << 20 };

/// What is handed out is its first member.
struct counted_answer {
    struct reload_answer answer;
    atomic_uint holds;
};

/// Words of strangers and scripts, without secrets.
static struct text keep_words(struct reload_answer *answer, struct text words)
{
    struct text kept = arena_copy(&answer->arena, words);

    if (kept.data != NULL) {
        kept.length = redact_apply((char *)(uintptr_t)kept.data, kept.length, false);
    }
    return kept;
}

struct reload_answer *reload_answer_create(enum reload_source source, struct text who, struct text why)
{
    struct counted_answer *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return NULL;
    }
    atomic_init(&made->holds, 1);
    struct reload_answer *answer = &made->answer;
    arena_init(&answer->arena, ANSWER_ARENA);
    answer->source = source;
    answer->who = keep_words(answer, who);
    answer->why = keep_words(answer, why);
    answer->requests = 1;
    answer->began_wall_us = clock_wall_us();
    return answer;
}

struct reload_answer *reload_answer_acquire(struct reload_answer *answer)
{
    if (answer != NULL) {
        atomic_fetch_add_explicit(&((struct counted_answer *)answer)->holds, 1, memory_order_relaxed);
    }
    return answer;
}

void reload_answer_release(struct reload_answer **answer)
{
    struct counted_answer *released = (struct counted_answer *)*answer;

    *answer = NULL;
    if (released != NULL && atomic_fetch_sub_explicit(&released->holds, 1, memory_order_acq_rel) == 1) {
        arena_fini(&released->answer.arena);
        free(released);
    }
}

/// Scripts' messages may quote what they were given.
static void keep_failure(struct failure *kept, const struct failure *failure)
{
    *kept = *failure;
    redact_copy(kept->message, sizeof(kept->message), text_of(failure->message));
    redact_copy(kept->help, sizeof(kept->help), text_of(failure->help));
}

static void add_row(struct reload_answer *answer, struct reload_row **rows, size_t *count, const struct reload_row *row)
{
    struct reload_row *grown =
        *count < RELOAD_ROWS_MAX ? settings_grow(&answer->arena, *rows, *count, sizeof(*grown)) : NULL;

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    *rows = grown;
    struct reload_row *kept = &grown[(*count)++];
    *kept = *row;
    kept->name = arena_copy(&answer->arena, row->name);
    kept->file = arena_copy(&answer->arena, row->file);
    kept->running = arena_copy(&answer->arena, row->running);
    kept->before = arena_copy(&answer->arena, row->before);
    kept->on_disk = arena_copy(&answer->arena, row->on_disk);
    keep_failure(&kept->because, &row->because);
}

void reload_answer_add_changed(struct reload_answer *answer, const struct reload_row *row)
{
    add_row(answer, &answer->changed, &answer->changed_count, row);
}

void reload_answer_add_kept(struct reload_answer *answer, const struct reload_row *row)
{
    add_row(answer, &answer->kept, &answer->kept_count, row);
}

void reload_answer_add_restart(struct reload_answer *answer, const char *setting, const char *file, uint32_t line)
{
    struct reload_restart *grown =
        settings_grow(&answer->arena, answer->restarts, answer->restart_count, sizeof(*grown));

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    answer->restarts = grown;
    grown[answer->restart_count++] = (struct reload_restart){
        .setting = arena_copy(&answer->arena, text_of(setting)),
        .file = arena_copy(&answer->arena, text_of(file)),
        .line = line,
    };
}

void reload_answer_add_settings_name(struct reload_answer *answer, struct text name)
{
    struct text *grown =
        settings_grow(&answer->arena, answer->settings_names, answer->settings_name_count, sizeof(*grown));

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    answer->settings_names = grown;
    grown[answer->settings_name_count++] = arena_copy(&answer->arena, name);
}

void reload_answer_add_finding(struct reload_answer *answer, const struct failure *failure)
{
    struct failure *grown = answer->finding_count < RELOAD_FINDINGS_MAX
                                ? settings_grow(&answer->arena, answer->findings, answer->finding_count, sizeof(*grown))
                                : NULL;

    if (grown == NULL) {
        answer->finding_more++;
        return;
    }
    answer->findings = grown;
    keep_failure(&grown[answer->finding_count++], failure);
}

void reload_answer_add_remark(struct reload_answer *answer, const struct failure *failure)
{
    struct failure *grown = settings_grow(&answer->arena, answer->remarks, answer->remark_count, sizeof(*grown));

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    answer->remarks = grown;
    keep_failure(&grown[answer->remark_count++], failure);
}

void reload_answer_refuse(struct reload_answer *answer, const char *message, const char *help)
{
    struct failure failure = { 0 };

    answer->outcome = RELOAD_REFUSED;
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    reload_answer_add_finding(answer, &failure);
}

void reload_answer_set_shadows(struct reload_answer *answer, struct text json)
{
    answer->shadows = arena_copy(&answer->arena, json);
}

const struct reload_row *reload_answer_find_kept(const struct reload_answer *answer, const char *kind, struct text name)
{
    for (size_t i = 0; answer != NULL && i < answer->kept_count; i++) {
        const struct reload_row *row = &answer->kept[i];
        if (strcmp(row->kind, kind) == 0 && text_equals(row->name, name)) {
            return row;
        }
    }
    return NULL;
}
