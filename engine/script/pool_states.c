// A slot's lock is its worker's, but for the moment in which the dead are collected. What is taken out under a lock is
// destroyed after it. Who prepares runs behind all others and takes no slot's lock: preempted with it, it would hold up
// the worker for as long as others want the processor.

#include "script/pool_states.h"

#include <stdlib.h>

static void chain_push(struct state **chain, struct state *state)
{
    state->next = *chain;
    *chain = state;
}

static struct state *chain_pop(struct state **chain)
{
    struct state *state = *chain;

    if (state != NULL) {
        *chain = state->next;
        state->next = NULL;
    }
    return state;
}

/// Takes out the first state of the set.
static struct state *chain_take(struct state **chain, const struct script_set *set)
{
    struct state **place = chain;

    while (*place != NULL && (*place)->set != set) {
        place = &(*place)->next;
    }
    return chain_pop(place);
}

void pool_states_join(struct state **chain, struct state *more)
{
    for (struct state *state = chain_pop(&more); state != NULL; state = chain_pop(&more)) {
        chain_push(chain, state);
    }
}

size_t pool_states_destroy_chain(struct pool_states *states, struct state *chain)
{
    size_t count = 0;

    for (struct state *state = chain_pop(&chain); state != NULL; state = chain_pop(&chain)) {
        pool_states_destroy(states, &state);
        count++;
    }
    return count;
}

enum status pool_states_init(struct pool_states *states, size_t slot_count, size_t growth_cap)
{
    *states = (struct pool_states){ .slot_count = slot_count, .growth_cap = growth_cap };
    states->slots = calloc(slot_count, sizeof *states->slots);
    if (states->slots == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < slot_count; i++) {
        pthread_mutex_init(&states->slots[i].lock, NULL);
    }
    pthread_mutex_init(&states->lock, NULL);
    return STATUS_OK;
}

void pool_states_fini(struct pool_states *states)
{
    require(states->spare == NULL && states->aside == NULL);
    for (size_t i = 0; i < states->slot_count; i++) {
        pthread_mutex_destroy(&states->slots[i].lock);
    }
    pthread_mutex_destroy(&states->lock);
    free(states->slots);
}

struct state *pool_states_create(struct pool_states *states, struct script_set *set)
{
    struct state *state = state_create(set, states->growth_cap);

    if (state != NULL) {
        state->watches_fields = states->watches_fields;
        atomic_fetch_add(&states->live, 1);
    }
    return state;
}

void pool_states_destroy(struct pool_states *states, struct state **state)
{
    if (*state != NULL) {
        state_destroy(state);
        atomic_fetch_sub(&states->live, 1);
    }
}

/// Those that wait for destruction are no more than workers may have, in case that nobody ever comes for them.
static void states_put_aside(struct pool_states *states, struct state *state)
{
    pthread_mutex_lock(&states->lock);
    bool has_room = states->aside_count < states->slot_count * POOL_STATES_MAX;
    if (has_room) {
        chain_push(&states->aside, state);
        states->aside_count++;
    }
    pthread_mutex_unlock(&states->lock);
    if (!has_room) {
        pool_states_destroy(states, &state);
    }
}

static struct state *states_obtain(struct pool_states *states, struct script_set *set)
{
    pthread_mutex_lock(&states->lock);
    struct state *state = chain_take(&states->spare, set);
    pthread_mutex_unlock(&states->lock);
    return state != NULL ? state : pool_states_create(states, set);
}

static struct state *slot_find(const struct pool_slot *slot, const struct script_set *set)
{
    for (size_t i = 0; i < POOL_STATES_MAX; i++) {
        if (slot->states[i] != NULL && slot->states[i]->set == set) {
            return slot->states[i];
        }
    }
    return NULL;
}

/// Puts a state into the slot; gives the one that had to make room, or NULL.
static struct state *slot_put(struct pool_slot *slot, struct state *state)
{
    size_t place = 0;

    for (size_t i = 1; i < POOL_STATES_MAX && slot->states[place] != NULL; i++) {
        if (slot->states[i] == NULL || slot->states[i]->used_at < slot->states[place]->used_at) {
            place = i;
        }
    }
    struct state *former = slot->states[place];
    slot->states[place] = state;
    atomic_store(&slot->sets[place], state->set);
    return former;
}

static void slot_remove(struct pool_slot *slot, size_t place)
{
    slot->states[place] = NULL;
    atomic_store(&slot->sets[place], NULL);
}

static void slot_use(struct pool_slot *slot, struct state *state)
{
    state->used_at = ++slot->uses;
    slot->in_use = state;
}

struct state *pool_states_use(struct pool_states *states, size_t index, struct script_set *set)
{
    struct pool_slot *slot = &states->slots[index];

    pthread_mutex_lock(&slot->lock);
    struct state *state = slot_find(slot, set);
    if (state != NULL) {
        slot_use(slot, state);
    }
    pthread_mutex_unlock(&slot->lock);
    if (state != NULL) {
        state_refresh(state);
        return state;
    }
    state = states_obtain(states, set);
    if (state == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&slot->lock);
    struct state *former = slot_put(slot, state);
    slot_use(slot, state);
    pthread_mutex_unlock(&slot->lock);
    if (former != NULL) {
        states_put_aside(states, former);
    }
    return state;
}

void pool_states_rest(struct pool_states *states, size_t index)
{
    struct pool_slot *slot = &states->slots[index];

    pthread_mutex_lock(&slot->lock);
    slot->in_use = NULL;
    pthread_mutex_unlock(&slot->lock);
}

void pool_states_lose(struct pool_states *states, size_t index)
{
    struct pool_slot *slot = &states->slots[index];

    pthread_mutex_lock(&slot->lock);
    for (size_t i = 0; i < POOL_STATES_MAX; i++) {
        if (slot->states[i] == slot->in_use) {
            slot_remove(slot, i);
        }
    }
    slot->in_use = NULL;
    pthread_mutex_unlock(&slot->lock);
}

/// Takes out what is not in use: everything, or what is of retired sets.
static void slot_take_out(struct pool_slot *slot, bool takes_all, struct state **chain)
{
    pthread_mutex_lock(&slot->lock);
    for (size_t i = 0; i < POOL_STATES_MAX; i++) {
        struct state *state = slot->states[i];
        if (state != NULL && state != slot->in_use && (takes_all || script_set_is_retired(state->set))) {
            chain_push(chain, state);
            slot_remove(slot, i);
        }
    }
    pthread_mutex_unlock(&slot->lock);
}

void pool_states_clear(struct pool_states *states, size_t index)
{
    struct state *gone = NULL;

    slot_take_out(&states->slots[index], true, &gone);
    pool_states_destroy_chain(states, gone);
}

/// Takes out of the lists.
static void states_take_out(struct pool_states *states, bool takes_all, struct state **chain)
{
    struct state *kept = NULL;

    pthread_mutex_lock(&states->lock);
    for (struct state *state = chain_pop(&states->aside); state != NULL; state = chain_pop(&states->aside)) {
        chain_push(chain, state);
    }
    states->aside_count = 0;
    for (struct state *state = chain_pop(&states->spare); state != NULL; state = chain_pop(&states->spare)) {
        chain_push(takes_all || script_set_is_retired(state->set) ? chain : &kept, state);
    }
    states->spare = kept;
    pthread_mutex_unlock(&states->lock);
}

static struct state *states_remove(struct pool_states *states, bool takes_all)
{
    struct state *gone = NULL;

    for (size_t i = 0; i < states->slot_count; i++) {
        slot_take_out(&states->slots[i], takes_all, &gone);
    }
    states_take_out(states, takes_all, &gone);
    return gone;
}

void pool_states_clear_all(struct pool_states *states)
{
    pool_states_destroy_chain(states, states_remove(states, true));
}

struct state *pool_states_take_dead(struct pool_states *states)
{
    return states_remove(states, false);
}

/// Without its lock: is the set the slot's?
static bool slot_has(const struct pool_slot *slot, const struct script_set *set)
{
    bool has = false;

    for (size_t i = 0; i < POOL_STATES_MAX; i++) {
        has = has || atomic_load(&slot->sets[i]) == set;
    }
    return has;
}

size_t pool_states_lack(struct pool_states *states, const struct script_set *set)
{
    size_t found = 0;

    for (size_t i = 0; i < states->slot_count; i++) {
        found += slot_has(&states->slots[i], set);
    }
    pthread_mutex_lock(&states->lock);
    for (const struct state *spare = states->spare; spare != NULL; spare = spare->next) {
        found += spare->set == set;
    }
    pthread_mutex_unlock(&states->lock);
    return found < states->slot_count ? states->slot_count - found : 0;
}

void pool_states_add_spare(struct pool_states *states, struct state *chain)
{
    size_t lack = chain != NULL ? pool_states_lack(states, chain->set) : 0;

    pthread_mutex_lock(&states->lock);
    for (; lack > 0 && chain != NULL; lack--) {
        chain_push(&states->spare, chain_pop(&chain));
    }
    pthread_mutex_unlock(&states->lock);
    pool_states_destroy_chain(states, chain);
}
