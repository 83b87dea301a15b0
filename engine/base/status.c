#include "base/status.h"

#include "base/plain.h"

#include <stdio.h>
#include <string.h>

const char *status_name(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return "ok";
    case STATUS_NO_MEMORY:
        return "no memory";
    case STATUS_FULL:
        return "full";
    case STATUS_INVALID:
        return "invalid";
    case STATUS_NOT_FOUND:
        return "not found";
    case STATUS_IO:
        return "I/O error";
    case STATUS_CLOSED:
        return "closed";
    case STATUS_TIMEOUT:
        return "timeout";
    }
    return "unknown status";
}

void failure_set(struct failure *why, const char *format, ...)
{
    if (why == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(why->message, sizeof(why->message), format, arguments) < 0) {
        why->message[0] = '\0';
    }
    va_end(arguments);
}

void failure_fill(struct failure *why, enum code code, const char *help, const char *format, va_list arguments)
{
    if (vsnprintf(why->message, sizeof(why->message), format, arguments) < 0) {
        why->message[0] = '\0';
    }
    failure_help(why, "%s", help);
    why->code = code;
}

void failure_help(struct failure *why, const char *format, ...)
{
    if (why == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(why->help, sizeof(why->help), format, arguments) < 0) {
        why->help[0] = '\0';
    }
    va_end(arguments);
}

void failure_at(struct failure *why, const char *file, uint32_t line, uint32_t column)
{
    if (why == NULL) {
        return;
    }
    if (snprintf(why->file, sizeof(why->file), "%s", file != NULL ? file : "") < 0) {
        why->file[0] = '\0';
    }
    why->line = line;
    why->column = column;
}

void failure_code(struct failure *why, enum code code)
{
    if (why != NULL) {
        why->code = code;
    }
}

void failure_note(struct failure *why, const char *format, ...)
{
    if (why == NULL) {
        return;
    }
    size_t used = strlen(why->notes);
    char *end = why->notes + used;
    size_t room = sizeof(why->notes) - used;
    int gap = used > 0 ? snprintf(end, room, "\n") : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = (size_t)gap < room ? vsnprintf(end + gap, room - (size_t)gap, format, arguments) : -1;
    va_end(arguments);
    if (length < 0 || (size_t)gap + (size_t)length >= room) {
        *end = '\0';
        return;
    }
    for (char *at = end + gap; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
}

struct text failure_next_note(struct text *rest)
{
    struct text line = *rest;

    if (rest->length == 0) {
        return (struct text){ 0 };
    }
    const char *end = memchr(rest->data, '\n', rest->length);
    line.length = end != NULL ? (size_t)(end - rest->data) : rest->length;
    size_t taken = line.length + (end != NULL ? 1 : 0);
    *rest = (struct text){ rest->data + taken, rest->length - taken };
    return line;
}

void failure_clean(struct failure *why)
{
    struct text rest = text_of(why->notes);

    plain_clean(why->file, strlen(why->file));
    plain_clean(why->message, strlen(why->message));
    plain_clean(why->help, strlen(why->help));
    for (struct text note = failure_next_note(&rest); note.data != NULL; note = failure_next_note(&rest)) {
        plain_clean(why->notes + (note.data - why->notes), note.length);
    }
}

size_t failure_print(const struct failure *failure, char *out, size_t size)
{
    int length = 0;

    if (failure->file[0] == '\0') {
        length = snprintf(out, size, "%s", failure->message);
    } else if (failure->line == 0) {
        length = snprintf(out, size, "%s: %s", failure->file, failure->message);
    } else {
        length = snprintf(out, size, "%s:%u: %s", failure->file, failure->line, failure->message);
    }
    return (size_t)length < size ? (size_t)length : size - 1;
}
