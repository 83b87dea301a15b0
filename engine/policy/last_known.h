/// Last known, decided: whether what a supplier said last may stand in for it, spares asking it, or is to be had anew;
/// and which answers become one (policy.md section 7).
///
/// Threads: any; plain values.
/// Memory:  none.
/// Time:    never reads the clock; ages are arguments.
#pragma once

#include "model/last_known.h"

#include <stddef.h>

/// Of offers dropped and kept together, in percent: an answer that lost more is not what the supplier has.
enum { LAST_KNOWN_DROPPED_MOST = 10 };

/// How old an answer is at `now_ms`; one from the future, by another machine's clock, is new.
uint64_t last_known_age_ms(const struct last_known_head *head, uint64_t now_ms);

/// How old an answer with or without offers may be to stand in.
uint64_t last_known_max_age_ms(const struct last_known_settings *settings, const struct last_known_terms *terms,
                               bool is_empty);

/// May it stand in? Neither too old nor past the end of its life.
bool last_known_is_usable(const struct last_known_head *head, const struct last_known_settings *settings,
                          const struct last_known_terms *terms, uint64_t now_ms);

/// Is it so young that its supplier need not be asked?
bool last_known_is_fresh(const struct last_known_head *head, const struct last_known_settings *settings,
                         const struct last_known_terms *terms, uint64_t now_ms);

/// Is it so young that a new one would say little else: within a tenth of what its age may be?
bool last_known_is_young(const struct last_known_head *head, const struct last_known_settings *settings,
                         const struct last_known_terms *terms, uint64_t now_ms);

/// What an offer of that age counts beside a live one: 0.85 * exp(-age / tau), tau a quarter of what its age may be.
double last_known_share(uint64_t age_ms, uint64_t max_age_ms);

/// Did so many offers of an answer drop out that it must not be kept?
bool last_known_is_suspicious(size_t live, size_t dropped);

/// Has a median fallen so far below the last known one that it is held back? `guard` in millionths; 0: never.
bool last_known_is_guarded(int64_t median_micros, int64_t last_micros, uint64_t guard);
