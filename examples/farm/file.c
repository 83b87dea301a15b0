#include "farm/file.h"
#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 16 << 20 };

enum status file_read(const char *path, char **bytes, size_t *length, struct failure *why)
{
    FILE *file = fopen(path, "rb");

    *bytes = NULL;
    if (file == NULL) {
        failure_set(why, "%s: %s", path, strerror(errno));
        return STATUS_IO;
    }
    struct buffer buffer;
    buffer_init(&buffer, FILE_MAX);
    char chunk[16384];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        buffer_append(&buffer, chunk, got);
    }
    bool is_read = ferror(file) == 0;
    fclose(file);
    if (!is_read || buffer.is_full) {
        failure_set(why, "%s: %s", path, is_read ? "too large" : "could not be read");
        buffer_fini(&buffer);
        return STATUS_IO;
    }
    *length = buffer.length;
    *bytes = buffer_take(&buffer);
    return *bytes != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}
