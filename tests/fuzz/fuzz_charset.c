// Any bytes under any declared name: what comes out is valid UTF-8 within the cap, the same each time, and valid UTF-8
// that says so comes out as it was.
#include "script/charset.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const content_types[] = {
    NULL,
    "application/json",
    "text/xml; charset=utf-8",
    "text/xml; charset=utf-16",
    "text/xml; charset=\"utf-16be\"",
    "text/xml; charset=utf-32",
    "text/xml; charset=iso-8859-1",
    "text/xml; charset=iso-8859-15",
    "text/xml; charset=klingon",
};

// The content of `out` is the text's, or the text points into the body.
static bool read_all(struct text content_type, struct text body, struct buffer *out, struct charset_reading *reading,
                     struct text *utf8)
{
    *reading = charset_begin(content_type, body);
    require(reading->mark <= body.length);
    return charset_open(reading, body, out, utf8) && charset_check(reading, out, utf8);
}

static void check_one(struct text content_type, struct text body)
{
    struct buffer out;
    struct buffer tight;
    struct charset_reading reading;
    struct charset_reading again;
    struct text utf8;
    struct text same;
    char sentence[256];

    buffer_init(&out, 3 * body.length + 16);
    require(read_all(content_type, body, &out, &reading, &utf8)); // a byte never becomes more than three
    require(text_is_utf8(utf8));
    require(reading.is_checked);
    require(reading.replaced <= body.length);
    if (charset_warn(&reading, sentence, sizeof(sentence))) {
        require(text_is_utf8(text_of(sentence)));
    }
    if (reading.charset == CHARSET_UTF8 && reading.replaced == 0) {
        require(utf8.data == body.data + reading.mark);
    }
    buffer_init(&tight, body.length);
    if (read_all(content_type, body, &tight, &again, &same)) {
        require(text_equals(utf8, same));
        require(again.replaced == reading.replaced);
    }
    buffer_fini(&tight);
    buffer_fini(&out);
}

// The first byte chooses what the header says.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        struct text body = { (const char *)data + 1, size - 1 };
        check_one(text_of(content_types[data[0] % COUNT_OF(content_types)]), body);
        check_one(body, body); // a header that nobody sends
    }
    return 0;
}
