#include "script/script_life.h"

#include <stdio.h>
#include <stdlib.h>

struct script_life *script_life_create(void)
{
    struct script_life *life = calloc(1, sizeof *life);

    if (life != NULL) {
        atomic_init(&life->holds, 1);
        drift_init(&life->drift);
    }
    return life;
}

struct script_life *script_life_hold(struct script_life *life)
{
    atomic_fetch_add(&life->holds, 1);
    return life;
}

void script_life_drop(struct script_life **life)
{
    if (*life != NULL && atomic_fetch_sub(&(*life)->holds, 1) == 1) {
        drift_fini(&(*life)->drift);
        free(*life);
    }
    *life = NULL;
}

/// Only the one who takes the script out of service writes why.
bool script_life_quarantine(struct script_life *life, const char *place)
{
    if (atomic_exchange(&life->is_quarantined, true)) {
        return false;
    }
    snprintf(life->place, sizeof life->place, "%s", place);
    atomic_store(&life->is_told, true);
    return true;
}

bool script_life_note_timeout(struct script_life *life, uint64_t now_us)
{
    unsigned slot = atomic_fetch_add(&life->next, 1) % SCRIPT_TIMEOUTS_MAX;
    atomic_store(&life->timeouts_us[slot], now_us);

    // The slot after this one holds the oldest of the last SCRIPT_TIMEOUTS_MAX.
    uint64_t oldest_us = atomic_load(&life->timeouts_us[(slot + 1) % SCRIPT_TIMEOUTS_MAX]);
    return oldest_us != 0 && now_us - oldest_us <= SCRIPT_TIMEOUTS_WITHIN_US;
}

bool script_life_tell_quarantine(const struct script_life *life, char *sentence, size_t size)
{
    if (!atomic_load(&life->is_quarantined)) {
        return false;
    }
    if (atomic_load(&life->is_told) && life->place[0] != '\0') {
        snprintf(sentence, size, "quarantined: used up its time %d times within %d s, the last time at %s",
                 SCRIPT_TIMEOUTS_MAX, SCRIPT_TIMEOUTS_WITHIN_US / 1000000, life->place);
    } else {
        snprintf(sentence, size, "quarantined: it was stuck inside a function of C, where nothing stops it");
    }
    return true;
}

uint32_t script_life_log_lines_left(const struct script_life *life, uint64_t now_us)
{
    uint64_t logged = atomic_load(&life->log_second);
    uint64_t lines = logged >> 16 == now_us / 1000000 ? logged & 0xffff : 0;

    return lines < SCRIPT_LOG_LINES_MAX ? (uint32_t)(SCRIPT_LOG_LINES_MAX - lines) : 0;
}

void script_life_note_log_lines(struct script_life *life, uint64_t now_us, uint32_t lines)
{
    uint64_t logged = atomic_load(&life->log_second);
    uint64_t then;

    do {
        uint64_t before = logged >> 16 == now_us / 1000000 ? logged & 0xffff : 0;
        uint64_t sum = before + lines < 0xffff ? before + lines : 0xffff;
        then = now_us / 1000000 << 16 | sum;
    } while (!atomic_compare_exchange_weak(&life->log_second, &logged, then));
}

/// What a script did wrong, not what a supplier did.
static bool life_is_error(enum script_verdict verdict)
{
    return verdict == SCRIPT_ERROR || verdict == SCRIPT_TIMEOUT || verdict == SCRIPT_MEMORY;
}

void script_life_note_trial(struct script_life *life, enum script_verdict verdict, const char *message)
{
    if (verdict == SCRIPT_DROPPED) {
        return; // it never ran
    }
    uint64_t call = atomic_fetch_add(&life->calls, 1) + 1;
    if (!life_is_error(verdict)) {
        return;
    }
    uint64_t error = atomic_fetch_add(&life->errors, 1);
    if (error == 0) {
        snprintf(life->first, sizeof life->first, "%s", message != NULL ? message : script_verdict_name(verdict));
        atomic_store(&life->is_first_told, true);
    }
    if (error < SCRIPT_TRIAL_ERRORS_MAX) {
        atomic_store(&life->error_at[error], call);
    }
}

void script_life_trial(const struct script_life *life, struct script_trial *trial)
{
    *trial = (struct script_trial){ .calls = atomic_load(&life->calls), .errors = atomic_load(&life->errors) };
    for (size_t i = 0; i < SCRIPT_TRIAL_ERRORS_MAX; i++) {
        trial->at[i] = atomic_load(&life->error_at[i]);
    }
    if (atomic_load(&life->is_first_told)) {
        snprintf(trial->first, sizeof trial->first, "%s", life->first);
    }
}

uint64_t script_trial_errors_within(const struct script_trial *trial, uint64_t calls)
{
    uint64_t errors = 0;

    for (size_t i = 0; i < SCRIPT_TRIAL_ERRORS_MAX; i++) {
        errors += trial->at[i] != 0 && trial->at[i] <= calls ? 1 : 0;
    }
    return errors;
}
