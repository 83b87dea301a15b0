/// TLS: a test authority of the farm's own, and the server side of connections that it vouches for.
///
/// `tls_create` makes the authority (or takes the one that it left in the directory before) and a fresh certificate for
/// all names and addresses. The directory then holds ca.pem, which clients trust, and ca-key.pem.
///
/// Threads: one.
/// Memory:  a session belongs to its connection.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <sys/types.h>

struct tls;
struct tls_session;

enum { TLS_AGAIN = -1, TLS_FAILED = -2 };

/// `names` is a list for the certificate, "DNS:a.test,IP:127.0.0.1".
MUST_CHECK enum status tls_create(const char *directory, const char *names, struct tls **tls, struct failure *why);
void tls_destroy(struct tls **tls);

/// What a session shows: the certificate that is right, or one that nobody should trust.
enum tls_certificate { TLS_RIGHT, TLS_UNKNOWN_AUTHORITY, TLS_OTHER_NAME, TLS_EXPIRED, TLS_CERTIFICATES };

/// Writes the hex of a SHA-2 digest of 256 or 512 bits, terminated. False: it could not be made.
enum { TLS_DIGEST_HEX_MAX = 129 };
MUST_CHECK bool tls_digest(unsigned bits, struct text bytes, char out[TLS_DIGEST_HEX_MAX]);

/// NULL without memory. The descriptor stays the caller's.
MUST_CHECK struct tls_session *tls_session_create(struct tls *tls, enum tls_certificate certificate, int fd,
                                                  bool has_tickets);

/// Ends politely when the handshake was complete.
void tls_session_destroy(struct tls_session **session);

/// 1 when done, TLS_AGAIN, or TLS_FAILED.
int tls_handshake(struct tls_session *session);

/// Bytes moved, 0 at the peer's end, TLS_AGAIN, or TLS_FAILED.
ssize_t tls_read(struct tls_session *session, void *bytes, size_t length);
ssize_t tls_write(struct tls_session *session, const void *bytes, size_t length);
