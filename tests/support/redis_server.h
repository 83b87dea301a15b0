/// Redis server: a real one of the machine's, for one test, with a directory of its own and nothing kept.
///
/// Threads: the test's.
/// Memory:  redis_server_stop frees it, ends the process and removes its directory.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct redis_server {
    char directory[64];
    char path[96]; // of its Unix socket
    uint16_t port; // on 127.0.0.1
    pid_t process;
};

bool redis_server_is_installed(void);
uint16_t redis_server_free_port(void); // on 127.0.0.1, free now
/// `options` are further arguments up to NULL, or NULL. Returns once it answers; aborts the test when it never does.
void redis_server_start(struct redis_server *server, const char *const *options);
void redis_server_stop(struct redis_server *server);
void redis_server_kill(struct redis_server *server);                              // kill -9; the rest stays
void redis_server_again(struct redis_server *server, const char *const *options); // after that, with the same addresses

/// Sends a command of words without blanks, and gives what came of its reply within a moment, terminated.
const char *redis_server_say(const struct redis_server *server, const char *line, char *reply, size_t size);
