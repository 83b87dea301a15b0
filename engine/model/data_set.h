/// Data set: the look-up tables of one generation by name, and how often each was asked in vain.
///
/// Threads: filled by one, then shared; reading, acquire, release and counting from any.
/// Memory:  counted; holds its tables, which other sets may share. A worker holds it for a call, so a lost thread
/// cannot outlive what it reads.
#pragma once

#include "base/buffer.h"
#include "base/data_table.h"

struct data_set;

/// Room for `capacity` tables; NULL without memory.
MUST_CHECK struct data_set *data_set_create(size_t capacity);
struct data_set *data_set_acquire(struct data_set *set); // NULL gives NULL
void data_set_release(struct data_set **set);

/// Takes the table, and leaves NULL. The name is copied. STATUS_NO_MEMORY: the table is still the caller's.
MUST_CHECK enum status data_set_add(struct data_set *set, struct text name, struct data_table **table);

size_t data_set_count(const struct data_set *set); // of NULL: 0
struct text data_set_name(const struct data_set *set, size_t index);
const struct data_table *data_set_table(const struct data_set *set, size_t index);
struct data_table *data_set_acquire_table(const struct data_set *set, size_t index);

/// The index of that name, or -1.
ptrdiff_t data_set_find(const struct data_set *set, struct text name);

/// The name that was probably meant, or NULL.
const char *data_set_nearest(const struct data_set *set, struct text name);

/// The counts of tables of the same name go on where those of `previous` are. Before it is shared; NULL: nothing does.
void data_set_follow(struct data_set *set, const struct data_set *previous);

/// The same tables with counts of their own, for what shall not be counted; NULL without memory, and of NULL.
MUST_CHECK struct data_set *data_set_apart(const struct data_set *set);

void data_set_note_hit(struct data_set *set, size_t index);
/// `key` has one text for each column of the table's key.
void data_set_note_miss(struct data_set *set, size_t index, const struct text *key);
uint64_t data_set_hits(const struct data_set *set, size_t index);
uint64_t data_set_misses(const struct data_set *set, size_t index);

/// From now on the first few keys that were not there are kept, each once, for a check to tell. Before it is shared.
void data_set_keep_misses(struct data_set *set);
/// "acme/LON, acme/PAR"; empty: none. Once nothing looks up any more.
void data_set_tell_misses(const struct data_set *set, size_t index, struct buffer *out);
