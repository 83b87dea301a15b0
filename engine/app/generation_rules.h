/// Generation's rules: those of the settings with names looked up, as searches read them.
///
/// Threads: one.
/// Memory:  the builder's arena.
#pragma once

#include "app/generation_builder.h"
#include "model/catalogue.h"

/// Holds the rules against products and suppliers, and makes `catalogue->rules` of them; NULL when there are none.
/// Reports names that nobody has, values that no fact can have, and what an earlier rule never lets win.
MUST_CHECK enum status generation_make_rules(struct generation_builder *builder, struct catalogue *catalogue);
