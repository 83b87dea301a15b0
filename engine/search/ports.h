/// Ports: the world as a search sees it.
///
/// Clock, timers, fetching, scripts and logins come through one struct of functions, so that the same search runs live
/// and in virtual time. If `start` or `submit` returns OK, its callback comes exactly once, later, on the same loop,
/// never from inside the call; `cancel` is synchronous and final.
///
/// Threads: one world a loop thread; everything is called and calls back on it.
/// Memory:  timers and fetches are embedded in their owners; script calls are handed over and come back.
#pragma once

#include "base/timer_heap.h"
#include "model/exchange.h"
#include "model/knowledge.h"
#include "model/script_call.h"
#include "model/search_record.h"
#include "model/store_call.h"
#include "policy/admission.h"
#include "policy/auth_park.h"
#include "policy/extra_book.h"
#include "policy/health.h"
#include "policy/quota.h"
#include "search/part_end.h"

struct world;
struct catalogue_supplier; // model/catalogue.h

enum login_state {
    LOGIN_HERE,
    LOGIN_ABSENT, // whoever needs it waits for it
    LOGIN_FAILED, // there will be none for a while
};

/// Somebody waits for the login of an account. Filled by the owner up to `on_done`, by the world below.
struct login_wait {
    const struct script_account *account;
    uint64_t refused; // the number of the login that the supplier has refused to him; 0: none
    void (*on_done)(struct login_wait *wait);

    struct login login;  // the owner's once done; without a value `end` says why
    struct part_end end; // its phase is PHASE_LOGIN
    struct list node;
    uint64_t rounds;
    void *impl;
};

struct world_ops {
    /// Reads the clock now; µs.
    uint64_t (*now_us)(struct world *world);

    MUST_CHECK enum status (*timer_start)(struct world *world, struct timer *timer, uint64_t at_us);
    void (*timer_cancel)(struct world *world, struct timer *timer);

    MUST_CHECK enum status (*fetch_start)(struct world *world, struct fetch *fetch);
    void (*fetch_cancel)(struct world *world, struct fetch *fetch);
    /// Where a running fetch stands now.
    enum phase (*fetch_phase)(struct world *world, struct fetch *fetch);

    /// Hands the call over; it returns through call->on_done.
    MUST_CHECK enum status (*script_submit)(struct world *world, struct script_call *call);
    /// Gives a submitted call up: on_done will not come, the world frees the call when the worker returns it.
    void (*script_cancel)(struct world *world, struct script_call *call);
    /// Has a worker begun it?
    bool (*script_has_begun)(struct world *world, const struct script_call *call);

    /// An answer was normalised, and is used after this call; `account` is that of the supplier's shadow. NULL: this
    /// world has no shadows. Nothing of it comes back.
    void (*shadow)(struct world *world, const struct script_account *account, const struct normalise_call *normalise);

    /// Limits of accounts; NULL, all three: this world has none.
    /// May one more request of this account go out now? On QUOTA_FREE its end is told by permit_end, once; else
    /// `*wait_us` is as quota_begin says.
    MUST_CHECK enum quota_answer (*permit_begin)(struct world *world, const struct script_account *account,
                                                 uint64_t *wait_us);
    /// The same for a request that may use what is kept of the rates (revalidations). NULL: nothing is kept.
    MUST_CHECK enum quota_answer (*permit_begin_kept)(struct world *world, const struct script_account *account,
                                                      uint64_t *wait_us);
    void (*permit_end)(struct world *world, const struct script_account *account);
    /// The supplier wants no request of this account for so long; 0: it did not say how long. How long it is left
    /// alone from now on.
    uint64_t (*account_block)(struct world *world, const struct script_account *account, uint64_t wait_us);
    /// Has an operator switched this supplier off, or this account of it (NULL: is not known yet)? If so `why` says who
    /// and why, for people; it may be NULL. NULL: nobody can.
    bool (*is_switched_off)(struct world *world, const struct catalogue_supplier *supplier,
                            const struct script_account *account, char *why, size_t size);
    /// How long an operator wants this supplier to be waited for, whatever others say; 0: he has not said. NULL: nobody
    /// can.
    uint64_t (*ceiling_override)(struct world *world, const struct catalogue_supplier *supplier);
    /// A request that was refused as one too many at once goes on waiting for its place no longer. NULL: not counted.
    void (*permit_given_up)(struct world *world, const struct script_account *account);
    /// A request met a sign that its supplier is strained. NULL: nobody learns of it.
    void (*account_strained)(struct world *world, const struct script_account *account);
    /// May an attempt use this account's credentials now? If so, auth_tell is called once; else `*wait_us` is as
    /// auth_park_ask says. Of a login `pass` is NULL. NULL, both: nobody's are parked.
    MUST_CHECK bool (*auth_ask)(struct world *world, const struct script_account *account, struct auth_pass *pass,
                                uint64_t *wait_us);
    void (*auth_tell)(struct world *world, const struct script_account *account, const struct auth_pass *pass,
                      enum auth_end end);
    /// How far an overload has come; NULL: there is none, ever. What share of a search's suppliers is left out, and
    /// how likely an answer of this account is, on any scale; NULL: as likely as any other's.
    enum overload_level (*overload)(struct world *world);
    double (*shed_share)(struct world *world);
    double (*worth)(struct world *world, const struct script_account *account);
    /// What is known of accounts; NULL, all three: this world knows nothing.
    /// May an attempt ask this account now? Whatever is not refused is told by health_tell, once. Else `*wait_us` is
    /// how long it is refused; 0: nobody knows.
    MUST_CHECK enum breaker_answer (*health_ask)(struct world *world, const struct script_account *account,
                                                 struct breaker_pass *pass, uint64_t *wait_us);
    void (*health_tell)(struct world *world, const struct script_account *account, const struct health_result *result);
    /// A hold on what is known of the account now; NULL: nothing is, or this world knows nothing.
    struct knowledge *(*knowledge)(struct world *world, const struct script_account *account);
    /// What its answer added to a reply, as worth_note; NULL: nobody learns it.
    void (*worth_tell)(struct world *world, const struct script_account *account, uint64_t kind, double items,
                       bool has_won);
    /// Is this one of the cut attempts that go on, so that one learns, or (`fills`) because its answer is wanted in the
    /// store? If so, its end is told by linger_ended, once; `parts` of it are under way. NULL, both: none goes on.
    bool (*linger_wants)(struct world *world, const struct script_account *account, uint32_t parts, bool fills);
    void (*linger_ended)(struct world *world, const struct script_account *account, uint32_t parts);
    /// An attempt that went on, or a probe, has ended: its record is the world's. `spoiled`: how a script of it failed,
    /// and what a person is told of that, which may be NULL; OUTCOME_COUNT: none did. NULL: nobody wants to know.
    void (*late_ended)(struct world *world, struct search_record *record, enum outcome spoiled,
                       const struct failure *trouble);
    /// Extra calls; NULL, all four: this world makes none.
    /// An ordinary request goes out: when to ask for a second one.
    struct extra_times (*extra_call)(struct world *world, const struct script_account *account,
                                     const struct extra_call *call);
    /// A new connection of an ordinary request took so long.
    void (*extra_connected)(struct world *world, const struct script_account *account, uint64_t us);
    /// May this extra call go out? What is granted is told by extra_tell, once.
    MUST_CHECK enum extra_answer (*extra_ask)(struct world *world, const struct script_account *account,
                                              const struct extra_question *question);
    void (*extra_tell)(struct world *world, const struct script_account *account, const struct extra_result *result);
    /// The login of an account for a start call, as it is now; nobody has used it yet. Whoever gets it drops it.
    struct login (*login_peek)(struct world *world, const struct script_account *account);
    /// The login to use now; login number `refused` (0: none) is given up if it is still the current one. LOGIN_HERE:
    /// `login` is the caller's to drop; LOGIN_FAILED: `end` says why.
    enum login_state (*login_take)(struct world *world, const struct script_account *account, uint64_t refused,
                                   struct login *login, struct part_end *end);
    /// Waits for the next login, which is fetched for all that wait. It has a limit of its own, and goes on when they
    /// leave.
    MUST_CHECK enum status (*login_start)(struct world *world, struct login_wait *wait);
    void (*login_cancel)(struct world *world, struct login_wait *wait);
    /// Last known answers; NULL, both: this world keeps none.
    /// Hands the call over; it comes home through call->on_done, or is gone if it has none.
    void (*store_submit)(struct world *world, struct store_call *call);
    /// Gives a submitted call up: on_done will not come, the world frees the call when the store returns it.
    void (*store_cancel)(struct world *world, struct store_call *call);
    /// A login was refused to a request that had waited for it; `end` is what the supplier said.
    void (*login_refuse)(struct world *world, const struct script_account *account, uint64_t number,
                         const struct part_end *end);
};

struct search;
struct shared_fetch; // search/shared_fetch.h

struct world {
    const struct world_ops *ops;
    struct search *over;         // searches that have replied, and of which attempts go on (search/linger.h)
    uint32_t lingering;          // of those that were cut
    bool is_ending;              // the engine ends: none begins to linger
    struct shared_fetch *shared; // requests under way that an equal one may join
};

/// Whoever could do without something asks here first.
static inline enum overload_level world_overload(struct world *world)
{
    return world->ops->overload != NULL ? world->ops->overload(world) : OVERLOAD_NONE;
}
