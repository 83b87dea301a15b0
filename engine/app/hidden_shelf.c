#include "app/hidden_shelf.h"

#include "token/seal.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = HIDDEN_SHELF_COUNT * 2 };

// Entries stand in the order in which they came, in a ring. A name is random, so its first bytes are a hash: of each
// bucket a chain of ring numbers, newest first.
struct entry {
    char name[HIDDEN_NAME];
    struct block *bytes; // NULL: free
    uint64_t end_ms;
    uint32_t next; // in its bucket, + 1; 0: the last
};

struct hidden_shelf {
    pthread_mutex_t lock;
    struct entry *ring;
    uint32_t *buckets; // ring number + 1
    uint32_t oldest, count;
    size_t bytes;
};

struct hidden_shelf *hidden_shelf_create(void)
{
    struct hidden_shelf *shelf = calloc(1, sizeof *shelf);

    if (shelf == NULL) {
        return NULL;
    }
    shelf->ring = calloc(HIDDEN_SHELF_COUNT, sizeof *shelf->ring);
    shelf->buckets = calloc(BUCKETS, sizeof *shelf->buckets);
    if (shelf->ring == NULL || shelf->buckets == NULL) {
        free(shelf->ring);
        free(shelf->buckets);
        free(shelf);
        return NULL;
    }
    pthread_mutex_init(&shelf->lock, NULL);
    return shelf;
}

static uint32_t *bucket_of(struct hidden_shelf *shelf, const char *name)
{
    uint32_t hash;

    memcpy(&hash, name, sizeof hash);
    return &shelf->buckets[hash % BUCKETS];
}

static void drop_oldest(struct hidden_shelf *shelf)
{
    struct entry *entry = &shelf->ring[shelf->oldest];
    uint32_t *at = bucket_of(shelf, entry->name);

    while (*at != shelf->oldest + 1) {
        at = &shelf->ring[*at - 1].next;
    }
    *at = entry->next;
    shelf->bytes -= block_text(entry->bytes).length;
    block_release(&entry->bytes);
    shelf->oldest = (shelf->oldest + 1) % HIDDEN_SHELF_COUNT;
    shelf->count--;
}

void hidden_shelf_destroy(struct hidden_shelf **shelf)
{
    struct hidden_shelf *self = *shelf;

    *shelf = NULL;
    if (self == NULL) {
        return;
    }
    while (self->count > 0) {
        drop_oldest(self);
    }
    pthread_mutex_destroy(&self->lock);
    free(self->ring);
    free(self->buckets);
    free(self);
}

enum status hidden_shelf_keep(struct hidden_shelf *shelf, struct text bytes, uint64_t end_ms, char name[HIDDEN_NAME])
{
    if (bytes.length > HIDDEN_SHELF_BYTES) {
        return STATUS_INVALID;
    }
    enum status status = seal_random((uint8_t *)name, HIDDEN_NAME);
    struct block *copy = status == STATUS_OK ? block_create(bytes) : NULL;
    if (copy == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    pthread_mutex_lock(&shelf->lock);
    while (shelf->count == HIDDEN_SHELF_COUNT || shelf->bytes + bytes.length > HIDDEN_SHELF_BYTES) {
        drop_oldest(shelf);
    }
    uint32_t number = (shelf->oldest + shelf->count) % HIDDEN_SHELF_COUNT, *bucket = bucket_of(shelf, name);
    struct entry *entry = &shelf->ring[number];
    memcpy(entry->name, name, HIDDEN_NAME);
    entry->bytes = copy;
    entry->end_ms = end_ms;
    entry->next = *bucket;
    *bucket = number + 1;
    shelf->count++;
    shelf->bytes += bytes.length;
    pthread_mutex_unlock(&shelf->lock);
    return STATUS_OK;
}

struct block *hidden_shelf_find(struct hidden_shelf *shelf, struct text name, uint64_t now_ms)
{
    struct block *found = NULL;

    if (name.length != HIDDEN_NAME) {
        return NULL;
    }
    pthread_mutex_lock(&shelf->lock);
    for (uint32_t at = *bucket_of(shelf, name.data); at != 0 && found == NULL; at = shelf->ring[at - 1].next) {
        const struct entry *entry = &shelf->ring[at - 1];
        if (memcmp(entry->name, name.data, HIDDEN_NAME) == 0 && now_ms < entry->end_ms) {
            found = block_acquire(entry->bytes);
        }
    }
    pthread_mutex_unlock(&shelf->lock);
    return found;
}
