#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PIECE = 64 * 1024 };

static enum status file_blame(struct file_facts *facts, int error)
{
    char words[sizeof(facts->why)];

    snprintf(facts->why, sizeof(facts->why), "%s", strerror_r(error, words, sizeof(words)));
    return error == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
}

static ssize_t file_get(int fd, char *bytes, size_t length)
{
    ssize_t got = 0;

    do {
        got = read(fd, bytes, length);
    } while (got < 0 && errno == EINTR);
    return got;
}

/// Up to the end, also when the file grows meanwhile; a piece more than the ceiling tells that it is too large.
static enum status file_get_all(int fd, struct buffer *content, struct file_facts *facts)
{
    for (;;) {
        size_t room = content->ceiling - content->length;
        size_t piece = room < FILE_PIECE ? room : FILE_PIECE;
        char one_more = 0;
        if (piece > 0 && !buffer_reserve(content, piece)) {
            return STATUS_NO_MEMORY;
        }
        ssize_t got = file_get(fd, piece > 0 ? content->data + content->length : &one_more, piece > 0 ? piece : 1);
        if (got < 0) {
            return file_blame(facts, errno);
        }
        if (got == 0) {
            return STATUS_OK;
        }
        if (piece == 0) {
            return STATUS_FULL;
        }
        content->length += (size_t)got;
    }
}

static enum status file_read_open(int fd, struct buffer *content, struct file_facts *facts)
{
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return file_blame(facts, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        snprintf(facts->why, sizeof(facts->why), "it is %s",
                 S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
        return STATUS_INVALID;
    }
    facts->bytes = (uint64_t)info.st_size;
    facts->is_readable_by_all = (info.st_mode & S_IROTH) != 0;
    if (facts->bytes > content->ceiling - content->length) {
        return STATUS_FULL;
    }
    return file_get_all(fd, content, facts);
}

enum status file_read(const char *path, struct buffer *content, struct file_facts *facts)
{
    struct file_facts unwanted;

    facts = facts != NULL ? facts : &unwanted;
    *facts = (struct file_facts){ .bytes = 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return file_blame(facts, errno);
    }
    enum status status = file_read_open(fd, content, facts);
    close(fd);
    return status;
}
