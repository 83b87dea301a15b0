/// Script set: the checked, immutable Lua sources of one generation, and what their tables declare.
///
/// Loading reads every file of the scripts and suppliers directories once, runs it as text in a throw-away sandbox
/// without network or clock, within a limit of CPU time, checks the contract (contract.md section 4) and keeps source,
/// bytecode-free, for the workers, which build their own states from it. All findings are reported, not the first.
///
/// A set is an array of versions (script/script_version.h), which it shares with the sets before and after it.
///
/// Threads: loaded by one, read by all.
/// Memory:  counted; the last release frees it.
#pragma once

#include "script/script_changes.h"
#include "script/script_version.h"

struct script_set;

/// A supplier to be: its name and the file that plays it.
struct script_source {
    struct text name; // "acme"
    struct text file; // path to the Lua file, as shown in errors
};

/// One finding of a load; file, line and remedy in `failure`.
typedef void (*script_finding)(void *context, const struct failure *failure);

/// Loads `scripts_dir` (products/*.lua and helpers) and the sources. On any finding the result is STATUS_INVALID,
/// STATUS_TIMEOUT when one is that a file took too long to load; every finding was reported and `*set` is NULL.
MUST_CHECK enum status script_set_load(const char *scripts_dir, const struct script_source *sources, size_t count,
                                       script_finding report, void *context, struct script_set **set);

/// Must this version not run? `digest` NULL: the file has vanished; true keeps what ran. `because` says why not.
typedef bool (*script_refuses)(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                               struct failure *because);

struct script_order {
    const char *scripts_dir;
    const struct script_source *sources;
    size_t count;
    struct script_set *previous;  // what runs; NULL: nothing does, and any finding refuses the whole
    struct script_set *candidate; // where versions that are checked already are looked for as well; NULL
    script_refuses refuses;       // NULL: none is refused
    void *refuses_context;
    const struct text *shadows; // suppliers whose changed file does not run: it is the shadow of the one that does
    size_t shadow_count;
    const struct text *needed; // without `previous`: whom alone a finding may stop; NULL: any finding refuses the whole
    size_t needed_count;
    script_finding aside; // then what stops none of them is told here, and is left out of the set
};

/// Loads a set over the one that runs. A version that is the same, or one of `candidate`'s, is not checked again. A
/// changed file with a finding keeps its previous version, with its old modules; a new one with a finding is left out;
/// one that vanished is removed. Where the previous version is refused too, one of `candidate` that is not takes its
/// place. A changed product, or airports.txt, that would break a supplier that is kept is kept itself. Nothing differs:
/// `*set` is `previous`, acquired. The suppliers made are looked up by name: `sources` may have more, or fewer.
///
/// Every finding is reported, also those that only keep a file back; the status alone says whether there is a set.
/// `changes` is initialised, and may be NULL; without `previous` it stays empty. As script_set_load without `previous`;
/// over one, STATUS_NO_MEMORY at worst.
MUST_CHECK enum status script_set_load_over(const struct script_order *order, script_finding report, void *context,
                                            struct script_set **set, struct script_changes *changes);

/// A new set of the same versions, without shadows; `set` may be one that is only held. NULL without memory.
MUST_CHECK struct script_set *script_set_again(struct script_set *set);

/// The same scripts with what they declare, each with a life of its own: what is counted there is counted nowhere else.
/// Without shadows. NULL without memory.
MUST_CHECK struct script_set *script_set_apart(struct script_set *set);

/// The versions of `running`, its shadows, too, but this supplier's from `older`, which may be only held.
/// STATUS_NOT_FOUND: it has none; STATUS_INVALID: it does not go with what runs now, which is reported.
MUST_CHECK enum status script_set_with(struct script_set *running, struct script_set *older, struct text supplier,
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
/// Index = position in the `sources` of script_set_load.
const struct script_supplier *script_set_supplier(const struct script_set *set, size_t index);
/// The index of a supplier, or -1.
ptrdiff_t script_set_find_supplier(const struct script_set *set, struct text name);
/// A shadow is one more version of a supplier that the set has. Nobody asks it; its index is one behind those of the
/// suppliers, and goes wherever a supplier's does.
size_t script_set_shadow_count(const struct script_set *set);
/// The index of a supplier's shadow, or -1.
ptrdiff_t script_set_find_shadow(const struct script_set *set, struct text name);
/// Whom the processor's time is charged to: the supplier, or "NAME (shadow)".
struct text script_set_payer(const struct script_set *set, size_t index);
size_t script_set_product_count(const struct script_set *set);
struct text script_set_product(const struct script_set *set, size_t index);
const struct script_look_up *script_set_look_ups(const struct script_set *set, size_t *count);
/// Of all products, one product after the other.
const struct script_segment *script_set_segments(const struct script_set *set, size_t *count);

// ---- for the workers

/// `trouble_find_source` of a set: files of its suppliers, products and modules.
bool script_set_find_source(void *set, struct text shown, struct text *path, struct text *source);

const struct script_file *script_set_supplier_file(const struct script_set *set, size_t index);
const struct script_file *script_set_product_file(const struct script_set *set, size_t index);
/// The index of a product, or -1.
ptrdiff_t script_set_find_product(const struct script_set *set, struct text name);

/// What tells a version: SCRIPT_DIGEST bytes over its source and the modules that it reaches.
const unsigned char *script_set_supplier_digest(const struct script_set *set, size_t index);
const unsigned char *script_set_product_digest(const struct script_set *set, size_t index);
const struct script_version *script_set_supplier_version(const struct script_set *set, size_t index);
const struct script_version *script_set_product_version(const struct script_set *set, size_t index);
/// The modules as they were on disk.
const struct script_shelf *script_set_shelf(const struct script_set *set);

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

/// Counts a time-out at `place` ("acme.lua:12"). True: it is the third within 60 s, and the supplier's script was taken
/// out of service. A product's never is: its queries come from callers, who could switch it off for everybody.
bool script_set_note_timeout(struct script_set *set, struct script_id script, const char *place, uint64_t now_us);
/// Takes a script that is stuck out of service for as long as its version runs, in whichever set. True: it was in
/// service before.
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

/// Counts how a call of a script ended; `message` of an error has its place in it, and may be NULL.
void script_set_note_trial(struct script_set *set, struct script_id script, enum script_verdict verdict,
                           const char *message);
void script_set_trial(const struct script_set *set, struct script_id script, struct script_trial *trial);
