/// Revalidate reply: what becomes of a revalidation's end: one of six statuses, and what may come with it.
///
/// Threads: the I/O thread's.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "app/settings.h"
#include "app/tokens.h"
#include "model/revalidation_status.h"
#include "search/revalidation.h"
#include "search/search.h"
#include "token/offer_token.h"

struct revalidate_subject {
    struct tokens *tokens;
    struct world *store; // where other engines look for what a token names; NULL: there is none
    struct text id;      // of the revalidation
    const struct settings *settings;
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
    const struct offer_claims *claims;
    struct text hidden;       // of the offer that was asked for: members of JSON, each behind a comma; absent: none
    enum reply_detail detail; // strangers are told neither how it went wrong nor which account it is of
    uint64_t now_ms;
};

/// "120.00 EUR" each; empty: there is none.
enum { REVALIDATE_PRICE_SIZE = 64 };
struct revalidate_prices {
    char was[REVALIDATE_PRICE_SIZE], now[REVALIDATE_PRICE_SIZE];
};

/// Writes the whole body. `end` NULL: nobody was asked, because of `why` (an outcome's name or a word of our own). What
/// its status is.
enum revalidation_status revalidate_reply_write(const struct revalidate_subject *subject,
                                                const struct revalidation_end *end, const char *why, struct buffer *out,
                                                struct revalidate_prices *prices);
