/// Population: forty suppliers, how they behave, and what goes wrong with them, as a file in populations/ says.
///
/// The words of a file are explained by populations/healthy.txt. A file may be `like` another one of the same folder,
/// and then says only what is different from it.
///
/// Threads: immutable once read.
/// Memory:  a plain value.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POPULATION_SUPPLIERS_MAX = 48, POPULATION_ENDPOINTS_MAX = 2, POPULATION_ITEMS_MAX = 256 };

struct population_supplier {
    char name[16];
    double median_us, sigma, tail_share, tail_alpha, hang_share, error_share;
    double slow_share, slow_us, slow_factor;
    uint32_t endpoints, offers;
    bool hangs; // always, once the warm-up is over
};

struct population {
    double rate_per_s, same_again, price_spread;
    uint64_t warm_up_us;
    uint32_t searches, items;
    struct population_supplier suppliers[POPULATION_SUPPLIERS_MAX]; // sorted by name
    size_t count;
    double slower;    // all of them, by this factor, once the warm-up is over
    size_t dead;      // its number; `count`: none is
    uint64_t dead_us; // after the warm-up, for so long
};

struct population_error {
    char text[256];
};

/// False: `error` says file, line and what was expected.
MUST_CHECK bool population_read(const char *path, struct population *population, struct population_error *error);
