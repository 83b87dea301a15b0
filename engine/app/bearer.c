#include "app/bearer.h"

#include "app/secret.h"

#include <stdlib.h>
#include <string.h>

enum { BEARER_LENGTH_MIN = 16 };

static enum status take(const char *setting, struct text variable, struct text directory, struct arena *arena,
                        struct text *token, struct failure *why)
{
    struct failure missing = { 0 };
    struct text found;
    enum status status = secret_find(directory, variable, arena, &found, &missing);

    if (status == STATUS_NOT_FOUND || status == STATUS_INVALID) {
        failure_set(why, "%.*s, which %s names, %s", TEXT_ARGS(variable), setting, missing.message);
        failure_help(why, "%s", missing.help);
        return STATUS_INVALID;
    }
    if (status == STATUS_OK && found.length < BEARER_LENGTH_MIN) {
        failure_set(why, "%.*s, which %s names, is too short for a token", TEXT_ARGS(variable), setting);
        failure_help(why, "give it at least %d characters that nobody guesses", BEARER_LENGTH_MIN);
        return STATUS_INVALID;
    }
    if (status == STATUS_OK) {
        char *copy = strndup(found.data, found.length);
        *token = (struct text){ copy, copy != NULL ? found.length : 0 };
    }
    if (status != STATUS_OK || token->data == NULL) {
        failure_set(why, "no memory for the token of %s", setting);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

enum status bearer_read(const char *setting, struct text variable, struct text directory, struct text *token,
                        struct failure *why)
{
    struct arena arena;

    *token = (struct text){ NULL, 0 };
    if (variable.data == NULL) {
        return STATUS_OK;
    }
    arena_init(&arena, 2 * SECRET_MAX);
    enum status status = take(setting, variable, directory, &arena, token, why);
    arena_fini(&arena);
    return status;
}

void bearer_free(struct text *token)
{
    free((void *)(uintptr_t)token->data);
    *token = (struct text){ NULL, 0 };
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
