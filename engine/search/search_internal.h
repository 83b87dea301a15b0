/// Search, inside: what the parts of the search module ask of the search they belong to.
///
/// Threads: the search's.
/// Memory:  nothing is handed over unless said.
#pragma once

#include "search/attempt.h"
#include "search/dark.h"
#include "search/late.h"
#include "search/linger.h"
#include "search/patience.h"
#include "search/reask.h"
#include "search/search.h"
#include "search/stream.h"

struct search {
    struct search_options options; // texts point into the arena
    struct arena arena;
    struct ground *ground;         // held: the generation that all of it points into
    struct timer end_timer;        // deadline - reserve
    struct start_call *start;      // while the start call is out
    struct start_call *dark_start; // while that of the dark ones is out
    struct block *facts;
    struct block *client_facts; // for suppliers that want to know who asks; NULL: not known
    struct block *key;          // equal for equal searches; NULL: this one is its own only
    char currency[4];
    const struct rule *deadline_rule; // that decided the budget; NULL: none did
    uint64_t deadline_us;
    uint64_t end_us;          // deadline - reserve
    struct attempt *attempts; // every supplier of the product that the caller did not leave out
    size_t attempt_count;
    size_t open; // attempts that are shown and not closed, one for the start, one for each hold
    struct reask reask;
    struct patience patience;
    struct recall recall;
    uint64_t kind; // of searches, as what its answers are worth is learned by; 0: not known
    bool is_replying;
    bool has_begun; // the start call is back and the query good
    bool is_over;   // nobody waits for it; it stays for those that linger
    struct attempt *lingering;
    struct attempt *lingered; // have closed meanwhile
    struct late_items found;
    struct search *next_over, *previous_over; // of its world
    struct stream stream;
};

struct world *search_world(const struct search *search);

/// May it use what is known of its suppliers, and add to it? Tests see what is so now, and leave no trace.
static inline bool search_has_store(const struct search *search)
{
    const struct search_options *options = &search->options;
    return options->world->ops->store_submit != NULL && options->catalogue->last_known.is_on && !options->is_test;
}

/// The product of its searches and which script of it: another one knows nothing of what this one understood.
struct text search_product_script(const struct search *search);

/// Hands the start call over. STATUS_NO_MEMORY, STATUS_CLOSED: it did not go.
MUST_CHECK enum status search_submit_start(struct search *search, size_t candidates);

/// It is back.
void search_on_started(struct script_call *call);

/// The reserve of a search with this budget.
uint64_t search_reserve_within(const struct search_options *options, uint64_t budget_us);

/// All that is shown is closed: replies, unless something that can be in the reply is on its way.
void search_conclude(struct search *search);

/// What a supplier with this ceiling gets now.
struct allocation search_allocation(const struct search *search, uint64_t ceiling_us);

/// The logins of a candidate's accounts, of which one is or will be chosen. False: no memory.
MUST_CHECK bool search_fill_logins(const struct search *search, struct start_call *start,
                                   struct start_candidate *candidate);

/// What is known of a candidate's accounts, of which one is or will be chosen. False: no memory.
MUST_CHECK bool search_fill_knowledge(const struct search *search, struct start_call *start,
                                      struct start_candidate *candidate);

/// A normalise call with the facts that this supplier may see; takes the response unless NULL is returned.
MUST_CHECK struct normalise_call *search_normalise_call(const struct search *search,
                                                        const struct catalogue_supplier *supplier,
                                                        struct http_response *response);

/// Likewise a request call; takes the request unless NULL is returned.
MUST_CHECK struct request_call *search_request_call(const struct search *search,
                                                    const struct catalogue_supplier *supplier, enum request_job job,
                                                    const struct login *login, struct http_request *request);

/// Zeroed memory that lives as long as the search; NULL without any.
MUST_CHECK void *search_alloc(struct search *search, size_t size);

/// Frees one that is over; those of it that linger are given up.
void search_free(struct search *search);

/// Nothing that is out is worth waiting for: it replies now, and is gone.
void search_finish_early(struct search *search);

/// What is closed meanwhile does not end the search; letting go may, and then it is gone.
void search_hold(struct search *search);
void search_let_go(struct search *search);

/// A script has failed outside of what decides its attempt's outcome.
void search_on_script_trouble(const struct search *search, const struct attempt *attempt, enum script_verdict verdict,
                              const char *detail, const struct failure *trouble);

/// Counts a closed attempt; the last one makes the search reply, and then the search is gone.
void search_on_attempt_closed(struct search *search, struct attempt *attempt);
