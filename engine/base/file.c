#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10, PATH_SIZE = 4096 };

/// The open file, or -1. O_NONBLOCK: a pipe must not make us wait for whoever writes into it.
static int open_regular(const char *path, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, &info) != 0) {
        *why = strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
        *why = "it is not a regular file";
    } else {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

bool file_read(const char *path, struct buffer *out, const char **why)
{
    char step[READ_STEP];
    ssize_t got = 0;
    int fd = open_regular(path, why);

    if (fd < 0) {
        return false;
    }
    do {
        got = read(fd, step, sizeof(step));
        if (got > 0) {
            buffer_append(out, step, (size_t)got);
        }
    } while ((got > 0 && !out->is_full) || (got < 0 && errno == EINTR));
    if (got < 0) {
        *why = strerror(errno);
    } else if (out->is_full) {
        *why = "it is larger than is read";
    }
    close(fd);
    return got >= 0 && !out->is_full;
}

static bool write_all(int fd, struct text bytes)
{
    while (bytes.length > 0) {
        ssize_t put = write(fd, bytes.data, bytes.length);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        size_t done = put > 0 ? (size_t)put : 0;
        bytes = (struct text){ bytes.data + done, bytes.length - done };
    }
    return true;
}

bool file_replace(const char *path, struct text bytes, const char **why)
{
    char beside[PATH_SIZE];
    struct stat info;

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside) || stat(path, &info) != 0) {
        *why = "it is not there, or its name is too long";
        return false;
    }
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777);
    if (fd < 0) {
        *why = strerror(errno);
        return false;
    }
    bool is_written = write_all(fd, bytes);
    bool is_closed = close(fd) == 0;
    if (!is_written || !is_closed || rename(beside, path) != 0) {
        *why = strerror(errno);
        (void)unlink(beside);
        return false;
    }
    return true;
}
