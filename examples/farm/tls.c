#include "farm/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 86400, AUTHORITY_DAYS = 3650, CERTIFICATE_DAYS = 365, PATH_MAX_BYTES = 1024 };

struct tls {
    SSL_CTX *contexts[TLS_CERTIFICATES];
};

struct tls_session {
    SSL *ssl;
};

static bool add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool is_added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return is_added;
}

/// An unsigned certificate for `key` with the things that both kinds share.
static X509 *draft(EVP_PKEY *key, const char *common_name, long until_s, X509 *issuer)
{
    uint64_t serial;
    X509 *certificate = X509_new();

    if (certificate == NULL || getentropy(&serial, sizeof(serial)) != 0) {
        X509_free(certificate);
        return NULL;
    }
    X509_NAME *subject = X509_get_subject_name(certificate);
    bool is_made =
        X509_set_version(certificate, 2) == 1 &&
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(certificate), -(long)DAY_S) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(certificate), until_s) != NULL &&
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)common_name, -1, -1, 0) == 1 &&
        X509_set_issuer_name(certificate, issuer != NULL ? X509_get_subject_name(issuer) : subject) == 1 &&
        X509_set_pubkey(certificate, key) == 1;
    if (!is_made) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

static X509 *make_authority(EVP_PKEY *key, const char *common_name)
{
    X509 *authority = draft(key, common_name, (long)AUTHORITY_DAYS * DAY_S, NULL);

    if (authority != NULL && add_extension(authority, authority, NID_basic_constraints, "critical,CA:TRUE") &&
        add_extension(authority, authority, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(authority, authority, NID_subject_key_identifier, "hash") &&
        X509_sign(authority, key, EVP_sha256()) > 0) {
        return authority;
    }
    X509_free(authority);
    return NULL;
}

static X509 *make_certificate(EVP_PKEY *key, const char *names, long until_s, X509 *authority, EVP_PKEY *authority_key)
{
    X509 *certificate = draft(key, "farm.test", until_s, authority);

    if (certificate != NULL && add_extension(certificate, authority, NID_subject_alt_name, names) &&
        add_extension(certificate, authority, NID_ext_key_usage, "serverAuth") &&
        X509_sign(certificate, authority_key, EVP_sha256()) > 0) {
        return certificate;
    }
    X509_free(certificate);
    return NULL;
}

/// Writes beside the file and renames, so that a reader sees all of it or the old one.
static bool save(const char *path, mode_t mode, X509 *certificate, EVP_PKEY *key)
{
    char beside[PATH_MAX_BYTES + 8];

    snprintf(beside, sizeof(beside), "%s.new", path);
    mode_t before = umask(077);
    FILE *file = fopen(beside, "w");
    umask(before);
    if (file == NULL) {
        return false;
    }
    bool is_written = certificate != NULL ? PEM_write_X509(file, certificate) == 1
                                          : PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1;
    is_written = fclose(file) == 0 && is_written;
    return is_written && chmod(beside, mode) == 0 && rename(beside, path) == 0;
}

static bool load(const char *certificate_path, const char *key_path, X509 **certificate, EVP_PKEY **key)
{
    FILE *file = fopen(certificate_path, "r");

    if (file != NULL) {
        *certificate = PEM_read_X509(file, NULL, NULL, NULL);
        fclose(file);
    }
    file = fopen(key_path, "r");
    if (file != NULL) {
        *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
        fclose(file);
    }
    if (*certificate != NULL && *key != NULL && X509_check_private_key(*certificate, *key) == 1 &&
        X509_cmp_current_time(X509_get0_notAfter(*certificate)) > 0) {
        return true;
    }
    X509_free(*certificate);
    EVP_PKEY_free(*key);
    *certificate = NULL;
    *key = NULL;
    ERR_clear_error();
    return false;
}

static enum status take_authority(const char *directory, X509 **authority, EVP_PKEY **key, struct failure *why)
{
    char certificate_path[PATH_MAX_BYTES], key_path[PATH_MAX_BYTES];

    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        failure_set(why, "%s: %s", directory, strerror(errno));
        failure_help(why, "its parent must exist and be writable");
        return STATUS_IO;
    }
    snprintf(certificate_path, sizeof(certificate_path), "%s/ca.pem", directory);
    snprintf(key_path, sizeof(key_path), "%s/ca-key.pem", directory);
    if (load(certificate_path, key_path, authority, key)) {
        return STATUS_OK;
    }
    *key = EVP_EC_gen("P-256");
    *authority = *key != NULL ? make_authority(*key, "Farm test authority") : NULL;
    if (*authority == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!save(key_path, 0600, NULL, *key) || !save(certificate_path, 0644, *authority, NULL)) {
        failure_set(why, "%s: the test authority could not be written: %s", directory, strerror(errno));
        return STATUS_IO;
    }
    return STATUS_OK;
}

static SSL_CTX *make_context(X509 *certificate, EVP_PKEY *key)
{
    static const unsigned char identity[] = "farm";
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (context == NULL || SSL_CTX_use_certificate(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey(context, key) != 1 ||
        SSL_CTX_set_session_id_context(context, identity, sizeof(identity) - 1) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    return context;
}

/// The context that shows `kind`; NULL: it could not be made.
static SSL_CTX *make_kind(enum tls_certificate kind, const char *names, X509 *authority, EVP_PKEY *authority_key)
{
    const long until_s = kind == TLS_EXPIRED ? -3600 : (long)CERTIFICATE_DAYS * DAY_S;
    EVP_PKEY *key = EVP_EC_gen("P-256"), *stranger_key = NULL;
    X509 *certificate = NULL, *stranger = NULL;
    SSL_CTX *context = NULL;

    if (kind == TLS_UNKNOWN_AUTHORITY) {
        stranger_key = EVP_EC_gen("P-256");
        stranger = stranger_key != NULL ? make_authority(stranger_key, "Somebody else's authority") : NULL;
        authority = stranger;
        authority_key = stranger_key;
    }
    if (key != NULL && authority != NULL) {
        certificate = make_certificate(key, kind == TLS_OTHER_NAME ? "DNS:elsewhere.farm.test" : names, until_s,
                                       authority, authority_key);
    }
    if (certificate != NULL) {
        context = make_context(certificate, key);
    }
    X509_free(certificate);
    X509_free(stranger);
    EVP_PKEY_free(stranger_key);
    EVP_PKEY_free(key);
    return context;
}

enum status tls_create(const char *directory, const char *names, struct tls **tls, struct failure *why)
{
    X509 *authority = NULL;
    EVP_PKEY *authority_key = NULL;
    enum status status = take_authority(directory, &authority, &authority_key, why);

    *tls = NULL;
    if (status == STATUS_OK && (*tls = calloc(1, sizeof(**tls))) == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (int kind = 0; status == STATUS_OK && kind < TLS_CERTIFICATES; kind++) {
        (*tls)->contexts[kind] = make_kind((enum tls_certificate)kind, names, authority, authority_key);
        if ((*tls)->contexts[kind] == NULL) {
            failure_set(why, "the test certificate could not be made: %s",
                        ERR_reason_error_string(ERR_peek_last_error()));
            status = STATUS_NO_MEMORY;
        }
    }
    if (status != STATUS_OK) {
        tls_destroy(tls);
    }
    X509_free(authority);
    EVP_PKEY_free(authority_key);
    return status;
}

void tls_destroy(struct tls **tls)
{
    if (*tls != NULL) {
        for (int kind = 0; kind < TLS_CERTIFICATES; kind++) {
            SSL_CTX_free((*tls)->contexts[kind]);
        }
        free(*tls);
        *tls = NULL;
    }
}

struct tls_session *tls_session_create(struct tls *tls, enum tls_certificate certificate, int fd, bool has_tickets)
{
    struct tls_session *session = calloc(1, sizeof(*session));

    if (session == NULL) {
        return NULL;
    }
    session->ssl = SSL_new(tls->contexts[certificate]);
    if (session->ssl == NULL || SSL_set_fd(session->ssl, fd) != 1) {
        SSL_free(session->ssl);
        free(session);
        return NULL;
    }
    if (!has_tickets) {
        SSL_set_options(session->ssl, SSL_OP_NO_TICKET);
        SSL_set_num_tickets(session->ssl, 0);
    }
    SSL_set_accept_state(session->ssl);
    return session;
}

void tls_session_destroy(struct tls_session **session)
{
    if (*session == NULL) {
        return;
    }
    ERR_clear_error();
    if (SSL_is_init_finished((*session)->ssl)) {
        SSL_shutdown((*session)->ssl);
    }
    SSL_free((*session)->ssl);
    free(*session);
    *session = NULL;
    ERR_clear_error();
}

static int verdict(struct tls_session *session, int result)
{
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return TLS_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return TLS_FAILED;
    }
}

int tls_handshake(struct tls_session *session)
{
    ERR_clear_error();
    int result = SSL_do_handshake(session->ssl);
    if (result == 1) {
        return 1;
    }
    int why = verdict(session, result);
    return why == TLS_AGAIN ? TLS_AGAIN : TLS_FAILED;
}

ssize_t tls_read(struct tls_session *session, void *bytes, size_t length)
{
    size_t got = 0;

    ERR_clear_error();
    int result = SSL_read_ex(session->ssl, bytes, length, &got);
    return result == 1 ? (ssize_t)got : verdict(session, result);
}

ssize_t tls_write(struct tls_session *session, const void *bytes, size_t length)
{
    size_t sent = 0;

    ERR_clear_error();
    int result = SSL_write_ex(session->ssl, bytes, length, &sent);
    return result == 1 ? (ssize_t)sent : verdict(session, result);
}

bool tls_digest(unsigned bits, struct text bytes, char out[TLS_DIGEST_HEX_MAX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    if (EVP_Digest(bytes.data, bytes.length, digest, &length, bits == 512 ? EVP_sha512() : EVP_sha256(), NULL) != 1) {
        return false;
    }
    for (unsigned i = 0; i < length; i++) {
        snprintf(out + (size_t)2 * i, 3, "%02x", digest[i]);
    }
    return true;
}
