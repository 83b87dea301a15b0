/// File watch: tells that files the engine was made of may be others now.
///
/// It looks at what files hold (base/file_digest.h), never at their times: when the kernel tells of an event, and each
/// `scan_us` anyway, for file systems that tell nothing. A change is told once, when everything has been the same for
/// `settle_us` and nobody who wrote to a file still has it open; so a file that grows is not told, several files that
/// are copied together are told together, and what was changed and changed back is not told at all. A file that never
/// rests holds the others up for two scans at most, also those of its own folder.
///
/// Its user polls the descriptor, and calls file_watch_step when it is readable or file_watch_next_us has come.
///
/// Threads: one, but for file_watch_stop. It reads disks: not on a loop.
/// Memory:  owns copies of all it is given.
/// Time:    never reads the clock, every call takes `now_us`.
#pragma once

#include "app/file_walk.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct file_watch;

struct file_watch_options {
    uint64_t settle_us;
    uint64_t scan_us;
    bool ignores_events; // looks each `scan_us` only
    size_t most_folders; // to be watched through events; 0: as many as the system lets
};

struct file_watch_path {
    const char *path; // need not be there
    enum file_walk_kind kind;
};

enum file_watch_news { FILE_WATCH_NOTHING, FILE_WATCH_CHANGED };

/// Without the kernel's events (no descriptors, no room for watches) it looks each `scan_us`, with one warning.
MUST_CHECK enum status file_watch_create(const struct file_watch_options *options, struct file_watch **watch);
void file_watch_destroy(struct file_watch **watch);
/// From any thread: a look that goes on ends with the file it is at, and nothing is told any more. NULL: nothing.
void file_watch_stop(struct file_watch *watch);

/// From now on these. Of a path that was watched before changes are still told from where they were; a new one is
/// taken as it is now: call this before the files are read, and nothing is missed. On STATUS_NO_MEMORY all is as it
/// was.
MUST_CHECK enum status file_watch_set(struct file_watch *watch, const struct file_watch_path *paths, size_t count,
                                      uint64_t now_us);

int file_watch_fd(const struct file_watch *watch);              // to be polled for reading; -1: none
uint64_t file_watch_next_us(const struct file_watch *watch);    // UINT64_MAX: never
bool file_watch_has_events(const struct file_watch *watch);     // false: some or all is looked at each scan only
struct text file_watch_changed(const struct file_watch *watch); // the first path of the last FILE_WATCH_CHANGED

enum file_watch_news file_watch_step(struct file_watch *watch, uint64_t now_us);
