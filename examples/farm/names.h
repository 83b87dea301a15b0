/// Names: a name server over UDP that knows NAME.farm.test for every supplier, and can be late, wrong or silent.
///
/// A names give the supplier's address, other types an empty answer; a name that nobody has gives NXDOMAIN, and one
/// that begins with "never" gets no answer at all. Names outside of farm.test are refused.
///
/// Threads: the loop's.
/// Memory:  owns its socket and the answers that are still delayed (a capped number).
#pragma once

#include "farm/farm.h"

struct names;

MUST_CHECK enum status names_create(struct farm *farm, const struct sockaddr_in *address, uint32_t ttl_s,
                                    struct names **names, struct failure *why);
void names_destroy(struct names **names);
