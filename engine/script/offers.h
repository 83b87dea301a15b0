/// Offers: takes the list that `normalise` returned and makes the finished batch of it.
///
/// A product declares its offer as data (`offer` in scripts/products/NAME.lua: fields in the order of the reply, their
/// kinds and what is required); it is compiled once per state and walked here in one pass that checks and writes JSON
/// at once. A bad offer is dropped, counted and reported with its path; it never takes the others with it.
/// Neither does a failure in place of an offer (`fail.unexpected(path)`), which a script gives for one that it refuses.
///
/// Threads: a worker's.
/// Memory:  the schema belongs to the state; the batch is the caller's.
#pragma once

#include "model/offer.h"

#include <lua.h>

/// Compiles the product table at `index` and keeps the result in the registry under the product's name.
/// False: a sentence is pushed.
bool offers_compile_product(lua_State *L, int index);

/// When the answer was received (µs, time of day): `observed_at` of the offers taken from now on. Without it they have
/// none.
void offers_set_observed(lua_State *L, uint64_t wall_us);

struct rates;

/// By what prices are converted from now on; borrowed until it is set anew. NULL: not at all. Whether the rates are too
/// old is the caller's to know. The places of zoned times are those of bind_time_set_places.
void offers_set_rates(lua_State *L, const struct rates *rates);

struct plan_row;

/// Takes what a plan makes of a document: `row` stands at its root. As offers_take otherwise, but functions of the plan
/// may raise errors.
enum status offers_take_planned(lua_State *L, struct plan_row *row, int search_index, const char *product,
                                struct text supplier, struct offer_batch *batch);

/// Reads the list at `list_index`. `product` was compiled in this state; `search_index` is the search table.
/// At most OFFER_MAX_PER_ANSWER offers are read; more are dropped and counted. STATUS_FULL: the batch's memory cap.
/// STATUS_INVALID: not a list, or an unknown product. Paths in findings count from 1, as Lua does.
/// Raises no Lua error except out of memory; must be called inside a protected call.
enum status offers_take(lua_State *L, int list_index, int search_index, const char *product, struct text supplier,
                        struct offer_batch *batch);
