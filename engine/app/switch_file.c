#include "app/switch_file.h"

#include "app/record_read.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_VERSION = 1, FILE_ARENA = 8 << 20, ASIDE_MOST = 1000 };

enum status switch_file_init(struct switch_file *file, struct text directory, struct failure *why)
{
    *file = (struct switch_file){ .path = "" };
    if (directory.length == 0) {
        return STATUS_OK;
    }
    int length = snprintf(file->path, sizeof(file->path), "%.*s/switches.json", TEXT_ARGS(directory));
    if (length >= (int)sizeof(file->path) - 32) {
        file->path[0] = '\0';
        failure_set(why, "state_dir: its name is too long");
        failure_help(why, "name a directory with a path of at most 900 bytes");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

// ------------------------------------------------------------------------------------------------------------- reading

struct reading {
    struct record_reading record;
    uint64_t now_us, wall_us, written_us;
};

/// What is left of it: as long as was left when it was written, less what has gone by since.
static enum status read_end(const struct reading *reading, const struct json_node *object, struct switch_item *item)
{
    uint64_t left_us = 0;
    uint64_t gone_us = reading->wall_us > reading->written_us ? reading->wall_us - reading->written_us : 0;

    item->until_us = SWITCH_NEVER;
    if (json_tree_member(object, "left_us") == NULL) {
        return STATUS_OK;
    }
    enum status status = record_read_number(&reading->record, object, "left_us", true, &left_us);
    if (status != STATUS_OK) {
        return status;
    }
    if (left_us > SWITCH_LONGEST_US) {
        return record_refuse(&reading->record, json_tree_member(object, "left_us"), "`left_us` is more than a year");
    }
    item->until_us = reading->now_us + (left_us > gone_us ? left_us - gone_us : 0);
    return STATUS_OK;
}

static enum status read_item(const struct reading *reading, const struct json_node *object, struct switch_item *item)
{
    const struct json_node *state = json_tree_member(object, "state");

    *item = (struct switch_item){ .until_us = SWITCH_NEVER };
    if (object->kind != JSON_BEGIN_OBJECT) {
        return record_refuse(&reading->record, object, "a switch is an object");
    }
    if (state == NULL || state->kind != JSON_STRING || !switch_kind_read(state->text, &item->kind)) {
        return record_refuse(&reading->record, state != NULL ? state : object,
                             "`state` is none that this version knows");
    }
    enum status status =
        record_read_name(&reading->record, object, "supplier", true, item->supplier, sizeof(item->supplier));
    if (status == STATUS_OK) {
        status = record_read_name(&reading->record, object, "account", false, item->account, sizeof(item->account));
    }
    if (status == STATUS_OK) {
        status = record_read_text(&reading->record, object, "who", false, item->who, sizeof(item->who));
    }
    if (status == STATUS_OK) {
        status = record_read_text(&reading->record, object, "why", false, item->why, sizeof(item->why));
    }
    if (status == STATUS_OK) {
        status = record_read_number(&reading->record, object, "since_us", true, &item->since_wall_us);
    }
    if (status == STATUS_OK && item->kind == SWITCH_CEILING) {
        status = record_read_number(&reading->record, object, "ceiling_us", true, &item->ceiling_us);
        bool is_one = item->ceiling_us > 0 && item->ceiling_us <= SWITCH_CEILING_MOST_US;
        if (status == STATUS_OK && !is_one) {
            return record_refuse(&reading->record, json_tree_member(object, "ceiling_us"),
                                 "`ceiling_us` is none or above 5 minutes");
        }
    }
    return status == STATUS_OK ? read_end(reading, object, item) : status;
}

static enum status read_root(struct reading *reading, const struct json_node *root, struct switch_item *items,
                             size_t *count)
{
    const struct json_node *list = NULL;
    uint64_t version = 0;

    enum status status = record_read_number(&reading->record, root, "version", true, &version);
    if (status != STATUS_OK) {
        return status;
    }
    if (version != FILE_VERSION) {
        return record_refuse(&reading->record, json_tree_member(root, "version"),
                             "it is of another version of lastcall");
    }
    status = record_read_number(&reading->record, root, "written_us", true, &reading->written_us);
    if (status == STATUS_OK) {
        status = record_read_list(&reading->record, root, "switches", SWITCHES_MAX, &list);
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (const struct json_node *node = list->first; node != NULL && status == STATUS_OK; node = node->next) {
        status = read_item(reading, node, &items[*count]);
        *count += status == STATUS_OK;
    }
    return status;
}

enum status switch_file_read(struct text document, uint64_t now_us, uint64_t wall_us, struct switch_item *items,
                             size_t *count, struct failure *why)
{
    struct reading reading = { .record = { document, why }, .now_us = now_us, .wall_us = wall_us };
    struct json_node *root = NULL;
    struct arena arena;

    *count = 0;
    arena_init(&arena, FILE_ARENA);
    enum status status = record_read_root(&reading.record, &arena, &root);
    if (status == STATUS_OK) {
        status = read_root(&reading, root, items, count);
    }
    *count = status == STATUS_OK ? *count : 0;
    arena_fini(&arena);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ the disk

/// Gives the file another name that nothing has yet; not all file systems can say so in one, but those have links.
static bool rename_to_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return false;
    }
    return link(from, to) == 0 && unlink(from) == 0;
}

/// "switches.json.bad-2", beside it; never over another one.
static bool put_aside(struct switch_file *file, char *aside, size_t size)
{
    for (int number = 1; number <= ASIDE_MOST; number++) {
        (void)snprintf(aside, size, "%s.bad-%d", file->path, number);
        if (rename_to_new(file->path, aside)) {
            return true;
        }
        if (errno != EEXIST) {
            return false;
        }
    }
    return false;
}

/// Tells what became of a file that could not be used; `why` has the sentence that says why not.
static void tell_bad(struct switch_file *file, struct failure *why)
{
    char aside[SWITCH_FILE_PATH_SIZE + 16];
    char sentence[sizeof(why->message)];

    (void)snprintf(sentence, sizeof(sentence), "%.300s", why->message);
    file->is_in_the_way = !put_aside(file, aside, sizeof(aside));
    failure_at(why, file->path, why->line, why->column);
    failure_code(why, CODE_NONE);
    if (file->is_in_the_way) {
        failure_set(why, "the switches of before cannot be used, and none is in force: %s", sentence);
        failure_help(why, "the file stays where it is, and nothing is kept until it is moved away (%s)",
                     strerror(errno));
    } else {
        failure_set(why, "the switches of before cannot be used, and none is in force: %s (it is kept as %.120s)",
                    sentence, strrchr(aside, '/') + 1);
        failure_help(why, "see in %.180s who was switched off, and say so again", aside);
    }
}

static void make_directory(const struct switch_file *file)
{
    char directory[SWITCH_FILE_PATH_SIZE];
    const char *slash = strrchr(file->path, '/');

    (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - file->path), file->path);
    (void)mkdir(directory, 0750); // what is wrong with it is told by whoever writes
}

enum status switch_file_open(struct switch_file *file, uint64_t now_us, uint64_t wall_us, struct switch_item *items,
                             size_t *count, struct failure *why)
{
    struct file_facts facts;
    struct buffer content;

    *count = 0;
    if (file->path[0] == '\0') {
        return STATUS_NOT_FOUND;
    }
    make_directory(file);
    buffer_init(&content, SWITCH_FILE_CAP);
    enum status status = file_read(file->path, &content, &facts);
    if (status == STATUS_NOT_FOUND) {
        buffer_fini(&content);
        return status;
    }
    if (status != STATUS_OK) {
        failure_set(why, "%s", facts.why);
    } else {
        status = switch_file_read(buffer_text(&content), now_us, wall_us, items, count, why);
    }
    if (status != STATUS_OK) {
        tell_bad(file, why);
    }
    buffer_fini(&content);
    return status;
}

static void write_item(const struct switch_item *item, uint64_t now_us, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "supplier", item->supplier);
    if (item->account[0] != '\0') {
        json_field_c(json, "account", item->account);
    }
    json_field_c(json, "state", switch_kind_name(item->kind));
    if (item->kind == SWITCH_CEILING) {
        json_field_u64(json, "ceiling_us", item->ceiling_us);
    }
    if (item->who[0] != '\0') {
        json_field_c(json, "who", item->who);
    }
    if (item->why[0] != '\0') {
        json_field_c(json, "why", item->why);
    }
    json_field_u64(json, "since_us", item->since_wall_us);
    if (item->until_us != SWITCH_NEVER) {
        json_field_u64(json, "left_us", item->until_us > now_us ? item->until_us - now_us : 0);
    }
    json_end_object(json);
}

static void write_document(const struct switch_item *items, size_t count, uint64_t now_us, uint64_t wall_us,
                           struct buffer *out)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_u64(&json, "version", FILE_VERSION);
    json_field_u64(&json, "written_us", wall_us);
    json_key(&json, "switches");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        write_item(&items[i], now_us, &json);
    }
    json_end_array(&json);
    json_end_object(&json);
    buffer_append_byte(out, '\n');
}

bool switch_file_write(struct switch_file *file, const struct switch_item *items, size_t count, uint64_t now_us,
                       uint64_t wall_us, struct failure *why)
{
    char aside[SWITCH_FILE_PATH_SIZE + 16];
    const char *words = "there is no memory";
    struct buffer out;

    bool is_gone = file->is_in_the_way && access(file->path, F_OK) != 0 && errno == ENOENT;
    if (file->is_in_the_way && !is_gone && !put_aside(file, aside, sizeof(aside))) {
        failure_at(why, file->path, 0, 0);
        failure_set(why, "the file holds switches of before that cannot be used, and is not written over");
        failure_help(why, "move it away");
        return false;
    }
    file->is_in_the_way = false;
    buffer_init(&out, SWITCH_FILE_CAP);
    write_document(items, count, now_us, wall_us, &out);
    make_directory(file);
    bool is_written = !out.is_full && file_put_for_good(file->path, buffer_text(&out), &words);
    buffer_fini(&out);
    if (!is_written) {
        failure_at(why, file->path, 0, 0);
        failure_set(why, "it could not be written: %s", words);
        failure_help(why, "see to it that the engine can write in state_dir");
    }
    return is_written;
}
