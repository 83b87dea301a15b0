/// Login share: whether another engine has the login that one is needed of, or is fetching it, before this one does.
///
/// A login is left in the shared store, sealed (token/hidden_note.h), for as long as it lives. Who finds none claims
/// the fetch by a note that is only there if nobody has left one before, and that goes by itself. Who finds a claim
/// looks again, each LOGIN_SHARE_ROUND_US, for at most LOGIN_SHARE_WAIT_US; then it fetches for itself. So does
/// everybody, after at most LOGIN_SHARE_STORE_US, when the store says nothing.
///
/// Threads: its desk's.
/// Memory:  embedded in what its desk keeps of the account.
#pragma once

#include "app/account_mark.h"
#include "search/ports.h"

enum {
    LOGIN_SHARE_STORE_US = 150000,    // that the store may take for one answer
    LOGIN_SHARE_ROUND_US = 100000,    // between two looks
    LOGIN_SHARE_WAIT_US = 3000000,    // for another engine's fetch
    LOGIN_SHARE_CLAIM_MS = 12000,     // a little longer than a fetch may take
    LOGIN_SHARE_LEAST_US = 1000000,   // a login that expires before is not worth sharing
    LOGIN_SHARE_ENDLESS_MS = 3600000, // how long one is left that does not say when it expires
    LOGIN_SHARE_ID = 16,
    LOGIN_SHARE_NAME = 2 * 64 + ACCOUNT_MARK_SIZE + 16,
};

enum login_share_state { SHARE_IDLE, SHARE_LOOKING, SHARE_CLAIMING, SHARE_PAUSING };

/// A login that was found.
struct shared_login {
    uint8_t id[LOGIN_SHARE_ID];
    struct block *value;
    uint64_t life_us, age_us; // from now on; since it was made. `life_us` UINT64_MAX: nobody knows
};

struct login_share {
    struct world *world;
    const struct token_ring *ring;
    /// Once for each start, on the loop, never from inside of it. NULL: fetch it. What is found is the receiver's.
    void (*on_end)(struct login_share *share, struct shared_login *found);

    enum login_share_state state;
    char login_name[LOGIN_SHARE_NAME], claim_name[LOGIN_SHARE_NAME];
    uint8_t spent[LOGIN_SHARE_ID]; // the login that is not wanted
    uint64_t until_us;
    bool holds_claim;
    struct store_call *call;
    struct timer timer;
};

void login_share_init(struct login_share *share, struct world *world, const struct token_ring *ring,
                      void (*on_end)(struct login_share *share, struct shared_login *found));
/// `spent`: the login that was used up to now. False: it cannot, fetch it; on_end does not come.
MUST_CHECK bool login_share_start(struct login_share *share, struct text supplier, const struct script_account *account,
                                  const uint8_t spent[LOGIN_SHARE_ID]);
/// Without on_end; a claim is given back.
void login_share_cancel(struct login_share *share);

/// It was fetched: left for the others; `id` is what it is known by. Nobody waits for that.
void login_share_leave(struct login_share *share, struct text value, uint64_t life_us, uint8_t id[LOGIN_SHARE_ID]);
/// It could not be fetched: the others leave it alone for so long, too, if this engine had the claim.
void login_share_failed(struct login_share *share, uint64_t pause_us);
