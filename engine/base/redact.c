#include "base/redact.h"

#include "base/redact_pattern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is known stands in an immutable table, and a change publishes a new one. Readers count themselves, and say so
// before they look; what was replaced is freed by a later change that sees no reader: whoever comes after that has the
// newer table. A reader that is kept from running keeps memory, and nobody waiting.

enum { PAIR_WORDS = 1024 };

struct redact_table {
    size_t count;
    uint64_t pairs[PAIR_WORDS];      // of all of them
    struct redact_secret *secrets[]; // in the order of their coming
};

/// Something that no table has any more, but perhaps a reader.
struct redact_grave {
    struct redact_grave *next;
    void *table, *secret;
};

static struct redact_table *_Atomic redact_table; // NULL: nothing is secret
static atomic_size_t redact_readers;
static pthread_mutex_t redact_lock = PTHREAD_MUTEX_INITIALIZER;
static struct redact_grave *redact_graves; // under the lock

// ------------------------------------------------------------------------------------------------------------- adding

static void redact_bury(struct redact_grave *grave)
{
    grave->next = redact_graves;
    redact_graves = grave;
    if (atomic_load(&redact_readers) > 0) {
        return;
    }
    while (redact_graves != NULL) {
        grave = redact_graves;
        redact_graves = grave->next;
        free(grave->table);
        free(grave->secret);
        free(grave);
    }
}

static void redact_table_note(struct redact_table *table, struct redact_secret *secret)
{
    for (size_t i = 0; i < REDACT_PATTERNS; i++) {
        redact_pattern_begin(&secret->patterns[i], table->pairs);
    }
    table->secrets[table->count++] = secret;
}

/// Publishes a table without `gone` and with `added` as its newest. What it replaces is buried. False: no memory.
static bool redact_publish(struct redact_secret *gone, struct redact_secret *added)
{
    struct redact_table *old = atomic_load(&redact_table);
    size_t count = old == NULL ? 0 : old->count;
    struct redact_table *table = calloc(1, sizeof(*table) + (count + 1) * sizeof(struct redact_secret *));
    struct redact_grave *grave = calloc(1, sizeof(*grave));

    if (table == NULL || grave == NULL) {
        free(table);
        free(grave);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (old->secrets[i] != gone) {
            redact_table_note(table, old->secrets[i]);
        }
    }
    redact_table_note(table, added);
    atomic_store(&redact_table, table);
    *grave = (struct redact_grave){ .table = old, .secret = gone };
    redact_bury(grave);
    return true;
}

struct redact_found {
    struct redact_secret *same;           // NULL: it is not known
    struct redact_secret *oldest_passing; // NULL: there is none
    size_t lasting, passing;
};

static struct redact_found redact_find(struct text secret)
{
    const struct redact_table *table = atomic_load(&redact_table);
    struct redact_found found = { .same = NULL };

    for (size_t i = 0; table != NULL && i < table->count; i++) {
        struct redact_secret *known = table->secrets[i];
        found.lasting += known->is_passing ? 0 : 1;
        found.passing += known->is_passing ? 1 : 0;
        if (known->is_passing && found.oldest_passing == NULL) {
            found.oldest_passing = known;
        }
        if (text_equals(known->patterns[0].bytes, secret)) {
            found.same = known;
        }
    }
    return found;
}

static enum status redact_add_locked(struct text secret, bool is_passing)
{
    struct redact_found found = redact_find(secret);
    struct redact_secret *gone = NULL;

    if (found.same != NULL && !found.same->is_passing) {
        return STATUS_OK;
    }
    if (found.same != NULL) {
        gone = found.same; // it becomes the newest, or lasting
    } else if (is_passing && found.passing >= REDACT_PASSING_MAX) {
        gone = found.oldest_passing;
    }
    if (!is_passing && found.lasting >= REDACT_MAX) {
        return STATUS_FULL;
    }
    struct redact_secret *added = redact_secret_create(secret);
    if (added == NULL) {
        return STATUS_NO_MEMORY;
    }
    added->is_passing = is_passing;
    if (!redact_publish(gone, added)) {
        free(added);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static enum status redact_add_kind(struct text secret, bool is_passing)
{
    if (secret.length < REDACT_SECRET_MIN) {
        return STATUS_INVALID;
    }
    pthread_mutex_lock(&redact_lock);
    enum status status = redact_add_locked(secret, is_passing);
    pthread_mutex_unlock(&redact_lock);
    return status;
}

enum status redact_add(struct text secret)
{
    return redact_add_kind(secret, false);
}

enum status redact_add_passing(struct text secret)
{
    return redact_add_kind(secret, true);
}

// ------------------------------------------------------------------------------------------------------------ applying

/// The length of the longest spelling of a secret at the start of `rest`; 0: none.
static size_t redact_match(const struct redact_table *table, struct text rest, bool *is_cut)
{
    size_t longest = 0;

    *is_cut = false;
    for (size_t i = 0; i < table->count; i++) {
        for (size_t j = 0; j < REDACT_PATTERNS; j++) {
            bool is_this_cut = false;
            size_t length = redact_pattern_match(&table->secrets[i]->patterns[j], rest, &is_this_cut);
            longest = length > longest ? length : longest;
            *is_cut = *is_cut || is_this_cut;
        }
    }
    return longest;
}

/// Can a spelling of any secret begin here?
static bool redact_may_begin(const struct redact_table *table, struct text rest)
{
    unsigned char first = (unsigned char)rest.data[0];

    return rest.length == 1 || first == '%' || first == '\\' ||
           redact_pair_is_set(table->pairs, first, (unsigned char)rest.data[1]);
}

static size_t redact_apply_table(const struct redact_table *table, char *bytes, size_t length, bool is_cut)
{
    size_t kept = 0;
    size_t i = 0;

    while (i < length) {
        struct text rest = { bytes + i, length - i };
        bool is_match_cut = false;
        size_t match = redact_may_begin(table, rest) ? redact_match(table, rest, &is_match_cut) : 0;
        if (is_cut && is_match_cut) {
            break; // the beginning of one, whatever shorter one ends within it
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
    atomic_fetch_add(&redact_readers, 1);
    const struct redact_table *table = atomic_load(&redact_table);
    size_t kept = table == NULL ? length : redact_apply_table(table, bytes, length, is_cut);
    atomic_fetch_sub(&redact_readers, 1);
    return kept;
}

size_t redact_copy(char *place, size_t size, struct text words)
{
    size_t length = words.length < size - 1 ? words.length : size - 1;

    if (length > 0) {
        memmove(place, words.data, length);
    }
    length = redact_apply(place, length, length < words.length);
    place[length] = '\0';
    return length;
}

size_t redact_vprint(char *place, size_t size, const char *format, va_list arguments)
{
    int printed = vsnprintf(place, size, format, arguments);
    size_t wanted = printed > 0 ? (size_t)printed : 0;
    size_t length = wanted < size - 1 ? wanted : size - 1;

    length = redact_apply(place, length, length < wanted);
    place[length] = '\0';
    return length;
}

size_t redact_print(char *place, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    size_t length = redact_vprint(place, size, format, arguments);
    va_end(arguments);
    return length;
}
