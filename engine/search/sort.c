#include "search/sort.h"

const char *sort_name(enum sort sort)
{
    static const char *const names[] = {
        [SORT_BEST] = "best",
        [SORT_PRICE] = "price",
        [SORT_DURATION] = "duration",
    };
    return names[sort];
}
