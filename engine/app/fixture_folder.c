#include "app/fixture_folder.h"

#include <stdio.h>
#include <string.h>

bool fixture_folder_of(const struct script_supplier *script, char folder[FIXTURE_PATH_SIZE])
{
    static const char LUA[] = ".lua";
    size_t length = script->file.length, tail = sizeof(LUA) - 1;

    if (length < tail + script->name.length || length + 2 > FIXTURE_PATH_SIZE) {
        return false;
    }
    struct text stem = { script->file.data, length - tail };
    struct text name = { stem.data + stem.length - script->name.length, script->name.length };
    bool is_whole = stem.length == name.length || name.data[-1] == '/';
    (void)snprintf(folder, FIXTURE_PATH_SIZE, "%.*s.test", TEXT_ARGS(stem));
    return is_whole && text_equals(name, script->name);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

int fixture_folder_has(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".json") && !ends_with(entry->d_name, ".body.json");
}
