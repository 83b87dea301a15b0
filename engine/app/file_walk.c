#include "app/file_walk.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static bool is_test_folder(enum file_walk_kind kind, const char *name)
{
    return kind == FILE_WALK_SUPPLIERS && ends_with(name, ".test");
}

bool file_walk_takes(enum file_walk_kind kind, const char *name)
{
    if (name[0] == '.') {
        return false;
    }
    return kind == FILE_WALK_ENTRIES || ends_with(name, ".lua") || is_test_folder(kind, name);
}

static void walk_entry(const char *folder, enum file_walk_kind kind, const char *name, file_walk_visit visit,
                       void *context);

/// What counts in an open folder; a folder of fixtures is one level below, and there is none below that.
static void walk_entries(DIR *opened, const char *folder, enum file_walk_kind kind, file_walk_visit visit,
                         void *context)
{
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        if (file_walk_takes(kind, entry->d_name)) {
            walk_entry(folder, kind, entry->d_name, visit, context);
        }
    }
}

bool file_walk(const char *path, enum file_walk_kind kind, file_walk_visit visit, void *context)
{
    visit(context, path, kind);
    if (kind == FILE_WALK_FILE) {
        return true;
    }
    DIR *opened = opendir(path);
    if (opened == NULL) {
        return false;
    }
    walk_entries(opened, path, kind, visit, context);
    closedir(opened);
    return true;
}

static void walk_entry(const char *folder, enum file_walk_kind kind, const char *name, file_walk_visit visit,
                       void *context)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return; // nobody can read it by this name
    }
    (void)file_walk(path, is_test_folder(kind, name) ? FILE_WALK_ENTRIES : FILE_WALK_FILE, visit, context);
}
