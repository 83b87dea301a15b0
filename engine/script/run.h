/// Run: how one script call goes through a worker's state, section by section.
///
/// Threads: a worker's.
/// Memory:  a run holds what it reads within sections; results are written into the call outside of them, while the
/// lease
///          lasts.
#pragma once

#include "model/ceiling_call.h"
#include "model/request_call.h"
#include "script/guard.h"
#include "script/state.h"
#include "script/wait.h"

/// How a script failed, kept outside of Lua.
struct run_failure {
    enum script_verdict verdict;
    char message[256];
    char code[64];
    struct wait wait; // of fail.quota
};

struct run {
    struct failure trouble; // what the last failed section is told of; CODE_NONE: nothing has failed
    struct guard *guard;
    struct state *state;
    uint64_t build_limit_us;
    uint64_t normalise_limit_us;
    uint64_t now_us;            // of the call in hand, as in struct script_call
    struct run_failure failure; // of the last section
    char unparsable[256];       // message of the last error that says the body cannot be read
    uint64_t timeouts, memory, errors;
    uint32_t quarantined;
};

/// First member of whatever is the context of a section.
struct run_work {
    struct run *run;
};

struct ask_call; // model/ask_call.h

/// The time that scripts are told.
uint64_t run_now_us(const struct run *run);
/// The time of day then.
uint64_t run_wall_us(const struct run *run, struct script_times times);

enum run_end { RUN_DONE, RUN_FAILED, RUN_LOST };

/// Runs `function` with the light userdata `work`, guarded when `blame` is given (then only the worker's own memory may
/// be touched inside), plainly protected when it is NULL. A guarded one is preceded by the files that the script needs,
/// when the state has not run them yet, under the limit of their checks. RUN_FAILED: `failure` says how; after out of
/// memory the state is a fresh one, and verdict SCRIPT_MEMORY. RUN_LOST: the lease is gone, leave everything of the
/// call alone.
MUST_CHECK enum run_end run_section(struct run *run, const struct guard_blame *blame, uint64_t limit_us,
                                    lua_CFunction function, struct run_work *work);

/// What the last failure is told of, for whoever waits for the call: copied, owned by the caller. NULL: there was none,
/// or no memory.
struct failure *run_take_trouble(struct run *run);

/// Counts the last failure for the pool's statistics; once for each call or candidate that it ended.
void run_count_failure(struct run *run);

/// Counts how a call of a supplier's script ended, for the trial of one that is new. `skip` counts when it fails only:
/// what it says no to tells nothing of the rest.
void run_note_trial(const struct run *run, size_t supplier, enum script_verdict verdict, const char *message);

/// In a section: raises an error that says where the function at `function` begins.
_Noreturn int run_breach(lua_State *L, int function, const char *format, ...) PRINTF_LIKE(3, 4);

/// In a section: the plain table at `table` has these fields and no others; `where` names the table.
void run_check_fields(lua_State *L, int table, int function, const char *where, const char *const *known, size_t count);

/// Is it a field of a request?
bool run_is_request_field(const char *name);

/// In a section: raises again when the value at `index` is a typed failure, returned instead of raised.
void run_check_failure(lua_State *L, int index);

/// In a section: pushes `ctx` for a function of a supplier.
struct run_context {
    uint64_t serial;  // of the account
    uint64_t wall_us; // the search's arrival
    uint64_t elapsed_us;
    uint64_t remaining_us;
    uint32_t part, parts, step;
    uint32_t attempt; // 0 is 1
    bool is_hedge;
    struct text state; // JSON that the step before left; absent: none
    struct text login; // JSON; absent: none
};
void run_push_context(lua_State *L, struct state *state, const struct run_context *context);

/// In a section: the request that a script described by the table at `index`, checked and copied.
struct http_request *run_take_request(lua_State *L, int index, int function, const struct state_account *account);

/// In a section: one request or a list of them, chained into `*requests` one by one; what was made before an error is
/// there for the caller to free.
void run_take_requests(lua_State *L, int index, int function, const struct state_account *account,
                       struct http_request **requests);

/// In a section: a copy of the request with the headers of the map at `index` (which may be nil) in place of those that
/// were signed before; `function` returned it.
struct http_request *run_sign_request(lua_State *L, int index, int function, const struct http_request *request,
                                      uint64_t now_us);

/// In a section: has `sign` of the supplier sign each request of the chain anew. `ctx` is that of the first of them, at
/// the time of signing; the others are the parts after it.
void run_sign_all(lua_State *L, const struct run *run, size_t supplier, struct run_context context,
                  struct http_request **requests);

/// What `normalise` said beside its offers.
struct run_details {
    enum merge_kind merge;
    bool is_incomplete;
    struct next_step next;
    bool is_quota_used; // nothing of the account's quota is left
    struct wait quota_reset;
    uint32_t warning_count;
    char warning[256];
};

/// In a section: copies the words on top of the stack that a script said. Secrets are taken out while they are whole:
/// what a cut leaves of one would match nothing later.
void run_keep(char *place, size_t size, const char *words);

/// In a section: reads `quota` of the second result of `normalise`, the plain table at `table`.
void run_take_quota(lua_State *L, int table, int function, struct run_details *details);

/// In a section: reads the second result of `normalise`; what was made before an error is there for the caller to free.
void run_take_details(lua_State *L, int index, int function, const struct state_account *account,
                      struct run_details *details);
void run_details_fini(struct run_details *details);

/// In a section: reads `next` of the plain table at `table`, which the function at `function` gave, called `who`; what
/// was made before an error is there for the caller to free. False: there is none.
bool run_take_next(lua_State *L, int table, int function, const char *who, bool needs_request,
                   const struct state_account *account, struct next_step *out);

/// One question to a `ceiling`.
struct run_ceiling {
    size_t supplier;
    struct block *facts; // that the supplier may see
    struct search_progress progress;
    struct knowledge *knowledge; // of its account; borrowed; NULL: nothing is known
    uint64_t began_us;           // when its attempt began, or would, since the search's arrival
    uint64_t us;                 // 0: it says nothing, or there is no such function
    uint32_t reads;              // sum of enum progress_field
};
/// In a section: asks it; as a pure function, which sees neither clock nor randomness.
void run_call_ceiling(lua_State *L, struct state *state, struct run_ceiling *ceiling);

/// False: the lease is gone; the call belongs to someone else now.
MUST_CHECK bool run_start(struct run *run, struct start_call *call);
MUST_CHECK bool run_normalise(struct run *run, struct normalise_call *call);
MUST_CHECK bool run_ask(struct run *run, struct ask_call *call);
MUST_CHECK bool run_request(struct run *run, struct request_call *call);
MUST_CHECK bool run_login(struct run *run, struct login_call *call);
MUST_CHECK bool run_ceilings(struct run *run, struct ceiling_call *call);

/// Ends what is unfinished of a call for ceilings; with the one that its worker was lost in, for run_lose.
void run_fail_ceilings(struct ceiling_call *call, enum script_verdict verdict, const char *message);
MUST_CHECK bool run_lose_ceiling(struct ceiling_call *call, size_t index, const char *message);

/// Ends what is unfinished of a call with that verdict.
void run_fail_all(struct script_call *call, enum script_verdict verdict, const char *message);

/// The worker of this call is lost: ends what the blamed script was doing. True: other candidates are still to be
/// asked.
MUST_CHECK bool run_lose(struct script_call *call, const struct guard_blame *blame);

/// A candidate has its result: any verdict but the one it was born with, which has no message.
static inline bool run_is_finished(const struct start_candidate *candidate)
{
    return candidate->verdict != SCRIPT_DROPPED || candidate->message.data != NULL;
}

/// How much of `end_us - now_us` is left; 0 when it is over.
static inline uint64_t run_time_left(uint64_t end_us, uint64_t now_us)
{
    return end_us > now_us ? end_us - now_us : 0;
}
