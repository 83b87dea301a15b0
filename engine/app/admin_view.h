/// Admin view: what the engine tells operators: its state as JSON, and the numbers that it samples for metrics.
///
/// Threads: any that may wait for a moment; reads the engine only where any thread may.
/// Memory:  owns nothing.
#pragma once

#include "app/engine.h"
#include "base/json_write.h"

/// Generation, readiness, suppliers, script threads, attribution, as one object.
void admin_view_status(struct engine *engine, struct json_writer *json);

/// Takes the numbers that are not counted by search: script workers, attribution, log, generation.
void admin_view_sample(struct engine *engine);

/// The same of this catalogue, which is in use; by who holds engine_moves_lock.
void admin_view_sample_of(struct engine *engine, const struct catalogue *catalogue);

/// After a last sample of the catalogue before: what versions of scripts and tables count is taken from those of `now`
/// from here on. One that ran before stands at its old count, and that was told already.
void admin_view_begin(struct engine *engine, const struct catalogue *before, const struct catalogue *now);
