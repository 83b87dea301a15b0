/// Script set: the checked, immutable Lua sources of one generation, and what their tables declare.
///
/// Loading reads every file of the scripts and suppliers directories once, runs it as text in a throw-away sandbox
/// without network or clock, within a limit of CPU time, checks the contract (contract.md section 4) and keeps source,
/// bytecode-free, for the workers, which build their own states from it. All findings are reported, not the first.
///
/// Threads: loaded by one, read by all.
/// Memory:  counted; the last release frees it.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "model/request_limits.h"
#include "model/script_limit.h"

struct script_set;

/// A supplier to be: its name and the file that plays it.
struct script_source {
    struct text name; // "acme"
    struct text file; // path to the Lua file, as shown in errors
};

/// What a supplier's table declares; texts live as long as the set.
struct script_supplier {
    struct text name;
    struct text display_name;
    struct text file;
    struct text label; // "acme@3f9a": name and the head of the source's SHA-256
    struct text product;
    struct text *hosts;
    size_t host_count;
    struct text *secrets; // names
    size_t secret_count;
    struct text *wants; // extras of the search that it may see: "client"
    size_t want_count;
    struct request_limits limits;
    bool signs;               // it has `sign`
    bool logs_in;             // it has `login`
    struct text options;      // JSON object of defaults
    struct sells_term *sells; // what it sells (script/sells.h); none: everything
    size_t sells_count;
    uint64_t body_cap; // limits.body, or the default
};

/// A look-up in a script that names its table.
struct script_look_up {
    struct text table;
    struct text file;
    uint32_t line;
    ptrdiff_t supplier; // index; -1: in a product or module
};

/// A fact of a product's searches that rules may ask for.
enum script_segment_kind { SEGMENT_TEXT, SEGMENT_INTEGER, SEGMENT_COUNTRY, SEGMENT_FLAG, SEGMENT_CHOICE };
struct script_segment {
    struct text product;
    struct text name;
    enum script_segment_kind kind;
    struct text *values; // of SEGMENT_CHOICE
    size_t value_count;
};

/// One finding of a load; file, line and remedy in `failure`.
typedef void (*script_finding)(void *context, const struct failure *failure);

/// Loads `scripts_dir` (products/*.lua and helpers) and the sources. On any finding the result is STATUS_INVALID,
/// STATUS_TIMEOUT when one is that a file took too long to load; every finding was reported and `*set` is NULL.
MUST_CHECK enum status script_set_load(const char *scripts_dir, const struct script_source *sources, size_t count,
                                       script_finding report, void *context, struct script_set **set);
/// The airports and their zones, from `data/airports.txt` of the scripts; NULL: there is no such file.
struct places;
const struct places *script_set_places(const struct script_set *set);
/// What has stopped appearing in the answers of a supplier.
struct drift;
struct drift *script_set_drift(const struct script_set *set, size_t supplier);

struct script_set *script_set_acquire(struct script_set *set);
void script_set_release(struct script_set **set);

size_t script_set_supplier_count(const struct script_set *set);
/// Index = position in `sources`.
const struct script_supplier *script_set_supplier(const struct script_set *set, size_t index);
size_t script_set_product_count(const struct script_set *set);
struct text script_set_product(const struct script_set *set, size_t index);
const struct script_look_up *script_set_look_ups(const struct script_set *set, size_t *count);
/// Of all products, one product after the other.
const struct script_segment *script_set_segments(const struct script_set *set, size_t *count);

// ---- for the workers

/// One Lua file as it was read.
struct script_file {
    struct text name; // of the supplier, product or module
    struct text path; // as shown in errors
    struct text source;
};

const struct script_file *script_set_supplier_file(const struct script_set *set, size_t index);
const struct script_file *script_set_product_file(const struct script_set *set, size_t index);
/// A helper module, or NULL.
const struct script_file *script_set_module_file(const struct script_set *set, struct text name);
/// The index of a product, or -1.
ptrdiff_t script_set_find_product(const struct script_set *set, struct text name);

/// A hold keeps the memory of a set without keeping the set in use: states of workers hold theirs until they see that
/// it is retired (its last owner released it), lost threads until they come back.
struct script_set *script_set_hold(struct script_set *set);
void script_set_drop(struct script_set **set);
bool script_set_is_retired(const struct script_set *set);

/// One script of the set: a product's or a supplier's.
struct script_id {
    bool is_product;
    size_t index;
};

enum {
    SCRIPT_TIMEOUTS_MAX = 3,
    SCRIPT_TIMEOUTS_WITHIN_US = 60 * 1000 * 1000,
    SCRIPT_LOG_LINES_MAX = 50, // of one script within a second
};

/// Counts a time-out at `place` ("acme.lua:12"). True: it is the third within 60 s, and the supplier's script was taken
/// out of service. A product's never is: its queries come from callers, who could switch it off for everybody.
bool script_set_note_timeout(struct script_set *set, struct script_id script, const char *place, uint64_t now_us);
/// Takes a script that is stuck out of service for good (as long as this set lives). True: it was in service before.
bool script_set_quarantine(struct script_set *set, struct script_id script);
bool script_set_is_quarantined(const struct script_set *set, struct script_id script);
/// The same, with a sentence of why: "quarantined: …".
bool script_set_tell_quarantine(const struct script_set *set, struct script_id script, char *sentence, size_t size);

/// How often a script met one of its limits.
void script_set_note_limit(struct script_set *set, struct script_id script, enum script_limit limit, uint64_t times);
uint64_t script_set_limit_count(const struct script_set *set, struct script_id script, enum script_limit limit);
/// How many lines a script may still log within the second of `now_us`, and how many it did.
uint32_t script_set_log_lines_left(const struct script_set *set, struct script_id script, uint64_t now_us);
void script_set_note_log_lines(struct script_set *set, struct script_id script, uint64_t now_us, uint32_t lines);
