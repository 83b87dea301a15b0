// Own tables, not iconv: that loads modules from disk under the loader's lock when a charset is first used, which a
// worker that gets demoted must not hold. The two single-byte sets differ from Unicode's first 256 in 27 and 8 places.
// Those of windows-1252 are 0x80 to 0x9F, as in the index of the WHATWG Encoding Standard (its five unused bytes stay
// control characters); those of ISO-8859-15 as in ISO/IEC 8859-15.

#include "script/charset.h"

#include "base/redact.h"
#include "base/utf8.h"

#include <stdio.h>

#define CHARSET_REPLACEMENT 0xFFFD

enum { CHARSET_XML_HEAD = 200 }; // bytes in which an XML declaration must say it

static const struct {
    const char *name;
    enum charset charset;
} charset_names[] = {
    { "utf-8", CHARSET_UTF8 },
    { "utf-16le", CHARSET_UTF16_LE },
    { "utf-16be", CHARSET_UTF16_BE },
    { "utf-32le", CHARSET_UTF32_LE },
    { "utf-32be", CHARSET_UTF32_BE },
    { "windows-1252", CHARSET_WINDOWS_1252 },
    { "iso-8859-15", CHARSET_ISO_8859_15 },
    // The first ones are how we call them; the others are known as well.
    { "utf8", CHARSET_UTF8 },
    { "cp1252", CHARSET_WINDOWS_1252 },
    { "x-cp1252", CHARSET_WINDOWS_1252 },
    { "iso-8859-1", CHARSET_WINDOWS_1252 },
    { "iso8859-1", CHARSET_WINDOWS_1252 },
    { "iso88591", CHARSET_WINDOWS_1252 },
    { "iso_8859-1", CHARSET_WINDOWS_1252 },
    { "latin1", CHARSET_WINDOWS_1252 },
    { "l1", CHARSET_WINDOWS_1252 },
    { "us-ascii", CHARSET_WINDOWS_1252 },
    { "ascii", CHARSET_WINDOWS_1252 },
    { "iso8859-15", CHARSET_ISO_8859_15 },
    { "iso885915", CHARSET_ISO_8859_15 },
    { "latin-9", CHARSET_ISO_8859_15 },
    { "latin9", CHARSET_ISO_8859_15 },
};

static const uint16_t windows_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

static const struct {
    unsigned char byte;
    uint16_t code;
} iso_8859_15[] = {
    { 0xA4, 0x20AC }, { 0xA6, 0x0160 }, { 0xA8, 0x0161 }, { 0xB4, 0x017D },
    { 0xB8, 0x017E }, { 0xBC, 0x0152 }, { 0xBD, 0x0153 }, { 0xBE, 0x0178 },
};

const char *charset_name(enum charset charset)
{
    return charset_names[charset].name;
}

// ---------------------------------------------------------------------------------------------------- finding it out

static bool charset_by_mark(struct text body, struct charset_reading *reading)
{
    static const struct {
        struct text bytes;
        enum charset charset;
    } marks[] = {
        { { "\xEF\xBB\xBF", 3 }, CHARSET_UTF8 },
        { { "\xFF\xFE\0\0", 4 }, CHARSET_UTF32_LE }, // before the one that it begins with
        { { "\0\0\xFE\xFF", 4 }, CHARSET_UTF32_BE },
        { { "\xFF\xFE", 2 }, CHARSET_UTF16_LE },
        { { "\xFE\xFF", 2 }, CHARSET_UTF16_BE },
    };

    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        if (text_starts_with(body, marks[i].bytes)) {
            reading->charset = marks[i].charset;
            reading->mark = marks[i].bytes.length;
            return true;
        }
    }
    return false;
}

/// The two characters that every document of JSON or XML begins with are ASCII, but where a string or a number is the
/// whole of it; then it is the first one.
static bool charset_by_zeros(struct text body, enum charset *charset)
{
    unsigned zeros = 0;

    for (size_t i = 0; i < 4 && i < body.length; i++) {
        zeros = zeros * 2 + (body.data[i] == '\0');
    }
    if (body.length >= 4 && (zeros == 0xE || zeros == 0x7)) { // 00 00 00 xx, xx 00 00 00
        *charset = zeros == 0xE ? CHARSET_UTF32_BE : CHARSET_UTF32_LE;
        return true;
    }
    if (body.length >= 4 && (zeros == 0xA || zeros == 0x5)) { // 00 xx 00 xx, xx 00 xx 00
        *charset = zeros == 0xA ? CHARSET_UTF16_BE : CHARSET_UTF16_LE;
        return true;
    }
    if (body.length == 2 && (zeros == 0x2 || zeros == 0x1)) { // 00 xx, xx 00
        *charset = zeros == 0x2 ? CHARSET_UTF16_BE : CHARSET_UTF16_LE;
        return true;
    }
    return false;
}

/// What stands behind `name =` in a list of parameters, without quotes. Absent: there is no such parameter.
static struct text charset_parameter(struct text list, char separator, struct text name)
{
    while (list.data != NULL) {
        struct text rest;
        struct text value;
        struct text key = text_trim(text_split(text_split(list, separator, &rest), '=', &value));
        if (value.data != NULL && text_equals_nocase(key, name)) {
            value = text_trim(value);
            bool is_quoted = value.length >= 2 && (value.data[0] == '"' || value.data[0] == '\'') &&
                             value.data[value.length - 1] == value.data[0];
            return is_quoted ? (struct text){ value.data + 1, value.length - 2 } : value;
        }
        list = rest;
    }
    return (struct text){ NULL, 0 };
}

/// The encoding in `<?xml version="1.0" encoding="…"?>`.
static struct text charset_of_xml(struct text body)
{
    const struct text start = TEXT("<?xml");
    const struct text word = TEXT("encoding");
    struct text rest;

    if (!text_starts_with(body, start)) {
        return (struct text){ NULL, 0 };
    }
    struct text head = { body.data + start.length, body.length - start.length };
    head.length = head.length < CHARSET_XML_HEAD ? head.length : CHARSET_XML_HEAD;
    head = text_split(head, '?', &rest);
    while (head.length > word.length && !text_starts_with(head, word)) {
        head = (struct text){ head.data + 1, head.length - 1 };
    }
    return charset_parameter(head, ' ', word);
}

/// A charset by its name. UTF-16 and UTF-32 without an order are what the zeros say, little-endian when they do not.
static bool charset_by_name(struct text name, struct text body, enum charset *charset)
{
    for (size_t i = 0; i < COUNT_OF(charset_names); i++) {
        if (text_equals_nocase(name, text_of(charset_names[i].name))) {
            *charset = charset_names[i].charset;
            return true;
        }
    }
    bool is_16 = text_equals_nocase(name, TEXT("utf-16")) || text_equals_nocase(name, TEXT("utf16"));
    bool is_32 = text_equals_nocase(name, TEXT("utf-32")) || text_equals_nocase(name, TEXT("utf32"));
    if (!is_16 && !is_32) {
        return false;
    }
    enum charset little = is_16 ? CHARSET_UTF16_LE : CHARSET_UTF32_LE;
    enum charset big = is_16 ? CHARSET_UTF16_BE : CHARSET_UTF32_BE;
    *charset = charset_by_zeros(body, charset) && *charset == big ? big : little;
    return true;
}

/// A declared name: known, or kept to be told of.
static void charset_declare(struct charset_reading *reading, struct text name, struct text body)
{
    enum charset charset = CHARSET_UTF8;

    if (name.length == 0) {
        return;
    }
    if (charset_by_name(name, body, &charset)) {
        reading->charset = charset;
        reading->is_declared = true;
        return;
    }
    size_t length = redact_copy(reading->unknown, sizeof(reading->unknown), name);
    for (size_t i = 0; i < length; i++) {
        char byte = reading->unknown[i];
        reading->unknown[i] = byte > ' ' && byte < 0x7F ? byte : '?'; // it goes into a sentence
    }
}

struct charset_reading charset_begin(struct text content_type, struct text body)
{
    struct charset_reading reading = { .charset = CHARSET_UTF8 };

    reading.is_declared = charset_by_mark(body, &reading);
    if (!reading.is_declared) {
        charset_declare(&reading, charset_parameter(content_type, ';', TEXT("charset")), body);
    }
    if (!reading.is_declared) {
        reading.is_declared = charset_by_zeros(body, &reading.charset);
    }
    if (!reading.is_declared && reading.unknown[0] == '\0') {
        charset_declare(&reading, charset_of_xml(body), body);
        if (reading.charset >= CHARSET_UTF16_LE && reading.charset <= CHARSET_UTF32_BE) {
            reading.charset = CHARSET_UTF8; // the declaration itself was read byte by byte, so it is not what it says
            reading.is_declared = false;
        }
    }
    return reading;
}

// ----------------------------------------------------------------------------------------------------- reading bytes

/// One character, or what stands for it.
struct charset_step {
    uint32_t code;
    size_t length; // bytes that it takes
    bool is_bad;
};

static struct charset_step charset_bad(size_t length)
{
    return (struct charset_step){ CHARSET_REPLACEMENT, length, true };
}

/// The length of the longest piece of bad UTF-8 that begins like a sequence (Unicode 15, section 3.9).
static size_t charset_bad_length(const char *bytes, size_t available)
{
    char tried[4] = { bytes[0], (char)0x80, (char)0x80, (char)0x80 };
    unsigned char lead = (unsigned char)bytes[0];
    size_t whole = lead < 0xC2 || lead > 0xF4 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;

    for (size_t length = 1; length < whole; length++) {
        if (length == available) {
            return length;
        }
        // Is it still the beginning of some sequence with this byte added? Later bytes may be any from 0x80 on.
        tried[length] = bytes[length];
        if (utf8_length(tried, whole) == 0) {
            return length;
        }
    }
    return whole;
}

static struct charset_step charset_step_utf8(const char *bytes, size_t available)
{
    size_t length = utf8_length(bytes, available);
    uint32_t code = (unsigned char)bytes[0];

    if (length == 0) {
        return charset_bad(charset_bad_length(bytes, available));
    }
    if (length > 1) {
        code &= 0x7FU >> length;
    }
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3F);
    }
    return (struct charset_step){ code, length, false };
}

static uint32_t charset_unit(const char *bytes, size_t width, bool is_big)
{
    uint32_t unit = 0;

    for (size_t i = 0; i < width; i++) {
        unit = unit << 8 | (unsigned char)bytes[is_big ? i : width - 1 - i];
    }
    return unit;
}

static struct charset_step charset_step_utf16(const char *bytes, size_t available, bool is_big)
{
    if (available < 2) {
        return charset_bad(available);
    }
    uint32_t first = charset_unit(bytes, 2, is_big);
    if (first < 0xD800 || first > 0xDFFF) {
        return (struct charset_step){ first, 2, false };
    }
    uint32_t second = first < 0xDC00 && available >= 4 ? charset_unit(bytes + 2, 2, is_big) : 0;
    if (second < 0xDC00 || second > 0xDFFF) {
        return charset_bad(2);
    }
    return (struct charset_step){ 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 4, false };
}

static struct charset_step charset_step_utf32(const char *bytes, size_t available, bool is_big)
{
    uint32_t code = available < 4 ? UINT32_MAX : charset_unit(bytes, 4, is_big);

    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return charset_bad(available < 4 ? available : 4);
    }
    return (struct charset_step){ code, 4, false };
}

static uint32_t charset_code_of_byte(enum charset charset, unsigned char byte)
{
    if (charset == CHARSET_WINDOWS_1252) {
        return byte >= 0x80 && byte < 0xA0 ? windows_1252[byte - 0x80] : byte;
    }
    for (size_t i = 0; i < COUNT_OF(iso_8859_15); i++) {
        if (iso_8859_15[i].byte == byte) {
            return iso_8859_15[i].code;
        }
    }
    return byte;
}

static struct charset_step charset_take(enum charset charset, const char *bytes, size_t available)
{
    switch (charset) {
    case CHARSET_UTF8:
        return charset_step_utf8(bytes, available);
    case CHARSET_UTF16_LE:
    case CHARSET_UTF16_BE:
        return charset_step_utf16(bytes, available, charset == CHARSET_UTF16_BE);
    case CHARSET_UTF32_LE:
    case CHARSET_UTF32_BE:
        return charset_step_utf32(bytes, available, charset == CHARSET_UTF32_BE);
    case CHARSET_WINDOWS_1252:
    case CHARSET_ISO_8859_15:
    case CHARSET_COUNT:
        break;
    }
    return (struct charset_step){ charset_code_of_byte(charset, (unsigned char)bytes[0]), 1, false };
}

static bool charset_convert(struct charset_reading *reading, struct text body, struct buffer *out)
{
    enum { PIECE = 4096 };
    char piece[PIECE];
    size_t filled = 0;

    for (size_t at = 0; at < body.length;) {
        struct charset_step step = charset_take(reading->charset, body.data + at, body.length - at);
        if (filled > PIECE - 4) {
            if (!buffer_append(out, piece, filled)) {
                return false;
            }
            filled = 0;
        }
        filled += utf8_put(piece + filled, step.code);
        reading->replaced += step.is_bad;
        at += step.length;
    }
    return buffer_append(out, piece, filled);
}

bool charset_open(struct charset_reading *reading, struct text body, struct buffer *out, struct text *utf8)
{
    struct text rest = body;

    if (reading->mark > 0) {
        rest = (struct text){ body.data + reading->mark, body.length - reading->mark };
    }
    if (reading->charset == CHARSET_UTF8) {
        *utf8 = rest;
        return true;
    }
    reading->is_checked = true;
    if (!charset_convert(reading, rest, out)) {
        return false;
    }
    *utf8 = buffer_text(out);
    return true;
}

bool charset_check(struct charset_reading *reading, struct buffer *out, struct text *utf8)
{
    if (reading->is_checked || text_is_utf8(*utf8)) {
        reading->is_checked = true;
        return true;
    }
    struct charset_reading repaired = *reading;
    if (!repaired.is_declared) {
        repaired.charset = CHARSET_WINDOWS_1252;
        repaired.was_guessed_wrong = true;
    }
    buffer_clear(out);
    if (!charset_convert(&repaired, *utf8, out)) {
        return false;
    }
    repaired.is_checked = true;
    *reading = repaired;
    *utf8 = buffer_text(out);
    return true;
}

bool charset_warn(const struct charset_reading *reading, char *sentence, size_t size)
{
    if (reading->replaced > 0) {
        snprintf(sentence, size, "%zu sequence%s of the body %s no %s and replaced by U+FFFD", reading->replaced,
                 reading->replaced == 1 ? "" : "s", reading->replaced == 1 ? "was" : "were",
                 charset_name(reading->charset));
    } else if (reading->unknown[0] != '\0') {
        snprintf(sentence, size, "the body declares the charset \"%s\", which is not known: read as %s",
                 reading->unknown, charset_name(reading->charset));
    } else if (reading->was_guessed_wrong) {
        snprintf(sentence, size, "the body declares no charset and is no UTF-8: read as %s",
                 charset_name(reading->charset));
    } else {
        return false;
    }
    return true;
}
