/// Charset: gives a body as valid UTF-8, in whatever encoding it came.
///
/// The encoding is, in this order: what a byte-order mark says, the `charset` of the Content-Type, what the zero bytes
/// among the first four say (RFC 4627 section 3: how JSON without a mark is told apart), the encoding in an XML
/// declaration (UTF-16 and UTF-32 apart, for then it could not have been read), UTF-8. A body that declares nothing we
/// know and is no UTF-8 is windows-1252, as on the web, where ISO-8859-1 and ASCII are names of it too (WHATWG Encoding
/// Standard, sections 4.2 and 9). Known are UTF-8, UTF-16 and UTF-32 of both orders, windows-1252 and ISO-8859-15. What
/// cannot be read becomes U+FFFD, one for each maximal part of a sequence, and is counted.
///
/// UTF-8 is not checked until somebody needs it valid (charset_check), because the JSON decoder checks what it reads.
///
/// Threads: a worker's.
/// Memory:  a plain value; converted bytes go into the caller's buffer, whose ceiling is the cap.
#pragma once

#include "base/buffer.h"

enum charset {
    CHARSET_UTF8,
    CHARSET_UTF16_LE,
    CHARSET_UTF16_BE,
    CHARSET_UTF32_LE,
    CHARSET_UTF32_BE,
    CHARSET_WINDOWS_1252,
    CHARSET_ISO_8859_15,
    CHARSET_COUNT,
};

struct charset_reading {
    enum charset charset;
    bool is_declared; // else CHARSET_UTF8 is a guess
    bool is_checked;  // the text is known to be valid UTF-8
    bool was_guessed_wrong;
    char unknown[40]; // the name of a charset that was declared and is not known; empty: none
    size_t mark;      // bytes of the byte-order mark
    size_t replaced;  // sequences that could not be read
};

/// Finds out how to read `body`; `content_type` is the header, or absent.
struct charset_reading charset_begin(struct text content_type, struct text body);

/// Gives the text of `body` in `*utf8`: without its mark, converted into `out` when it is no UTF-8. False: it is larger
/// than the buffer's ceiling.
MUST_CHECK bool charset_open(struct charset_reading *reading, struct text body, struct buffer *out, struct text *utf8);

/// Makes sure that the text of charset_open is valid UTF-8, repaired in `out` when it is not. Costs one pass, the first
/// time. False: the repaired text is larger than the buffer's ceiling, and `*utf8` as it was.
MUST_CHECK bool charset_check(struct charset_reading *reading, struct buffer *out, struct text *utf8);

/// What its author should know of how a body was read, as a sentence. False: there is nothing to say.
bool charset_warn(const struct charset_reading *reading, char *sentence, size_t size);

const char *charset_name(enum charset charset);
