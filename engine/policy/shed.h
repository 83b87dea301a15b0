/// Shed: which suppliers of a search an overloaded engine does not ask: the least valuable ones.
///
/// How many is a matter of the level alone, not of what values mean: so it works with any measure of value, and never
/// leaves a search with nobody.
///
/// Threads: any.
/// Memory:  plain values, the caller's.
#pragma once

#include "policy/admission.h"

#include <stddef.h>

/// The share of a search's suppliers that is left out at this rung of the ladder: a quarter, never more. What a search
/// costs beside its suppliers is spent again for each, so that less of more searches is less in all: with half of eight
/// suppliers left out, an engine at three times its load brought an eighth less together than at twice its load.
double shed_share(uint32_t rung);

/// Marks the least valuable ones, that share of `count` rounded down; returns their number. Of equal ones those from
/// the place `turn` on come first, round about, so that by turns all are asked. At least one of several is kept.
size_t shed_choose(const double *values, size_t count, double share, size_t turn, bool *is_shed);
