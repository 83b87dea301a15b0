#include "policy/traffic.h"

#include <stdio.h>

bool traffic_reaches(struct text search_id, struct text supplier, uint64_t share_millionths)
{
    char both[192];
    int length = snprintf(both, sizeof(both), "%.*s %.*s", TEXT_ARGS(search_id), TEXT_ARGS(supplier));
    size_t used = (size_t)length < sizeof(both) ? (size_t)length : sizeof(both) - 1;
    uint64_t hash = text_hash((struct text){ both, used });

    return (uint32_t)(hash ^ (hash >> 32)) % TRAFFIC_ALL < share_millionths;
}
