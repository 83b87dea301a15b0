/// Script limits: what a script may not exceed, as the counters name it.
///
/// Threads: any.
/// Memory:  none.
#pragma once

// X(symbol, name, sentence)
#define SCRIPT_LIMITS(X)                                                                                               \
    X(TIME, "time", "it used up its processor time and was stopped")                                                   \
    X(STUCK, "stuck", "it stayed inside a function of C and was given up")                                             \
    X(MEMORY, "memory", "it asked for more memory than a call may add")                                                \
    X(OFFERS, "offers", "more offers than an answer may have; the rest was left out")                                  \
    X(RESULT, "result", "offers larger than an answer may be")                                                         \
    X(REQUEST, "request", "a URL, headers or body larger than a request may have")                                     \
    X(STATE, "state", "a state for the next step that is too large")                                                   \
    X(WARNINGS, "warnings", "more warnings than are looked at")                                                        \
    X(MESSAGE, "message", "a reason, warning or error message that was cut")                                           \
    X(LOG, "log", "log lines that were left out")

enum script_limit {
#define X(symbol, name, about) SCRIPT_LIMIT_##symbol,
    SCRIPT_LIMITS(X)
#undef X
        SCRIPT_LIMIT_COUNT
};

static inline const char *script_limit_name(enum script_limit limit)
{
    static const char *const names[] = {
#define X(symbol, name, about) name,
        SCRIPT_LIMITS(X)
#undef X
    };
    return names[limit];
}
