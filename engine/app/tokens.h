/// Tokens: what an engine makes offers' tokens and booking tokens with, and reads them: its keys, and the shelf of what
/// is too large for a token.
///
/// The keys are secrets that the settings name, newest first. An engine without any makes keys of its own, which are
/// gone when it ends, as are all tokens of it then.
///
/// Threads: any, after tokens_open.
/// Memory:  owns keys and shelf.
#pragma once

#include "app/hidden_shelf.h"
#include "app/settings.h"
#include "search/search.h"
#include "token/token_ring.h"

struct tokens {
    bool is_on;
    bool is_own; // it made a key by itself
    struct token_ring ring;
    struct hidden_shelf *shelf;
};

/// STATUS_INVALID: a key cannot be found or used, and `why` says which.
MUST_CHECK enum status tokens_open(struct tokens *tokens, const struct settings *settings, struct failure *why);
void tokens_close(struct tokens *tokens);

/// Appends the token of an offer; `life_us` is how long it may be used, unless the offer expires before. `room` is what
/// its reply may still put on the shelf, at first HIDDEN_SHELF_OF_REPLY. What is put there goes to `store`, too, where
/// other engines find it; NULL: there is none. False: the offer has no token: it has expired, there was no memory, or
/// no such room.
bool tokens_seal(struct tokens *tokens, const struct search_seal *seal, struct world *store, uint64_t now_ms,
                 uint64_t life_us, size_t *room, struct buffer *out);

/// ms since 1970 as "2026-11-30T12:00:00Z".
enum { TOKENS_TIME_SIZE = 32 };
void tokens_print_time(uint64_t ms, char out[TOKENS_TIME_SIZE]);
