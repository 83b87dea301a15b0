#include "search/gain.h"

#include "search/search_internal.h"

/// Whose is the cheapest offer of all; NULL: none may win.
static const struct attempt *winner_of(const struct merge_result *merged)
{
    const struct attempt *winner = NULL;
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < merged->item_count; i++) {
        int64_t micros = offer_comparable_micros(merged->items[i].offer);
        if (micros < least) {
            least = micros;
            winner = merged->items[i].attempt;
        }
    }
    return winner;
}

static bool has_answered(const struct attempt *attempt)
{
    return attempt->outcome == OUTCOME_ANSWERED || attempt->outcome == OUTCOME_EMPTY;
}

void gain_tell(struct search *search, const struct merge_result *merged)
{
    struct world *world = search->options.world;

    if (world->ops->worth_tell == NULL) {
        return;
    }
    for (size_t i = 0; i < merged->item_count; i++) {
        search->attempts[merged->items[i].attempt - search->attempts].items_led++;
    }
    const struct attempt *winner = winner_of(merged);
    for (size_t i = 0; i < search->attempt_count; i++) {
        const struct attempt *attempt = &search->attempts[i];
        if (has_answered(attempt) && attempt->account != NULL && !attempt_is_dark(attempt)) {
            world->ops->worth_tell(world, attempt->account, search->kind, attempt->items_led, attempt == winner);
        }
    }
}
