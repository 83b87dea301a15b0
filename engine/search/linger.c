#include "search/linger.h"

#include "search/keep.h"
#include "search/late.h"
#include "search/search_internal.h"

// An attempt that goes on is a new one: it has the parts, their fetches, calls and timers, which stay where they are in
// memory and are told of their new attempt. The one that was cut keeps copies of its parts, ended, for the reply and
// the record, and the offers that it has.

static void linger_enlist(struct search *search, struct attempt *attempt)
{
    attempt->is_lingering = true;
    attempt->mode = MODE_DARK; // never shown, and nobody waits for it
    attempt->next_lingering = search->lingering;
    search->lingering = attempt;
}

static void linger_delist(struct search *search, struct attempt *attempt)
{
    struct attempt **at = &search->lingering;

    while (*at != attempt) {
        require(*at != NULL);
        at = &(*at)->next_lingering;
    }
    *at = attempt->next_lingering;
    if (!attempt->is_probe) {
        struct world *world = search->options.world;
        world->lingering--;
        world->ops->linger_ended(world, attempt->account, attempt->linger_parts);
    }
}

/// The same, but with nothing in hand: ended where it stands.
static struct part part_as_ended(const struct part *part, enum outcome outcome)
{
    struct part frozen = { .attempt = part->attempt, .index = part->index, .step = part->step, .end = part->end };

    frozen.state = PART_ENDED;
    frozen.has_answered = part->has_answered;
    frozen.is_incomplete = part->is_incomplete;
    frozen.requests = part_requests(part);
    frozen.is_redone = part->is_redone;
    frozen.told = part->told;
    if (part->state != PART_ENDED) {
        frozen.end.phase = part_phase(part);
        frozen.end.outcome = outcome;
    }
    return frozen;
}

static bool linger_is_chosen(const struct search *search, const struct attempt *attempt)
{
    struct world *world = search->options.world;
    bool fills = attempt->bound == BOUND_BUDGET && keep_wants(search, attempt);

    return !attempt->is_lingering && !world->is_ending && search->options.catalogue->linger_us > 0 &&
           world->lingering < LINGER_MOST && world->ops->linger_wants != NULL &&
           world->ops->linger_wants(world, attempt->account, attempt->open_parts, fills);
}

static uint64_t linger_end(const struct search *search, uint64_t began_us)
{
    return began_us + search->options.catalogue->linger_us;
}

/// False: its end has come, or nothing would tell when it does.
static bool linger_limit(struct search *search, struct attempt *attempt)
{
    struct world *world = search->options.world;
    uint64_t now_us = world->ops->now_us(world), end_us = linger_end(search, attempt->began_us);

    attempt->allocation = (struct allocation){ end_us, end_us - attempt->began_us, BOUND_CEILING };
    return now_us < end_us && world->ops->timer_start(world, &attempt->ceiling_timer, end_us) == STATUS_OK;
}

/// One that goes on for `attempt`, with nothing in hand yet; NULL: no memory.
static struct attempt *linger_make(struct search *search, const struct attempt *attempt)
{
    struct attempt *live = search_alloc(search, sizeof(*live));

    if (live == NULL) {
        return NULL;
    }
    attempt_init(live, search, attempt->supplier);
    live->account = attempt->account;
    live->began_us = attempt->began_us;
    live->arrived_us = attempt->arrived_us;
    live->pending_us = attempt->pending_us;
    live->recalled.state = attempt->recalled.state;
    live->recalled.head = attempt->recalled.head;
    live->was = (struct attempt_was){ .mode = attempt->mode,
                                      .bound = attempt->bound,
                                      .had_offers = attempt->stock.live > 0,
                                      .cut_us = search->options.world->ops->now_us(search->options.world) };
    return live;
}

bool linger_begin(struct search *search, struct attempt *attempt, enum outcome outcome)
{
    struct attempt *live;
    struct part *frozen;

    if (!linger_is_chosen(search, attempt)) {
        return false;
    }
    live = linger_make(search, attempt);
    frozen = live != NULL ? search_alloc(search, attempt->part_count * sizeof(*frozen)) : NULL;
    if (frozen == NULL || !linger_limit(search, live)) {
        struct world *world = search->options.world;
        world->ops->linger_ended(world, attempt->account, attempt->open_parts);
        return false;
    }
    live->state = attempt->state;
    live->linger_parts = attempt->open_parts;
    live->parts = attempt->parts;
    live->part_count = attempt->part_count;
    live->open_parts = attempt->open_parts;
    live->pass = attempt->pass;
    live->has_pass = attempt->has_pass;
    live->auth = attempt->auth;
    live->has_auth = attempt->has_auth;
    attempt->has_pass = attempt->has_auth = false; // who goes on tells
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        struct part *part = &attempt->parts[i];
        frozen[i] = part_as_ended(part, outcome);
        live->was.requests += frozen[i].requests;
        if (part->state == PART_ENDED) { // its words are for the reply
            frozen[i].trouble = part->trouble;
            part->trouble = NULL;
        }
        part->attempt = live;
    }
    attempt->parts = frozen;
    linger_enlist(search, live);
    search->options.world->lingering++;
    return true;
}

void linger_probe(struct search *search, const struct attempt *attempt, struct start_candidate *candidate,
                  struct breaker_pass pass)
{
    struct world *world = search->options.world;
    struct attempt *probe = search_alloc(search, sizeof(*probe));

    if (probe == NULL) { // its lease runs out
        return;
    }
    attempt_init(probe, search, attempt->supplier);
    probe->account = attempt->account;
    probe->pass = pass;
    probe->has_pass = true;
    probe->is_probe = true;
    probe->was.mode = attempt->mode;
    linger_enlist(search, probe);
    // At least as long as its search would have waited: else one that is slower than the limit never came back.
    uint64_t now_us = world->ops->now_us(world), end_us = linger_end(search, now_us);
    end_us = end_us > attempt->allocation.end_us ? end_us : attempt->allocation.end_us;
    probe->allocation = (struct allocation){ end_us, end_us - now_us, BOUND_CEILING };
    attempt_ask(probe, candidate);
}

void linger_on_closed(struct search *search, struct attempt *attempt)
{
    linger_delist(search, attempt);
    keep_answer(search, attempt);
    if (!search->is_over) { // what it would have added, the reply will tell
        attempt->next_lingering = search->lingered;
        search->lingered = attempt;
        return;
    }
    late_tell(search, attempt);
    attempt_fini(attempt);
    if (search->lingering == NULL) {
        search_free(search);
    }
}

/// Those that ended before their search.
static void linger_settle(struct search *search)
{
    while (search->lingered != NULL) {
        struct attempt *attempt = search->lingered;
        search->lingered = attempt->next_lingering;
        late_tell(search, attempt);
        attempt_fini(attempt);
    }
}

void linger_note_reply(struct search *search)
{
    if (search->lingering != NULL || search->lingered != NULL) {
        late_items_of(&search->found, search);
    }
}

static void drop_switched_off(struct search *search)
{
    struct world *world = search->options.world;
    struct attempt *next;

    for (struct attempt *attempt = search->lingering; attempt != NULL; attempt = next) {
        next = attempt->next_lingering;
        if (world->ops->is_switched_off != NULL &&
            world->ops->is_switched_off(world, attempt->supplier, attempt->account, NULL, 0)) {
            late_tell(search, attempt);
            linger_delist(search, attempt);
            attempt_fini(attempt);
        }
    }
}

void linger_drop_switched_off(struct world *world)
{
    struct search *next;

    for (struct search *search = world->over; search != NULL; search = next) {
        next = search->next_over;
        drop_switched_off(search);
        if (search->lingering == NULL) {
            search_free(search);
        }
    }
}

bool linger_outlives(struct search *search)
{
    struct world *world = search->options.world;

    drop_switched_off(search);
    linger_settle(search);
    if (search->lingering == NULL) {
        return false;
    }
    search->next_over = world->over;
    search->previous_over = NULL;
    if (world->over != NULL) {
        world->over->previous_over = search;
    }
    world->over = search;
    search->is_over = true;
    return true;
}

void linger_fini(struct search *search)
{
    struct world *world = search->options.world;

    while (search->lingering != NULL) {
        struct attempt *attempt = search->lingering;
        late_tell(search, attempt);
        linger_delist(search, attempt);
        attempt_fini(attempt);
    }
    linger_settle(search);
    late_items_fini(&search->found);
    if (!search->is_over) {
        return;
    }
    if (search->previous_over != NULL) {
        search->previous_over->next_over = search->next_over;
    } else {
        world->over = search->next_over;
    }
    if (search->next_over != NULL) {
        search->next_over->previous_over = search->previous_over;
    }
}

void linger_drop_former(struct world *world, const struct catalogue *current)
{
    struct search *next;

    for (struct search *search = world->over; search != NULL; search = next) {
        next = search->next_over;
        if (search->options.catalogue != current) {
            search_free(search);
        }
    }
}

void linger_stop(struct world *world)
{
    world->is_ending = true;
    while (world->over != NULL) {
        search_free(world->over);
    }
}
