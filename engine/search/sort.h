/// Sort: the orders in which a reply can stand, and how they share its places when there are too few.
///
/// `best` and `price` are the order of the reply, (flag, total, currency, item, supplier, id); `duration` puts the
/// quicker first among equal flags. When items must be cut, each order keeps its head, so that neither the cheapest nor
/// the quickest thing is lost: `best` shares the places evenly, the others keep one place for the other order.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/text.h"

enum sort { SORT_BEST, SORT_PRICE, SORT_DURATION, SORT_COUNT };

const char *sort_name(enum sort sort);

/// Of `max_items` places, those that the quickest items get before the others are filled by price.
static inline uint32_t sort_quick_places(enum sort sort, uint32_t max_items)
{
    switch (sort) {
    case SORT_BEST:
        return max_items / 2;
    case SORT_PRICE:
        return max_items > 1 ? 1 : 0;
    default:
        return max_items > 1 ? max_items - 1 : max_items;
    }
}
