/// Shed: which suppliers of a search an overloaded engine does not ask: the least valuable ones.
///
/// The level says how many at most; of those only the ones go without which the engine brings more. What is scarce is
/// the time of its processors, of which a search takes some for each supplier and SHED_BESIDES times as much for
/// itself. A supplier of value v is left out when V / (n + SHED_BESIDES), what a search of n suppliers worth V brings
/// for its price, grows by that: when v is less than it. Where all are worth the same nobody is left out, and searches
/// are refused instead; it works with any measure of value, and never leaves a search with nobody.
///
/// Threads: any.
/// Memory:  plain values, the caller's.
#pragma once

#include "policy/admission.h"

#include <stddef.h>

/// What a search costs beside its suppliers, in suppliers: read off the CPU time at two loads, between four and five.
enum { SHED_BESIDES = 4 };

/// The share of a search's suppliers that may be left out at this rung of the ladder: a quarter, never more.
double shed_share(uint32_t rung);

/// Marks the least valuable ones that are worth less than their price, at most that share of `count`; returns their
/// number. Of equal ones those from the place `turn` on come first, round about, so that by turns all are asked. At
/// least one of several is kept. No value is below 0.
size_t shed_choose(const double *values, size_t count, double share, size_t turn, bool *is_shed);
