/// Admin switch: the requests by which operators switch suppliers: POST /admin/v1/suppliers/NAME/ACTION with ACTION
/// enable, disable, drain, breaker, ceiling or purge, and a JSON object {who, why, account, for, state, ceiling}.
///
/// The answer is 200 once it is done and written down; 404 when no supplier is called so, 409 when it cannot be done,
/// 422 when the body is wrong.
///
/// Threads: the admin's; the answer comes from the switch desk's by a message.
/// Memory:  a request is freed with its answer.
#pragma once

#include "app/engine.h"
#include "io/http_server.h"

/// Answers, or suspends the request.
void admin_switch(struct engine *engine, struct loop *loop, struct http_call *call);
