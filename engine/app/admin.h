/// Admin: the operators' listener, on a thread and a loop of its own, so that no question disturbs a search.
///
/// GET /metrics, /admin/v1/status, /admin/v1/suppliers, /admin/v1/searches, /admin/v1/searches/ID,
/// /admin/v1/generations, /admin/v1/events; POST /admin/v1/reload, /admin/v1/rollback, /admin/v1/suppliers/NAME/ACTION.
/// With a token (admin.token_env) every request must carry it as a bearer token; a listener beyond loopback does not
/// start without one.
///
/// Threads: started and stopped by the control thread; between, it reads what any thread may read, and asks the
/// builder. Memory:  owns thread, loop and listener; borrows the engine, which outlives it.
#pragma once

#include "app/engine.h"

struct admin;

/// The token that the settings ask for; absent: none. STATUS_INVALID: it is not there, or one is needed.
MUST_CHECK enum status admin_read_token(const struct settings *settings, struct text *token, struct failure *why);

/// With `admin.listen` empty there is none: STATUS_OK and `*admin` NULL.
MUST_CHECK enum status admin_start(struct engine *engine, struct admin **admin, struct failure *why);
void admin_stop(struct admin **admin);
uint16_t admin_port(const struct admin *admin);
