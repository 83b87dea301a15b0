/// Population: who plays on the farm, read from a table of plain text.
///
/// One supplier a line: name, address (last number), speaks (http, https, both), shape (a, b, poll_add, poll_replace,
/// pages, parts, maps, tables, xml: flights; h, rates: hotels), model (constant, lognormal, bimodal, ramp, recovery),
/// median_ms, sigma, tail (share), cap_ms, ceiling_ms (or -). Then, in any order: FAULT=SHARE, close, no_tickets,
/// name_delay_ms=N; for polls and pages rounds=N (3) and poll_after_ms=N (100); for models other_ms=N,
/// other_share=SHARE, peak_ms=N, over_ms=N; login=oauth or session, sign=sha256 or sha512 (gate.h) with login_ms=N
/// (30), login_life_s=N (1800); field=NAME for the faults rename_field and drop_field; and outage=FAULT with
/// outage_from_ms=N, outage_ms=N, outage_every_ms=N. A share is "2%" or "0.02". What follows # is a comment.
///
/// Threads: the loop's.
/// Memory:  owns its suppliers.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "farm/supplier.h"

enum { POPULATION_MAX = 250, POPULATION_HTTP_PORT = 8080, POPULATION_TLS_PORT = 8443 };

struct population {
    char network[16]; // "127.0.40": the first three numbers of all addresses
    struct supplier suppliers[POPULATION_MAX];
    size_t count;
};

/// `network` is "127.A.B".
MUST_CHECK enum status population_read(const char *file, const char *network, struct population **population,
                                       struct failure *why);

/// Adds a supplier that serves a file, or a recording: "NAME:ADDRESS:PATH".
MUST_CHECK enum status population_add_file(struct population *population, const char *argument, struct failure *why);

/// One without suppliers; NULL without memory.
MUST_CHECK struct population *population_create(const char *network);

/// Adds a supplier whose answers come from the prompter, at "ADDRESS:PORT". Words are those behind a line's columns,
/// and model=NAME; without median_ms=N the prompter says how long each answer takes.
MUST_CHECK enum status population_add_door(struct population *population, const char *argument, bool is_tls,
                                           const char *const *words, size_t word_count, struct failure *why);
void population_destroy(struct population **population);
void population_reset(struct population *population, uint64_t seed, uint64_t now_us);

/// NULL: nobody has this name.
struct supplier *population_find(struct population *population, struct text name);

/// Prints the `suppliers` section of lastcall.yaml for this population; `is_plain` prefers http where both are spoken.
void population_print_settings(const struct population *population, bool is_plain);
