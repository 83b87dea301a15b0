/// Catalogue: whom a search may ask, as plain data of one generation.
///
/// Threads: immutable once published.
/// Memory:  owned by its generation.
#pragma once

#include "base/arena.h"
#include "model/admission_settings.h"
#include "model/breaker_settings.h"
#include "model/extra_terms.h"
#include "model/last_known.h"
#include "model/patience_settings.h"
#include "model/rule.h"
#include "model/script_call.h"

struct catalogue_supplier {
    struct text name;
    struct text display_name; // another one for each
    struct text product;
    struct text script; // "duffel@3f9a"
    bool is_enabled;
    bool wants_client;                    // its scripts see who asks
    bool signs;                           // its requests are signed when they are sent
    bool revalidates;                     // its offers can be asked for again
    struct text because;                  // why not
    uint64_t body_cap;                    // bytes on the wire, and after decompression
    uint64_t ceiling_us;                  // from its settings, over the script's, under rules; 0: the script's own
    const struct script_account *account; // the first of `account_count` in a row; the first that fits a search is it
    size_t account_count;                 // 0 is 1
    const struct script_account *shadow;  // beside `account`, as its shadow has them; NULL: it has no shadow
    enum mode mode;                       // that all its accounts have; LIVE when they differ
    uint64_t weight;                      // of what its answers add, in millionths; 0 is 1
    const struct extra_terms *extra;      // what its script says of calls made twice; NULL: nothing
    uint64_t traffic;                     // the share of searches that reach a dark account of it; millionths
    struct last_known_terms last_known;
};

struct ground; // model/ground.h

struct catalogue {
    uint32_t generation;
    struct ground *ground;                      // what keeps all of it; NULL: it stays anyway
    struct script_set *set;                     // carried for script calls
    struct data_set *data;                      // the tables of `lookup`, carried likewise
    struct rates *rates;                        // the table of `fx`, likewise; NULL: none
    const struct rule_set *rules;               // NULL: none
    const struct catalogue_supplier *suppliers; // sorted by name
    size_t supplier_count;
    size_t login_count; // accounts that log in
    const struct text *products;
    const struct text *product_scripts; // beside them, "flights@3f9a"; NULL: not told
    size_t product_count;
    uint64_t deadline_default_us, deadline_min_us, deadline_max_us;
    struct breaker_settings breaker;
    struct admission_settings admission;
    struct patience_settings patience;
    struct extra_settings extra;
    struct last_known_settings last_known;
    uint64_t linger_us; // how long an attempt may go on for nobody, from its begin; 0: none does, nor is there a probe
    uint64_t linger_learn;    // the share of cut attempts that do, so that one learns; millionths
    const struct text *hosts; // names to keep resolved: of the suppliers that are on, without ports, no literals
    size_t host_count;
};

/// Makes the display names differ: of two equal ones the second is "NAME 2". False: no memory.
MUST_CHECK bool catalogue_tell_apart(struct catalogue_supplier *suppliers, size_t count, struct arena *arena);

/// A new call runs on this generation, and holds it until script_call_destroy: a call that was given up comes back when
/// its search is long gone.
void catalogue_carry(const struct catalogue *catalogue, struct script_call *call);

/// Where an account finds what the engine keeps of it beyond its generation, by the names of supplier and account.
/// Filled before the generation is published (app/engine_move.h), and emptied when the last hold on it is gone; between
/// them it is immutable, so a loop finds its entry by two pointers and no lock.
struct account_kept {
    const struct catalogue *catalogue; // of its own generation
    const struct catalogue_supplier *supplier;
    struct permit_entry *permits; // app/permits.h
    struct login_entry *login;    // app/login_book.h; NULL: it does not log in
};

/// How many accounts stand at `supplier->account`.
static inline size_t catalogue_account_count(const struct catalogue_supplier *supplier)
{
    return supplier->account_count == 0 ? 1 : supplier->account_count;
}
