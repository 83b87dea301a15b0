#include "script/wait.h"

#include "script/calendar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Instants before September 2001 are no resets, and numbers from 5138 on are milliseconds.
#define INSTANT_LEAST_S 1e9
#define INSTANT_LEAST_MS 1e11

// Where the year stands in "Mon, 03 May 2027 20:05:00 GMT".
enum { HTTP_YEAR = 12, HTTP_DIGITS = 4, HTTP_DIGITS_MAX = 8, HTTP_TEXT_MAX = 40 };

struct wait wait_of_seconds(double seconds)
{
    if (!(seconds > 0)) { // also what is no number
        return (struct wait){ 0 };
    }
    return (struct wait){ .after_ms =
                              seconds < WAIT_MAX_S ? (uint64_t)ceil(seconds * 1000) : WAIT_MAX_S * UINT64_C(1000) };
}

/// A date of HTTP whose year has more digits than a date can have: far away, and that was meant. Its day of the week is
/// right in some year, of which 28 in a row have all kinds.
static bool is_far_date(struct text text)
{
    size_t digits = 0;
    int64_t ignored = 0;
    bool is_date = false;

    while (HTTP_YEAR + digits < text.length && text.data[HTTP_YEAR + digits] >= '0' &&
           text.data[HTTP_YEAR + digits] <= '9') {
        digits++;
    }
    if (digits <= HTTP_DIGITS || digits > HTTP_DIGITS_MAX) {
        return false;
    }
    struct text rest = { text.data + HTTP_YEAR + digits, text.length - HTTP_YEAR - digits };
    for (int year = 9972; year <= 9999 && !is_date; year++) {
        char nearer[HTTP_TEXT_MAX];
        int length = snprintf(nearer, sizeof(nearer), "%.*s%d%.*s", HTTP_YEAR, text.data, year, TEXT_ARGS(rest));
        is_date = calendar_parse_http((struct text){ nearer, (size_t)length }, &ignored);
    }
    return is_date;
}

static struct wait wait_of_instant(struct text text)
{
    struct moment moment;
    int64_t at_s = 0;

    if (text.length == 0) {
        return (struct wait){ 0 };
    }
    if (calendar_parse_http(text, &at_s)) {
        return (struct wait){ .at_s = at_s };
    }
    if (is_far_date(text)) {
        return wait_of_seconds(WAIT_MAX_S);
    }
    if (calendar_parse(text, &moment) && moment.has_time && moment.has_offset) {
        return (struct wait){ .at_s = calendar_epoch_us(&moment) / 1000000 };
    }
    return (struct wait){ 0 };
}

/// Seconds as a plain number: digits, perhaps with a fraction, which standards do not know and suppliers send.
static bool is_plain_number(struct text text)
{
    size_t digits = 0, points = 0;

    for (size_t i = 0; i < text.length; i++) {
        digits += text.data[i] >= '0' && text.data[i] <= '9';
        points += text.data[i] == '.';
    }
    return digits > 0 && points <= 1 && digits + points == text.length;
}

struct wait wait_of_text(struct text text)
{
    char number[HTTP_TEXT_MAX] = "";

    text = text_trim(text);
    if (!is_plain_number(text)) {
        struct text rest, first = text_trim(text_split(text, ',', &rest)); // said several times: the first counts
        if (!is_plain_number(first)) {
            return wait_of_instant(text);
        }
        text = first;
    }
    if (text.length >= sizeof(number)) {
        return wait_of_seconds(WAIT_MAX_S); // whatever it is, it is far away, or was not meant
    }
    memcpy(number, text.data, text.length);
    return wait_of_seconds(strtod(number, NULL));
}

struct wait wait_of_reset(double number)
{
    if (!(number >= INSTANT_LEAST_S)) {
        return wait_of_seconds(number);
    }
    number = number >= INSTANT_LEAST_MS ? number / 1000 : number;
    return (struct wait){ .at_s = number < INSTANT_LEAST_MS ? (int64_t)ceil(number) : (int64_t)INSTANT_LEAST_MS };
}

struct wait wait_of_reset_text(struct text text)
{
    int64_t number = 0;

    text = text_trim(text);
    return text_to_whole(text, TEXT_DOUBLE_DIGITS, &number) ? wait_of_reset((double)number) : wait_of_instant(text);
}

uint64_t wait_left_ms(struct wait wait, uint64_t wall_us)
{
    uint64_t most_ms = WAIT_MAX_S * UINT64_C(1000);

    if (wait.at_s <= 0) {
        return wait.after_ms;
    }
    uint64_t at_ms = (uint64_t)wait.at_s * 1000; // at most year 9999
    uint64_t now_ms = wall_us / 1000;
    uint64_t left_ms = at_ms > now_ms ? at_ms - now_ms : 0;
    return left_ms < most_ms ? left_ms : most_ms;
}
