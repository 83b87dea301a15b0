#include "script/inflate.h"

#include <limits.h>
#include <zlib.h>

enum { RATIO_MAX = 200, RATIO_SLACK = 64 << 10, CHUNK = 32 << 10 };

enum { WINDOW_GZIP = 15 + 16, WINDOW_ZLIB = 15, WINDOW_RAW = -15 };

// The bytes that may come out: what the buffer still takes, and the ratio against a bomb.
static size_t output_limit(const struct buffer *out, size_t input)
{
    size_t by_ceiling = out->ceiling - out->length;

    if (input > (SIZE_MAX - RATIO_SLACK) / RATIO_MAX) {
        return by_ceiling;
    }
    size_t by_ratio = input * RATIO_MAX + RATIO_SLACK;
    return by_ratio < by_ceiling ? by_ratio : by_ceiling;
}

// Runs one stream to its end. `*limit` falls by what came out; `*used` is what the stream took of the input.
static enum inflate_result inflate_stream(int window, struct text input, struct buffer *out, size_t *limit,
                                          size_t *used)
{
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)input.data, .avail_in = (uInt)input.length };
    int result = inflateInit2(&stream, window);

    if (result != Z_OK) {
        return INFLATE_TOO_LARGE; // no memory for the window
    }
    while (result == Z_OK) {
        if (!buffer_reserve(out, *limit < CHUNK ? *limit : CHUNK)) {
            result = Z_MEM_ERROR;
            break;
        }
        size_t room = out->capacity - out->length;
        room = room < *limit ? room : *limit;
        stream.next_out = (unsigned char *)out->data + out->length;
        stream.avail_out = (uInt)(room < UINT_MAX ? room : UINT_MAX);
        uInt offered = stream.avail_out;
        result = inflate(&stream, Z_NO_FLUSH);
        out->length += offered - stream.avail_out;
        *limit -= offered - stream.avail_out;
    }
    *used = input.length - stream.avail_in;
    (void)inflateEnd(&stream);
    if (result == Z_STREAM_END) {
        return INFLATE_OK;
    }
    // No progress with room left means that the input was cut.
    return result == Z_MEM_ERROR || (result == Z_BUF_ERROR && *limit == 0) ? INFLATE_TOO_LARGE : INFLATE_CORRUPT;
}

static enum inflate_result inflate_gzip(struct text body, struct buffer *out)
{
    size_t limit = output_limit(out, body.length);

    do {
        size_t used = 0;
        enum inflate_result result = inflate_stream(WINDOW_GZIP, body, out, &limit, &used);
        if (result != INFLATE_OK) {
            return result;
        }
        body = (struct text){ body.data + used, body.length - used };
    } while (body.length > 0); // another member, or bytes that do not belong there
    return INFLATE_OK;
}

// "deflate" means zlib's format (RFC 9110), but raw streams are common; the first two bytes tell them apart.
static enum inflate_result inflate_deflate(struct text body, struct buffer *out)
{
    size_t limit = output_limit(out, body.length), used = 0;
    unsigned head = (unsigned char)body.data[0];
    bool is_zlib = body.length >= 2 && (head & 0x0f) == 8 && (head >> 4) <= 7 &&
                   (head * 256 + (unsigned char)body.data[1]) % 31 == 0;
    enum inflate_result result = inflate_stream(is_zlib ? WINDOW_ZLIB : WINDOW_RAW, body, out, &limit, &used);

    if (result == INFLATE_OK && used != body.length) {
        return INFLATE_CORRUPT;
    }
    return result;
}

enum inflate_result inflate_body(struct text encoding, struct text body, struct buffer *out, struct text *plain)
{
    encoding = text_trim(encoding);
    if (encoding.length == 0 || text_equals_nocase(encoding, TEXT("identity"))) {
        *plain = body;
        return INFLATE_OK;
    }
    bool is_gzip = text_equals_nocase(encoding, TEXT("gzip")) || text_equals_nocase(encoding, TEXT("x-gzip"));
    if (!is_gzip && !text_equals_nocase(encoding, TEXT("deflate"))) {
        return INFLATE_UNKNOWN_ENCODING;
    }
    if (body.length == 0) {
        return INFLATE_CORRUPT;
    }
    if (body.length > UINT_MAX) {
        return INFLATE_TOO_LARGE;
    }
    enum inflate_result result = is_gzip ? inflate_gzip(body, out) : inflate_deflate(body, out);
    if (result == INFLATE_OK) {
        *plain = buffer_text(out);
    }
    return result;
}
