#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

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
