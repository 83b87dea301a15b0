#include "policy/worth.h"

#include <math.h>

static const double HALF_LIFE_US = 3600e6;

static double decay_of(const struct worth_sum *sum, uint64_t now_us)
{
    return sum->at_us != 0 && now_us > sum->at_us ? exp2(-(double)(now_us - sum->at_us) / HALF_LIFE_US) : 1;
}

static void sum_note(struct worth_sum *sum, double items, bool has_won, uint64_t now_us)
{
    double decay = decay_of(sum, now_us);

    *sum = (struct worth_sum){ .answers = sum->answers * decay + 1,
                               .items = sum->items * decay + fmax(items, 0),
                               .wins = sum->wins * decay + (has_won ? 1 : 0),
                               .at_us = now_us };
}

static size_t kind_find(const struct worth *worth, uint64_t kind)
{
    size_t at = 0;

    while (at < WORTH_KINDS && (kind == 0 || worth->names[at] != kind)) {
        at++;
    }
    return at;
}

/// A place for a new kind: that of the one which weighs least now.
static size_t kind_place(const struct worth *worth, uint64_t now_us)
{
    size_t least = 0;

    for (size_t i = 1; i < WORTH_KINDS; i++) {
        double here = worth->kinds[i].answers * decay_of(&worth->kinds[i], now_us);
        if (here < worth->kinds[least].answers * decay_of(&worth->kinds[least], now_us)) {
            least = i;
        }
    }
    return least;
}

void worth_note(struct worth *worth, uint64_t kind, double items, bool has_won, uint64_t now_us)
{
    sum_note(&worth->all, items, has_won, now_us);
    if (kind == 0) {
        return;
    }
    size_t at = kind_find(worth, kind);
    if (at == WORTH_KINDS) {
        at = kind_place(worth, now_us);
        worth->names[at] = kind;
        worth->kinds[at] = (struct worth_sum){ 0 };
    }
    sum_note(&worth->kinds[at], items, has_won, now_us);
}

bool worth_expect(const struct worth *worth, uint64_t kind, double *items)
{
    size_t at = kind_find(worth, kind);

    if (worth->all.answers < WORTH_LEAST) {
        return false;
    }
    double mean = worth->all.items / worth->all.answers;
    const struct worth_sum *sum = &worth->kinds[at < WORTH_KINDS ? at : 0];
    *items = at < WORTH_KINDS ? (sum->items + WORTH_LEAN * mean) / (sum->answers + WORTH_LEAN) : mean;
    return true;
}

bool worth_win_rate(const struct worth *worth, double *rate)
{
    if (worth->all.answers < WORTH_LEAST) {
        return false;
    }
    *rate = worth->all.wins / worth->all.answers;
    return true;
}
