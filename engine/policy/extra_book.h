/// Extra book: what is known of the extra calls of one account, and the one place where they are granted (policy.md
/// section 4).
///
/// Ordinary calls are noted as they go out, and earn the allowances of their account and of the engine. An extra call
/// is granted when `policy/extra_calls.h` finds it right and both allowances have a permit; each that was granted is
/// told of once.
///
/// Threads: one owner; the caller holds the locks of the account and of the engine's part.
/// Memory:  plain values to embed (a book is about 32 KiB); nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "model/extra_terms.h"
#include "policy/allowance.h"
#include "policy/extra_calls.h"
#include "policy/health.h"

enum extra_kind { EXTRA_RETRY, EXTRA_CONNECT, EXTRA_HEDGE, EXTRA_KINDS };
const char *extra_kind_name(enum extra_kind kind);

/// Shared by all accounts.
struct extra_engine {
    struct extra_settings settings;
    struct allowance allowance;
};

struct extra_counts {
    uint64_t sent[EXTRA_KINDS], won[EXTRA_KINDS], wasted[EXTRA_KINDS];
    uint64_t refused[EXTRA_ALLOWANCE + 1]; // by the answer
};

/// Adds up sent, won, wasted and refused, in this order.
void extra_counts_sum(const struct extra_counts *counts, uint64_t sums[4]);

struct extra_book {
    struct allowance allowance;
    struct latency connects;
    struct latency_curve connect_curve;
    struct extra_pairs pairs;
    double value; // of an answer, in offers; a mean that forgets
    bool has_value;
    uint64_t quota_us; // when it last refused for quota
    bool has_quota;
    struct extra_counts counts;
};

/// How its account stands now.
struct extra_state {
    const struct latency_curve *curve;
    bool is_closed;
    uint32_t running, most;
};

/// An ordinary request of an account, as it goes out.
struct extra_call {
    uint64_t left_us; // until the end of its allocation
    double call_cost;
    bool may_hedge; // its supplier takes a second one of the same
};

struct extra_question {
    enum extra_kind kind;
    uint64_t elapsed_us; // since the start of the call that failed or is out
    uint64_t left_us;    // until the end of the allocation
    double call_cost;
    bool is_overloaded; // who asks is: there are no extra calls
};

/// When to ask for an extra call, since a call's start; UINT64_MAX: never.
struct extra_times {
    uint64_t connect_us, hedge_us;
};

enum extra_fate {
    EXTRA_WON,     // its answer was the one that counted
    EXTRA_WASTED,  // the other's was
    EXTRA_LATE,    // neither was here in time
    EXTRA_NOT_SENT // nothing of it went out after all
};

struct extra_result {
    enum extra_kind kind;
    enum extra_fate fate;
    uint64_t loser_us; // how long the one that lost was out when it was given up; 0: it had ended by itself
};

void extra_engine_init(struct extra_engine *engine);
void extra_book_init(struct extra_book *book);
/// New settings count at once; permits in hand stay, for they were earned.
void extra_engine_set(struct extra_engine *engine, struct extra_settings settings);

/// An ordinary call goes out. When an extra one could be worth asking for.
struct extra_times extra_book_call(struct extra_book *book, struct extra_engine *engine,
                                   const struct extra_state *state, const struct extra_call *call, uint64_t now_us);
/// A connect took so long.
void extra_book_connected(struct extra_book *book, uint64_t us, uint64_t now_us);
/// The supplier refused for quota.
void extra_book_quota(struct extra_book *book, uint64_t now_us);
/// An answer was worth so many offers.
void extra_book_value(struct extra_book *book, double value);

/// May it go out? On EXTRA_YES its end is told, once.
MUST_CHECK enum extra_answer extra_book_ask(struct extra_book *book, struct extra_engine *engine,
                                            const struct extra_state *state, const struct extra_question *question,
                                            uint64_t now_us);
/// `latency` is that of the account: a loser is censored there.
void extra_book_tell(struct extra_book *book, struct extra_engine *engine, struct latency *latency,
                     const struct extra_result *result, uint64_t now_us);
