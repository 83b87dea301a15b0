/// Wire: a client that knows only sockets, to see on the wire what the farm plays.
///
/// Hosts are the last number of an address in 127.0.46.0/24. Whatever a test may not survive fails it at once (cmocka).
///
/// Threads: one.
/// Memory:  `answer` holds what was received last, terminated.
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { WAIT_MS = 20000, ANSWER_MAX = 1 << 20 };

extern char answer[ANSWER_MAX];

struct sockaddr_in address_of(int host, int port);

/// A connection, or -1 when it was refused or hangs.
int connect_to(int host, int port, int limit_ms);
void send_text(int fd, const char *bytes);
void send_request(int fd, const char *method, const char *path, const char *body);

/// One read: bytes, 0 at the end, -1 on a reset, -2 when nothing came for so long.
ssize_t receive(int fd, char *out, size_t size, int limit_ms);

/// Reads until the peer ends, resets, or is silent; returns what receive() said last.
ssize_t drain(int fd, int limit_ms, size_t *length);

/// Reads one whole answer; returns its status (or what receive() said), and its body within `answer`.
int read_answer(int fd, const char **body);

/// Asks the name server; returns the response code, or -1 when it keeps silent. `address` gets the A record, or 0.
int ask_name(const char *name, int limit_ms, uint32_t *address);
