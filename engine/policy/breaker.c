#include "policy/breaker.h"

#include <math.h>
#include <string.h>

static const uint64_t SECOND_US = 1000000;
static const double Z_95 = 1.959963984540054;
static const uint32_t RAMP_PERCENT[] = { 10, 25, 50, 100 };

const char *breaker_state_name(enum breaker_state state)
{
    static const char *const names[] = { "closed", "open", "half_open", "ramp" };

    return names[state];
}

double breaker_wilson_lower(uint32_t hits, uint32_t count)
{
    if (count == 0) {
        return 0;
    }
    double n = count, p = hits / n, z2 = Z_95 * Z_95;
    double centre = p + z2 / (2 * n), spread = Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    return fmax(0, (centre - spread) / (1 + z2 / n));
}

// ---- states

static void forget_calls(struct breaker *breaker)
{
    memset(breaker->seconds, 0, sizeof(breaker->seconds));
    breaker->connects = 0;
    breaker->held_since_us = 0;
}

static void breaker_enter(struct breaker *breaker, enum breaker_state state, uint64_t now_us)
{
    breaker->state = state;
    breaker->epoch++;
    breaker->since_us = now_us;
    breaker->probe = 0;
    breaker->probes_good = breaker->probes_bad = 0;
    memset(breaker->lapsed, 0, sizeof(breaker->lapsed));
    breaker->step = 0;
    breaker->step_us = now_us;
    forget_calls(breaker);
}

void breaker_init(struct breaker *breaker, struct breaker_settings settings, uint64_t now_us)
{
    *breaker = (struct breaker){ .settings = settings };
    breaker_enter(breaker, BREAKER_CLOSED, now_us);
}

/// wait = min(8 s, 1 s * 2^k) * U(0.75, 1.25)
static void breaker_open(struct breaker *breaker, uint32_t dice, uint64_t now_us)
{
    uint64_t wait_us = BREAKER_WAIT_US;

    for (uint32_t i = 0; i < breaker->trips && wait_us < BREAKER_WAIT_MOST_US; i++) {
        wait_us *= 2;
    }
    wait_us = wait_us < BREAKER_WAIT_MOST_US ? wait_us : BREAKER_WAIT_MOST_US;
    breaker->trips += breaker->trips < 8;
    breaker->openings++;
    breaker_enter(breaker, BREAKER_OPEN, now_us);
    breaker->until_us = now_us + (uint64_t)((double)wait_us * (0.75 + 0.5 * dice / (double)UINT32_MAX));
}

void breaker_trip(struct breaker *breaker, uint32_t dice, uint64_t now_us)
{
    breaker_open(breaker, dice, now_us);
}

void breaker_close(struct breaker *breaker, uint64_t now_us)
{
    breaker->trips = 0;
    breaker_enter(breaker, BREAKER_CLOSED, now_us);
}

/// The probe that is out is slower than any answer that is worth waiting for, or lost.
static void lapse_probe(struct breaker *breaker)
{
    uint32_t probe = breaker->probe;

    breaker->probe = 0;
    if (breaker->probes_bad == BREAKER_BAD_PROBES) {
        breaker_open(breaker, breaker->lease_dice, breaker->lease_us);
        return;
    }
    breaker->probes_bad++;
    for (uint32_t i = 0; i < BREAKER_BAD_PROBES; i++) {
        if (breaker->lapsed[i] == 0) {
            breaker->lapsed[i] = probe;
            return;
        }
    }
}

/// What time alone changes.
void breaker_advance(struct breaker *breaker, uint64_t now_us)
{
    if (breaker->state == BREAKER_HALF_OPEN && breaker->probe != 0 && now_us >= breaker->lease_us) {
        lapse_probe(breaker);
    }
    if (breaker->state == BREAKER_OPEN && now_us >= breaker->until_us) {
        breaker_enter(breaker, BREAKER_HALF_OPEN, now_us);
    }
    while (breaker->state == BREAKER_RAMP && now_us >= breaker->step_us + BREAKER_STEP_US) {
        breaker->step++;
        breaker->step_us += BREAKER_STEP_US;
        if (breaker->step == COUNT_OF(RAMP_PERCENT)) {
            breaker_enter(breaker, BREAKER_CLOSED, breaker->step_us); // since then, though nobody asked until now
        }
    }
    while (breaker->state == BREAKER_CLOSED && breaker->trips > 0 && now_us >= breaker->since_us + BREAKER_SETTLED_US) {
        breaker->trips--;
        breaker->since_us += BREAKER_SETTLED_US;
    }
}

// ---- asking

static enum breaker_answer lend_probe(struct breaker *breaker, uint32_t dice, uint64_t now_us,
                                      struct breaker_pass *pass)
{
    if (breaker->probe != 0) {
        return BREAKER_REFUSE;
    }
    breaker->probe = ++breaker->probes;
    breaker->lease_dice = dice;
    breaker->lease_us = now_us + BREAKER_LEASE_US;
    *pass = (struct breaker_pass){ breaker->epoch, breaker->probe };
    return BREAKER_PROBE;
}

uint32_t breaker_share_percent(const struct breaker *breaker)
{
    if (breaker->state == BREAKER_RAMP) {
        return RAMP_PERCENT[breaker->step];
    }
    return breaker->state == BREAKER_CLOSED ? 100 : 0;
}

enum breaker_answer breaker_ask(struct breaker *breaker, uint32_t dice, uint64_t now_us, struct breaker_pass *pass)
{
    breaker_advance(breaker, now_us);
    if (breaker->state == BREAKER_HALF_OPEN) {
        return lend_probe(breaker, dice, now_us, pass);
    }
    if ((uint64_t)dice * 100 >> 32 >= breaker_share_percent(breaker)) {
        return BREAKER_REFUSE;
    }
    *pass = (struct breaker_pass){ .epoch = breaker->epoch };
    return BREAKER_PASS;
}

uint64_t breaker_refuses_us(const struct breaker *breaker, uint64_t now_us)
{
    return breaker->state == BREAKER_OPEN && breaker->until_us > now_us ? breaker->until_us - now_us : 0;
}

// ---- telling

static struct breaker_second *second_of(struct breaker *breaker, uint64_t now_us)
{
    uint64_t second = now_us / SECOND_US;
    uint64_t first = breaker->newest_second + 1;

    if (second >= first + BREAKER_SECONDS) {
        first = second + 1 - BREAKER_SECONDS;
    }
    for (; first <= second; first++) {
        breaker->seconds[first % BREAKER_SECONDS] = (struct breaker_second){ 0 };
        breaker->newest_second = first;
    }
    return &breaker->seconds[breaker->newest_second % BREAKER_SECONDS];
}

/// The calls of the window; while they are too few, of up to a minute.
static struct breaker_second recent(const struct breaker *breaker)
{
    struct breaker_second sum = { 0 };

    for (uint32_t i = 0; i < BREAKER_SECONDS; i++) {
        uint32_t calls = sum.good + sum.bad + sum.slow;
        if ((i >= breaker->settings.window_s && calls >= breaker->settings.min_calls) || i > breaker->newest_second) {
            break;
        }
        const struct breaker_second *second = &breaker->seconds[(breaker->newest_second - i) % BREAKER_SECONDS];
        sum.good += second->good;
        sum.bad += second->bad;
        sum.slow += second->slow;
    }
    return sum;
}

static bool is_bad_enough(const struct breaker *breaker)
{
    struct breaker_second calls = recent(breaker);
    uint32_t count = calls.good + calls.bad + calls.slow;

    if (breaker->connects >= BREAKER_CONNECTS) {
        return true;
    }
    return count >= BREAKER_LEAST_CALLS &&
           (breaker_wilson_lower(calls.bad, count) > breaker->settings.failure_share ||
            breaker_wilson_lower(calls.bad + calls.slow, count) > BREAKER_SLOW_PERCENT / 100.0);
}

static void count_call(struct breaker *breaker, enum breaker_verdict verdict, uint64_t now_us)
{
    struct breaker_second *second = second_of(breaker, now_us);

    second->good += verdict == BREAKER_WAS_GOOD;
    second->slow += verdict == BREAKER_WAS_SLOW;
    second->bad += verdict == BREAKER_WAS_BAD || verdict == BREAKER_WAS_UNREACHABLE;
    breaker->connects = verdict == BREAKER_WAS_UNREACHABLE ? breaker->connects + 1 : 0;
}

/// Each supplier once, however often it changed its mind, and however many accounts it has.
static void guard_note(struct breaker_guard *guard, const struct breaker *breaker, uint64_t now_us)
{
    uint64_t supplier = breaker->supplier != 0 ? breaker->supplier : (uintptr_t)breaker;

    for (uint32_t i = 0; i < BREAKER_GUARD_SUPPLIERS; i++) {
        if (guard->failed[i] == supplier) {
            guard->failed_us[i] = now_us;
            return;
        }
    }
    guard->failed[guard->next] = supplier;
    guard->failed_us[guard->next] = now_us;
    guard->next = (guard->next + 1) % BREAKER_GUARD_SUPPLIERS;
}

/// May it open? The guard holds it back for a minute, when it would be one of many.
static bool guard_allows(struct breaker *breaker, struct breaker_guard *guard, uint64_t now_us)
{
    if (guard == NULL) {
        return true;
    }
    if (breaker->held_since_us == 0) {
        breaker->held_since_us = now_us;
        guard_note(guard, breaker, now_us);
        if (breaker_guard_is_alarmed(guard, now_us)) {
            guard->alarm_us = now_us;
            return false;
        }
        return true;
    }
    return now_us >= breaker->held_since_us + BREAKER_GUARD_HOLD_US;
}

static bool tell_call(struct breaker *breaker, struct breaker_guard *guard, enum breaker_verdict verdict, uint32_t dice,
                      uint64_t now_us)
{
    count_call(breaker, verdict, now_us);
    if (!is_bad_enough(breaker)) {
        breaker->held_since_us = 0;
        return false;
    }
    if (!guard_allows(breaker, guard, now_us)) {
        return false;
    }
    breaker_open(breaker, dice, now_us);
    return true;
}

/// One whose lease is over was counted as bad then. True: it is well, and is to be counted again.
static bool take_back_lapsed(struct breaker *breaker, uint32_t probe, enum breaker_verdict verdict)
{
    for (uint32_t i = 0; i < BREAKER_BAD_PROBES; i++) {
        if (breaker->lapsed[i] == probe) {
            breaker->lapsed[i] = 0;
            breaker->probes_bad -= verdict == BREAKER_WAS_GOOD;
            return verdict == BREAKER_WAS_GOOD;
        }
    }
    return false;
}

static bool tell_probe(struct breaker *breaker, uint32_t probe, enum breaker_verdict verdict, uint32_t dice,
                       uint64_t now_us)
{
    if (probe == breaker->probe) {
        breaker->probe = 0;
    } else if (!take_back_lapsed(breaker, probe, verdict)) {
        return false;
    }
    breaker->probes_good += verdict == BREAKER_WAS_GOOD;
    breaker->probes_bad += verdict != BREAKER_WAS_GOOD && verdict != BREAKER_WAS_OURS;
    if (breaker->probes_good >= BREAKER_GOOD_PROBES) {
        breaker_enter(breaker, BREAKER_RAMP, now_us);
        return true;
    }
    if (breaker->probes_bad > BREAKER_BAD_PROBES) {
        breaker_open(breaker, dice, now_us);
        return true;
    }
    return false;
}

bool breaker_tell(struct breaker *breaker, struct breaker_guard *guard, struct breaker_pass pass,
                  enum breaker_verdict verdict, uint32_t dice, uint64_t now_us)
{
    breaker_advance(breaker, now_us);
    if (pass.epoch != breaker->epoch) {
        return false;
    }
    if (pass.probe != 0) {
        return tell_probe(breaker, pass.probe, verdict, dice, now_us);
    }
    return verdict != BREAKER_WAS_OURS && tell_call(breaker, guard, verdict, dice, now_us);
}

// ---- the guard

void breaker_guard_init(struct breaker_guard *guard, uint32_t suppliers)
{
    *guard = (struct breaker_guard){ .suppliers = suppliers };
}

bool breaker_guard_is_alarmed(const struct breaker_guard *guard, uint64_t now_us)
{
    uint32_t most = guard->suppliers * 3 / 10 > 2 ? guard->suppliers * 3 / 10 : 2, failed = 0;

    for (uint32_t i = 0; i < BREAKER_GUARD_SUPPLIERS; i++) {
        failed += guard->failed_us[i] != 0 && now_us < guard->failed_us[i] + BREAKER_GUARD_US;
    }
    return failed > most;
}
