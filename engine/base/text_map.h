/// Text map: finds a slot by a text; for ids and names that strangers choose.
///
/// Open addressing, at most half full, hashed with a secret of the process, so that chosen keys cannot be made to
/// collide.
///
/// Threads: one owner.
/// Memory:  owns its slots (malloc); keys are borrowed and must outlive the map.
#pragma once

#include "base/text.h"

struct text_map_slot {
    struct text key; // absent: a free slot
    uint64_t hash;
    const void *value;
    uint32_t number;
};

struct text_map {
    struct text_map_slot *slots;
    size_t capacity; // a power of two, or 0
    size_t count;
};

void text_map_init(struct text_map *map);
void text_map_fini(struct text_map *map);

/// The hash of a key in all maps of this process, another one in the next.
uint64_t text_map_hash(struct text key);

/// Room for `count` keys in all; text_map_insert cannot fail up to there. False: no memory.
MUST_CHECK bool text_map_reserve(struct text_map *map, size_t count);

/// NULL: no such key.
struct text_map_slot *text_map_find(const struct text_map *map, struct text key);

/// The slot of the key, new ones with value NULL and number 0; NULL without memory. Valid until the next insert.
MUST_CHECK struct text_map_slot *text_map_insert(struct text_map *map, struct text key);
