#include "farm/garble.h"
#include "farm/squeeze.h"

#include <string.h>

enum framing {
    FRAMING_LENGTH,
    FRAMING_LENGTH_LONG,
    FRAMING_LENGTH_SHORT,
    FRAMING_CHUNKED,
    FRAMING_CHUNKED_NO_END,
    FRAMING_CHUNKED_BROKEN,
    FRAMING_CLOSE,
    FRAMING_NO_HEAD,
};

enum content {
    CONTENT_PLAIN,
    CONTENT_HALF,
    CONTENT_GZIP_HALF,
    CONTENT_GZIP_OPEN,
    CONTENT_GZIP_MEMBERS,
    CONTENT_GZIP_BOMB,
    CONTENT_BOM,
    CONTENT_UTF16,
    CONTENT_CP1252,
};

enum prelude { PRELUDE_NONE, PRELUDE_HEADERS, PRELUDE_LONG_HEADER, PRELUDE_INFORMATIONAL, PRELUDE_FLOOD };

struct garble {
    bool is_played;
    enum framing framing;
    enum content content;
    enum prelude prelude;
    const char *status;   // NULL: 200
    const char *type;     // NULL: JSON
    const char *encoding; // NULL: none
    const char *location; // NULL: none; "": elsewhere
};

enum { CHUNK = 4096, OFF_BY = 100, BOMB_MEBIBYTES = 200, HEADERS = 4096, FEW = 20, MANY = 10000, LONG = 256 << 10 };

#define PLAYED .is_played = true
#define GZIP .is_played = true, .encoding = "gzip"

static const struct garble garbles[FAULT_COUNT] = {
    [FAULT_GZIP_CUT_LENGTH] = { GZIP, .content = CONTENT_GZIP_HALF },
    [FAULT_GZIP_CUT_CHUNKED] = { GZIP, .content = CONTENT_GZIP_HALF, .framing = FRAMING_CHUNKED },
    [FAULT_GZIP_CUT_CLOSE] = { GZIP, .content = CONTENT_GZIP_HALF, .framing = FRAMING_CLOSE },
    [FAULT_GZIP_CUT_RECORD] = { GZIP, .content = CONTENT_GZIP_OPEN },
    [FAULT_GZIP_PLAIN] = { GZIP },
    [FAULT_GZIP_MEMBERS] = { GZIP, .content = CONTENT_GZIP_MEMBERS },
    [FAULT_GZIP_BOMB] = { GZIP, .content = CONTENT_GZIP_BOMB },
    [FAULT_JSON_CUT_CLOSE] = { PLAYED, .content = CONTENT_HALF, .framing = FRAMING_CLOSE },
    [FAULT_CHUNKED_NO_END] = { PLAYED, .framing = FRAMING_CHUNKED_NO_END },
    [FAULT_CHUNKED_BROKEN] = { PLAYED, .framing = FRAMING_CHUNKED_BROKEN },
    [FAULT_LENGTH_LONG] = { PLAYED, .framing = FRAMING_LENGTH_LONG },
    [FAULT_LENGTH_SHORT] = { PLAYED, .framing = FRAMING_LENGTH_SHORT },
    [FAULT_STATUS_204_BODY] = { PLAYED, .status = "204 No Content" },
    [FAULT_HEAD_HUGE] = { PLAYED, .prelude = PRELUDE_HEADERS },
    [FAULT_HEAD_LINE_HUGE] = { PLAYED, .prelude = PRELUDE_LONG_HEADER },
    [FAULT_INFORMATIONAL] = { PLAYED, .prelude = PRELUDE_INFORMATIONAL },
    [FAULT_INFORMATIONAL_FLOOD] = { PLAYED, .prelude = PRELUDE_FLOOD },
    [FAULT_NO_STATUS_LINE] = { PLAYED, .framing = FRAMING_NO_HEAD },
    [FAULT_REDIRECT_HOST] = { PLAYED, .status = "302 Found", .location = "" },
    [FAULT_REDIRECT_FILE] = { PLAYED, .status = "302 Found", .location = "file:///etc/hostname" },
    [FAULT_BOM] = { PLAYED, .content = CONTENT_BOM },
    [FAULT_UTF16] = { PLAYED, .content = CONTENT_UTF16, .type = "application/json; charset=utf-16" },
    [FAULT_CP1252] = { PLAYED, .content = CONTENT_CP1252, .type = "application/json; charset=windows-1252" },
    [FAULT_CHARSET_LIE] = { PLAYED, .content = CONTENT_CP1252, .type = "application/json; charset=utf-8" },
};

// Where a text of either shape begins whose first letter becomes the euro sign of windows-1252.
static const char *const euro_after[] = { "\"brand\":\"", "\"family\":\"" };

bool garble_is(enum fault fault)
{
    return garbles[fault].is_played;
}

// ------------------------------------------------------------------------------------------------------------ content

static void write_utf16(struct buffer *out, struct text body)
{
    buffer_append(out, "\xff\xfe", 2);
    for (size_t i = 0; i < body.length; i++) {
        const char unit[2] = { body.data[i], 0 }; // answers are ASCII
        buffer_append(out, unit, sizeof(unit));
    }
}

static void write_cp1252(struct buffer *out, struct text body)
{
    size_t start = out->length;

    buffer_append_text(out, body);
    for (size_t i = 0; !out->is_full && i < COUNT_OF(euro_after); i++) {
        char *end = out->data + out->length;
        size_t length = strlen(euro_after[i]);
        for (char *at = out->data + start; (at = memmem(at, (size_t)(end - at), euro_after[i], length)) != NULL;) {
            at += length;
            *at = (char)0x80;
        }
    }
}

static void write_content(struct buffer *out, enum content content, struct text body)
{
    size_t start = out->length, half = body.length / 2;

    switch (content) {
    case CONTENT_PLAIN:
        buffer_append_text(out, body);
        break;
    case CONTENT_HALF:
        buffer_append(out, body.data, half);
        break;
    case CONTENT_GZIP_HALF:
        squeeze_whole(out, body);
        out->length = start + (out->length - start) / 2;
        break;
    case CONTENT_GZIP_OPEN:
        squeeze_open(out, body);
        break;
    case CONTENT_GZIP_MEMBERS:
        squeeze_whole(out, (struct text){ body.data, half });
        squeeze_whole(out, (struct text){ body.data + half, body.length - half });
        break;
    case CONTENT_GZIP_BOMB:
        squeeze_bomb(out, BOMB_MEBIBYTES);
        break;
    case CONTENT_BOM:
        buffer_append_c(out, "\xef\xbb\xbf");
        buffer_append_text(out, body);
        break;
    case CONTENT_UTF16:
        write_utf16(out, body);
        break;
    case CONTENT_CP1252:
        write_cp1252(out, body);
        break;
    }
}

// --------------------------------------------------------------------------------------------------------------- head

static void write_informational(struct buffer *out, int count)
{
    for (int i = 0; i < count; i++) {
        buffer_printf(out, "HTTP/1.1 103 Early Hints\r\nLink: </style-%d.css>; rel=preload\r\n\r\n", i);
    }
}

static void write_head(struct buffer *out, const struct garble *garble, struct text elsewhere)
{
    if (garble->prelude == PRELUDE_INFORMATIONAL || garble->prelude == PRELUDE_FLOOD) {
        write_informational(out, garble->prelude == PRELUDE_FLOOD ? MANY : FEW);
    }
    buffer_printf(out, "HTTP/1.1 %s\r\nContent-Type: %s\r\n", garble->status != NULL ? garble->status : "200 OK",
                  garble->type != NULL ? garble->type : "application/json");
    if (garble->encoding != NULL) {
        buffer_printf(out, "Content-Encoding: %s\r\n", garble->encoding);
    }
    if (garble->location != NULL) {
        struct text location = garble->location[0] != '\0' ? text_of(garble->location) : elsewhere;
        buffer_printf(out, "Location: %.*s\r\n", TEXT_ARGS(location));
    }
    for (int i = 0; garble->prelude == PRELUDE_HEADERS && i < HEADERS; i++) {
        buffer_printf(out, "X-Padding-%04d: this header is one of many, and it says nothing\r\n", i);
    }
    if (garble->prelude == PRELUDE_LONG_HEADER && buffer_append_c(out, "X-Padding: ") && buffer_reserve(out, LONG)) {
        memset(out->data + out->length, 'x', LONG);
        out->length += LONG;
        buffer_append_c(out, "\r\n");
    }
}

// --------------------------------------------------------------------------------------------------------------- body

static void write_chunks(struct buffer *out, struct text content, enum framing framing)
{
    for (size_t at = 0; at < content.length; at += CHUNK) {
        size_t length = content.length - at < CHUNK ? content.length - at : CHUNK;
        bool is_broken = framing == FRAMING_CHUNKED_BROKEN && at > 0;
        buffer_printf(out, is_broken ? "no size %zx\r\n" : "%zx\r\n", length);
        buffer_append(out, content.data + at, length);
        buffer_append_c(out, "\r\n");
    }
    if (framing == FRAMING_CHUNKED) {
        buffer_append_c(out, "0\r\n\r\n");
    }
}

static void write_framed(struct buffer *out, enum framing framing, struct text content)
{
    size_t told = content.length;

    if (framing == FRAMING_CHUNKED || framing == FRAMING_CHUNKED_NO_END || framing == FRAMING_CHUNKED_BROKEN) {
        buffer_append_c(out, "Transfer-Encoding: chunked\r\n\r\n");
        write_chunks(out, content, framing);
        return;
    }
    if (framing == FRAMING_LENGTH_LONG) {
        told += OFF_BY;
    } else if (framing == FRAMING_LENGTH_SHORT) {
        told -= told < OFF_BY ? told : OFF_BY;
    }
    if (framing != FRAMING_CLOSE) {
        buffer_printf(out, "Content-Length: %zu\r\n", told);
    }
    buffer_append_c(out, "\r\n");
    buffer_append_text(out, content);
}

bool garble_write(struct buffer *out, enum fault fault, struct text body, struct text elsewhere, bool *closes)
{
    const struct garble *garble = &garbles[fault];
    struct buffer content;

    buffer_init(&content, out->ceiling);
    write_content(&content, garble->content, body);
    if (garble->framing == FRAMING_NO_HEAD) {
        buffer_append_text(out, buffer_text(&content));
    } else {
        write_head(out, garble, elsewhere);
        write_framed(out, garble->framing, buffer_text(&content));
    }
    *closes = garble->framing != FRAMING_LENGTH && garble->framing != FRAMING_LENGTH_SHORT &&
              garble->framing != FRAMING_CHUNKED;
    bool is_written = !content.is_full && !out->is_full;
    buffer_fini(&content);
    return is_written;
}
