#include "token/token_fault.h"

#include <stddef.h>

static const struct {
    const char *code, *sentence;
} FAULTS[TOKEN_FAULTS] = {
    [TOKEN_GENUINE] = { NULL, "it is genuine" },
    [TOKEN_MALFORMED] = { "token_malformed", "this is no token: send it as it came, whole and unchanged" },
    [TOKEN_UNKNOWN_KEY] = { "token_unknown_key",
                            "it was made with a key that is not known here (any more): search again" },
    [TOKEN_TAMPERED] = { "token_tampered", "something of it was changed: send it as it came" },
    [TOKEN_EXPIRED] = { "token_expired", "its time is over: search again" },
    [TOKEN_UNREADABLE] = { "token_unreadable", "it could not be read just now: try again" },
};

const char *token_fault_code(enum token_fault fault)
{
    return FAULTS[fault].code;
}

const char *token_fault_sentence(enum token_fault fault)
{
    return FAULTS[fault].sentence;
}
