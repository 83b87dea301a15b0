#include "base/redact.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Append only: an entry is complete before the count that covers it is published.
static struct text redact_secrets[REDACT_MAX];
static atomic_size_t redact_count;
static pthread_mutex_t redact_lock = PTHREAD_MUTEX_INITIALIZER;

// Those that pass stand in a ring of pointers. One that was replaced is freed by a later addition that sees nobody
// reading: whoever begins to read after that finds the newer pointer.
struct passing {
    size_t length;
    struct passing *next; // among those that were replaced
    char bytes[];
};
static struct passing *_Atomic redact_passing[REDACT_PASSING_MAX];
static atomic_size_t redact_passing_count; // added so far
static atomic_uint redact_readers;
static struct passing *redact_replaced; // under the lock

// How many secrets may begin with each byte: at most bytes nothing has to be compared.
static atomic_uint redact_firsts[256];

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
    atomic_fetch_add(&redact_firsts[(unsigned char)bytes[0]], 1);
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

static bool redact_knows_passing(struct text secret)
{
    for (size_t i = 0; i < REDACT_PASSING_MAX; i++) {
        const struct passing *known = atomic_load(&redact_passing[i]);
        if (known != NULL && text_equals((struct text){ known->bytes, known->length }, secret)) {
            return true;
        }
    }
    return false;
}

static void redact_free_replaced(void)
{
    while (redact_replaced != NULL && atomic_load(&redact_readers) == 0) {
        struct passing *old = redact_replaced;
        redact_replaced = old->next;
        free(old);
    }
}

static void redact_add_passing_locked(struct text secret)
{
    struct passing *added = redact_knows_passing(secret) ? NULL : malloc(sizeof(*added) + secret.length);

    if (added == NULL) {
        return;
    }
    added->length = secret.length;
    memcpy(added->bytes, secret.data, secret.length);
    atomic_fetch_add(&redact_firsts[(unsigned char)added->bytes[0]], 1);
    size_t place = atomic_load(&redact_passing_count) % REDACT_PASSING_MAX;
    struct passing *old = atomic_exchange(&redact_passing[place], added);
    atomic_fetch_add(&redact_passing_count, 1);
    if (old != NULL) {
        atomic_fetch_sub(&redact_firsts[(unsigned char)old->bytes[0]], 1);
        old->next = redact_replaced;
        redact_replaced = old;
    }
    redact_free_replaced();
}

void redact_add_passing(struct text secret)
{
    if (secret.length < REDACT_SECRET_MIN) {
        return;
    }
    pthread_mutex_lock(&redact_lock);
    redact_add_passing_locked(secret);
    pthread_mutex_unlock(&redact_lock);
}

// What is looked for: the secrets at `index`; the absent text where there is none.
static struct text redact_at(size_t index, size_t count)
{
    if (index < count) {
        return redact_secrets[index];
    }
    const struct passing *passing = atomic_load(&redact_passing[index - count]);
    return passing != NULL ? (struct text){ passing->bytes, passing->length } : (struct text){ NULL, 0 };
}

// The length of the longest secret at the start of `rest`; 0: none.
static size_t redact_match(struct text rest, size_t count, size_t all)
{
    size_t longest = 0;

    for (size_t i = 0; i < all; i++) {
        struct text secret = redact_at(i, count);
        if (secret.length > longest && text_starts_with(rest, secret)) {
            longest = secret.length;
        }
    }
    return longest;
}

// Does a secret begin with the whole of `rest`?
static bool redact_is_beginning(struct text rest, size_t count, size_t all)
{
    for (size_t i = 0; i < all; i++) {
        struct text secret = redact_at(i, count);
        if (secret.data != NULL && text_starts_with(secret, rest)) {
            return true;
        }
    }
    return false;
}

static size_t redact_replace(char *bytes, size_t length, bool is_cut, size_t count, size_t all)
{
    size_t kept = 0;
    size_t i = 0;

    while (i < length) {
        struct text rest = { bytes + i, length - i };
        bool may_match = atomic_load_explicit(&redact_firsts[(unsigned char)bytes[i]], memory_order_relaxed) > 0;
        size_t match = may_match ? redact_match(rest, count, all) : 0;
        if (match == 0 && may_match && is_cut && redact_is_beginning(rest, count, all)) {
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

size_t redact_apply(char *bytes, size_t length, bool is_cut)
{
    size_t count = atomic_load_explicit(&redact_count, memory_order_acquire);

    if (count + atomic_load(&redact_passing_count) == 0) {
        return length;
    }
    atomic_fetch_add(&redact_readers, 1);
    size_t passing = atomic_load(&redact_passing_count);
    size_t all = count + (passing < REDACT_PASSING_MAX ? passing : REDACT_PASSING_MAX);
    size_t kept = redact_replace(bytes, length, is_cut, count, all);
    atomic_fetch_sub(&redact_readers, 1);
    return kept;
}
