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
