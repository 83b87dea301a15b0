/// Suppliers view: how all suppliers and their accounts stand, for GET /admin/v1/suppliers and `lastcall suppliers`.
///
/// Threads: any that may wait for a moment.
/// Memory:  owns nothing.
#pragma once

#include "app/engine.h"
#include "base/json_write.h"

void suppliers_view_write(struct engine *engine, struct json_writer *json);

/// The field `switch` when an operator has said something of whether this supplier is asked (`account` absent), or this
/// account of it. True: there is one.
bool suppliers_view_switch(struct engine *engine, struct text supplier, struct text account, struct json_writer *json);
/// Has an operator switched off the supplier, or any account of it?
struct catalogue_supplier;
bool suppliers_view_is_off(struct engine *engine, const struct catalogue_supplier *supplier, bool *is_wholly);

/// Its breaker and its latency, as fields.
struct permits_view;
void suppliers_view_health(const struct permits_view *view, struct json_writer *json);
