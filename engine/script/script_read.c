#include "script/script_read.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_FILE_MAX = 1 << 20, READ_FILES_MAX = SCRIPT_SHELF_MODULES_MAX };

void script_read_file(struct script_check *check, struct script_file *file)
{
    struct file_facts facts;
    struct buffer content;

    file->source = (struct text){ NULL, 0 };
    buffer_init(&content, READ_FILE_MAX);
    enum status status = file_read(file->path.data, &content, &facts);
    if (status == STATUS_FULL) {
        script_check_report(check, file, 0, CODE_SCRIPT_UNREADABLE, NULL, "is larger than 1 MiB");
    } else if (status == STATUS_NO_MEMORY) {
        script_check_report(check, file, 0, CODE_MEMORY, NULL, "not enough memory to keep it");
    } else if (status != STATUS_OK) {
        script_check_report(check, file, 0, CODE_SCRIPT_UNREADABLE, NULL, "cannot be read: %s", facts.why);
    } else if (content.length == 0) {
        script_check_report(check, file, 0, CODE_SCRIPT_UNREADABLE, NULL, "is empty");
    } else {
        file->source = arena_copy(check->arena, buffer_text(&content));
        if (file->source.data == NULL) {
            script_check_report(check, file, 0, CODE_MEMORY, NULL, "not enough memory to keep it");
        }
    }
    buffer_fini(&content);
}

static int read_is_lua(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0;
}

bool script_read_folder(struct script_check *check, const char *folder,
                        void (*on_file)(void *context, const struct script_file *file), void *context)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, read_is_lua, alphasort);
    struct script_file place = { .path = text_of(folder) };

    if (found < 0) {
        script_check_report(check, &place, 0, CODE_SCRIPT_UNREADABLE,
                            "set `scripts_dir` to the scripts folder of lastcall in a lastcall.yaml here, or name "
                            "the settings that do with -c FILE",
                            "cannot be read: %s", strerror(errno));
        return false;
    }
    for (int i = 0; i < found; i++) {
        char path[1024];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (i >= READ_FILES_MAX || length < 0 || (size_t)length >= sizeof path) {
            script_check_report(check, &place, 0, CODE_SCRIPT_UNREADABLE, NULL,
                                "holds too many files, or their names are too long");
            continue;
        }
        struct script_file file = { .path = arena_copy(check->arena, text_of(path)) };
        file.name = arena_copy(check->arena, script_check_basename(file.path));
        if (file.name.data == NULL) {
            script_check_report(check, &place, 0, CODE_MEMORY, NULL, "not enough memory to keep it");
            continue;
        }
        on_file(context, &file);
    }
    free(entries);
    return true;
}
