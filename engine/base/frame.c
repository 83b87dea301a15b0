#include "base/frame.h"

enum { FIRST_LINE_MAX = 40 };

enum frame_verdict frame_read(struct frame *frame, struct text input)
{
    struct text head = { input.data, input.length < FIRST_LINE_MAX ? input.length : FIRST_LINE_MAX };
    const char *end = head.length == 0 ? NULL : memchr(head.data, '\n', head.length);
    struct text second;
    uint64_t json_length, bytes_length;

    if (end == NULL) {
        return head.length < FIRST_LINE_MAX ? FRAME_INCOMPLETE : FRAME_BROKEN;
    }
    head.length = (size_t)(end - head.data);
    struct text first = text_split(head, ' ', &second);
    if (!text_to_u64(first, &json_length) || second.data == NULL || !text_to_u64(second, &bytes_length) ||
        json_length > FRAME_MAX || bytes_length > FRAME_MAX - json_length) {
        return FRAME_BROKEN;
    }
    frame->json = (struct text){ end + 1, (size_t)json_length };
    frame->bytes = (struct text){ end + 1 + json_length, (size_t)bytes_length };
    frame->length = head.length + 1 + (size_t)(json_length + bytes_length);
    return input.length >= frame->length ? FRAME_WHOLE : FRAME_INCOMPLETE;
}

void frame_append(struct buffer *out, struct text json, struct text bytes)
{
    size_t before = out->length;

    buffer_printf(out, "%zu %zu\n", json.length, bytes.length);
    buffer_append_text(out, json);
    buffer_append_text(out, bytes);
    if (out->is_full) {
        out->length = before; // not half of one
    }
}
