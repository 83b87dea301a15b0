/// Plan drop: what an author is told of an offer of a plan that was dropped: the line of the leaf, where in the answer
/// it reads, and which names are there instead.
///
/// Threads: those of the lua_State.
/// Memory:  a plain value; the body is borrowed during one call.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct walk; // script/offers_walk.h

enum { PLAN_DROP_ONLIES = 4 };

/// An `only` of which a function decides, and what it said so far.
struct plan_drop_only {
    const char *place; // "offer.slices.only"
    size_t asked, nothing;
};

struct plan_drop {
    struct text body;
    bool is_watched; // an author looks on, for whom the answer may be read once more
    struct plan_drop_only onlies[PLAN_DROP_ONLIES];
    size_t only_count;
    struct failure why; // CODE_NONE: nothing is told; its sentence is the caller's
};

struct plan_row; // script/plan_read.h

/// The answer is refused for what the plan says at `place`, such as `each`, whose path leads to no list: its line.
void plan_drop_refuse(struct plan_row *row, const char *place, const char *path);

/// The function of a leaf came upon nothing: which of the leaf's paths found nothing, and what is there instead.
void plan_drop_tell_absent(const struct plan_row *row, struct failure *why);

/// The function of an `only` was asked, and said something or nil.
void plan_drop_note_only(struct plan_drop *drop, const char *place, bool is_nil);

/// The place of an `only` whose function said nil to whatever it was asked: a forgotten `return` leaves all out, and
/// nobody hears of it. NULL: there is none.
const struct plan_drop_only *plan_drop_silent(const struct plan_drop *drop);

/// The offer in hand of the walk is dropped; nothing happens unless it is a plan's.
void plan_drop_tell(struct walk *walk);
