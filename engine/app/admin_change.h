/// Admin change: the requests of the admin listener that change something: reload and rollback.
///
/// They are POSTs, with a JSON object or without a body, and are suspended until the builder has an answer, which is
/// sent as it is: 200, or 422 when it was refused, or 503 while the engine stops. Without a token a page in somebody's
/// browser must not be able to make them: what carries a foreign Origin, or a Host that is not this machine, is
/// refused.
///
/// Threads: the admin's; the answer comes from the builder's by a message.
/// Memory:  a request is freed with its answer; a caller who leaves loses his answer only.
#pragma once

#include "app/engine.h"
#include "io/http_server.h"

struct admin_change;

/// POST /admin/v1/reload {who, why, retry}; all of it may be left out.
void admin_change_reload(struct engine *engine, struct loop *loop, struct http_call *call);
/// POST /admin/v1/rollback {generation, who, why}.
void admin_change_roll_back(struct engine *engine, struct loop *loop, struct http_call *call);

/// Could this POST have been made by a page that somebody looks at? Only asked where no token is.
bool admin_change_is_foreign(const struct http_call *call);
