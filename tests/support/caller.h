/// Caller: a raw HTTP client for tests, byte by byte. What goes wrong fails the running cmocka test.
///
/// Threads: the test's.
/// Memory:  descriptors are closed by the test.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CALLER_PATIENCE_MS = 20000 };

#define GET(path) "GET " path " HTTP/1.1\r\nHost: test\r\n\r\n"

int caller_connect(uint16_t port);

/// -1 when refused. `receive_buffer` above 0 makes a reader that can take only little at a time.
int caller_connect_with(uint16_t port, int receive_buffer);
void caller_send(int fd, const char *text);
void caller_reset(int fd); // closes with RST

/// One reply: the head, then as many bytes as it announces. The status, or 0 when the connection ended.
int caller_read(int fd, char *body, size_t body_room, size_t *body_length);
void caller_expect(int fd, int status, const char *body); // NULL: any body
void caller_expect_end(int fd);
