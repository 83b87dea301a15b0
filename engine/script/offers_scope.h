/// Offers, the scope: what the walk knows of the object in hand beside its fields: how its money is shown, and which
/// instants its times are.
///
/// Prices are converted here, once. Within `price` every amount whose currency is not the search's goes through the
/// table of rates, each on its own and rounded once, so the parts may miss their total by the last digit; the total is
/// what was converted, never a sum. The supplier's own amount stays beside the total as `supplier_price`, with the
/// table's `fx`; an amount of a list keeps its own too when it was in another currency than the total. When the total's
/// currency has no rate, nothing of the price is converted.
///
/// An object with `at` is a time at a place: its clocks' `local` comes from the script, `zone` and `utc` from the
/// place. A clock time that was skipped in spring is a mistake. One that came twice in autumn is the one that agrees
/// with the minutes told beside it, else the first that is not before the time in front of it. Minutes between times
/// are those of the instants, whatever the script says; when it says more than 12 hours else, a date is wrong, and so
/// is the offer.
///
/// Threads: a worker's.
/// Memory:  scopes live on the stack of the walk.
#pragma once

#include "script/offers_walk.h"

/// What offers_set_rates has set.
const struct rates *price_rates(lua_State *L);

void scope_enter(struct walk *walk, struct walk_scope *scope, const struct schema_object *object,
                 const struct value *values);
/// Writes what belongs behind the object's fields. False: a finding.
MUST_CHECK bool scope_leave(struct walk *walk, struct walk_scope *scope);

/// An amount of the object in hand becomes the one that is shown. False: out of range.
MUST_CHECK bool price_show_amount(struct walk *walk, const struct schema_field *field, int64_t *micros, int *decimals);
/// … and a currency.
struct text price_show_currency(const struct walk *walk, const struct schema_field *field, struct text currency);
/// The amounts of the object in hand are shown in the currency that the total is shown in.
bool price_is_like_total(const struct walk *walk);
/// A field that only the engine may write into a price.
bool price_is_reserved(const struct walk *walk, const struct schema_object *object, const char *name);
/// Decides how the money of the scope is shown; writes what stands behind it.
void price_enter(struct walk *walk, struct walk_scope *scope);
void price_leave(struct walk *walk, const struct walk_scope *scope);
/// Behind the price: what is due later is within the total. False: a finding.
MUST_CHECK bool price_has_due(struct walk *walk);

/// A time at a place.
MUST_CHECK bool times_walk(struct walk *walk, const struct schema_field *field, const struct value *value);
/// Elapsed minutes: room for them, for they are known when the object ends.
MUST_CHECK bool times_elapsed(struct walk *walk, const struct schema_field *field, const struct value *value);
MUST_CHECK bool times_leave(struct walk *walk, struct walk_scope *scope);
