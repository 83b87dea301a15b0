#include "search/recall_internal.h"

#include "base/text_map.h"

// A stream that has indicative offers first shows them while their suppliers are still asked (`is_told`); any other
// reply decides at its end who shows them (recall_settle).

void recall_show_early(struct search *search, struct attempt *attempt)
{
    bool has_place = attempt->state != ATTEMPT_CLOSED ? attempt->stock.live == 0 : recall_may_fill(attempt);

    if (!recall_tells_first(search) || !has_place || attempt->recalled.stock.count == 0) {
        return;
    }
    attempt->recalled.is_shown = true;
    attempt->recalled.is_told = true;
    for (size_t i = 0; i < attempt->recalled.stock.count; i++) {
        stream_offers(&search->stream, attempt, &attempt->recalled.stock.batches[i]);
    }
}

/// Notes the offers that stood in and are not there under their ids. False: no memory.
static bool note_superseded(struct attempt *attempt)
{
    const struct recalled *recalled = &attempt->recalled;
    struct text_map live;
    bool is_fine = true;

    text_map_init(&live);
    for (size_t i = 0; i < attempt->stock.count && is_fine; i++) {
        const struct stock_batch *held = &attempt->stock.batches[i];
        for (size_t j = 0; j < held->batch->count && is_fine; j++) {
            is_fine = stock_is_gone(held, j) || text_map_insert(&live, held->batch->offers[j].id) != NULL;
        }
    }
    for (size_t i = 0; i < recalled->stock.count && is_fine; i++) {
        const struct stock_batch *held = &recalled->stock.batches[i];
        for (size_t j = 0; j < held->batch->count; j++) {
            const struct offer *offer = &held->batch->offers[j];
            if (!stock_is_gone(held, j) && text_map_find(&live, offer->id) == NULL) {
                stream_note_gone(&attempt->search->stream, attempt, offer);
            }
        }
    }
    text_map_fini(&live);
    return is_fine;
}

void recall_supersede(struct attempt *attempt)
{
    struct recalled *recalled = &attempt->recalled;
    struct search *search = attempt->search;

    if (!recalled->is_shown) {
        return;
    }
    recalled->is_shown = false;
    if (recalled->is_told) {
        recalled->is_told = false;
        search->stream.is_broken = !note_superseded(attempt) || search->stream.is_broken;
        stream_retract(&search->stream, search, "superseded");
    }
}

void recall_settle(struct search *search)
{
    for (size_t i = 0; i < search->attempt_count && search->recall.is_on; i++) {
        struct attempt *attempt = &search->attempts[i];
        bool has_offers = attempt->recalled.stock.live > 0 && recall_wants_indicative(search);
        attempt->recalled.is_shown = has_offers && recall_may_fill(attempt);
    }
}

double recall_share(const struct search *search, const struct attempt *attempt)
{
    if (!recall_has_offers(attempt) || !recall_wants_indicative(search)) {
        return 0;
    }
    uint64_t max_age_ms = last_known_max_age_ms(recall_settings(search), recall_terms(attempt), false);
    return last_known_share(attempt->recalled.age_ms, max_age_ms);
}

bool recall_is_young(const struct search *search, const struct attempt *attempt)
{
    return recall_has_offers(attempt) && recall_wants_indicative(search) &&
           last_known_is_young(&attempt->recalled.head, recall_settings(search), recall_terms(attempt),
                               recall_now_ms(search));
}
