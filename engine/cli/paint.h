/// Paint: text for a terminal: columns, colours, and nothing that a stranger's bytes could do to it.
///
/// Threads: one.
/// Memory:  writes into the caller's buffer; look at `out->is_full` at the end.
#pragma once

#include "base/buffer.h"

enum paint_colour { PAINT_PLAIN, PAINT_BOLD, PAINT_DIM, PAINT_GREEN, PAINT_YELLOW, PAINT_RED, PAINT_CYAN };
enum paint_align { PAINT_LEFT, PAINT_RIGHT };

struct paint {
    struct buffer *out;
    uint32_t width; // columns of the terminal
    bool is_utf8;   // else ASCII only
    bool has_colour;
};

void paint_on(struct paint *paint, enum paint_colour colour);
void paint_off(struct paint *paint, enum paint_colour colour); // ends what paint_on began

/// Columns that the text takes: one for each code point.
size_t paint_columns(struct text text);

/// The text without control characters, cut to `columns` with an ellipsis; not padded.
void paint_text(struct paint *paint, struct text text, size_t columns);

/// The same, padded to exactly `columns`.
void paint_cell(struct paint *paint, struct text text, size_t columns, enum paint_align align);
void paint_spaces(struct paint *paint, size_t columns);
void paint_repeat(struct paint *paint, const char *glyph, size_t count);

/// "1,234,567"; returns `place`, which needs 32 bytes.
const char *paint_number(char *place, uint64_t number);

/// `sentence` broken at blanks into lines of the terminal's width.
void paint_wrapped(struct paint *paint, struct text sentence);
