#include "cli/draft_key.h"

#include <string.h>

/// "X-Api-Key" -> "xapikey"
void draft_key_plain(struct text key, char out[DRAFT_KEY_SIZE])
{
    size_t length = 0;

    for (size_t i = 0; i < key.length && length + 1 < DRAFT_KEY_SIZE; i++) {
        char c = key.data[i];
        if (c >= 'A' && c <= 'Z') {
            out[length++] = (char)(c | 0x20);
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out[length++] = c;
        }
    }
    out[length] = '\0';
}

bool draft_key_has_any(const char *key, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(key, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool draft_key_is_any(const char *key, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool draft_key_ends_with(const char *key, const char *end)
{
    size_t length = strlen(key), end_length = strlen(end);
    return length >= end_length && strcmp(key + length - end_length, end) == 0;
}

bool draft_key_begins_with(const char *key, const char *begin)
{
    return strncmp(key, begin, strlen(begin)) == 0;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool draft_key_ends_with_word(struct text key, const char *word)
{
    size_t length = strlen(word);

    if (key.length <= length) {
        return false;
    }
    const char *end = key.data + key.length - length;
    for (size_t i = 0; i < length; i++) {
        if (small(end[i]) != word[i]) {
            return false;
        }
    }
    bool is_hump = *end >= 'A' && *end <= 'Z' && end[-1] >= 'a' && end[-1] <= 'z';
    return is_hump || end[-1] == '_' || end[-1] == '-';
}
