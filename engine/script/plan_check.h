/// Plan check: a plan held against the offer of its product, without any answer.
///
/// Threads: those of the lua_State.
/// Memory:  nothing is kept.
#pragma once

#include "script/plan.h"
#include "script/schema.h"

/// Something that no answer could make right: `place` is where in the plan, `offer.price.total`.
struct plan_finding {
    const char *place;
    char message[200];
    char help[128];
};

typedef void (*plan_on_finding)(void *context, const struct plan_finding *finding);

/// Tells of leaves that are no field of the offer or cannot be what theirs is, and of required fields without a leaf;
/// and of what is asked of a search, by an example of one at the index `search` of the stack (0: there is none).
void plan_check(lua_State *L, const struct plan *plan, const struct schema *schema, int search,
                plan_on_finding on_finding, void *context);
