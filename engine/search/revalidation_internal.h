/// Revalidation, inside: what its files share: its beginning and end (revalidation.c), and its exchanges
/// (revalidation_exchange.c).
///
/// Threads: its world's.
/// Memory:  as in revalidation.h.
#pragma once

#include "model/ask_call.h"
#include "model/request_call.h"
#include "search/permit.h"
#include "search/revalidation.h"

//   LOGGING_IN --> BUILDING --> FETCHING --> READING --> ENDED       its owner is told in the next turn
//        ^                       ^   ^           |
//        |               SIGNING-+   +-- PAUSED -+                   another step, another part
//        +------------- login refused ----------+                    once
//   any --> ENDED on its end, or an error

enum revalidation_state {
    REVALIDATION_LOGGING_IN,
    REVALIDATION_BUILDING,
    REVALIDATION_PAUSED,
    REVALIDATION_SIGNING,
    REVALIDATION_FETCHING,
    REVALIDATION_READING,
    REVALIDATION_ENDED,
};

/// More exchanges than that are a script that does not come to an end.
enum { REVALIDATION_MAX_EXCHANGES = 100 };

struct revalidation {
    struct revalidation_options options;
    struct ground *ground;
    enum revalidation_state state;
    struct timer timer; // its end; once ENDED, to tell it
    struct timer pause; // before the next step
    struct login_wait wait;
    struct login login;
    bool is_redone; // with another login
    struct script_call *call;
    struct http_request *request; // of this step
    struct http_request *others;  // of the parts that are still to come
    uint32_t part, parts, step;
    uint32_t exchanges;       // that were begun
    struct block *step_state; // ctx.state; NULL: none
    struct next_step next;    // while it pauses
    struct permit permit;
    struct fetch fetch;
    struct breaker_pass pass;
    bool has_pass;
    struct auth_pass auth;
    bool has_auth;
    uint64_t began_us, arrived_us; // its first fetch began, its last answer came; 0: not
    uint64_t pending_us;           // cut in a phase of the network: since that fetch began
    struct revalidation_end end;
    struct failure *trouble;
};

static inline struct world *revalidation_world(const struct revalidation *self)
{
    return self->options.world;
}

static inline uint64_t revalidation_now_us(const struct revalidation *self)
{
    return revalidation_world(self)->ops->now_us(revalidation_world(self));
}

/// Ends it; its owner is told from the timer, in a turn of its own. `words` NULL: nothing to say.
void revalidation_finish(struct revalidation *self, enum outcome outcome, const char *words);
/// True: an operator has said so, and it has ended.
MUST_CHECK bool revalidation_is_switched_off(struct revalidation *self);
/// Waits for a login other than the one of number `refused` (0: any), then builds its requests.
void revalidation_log_in(struct revalidation *self, uint64_t refused);
/// Has its requests made, and goes on with the first.
void revalidation_build(struct revalidation *self);
/// For its timer: the pause before its next step is over.
void revalidation_on_pause_over(struct timer *timer);
/// What its exchanges left is given back, before it begins anew or is gone.
void revalidation_drop_exchanges(struct revalidation *self);
