#include "app/settings.h"

#include "app/settings_apply.h"
#include "app/settings_shown.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 64 * 1024 * 1024 };

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
    struct settings *settings = reader->settings;
    struct text name = arena_copy(&settings->arena, text_of(path));
    if (name.data == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    struct settings_file *file = &settings->files[settings->file_count++];
    file->path = name.data;
    struct file_facts facts;
    buffer_init(&bytes, SETTINGS_FILE_MAX + 1); // a larger one is a finding of its parser
    enum status status = file_read(path, &bytes, &facts);
    if (status != STATUS_OK) {
        char message[256];
        snprintf(message, sizeof(message), "the file cannot be read: %s", facts.why);
        settings_find(reader, name.data, 0, 0, CODE_SETTINGS_UNREADABLE, message,
                      status == STATUS_NOT_FOUND
                          ? "examples/farm/lastcall.yaml is one that runs, examples/lastcall.yaml explains "
                            "every setting"
                          : "");
    } else {
        size_t findings = reader->findings;
        settings->files_hash = text_hash_on(settings->files_hash, buffer_text(&bytes));
        status = settings_yaml_parse(scratch, name.data, buffer_text(&bytes), forward, reader, &root);
        require(status != STATUS_INVALID || reader->findings > findings);
        reader->is_out_of_memory = reader->is_out_of_memory || status == STATUS_NO_MEMORY;
        if (root != NULL) {
            struct text all = buffer_text(&bytes);
            file->is_empty = root->first == NULL;
            file->has_end = all.length > 0 && all.data[all.length - 1] == '\n';
            settings_apply(reader, root);
        }
    }
    buffer_fini(&bytes);
}

enum status settings_read(const char *const *files, size_t count, settings_finding report, void *context,
                          struct settings **settings)
{
    return settings_read_shown(files, count, report, context, NULL, settings);
}

enum status settings_read_shown(const char *const *files, size_t count, settings_finding report, void *context,
                                struct settings_shown *shown, struct settings **settings)
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
    atomic_init(&read->references, 1);
    settings_reader_init(&reader, read, &scratch, report, context);
    reader.shown = shown;
    read->files = arena_alloc_array(&read->arena, count + 1, sizeof(*read->files));
    reader.is_out_of_memory = reader.is_out_of_memory || read->files == NULL;
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
        settings_release(&read);
    }
    *settings = read;
    return status;
}

struct settings *settings_acquire(struct settings *settings)
{
    if (settings != NULL) {
        atomic_fetch_add_explicit(&settings->references, 1, memory_order_relaxed);
    }
    return settings;
}

void settings_release(struct settings **settings)
{
    struct settings *released = *settings;
    *settings = NULL;
    if (released != NULL && atomic_fetch_sub_explicit(&released->references, 1, memory_order_acq_rel) == 1) {
        arena_fini(&released->arena);
        free(released);
    }
}
