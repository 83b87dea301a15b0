/// Login: what a supplier gave an account to show with its requests: a token, a session.
///
/// Its number tells it from those before and after it, so that whoever finds it refused gives up that one and no newer
/// one. Its value is a secret.
///
/// Threads: any; a login is immutable.
/// Memory:  a plain value that holds its block; each holder drops its own.
#pragma once

#include "base/block.h"

#include <stdint.h>

struct login {
    struct block *value; // JSON, a string or an object; NULL: there is no login
    uint64_t number;     // among the account's, from 1 on; 0: none
};

static inline struct login login_hold(const struct login *login)
{
    return (struct login){ .value = block_acquire(login->value), .number = login->number };
}

static inline void login_drop(struct login *login)
{
    block_release(&login->value);
    login->number = 0;
}
