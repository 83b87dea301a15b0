#include "io/resolver_book.h"

#include "base/arena.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_MAX = 255 };

struct address_book {
    atomic_uint references;
    struct arena arena;
    struct address_entry *entries; // ascending by host
    size_t count;
};

static bool address_entry_copy(struct arena *arena, struct address_entry *to, const struct address_entry *from)
{
    *to = *from;
    to->host = arena_copy(arena, from->host);
    if (to->host.data == NULL) {
        return false;
    }
    to->addresses = NULL;
    if (from->address_count == 0) {
        return true;
    }
    to->addresses = arena_alloc_array(arena, from->address_count, sizeof(*to->addresses));
    if (to->addresses == NULL) {
        return false;
    }
    memcpy(to->addresses, from->addresses, from->address_count * sizeof(*to->addresses));
    return true;
}

struct address_book *address_book_create(const struct address_entry *entries, size_t count)
{
    struct address_book *book = calloc(1, sizeof(*book));

    if (book == NULL) {
        return NULL;
    }
    atomic_init(&book->references, 1);
    arena_init(&book->arena, SIZE_MAX);
    book->entries = arena_alloc_array(&book->arena, count + 1, sizeof(*book->entries));
    if (book->entries == NULL) {
        address_book_release(&book);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        require(i == 0 || text_compare(entries[i - 1].host, entries[i].host) < 0);
        if (!address_entry_copy(&book->arena, &book->entries[i], &entries[i])) {
            address_book_release(&book);
            return NULL;
        }
        book->count++;
    }
    return book;
}

struct address_book *address_book_acquire(struct address_book *book)
{
    atomic_fetch_add_explicit(&book->references, 1, memory_order_relaxed);
    return book;
}

void address_book_release(struct address_book **book)
{
    struct address_book *gone = *book;

    *book = NULL;
    if (gone != NULL && atomic_fetch_sub_explicit(&gone->references, 1, memory_order_acq_rel) == 1) {
        arena_fini(&gone->arena);
        free(gone);
    }
}

size_t address_book_count(const struct address_book *book)
{
    return book->count;
}

const struct address_entry *address_book_at(const struct address_book *book, size_t index)
{
    require(index < book->count);
    return &book->entries[index];
}

static int address_entry_compare(const void *key, const void *element)
{
    return text_compare(*(const struct text *)key, ((const struct address_entry *)element)->host);
}

const struct address_entry *address_book_find(const struct address_book *book, struct text host)
{
    char lower[HOST_MAX];
    struct text key = { lower, host.length };

    if (host.length == 0 || host.length > sizeof(lower)) {
        return NULL;
    }
    for (size_t i = 0; i < host.length; i++) {
        char c = host.data[i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return bsearch(&key, book->entries, book->count, sizeof(*book->entries), address_entry_compare);
}
