#include "app/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum status timing_open(struct timing *timing, const char *path, struct failure *why)
{
    void *map = MAP_FAILED;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    timing->file = NULL;
    if (fd >= 0 && ftruncate(fd, sizeof *timing->file) == 0) {
        map = mmap(NULL, sizeof *timing->file, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    }
    if (map == MAP_FAILED) {
        failure_set(why, "timing_file %s cannot be mapped: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return STATUS_IO;
    }
    close(fd);
    timing->file = map;
    timing->file->capacity = TIMING_RECORDS;
    timing->file->magic = TIMING_MAGIC;
    return STATUS_OK;
}

void timing_close(struct timing *timing)
{
    if (timing->file != NULL) {
        munmap(timing->file, sizeof *timing->file);
        timing->file = NULL;
    }
}

void timing_add(struct timing *timing, const struct timing_record *record)
{
    if (timing->file != NULL) {
        uint64_t index = atomic_fetch_add(&timing->file->count, 1);
        timing->file->records[index % TIMING_RECORDS] = *record;
    }
}
