#include "app/secret.h"

#include "base/file.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

struct text secret_directory(struct text setting)
{
    return setting.length > 0 ? setting : text_of(getenv("CREDENTIALS_DIRECTORY"));
}

static struct text without_newline(struct text content)
{
    if (content.length > 0 && content.data[content.length - 1] == '\n') {
        content.length--;
        if (content.length > 0 && content.data[content.length - 1] == '\r') {
            content.length--;
        }
    }
    return content;
}

static enum status refuse(struct failure *why, const char *path, const char *sentence)
{
    failure_set(why, "cannot be read: %s: %s", path, sentence);
    failure_help(why, "a secret is a small file that holds nothing else, readable by this process");
    return STATUS_INVALID;
}

static enum status take_content(struct text content, const char *path, const struct file_facts *facts,
                                struct arena *arena, struct text *value, struct failure *why)
{
    content = without_newline(content);
    if (content.length == 0) {
        return refuse(why, path, "it is empty");
    }
    if (memchr(content.data, 0, content.length) != NULL) { // no environment, header or form can carry it
        return refuse(why, path, "it holds a NUL byte");
    }
    *value = arena_copy(arena, content);
    if (value->data == NULL) {
        return STATUS_NO_MEMORY;
    }
    log_redact(*value);
    if (facts->is_readable_by_all) {
        log_line(LOG_WARNING, "secret", "every user of this machine may read %s", path);
    }
    return STATUS_OK;
}

static enum status read_secret(const char *path, struct arena *arena, struct text *value, struct failure *why)
{
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, SECRET_MAX + 2); // and its newline
    enum status status = file_read(path, &content, &facts);
    if (status == STATUS_OK && without_newline(buffer_text(&content)).length > SECRET_MAX) {
        status = STATUS_FULL;
    }
    if (status == STATUS_OK) {
        status = take_content(buffer_text(&content), path, &facts, arena, value, why);
    } else if (status == STATUS_FULL) {
        status = refuse(why, path, "it is larger than 64 KiB");
    } else if (status == STATUS_INVALID || status == STATUS_IO) {
        status = refuse(why, path, facts.why);
    }
    if (content.data != NULL) {
        explicit_bzero(content.data, content.length);
    }
    buffer_fini(&content);
    return status;
}

/// The file's path. False: it has none, or a name that would leave the directory.
static bool write_path(struct text directory, struct text name, char path[PATH_SIZE])
{
    bool is_name = name.length > 0 && memchr(name.data, '/', name.length) == NULL && name.data[0] != '.';
    int length = is_name && directory.length > 0
                     ? snprintf(path, PATH_SIZE, "%.*s/%.*s", TEXT_ARGS(directory), TEXT_ARGS(name))
                     : 0;
    return length > 0 && length < PATH_SIZE;
}

enum status secret_find(struct text directory, struct text name, struct arena *arena, struct text *value,
                        struct failure *why)
{
    char path[PATH_SIZE];
    struct text variable = arena_copy(arena, name);

    *value = (struct text){ 0 };
    if (variable.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    *value = text_of(getenv(variable.data));
    if (value->length > 0) {
        log_redact(*value);
        return STATUS_OK;
    }
    *value = (struct text){ 0 };
    directory = secret_directory(directory);
    bool has_path = write_path(directory, name, path);
    enum status status = has_path ? read_secret(path, arena, value, why) : STATUS_NOT_FOUND;
    if (status == STATUS_NOT_FOUND) {
        failure_set(why, "is not set");
        failure_help(why,
                     has_path ? "set the environment variable %.*s, or write it to the file %s"
                     : directory.length == 0
                         ? "set the environment variable %.*s, or write it to a file of that name in a directory that "
                           "`secrets_dir` names%s"
                         : "set the environment variable %.*s%s",
                     TEXT_ARGS(name), has_path ? path : "");
    }
    return status;
}
