/// Farm process: the real farm, started on 127.0.46.0/24 for one test program, and the words to talk to it.
///
/// LASTCALL_BUILD names the build folder (default .build/release).
///
/// Threads: one.
/// Memory:  one farm at a time; its files are in farm_folder, which is removed at the end.
#pragma once

#include <stdbool.h>

extern char farm_folder[];

const char *farm_path(void);

/// Starts it with a population given as text; 0 when it accepts connections.
int farm_start(const char *population);
int farm_stop(void); // hard; removes the folder
bool farm_is_running(void);

/// SIGTERM; returns its exit code, or -1 when a signal ended it.
int farm_terminate(void);

/// One request on a connection of its own; returns the status of the answer.
int exchange(int host, int port, const char *method, const char *path, const char *request, const char **body);

/// GET of the admin endpoint, or POST when there is a change.
int admin(const char *path, const char *change, const char **body);
