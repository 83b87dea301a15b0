/// Address book: how the resolver makes the books that everyone else only reads.
///
/// Threads: made by one; immutable and counted from then on.
/// Memory:  one arena; the last release frees it.
#pragma once

#include "io/resolver.h"

/// A deep copy of the entries, with one reference. Hosts must be lower case, in ascending order and without repetition.
/// NULL without memory.
MUST_CHECK struct address_book *address_book_create(const struct address_entry *entries, size_t count);
struct address_book *address_book_acquire(struct address_book *book);

size_t address_book_count(const struct address_book *book);
const struct address_entry *address_book_at(const struct address_book *book, size_t index);
