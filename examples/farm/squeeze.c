#include "farm/squeeze.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WINDOW_GZIP = 15 + 16, WINDOW_RAW = -15, MEMORY_LEVEL = 8, MEBIBYTE = 1 << 20 };

static void squeeze(struct buffer *out, struct text plain, int window, int flush)
{
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)plain.data, .avail_in = (uInt)plain.length };

    require(plain.length <= INT_MAX);
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        out->is_full = true;
        return;
    }
    size_t bound = deflateBound(&stream, (uLong)plain.length) + 64;
    if (buffer_reserve(out, bound)) {
        stream.next_out = (unsigned char *)out->data + out->length;
        stream.avail_out = (uInt)bound;
        int result = deflate(&stream, flush);
        require(result == Z_STREAM_END || result == Z_OK);
        out->length += bound - stream.avail_out;
    }
    deflateEnd(&stream);
}

void squeeze_whole(struct buffer *out, struct text plain)
{
    squeeze(out, plain, WINDOW_GZIP, Z_FINISH);
}

void squeeze_open(struct buffer *out, struct text plain)
{
    squeeze(out, plain, WINDOW_GZIP, Z_SYNC_FLUSH);
}

static void append_le32(struct buffer *out, unsigned long value)
{
    for (int i = 0; i < 4; i++) {
        buffer_append_byte(out, (char)(value >> (8 * i)));
    }
}

// A block that ends with a full flush refers to nothing before it, so that it can stand any number of times.
void squeeze_bomb(struct buffer *out, unsigned mebibytes)
{
    static const char head[10] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
    static const char last[5] = { 1, 0, 0, (char)0xff, (char)0xff }; // a stored block of length 0
    struct buffer block;
    char *blanks = malloc(MEBIBYTE);

    buffer_init(&block, 2 * MEBIBYTE);
    if (blanks == NULL) {
        out->is_full = true;
        return;
    }
    memset(blanks, ' ', MEBIBYTE);
    squeeze(&block, (struct text){ blanks, MEBIBYTE }, WINDOW_RAW, Z_FULL_FLUSH);
    uLong one = crc32(0, (const unsigned char *)blanks, MEBIBYTE), sum = 0;
    free(blanks);
    buffer_append(out, head, sizeof(head));
    for (unsigned i = 0; i < mebibytes; i++) {
        buffer_append_text(out, buffer_text(&block));
        sum = i == 0 ? one : crc32_combine(sum, one, MEBIBYTE);
    }
    buffer_append(out, last, sizeof(last));
    append_le32(out, sum);
    append_le32(out, (unsigned long)mebibytes * MEBIBYTE);
    out->is_full = out->is_full || block.is_full;
    buffer_fini(&block);
}
