/// Permits: quotas and health of all accounts, shared by all loops of the process and kept over its generations.
///
/// A loop asks here before each attempt and each request; the decisions are those of policy/health and policy/quota. A
/// mutex for each account is held for the few hundred nanoseconds of it. An account is known by the names of its
/// supplier and its own: whatever else of it changes, what was asked of it and what its supplier said of its quota
/// stays, and new limits count at once. An entry goes with the last generation that has its account.
///
/// Threads: begin, end, block and look from any; move and leave from one at a time, which never hold up the others.
/// Memory:  one allocation for each account in use.
#pragma once

#include "model/catalogue.h"
#include "policy/auth_park.h"
#include "policy/extra_book.h"
#include "policy/health.h"
#include "policy/quota.h"

struct permits;

/// With the accounts of the catalogue moved in; NULL: none yet. STATUS_NO_MEMORY.
MUST_CHECK enum status permits_create(const struct catalogue *catalogue, struct permits **permits);
/// Accounts that are still in have nothing here any more.
void permits_destroy(struct permits **permits);

/// For tests, before there is anything in it: the time that it goes by, which does not go back.
void permits_set_clock(struct permits *permits, uint64_t (*now_us)(void));

/// Hears what suppliers said of accounts; on whichever thread heard it, without locks of ours.
struct permits_listener {
    void (*on_blocked)(void *context, const struct script_account *account, uint64_t for_us);
    /// `parks` in a row; 0: its credentials are taken again.
    void (*on_auth)(void *context, const struct script_account *account, uint32_t parks, uint64_t for_us);
    void *context;
};
/// Before the loops run; borrowed.
void permits_listen(struct permits *permits, const struct permits_listener *listener);

/// What another engine was told; nobody hears of it. As permits_block and the end of permits_tell_auth.
void permits_adopt_block(struct permits *permits, const struct script_account *account, uint64_t for_us);
void permits_adopt_auth(struct permits *permits, const struct script_account *account, uint32_t parks, uint64_t for_us);

/// A catalogue comes into use: its accounts get their entries (`account->kept`), and its limits are in force.
/// STATUS_NO_MEMORY: nothing has changed.
MUST_CHECK enum status permits_move(struct permits *permits, const struct catalogue *now);
/// A catalogue that was moved in is out of use: nobody asks for its accounts any more, and nothing of them is under
/// way.
void permits_leave(struct permits *permits, const struct catalogue *gone);
/// How many accounts have an entry.
size_t permits_count(struct permits *permits);

/// As quota_begin, quota_end and quota_block, with the clock's time. The account's catalogue was moved in.
MUST_CHECK enum quota_answer permits_begin(struct permits *permits, const struct script_account *account,
                                           uint64_t *wait_us);
/// The same out of what searches leave, as quota_begin_kept.
MUST_CHECK enum quota_answer permits_begin_kept(struct permits *permits, const struct script_account *account,
                                                uint64_t *wait_us);
void permits_end(struct permits *permits, const struct script_account *account);
/// For how long it is blocked from now on.
uint64_t permits_block(struct permits *permits, const struct script_account *account, uint64_t wait_us);

/// One that was refused as one too many at once is not tried again: it counts as kept in.
void permits_give_up(struct permits *permits, const struct script_account *account);
/// As quota_strained.
void permits_strained(struct permits *permits, const struct script_account *account);
/// As auth_park_ask and auth_park_tell, with the clock's time. New credentials are not parked.
MUST_CHECK bool permits_ask_auth(struct permits *permits, const struct script_account *account, struct auth_pass *pass,
                                 uint64_t *wait_us);
void permits_tell_auth(struct permits *permits, const struct script_account *account, const struct auth_pass *pass,
                       enum auth_end end);
/// What its answers are worth to a search: the share of its attempts that brought offers, lately; 0..1.
double permits_worth(struct permits *permits, const struct script_account *account);

/// As health_ask and health_tell, with the clock's time; `*wait_us`: how long a refused one is refused, 0: nobody
/// knows.
MUST_CHECK enum breaker_answer permits_ask(struct permits *permits, const struct script_account *account,
                                           struct breaker_pass *pass, uint64_t *wait_us);
void permits_tell(struct permits *permits, const struct script_account *account, const struct health_result *result);
/// An operator's word: its breaker opens, or closes as new.
void permits_set_breaker(struct permits *permits, const struct script_account *account, bool is_open);
/// Attempts of this account that have begun and not ended, counted by who lets them pass; no lock.
void permits_note_begun(const struct script_account *account);
void permits_note_ended(const struct script_account *account, enum health_end end);
/// A hold on what is known of the account; NULL: nothing is.
struct knowledge *permits_knowledge(const struct permits *permits, const struct script_account *account);
/// As worth_note, with the clock's time.
void permits_note_worth(const struct permits *permits, const struct script_account *account, uint64_t kind,
                        double items, bool has_won);
/// Is a cut attempt among those that go on? One in a hundred or what the settings say, five times as many while little
/// is known. Never more parts of an account at once than PERMITS_LINGER, nor than a quarter of its `concurrent`: those
/// that somebody waits for need the others. One that fills (the store wants its answer) needs no luck. If so, its end
/// is told, once.
enum { PERMITS_LINGER = 32 };
MUST_CHECK bool permits_want_linger(struct permits *permits, const struct script_account *account, uint32_t parts,
                                    bool fills);
void permits_end_linger(struct permits *permits, const struct script_account *account, uint32_t parts);

/// Extra calls of all accounts, for app/permits_extra.c: what a visitor finds, under its locks.
struct permits_account {
    struct extra_book *book;
    struct extra_engine *engine;
    struct latency *latency;
    const struct health *health;
    const struct quota *quota;
};
typedef void (*permits_visitor)(const struct permits_account *found, uint64_t now_us, void *context);
void permits_visit(struct permits *permits, const struct script_account *account, permits_visitor visit, void *context);

/// How an account stands now.
struct permits_view {
    struct request_limits limits;
    uint64_t used[QUOTA_WINDOWS];
    uint32_t running;
    uint64_t blocked_us;                                           // for so long from now; 0: it is not
    uint64_t refused_by_rate, refused_by_block, refused_by_number; // requests, since it was first in use
    uint64_t refused_others; // of accounts of the same supplier that are in use no more, told here, so that the
                             // supplier's sum does not fall
    enum breaker_state breaker;
    uint32_t breaker_percent;    // of calls that it lets through
    uint64_t breaker_refuses_us; // for so long from now; 0: it does not, or nobody knows
    uint64_t breaker_trips;      // since it was first in use
    struct extra_counts extra;
    uint32_t concurrency; // that its supplier bears, as far as is known; 0: any
    uint64_t parked_us;   // by refused credentials, for so long from now; 0: it is not, or is tried out
    bool is_parked;
    uint64_t auth_parks; // since it was first in use
    uint64_t looks;      // attempts that asked, since it was first in use
    double worth;
    double samples;             // of its latency, of the last minutes, up to now; likewise the next two
    uint64_t median_us, p95_us; // 0: not known
    uint32_t out;               // attempts that are under way, those that go on for nobody included
    uint64_t calls, answered;   // attempts that ended since it was first in use, but for what our side ended or spoiled
};
void permits_look(struct permits *permits, const struct script_account *account, struct permits_view *view);
