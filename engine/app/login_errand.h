/// Login errand: one login being fetched: its request built, sent, and what comes read.
///
/// It lives in the desk that sent it, one for each account; the book sees to it that no two of an account run at once.
/// All of it ends by LOGIN_LIMIT_US.
///
/// Threads: its desk's.
/// Memory:  embedded in what its desk keeps of the account; holds its catalogue's ground while it is under way.
#pragma once

#include "model/catalogue.h"
#include "model/request_call.h"
#include "search/permit.h"
#include "search/ports.h"

enum { LOGIN_LIMIT_US = 10000000 };

enum login_errand_state { ERRAND_IDLE, ERRAND_BUILDING, ERRAND_FETCHING, ERRAND_READING };

struct login_errand {
    struct world *world;
    const struct catalogue *catalogue;
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
    enum login_errand_state state;
    struct ground *ground; // held unless it is idle
    bool is_renewal;
    uint64_t began_us, began_wall_us;
    struct script_call *call;
    struct http_request *request;
    struct permit permit; // while it is fetched
    struct fetch fetch;
    const struct failure *trouble; // within on_end: what a person is told of the script's error; NULL: it raised none
    struct timer renewal;          // its desk's, to look whether another is due

    /// Once for each start, never from inside of it. `value` NULL: it failed, and `end` says how; otherwise the block
    /// is the receiver's, and the life counts from fetch.started_us on.
    void (*on_end)(struct login_errand *errand, struct block *value, uint64_t life_us, const struct part_end *end);
    void *owner;
};

/// `wall_us` is the time of day. False: it could not be started, `end` says why, and on_end does not come.
MUST_CHECK bool login_errand_start(struct login_errand *errand, bool is_renewal, uint64_t wall_us,
                                   struct part_end *end);
/// Without on_end.
void login_errand_cancel(struct login_errand *errand);
