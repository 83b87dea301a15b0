/// Try: one search of one supplier's script, for its author, who sees everything that goes by.
///
/// Live it is the real thing in this process: resolver, connections, limits, logins, script workers, on a loop that
/// runs for this search only; nothing of a running engine is used. Over saved answers nothing is sent: they are played
/// as a fixture's are. Also a supplier that is switched off, dark or of mode test is asked.
///
/// Threads: its caller's, and those it starts and ends.
/// Memory:  a run owns what it has seen; subject, settings and generation are the caller's.
#pragma once

#include "app/fixture_run.h"
#include "app/search_id.h"
#include "policy/budget.h"

enum { TRY_SEARCH_MAX = 1 << 20, TRY_REPLY_MAX = 64 << 20 };

/// Whom it is about.
struct try_subject {
    struct settings *settings;
    struct generation *generation;
    const struct catalogue *catalogue;
    const struct catalogue_supplier *supplier;
    const struct script_supplier *script;
    size_t script_index;
};

/// A saved answer.
struct try_answer {
    struct text body;
    uint16_t status;
    const struct header *headers; // without a content-type: told by what the body looks like
    size_t header_count;
    uint64_t after_us;
};

struct try_run {
    struct arena arena;
    struct tap tap;
    struct buffer reply;          // of the search, as JSON
    const struct json_node *root; // of it; NULL: there is none
    struct text search;           // as it was posted
    struct budget budget;
    char search_id[SEARCH_ID_SIZE];
    uint64_t arrival_us, wall_us;
    uint64_t clock_us;      // when saved answers are played, where that is not now; 0: it is
    const char *clock_from; // "fixture", or "search": the day before its first date; NULL: of neither
    bool is_live, is_interrupted;
    size_t misses; // requests that no saved answer was there for
    size_t unused; // saved answers that nobody asked for
};

/// `name` is a supplier's, or the path of its file. False: `why` says whom it takes for whom.
MUST_CHECK bool try_find(struct try_subject *subject, struct settings *settings, struct generation *generation,
                         const char *name, struct failure *why);

void try_run_init(struct try_run *run);
void try_run_fini(struct try_run *run);

/// `json` is the body of a search, with or without its product and what else a caller may say. False: `why`.
MUST_CHECK bool try_take_search(struct try_run *run, const struct try_subject *subject, struct text json,
                                struct failure *why);

/// Sends it. False: it could not be sent at all.
MUST_CHECK bool try_run_live(struct try_run *run, const struct try_subject *subject, struct failure *why);

/// Plays a fixture, which findings of its account are told of. False: they say why not.
MUST_CHECK bool try_run_fixture(struct try_run *run, const struct try_subject *subject, struct fixture *fixture);

/// Plays answers to its requests, in their order, at the time of day `wall_us`. `login` is the JSON of one that is
/// there already; absent: it is fetched, from the first answer. Secrets are made up.
MUST_CHECK bool try_run_answers(struct try_run *run, const struct try_subject *subject,
                                const struct try_answer *answers, size_t count, struct text login, uint64_t wall_us,
                                struct failure *why);

/// What is wrong with a run, with its exchange: a search that the product refuses, an error of the script, an answer
/// that it could not read or that was not given, offers that were dropped, a call that failed. False: nothing is.
MUST_CHECK bool try_failure(const struct try_run *run, const struct try_subject *subject, struct failure *why);

/// Is it the author's to mend, and nothing that a supplier may do: an error of the script, an answer that it could not
/// read, one that was not given?
MUST_CHECK bool try_is_mistake(const struct try_run *run);

/// Did it end with a status that means trouble, of which the script says nothing?
MUST_CHECK bool try_is_untold(const struct try_run *run);

/// What a reply says of the supplier; NULL: nothing.
const struct json_node *try_report(const struct try_run *run);
/// Its outcome; absent: the product refused the search.
struct text try_outcome(const struct try_run *run);
