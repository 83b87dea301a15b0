/// Offers, the state: what a Lua state keeps for taking offers, in its registry.
///
/// Threads: those of the lua_State.
/// Memory:  Lua's.
#pragma once

#include "base/buffer.h"
#include "script/calendar.h"
#include "script/schema.h"

/// The product's schema, or NULL; pushes its readers, or nil.
const struct schema *offers_state_schema(lua_State *L, const char *product);

enum { OFFERS_SCRATCHES = 3 };

/// Buffer 1: the offer in hand; 2: its item; 3: what of it is not shown.
struct buffer *offers_state_scratch(lua_State *L, int number);

/// The instant that offers_set_observed has set; leaves `observed_at` alone when there is none.
void offers_state_observed(lua_State *L, char observed_at[CALENDAR_TEXT_MAX]);
