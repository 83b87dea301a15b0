/// Plan memo: what a function of a plan said of a text, for the rest of the answer.
///
/// Functions of scripts are pure, and an answer repeats a few words in all its offers ("1PC", "FEE", "NO"): a function
/// of one plain text is asked once for each of them. Short texts only, and few: where nearly every text is another one,
/// such as a flight's number, looking them up is soon given up for the answer. What took randomness, or logged, is not
/// kept.
///
/// Threads: those of the lua_State.
/// Memory:  lies in the plan's arena; values that it gives are good until the next answer.
#pragma once

#include "script/plan_read.h"

/// What `node`, a function, is asked about: the text that the memo knows it by; absent: it is no matter for the memo.
struct text plan_memo_key(const struct plan_row *row, const struct plan_node *node);

/// What the function said of it before, or NULL.
const struct value *plan_memo_find(const struct plan_row *row, const struct plan_node *node, struct text key);

/// Keeps what it says now.
void plan_memo_keep(struct plan_row *row, const struct plan_node *node, struct text key, const struct value *value);
