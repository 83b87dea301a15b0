/// Try, fit: do the offers answer what was asked? A saved answer may be one to another search.
///
/// Threads: one.
/// Memory:  none.
#pragma once

#include "app/try.h"

/// Offers of which a slice leaves on another day than was asked; 0 for products without slices.
size_t try_fit_count_other_days(const struct try_run *run);
