// Any bytes: the reader ends, its tokens nest, its views lie inside the input, and what it accepts is written again by
// the writer to a document that reads the same.
#include "base/json_read.h"
#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WRITE_DEPTH = 32 };

static void check_value(const struct json_reader *reader, struct text input)
{
    require(reader->value.data >= input.data);
    require(reader->value.data + reader->value.length <= input.data + input.length);
    require(text_is_utf8(reader->value));
}

// The token copied to the writer. Strings go through json_unescape.
static void copy_token(struct json_writer *writer, const struct json_reader *reader, enum json_token token,
                       struct buffer *scratch)
{
    buffer_clear(scratch);
    switch (token) {
    case JSON_BEGIN_OBJECT:
        json_begin_object(writer);
        break;
    case JSON_END_OBJECT:
        json_end_object(writer);
        break;
    case JSON_BEGIN_ARRAY:
        json_begin_array(writer);
        break;
    case JSON_END_ARRAY:
        json_end_array(writer);
        break;
    case JSON_KEY:
        json_key_text(writer, json_unescape(reader, scratch));
        break;
    case JSON_STRING:
        json_text(writer, json_unescape(reader, scratch));
        break;
    case JSON_NUMBER:
        json_raw(writer, reader->value);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        json_bool(writer, token == JSON_TRUE);
        break;
    case JSON_NULL:
        json_null(writer);
        break;
    case JSON_END:
    case JSON_ERROR:
        break;
    }
    require(!scratch->is_full);
}

// Walks the whole input. True: it was accepted; `out` then holds it anew unless it is deeper than the writer goes.
static bool walk(struct text input, struct buffer *out, struct buffer *scratch, uint32_t *deepest)
{
    struct json_reader reader;
    struct json_writer writer;
    enum json_token token;
    uint32_t depth = 0;
    size_t tokens = 0;

    json_reader_init(&reader, input);
    json_writer_init(&writer, out);
    *deepest = 0;
    do {
        size_t before = reader.offset;
        token = json_next(&reader);
        require(reader.offset <= input.length);
        require(token == JSON_ERROR || token == JSON_END || reader.offset > before);
        require(++tokens <= input.length + 1);
        if (token == JSON_KEY || token == JSON_STRING || token == JSON_NUMBER) {
            check_value(&reader, input);
        }
        depth += token == JSON_BEGIN_OBJECT || token == JSON_BEGIN_ARRAY;
        depth -= token == JSON_END_OBJECT || token == JSON_END_ARRAY;
        require(depth == reader.depth || token == JSON_ERROR);
        *deepest = depth > *deepest ? depth : *deepest;
        if (*deepest <= WRITE_DEPTH) {
            copy_token(&writer, &reader, token, scratch);
        }
    } while (token != JSON_END && token != JSON_ERROR);
    require(token == JSON_END ? depth == 0 : reader.error != NULL);
    require(json_next(&reader) == token);
    return token == JSON_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text input = { (const char *)data, size };
    struct buffer first;
    struct buffer second;
    struct buffer scratch;
    uint32_t deepest = 0;

    buffer_init(&first, 16 * size + 64);
    buffer_init(&second, 16 * size + 64);
    buffer_init(&scratch, size + 64);
    bool is_accepted = walk(input, &first, &scratch, &deepest);
    require(json_is_valid(input, NULL, NULL) == is_accepted);
    if (is_accepted) {
        require(text_is_utf8(input));
    }
    if (is_accepted && deepest <= WRITE_DEPTH) {
        require(!first.is_full);
        require(walk(buffer_text(&first), &second, &scratch, &deepest));
        require(text_equals(buffer_text(&first), buffer_text(&second))); // written twice is written the same
    }
    buffer_fini(&first);
    buffer_fini(&second);
    buffer_fini(&scratch);
    return 0;
}
