/// Draw: numbers that look random and follow from a seed alone.
///
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014 (splitmix64).
///
/// Threads: one owner of a `struct draw`.
/// Memory:  a plain value.
#pragma once

#include <stdint.h>

struct draw {
    uint64_t state;
};

/// One number out of two; equal inputs give equal outputs.
uint64_t draw_mix(uint64_t a, uint64_t b);
uint64_t draw_next(struct draw *draw);
uint32_t draw_below(struct draw *draw, uint32_t limit); // 0 … limit-1; limit > 0
double draw_unit(struct draw *draw);                    // above 0, below 1
double draw_normal(struct draw *draw);                  // mean 0, deviation 1
