/// Farm child: the farm program beside this process, playing what it is told (examples/farm/prompter.h).
///
/// The farm is no part of the engine, so it is a program of its own: LASTCALL_FARM, or `lastcall-farm` beside this
/// program, or where the build puts it. Both talk in frames over a socket; the end of one is seen by the other.
///
/// Threads: one.
/// Memory:  owns the socket and what was read of it.
#pragma once

#include "base/frame.h"
#include "base/status.h"

#include <sys/types.h>

enum { FARM_ARGUMENTS_MAX = 700 };

struct farm_child {
    pid_t pid;
    int fd;
    struct buffer input;
    size_t taken; // of the input
};

/// `arguments` follow the program's name and end with NULL. A failure says what is missing.
MUST_CHECK enum status farm_child_start(struct farm_child *farm, const char *const *arguments, struct failure *why);

/// Reads what is there, waiting for none if `fd` is not readable. False: the farm is gone.
MUST_CHECK bool farm_child_read(struct farm_child *farm);

/// The next message that is whole; views into the input, valid until the next farm_child_read. False: there is none.
/// A message that is none ends the farm: `*is_broken`.
MUST_CHECK bool farm_child_next(struct farm_child *farm, struct frame *frame, bool *is_broken);

/// False: the farm is gone.
MUST_CHECK bool farm_child_send(struct farm_child *farm, struct text json, struct text bytes);

/// Ends the farm by leaving it, and waits until it is gone; one that stays is killed.
void farm_child_stop(struct farm_child *farm);
