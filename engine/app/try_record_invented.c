// The fixtures that `lastcall new` invented, once a real answer stands beside them: the ok one has done its work, the
// odd ones go on with the search of the real one, which the script is known to send.

#include "app/try_record.h"

#include "app/fixture_folder.h"
#include "app/pretty.h"
#include "base/file.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RENEW_ARENA = 64 << 20 };

static struct json_node *read_tree(const char *path, struct arena *arena, struct buffer *bytes)
{
    struct json_node *root = NULL;
    const char *sentence;
    size_t offset;
    bool is_read = file_read(path, bytes, NULL) == STATUS_OK &&
                   json_tree_read(arena, buffer_text(bytes), &root, &offset, &sentence) == STATUS_OK;

    return is_read ? root : NULL;
}

/// The odd fixture as it is, but for what is asked, when, and with which secrets.
static void write_renewed(const struct json_node *odd, const struct json_node *real, struct buffer *out)
{
    static const char *const TAKEN[] = { "search", "now", "secrets" };
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    for (const struct json_node *at = odd->first; at != NULL; at = at->next) {
        const struct json_node *value = at;
        for (size_t i = 0; i < COUNT_OF(TAKEN); i++) {
            const struct json_node *of_real = json_tree_member(real, TAKEN[i]);
            value = text_equals_c(at->key, TAKEN[i]) && of_real != NULL ? of_real : value;
        }
        json_key_text(&json, at->key);
        json_raw(&json, value->source);
    }
    json_end_object(&json);
}

static bool renew(const char *path, const struct json_node *real)
{
    struct buffer bytes, json, lines;
    struct failure why;
    struct arena arena;
    bool is_renewed = false;

    arena_init(&arena, RENEW_ARENA);
    buffer_init(&bytes, FIXTURE_FILE_MAX);
    buffer_init(&json, FIXTURE_FILE_MAX);
    buffer_init(&lines, FIXTURE_FILE_MAX);
    const struct json_node *odd = read_tree(path, &arena, &bytes);
    if (odd != NULL) {
        write_renewed(odd, real, &json);
        pretty_json(buffer_text(&json), &lines);
        buffer_append_byte(&lines, '\n');
        bool differs = !text_equals(buffer_text(&lines), buffer_text(&bytes));
        is_renewed = differs && !lines.is_full && try_record_write(path, buffer_text(&lines), &why);
    }
    if (is_renewed) {
        try_record_settle(path);
    }
    buffer_fini(&lines);
    buffer_fini(&json);
    buffer_fini(&bytes);
    arena_fini(&arena);
    return is_renewed;
}

void try_record_meet_invented(struct try_recording *recording)
{
    char folder[TRY_PATH_SIZE];
    struct dirent **entries = NULL;
    struct buffer bytes;
    struct arena arena;

    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(recording->path, '/') - recording->path),
                   recording->path);
    arena_init(&arena, RENEW_ARENA);
    buffer_init(&bytes, FIXTURE_FILE_MAX);
    const struct json_node *real = read_tree(recording->path, &arena, &bytes);
    int count = scandir(folder, &entries, fixture_folder_has, alphasort);
    for (int i = 0; i < count; i++) {
        char path[TRY_PATH_SIZE + 300];
        int length = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        bool is_ok = strncmp(entries[i]->d_name, "ok-", 3) == 0;
        bool is_one = length < TRY_PATH_SIZE && fixture_is_invented_at(path);
        if (is_one && is_ok && recording->invented[0] == '\0') {
            memcpy(recording->invented, path, (size_t)length + 1);
        } else if (is_one && !is_ok && real != NULL) {
            recording->renewed += renew(path, real) ? 1 : 0;
        }
        free(entries[i]);
    }
    free(entries);
    buffer_fini(&bytes);
    arena_fini(&arena);
}
