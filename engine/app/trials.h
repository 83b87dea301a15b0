/// Trials: fresh versions of suppliers' scripts, each with the one before it, to which it goes back by itself when too
/// many of its first calls fail.
///
/// What fails is what the script did wrong: it raised an error, took too long or too much memory, or is in quarantine.
/// A version that takes the place of one that is still on trial goes back to that one, whose own trial then goes on; so
/// a row of bad ones ends at the last good one. What one supplier of a file loses is lost for all that `use` the same
/// file and have not passed their trial yet. TRIALS_DEEP of a supplier are remembered.
///
/// Threads: the builder's.
/// Memory:  holds the script sets in which the versions before lie.
#pragma once

#include "script/script_set.h"

enum { TRIALS_DEEP = 4 };

struct trial {
    char *name;
    unsigned char digest[SCRIPT_DIGEST]; // of the version on trial
    struct script_set *fallback;         // held
};

struct trials {
    struct trial *items; // of a supplier, the last one is of what runs
    size_t count, room;
};

struct trial_limits {
    uint64_t calls;  // the first ones; 0: nothing is on trial
    uint64_t errors; // so many of them, and it goes back
};

/// A trial that was lost. What it points to is good until it is ended.
struct trial_lost {
    struct text name;
    struct script_set *fallback;
    struct script_trial seen;
    struct failure because; // the first error with its place
};

void trials_init(struct trials *trials);
void trials_fini(struct trials *trials);

/// The set `now` takes the place of `before`: each supplier that both have and that is another version is on trial.
/// STATUS_NO_MEMORY: some are not.
MUST_CHECK enum status trials_begin(struct trials *trials, struct script_set *before, struct script_set *now);

/// Ends the trials that were passed, and finds those that were lost, `most` at most; their number.
size_t trials_find_lost(struct trials *trials, const struct script_set *now, const struct trial_limits *limits,
                        struct trial_lost *lost, size_t most);
/// The set `now` runs because somebody said so: what is not on trial yet is not put there.
void trials_follow(struct trials *trials, const struct script_set *now);
/// Ends all trials of this supplier.
void trials_end(struct trials *trials, struct text name);
