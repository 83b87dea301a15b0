/// Revalidate flights: the revalidations under way, each for everybody who wants just the same one.
///
/// Whoever comes while one of the same token's content, account and generation is out rides along, on whichever loop,
/// if it has at least half as long left as he has himself. Its end is told to each on his own loop. Who leaves does not
/// end it while somebody else waits.
///
/// Threads: any loop; one lock, held for a look at those under way. A revalidation stays on the loop that began it.
/// Memory:  owns revalidations and what is on its way to riders; riders are embedded in their calls.
/// Time:    the loops'.
#pragma once

#include "base/list.h"
#include "search/revalidation.h"
#include "token/seal.h"

#include <pthread.h>

struct io_thread;
struct flight;
struct flight_news;

struct revalidate_flights {
    pthread_mutex_t lock;
    struct list flights;
};

struct revalidate_rider {
    struct list node; // among those of its flight
    struct io_thread *thread;
    struct flight *flight;    // NULL: it rides none
    struct flight_news *news; // on their way to it; NULL: none
    struct timer timer;       // its own end, when it is before that of its flight
    bool has_joined;          // somebody else had begun it
    /// Exactly once, unless it leaves; never from inside revalidate_flights_join. `end` NULL: the engine is about to
    /// stop. Of all riders one has its requests.
    void (*on_end)(struct revalidate_rider *rider, const struct revalidation_end *end);
};

void revalidate_flights_init(struct revalidate_flights *flights);
void revalidate_flights_fini(struct revalidate_flights *flights);

/// Begins the revalidation, or rides along. `key`: what makes two of one catalogue the same. on_end and owner of the
/// options are not looked at. STATUS_NO_MEMORY: it rides nothing.
MUST_CHECK enum status revalidate_flights_join(struct io_thread *thread, const uint8_t key[SEAL_DIGEST],
                                               const struct revalidation_options *options,
                                               struct revalidate_rider *rider);

/// It wants nothing any more, wherever it stands; on_end does not come. How many requests went out, if it was the last
/// to leave and this is their loop; else they are counted there.
uint32_t revalidate_flights_leave(struct revalidate_rider *rider);

/// All that were begun on this loop end now; their riders are told so, each on his loop.
void revalidate_flights_end_all(struct io_thread *thread);
/// Is one of this loop under way?
bool revalidate_flights_has(struct io_thread *thread);
/// All that were begun on this loop are gone, and nobody is told. When no loop runs any more.
void revalidate_flights_close(struct io_thread *thread);
