/// HTTP server socket: the listening socket of an address as people write it.
///
/// Threads: any.
/// Memory:  the descriptor is the caller's.
#pragma once

#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/// Binds and listens on "127.0.0.1:8080" or "[::1]:8080"; port 0 picks one. Accepted sockets inherit a send buffer of
/// 1 MiB where the system allows it, so that a usual reply goes out in one write. The remedy stands in `why`.
MUST_CHECK enum status http_server_socket_open(const char *listen_address, bool share_port, int *fd, uint16_t *port,
                                               struct failure *why);

/// What libmicrohttpd has to say, as one line for debugging. The status, when it says that it has answered a request by
/// itself; else 0.
uint16_t http_server_socket_log(const char *format, va_list arguments) PRINTF_LIKE(1, 0);
