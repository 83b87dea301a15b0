/// Answer: makes the one reply of a search out of its closed attempts.
///
/// Offers are merged by their columns alone, in the order (flag, total, currency, item, supplier, id), so that equal
/// input gives equal bytes whatever the order of arrival; their bytes are copied as the workers finished them.
///
/// Threads: the search's.
/// Memory:  scratch from the search's arena; the reply's body is a counted block.
#pragma once

#include "search/search.h"

/// Fills status, body and is_complete. Every attempt is closed. Without memory the body is NULL and the status 503.
void answer_build(struct search *search, struct search_reply *reply);

/// The product refused the query (422 with its errors) or failed (500).
void answer_refuse(struct search *search, const struct start_call *start, struct search_reply *reply);
