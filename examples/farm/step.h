/// Step: which of its offers a supplier that needs several exchanges gives now, and how it says that there is more.
///
///     poll_add       POST /v1/searches            {"search", "id", "status": "pending", "poll_after_ms", "offers"}
///                    GET  /v1/searches/ID?after=N what has come after the first N offers; "status": "complete" at last
///     poll_replace   POST /v1/searches            the same
///                    GET  /v1/searches/ID         the whole list as it is now: some have come, some are sold
///     pages          POST /v1/pages[?cursor=TEXT] a page, "next_cursor" unless it is the last
///     parts          POST /v1/sources/N           what one of four sources has, from 1 on
///
/// Offers are those of shape A, so a step is a window of a rendered answer. A created search waits in a ring of
/// `sessions`; when the ring comes round it is forgotten, as real ones are.
///
/// Threads: the loop's.
/// Memory:  a step is a plain value; the ring belongs to the farm.
#pragma once

#include "farm/request.h"
#include "farm/supplier.h"

enum { STEP_SOURCES = 4, STEP_BROKEN_SOURCE = 3, STEP_TAIL_MAX = 256 };

struct sessions;

/// NULL without memory.
MUST_CHECK struct sessions *sessions_create(void);
void sessions_destroy(struct sessions **sessions);

/// Forgets all; ids that follow are drawn from the seed.
void sessions_reset(struct sessions *sessions, uint64_t seed);

/// A new search that waits to be polled; its id.
uint64_t sessions_add(struct sessions *sessions, const struct supplier *supplier, const struct query *query);

struct step {
    struct query query;
    uint64_t session; // of a poll; 0: none
    unsigned first, count;
    unsigned round;  // from 0 on
    unsigned source; // from 1 on; 0: not of the shape `parts`
    bool is_last;
};

/// Fills query and session by an id of sixteen digits; `told` is how often it was told before, which counts. False:
/// there is no such search.
MUST_CHECK bool sessions_poll(struct sessions *sessions, const struct supplier *supplier, struct text id,
                              struct step *step, unsigned *told);

/// Two thirds of all offers, moving on from the first of them to the last in so many rounds.
void step_window(struct step *step, unsigned round, unsigned rounds);

/// The kind of shape that this is about.
static inline bool step_is_needed(const struct supplier *supplier)
{
    return supplier->shape >= SUPPLIER_POLL_ADD && supplier->shape <= SUPPLIER_PARTS;
}

/// What a request asks for. False: `*status` and `*why` say what is wrong with it.
MUST_CHECK bool step_read(struct step *step, struct supplier *supplier, struct sessions *sessions,
                          const struct request *request, const char **status, const char **why);

/// The members after the offers and the closing brace, at most STEP_TAIL_MAX bytes; returns their number.
size_t step_write_tail(const struct step *step, const struct supplier *supplier, char *out);
