/// File events: what the kernel tells (inotify) of the places on which files depend.
///
/// A file depends on more than its own folder: on each symbolic link on the way to it, as in Kubernetes' volumes
/// (`acme.lua -> ..data/acme.lua`, `..data -> ..2030_05_14`), and, while it is missing, on the folder where the way to
/// it ends. All these folders are watched, and only events of names on the way count.
///
/// The places are found anew by begin, follow for each path, end: what is no longer followed is let go.
///
/// Threads: one.
/// Memory:  owns a descriptor and what it remembers of places.
/// Time:    never reads the clock.
#pragma once

#include "app/file_walk.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FILE_EVENTS_WRITERS = 64 };

/// An event of this name in this watched folder is about `owner`.
struct file_event_place {
    int watch;
    uint64_t name;            // its hash; 0: any that counts in a folder of `kind`
    enum file_walk_kind kind; // when any
    size_t owner;
};

/// A file that was written to by somebody who has not closed it since.
struct file_event_writer {
    int watch;
    uint64_t name;
    size_t owner;
    uint64_t last_us; // 0: a free place
};

struct file_events {
    int fd; // -1: the system gives none
    struct file_event_place *places, *found;
    size_t place_count, found_count, found_room;
    size_t most;     // folders that may be watched; 0: as many as the system lets
    bool is_refused; // in this round a folder could not be watched
    bool has_told;
    struct file_event_writer writers[FILE_EVENTS_WRITERS];
};

/// Without descriptors `fd` is -1, and everything else does nothing. `wants_events` false: that is wanted.
void file_events_init(struct file_events *events, bool wants_events, size_t most);
void file_events_fini(struct file_events *events);

void file_events_begin(struct file_events *events);
/// Everything that the path depends on, and when it is a folder of that kind, what counts in it.
void file_events_follow(struct file_events *events, const char *path, enum file_walk_kind kind, size_t owner);
void file_events_end(struct file_events *events);

/// Takes what the kernel has. True: something that counts happened, or may have (its queue ran over).
bool file_events_read(struct file_events *events, uint64_t now_us);

/// Has somebody written to a file of this owner within the last `patience_us` and not closed it?
bool file_events_is_written(const struct file_events *events, size_t owner, uint64_t now_us, uint64_t patience_us);
