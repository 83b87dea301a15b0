#include "app/bearer.h"

#include "base/log.h"

#include <stdlib.h>

enum { BEARER_LENGTH_MIN = 16 };

enum status bearer_read(const char *setting, struct text variable, struct text *token, struct failure *why)
{
    *token = (struct text){ NULL, 0 };
    if (variable.data == NULL) {
        return STATUS_OK;
    }
    struct text found = text_of(getenv(variable.data));
    if (found.length < BEARER_LENGTH_MIN) {
        failure_set(why, "%s, which %s names, %s", variable.data, setting,
                    found.length == 0 ? "is not set" : "is too short for a token");
        failure_help(why, "give it at least %d characters that nobody guesses", BEARER_LENGTH_MIN);
        return STATUS_INVALID;
    }
    log_redact(found);
    *token = found;
    return STATUS_OK;
}

/// Looks at every byte, so that the time tells nothing of how many were right.
static bool is_same_secret(struct text a, struct text b)
{
    unsigned char difference = 0;

    if (a.length != b.length) {
        return false;
    }
    for (size_t i = 0; i < a.length; i++) {
        difference = (unsigned char)(difference | (a.data[i] ^ b.data[i]));
    }
    return difference == 0;
}

bool bearer_is_given(struct text token, const struct http_call *call)
{
    struct text given = { NULL, 0 };
    struct text scheme = text_split(http_call_header(call, "authorization"), ' ', &given);

    return token.data != NULL && text_equals_nocase(scheme, TEXT("Bearer")) && is_same_secret(text_trim(given), token);
}
