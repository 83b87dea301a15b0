#include "cli/paint.h"

#include "base/plain.h"

#include <stdio.h>
#include <string.h>

static const char *colour_code(enum paint_colour colour)
{
    switch (colour) {
    case PAINT_BOLD:
        return "1";
    case PAINT_DIM:
        return "2";
    case PAINT_GREEN:
        return "32";
    case PAINT_YELLOW:
        return "33";
    case PAINT_RED:
        return "31";
    case PAINT_CYAN:
        return "36";
    case PAINT_PLAIN:
        break;
    }
    return NULL;
}

void paint_on(struct paint *paint, enum paint_colour colour)
{
    const char *code = colour_code(colour);

    if (paint->has_colour && code != NULL) {
        buffer_printf(paint->out, "\033[%sm", code);
    }
}

void paint_off(struct paint *paint, enum paint_colour colour)
{
    if (paint->has_colour && colour_code(colour) != NULL) {
        buffer_append_c(paint->out, "\033[0m");
    }
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t paint_columns(struct text text)
{
    size_t columns = 0;

    for (size_t i = 0; i < text.length; i++) {
        columns += !is_continuation(text.data[i]);
    }
    return columns;
}

/// What may not be shown becomes a blank; outside of UTF-8 so does everything that is not ASCII.
static void put_code_point(struct paint *paint, const char *bytes, size_t length)
{
    if (plain_is_hidden(bytes, length)) {
        buffer_append_byte(paint->out, ' ');
    } else if ((unsigned char)bytes[0] >= 0x80 && !paint->is_utf8) {
        buffer_append_byte(paint->out, '?');
    } else {
        buffer_append(paint->out, bytes, length);
    }
}

void paint_text(struct paint *paint, struct text text, size_t columns)
{
    size_t total = paint_columns(text);
    struct text mark = paint->is_utf8 ? TEXT("\xE2\x80\xA6") : TEXT("~");
    size_t room = total <= columns ? total : columns - (columns > 0);
    size_t at = 0;

    if (!text_is_utf8(text)) {
        text = TEXT("(not UTF-8)");
        room = columns < text.length ? columns : text.length;
        total = room;
    }
    for (size_t done = 0; done < room; done++) {
        size_t start = at++;
        while (at < text.length && is_continuation(text.data[at])) {
            at++;
        }
        put_code_point(paint, text.data + start, at - start);
    }
    if (total > columns && columns > 0) {
        buffer_append_text(paint->out, mark);
    }
}

void paint_cell(struct paint *paint, struct text text, size_t columns, enum paint_align align)
{
    size_t total = paint_columns(text);
    size_t missing = total < columns ? columns - total : 0;

    if (align == PAINT_RIGHT) {
        paint_spaces(paint, missing);
    }
    paint_text(paint, text, columns);
    if (align == PAINT_LEFT) {
        paint_spaces(paint, missing);
    }
}

void paint_spaces(struct paint *paint, size_t columns)
{
    paint_repeat(paint, " ", columns);
}

void paint_repeat(struct paint *paint, const char *glyph, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_c(paint->out, glyph);
    }
}

const char *paint_number(char *place, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    char *at = place;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *at++ = ',';
        }
        *at++ = digits[i];
    }
    *at = '\0';
    return place;
}

void paint_wrapped(struct paint *paint, struct text sentence)
{
    size_t column = 0;
    struct text rest = sentence;

    while (rest.data != NULL) {
        struct text word = text_split(rest, ' ', &rest);
        size_t columns = paint_columns(word);
        if (column > 0 && column + 1 + columns > paint->width) {
            buffer_append_byte(paint->out, '\n');
            column = 0;
        } else if (column > 0) {
            buffer_append_byte(paint->out, ' ');
            column++;
        }
        paint_text(paint, word, columns);
        column += columns;
    }
    buffer_append_byte(paint->out, '\n');
}
