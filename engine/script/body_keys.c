// A pull reader follows the path: what lies beside it is skipped, and nothing is kept but names.

#include "script/body_keys.h"

#include "base/json_read.h"
#include "base/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS_MAX = 4, PATH_SIZE = 120 };

static const char *kind_of(enum json_token token)
{
    switch (token) {
    case JSON_BEGIN_OBJECT:
        return "an object";
    case JSON_BEGIN_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_NUMBER:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

/// A name in one line, cut, without secrets.
static void show_name(char *out, size_t size, struct text name)
{
    (void)redact_copy(out, size, name);
    for (char *at = out; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
    }
}

void body_keys_add(struct body_keys *found, struct text name)
{
    char shown[BODY_KEY_SIZE];

    show_name(shown, sizeof shown, name);
    for (size_t i = 0; i < found->count; i++) {
        if (strcmp(found->keys[i], shown) == 0) {
            return;
        }
    }
    if (found->count < BODY_KEYS_MAX) {
        (void)snprintf(found->keys[found->count++], BODY_KEY_SIZE, "%s", shown);
    }
    found->all++;
}

/// The next step of a path: `.name` or `[1]`; absent: it ends.
static struct text take_step(struct text path, size_t at)
{
    size_t end = at + 1;

    if (at >= path.length) {
        return (struct text){ NULL, 0 };
    }
    while (end < path.length && path.data[end] != '.' && path.data[end] != '[') {
        end++;
    }
    return (struct text){ path.data + at, end - at };
}

/// Steps to the member of that name; false: there is none, and all names are known then.
static bool enter_member(struct json_reader *reader, struct text name, enum json_token *token, struct body_keys *found)
{
    found->count = 0;
    found->all = 0;
    while ((*token = json_next(reader)) == JSON_KEY) {
        struct text key = reader->value;
        if (text_equals(key, name)) {
            *token = json_next(reader);
            return true;
        }
        body_keys_add(found, key);
        if (!json_skip(reader, JSON_KEY)) {
            *token = JSON_ERROR;
            return false;
        }
    }
    return false;
}

/// Steps to the element of that number, from 1 on.
static bool enter_element(struct json_reader *reader, unsigned long number, enum json_token *token)
{
    for (unsigned long i = 1; (*token = json_next(reader)) != JSON_END_ARRAY && *token != JSON_ERROR; i++) {
        if (i == number) {
            return true;
        }
        if (!json_skip(reader, *token)) {
            *token = JSON_ERROR;
            return false;
        }
    }
    return false;
}

bool body_keys_find(struct text body, struct text path, struct body_keys *found)
{
    struct json_reader reader;
    bool is_inside = true;

    *found = (struct body_keys){ .length = strlen("body") };
    json_reader_init(&reader, body);
    enum json_token token = json_next(&reader);
    while (is_inside && token != JSON_ERROR) {
        struct text step = take_step(path, found->length);
        found->kind = kind_of(token);
        found->count = 0;
        found->all = 0;
        if (step.data == NULL) {
            break;
        }
        if (token == JSON_BEGIN_OBJECT && step.data[0] == '.') {
            is_inside = enter_member(&reader, (struct text){ step.data + 1, step.length - 1 }, &token, found);
        } else {
            long number = step.data[0] == '[' ? strtol(step.data + 1, NULL, 10) : 0;
            is_inside =
                token == JSON_BEGIN_ARRAY && number > 0 && enter_element(&reader, (unsigned long)number, &token);
        }
        found->length += is_inside ? step.length : 0;
    }
    return token != JSON_ERROR;
}

void body_keys_print(const struct body_keys *found, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < found->count && length + BODY_KEY_SIZE + 8 < size; i++) {
        length += (size_t)snprintf(out + length, size - length, "%s%s", i == 0 ? "{ " : ", ", found->keys[i]);
    }
    (void)snprintf(out + length, size - length, "%s",
                   found->count == 0           ? "{ }"
                   : found->all > found->count ? ", ... }"
                                               : " }");
}

// ---- lists

struct lists {
    struct json_reader reader;
    char path[PATH_SIZE];
    char *out;
    size_t length, count;
};

static void tell_list(struct lists *lists)
{
    size_t room = BODY_LISTS_SIZE - lists->length;

    if (lists->count < LISTS_MAX && strlen(lists->path) + 3 < room) {
        lists->length +=
            (size_t)snprintf(lists->out + lists->length, room, "%s%s", lists->count > 0 ? ", " : "", lists->path);
        lists->count++;
    }
}

static bool look(struct lists *lists, enum json_token token);

static bool look_at_members(struct lists *lists)
{
    size_t before = strlen(lists->path);
    enum json_token token;

    while ((token = json_next(&lists->reader)) == JSON_KEY) {
        char name[BODY_KEY_SIZE];
        show_name(name, sizeof name, lists->reader.value);
        (void)snprintf(lists->path + before, sizeof lists->path - before, "%s%s", before > 0 ? "." : "", name);
        if (!look(lists, json_next(&lists->reader))) {
            return false;
        }
        lists->path[before] = '\0';
    }
    return token == JSON_END_OBJECT;
}

static bool look_at_elements(struct lists *lists)
{
    size_t before = strlen(lists->path);
    bool is_first = true;
    enum json_token token;

    (void)snprintf(lists->path + before, sizeof lists->path - before, "[]");
    tell_list(lists);
    while ((token = json_next(&lists->reader)) != JSON_END_ARRAY && token != JSON_ERROR) {
        if (is_first ? !look(lists, token) : !json_skip(&lists->reader, token)) {
            return false;
        }
        is_first = false;
    }
    lists->path[before] = '\0';
    return token == JSON_END_ARRAY;
}

/// The value that begins with `token`; false: the document is broken.
static bool look(struct lists *lists, enum json_token token)
{
    if (token == JSON_BEGIN_OBJECT) {
        return look_at_members(lists);
    }
    return token == JSON_BEGIN_ARRAY ? look_at_elements(lists) : token != JSON_ERROR;
}

void body_lists(struct text body, char out[BODY_LISTS_SIZE])
{
    struct lists lists = { .out = out };

    out[0] = '\0';
    json_reader_init(&lists.reader, body);
    (void)look(&lists, json_next(&lists.reader));
}
