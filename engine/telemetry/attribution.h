/// Attribution: what became of each search, written down by a thread of its own and kept for a while to be asked for.
///
/// What goes on beside a search has records of its own: lines of their own in the file, with the search's id, and shown
/// with the search while both are kept.
///
/// A record is handed over by pointer; the writer (nice 19) takes the secrets out, appends it to the file as one line
/// of JSON, and keeps the newest ones. Nobody ever waits for it: when it cannot keep up, records are dropped and
/// counted. A disk that fails costs lines, is counted, and is told in the log once a minute.
///
/// Threads: any; search_record_destroy runs on the writer's, or on the caller's when the queue is full.
/// Memory:  owns the records handed over.
#pragma once

#include "base/block.h"
#include "base/json_write.h"
#include "base/status.h"
#include "model/search_record.h"

struct attribution;

struct attribution_options {
    const char *path; // NULL: no file, records are only kept
    size_t queue;     // records that may wait; 0: 1,024
    size_t keep;      // records of searches that are kept, and as many of what went on; 0: 1,024
};

struct attribution_counts {
    uint64_t taken;   // handed over and queued
    uint64_t written; // lines that the disk took whole
    uint64_t dropped; // the queue was full
    uint64_t failed;  // the disk did not take them
    size_t kept;
};

/// STATUS_IO with the reason: a record could not be written to the file (NULL: there is none). Leaves it as it is.
MUST_CHECK enum status attribution_check(const char *path, struct failure *why);

/// STATUS_IO with the reason: the file cannot be opened.
MUST_CHECK enum status attribution_create(const struct attribution_options *options, struct attribution **attribution,
                                          struct failure *why);
/// Writes what is queued, then stops.
void attribution_destroy(struct attribution **attribution);

/// Takes the record.
void attribution_submit(struct attribution *attribution, struct search_record *record);

/// The file was moved away: open its path again before the next line.
void attribution_reopen(struct attribution *attribution);

/// Waits until everything submitted so far is written and kept. For threads that may wait.
void attribution_settle(struct attribution *attribution);

/// A search's record as JSON, or a revalidation's, while it is kept; NULL: not here (any more), or no memory.
MUST_CHECK struct block *attribution_find(struct attribution *attribution, struct text id);

/// An array of the newest `most`, the newest first: who they are and how they ended.
void attribution_write_latest(struct attribution *attribution, size_t most, struct json_writer *json);
void attribution_counts(struct attribution *attribution, struct attribution_counts *counts);
