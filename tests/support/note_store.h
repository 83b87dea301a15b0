/// Note store: notes in memory, for engines or parts of them that share a store within one test.
///
/// A call is done where it is submitted, and comes home at once, through `home` as every store's do.
///
/// Threads: any.
/// Memory:  embedded; note_store_fini drops what is kept.
#pragma once

#include "store/store.h"

#include <pthread.h>

enum { NOTE_STORE_MAX = 32, NOTE_STORE_NAME = 256 };

struct kept_note {
    char name[NOTE_STORE_NAME]; // "": none
    struct block *value;
    uint64_t until_ms; // by the calls' clock
};

struct note_store {
    struct store store; // first
    pthread_mutex_t lock;
    struct kept_note notes[NOTE_STORE_MAX];
    bool is_down;   // every call is a fault
    bool is_silent; // calls that have an owner never come home: they are kept in `held`
    struct list held;
    unsigned gets, puts;
};

void note_store_init(struct note_store *notes);
void note_store_fini(struct note_store *notes);
void note_store_set_down(struct note_store *notes, bool is_down);
/// All that is kept is gone.
void note_store_forget(struct note_store *notes);
/// A hold on the value; NULL: there is none of a name that begins so.
struct block *note_store_find(struct note_store *notes, const char *prefix);
void note_store_put(struct note_store *notes, const char *name, struct text value);
