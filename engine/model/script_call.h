/// Script call: one job for the script workers, its inputs and its results, as plain data.
///
/// START runs once a search: the product validates the query, then `skip`, `ceiling` and `build_request` of every
/// candidate. NORMALISE turns one response into offers. REQUEST and LOGIN are in request_call.h, CEILING, which asks
/// ceilings again, in ceiling_call.h, ASK in ask_call.h.
///
/// Threads: handed over whole: search -> worker -> search.
/// Memory:  one allocation with its parts; never in a search's arena, because a lost worker may hold it for ever.
#pragma once

#include "base/message.h"
#include "model/exchange.h"
#include "model/knowledge.h"
#include "model/login.h"
#include "model/offer.h"
#include "model/rule.h"
#include "model/script_account.h"
#include "model/script_verdict.h"

#include <stdatomic.h>

struct ground;     // model/ground.h
struct script_set; // defined in script/; here only carried
struct data_set;   // model/data_set.h
struct rates;      // script/rates.h; here only carried

enum script_call_kind {
    SCRIPT_CALL_START,
    SCRIPT_CALL_NORMALISE,
    SCRIPT_CALL_REQUEST, // model/request_call.h, as is LOGIN
    SCRIPT_CALL_LOGIN,
    SCRIPT_CALL_ASK,     // model/ask_call.h
    SCRIPT_CALL_CEILING, // model/ceiling_call.h
};

struct script_call {
    struct message message; // delivers the call back to its loop; on_receive is set by the world
    enum script_call_kind kind;
    struct ground *ground;                     // held: what set, tables, rates and accounts stand on; NULL: they stay
    struct script_set *set;                    // borrowed of the ground, as are the next two; see catalogue_carry
    struct data_set *data;                     // the tables of `lookup`; NULL: none
    struct rates *rates;                       // what prices are converted by; NULL: nothing
    uint64_t deadline_us;                      // dropped when it cannot be met; earliest first within a lane
    bool is_last;                              // goes behind all others: nobody waits for it
    void *home;                                // the loop to deliver to; set by the world
    atomic_bool is_cancelled;                  // the owner has left: skip the work if not begun
    void (*on_done)(struct script_call *call); // on the loop; the call is the owner's again
    void *owner;                               // the search or attempt; not touched by workers
    uint64_t queued_us, done_us;
    _Atomic uint64_t begun_us; // 0: not begun; its loop looks while a worker sets it
    uint64_t script_cpu_us;
    uint64_t now_us;         // what scripts are told of the time; 0: the clock's, which it is wherever time is real
    uint64_t seed;           // of their randomness; 0: the machine's
    struct failure *trouble; // out: what a person is told of the error that ended it; owned; NULL: nothing. Of START
                             // and CEILING each candidate has its own
};

/// The budget as scripts see it; absolute monotonic times.
struct script_times {
    uint64_t arrival_us;
    uint64_t end_us;          // deadline - reserve
    uint64_t arrival_wall_us; // ctx.now and derived facts come from it
};

struct start_candidate {
    // in
    const struct script_account *account; // the first of `account_count` in a row; out: the one that was chosen
    size_t account_count;                 // 0 is 1
    uint32_t supplier;                    // in the catalogue, as rules name it
    struct ceiling_terms terms;           // the settings' own; the rules' once the facts are known
    struct login *logins;                 // of its accounts, in `memory`, held; NULL: they do not log in
    size_t login_count;
    struct knowledge **knowledges; // of its accounts, in `memory`, held, NULL ones too; NULL: nothing is known
    size_t knowledge_count;
    bool is_of_test; // the search is a test: accounts of mode TEST are for it, too
    // out
    const struct login *login;   // of the account that was chosen; without a value its requests are still to be built
    struct knowledge *knowledge; // of the account that was chosen; borrowed of `knowledges`; NULL: nothing is known
    bool has_no_account;         // none is for this search: SCRIPT_SKIPPED
    bool is_dark;                // the chosen account is dark: only a call with `asks_dark` asks it
    enum script_verdict verdict;
    struct text message;     // reason to skip, or the error; in `memory` of the call
    struct failure *trouble; // as in struct script_call; the call's until taken
    struct ceiling ceiling;  // in force
    uint32_t progress_reads; // what its function read of the progress; sum of enum progress_field
    uint64_t script_cpu_us;  // that its functions used
    struct http_request
        *request; // the first part's, the others chained; owned by the call until taken; NULL unless SCRIPT_OK
};

struct start_call {
    struct script_call call;
    struct arena memory; // candidates, messages, product, trace
    // in
    struct text product;
    struct block *body; // the caller's whole JSON body
    struct text search_id;
    struct script_times times; // the end moves when a rule says so
    struct start_candidate *candidates;
    size_t candidate_count;
    uint32_t eligible;            // of the search's suppliers, for `ceiling`; candidate_count unless said
    bool asks_dark;               // the dark ones are asked, too
    const struct rule_set *rules; // of the generation; NULL: none
    uint64_t *rule_ends_us;       // beside the rules, in `memory`: the search's end if its deadline is this rule's
    /// The ceiling in force, which is policy's to say; on the worker. NULL: the script's, as it is.
    struct ceiling (*ceiling_of)(const struct ceiling_terms *terms, uint64_t script_us);
    // out
    enum script_verdict
        product_verdict;  // SCRIPT_OK; SCRIPT_FAIL_UNEXPECTED: the query is bad; others: the product script failed
    struct block *errors; // JSON array of {pointer, code, detail} when the query is bad
    struct block *facts;  // JSON of the validated search with its derived facts, for later calls; NULL unless OK
    struct block *client_facts; // the same with `client`, for scripts that want it; NULL: nobody said who asks
    struct block *key;          // what makes two searches the same one, canonically; NULL: never stored, never shared
    char currency[4];           // the search's currency
    const struct rule *deadline_rule;   // the first that fits and sets one; NULL: none
    const struct rule *delay_cost_rule; // likewise
    uint64_t kind;                      // of searches, by the facts that rules may ask for; 0: not known
    char message[256];
};

/// What the offers of an answer do to those that the same part gave before.
enum merge_kind {
    MERGE_ADD,     // an equal id replaces, others stay
    MERGE_REPLACE, // the part's earlier offers go
    MERGE_KEEP,    // nothing new
};

/// The exchange that normalise asks for next: a poll, a page, a look-up.
struct next_step {
    struct http_request *request; // owned by the call until taken; NULL: there is none
    uint64_t after_us;            // to wait before it
    struct block *state;          // ctx.state of it; NULL: none. Owned like the request
};

struct normalise_call {
    struct script_call call;
    // in
    const struct script_account *account;
    struct block *facts;
    struct text search_id; // points into the call
    char search_id_bytes[32];
    struct script_times times;
    uint64_t allocation_end_us;
    struct http_response *response; // owned by the call
    uint64_t took_us;               // of the fetch
    uint64_t body_cap;              // after decompression
    uint32_t part, parts, step;     // each from 1 on
    uint32_t attempt;               // which try of the request was answered; 0 is 1
    bool is_hedge;                  // one that went out beside another
    struct block *state;            // what the step before left; NULL: none
    struct login login;
    bool wants_notes; // `reads` and `drops`, for an author who looks on
    // out
    struct block *reads; // what of the body the script reads: script/reading.h; NULL: nothing is known
    struct block *drops; // the offers that were dropped, a line each: path and reason; NULL: none
    enum script_verdict verdict;
    struct offer_batch *offers; // SCRIPT_OK: at least one offer
    enum merge_kind merge;
    bool is_told_empty;    // SCRIPT_EMPTY: the script says that this status or body means nothing
    bool is_incomplete;    // the script said complete = false
    struct next_step next; // SCRIPT_OK and SCRIPT_EMPTY only
    uint32_t warning_count;
    char warning[256]; // the first one
    char message[256];
    char code[64];           // of fail.supplier
    uint64_t retry_after_ms; // of fail.quota, or of a 429; 0: not said
    bool is_quota_used;      // the supplier takes no more requests of this account
    uint64_t quota_wait_ms;  // for so long; 0: not said
};

/// One candidate slot for each of `candidate_count`; product and search_id are copied, body is acquired. NULL without
/// memory.
MUST_CHECK struct start_call *start_call_create(struct text product, struct text search_id, struct block *body,
                                                size_t candidate_count);
/// The first account that is for searches of this market becomes the candidate's; empty: the search has none. False:
/// there is none, and `has_no_account` says so.
MUST_CHECK bool start_candidate_choose(struct start_candidate *candidate, struct text market);

/// The facts that rules ask for, in the order of their segments, are known: finds the rules that are the search's, and
/// moves its end to that of its deadline. With `rules` only.
void start_call_take_facts(struct start_call *call, const struct rule_fact *facts);
/// The ceiling in force; `script_us` 0: the script says nothing, or was not asked.
struct ceiling start_candidate_ceiling(const struct start_call *call, const struct start_candidate *candidate,
                                       uint64_t script_us);
/// How long after arrival it allows, `elapsed_us` after it: the built-in one counts from an attempt's start, which is
/// now.
uint64_t start_ceiling_us(const struct ceiling *ceiling, uint64_t elapsed_us);

/// Acquires facts, takes the response. NULL without memory (the response is then still the caller's).
MUST_CHECK struct normalise_call *normalise_call_create(struct text search_id, struct block *facts,
                                                        struct http_response *response);
/// Whose script it runs; not of START and CEILING, which have many.
const struct script_account *script_call_account(const struct script_call *call);
/// For the makers of calls.
void script_call_init(struct script_call *call, enum script_call_kind kind);
/// Frees a call of any kind with everything it still owns.
void script_call_destroy(struct script_call *call);
