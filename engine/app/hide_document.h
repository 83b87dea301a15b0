/// Hide, documents: values under names that only secrets have, in JSON and XML. All other bytes stay as they are.
///
/// Threads: one.
/// Memory:  the hide's arena.
#pragma once

#include "app/hide.h"

/// What stands for a value from now on.
struct text hide_stand_in(struct hide *hide, struct text name, struct text value);
/// What stands for it already; absent: nothing.
struct text hide_known(const struct hide *hide, struct text value);

/// False: it is none, and nothing was appended that is of use.
MUST_CHECK bool hide_json(struct hide *hide, struct text json, struct buffer *out);
MUST_CHECK bool hide_xml(struct hide *hide, struct text xml, struct buffer *out);
