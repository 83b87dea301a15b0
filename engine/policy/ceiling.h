/// Ceiling: how long after arrival a supplier's answer is worth waiting for, by all who have a say.
///
/// The number is an operator's, else the rule's, else the settings' of the supplier, which rank as a rule without
/// conditions behind all others, else the script's, else the built-in one. Then it is scaled, then it is limited
/// (contract.md section 6).
///
/// Threads: any; plain values.
/// Memory:  nothing to free; rules are borrowed.
/// Time:    never reads the clock.
#pragma once

#include "model/rule.h"

/// `script_us` 0: the script says nothing, or was not asked. A scaled ceiling is at least 1 ms, so that no rounding
/// makes it nothing.
struct ceiling ceiling_in_force(const struct ceiling_terms *terms, uint64_t script_us);
