/// Stage supplier: what suppliers and scripts of a stage make of a call.
///
/// Threads: its stage's.
/// Memory:  results belong to the call or the fetch.
#pragma once

#include "bench/policy/stage.h"

/// Which search and supplier a request of ours is of.
void stage_supplier_of(const struct http_request *request, size_t *search, size_t *supplier, uint32_t *endpoint);
/// The response of a call that was answered or failed.
struct http_response *stage_supplier_respond(struct stage *stage, enum trace_fate fate);

/// What it says of calls that are made twice.
struct extra_terms stage_supplier_terms(const struct row *row, const struct population_supplier *supplier);

/// Which search a call is for.
size_t stage_supplier_search(const struct script_call *call);
/// Runs a call, or tells that no time was left for it.
void stage_supplier_run(struct stage *stage, struct script_call *call);
void stage_supplier_drop(struct script_call *call);
