// The file is read twice, once for its digest. Should it be written in between, the digest is the older one, and the
// next load reads it again.

#include "script/script_places.h"
#include "base/file.h"
#include "script/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void script_places_digest(const char *path, unsigned char digest[SCRIPT_DIGEST])
{
    struct buffer bytes;

    memset(digest, 0, SCRIPT_DIGEST);
    buffer_init(&bytes, PLACES_FILE_MAX);
    if (file_read(path, &bytes, NULL) == STATUS_OK) {
        bind_crypto_sha256(buffer_text(&bytes), digest);
    }
    buffer_fini(&bytes);
}

bool script_places_is(const struct script_places *places, const char *path, const unsigned char *digest)
{
    return places != NULL && strcmp(places->path, path) == 0 && memcmp(places->digest, digest, SCRIPT_DIGEST) == 0;
}

enum status script_places_load(const char *path, places_finding report, void *context, struct script_places **places)
{
    struct script_places *made = calloc(1, sizeof *made);

    *places = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    atomic_init(&made->holds, 1);
    snprintf(made->path, sizeof made->path, "%s", path);
    script_places_digest(path, made->digest);
    enum status status = places_load(path, report, context, &made->places);
    if (status != STATUS_OK) {
        script_places_drop(&made);
    }
    *places = made;
    return status;
}

struct script_places *script_places_hold(struct script_places *places)
{
    if (places != NULL) {
        atomic_fetch_add(&places->holds, 1);
    }
    return places;
}

void script_places_drop(struct script_places **places)
{
    if (*places != NULL && atomic_fetch_sub(&(*places)->holds, 1) == 1) {
        places_destroy(&(*places)->places);
        free(*places);
    }
    *places = NULL;
}
