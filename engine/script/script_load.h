/// Script load: a load of a set in progress, for the files that do it.
///
/// Each file, on disk or running, has a seat. Files are read and matched with versions that are known; then a version
/// is chosen for each seat, products first, in rounds: a round ends early when a product (or the airports) turns out to
/// break a version that runs, and the next one does without. Each such product is given up for good, so rounds end.
///
/// Threads: one.
/// Memory:  what is read lives in the load's arena, versions are held.
#pragma once

#include "script/script_set_parts.h"

enum {
    LOAD_OVERDUE_PATIENCE = 2, // so many files may hang before the others get less time
    LOAD_OVERDUE_MAX = 10,     // and so many before those that changed are not tried any more
    LOAD_HURRIED_US = 250000,  // of CPU time, for running a file then
};

/// Findings, the first one first; in the load's arena.
struct load_notes {
    struct load_note {
        struct load_note *next;
        struct failure failure;
    } * first, *last;
};

struct load_seat {
    enum script_kind kind;
    struct text name, path;
    bool is_wanted;                  // it is on disk, or must stay though it is not
    bool is_held_back;               // what is on disk must not run, for what the notes say
    bool is_fallback;                // something else than what is on disk was chosen, or nothing
    bool is_shadowed;                // what is on disk may only be a shadow
    struct script_version *disk;     // held; NULL: nothing could be read
    struct script_set *from;         // where that was found, checked already; NULL: nowhere
    struct script_version *previous; // that runs; borrowed; NULL: none
    struct script_version *chosen;   // held; NULL: none
    struct script_version *shadow;   // held; what is on disk, where that is a shadow; NULL: none
    struct load_notes notes;
};

struct load_seats {
    struct load_seat *items;
    size_t count;
};

/// What is no script: the folders and the airports. Kept back when it has notes.
struct load_thing {
    const char *name;
    char path[1024];
    struct load_notes notes;
};

struct load {
    const struct script_order *order;
    struct arena arena;
    struct script_shelf *shelf;
    struct script_places *places;
    struct load_seats products, suppliers;
    struct load_thing scripts_folder, products_folder, airports;
    struct load_notes modules;
    struct load_notes *notes;                     // where findings go now
    unsigned char airports_digest[SCRIPT_DIGEST]; // of their file; zeros: none could be read
    bool knows_products;                          // their folder could be read
    bool is_overdue;                              // a file ran for too long
    size_t overdue_count;                         // how many did
    bool is_out_of_memory;
    struct script_set *set; // of this round
};

/// A script_finding and places_finding, whose context is the load.
void load_note(void *context, const struct failure *failure);

/// The CPU time for running a file: less when others hung, for somebody waits.
uint64_t load_run_us(const struct load *load);
/// Notes how a check ended.
void load_end_check(struct load *load, enum status status);

/// Reads everything.
void load_read(struct load *load);
/// Makes `set`; it may come to nothing for want of memory.
void load_choose(struct load *load);
/// Must this version not run? Then that is noted.
bool load_refuses(struct load *load, enum script_kind kind, struct text name, const unsigned char *digest);
/// The seat of that name; NULL: none.
struct load_seat *load_find(const struct load_seats *seats, struct text name);
/// May what is wrong with it stop somebody who is needed? Of a module, by its path; true where nothing else is known.
bool load_needs(const struct load *load, const struct load_seat *seat);
bool load_needs_module(const struct load *load, struct text path);
/// Adds what is kept and left out. False: no memory.
MUST_CHECK bool load_tell(const struct load *load, struct script_changes *changes);
