#include "io/identity.h"

#include "base/file.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 * 1024, AUTHORITIES_BYTES_MAX = 16 << 20 };

static enum status identity_refuse(struct failure *why, const char *file, const char *sentence, const char *help)
{
    failure_set(why, "%s %s", file, sentence);
    failure_help(why, "%s", help);
    return STATUS_INVALID;
}

static enum status identity_read(const char *path, struct arena *arena, struct text *content, struct failure *why)
{
    struct file_facts facts;
    struct buffer bytes;
    char words[160];

    buffer_init(&bytes, FILE_BYTES_MAX);
    enum status status = file_read(path, &bytes, &facts);
    if (status == STATUS_NOT_FOUND || status == STATUS_INVALID || status == STATUS_IO) {
        snprintf(words, sizeof(words), "cannot be read: %s", facts.why);
        status =
            identity_refuse(why, path, words, "a path that does not begin with / counts from the working directory");
    } else if (status == STATUS_FULL || (status == STATUS_OK && bytes.length == 0)) {
        status = identity_refuse(why, path, status == STATUS_FULL ? "is too large" : "is empty", "it holds PEM text");
    } else if (status == STATUS_OK) {
        *content = arena_copy(arena, buffer_text(&bytes));
        status = content->data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (bytes.data != NULL) {
        OPENSSL_cleanse(bytes.data, bytes.length);
    }
    buffer_fini(&bytes);
    return status;
}

/// An encrypted key asks for its passphrase: there is none.
static int identity_on_passphrase(char *buffer, int size, int is_writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)context;
    return -1;
}

static enum status identity_compare(const char *certificate_file, X509 *certificate, const char *key_file,
                                    EVP_PKEY *key, struct failure *why)
{
    if (certificate == NULL) {
        return identity_refuse(why, certificate_file, "holds no certificate",
                               "it begins with -----BEGIN CERTIFICATE-----, the certificates above it follow");
    }
    if (key == NULL) {
        return identity_refuse(why, key_file, "holds no private key that can be read",
                               "PEM, not encrypted: `openssl pkey -in FILE` takes a passphrase away");
    }
    if (X509_check_private_key(certificate, key) != 1) {
        return identity_refuse(why, key_file, "is not the key of the certificate",
                               "name the two files that belong together");
    }
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
        return identity_refuse(why, certificate_file, "has expired", "ask the supplier for a new certificate");
    }
    return STATUS_OK;
}

static enum status identity_check(const char *certificate_file, struct text certificate, const char *key_file,
                                  struct text key, struct failure *why)
{
    BIO *certificate_bytes = BIO_new_mem_buf(certificate.data, (int)certificate.length);
    BIO *key_bytes = BIO_new_mem_buf(key.data, (int)key.length);
    enum status status = STATUS_NO_MEMORY;

    if (certificate_bytes != NULL && key_bytes != NULL) {
        X509 *read = PEM_read_bio_X509(certificate_bytes, NULL, identity_on_passphrase, NULL);
        EVP_PKEY *read_key = PEM_read_bio_PrivateKey(key_bytes, NULL, identity_on_passphrase, NULL);
        status = identity_compare(certificate_file, read, key_file, read_key, why);
        X509_free(read);
        EVP_PKEY_free(read_key);
    }
    BIO_free(certificate_bytes);
    BIO_free(key_bytes);
    return status;
}

enum status identity_load(const char *certificate_file, const char *key_file, struct arena *arena,
                          struct text *certificate, struct text *key, struct failure *why)
{
    enum status status = identity_read(certificate_file, arena, certificate, why);

    if (status == STATUS_OK) {
        status = identity_read(key_file, arena, key, why);
    }
    return status == STATUS_OK ? identity_check(certificate_file, *certificate, key_file, *key, why) : status;
}

enum status identity_check_authorities(const char *setting, const char *file, struct failure *why)
{
    struct file_facts facts;
    struct buffer bytes;
    const char *wrong = NULL;

    buffer_init(&bytes, AUTHORITIES_BYTES_MAX);
    enum status status = file_read(file, &bytes, &facts);
    if (status == STATUS_FULL) {
        wrong = "it is larger than 16 MiB";
    } else if (status == STATUS_OK) {
        BIO *content = BIO_new_mem_buf(bytes.data, (int)bytes.length);
        X509 *first = content != NULL ? PEM_read_bio_X509(content, NULL, identity_on_passphrase, NULL) : NULL;
        wrong = first == NULL ? "there is no certificate in it" : NULL;
        X509_free(first);
        BIO_free(content);
    } else if (status != STATUS_NO_MEMORY) {
        wrong = facts.why;
    }
    buffer_fini(&bytes);
    if (wrong == NULL) {
        return status;
    }
    failure_set(why, "cannot read certificates of authorities from \"%s\": %s", file, wrong);
    failure_help(why, "`%s` names a file of certificates in PEM format", setting);
    return STATUS_INVALID;
}

// The first 8 bytes of a SHA-256 over each text behind its length. Who names certificates is not who would look for two
// that collide.
uint64_t identity_fingerprint(const struct text *texts, size_t count)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char digest[EVP_MAX_MD_SIZE];
    uint64_t number = 0;

    require(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t length = texts[i].length;
        require(EVP_DigestUpdate(context, &length, sizeof(length)) == 1);
        require(EVP_DigestUpdate(context, texts[i].data != NULL ? texts[i].data : "", texts[i].length) == 1);
    }
    require(EVP_DigestFinal_ex(context, digest, NULL) == 1);
    EVP_MD_CTX_free(context);
    memcpy(&number, digest, sizeof(number));
    return number;
}
