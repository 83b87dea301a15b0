/// Account mark: a name for an account with the credentials it has, which tells nobody what they are.
///
/// A digest of them together with the engines' newest key for offers' tokens (app/tokens.h): engines with the same
/// settings, secrets and keys have the same one, and without the key nobody can try secrets out against it.
///
/// Threads: any.
/// Memory:  the caller's.
#pragma once

#include "model/script_account.h"
#include "token/token_ring.h"

enum { ACCOUNT_MARK_SIZE = 33 }; // 128 bits in hexadecimal

/// False: there is no key, or libcrypto refused.
MUST_CHECK bool account_mark(const struct token_ring *ring, struct text supplier, const struct script_account *account,
                             char mark[ACCOUNT_MARK_SIZE]);
