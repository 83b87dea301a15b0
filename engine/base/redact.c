#include "base/redact.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Append only: an entry is complete before the count that covers it is published.
static struct text redact_secrets[REDACT_MAX];
static atomic_size_t redact_count;
static pthread_mutex_t redact_lock = PTHREAD_MUTEX_INITIALIZER;

static bool redact_knows(struct text secret)
{
    size_t count = atomic_load(&redact_count);

    for (size_t i = 0; i < count; i++) {
        if (text_equals(redact_secrets[i], secret)) {
            return true;
        }
    }
    return false;
}

static enum status redact_add_locked(struct text secret)
{
    size_t count = atomic_load(&redact_count);

    if (redact_knows(secret)) {
        return STATUS_OK;
    }
    if (count == REDACT_MAX) {
        return STATUS_FULL;
    }
    char *bytes = malloc(secret.length);
    if (bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(bytes, secret.data, secret.length);
    redact_secrets[count] = (struct text){ bytes, secret.length };
    atomic_store_explicit(&redact_count, count + 1, memory_order_release);
    return STATUS_OK;
}

enum status redact_add(struct text secret)
{
    if (secret.length < REDACT_SECRET_MIN) {
        return STATUS_INVALID;
    }
    pthread_mutex_lock(&redact_lock);
    enum status status = redact_add_locked(secret);
    pthread_mutex_unlock(&redact_lock);
    return status;
}

// The length of the longest secret at the start of `rest`; 0: none.
static size_t redact_match(struct text rest, size_t count)
{
    size_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        if (redact_secrets[i].length > longest && text_starts_with(rest, redact_secrets[i])) {
            longest = redact_secrets[i].length;
        }
    }
    return longest;
}

// Does a secret begin with the whole of `rest`?
static bool redact_is_beginning(struct text rest, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_starts_with(redact_secrets[i], rest)) {
            return true;
        }
    }
    return false;
}

size_t redact_apply(char *bytes, size_t length, bool is_cut)
{
    size_t count = atomic_load_explicit(&redact_count, memory_order_acquire);
    size_t kept = 0;
    size_t i = 0;

    if (count == 0) {
        return length;
    }
    while (i < length) {
        struct text rest = { bytes + i, length - i };
        size_t match = redact_match(rest, count);
        if (match == 0 && is_cut && redact_is_beginning(rest, count)) {
            break;
        }
        if (match == 0) {
            bytes[kept++] = bytes[i++];
        } else {
            memset(bytes + kept, '*', 3); // shorter than any secret
            kept += 3;
            i += match;
        }
    }
    return kept;
}
