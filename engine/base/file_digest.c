#include "base/file_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST_PIECE = 16 * 1024 };

/// Without content: why there is none.
static uint64_t digest_of_reason(int error)
{
    return text_hash(TEXT("no content")) + (uint64_t)error;
}

static uint64_t digest_of_state(const struct stat *info)
{
    const uint64_t facts[] = { (uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec,
                               (uint64_t)info->st_ino, (uint64_t)info->st_dev };
    return text_hash((struct text){ (const char *)facts, sizeof(facts) });
}

/// Reads up to a whole piece, so that equal files are cut alike; 0 at the end, negative on errors.
static ssize_t digest_read(int fd, char *piece)
{
    size_t length = 0;

    while (length < DIGEST_PIECE) {
        ssize_t got = read(fd, piece + length, DIGEST_PIECE - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static uint64_t digest_of_content(int fd, const struct stat *info)
{
    char piece[DIGEST_PIECE];
    uint64_t hash = text_hash(TEXT(""));
    uint64_t total = 0;

    for (;;) {
        ssize_t got = digest_read(fd, piece);
        if (got < 0) {
            return digest_of_reason(errno);
        }
        if (got == 0) {
            return hash;
        }
        total += (uint64_t)got;
        if (total > FILE_DIGEST_READ_MAX) {
            return digest_of_state(info); // it grew meanwhile
        }
        hash = text_hash_on(hash, (struct text){ piece, (size_t)got });
    }
}

uint64_t file_digest_of(struct text bytes)
{
    uint64_t hash = text_hash(TEXT(""));

    for (size_t i = 0; i < bytes.length; i += DIGEST_PIECE) {
        size_t left = bytes.length - i;
        hash = text_hash_on(hash, (struct text){ bytes.data + i, left < DIGEST_PIECE ? left : DIGEST_PIECE });
    }
    return hash;
}

uint64_t file_digest(const char *path)
{
    struct stat info;
    uint64_t digest = 0;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return digest_of_reason(errno);
    }
    if (fstat(fd, &info) != 0) {
        digest = digest_of_reason(errno);
    } else if (!S_ISREG(info.st_mode)) {
        digest = digest_of_reason(ENOTSUP);
    } else if (info.st_size > FILE_DIGEST_READ_MAX) {
        digest = digest_of_state(&info);
    } else {
        digest = digest_of_content(fd, &info);
    }
    close(fd);
    return digest;
}
