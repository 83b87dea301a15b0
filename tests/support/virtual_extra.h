/// Virtual extra: the extra calls of a virtual world: the books of its accounts, as suppliers' `struct
/// virtual_extra_given` says they stand when the play begins, and what is granted and told.
///
/// Threads: one.
/// Memory:  owned by its world.
#pragma once

#include "search/ports.h"

struct virtual_world;

/// What is known of a supplier, and what stands against extra calls of it, when the play begins.
struct virtual_extra_given {
    bool is_known;       // the quantiles below; else nothing is
    uint64_t median_us;  // half of its answers are here by then
    uint64_t late_us;    // and the others by then
    uint64_t connect_us; // all its connects take so long; 0: nothing is known of them
    double value;        // of an answer, in offers; 0: 10
    uint32_t calls;      // that were made, and earned allowance; 0: 1000
    bool has_quota;      // it has just refused for quota
    bool is_not_closed;  // its breaker, though it asks
    uint32_t running;    // calls of others under way
};

struct virtual_extra {
    struct extra_book book;
    struct latency latency;
    struct latency_curve curve;
    uint32_t granted[EXTRA_KINDS], told[EXTRA_KINDS][EXTRA_NOT_SENT + 1];
    uint64_t loser_us;         // as it was told last
    enum extra_answer refused; // the last; EXTRA_YES: none was
};

void virtual_extra_init(struct virtual_world *virtual);
void virtual_extra_fini(struct virtual_world *virtual);
/// What the suppliers are given counts from now on.
void virtual_extra_begin(struct virtual_world *virtual, struct extra_settings settings, bool is_overloaded);

struct extra_times virtual_extra_call(struct world *world, const struct script_account *account,
                                      const struct extra_call *call);
void virtual_extra_connected(struct world *world, const struct script_account *account, uint64_t us);
enum extra_answer virtual_extra_ask(struct world *world, const struct script_account *account,
                                    const struct extra_question *question);
void virtual_extra_tell(struct world *world, const struct script_account *account, const struct extra_result *result);

/// Extra calls that were granted, and of which nothing was told.
size_t virtual_extra_untold(const struct virtual_world *virtual);
