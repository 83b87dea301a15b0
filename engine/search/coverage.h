/// Coverage: how much of what could be asked is in the reply (contract.md section 2).
///
/// Every eligible supplier counts once, by its final outcome. Nothing here may suggest that a list is exhaustive:
/// `is_complete` says only that every eligible supplier answered whole, was empty or was cached.
///
/// Threads: any; plain values.
#pragma once

#include "search/attempt.h"
#include "search/search.h"

#include "base/json_write.h"

struct coverage {
    size_t eligible, answered, cached, empty, indicative, missing;
    size_t partial;   // of those answered or empty: not whole
    size_t pending;   // eligible and not closed yet
    bool has_store;   // cached and indicative ones are told, be there none; its owner says so
    uint32_t percent; // rounded down; 0 when nobody is eligible
    bool is_complete;
    bool has_bound[BOUND_BUDGET + 1]; // reasons of those missing
    bool has_outcome[OUTCOME_COUNT];
};

void coverage_count(struct coverage *coverage, const struct attempt *attempts, size_t count);

/// The object of the reply, as `detail` says; offers_found and offers_returned come from the merge.
void coverage_write(const struct coverage *coverage, enum reply_detail detail, struct json_writer *json, size_t found,
                    size_t returned);

/// One supplier's entry of `suppliers`.
void coverage_write_attempt(const struct attempt *attempt, uint64_t arrival_us, enum reply_detail detail,
                            struct json_writer *json);
