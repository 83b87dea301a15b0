#include "search/auth.h"

#include "search/attempt.h"

bool auth_admits(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);
    uint64_t wait_us = 0;

    if (world->ops->auth_ask == NULL) {
        return true;
    }
    if (world->ops->auth_ask(world, attempt->account, &attempt->auth, &wait_us)) {
        attempt->has_auth = true;
        return true;
    }
    attempt->end.rejection = REJECTION_AUTH;
    attempt->end.retry_after_ms = (wait_us + 999) / 1000;
    attempt_close_unasked(attempt, OUTCOME_REJECTED,
                          wait_us > 0 ? TEXT("its credentials were refused too often")
                                      : TEXT("its credentials were refused too often; they are being tried out"));
    return false;
}

/// A login that was denied has told for itself, once for all who waited for it.
static enum auth_end auth_end_of(const struct attempt *attempt)
{
    if (attempt->state != ATTEMPT_CLOSED || attempt->began_us == 0) {
        return AUTH_UNKNOWN;
    }
    if (attempt->outcome == OUTCOME_ANSWERED || attempt->outcome == OUTCOME_EMPTY) {
        return AUTH_TAKEN;
    }
    bool is_refused = attempt->outcome == OUTCOME_REJECTED && attempt->end.rejection == REJECTION_AUTH;
    return is_refused && attempt->end.phase != PHASE_LOGIN ? AUTH_REFUSED : AUTH_UNKNOWN;
}

void auth_settle(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);

    if (attempt->has_auth) {
        attempt->has_auth = false;
        world->ops->auth_tell(world, attempt->account, &attempt->auth, auth_end_of(attempt));
    }
}
