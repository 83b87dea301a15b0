/// LMDB writer: the thread that changes the tables.
///
/// It gathers what is to be kept into one turn each 50 ms, sooner where somebody waits; sweeps when it has nothing else
/// to do; and copes with a disk that is full, a file that has no room, and one that turns out to be damaged.
///
/// Threads: its own; any may submit, and ask for a report.
/// Memory:  embedded.
#pragma once

#include "store/lmdb_keeper.h"
#include "store/store_queue.h"

#include <pthread.h>

enum { LMDB_DOOMED_MAX = 64 };

struct lmdb_writer {
    struct store *store;
    struct lmdb_file *file;
    uint64_t max_bytes;
    struct store_queue queue;
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopping;
    atomic_uint_fast64_t close_by_us;
    atomic_uint_fast64_t kept, dropped, faults;

    pthread_mutex_t lock; // of what follows; no loop takes it
    struct lmdb_name doomed[LMDB_DOOMED_MAX];
    size_t doomed_count;
    char trouble[160]; // "": none

    struct lmdb_keeper keeper; // from here on the thread's
    uint64_t retry_us;         // nothing is tried before; 0: there is no trouble
    uint64_t commit_us;        // of the last turn that is not on the disk yet; 0: all is
    uint64_t sweep_us;         // when to go on with it
};

/// On any other status than OK it has to be ended by lmdb_writer_fini all the same.
MUST_CHECK enum status lmdb_writer_start(struct lmdb_writer *writer, struct store *store, struct lmdb_file *file,
                                         uint64_t max_bytes);
/// What is queued is done, if that goes within `grace_us`; all calls come home.
void lmdb_writer_stop(struct lmdb_writer *writer, uint64_t grace_us);
void lmdb_writer_fini(struct lmdb_writer *writer);

void lmdb_writer_submit(struct lmdb_writer *writer, struct store_call *call);
/// An answer that cannot be read goes, in its own time.
void lmdb_writer_forget(struct lmdb_writer *writer, const struct lmdb_name *name);
/// Fills in all that it knows; faults are added.
void lmdb_writer_report(struct lmdb_writer *writer, struct store_report *report);
