/// Auth: an attempt and the credentials of its account, which its supplier may have refused (policy/auth_park.h).
///
/// Threads: its world's.
/// Memory:  none of its own.
#pragma once

#include <stdbool.h>

struct attempt;

/// May it be asked with its account's credentials? False: it is closed, and its search may be gone.
bool auth_admits(struct attempt *attempt);

/// Tells what became of it, if it was admitted, once: when it closes, or is given up.
void auth_settle(struct attempt *attempt);
