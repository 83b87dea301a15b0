/// State: the Lua state of one worker for one script set, with what it has loaded and decoded so far.
///
/// Everything is made on first use: products, suppliers, searches (by their block of facts, the last 64), accounts (by
/// serial). The push functions run inside a protected call of the state's sandbox and may raise.
///
/// Threads: one at a time. A state may be filled by another thread and handed over to its worker whole: nothing of it
///          belongs to a thread.
/// Memory:  holds its script set and the facts of the searches it knows.
#pragma once

#include "model/script_call.h"
#include "script/sandbox.h"
#include "script/script_set.h"

enum { STATE_SEARCHES = 64, STATE_ACCOUNTS_MAX = 512 };

/// Optional functions of a supplier.
enum state_ability { STATE_LOADED = 1, STATE_SKIP = 2, STATE_CEILING = 4, STATE_SIGN = 8 };

struct state_search {
    struct block *facts;
    int reference; // of the frozen table; LUA_NOREF: the slot is free
    uint64_t used_at;
};

struct state {
    struct script_set *set;
    struct sandbox *sandbox; // NULL after out of memory, until state_renew
    size_t growth_cap;
    int *products; // registry references, LUA_NOREF: not loaded
    int *suppliers;
    uint8_t *abilities; // of suppliers: what their tables hold, once loaded
    uint64_t renewals;  // how often the state was begun afresh
    uint64_t loads;     // files of products and suppliers that were run
    uint64_t used_at;   // its owner's: the larger, the later
    struct state *next; // its owner's list
    struct state_search searches[STATE_SEARCHES];
    uint64_t uses;
    int accounts; // reference of the table by serial
    size_t account_count;
    uint64_t now_us; // of the table kept under `now`
    int now;
    uint64_t seed;         // of the call in hand
    struct data_set *data; // of the call in hand, held; NULL: none
    bool watches_fields;   // see script/field_watch.h
    void *response;        // the run_response of the call in hand; NULL: none
};

/// What may be asked of an account within a section; lives in the state.
struct state_account {
    size_t host_count;
    struct text base_url; // absent: no such option
    struct text hosts[];
};

MUST_CHECK struct state *state_create(struct script_set *set, size_t growth_cap);
void state_destroy(struct state **state);

/// After out of memory: throws the Lua state away and begins with a fresh one. False: no memory for it either.
bool state_renew(struct state *state);

/// Between calls: renews a state whose memory is mostly idle, after a call that needed far more than the others.
void state_refresh(struct state *state);

/// Has its file been run in this state?
bool state_is_loaded(const struct state *state, struct script_id script);

/// Before a call: holds its tables; after it, with NULL: lets them go. Not within a section.
void state_use_data(struct state *state, struct data_set *data);

/// Before a call: where its randomness comes from; 0: the machine. Not within a section.
void state_use_seed(struct state *state, uint64_t seed);

/// False: the supplier is loaded and has no such function.
bool state_may_have(const struct state *state, size_t supplier, enum state_ability ability);

// Within a protected call:

/// Pushes the table of a product or supplier, loading its file if need be.
void state_push_product(lua_State *L, struct state *state, size_t index);
void state_push_supplier(lua_State *L, struct state *state, size_t index);

/// Pushes the frozen search that `facts` encodes.
void state_push_search(lua_State *L, struct state *state, struct block *facts);

/// Pushes the frozen table {s, ms, iso} of a time of day: seconds and milliseconds since 1970, RFC 3339 in UTC.
void state_push_now(lua_State *L, struct state *state, uint64_t wall_us);

/// Forgets all accounts when there are too many; before a call learns its own.
void state_trim_accounts(lua_State *L, struct state *state);

/// Makes the account known. Reads it, so not within a section.
void state_learn_account(lua_State *L, struct state *state, const struct script_account *account);

/// Pushes the plain table {account, options, secret} of a known account, its parts frozen. False: not known.
bool state_push_account(lua_State *L, struct state *state, uint64_t serial);
const struct state_account *state_find_account(lua_State *L, struct state *state, uint64_t serial);
