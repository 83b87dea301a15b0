/// Switch file: the switches of operators on the disk, so that they outlive a restart.
///
/// One small file of JSON, `switches.json` in `state_dir`, written whole each time. What has an end is kept by how much
/// of it was left when the file was written: read again, it ends that long after, by the time of day, and never later
/// than that from the start on, should the clock have been put back.
///
/// Threads: one; it waits for the disk, so never a loop's.
/// Memory:  a plain value.
#pragma once

#include "app/switches.h"

enum { SWITCH_FILE_PATH_SIZE = 1024, SWITCH_FILE_CAP = 1 << 20 };

struct switch_file {
    char path[SWITCH_FILE_PATH_SIZE]; // empty: there is none
    bool is_in_the_way;               // what stands there was not understood, and could not be put aside yet
};

/// `directory` absent: no file. STATUS_INVALID: its name is too long, `why` says so.
MUST_CHECK enum status switch_file_init(struct switch_file *file, struct text directory, struct failure *why);

/// Makes the directory if it is missing, and reads the file; `items` has room for SWITCHES_MAX. STATUS_NOT_FOUND: there
/// is none yet. Otherwise than with these and STATUS_OK nothing was read: what stands there was put aside, or is in the
/// way; `why` says what is wrong, where, and where it is now.
MUST_CHECK enum status switch_file_open(struct switch_file *file, uint64_t now_us, uint64_t wall_us,
                                        struct switch_item *items, size_t *count, struct failure *why);

/// True: it is on the disk, for good. What could not be put aside before is tried again first, and never written over.
MUST_CHECK bool switch_file_write(struct switch_file *file, const struct switch_item *items, size_t count,
                                  uint64_t now_us, uint64_t wall_us, struct failure *why);

/// What the document says. STATUS_INVALID: something of it is wrong, and `why` says what, with line and column.
MUST_CHECK enum status switch_file_read(struct text document, uint64_t now_us, uint64_t wall_us,
                                        struct switch_item *items, size_t *count, struct failure *why);
