#include "policy/last_known.h"

#include <math.h>

enum { PERCENT = 100, YOUNG_TENTH = 10, TAU_QUARTER = 4, MILLIONTHS = 1000000 };

static const double SHARE_AT_ONCE = 0.85;

uint64_t last_known_age_ms(const struct last_known_head *head, uint64_t now_ms)
{
    return now_ms > head->observed_ms ? now_ms - head->observed_ms : 0;
}

uint64_t last_known_max_age_ms(const struct last_known_settings *settings, const struct last_known_terms *terms,
                               bool is_empty)
{
    uint64_t max_age_ms = terms->max_age_ms != 0 ? terms->max_age_ms : settings->max_age_ms;

    return is_empty && settings->empty_max_age_ms < max_age_ms ? settings->empty_max_age_ms : max_age_ms;
}

bool last_known_is_usable(const struct last_known_head *head, const struct last_known_settings *settings,
                          const struct last_known_terms *terms, uint64_t now_ms)
{
    return now_ms < head->until_ms &&
           last_known_age_ms(head, now_ms) <= last_known_max_age_ms(settings, terms, head->offers == 0);
}

bool last_known_is_fresh(const struct last_known_head *head, const struct last_known_settings *settings,
                         const struct last_known_terms *terms, uint64_t now_ms)
{
    bool has_expired = head->expires_ms != 0 && head->expires_ms <= now_ms;

    return !has_expired && last_known_age_ms(head, now_ms) < terms->fresh_for_ms &&
           last_known_is_usable(head, settings, terms, now_ms);
}

bool last_known_is_young(const struct last_known_head *head, const struct last_known_settings *settings,
                         const struct last_known_terms *terms, uint64_t now_ms)
{
    uint64_t max_age_ms = last_known_max_age_ms(settings, terms, head->offers == 0);

    return last_known_age_ms(head, now_ms) <= max_age_ms / YOUNG_TENTH;
}

double last_known_share(uint64_t age_ms, uint64_t max_age_ms)
{
    return max_age_ms > 0 ? SHARE_AT_ONCE * exp(-(double)age_ms * TAU_QUARTER / (double)max_age_ms) : 0;
}

bool last_known_is_suspicious(size_t live, size_t dropped)
{
    return dropped * PERCENT > (live + dropped) * LAST_KNOWN_DROPPED_MOST;
}

bool last_known_is_guarded(int64_t median_micros, int64_t last_micros, uint64_t guard)
{
    return guard > 0 && guard < MILLIONTHS && last_micros > 0 &&
           (double)median_micros < (double)last_micros * (double)(MILLIONTHS - guard) / MILLIONTHS;
}
