/// Certificate: a test authority of this process and certificates that it signs (OpenSSL).
///
/// Threads: made by one; afterwards read by any.
/// Memory:  the caller destroys it; the file is removed then.
#pragma once

#include <openssl/ssl.h>

struct certificate_authority {
    X509 *certificate;
    EVP_PKEY *key;
    char file[64]; // PEM, for clients that shall trust it
};

/// Aborts the test program when it cannot be made.
struct certificate_authority *certificate_authority_create(void);
void certificate_authority_destroy(struct certificate_authority **authority);

/// A server's context with a fresh certificate; `names`: "DNS:peer.test,IP:127.0.0.1". SSL_CTX_free.
SSL_CTX *certificate_authority_serve(struct certificate_authority *authority, const char *names);

/// A client's certificate for `name` and its key, as PEM files that the caller removes. `days`: until it expires,
/// negative when it has. The paths are written over their XXXXXX.
void certificate_authority_issue(struct certificate_authority *authority, const char *name, int days,
                                 char *certificate_file, char *key_file);

/// From now on the server takes clients with a certificate of this authority only.
void certificate_authority_demand(const struct certificate_authority *authority, SSL_CTX *server);
