/// Plan where: how a person is told where in the document the function of a plan was asked about.
///
/// Threads: those of the lua_State.
/// Memory:  none of its own.
#pragma once

#include "script/plan_read.h"

/// Writes where what the function in hand was given as its argument `number` (from 1 on) stands:
/// "body.offers[2].price". False: it was given no such argument, or one that does not stand in the document.
bool plan_where(const struct plan_row *row, int number, char *place, size_t size);

/// Writes where a path leads to from the elements in hand, whether something is there or not.
void plan_where_path(const struct plan_row *row, const struct plan_path *path, char *place, size_t size);
