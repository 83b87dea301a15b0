/// Auth park: whether an account may be asked whose credentials its supplier has refused.
///
/// Three refusals in a row park the account for a minute; then one call at a time is let through as a probe, the first
/// that comes. A probe that is refused parks it for twice as long, up to half an hour; one that is taken ends all of
/// it; one that ends without a word leaves its place to the next. A refusal counts when a renewed login was refused,
/// too, or when the script says that no login would help. Apart from the breaker: the supplier is sound, it only does
/// not want us.
///
/// Threads: any; the caller holds the account's lock.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    AUTH_PARK_REFUSALS = 3,
    AUTH_PARK_LEAST_US = 60 * 1000000,
    AUTH_PARK_MOST_US = 30 * 60 * 1000000,
};

struct auth_park {
    uint32_t epoch;    // what began in an earlier one says nothing
    uint32_t refusals; // in a row, while it is not parked
    uint32_t parks;    // in a row
    uint64_t until_us; // 0: it is not parked
    bool is_probing;
};

/// What a call must hand back.
struct auth_pass {
    uint32_t epoch;
    bool is_probe;
};

/// What a call says of the credentials.
enum auth_end { AUTH_TAKEN, AUTH_REFUSED, AUTH_UNKNOWN };

void auth_park_init(struct auth_park *park);

/// May a call go out now? True: `pass` must come back through auth_park_tell, once. False: `*wait_us` is how long it is
/// parked; 0: until the probe that is out has ended.
MUST_CHECK bool auth_park_ask(struct auth_park *park, uint64_t now_us, struct auth_pass *pass, uint64_t *wait_us);
/// `pass` NULL: a login of the account, which needed none. True: it is parked now and was not, or the reverse.
bool auth_park_tell(struct auth_park *park, const struct auth_pass *pass, enum auth_end end, uint64_t now_us);

/// What another engine learned of the same credentials: parked for the `parks`th time in a row; 0: they are taken.
/// What is under way says nothing any more.
void auth_park_adopt(struct auth_park *park, uint32_t parks, uint64_t until_us);

/// How long it is parked; 0: it is not, or may be tried out.
uint64_t auth_park_left_us(const struct auth_park *park, uint64_t now_us);
static inline bool auth_park_is_parked(const struct auth_park *park)
{
    return park->until_us != 0;
}
