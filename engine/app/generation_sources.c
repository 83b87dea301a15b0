#include "app/generation_sources.h"

#include "app/generation_blame.h"
#include "app/settings_apply.h"
#include "app/settings_value.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare_sources(const void *a, const void *b)
{
    const struct generation_source *left = a;
    const struct generation_source *right = b;
    return text_compare(left->name, right->name);
}

static struct generation_source *source_of(const struct generation_sources *sources, struct text name)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (text_equals(sources->items[i].name, name)) {
            return &sources->items[i];
        }
    }
    return NULL;
}

static enum status add_source(struct generation_builder *builder, struct generation_sources *sources,
                              const struct generation_source *source)
{
    struct generation_source *grown =
        settings_grow(&builder->arena, sources->items, sources->count, sizeof(*sources->items));
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    grown[sources->count++] = *source;
    sources->items = grown;
    return STATUS_OK;
}

// "suppliers" and "acme.lua" -> "suppliers/acme.lua"; absent without memory.
static struct text join_path(struct arena *arena, struct text directory, struct text name)
{
    while (directory.length > 1 && directory.data[directory.length - 1] == '/') {
        directory.length--;
    }
    bool is_root = text_equals_c(directory, "/");
    size_t length = directory.length + (is_root ? 0 : 1) + name.length;
    char *path = arena_alloc(arena, length + 1);
    if (path == NULL) {
        return (struct text){ 0 };
    }
    memcpy(path, directory.data, directory.length);
    path[directory.length] = '/';
    memcpy(path + length - name.length, name.data, name.length);
    return (struct text){ path, length };
}

// New and of no use: nothing runs.
static void leave_out(struct generation_builder *builder, struct text name, struct text file, const struct failure *why)
{
    generation_tell(builder, why);
    generation_tell_change(builder, SCRIPT_KIND_SUPPLIER, name, file, SCRIPT_LEFT_OUT, why);
}

// What runs goes on as if no file played the supplier any more, and the others move on.
static void pass_over(struct generation_builder *builder, struct text name, struct text file, const struct failure *why)
{
    if (script_set_find_supplier(builder->previous->set, name) < 0) {
        leave_out(builder, name, file, why);
        return;
    }
    generation_suspect_gone(builder, name);
    generation_forward(builder, why);
    generation_suspect_nobody(builder);
}

// Nobody knows which of the two files is meant: a finding, or over a generation one that costs this supplier only.
static enum status double_source(struct generation_builder *builder, struct generation_source *known, struct text file)
{
    struct failure *why = arena_alloc(&builder->arena, sizeof(*why));

    if (why == NULL) {
        return STATUS_NO_MEMORY;
    }
    *why = (struct failure){ 0 };
    failure_at(why, file.data, 0, 0);
    failure_code(why, CODE_SUPPLIER_NAME);
    failure_set(why, "a supplier `%.*s` is already there: %.*s", TEXT_ARGS(known->name), TEXT_ARGS(known->file));
    failure_help(why, "keep one of the two files");
    if (builder->previous == NULL) {
        generation_suspect_gone(builder, known->name);
        generation_forward(builder, why);
        generation_suspect_nobody(builder);
    } else if (known->doubled == NULL) {
        known->doubled = why;
        pass_over(builder, known->name, file, why);
    }
    return STATUS_OK;
}

static enum status add_file(struct generation_builder *builder, struct generation_sources *sources,
                            struct text directory, const char *file_name)
{
    struct text name = text_of(file_name);
    struct value_problem problem = { 0 };
    struct stat info;
    char words[128];
    struct text path = join_path(&builder->arena, directory, name);
    if (path.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    name.length -= strlen(".lua");
    bool is_there = stat(path.data, &info) == 0;
    if (!is_there && builder->previous == NULL) {
        generation_suspect_gone(builder, name);
        generation_find(builder, path.data, 0, 0, CODE_SCRIPT_UNREADABLE, "", "the file cannot be read: %s",
                        strerror_r(errno, words, sizeof(words)));
        generation_suspect_nobody(builder);
        return STATUS_OK;
    }
    // Over a generation the scripts' loader tells of a file that is not there, or is no regular one.
    if (is_there && !S_ISREG(info.st_mode) && builder->previous == NULL) {
        return STATUS_OK;
    }
    if (!value_name(name, &problem) && builder->previous != NULL) {
        struct failure why = { 0 };
        failure_at(&why, path.data, 0, 0);
        failure_code(&why, CODE_SUPPLIER_NAME);
        failure_set(&why, "the file's name gives the supplier's, but `%.*s` %s", TEXT_ARGS(name), problem.sentence);
        failure_help(&why, "%s", problem.help);
        leave_out(builder, name, path, &why);
        return STATUS_OK;
    }
    if (!value_name(name, &problem)) {
        generation_suspect_gone(builder, name);
        generation_find(builder, path.data, 0, 0, CODE_SUPPLIER_NAME, problem.help,
                        "the file's name gives the supplier's, but `%.*s` %s", TEXT_ARGS(name), problem.sentence);
        generation_suspect_nobody(builder);
        return STATUS_OK;
    }
    struct generation_source *known = source_of(sources, name);
    if (known != NULL) {
        return double_source(builder, known, path);
    }
    struct generation_source source = { .name = arena_copy(&builder->arena, name), .file = path };
    return source.name.data == NULL ? STATUS_NO_MEMORY : add_source(builder, sources, &source);
}

static bool is_lua_file(const char *name)
{
    size_t length = strlen(name);
    return name[0] != '.' && length > 4 && strcmp(name + length - 4, ".lua") == 0;
}

// How many of the suppliers that run came from files in this very directory.
static size_t count_running(const struct generation_builder *builder, struct text directory)
{
    const struct script_set *running = builder->previous == NULL ? NULL : builder->previous->set;
    size_t count = 0;
    while (directory.length > 1 && directory.data[directory.length - 1] == '/') {
        directory.length--;
    }
    for (size_t i = 0; running != NULL && i < script_set_supplier_count(running); i++) {
        struct text file = script_set_supplier(running, i)->file;
        const char *slash = memrchr(file.data, '/', file.length);
        size_t length = slash == NULL ? 0 : (size_t)(slash - file.data);
        count += slash != NULL && text_equals((struct text){ file.data, length }, directory) ? 1 : 0;
    }
    return count;
}

// A directory that gave suppliers and is empty is rather one whose disk is gone, or that is being filled.
static enum status read_directory(struct generation_builder *builder, struct generation_sources *sources,
                                  struct text directory)
{
    enum status status = STATUS_OK;
    char words[128];
    DIR *opened = opendir(directory.data);
    if (opened == NULL) {
        generation_find(builder, directory.data, 0, 0, CODE_SCRIPT_UNREADABLE,
                        "set `suppliers_dir`; a path that does not begin with / counts from the working directory",
                        "the suppliers directory cannot be read: %s", strerror_r(errno, words, sizeof(words)));
        return STATUS_OK;
    }
    size_t count = 0;
    while (status == STATUS_OK) {
        const struct dirent *entry = readdir(opened);
        if (entry == NULL) {
            break;
        }
        if (is_lua_file(entry->d_name)) {
            status = add_file(builder, sources, directory, entry->d_name);
            count++;
        }
    }
    closedir(opened);
    size_t before = count > 0 ? 0 : count_running(builder, directory);
    if (before > 0) {
        generation_find(builder, directory.data, 0, 0, CODE_SCRIPT_UNREADABLE,
                        "if they shall all go, take the directory out of `suppliers_dir`, or restart the engine",
                        "the suppliers directory is empty, and %zu of those that run came from it", before);
    }
    return status;
}

// Reports that no file plays a supplier, with the file's name that was probably meant.
static enum status find_absent(struct generation_builder *builder, const struct generation_sources *files,
                               const struct settings_supplier *supplier, bool is_uses)
{
    const char **names = arena_alloc_array(&builder->arena, files->count + 1, sizeof(*names));
    char help[256];
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < files->count; i++) {
        names[i] = files->items[i].name.data;
    }
    struct text word = is_uses ? supplier->uses : supplier->name;
    const char *nearest = text_nearest(word, names, files->count);
    snprintf(help, sizeof(help), "%s%s%s%s%.*s.lua%s", nearest == NULL ? "" : "did you mean `",
             nearest == NULL ? "" : nearest, nearest == NULL ? "" : "`? ", "It needs a file ", TEXT_ARGS(word),
             is_uses ? "" : ", or `uses`");
    generation_suspect_gone(builder, supplier->name);
    if (is_uses) {
        generation_find(builder, supplier->uses_file, supplier->uses_line, supplier->uses_column, CODE_SETTING_VALUE,
                        help, "`%.*s` uses `%.*s`, and no file plays that", TEXT_ARGS(supplier->name), TEXT_ARGS(word));
    } else {
        generation_find(builder, supplier->file, supplier->line, supplier->column, CODE_SETTING_VALUE, help,
                        "no file plays the supplier `%.*s`", TEXT_ARGS(word));
    }
    generation_suspect_nobody(builder);
    return STATUS_OK;
}

// Does it run by another one's file, as the settings say?
static bool runs_as_alias(const struct generation_builder *builder, const struct generation_source *own)
{
    const struct script_set *running = builder->previous == NULL ? NULL : builder->previous->set;
    ptrdiff_t index = running == NULL ? -1 : script_set_find_supplier(running, own->name);
    return index >= 0 && !text_equals(script_set_supplier(running, (size_t)index)->file, own->file);
}

// A supplier that `uses` another one and has a file: the settings are wrong, unless the file came later.
static enum status find_own_file(struct generation_builder *builder, struct generation_source *own,
                                 const struct settings_supplier *supplier)
{
    const char *help = "leave `uses` out, or choose another name";
    if (!runs_as_alias(builder, own)) {
        generation_find(builder, supplier->uses_file, supplier->uses_line, supplier->uses_column, CODE_SETTING_CONFLICT,
                        help, "`%.*s` has a file of its own, %.*s", TEXT_ARGS(supplier->name), TEXT_ARGS(own->file));
        return STATUS_OK;
    }
    struct failure *why = arena_alloc(&builder->arena, sizeof(*why));
    if (why == NULL) {
        return STATUS_NO_MEMORY;
    }
    *why = (struct failure){ 0 };
    failure_at(why, own->file.data, 0, 0);
    failure_code(why, CODE_SUPPLIER_NAME);
    failure_set(why, "`%.*s` is there already: by the settings it uses `%.*s`", TEXT_ARGS(supplier->name),
                TEXT_ARGS(supplier->uses));
    failure_help(why, "%s", help);
    own->is_alias = true;
    own->doubled = why;
    pass_over(builder, own->name, own->file, why);
    return STATUS_OK;
}

// Joins one supplier of the settings with the files. Only the first `file_count` sources are files.
static enum status join_supplier(struct generation_builder *builder, struct generation_sources *sources,
                                 size_t file_count, const struct settings_supplier *supplier)
{
    struct generation_sources files = { sources->items, file_count };
    struct generation_source *own = source_of(&files, supplier->name);
    if (supplier->uses_file == NULL) {
        if (own == NULL) {
            return find_absent(builder, &files, supplier, false);
        }
        own->settings = supplier;
        return STATUS_OK;
    }
    if (own != NULL) {
        own->settings = supplier;
        return find_own_file(builder, own, supplier);
    }
    const struct generation_source *played_by = source_of(&files, supplier->uses);
    if (played_by == NULL) {
        return find_absent(builder, &files, supplier, true);
    }
    struct generation_source alias = {
        .name = supplier->name,
        .file = played_by->file,
        .settings = supplier,
        .is_alias = true,
        .doubled = played_by->doubled,
    };
    if (alias.doubled != NULL) {
        pass_over(builder, alias.name, alias.file, alias.doubled);
    }
    alias.name = arena_copy(&builder->arena, supplier->name);
    return alias.name.data == NULL ? STATUS_NO_MEMORY : add_source(builder, sources, &alias);
}

enum status generation_find_sources(struct generation_builder *builder, struct generation_sources *sources)
{
    const struct settings *settings = builder->settings;
    enum status status = STATUS_OK;
    *sources = (struct generation_sources){ 0 };
    for (size_t i = 0; i < settings->suppliers_dir_count && status == STATUS_OK; i++) {
        status = read_directory(builder, sources, settings->suppliers_dirs[i]);
    }
    // Directories come in any order; findings and names shall not.
    if (sources->count > 1) {
        qsort(sources->items, sources->count, sizeof(*sources->items), compare_sources);
    }
    size_t file_count = sources->count;
    for (size_t i = 0; i < settings->supplier_count && status == STATUS_OK; i++) {
        status = join_supplier(builder, sources, file_count, &settings->suppliers[i]);
    }
    if (sources->count > 1) {
        qsort(sources->items, sources->count, sizeof(*sources->items), compare_sources);
    }
    return status;
}

const struct generation_source *generation_source_of(const struct generation_sources *sources, struct text name)
{
    return source_of(sources, name);
}

static const struct settings_supplier *settings_of(const struct settings *settings, struct text name)
{
    for (size_t i = 0; i < settings->supplier_count; i++) {
        if (text_equals(settings->suppliers[i].name, name)) {
            return &settings->suppliers[i];
        }
    }
    return NULL;
}

enum status generation_complete_sources(struct generation_builder *builder, struct generation_sources *sources,
                                        const struct script_set *set)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < script_set_supplier_count(set) && status == STATUS_OK; i++) {
        const struct script_supplier *script = script_set_supplier(set, i);
        if (source_of(sources, script->name) != NULL) {
            continue;
        }
        const struct settings_supplier *settings = settings_of(builder->settings, script->name);
        struct generation_source source = { .name = arena_copy(&builder->arena, script->name),
                                            .file = arena_copy(&builder->arena, script->file),
                                            .settings = settings,
                                            .is_alias = settings != NULL && settings->uses_file != NULL };
        status = source.name.data == NULL || source.file.data == NULL ? STATUS_NO_MEMORY
                                                                      : add_source(builder, sources, &source);
    }
    return status;
}
