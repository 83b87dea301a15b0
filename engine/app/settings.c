#include "app/settings.h"

#include "app/settings_apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_MAX = 64 * 1024 * 1024 };

static int read_whole(const char *path, struct buffer *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int error = 0;
    for (;;) {
        char part[8192];
        ssize_t got = read(fd, part, sizeof(part));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            error = got < 0 ? errno : 0;
            break;
        }
        // The ceiling is a part above the largest file, so a full buffer is too large in any case.
        if (!buffer_append(bytes, part, (size_t)got)) {
            error = EFBIG;
            break;
        }
    }
    close(fd);
    return error;
}

// Findings of the tree are counted with the others.
static void forward(void *context, const struct failure *failure)
{
    struct settings_reader *reader = context;
    reader->report(reader->context, failure);
    reader->findings++;
}

static void apply_file(struct settings_reader *reader, struct arena *scratch, const char *path)
{
    struct buffer bytes;
    struct settings_node *root = NULL;
    struct text name = arena_copy(&reader->settings->arena, text_of(path));
    if (name.data == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    buffer_init(&bytes, SETTINGS_FILE_MAX + 16384);
    int error = read_whole(path, &bytes);
    if (error != 0) {
        char message[256];
        char words[128];
        snprintf(message, sizeof(message), "the file cannot be read: %s", strerror_r(error, words, sizeof(words)));
        settings_find(reader, name.data, 0, 0, message,
                      error == ENOENT ? "examples/farm/lastcall.yaml is one that runs, examples/lastcall.yaml explains "
                                        "every setting"
                                      : "");
    } else {
        size_t findings = reader->findings;
        enum status status = settings_yaml_parse(scratch, name.data, buffer_text(&bytes), forward, reader, &root);
        require(status != STATUS_INVALID || reader->findings > findings);
        reader->is_out_of_memory = reader->is_out_of_memory || status == STATUS_NO_MEMORY;
        if (root != NULL) {
            settings_apply(reader, root);
        }
    }
    buffer_fini(&bytes);
}

enum status settings_read(const char *const *files, size_t count, settings_finding report, void *context,
                          struct settings **settings)
{
    struct settings_reader reader;
    struct arena scratch;
    enum status status = STATUS_OK;
    *settings = NULL;
    struct settings *read = calloc(1, sizeof(*read));
    if (read == NULL) {
        return STATUS_NO_MEMORY;
    }
    arena_init(&read->arena, ARENA_MAX);
    arena_init(&scratch, ARENA_MAX);
    settings_reader_init(&reader, read, &scratch, report, context);
    for (size_t i = 0; i < count && !reader.is_out_of_memory; i++) {
        apply_file(&reader, &scratch, files[i]);
    }
    if (!reader.is_out_of_memory) {
        settings_apply_environment(&reader, &scratch);
    }
    if (!reader.is_out_of_memory) {
        settings_reader_finish(&reader);
    }
    if (reader.findings > 0) {
        status = STATUS_INVALID;
    } else if (reader.is_out_of_memory) {
        status = STATUS_NO_MEMORY;
    }
    arena_fini(&scratch);
    if (status != STATUS_OK) {
        settings_destroy(&read);
    }
    *settings = read;
    return status;
}

void settings_destroy(struct settings **settings)
{
    if (*settings != NULL) {
        arena_fini(&(*settings)->arena);
        free(*settings);
        *settings = NULL;
    }
}
