#include "base/text_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_CAPACITY = 16 };

static uint64_t secret[2];
static pthread_once_t has_secret = PTHREAD_ONCE_INIT;

static void make_secret(void)
{
    require(getrandom(secret, sizeof(secret), 0) == (ssize_t)sizeof(secret));
    secret[1] |= 1;
}

/// Both halves of a 128-bit product, folded: every bit of the input reaches every bit of the result.
static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(struct text key)
{
    uint64_t hash = secret[0] ^ key.length;
    size_t offset = 0;

    for (; offset + 8 <= key.length; offset += 8) {
        uint64_t word;
        memcpy(&word, key.data + offset, 8);
        hash = fold(hash ^ word, secret[1]);
    }
    uint64_t rest = offset < key.length ? text_short_word(key.data + offset, key.length - offset) : 0;
    return fold(hash ^ rest, secret[1] ^ 0x9e3779b97f4a7c15u);
}

uint64_t text_map_hash(struct text key)
{
    pthread_once(&has_secret, make_secret);
    return hash_of(key);
}

void text_map_init(struct text_map *map)
{
    pthread_once(&has_secret, make_secret);
    *map = (struct text_map){ 0 };
}

void text_map_fini(struct text_map *map)
{
    free(map->slots);
    *map = (struct text_map){ 0 };
}

static struct text_map_slot *slot_for(const struct text_map *map, struct text key, uint64_t hash)
{
    for (size_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        struct text_map_slot *slot = &map->slots[i];
        if (slot->key.data == NULL || (slot->hash == hash && text_equals(slot->key, key))) {
            return slot;
        }
    }
}

bool text_map_reserve(struct text_map *map, size_t count)
{
    size_t capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity;

    while (capacity < 2 * count) {
        capacity *= 2;
    }
    if (capacity == map->capacity) {
        return true;
    }
    struct text_map grown = { .slots = calloc(capacity, sizeof(*grown.slots)), .capacity = capacity };
    if (grown.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].key.data != NULL) {
            *slot_for(&grown, map->slots[i].key, map->slots[i].hash) = map->slots[i];
        }
    }
    grown.count = map->count;
    free(map->slots);
    *map = grown;
    return true;
}

struct text_map_slot *text_map_find(const struct text_map *map, struct text key)
{
    if (map->capacity == 0) {
        return NULL;
    }
    struct text_map_slot *slot = slot_for(map, key, hash_of(key));
    return slot->key.data != NULL ? slot : NULL;
}

struct text_map_slot *text_map_insert(struct text_map *map, struct text key)
{
    require(key.data != NULL);
    if (!text_map_reserve(map, map->count + 1)) {
        return NULL;
    }
    uint64_t hash = hash_of(key);
    struct text_map_slot *slot = slot_for(map, key, hash);
    if (slot->key.data == NULL) {
        *slot = (struct text_map_slot){ .key = key, .hash = hash };
        map->count++;
    }
    return slot;
}
