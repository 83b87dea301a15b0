#include "script/trouble_quote.h"

#include <string.h>

/// Steps over "[==[ ... ]==]"; false: there is none.
static bool skip_long(const char **place, const char *end)
{
    const char *at = *place + 1;
    size_t level = 0;

    for (; at < end && *at == '='; at++) {
        level++;
    }
    if (at >= end || *at != '[') {
        return false;
    }
    for (; at < end; at++) {
        const char *close = at + 1;
        while (*at == ']' && close < end && *close == '=') {
            close++;
        }
        if (*at == ']' && close < end && *close == ']' && (size_t)(close - at) == level + 1) {
            *place = close + 1;
            return true;
        }
    }
    *place = end;
    return true;
}

static void skip_comment(const char **place, const char *end)
{
    *place += 2;
    if (*place < end && **place == '[' && skip_long(place, end)) {
        return;
    }
    const char *close = memchr(*place, '\n', (size_t)(end - *place));
    *place = close != NULL ? close : end;
}

bool trouble_quote_skip(const char **place, const char *end, bool *is_string)
{
    const char *at = *place;
    char quote = *at;

    *is_string = quote == '"' || quote == '\'' || quote == '[';
    if (quote == '-' && at + 1 < end && at[1] == '-') {
        skip_comment(place, end);
        return true;
    }
    if (quote == '[') {
        return skip_long(place, end);
    }
    if (!*is_string) {
        return false;
    }
    for (at++; at < end && *at != quote && *at != '\n';) {
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    }
    *place = at + (at < end);
    return true;
}

const char *trouble_quote_code_of(struct text source, struct text line)
{
    const char *at = source.data, *end = source.data + source.length;
    bool is_string;

    while (at < line.data) {
        if (!trouble_quote_skip(&at, end, &is_string)) {
            at++;
        }
    }
    return at < line.data + line.length ? at : line.data + line.length;
}
