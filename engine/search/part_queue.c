// A request that is one too many at once waits for a place, and looks for one now and then. Nobody wakes it: places
// come back on any loop, and a few looks at a mutex cost less than a message from one loop to another. Who comes
// meanwhile may be lucky before it; what waits has 30 ms to lose.

#include "search/part_internal.h"

#include "search/attempt.h"

enum { QUEUE_MOST_US = 30000, QUEUE_LOOK_US = 3000 };

/// The limits of its account stand against its request.
static void part_refuse(struct part *part, const struct permit_refusal *refusal)
{
    if (extra_take_held(part)) {
        part_finish(part, part->end.outcome);
        return;
    }
    if (refusal->outcome == OUTCOME_SATURATED) {
        permit_give_up(attempt_world(part->attempt), part->attempt->account);
    }
    part->end.retry_after_ms = refusal->retry_after_ms;
    part_finish_saying(part, refusal->outcome, refusal->detail);
}

void part_queue(struct part *part, const struct permit_refusal *refusal)
{
    struct world *world = attempt_world(part->attempt);
    uint64_t now_us = world->ops->now_us(world), end_us = part->attempt->allocation.end_us;

    if (part->queue_end_us == 0) {
        uint64_t most_us = now_us + QUEUE_MOST_US;
        part->queue_end_us = most_us < end_us ? most_us : end_us;
    }
    uint64_t look_us = now_us + QUEUE_LOOK_US < part->queue_end_us ? now_us + QUEUE_LOOK_US : part->queue_end_us;
    if (refusal->outcome != OUTCOME_SATURATED || now_us >= part->queue_end_us ||
        world->ops->timer_start(world, &part->pause, look_us) != STATUS_OK) {
        part_refuse(part, refusal);
        return;
    }
    part_enter(part, PART_QUEUED);
}

void part_on_queue_due(struct part *part)
{
    part_send(part); // its signature may have aged
}
