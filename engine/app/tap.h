/// Tap: a world that lets everything through to another one, and keeps what went by.
///
/// Each request that is sent is an exchange with its answer, its times, and what the script made of it; logins are
/// among them. A search cannot tell a tap from the world behind it.
///
/// Threads: its world's.
/// Memory:  owns its exchanges, with copies of requests and heads; bodies are shared. Both worlds outlive what runs on
///          them.
#pragma once

#include "base/list.h"
#include "search/ports.h"

enum { TAP_LINES_MAX = 64 };

/// One request and what became of it.
struct tap_exchange {
    struct list node;
    struct tap *tap;
    struct fetch fetch;  // in place of its owner's; the response is the owner's
    struct fetch *owner; // while it is under way
    size_t number;       // in the order of sending, from 1 on
    size_t line, place;  // which fetch it is of those that are used, and which use of it, from 1 on
    bool is_login;
    uint32_t part, step; // of a search's; from 1 on
    struct http_request *request;
    uint64_t waited_us;             // for a permit
    bool is_cut;                    // given up while it was under way, at `fetch.phase`
    struct http_response *response; // NULL: none came

    // what the script made of it
    const struct http_response *reading; // while it does
    bool was_read;
    uint64_t read_queued_us, read_begun_us, read_done_us;
    enum script_verdict verdict;
    char message[256], code[64], warning[256];
    uint32_t warning_count;
    size_t offers, dropped, ended; // as of their batch
    char ended_first[160];
    bool is_incomplete, is_quota_used, is_told_empty;
    uint64_t quota_wait_ms, retry_after_ms;
    enum merge_kind merge;
    bool has_next;
    uint64_t next_after_us;
    struct block *reads, *drops; // as of a normalise call
    char saved_to[512];          // where its body is kept, by whoever keeps it; empty: nowhere
};

/// The script gave nothing and said nothing of a status that means trouble: the status decides.
static inline bool tap_is_untold(const struct tap_exchange *exchange)
{
    return exchange->was_read && !exchange->is_login && exchange->verdict == SCRIPT_EMPTY && !exchange->is_told_empty &&
           exchange->response != NULL && exchange->response->status >= 300;
}

struct tap {
    struct world world;
    struct world_ops ops;
    struct world *behind;
    struct list exchanges; // struct tap_exchange
    size_t count;
    size_t lines;
    const struct fetch *known[TAP_LINES_MAX]; // whose lines these are
    const struct http_request *login_request; // the next one to be sent
    uint64_t waiting_since_us;
    bool is_short;                          // of memory: something was not kept
    uint64_t start_script_us, start_cpu_us; // the START call: from its queueing on
    struct failure trouble;                 // the first error that a script raised; CODE_NONE: none did
    const struct tap_exchange *trouble_of;  // what it was reading then; NULL: nothing
    /// Told of a request before it is sent; NULL: nobody is.
    void (*on_send)(void *owner, const struct tap_exchange *exchange);
    void *owner;
    struct list calls; // struct tap_call
};

/// `on_send` and `owner` are the caller's to set.
void tap_init(struct tap *tap);
/// From now on it stands before that world.
void tap_begin(struct tap *tap, struct world *behind);
/// Nothing of it runs any more; the world behind may be gone.
void tap_fini(struct tap *tap);

/// At `index`, from 0 on; NULL: there are not so many.
struct tap_exchange *tap_at(const struct tap *tap, size_t index);
