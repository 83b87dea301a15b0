#include "script/check_stuck.h"

#include <pthread.h>
#include <string.h>

struct stuck_file {
    unsigned char digest[SCRIPT_DIGEST];
    uint64_t path; // its hash
    struct failure failure;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of what follows
static struct stuck_file files[CHECK_STUCK_MAX];
static size_t count; // ever noted

static struct stuck_file *stuck_find(struct text path, const unsigned char *digest)
{
    uint64_t hash = text_hash(path);

    for (size_t i = 0; i < count && i < CHECK_STUCK_MAX; i++) {
        if (files[i].path == hash && memcmp(files[i].digest, digest, SCRIPT_DIGEST) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

bool check_stuck_find(struct text path, const unsigned char digest[SCRIPT_DIGEST], struct failure *failure)
{
    pthread_mutex_lock(&lock);
    const struct stuck_file *found = stuck_find(path, digest);
    if (found != NULL) {
        *failure = found->failure;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

void check_stuck_note(struct text path, const unsigned char digest[SCRIPT_DIGEST], const struct failure *failure)
{
    pthread_mutex_lock(&lock);
    if (stuck_find(path, digest) == NULL) {
        struct stuck_file *noted = &files[count++ % CHECK_STUCK_MAX];
        memcpy(noted->digest, digest, SCRIPT_DIGEST);
        noted->path = text_hash(path);
        noted->failure = *failure;
    }
    pthread_mutex_unlock(&lock);
}
