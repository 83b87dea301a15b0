/// Redis job: what a store call asks of Redis, as commands, and what it makes of the replies.
///
/// An answer is one string that has an end (SET … PX), whose first bytes are its head: an index asks for these alone
/// (GETRANGE), in one piece for all suppliers. A purge goes round the names bit by bit, one round trip at a time.
///
/// Threads: redis_job_keep on whichever thread packs; the rest on the store's own.
/// Memory:  owns its commands, and its call until that goes home.
#pragma once

#include "model/store_call.h"
#include "store/redis_link.h"
#include "store/store.h"
#include "store/store_value.h"

enum {
    REDIS_COMMANDS_MAX = STORE_VALUE_RAW_MAX + (1 << 20),
    REDIS_NAME_MAX = 512,
    REDIS_NOTE_MAX = 1 << 20,
    REDIS_CURSOR_MAX = 24,
};

/// What is common to all jobs of a store.
struct redis_terms {
    struct text prefix;
    size_t press_above;
    struct store_press *packing;   // of the thread that packs
    struct store_press *unpacking; // of the store's
};

struct redis_job {
    struct message message; // between threads
    struct list node;       // in the lane where it waits; by itself: it does not wait
    struct timer timer;     // the end of its call
    struct redis_order order;
    struct store_call *call; // NULL: it has gone home, and what comes is dropped; or there never was one
    void *store;
    bool is_out; // the link has its order
    bool is_write;
    bool is_spoiled;        // of KEEP: could not be packed
    struct buffer commands; // to be sent
    size_t weight;          // bytes that were sent and are not answered
    size_t kept_bytes;      // of a KEEP's offers in memory
    size_t replied;
    uint8_t digest[STORE_DIGEST];
    char cursor[REDIS_CURSOR_MAX]; // of a purge; "": it is at its end
};

/// What a reply was.
enum redis_taken {
    TAKEN_WELL,
    TAKEN_BAD,     // the entry it is about cannot be read: it is to be dropped
    TAKEN_REFUSED, // Redis does not do that
    TAKEN_WRONG,   // no reply to what was asked
};

struct redis_job *redis_job_create(struct store_call *call); // NULL: no memory; the call stays the caller's
void redis_job_destroy(struct redis_job **job);              // its call has gone home

/// Packs a KEEP, whose command is then ready.
void redis_job_keep(struct redis_job *job, const struct redis_terms *terms);
/// Writes the commands of any other. False: no memory, or there is nothing that can be asked.
MUST_CHECK bool redis_job_begin(struct redis_job *job, const struct redis_terms *terms);
enum redis_taken redis_job_take(struct redis_job *job, const struct redis_terms *terms,
                                const struct redis_reply *reply);
/// After all of its replies: it has commands for another round.
static inline bool redis_job_goes_on(const struct redis_job *job)
{
    return job->commands.length > 0;
}
/// Makes it forget the answer that entry number `entry` of `call` is about. False: no memory.
MUST_CHECK bool redis_job_forget(struct redis_job *job, const struct redis_terms *terms, const struct redis_job *of,
                                 size_t entry);
