#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PIECE = 64 * 1024, FILE_PATH_SIZE = 4096 };

static enum status file_blame(struct file_facts *facts, int error)
{
    char words[sizeof(facts->why)];

    snprintf(facts->why, sizeof(facts->why), "%s", strerror_r(error, words, sizeof(words)));
    return error == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
}

static enum status file_refuse(struct file_facts *facts, enum status status, const char *why)
{
    snprintf(facts->why, sizeof(facts->why), "%s", why);
    return status;
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
            return file_refuse(facts, STATUS_NO_MEMORY, "there is no memory for it");
        }
        ssize_t got = file_get(fd, piece > 0 ? content->data + content->length : &one_more, piece > 0 ? piece : 1);
        if (got < 0) {
            return file_blame(facts, errno);
        }
        if (got == 0) {
            return STATUS_OK;
        }
        if (piece == 0) {
            return file_refuse(facts, STATUS_FULL, "it is too large");
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
        return file_refuse(facts, STATUS_INVALID,
                           S_ISDIR(info.st_mode) ? "it is a directory" : "it is not a regular file");
    }
    facts->bytes = (uint64_t)info.st_size;
    facts->is_readable_by_all = (info.st_mode & S_IROTH) != 0;
    if (facts->bytes > content->ceiling - content->length) {
        return file_refuse(facts, STATUS_FULL, "it is too large");
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

static bool file_put_all(int fd, struct text bytes)
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
    char beside[FILE_PATH_SIZE];
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
    bool is_written = file_put_all(fd, bytes);
    bool is_closed = close(fd) == 0;
    if (!is_written || !is_closed || rename(beside, path) != 0) {
        *why = strerror(errno);
        (void)unlink(beside);
        return false;
    }
    return true;
}

/// The folder in which the file stands: its entries are on the disk only once it has been told so, too.
static bool file_sync_folder(const char *path)
{
    char folder[FILE_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);

    if (slash == NULL) {
        (void)snprintf(folder, sizeof(folder), ".");
    } else {
        (void)snprintf(folder, sizeof(folder), "%.*s/", (int)length, path);
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool is_synced = fsync(fd) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return is_synced;
}

bool file_put_for_good(const char *path, struct text bytes, const char **why)
{
    char beside[FILE_PATH_SIZE];

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside)) {
        *why = "its name is too long";
        return false;
    }
    (void)unlink(beside); // of one who was killed
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        *why = strerror(errno);
        return false;
    }
    bool is_written = file_put_all(fd, bytes) && fsync(fd) == 0;
    int error = errno;
    bool is_closed = close(fd) == 0;
    error = is_written ? errno : error;
    if (!is_written || !is_closed || rename(beside, path) != 0) {
        error = is_written && is_closed ? errno : error;
        (void)unlink(beside);
        *why = strerror(error);
        return false;
    }
    if (!file_sync_folder(path)) {
        *why = strerror(errno);
        return false;
    }
    return true;
}
