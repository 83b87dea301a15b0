// What needs only the tokens: passing over a value, and over a whole document.

#include "base/json_read.h"

bool json_skip(struct json_reader *reader, enum json_token first)
{
    enum json_token token = first == JSON_KEY ? json_next(reader) : first;

    if (token == JSON_ERROR) {
        return false;
    }
    if (token != JSON_BEGIN_OBJECT && token != JSON_BEGIN_ARRAY) {
        return true;
    }
    uint32_t outside = reader->depth - 1;
    while (reader->depth > outside) {
        if (json_next(reader) == JSON_ERROR) {
            return false;
        }
    }
    return true;
}

bool json_is_valid(struct text input, size_t *offset, const char **sentence)
{
    struct json_reader reader;
    enum json_token token;

    json_reader_init(&reader, input);
    do {
        token = json_next(&reader);
    } while (token != JSON_END && token != JSON_ERROR);
    if (token == JSON_ERROR) {
        if (offset != NULL) {
            *offset = reader.offset;
        }
        if (sentence != NULL) {
            *sentence = reader.error;
        }
        return false;
    }
    return true;
}
