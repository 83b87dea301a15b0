#include "model/outcome.h"

static const struct outcome_row outcome_rows[OUTCOME_COUNT] = {
#define X(symbol, text, on_breaker, last_known, on_group, seen_as, sentence)                                           \
    [OUTCOME_##symbol] = { .name = (text),                                                                             \
                           .breaker = (on_breaker),                                                                    \
                           .last_known_may_fill = (last_known),                                                        \
                           .group = (on_group),                                                                        \
                           .seen = (seen_as),                                                                          \
                           .meaning = (sentence) },
    OUTCOME_TABLE(X)
#undef X
};

const struct outcome_row *outcome_row(enum outcome outcome)
{
    require((unsigned)outcome < OUTCOME_COUNT);
    return &outcome_rows[outcome];
}

const char *outcome_name(enum outcome outcome)
{
    return outcome_row(outcome)->name;
}

const char *seen_name(enum outcome_seen seen)
{
    static const char *const names[] = {
        [SEEN_ANSWERED] = "answered",
        [SEEN_NONE] = "none",
        [SEEN_LATE] = "late",
        [SEEN_UNAVAILABLE] = "unavailable",
    };

    require((unsigned)seen < COUNT_OF(names));
    return names[seen];
}

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {
        [BOUND_NONE] = NULL,
        [BOUND_CEILING] = "ceiling",
        [BOUND_BUDGET] = "budget",
    };

    require((unsigned)bound < COUNT_OF(names));
    return names[bound];
}

const char *phase_name(enum phase phase)
{
    static const char *const names[PHASE_COUNT] = {
        [PHASE_NONE] = NULL,
        [PHASE_LOGIN] = "login",
        [PHASE_QUEUE] = "queue",
        [PHASE_PAUSE] = "pause",
        [PHASE_DNS] = "dns",
        [PHASE_CONNECT] = "connect",
        [PHASE_TLS] = "tls",
        [PHASE_SEND] = "send",
        [PHASE_FIRST_BYTE] = "first_byte",
        [PHASE_BODY] = "body",
        [PHASE_SCRIPT_QUEUE] = "script_queue",
        [PHASE_SCRIPT] = "script",
    };

    require((unsigned)phase < COUNT_OF(names));
    return names[phase];
}

const char *rejection_name(enum rejection rejection)
{
    static const char *const names[] = {
        [REJECTION_NONE] = NULL,   [REJECTION_AUTH] = "auth",         [REJECTION_QUOTA] = "quota",
        [REJECTION_BUSY] = "busy", [REJECTION_SUPPLIER] = "supplier",
    };

    require((unsigned)rejection < COUNT_OF(names));
    return names[rejection];
}
