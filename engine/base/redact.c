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

enum { BUCKETS = 4096, PAIRS_EACH = REDACT_PATTERNS * REDACT_PAIRS };

/// One allocation: `slots` are the secrets in the order of their coming, then the patterns, bucket by bucket.
struct redact_table {
    size_t count;                  // of secrets
    uint32_t buckets[BUCKETS + 1]; // where each begins among the patterns: those whose first two characters lead to it
    const void *slots[];
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

static struct redact_secret *secret_at(const struct redact_table *table, size_t index)
{
    return (struct redact_secret *)(uintptr_t)table->slots[index];
}

static const struct redact_pattern *pattern_at(const struct redact_table *table, size_t place)
{
    return table->slots[table->count + place];
}

static size_t bucket_of(uint16_t pair)
{
    return (pair * 40503u >> 4) % BUCKETS; // Knuth's multiplicative hash of 16 bits
}

/// Sorts the patterns of its secrets into the buckets: counts, then places each before the ones that are there.
static void redact_table_index(struct redact_table *table)
{
    uint16_t pairs[REDACT_PAIRS];

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < table->count * REDACT_PATTERNS; i++) {
            const struct redact_pattern *pattern =
                &secret_at(table, i / REDACT_PATTERNS)->patterns[i % REDACT_PATTERNS];
            size_t pair_count = redact_pattern_pairs(pattern, pairs);
            for (size_t j = 0; j < pair_count; j++) {
                size_t bucket = bucket_of(pairs[j]);
                if (pass == 0) {
                    table->buckets[bucket]++;
                } else {
                    table->slots[table->count + --table->buckets[bucket]] = pattern;
                }
            }
        }
        for (size_t i = 0; pass == 0 && i < BUCKETS; i++) {
            table->buckets[i + 1] += table->buckets[i]; // the end of each, until its patterns are placed
        }
    }
}

/// Publishes a table without `gone` and with `added` as its newest. What it replaces is buried. False: no memory.
static bool redact_publish(struct redact_secret *gone, struct redact_secret *added)
{
    struct redact_table *old = atomic_load(&redact_table);
    size_t count = old == NULL ? 0 : old->count;
    struct redact_table *table = calloc(1, sizeof(*table) + (count + 1) * (1 + PAIRS_EACH) * sizeof(table->slots[0]));
    struct redact_grave *grave = calloc(1, sizeof(*grave));

    if (table == NULL || grave == NULL) {
        free(table);
        free(grave);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (secret_at(old, i) != gone) {
            table->slots[table->count++] = secret_at(old, i);
        }
    }
    table->slots[table->count++] = added;
    redact_table_index(table);
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
        struct redact_secret *known = secret_at(table, i);
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

/// The longest match at a place, so far.
struct redact_match {
    size_t length; // 0: none
    bool is_cut;   // the text ends within a spelling
};

static void redact_try(const struct redact_table *table, size_t from, size_t to, struct text rest,
                       struct redact_match *match)
{
    for (size_t i = from; i < to; i++) {
        bool is_cut = false;
        size_t length = redact_pattern_match(pattern_at(table, i), rest, &is_cut);
        match->length = length > match->length ? length : match->length;
        match->is_cut = match->is_cut || is_cut;
    }
}

static struct redact_match redact_match(const struct redact_table *table, struct text rest)
{
    uint16_t pairs[REDACT_PAIRS];
    struct redact_match match = { .length = 0 };
    bool is_cut = false;

    size_t count = redact_text_pairs(rest, pairs, &is_cut);
    if (is_cut) { // near the end of the text: any may begin here
        redact_try(table, 0, table->buckets[BUCKETS], rest, &match);
        return match;
    }
    for (size_t i = 0; i < count; i++) {
        size_t bucket = bucket_of(pairs[i]);
        redact_try(table, table->buckets[bucket], table->buckets[bucket + 1], rest, &match);
    }
    return match;
}

static size_t redact_apply_table(const struct redact_table *table, char *bytes, size_t length, bool is_cut)
{
    size_t kept = 0;
    size_t i = 0;

    while (i < length) {
        struct text rest = { bytes + i, length - i };
        struct redact_match match = redact_match(table, rest);
        if (is_cut && match.is_cut) {
            break; // the beginning of one, whatever shorter one ends within it
        }
        if (match.length == 0) {
            bytes[kept++] = bytes[i++];
        } else {
            memset(bytes + kept, '*', 3); // shorter than any secret
            kept += 3;
            i += match.length;
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
