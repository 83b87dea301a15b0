/// Linger: attempts that go on when nobody waits for them any more (policy.md sections 2 and 5).
///
/// Two kinds. Of attempts that are cut a few go on, so that one learns how late they would have been. And when a
/// supplier's breaker tries it out, what a search would have asked goes out without that search, as a probe. Neither is
/// ever shown; both run all of their parts and steps, up to the linger limit after their begin, and outlive their
/// search, which then stays with its world until the last of them has closed.
///
/// Threads: the search's.
/// Memory:  an attempt that goes on is in its search's arena; it takes over what the one that was cut had in hand.
#pragma once

#include "model/script_call.h"
#include "policy/breaker.h"

struct attempt;
struct catalogue;
struct search;
struct world;

enum { LINGER_MOST = 64 }; // cut attempts that go on, of a world

/// If it is chosen, what `attempt` (asking) has under way goes on without it; its parts have ended as `outcome` (cut,
/// finished early) where they stood, and it is to be settled next. False: all of it is as before.
bool linger_begin(struct search *search, struct attempt *attempt, enum outcome outcome);

/// Sends what `candidate` would ask, as a probe with that pass, beside `attempt`, which is to be closed unasked.
void linger_probe(struct search *search, const struct attempt *attempt, struct start_candidate *candidate,
                  struct breaker_pass pass);

/// The search replies now, and knows what it found: what comes later is compared with it.
void linger_note_reply(struct search *search);

/// One that went on has closed; the search may be gone afterwards.
void linger_on_closed(struct search *search, struct attempt *attempt);

/// The search is over: true: it stays with its world, which frees it after the last of those that go on.
bool linger_outlives(struct search *search);
/// For the search that is freed: what still goes on ends without a verdict.
void linger_fini(struct search *search);

/// What goes on of searches that are over ends now, without a verdict, but for those that stand on this catalogue.
void linger_drop_former(struct world *world, const struct catalogue *current);

/// What goes on of suppliers that an operator has switched off ends now, without a verdict; of a search that is not
/// over yet, when it is.
void linger_drop_switched_off(struct world *world);

/// All that goes on in this world ends now, without a verdict, and nothing begins to.
void linger_stop(struct world *world);
