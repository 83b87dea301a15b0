#include "store/store_press.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

// The streams are kept and reset: taking a deflate stream costs more than pressing a small answer. They are raw,
// because what is pressed has a checksum of its own.

enum { LEVEL = 1, WINDOW = -15, MEMORY = 8 };

struct store_press {
    z_stream down, up;
    bool has_down, has_up;
};

struct store_press *store_press_create(void)
{
    return calloc(1, sizeof(struct store_press));
}

void store_press_destroy(struct store_press **press)
{
    struct store_press *gone = *press;

    *press = NULL;
    if (gone == NULL) {
        return;
    }
    if (gone->has_down) {
        (void)deflateEnd(&gone->down);
    }
    if (gone->has_up) {
        (void)inflateEnd(&gone->up);
    }
    free(gone);
}

static bool open_down(struct store_press *press)
{
    if (press->has_down) {
        return deflateReset(&press->down) == Z_OK;
    }
    press->has_down = deflateInit2(&press->down, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    return press->has_down;
}

static bool open_up(struct store_press *press)
{
    if (press->has_up) {
        return inflateReset(&press->up) == Z_OK;
    }
    press->has_up = inflateInit2(&press->up, WINDOW) == Z_OK;
    return press->has_up;
}

static void give_input(z_stream *stream, struct text bytes)
{
    stream->next_in = (unsigned char *)(uintptr_t)bytes.data;
    stream->avail_in = (uInt)bytes.length;
}

static void give_room(z_stream *stream, struct buffer *out, size_t room)
{
    stream->next_out = (unsigned char *)out->data + out->length;
    stream->avail_out = (uInt)room;
}

bool store_press_down(struct store_press *press, struct text bytes, struct buffer *out)
{
    if (bytes.length < 2 || bytes.length > UINT_MAX || !open_down(press) || !buffer_reserve(out, bytes.length - 1)) {
        return false;
    }
    give_input(&press->down, bytes);
    give_room(&press->down, out, bytes.length - 1);
    if (deflate(&press->down, Z_FINISH) != Z_STREAM_END) {
        return false;
    }
    out->length += bytes.length - 1 - press->down.avail_out;
    return true;
}

bool store_press_up(struct store_press *press, struct text pressed, size_t length, struct buffer *out)
{
    if (length == 0 || length > UINT_MAX || pressed.length > UINT_MAX || !open_up(press) ||
        !buffer_reserve(out, length)) {
        return false;
    }
    give_input(&press->up, pressed);
    give_room(&press->up, out, length);
    if (inflate(&press->up, Z_FINISH) != Z_STREAM_END || press->up.avail_out != 0 || press->up.avail_in != 0) {
        return false;
    }
    out->length += length;
    return true;
}
