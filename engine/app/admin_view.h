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
