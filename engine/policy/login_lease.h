/// Login lease: whether an account's login may be used now, when another one is fetched, and when it is not.
///
/// A login counts from the moment its request was sent, for the supplier counts from an earlier one than our receiving
/// it. From 80 % of its life on, by a jitter of up to 10 %, it is renewed while it is used. One that was refused is
/// given up by its number, so that many who were refused the same one give up that one and no newer one. After a
/// failure nothing is fetched for 1 s, doubled by each further one up to 30 s; a new login that was refused at once
/// counts as a failure too, until one is taken for longer than a minute.
///
/// Threads: any; the caller holds the account's lock.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LOGIN_PAUSE_LEAST_US = 1000000,
    LOGIN_PAUSE_MOST_US = 30000000,
    LOGIN_SETTLED_US = 60000000,
    LOGIN_RENEW_PERCENT = 80,
    LOGIN_RENEW_JITTER_PERCENT = 10,
};

struct login_lease {
    uint64_t number; // of the newest login, from 1 on; 0: there was none yet
    bool is_held;    // it may be used until `expires_us`
    bool is_used;    // since it was made
    bool is_fetching;
    uint64_t made_us, renew_us, expires_us; // UINT64_MAX: never
    uint64_t not_before_us;                 // of the next fetch
    uint32_t failures, refusals;            // in a row
};

enum login_lease_answer { LEASE_HELD, LEASE_WAIT, LEASE_PAUSED };

/// What a request gets that may have been refused login number `refused` (0: none was): the login, or a place among
/// those that wait for the next one, or nothing for a while.
enum login_lease_answer login_lease_ask(struct login_lease *lease, uint64_t now_us, uint64_t refused);

/// Is it there? Without using it.
bool login_lease_is_good(const struct login_lease *lease, uint64_t now_us);

/// May a login be fetched now? True: it is being fetched, until login_lease_made or login_lease_failed.
MUST_CHECK bool login_lease_begin(struct login_lease *lease, uint64_t now_us);

/// `life_us` UINT64_MAX: it does not expire. `jitter`: any number; equal ones give equal times.
void login_lease_made(struct login_lease *lease, uint64_t sent_us, uint64_t now_us, uint64_t life_us, uint64_t jitter);
/// Another engine had fetched it `age_us` ago; `life_us` is what is left of it.
void login_lease_adopted(struct login_lease *lease, uint64_t now_us, uint64_t life_us, uint64_t age_us,
                         uint64_t jitter);
void login_lease_failed(struct login_lease *lease, uint64_t now_us);

/// The supplier, or a limit of ours, wants no fetch before `until_us`: the pause after a failure lasts until then.
void login_lease_defer(struct login_lease *lease, uint64_t until_us);

/// A login was refused to the one who had waited for it.
void login_lease_refused(struct login_lease *lease, uint64_t now_us, uint64_t number);

/// The fetch was given up without a verdict.
void login_lease_abandon(struct login_lease *lease);

/// When to look whether it wants renewal; UINT64_MAX: never.
uint64_t login_lease_look_us(const struct login_lease *lease);
bool login_lease_wants_renewal(const struct login_lease *lease, uint64_t now_us);
