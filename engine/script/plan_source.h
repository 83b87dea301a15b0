/// Plan source: at which line of a script a leaf of a plan is written.
///
/// The source is read by words, as far as tables go: names before `=`, braces, strings and comments. What is put
/// together elsewhere is found as far as it is written within the plan.
///
/// Threads: any.
/// Memory:  none.
#pragma once

#include "base/text.h"

#include <stdint.h>

/// The line of `place`, such as `offer.slices.origin`, in the plan that begins at `line`. Where the last names are not
/// found, that of the ones before them; `line` when there is none.
uint32_t plan_source_line(struct text source, uint32_t line, const char *place);
