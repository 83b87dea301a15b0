#include "policy/concurrency.h"

static const uint32_t FEWER_PERCENT = 70;

void concurrency_set(struct concurrency *concurrency, uint32_t most)
{
    bool was_full = concurrency->cap == concurrency->most;

    concurrency->cap = was_full || concurrency->cap > most ? most : concurrency->cap;
    concurrency->most = most;
}

static void window_ends(struct concurrency *concurrency)
{
    bool was_used = concurrency->peak >= concurrency->cap;

    if (was_used && !concurrency->is_strained && concurrency->cap < concurrency->most) {
        concurrency->cap++;
    }
    concurrency->peak_before = concurrency->peak;
    concurrency->peak = 0;
    concurrency->is_strained = false;
}

static void concurrency_advance(struct concurrency *concurrency, uint64_t now_us)
{
    if (now_us < concurrency->end_us) {
        return;
    }
    if (concurrency->end_us != 0) {
        window_ends(concurrency); // those in which nothing was asked were not in use
    }
    concurrency->end_us = now_us + CONCURRENCY_WINDOW_US;
}

bool concurrency_allows(struct concurrency *concurrency, uint32_t running, uint64_t now_us)
{
    if (concurrency->most == 0) {
        return true;
    }
    concurrency_advance(concurrency, now_us);
    uint32_t wanted = running + 1;
    concurrency->peak = wanted > concurrency->peak ? wanted : concurrency->peak;
    return running < concurrency->cap;
}

void concurrency_strained(struct concurrency *concurrency, uint32_t running, uint64_t now_us)
{
    if (concurrency->most == 0) {
        return;
    }
    concurrency_advance(concurrency, now_us);
    // Its answer is late, and those that were sent with it may be over by now.
    uint32_t borne = running > concurrency->peak_before ? running : concurrency->peak_before;
    borne = borne > concurrency->peak ? borne : concurrency->peak;
    borne = borne < concurrency->cap ? borne : concurrency->cap;
    if (!concurrency->is_strained) {
        uint32_t fewer = (uint32_t)((uint64_t)borne * FEWER_PERCENT / 100);
        concurrency->cap = fewer > 1 ? fewer : 1;
    }
    concurrency->is_strained = true;
}

uint32_t concurrency_cap(struct concurrency *concurrency, uint64_t now_us)
{
    if (concurrency->most != 0) {
        concurrency_advance(concurrency, now_us);
    }
    return concurrency->cap;
}
