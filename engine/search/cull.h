/// Cull: leaves suppliers out of a search when the engine is overloaded (policy/shed.h).
///
/// Threads: the search's.
/// Memory:  in the search's arena.
#pragma once

struct search;
struct start_call;

/// Closes the least valuable of those that would be asked as shed, if the engine is under so much pressure; the search
/// must be held.
void cull_least(struct search *search, const struct start_call *start);
