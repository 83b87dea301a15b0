#include "app/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

// version "-" trace-id "-" parent-id "-" flags, all of them lower-case hexadecimal digits: 00-<32>-<16>-<2>.

enum {
    VERSION_LENGTH = 2,
    PARENT_ID_LENGTH = 16,
    FLAGS_LENGTH = 2,
    TRACE_ID_AT = VERSION_LENGTH + 1,
    PARENT_ID_AT = TRACE_ID_AT + TRACE_ID_LENGTH + 1,
    FLAGS_AT = PARENT_ID_AT + PARENT_ID_LENGTH + 1,
    FLAG_SAMPLED = 1, // the only one that level 1 knows; the others are not passed on
};

static bool is_hex(struct text text, size_t at, size_t length)
{
    for (size_t i = at; i < at + length; i++) {
        char c = text.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
            return false;
        }
    }
    return true;
}

static bool is_zero(struct text text, size_t at, size_t length)
{
    for (size_t i = at; i < at + length; i++) {
        if (text.data[i] != '0') {
            return false;
        }
    }
    return true;
}

/// A later version may be longer, and begins the same.
static bool is_traceparent(struct text text)
{
    if (text.length < TRACE_PARENT_LENGTH || text.data[TRACE_ID_AT - 1] != '-' || text.data[PARENT_ID_AT - 1] != '-' ||
        text.data[FLAGS_AT - 1] != '-') {
        return false;
    }
    struct text version = { text.data, VERSION_LENGTH };
    if (!is_hex(text, 0, VERSION_LENGTH) || text_equals_c(version, "ff")) {
        return false;
    }
    if (text.length > TRACE_PARENT_LENGTH && (text_equals_c(version, "00") || text.data[TRACE_PARENT_LENGTH] != '-')) {
        return false;
    }
    return is_hex(text, TRACE_ID_AT, TRACE_ID_LENGTH) && !is_zero(text, TRACE_ID_AT, TRACE_ID_LENGTH) &&
           is_hex(text, PARENT_ID_AT, PARENT_ID_LENGTH) && !is_zero(text, PARENT_ID_AT, PARENT_ID_LENGTH) &&
           is_hex(text, FLAGS_AT, FLAGS_LENGTH);
}

static void write_hex(char *place, const unsigned char *bytes, size_t count)
{
    static const char DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        place[2 * i] = DIGITS[bytes[i] >> 4];
        place[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    place[2 * count] = '\0';
}

static bool is_sampled(struct text traceparent)
{
    char last = traceparent.data[FLAGS_AT + 1];
    int digit = last >= 'a' ? last - 'a' + 10 : last - '0';
    return (digit & FLAG_SAMPLED) != 0;
}

void trace_continue(struct trace *trace, struct text traceparent)
{
    unsigned char random[(TRACE_ID_LENGTH + PARENT_ID_LENGTH) / 2];
    char parent_id[PARENT_ID_LENGTH + 1];
    bool goes_on = is_traceparent(traceparent);

    require(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    random[0] |= 1; // neither may be all zeros
    random[TRACE_ID_LENGTH / 2] |= 1;
    write_hex(trace->id, random, TRACE_ID_LENGTH / 2);
    write_hex(parent_id, random + TRACE_ID_LENGTH / 2, PARENT_ID_LENGTH / 2);
    if (goes_on) {
        memcpy(trace->id, traceparent.data + TRACE_ID_AT, TRACE_ID_LENGTH);
    }
    snprintf(trace->parent, sizeof trace->parent, "00-%s-%s-%02x", trace->id, parent_id,
             goes_on && is_sampled(traceparent) ? FLAG_SAMPLED : 0);
}

void trace_of_call(struct trace *trace, const struct http_call *call)
{
    bool is_one = http_call_header_nth(call, "traceparent", 1).data == NULL;

    trace_continue(trace, is_one ? http_call_header(call, "traceparent") : (struct text){ NULL, 0 });
}
