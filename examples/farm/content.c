#include "farm/content.h"
#include "base/file.h"

enum { CONTENT_MAX = 16 << 20 };

enum status content_read(const char *path, char **bytes, size_t *length, struct failure *why)
{
    struct file_facts facts;
    struct buffer buffer;

    *bytes = NULL;
    buffer_init(&buffer, CONTENT_MAX);
    enum status status = file_read(path, &buffer, &facts);
    if (status != STATUS_OK) {
        failure_set(why, "%s: %s", path, facts.why);
        buffer_fini(&buffer);
        return status == STATUS_NO_MEMORY ? status : STATUS_IO;
    }
    *length = buffer.length;
    *bytes = buffer_take(&buffer);
    return *bytes != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}
