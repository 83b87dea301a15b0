// Files of a recorded fixture: what stood there before is set aside until the new fixture is kept, and comes back when
// it is not. A link is set aside as such, and never written through.

#include "app/try_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_SIZE = TRY_PATH_SIZE + 8 };

static const char *aside(const char *path, char place[ASIDE_SIZE])
{
    (void)snprintf(place, ASIDE_SIZE, "%s.before", path);
    return place;
}

static bool is_there(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0;
}

static bool write_all(int file, struct text bytes)
{
    size_t written = 0;

    while (written < bytes.length) {
        ssize_t count = write(file, bytes.data + written, bytes.length - written);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        written += count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool try_record_write(const char *path, struct text bytes, struct failure *why)
{
    char old[ASIDE_SIZE];
    bool is_taken = is_there(path);
    int error = is_taken && rename(path, aside(path, old)) != 0 ? errno : 0;
    bool is_free = error == 0;
    int file = !is_free ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool is_written = file >= 0 && write_all(file, bytes);
    error = is_written || !is_free ? error : errno;
    if (file >= 0 && close(file) != 0 && is_written) {
        is_written = false;
        error = errno;
    }
    if (!is_written) {
        if (is_free) {
            try_record_undo(path);
        }
        failure_at(why, path, 0, 0);
        failure_set(why, "it cannot be written: %s", strerror(error));
    }
    return is_written;
}

void try_record_undo(const char *path)
{
    char old[ASIDE_SIZE];

    (void)unlink(path);
    if (is_there(aside(path, old))) {
        (void)!rename(old, path);
    }
}

void try_record_settle(const char *path)
{
    char old[ASIDE_SIZE];

    (void)unlink(aside(path, old));
}
