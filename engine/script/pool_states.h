/// Pool states: the Lua states of a worker pool. Each worker has up to three, of the sets that it worked for last;
/// beside them there are spare ones, built aside for workers that have none yet, and those put aside for destruction.
///
/// A state belongs to its slot, that is to whichever worker has that place. While a worker uses it, nobody else touches
/// it. One that a lost worker is in goes with that; the others stay for the worker that takes its place.
///
/// Threads: any. Locks are held for a few instructions, never while a state is built or destroyed, and no thread that
///          submits calls takes one. A slot's is not for threads of low priority: its worker would wait for them.
/// Memory:  owns the states. They count themselves in `live`.
#pragma once

#include "script/state.h"

#include <pthread.h>
#include <stdatomic.h>

enum { POOL_STATES_MAX = 3 }; // of a worker

struct pool_slot {
    pthread_mutex_t lock;
    struct state *states[POOL_STATES_MAX];
    struct state *in_use; // one of them; NULL: the worker has no call
    uint64_t uses;
    _Atomic(const struct script_set *) sets[POOL_STATES_MAX]; // of `states`, to be compared without the lock
};

struct pool_states {
    struct pool_slot *slots;
    size_t slot_count;
    size_t growth_cap;
    bool watches_fields; // of the states to be created
    _Atomic uint32_t live;
    pthread_mutex_t lock; // of the lists
    struct state *spare;
    struct state *aside;
    size_t aside_count;
};

MUST_CHECK enum status pool_states_init(struct pool_states *states, size_t slot_count, size_t growth_cap);
void pool_states_fini(struct pool_states *states); // there are none left
/// A state that nobody uses yet; NULL without memory.
MUST_CHECK struct state *pool_states_create(struct pool_states *states, struct script_set *set);
void pool_states_destroy(struct pool_states *states, struct state **state);
/// Those that hang together by `next`; gives their number.
size_t pool_states_destroy_chain(struct pool_states *states, struct state *chain);

/// For a call of the slot's worker: its state for that set, else a spare one, else a new one; the one that was not used
/// for longest makes room. NULL: no memory.
struct state *pool_states_use(struct pool_states *states, size_t slot, struct script_set *set);
/// The call is over.
void pool_states_rest(struct pool_states *states, size_t slot);
/// The slot's worker is lost: its state in use is its own from now on.
void pool_states_lose(struct pool_states *states, size_t slot);
/// Destroys what a slot has, or all there is; nothing is in use.
void pool_states_clear(struct pool_states *states, size_t slot);
void pool_states_clear_all(struct pool_states *states);

/// How many workers have no state for the set, and find no spare one either.
size_t pool_states_lack(struct pool_states *states, const struct script_set *set);
/// Takes a chain of states as spare ones; those of them that nobody lacks any more are destroyed.
void pool_states_add_spare(struct pool_states *states, struct state *chain);
/// Puts the states of `more` before those of `*chain`.
void pool_states_join(struct state **chain, struct state *more);
/// Takes out what was put aside and what is of retired sets, but what is in use: a chain to be destroyed.
MUST_CHECK struct state *pool_states_take_dead(struct pool_states *states);
