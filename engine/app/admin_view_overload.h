/// Admin view, overload: what status and metrics tell of the loops' gates.
///
/// Threads: the admin's, while the loops exist.
/// Memory:  none of its own.
#pragma once

#include "app/engine.h"
#include "base/json_write.h"
#include "model/catalogue.h"

/// The field `overload`: the worst of the loops, and their sums.
void admin_view_write_overload(struct engine *engine, const struct catalogue *catalogue, struct json_writer *json);
void admin_view_sample_overload(struct engine *engine);
