#include "search/keep.h"

#include "base/micros.h"
#include "search/recall_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// May anything of it be stored at all?
static bool is_storable(const struct search *search, const struct attempt *attempt)
{
    bool is_dark = attempt->is_lingering ? attempt->was.mode == MODE_DARK : attempt_is_dark(attempt);

    return search_has_store(search) && search->key != NULL && attempt->account != NULL && !is_dark;
}

static bool is_whole(const struct attempt *attempt)
{
    bool is_good = attempt->outcome == OUTCOME_ANSWERED || attempt->outcome == OUTCOME_EMPTY;

    // One that joined another's request has the same answer, which that one keeps.
    return is_good && !attempt->is_partial && !attempt->has_joined && !attempt_is_full(attempt) &&
           !attempt->was.had_offers && !last_known_is_suspicious(attempt->stock.live, attempt->dropped);
}

void keep_answer(const struct search *search, const struct attempt *attempt)
{
    struct world *world = search_world(search);

    if (!is_storable(search, attempt) || !is_whole(attempt)) {
        return;
    }
    const struct stock *stock = &attempt->stock;
    struct store_call *call =
        store_call_create(STORE_KEEP, search_product_script(search), block_text(search->key), 1, stock->count);
    bool is_fine = call != NULL && store_call_name(call, 0, attempt->supplier->name, attempt->account->name);
    for (size_t i = 0; i < stock->count && is_fine; i++) {
        is_fine = store_call_fill(call, i, stock->batches[i].batch, stock->batches[i].is_gone);
    }
    if (!is_fine) {
        store_call_destroy(&call);
        return;
    }
    const struct search_options *options = &search->options;
    uint64_t came_us = attempt->arrived_us != 0 ? attempt->arrived_us : attempt->closed_us;
    struct last_known_head *head = &call->entries[0].head;
    head->observed_ms = (options->arrival_wall_us + came_us - options->arrival_us) / 1000;
    head->until_ms =
        head->observed_ms + last_known_max_age_ms(recall_settings(search), recall_terms(attempt), stock->live == 0);
    call->now_ms = (options->arrival_wall_us + world->ops->now_us(world) - options->arrival_us) / 1000;
    world->ops->store_submit(world, call);
}

bool keep_wants(const struct search *search, const struct attempt *attempt)
{
    const struct recalled *recalled = &attempt->recalled;

    if (!recall_settings(search)->fills || !is_storable(search, attempt) || attempt->stock.live > 0) {
        return false;
    }
    if (recalled->state == RECALL_FOUND) {
        return !last_known_is_young(&recalled->head, recall_settings(search), recall_terms(attempt),
                                    recall_now_ms(search));
    }
    return recalled->state == RECALL_ABSENT; // a store that does not answer takes nothing either
}

// --------------------------------------------------------------------------------------------------------------- guard

static int compare_micros(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/// The median of the totals that may win, in that currency. False: there is none, or no memory.
static bool median_of(const struct stock *stock, const char *currency, int64_t *median)
{
    int64_t *totals = malloc((stock->live + 1) * sizeof *totals);
    size_t count = 0;

    for (size_t i = 0; i < stock->count && totals != NULL; i++) {
        const struct stock_batch *held = &stock->batches[i];
        for (size_t j = 0; j < held->batch->count; j++) {
            const struct offer *offer = &held->batch->offers[j];
            bool counts = !stock_is_gone(held, j) && offer->flag == OFFER_COMPARABLE;
            if (counts && strncmp(offer->currency, currency, sizeof offer->currency) == 0) {
                totals[count++] = offer->total_micros;
            }
        }
    }
    if (count > 0) {
        qsort(totals, count, sizeof *totals, compare_micros);
        *median = totals[(count - 1) / 2];
    }
    free(totals);
    return count > 0;
}

bool keep_guards(const struct attempt *attempt, char *why, size_t size)
{
    const struct last_known_head *head = &attempt->recalled.head;
    uint64_t guard = recall_terms(attempt)->price_guard;
    int64_t median = 0;

    if (guard == 0 || attempt->recalled.state != RECALL_FOUND || head->median_micros <= 0 ||
        !median_of(&attempt->stock, head->currency, &median) ||
        !last_known_is_guarded(median, head->median_micros, guard)) {
        return false;
    }
    char now[MICROS_TEXT_MAX], last[MICROS_TEXT_MAX];
    int decimals = attempt->stock.batches[0].batch->decimals;
    micros_write(median, decimals, now);
    micros_write(head->median_micros, decimals, last);
    snprintf(why, size, PRICE_GUARD_CODE ": the median fell from %s to %s %.3s; held back", last, now, head->currency);
    return true;
}
