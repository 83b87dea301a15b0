#include "app/gate.h"

#include "base/clock.h"
#include "base/log.h"
#include "policy/shed.h"

#include <limits.h>

enum { TELL_US = 1000000 };

enum overload_level gate_level(const struct gate *gate)
{
    return admission_level(&gate->admission);
}

double gate_shed_share(const struct gate *gate)
{
    return shed_share(gate->admission.rung);
}

static void gate_tell(struct gate *gate, enum overload_level level, uint64_t now_us)
{
    if (level == gate->told || now_us < gate->told_us + TELL_US) {
        return;
    }
    enum log_level importance = level > gate->told ? LOG_WARNING : LOG_INFO;
    log_line(importance, "overload", "level=%s was=%s loop=%u searches=%u", overload_level_name(level),
             overload_level_name(gate->told), gate->number, gate->in_flight);
    gate->told = level;
    gate->told_us = now_us;
}

/// After whatever may have changed the level.
static void gate_settle(struct gate *gate, uint64_t now_us)
{
    enum overload_level level = gate_level(gate);
    bool was_calm = atomic_load_explicit(&gate->level, memory_order_relaxed) == OVERLOAD_NONE;

    if (was_calm && level == OVERLOAD_NONE && gate->told == OVERLOAD_NONE) {
        return;
    }
    if (was_calm && level != OVERLOAD_NONE) {
        atomic_fetch_add_explicit(&gate->pressed, 1, memory_order_relaxed);
    }
    atomic_store_explicit(&gate->level, (unsigned)level, memory_order_relaxed);
    atomic_store_explicit(&gate->most, admission_most(&gate->admission), memory_order_relaxed);
    gate_tell(gate, level, now_us);
    bool looks_on = level != OVERLOAD_NONE || gate->told != level;
    if (looks_on && !timer_is_running(&gate->timer)) {
        uint64_t at_us = now_us + gate->admission.settings.interval_us;
        if (loop_timer_start(gate->loop, &gate->timer, at_us) != STATUS_OK) {
            return; // the next call or search looks on
        }
    }
}

/// Time has passed.
static void gate_look_on(struct gate *gate, uint64_t now_us)
{
    struct admission *admission = &gate->admission;
    uint64_t silence_us = gate->out > 0 && now_us > gate->silent_us ? now_us - gate->silent_us : 0;

    if (silence_us > admission->settings.interval_us) {
        admission_note(admission, ADMISSION_STARTS, silence_us, now_us);
    }
    admission_advance(admission, gate->out > 0, now_us);
}

static void gate_on_timer(struct timer *timer)
{
    struct gate *gate = CONTAINER_OF(timer, struct gate, timer);
    uint64_t now_us = clock_now_us();

    gate_look_on(gate, now_us);
    gate_settle(gate, now_us);
}

void gate_init(struct gate *gate, struct loop *loop, unsigned number)
{
    *gate = (struct gate){ .loop = loop, .number = number };
    gate->timer.on_due = gate_on_timer;
    atomic_init(&gate->most, UINT_MAX);
    admission_init(&gate->admission, (struct admission_settings){ .is_on = false });
}

void gate_fini(struct gate *gate)
{
    if (gate->loop != NULL && timer_is_running(&gate->timer)) {
        loop_timer_cancel(gate->loop, &gate->timer);
    }
}

/// Calls that go behind all others are there to wait, and those that nobody waits for tell nothing of those that do.
void gate_note_out(struct gate *gate, const struct script_call *call)
{
    if (call->is_last) {
        return;
    }
    gate->silent_us = gate->out == 0 ? call->queued_us : gate->silent_us;
    gate->out++;
}

void gate_note_call(struct gate *gate, const struct script_call *call)
{
    struct admission *admission = &gate->admission;

    if (call->is_last) {
        return;
    }
    require(gate->out > 0);
    gate->out--;
    gate->silent_us = call->done_us;
    if (!admission->settings.is_on) {
        return;
    }
    uint64_t now_us = clock_now_us();
    uint64_t begun_us = atomic_load_explicit(&call->begun_us, memory_order_relaxed);
    bool is_answer = call->kind == SCRIPT_CALL_NORMALISE || call->kind == SCRIPT_CALL_ASK;
    uint64_t taken_us = begun_us != 0 ? begun_us : call->done_us; // one that was dropped has waited all the time

    admission_note(admission, is_answer ? ADMISSION_ANSWERS : ADMISSION_STARTS,
                   taken_us > call->queued_us ? taken_us - call->queued_us : 0, now_us);
    admission_note(admission, ADMISSION_LOOP, now_us > call->done_us ? now_us - call->done_us : 0, now_us);
    gate_settle(gate, now_us);
}

bool gate_admits(struct gate *gate, struct admission_settings settings)
{
    if (!settings.is_on && !gate->admission.settings.is_on) {
        return true;
    }
    uint64_t now_us = clock_now_us();
    admission_set(&gate->admission, settings);
    gate_look_on(gate, now_us);
    bool is_admitted = admission_admit(&gate->admission, gate->in_flight, now_us);

    if (!is_admitted) {
        atomic_fetch_add_explicit(&gate->refused, 1, memory_order_relaxed);
    }
    gate_settle(gate, now_us);
    return is_admitted;
}

void gate_enter(struct gate *gate)
{
    gate->in_flight++;
}

void gate_leave(struct gate *gate, uint64_t took_us)
{
    require(gate->in_flight > 0);
    gate->in_flight--;
    admission_done(&gate->admission, took_us);
}

void gate_look(struct gate *gate, struct gate_view *view)
{
    *view = (struct gate_view){
        .level = (enum overload_level)atomic_load_explicit(&gate->level, memory_order_relaxed),
        .refused = atomic_load_explicit(&gate->refused, memory_order_relaxed),
        .pressed = atomic_load_explicit(&gate->pressed, memory_order_relaxed),
        .most = atomic_load_explicit(&gate->most, memory_order_relaxed),
    };
}
