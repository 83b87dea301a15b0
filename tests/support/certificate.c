#include "support/certificate.h"

#include "base/check.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void certificate_add(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    require(extension != NULL);
    require(X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static X509 *certificate_make(EVP_PKEY *key, const char *common_name, X509 *issuer, EVP_PKEY *issuer_key,
                              const char *names)
{
    static long serial = 1;
    X509 *certificate = X509_new();

    require(certificate != NULL);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24L * 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)common_name, -1, -1, 0);
    X509_set_issuer_name(certificate, issuer != NULL ? X509_get_subject_name(issuer) : subject);
    if (names != NULL) {
        certificate_add(certificate, NID_subject_alt_name, names);
    } else {
        certificate_add(certificate, NID_basic_constraints, "critical,CA:TRUE");
        certificate_add(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    }
    require(X509_sign(certificate, issuer_key, EVP_sha256()) != 0);
    return certificate;
}

struct certificate_authority *certificate_authority_create(void)
{
    struct certificate_authority *authority = calloc(1, sizeof(*authority));

    require(authority != NULL);
    authority->key = EVP_EC_gen("P-256");
    require(authority->key != NULL);
    authority->certificate = certificate_make(authority->key, "test authority", NULL, authority->key, NULL);
    snprintf(authority->file, sizeof(authority->file), "/tmp/lastcall_test_authority_XXXXXX");
    int fd = mkstemp(authority->file);
    require(fd >= 0);
    FILE *file = fdopen(fd, "w");
    require(file != NULL && PEM_write_X509(file, authority->certificate) == 1);
    fclose(file);
    return authority;
}

void certificate_authority_destroy(struct certificate_authority **authority)
{
    struct certificate_authority *gone = *authority;

    *authority = NULL;
    unlink(gone->file);
    X509_free(gone->certificate);
    EVP_PKEY_free(gone->key);
    free(gone);
}

SSL_CTX *certificate_authority_serve(struct certificate_authority *authority, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    require(key != NULL && context != NULL);
    X509 *certificate = certificate_make(key, "test peer", authority->certificate, authority->key, names);
    require(SSL_CTX_use_certificate(context, certificate) == 1);
    require(SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

static FILE *temporary_file(char *path)
{
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    require(file != NULL);
    return file;
}

void certificate_authority_issue(struct certificate_authority *authority, const char *name, int days,
                                 char *certificate_file, char *key_file)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");

    require(key != NULL);
    X509 *certificate = certificate_make(key, name, authority->certificate, authority->key, "DNS:client.test");
    X509_gmtime_adj(X509_getm_notBefore(certificate), -100L * 24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * 24L * 3600);
    require(X509_sign(certificate, authority->key, EVP_sha256()) != 0);
    FILE *file = temporary_file(certificate_file);
    require(PEM_write_X509(file, certificate) == 1);
    fclose(file);
    file = temporary_file(key_file);
    require(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

void certificate_authority_demand(const struct certificate_authority *authority, SSL_CTX *server)
{
    require(SSL_CTX_load_verify_locations(server, authority->file, NULL) == 1);
    SSL_CTX_set_verify(server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    require(SSL_CTX_set_session_id_context(server, (const unsigned char *)"demand", 6) == 1);
}
