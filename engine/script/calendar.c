#include "script/calendar.h"

#include <string.h>

enum { DAY_S = 86400, MICROS = 1000000 };

// A reader over the text: every step either takes bytes or leaves the cursor alone.
struct cursor {
    const char *at;
    const char *end;
};

static size_t digits_ahead(const struct cursor *cursor)
{
    const char *p = cursor->at;

    while (p < cursor->end && *p >= '0' && *p <= '9') {
        p++;
    }
    return (size_t)(p - cursor->at);
}

static bool take_digits(struct cursor *cursor, size_t count, uint32_t *value)
{
    uint32_t sum = 0;

    if ((size_t)(cursor->end - cursor->at) < count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t digit = (uint32_t)(unsigned char)cursor->at[i] - '0';
        if (digit > 9) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    cursor->at += count;
    *value = sum;
    return true;
}

static bool take_byte(struct cursor *cursor, char byte)
{
    if (cursor->at < cursor->end && *cursor->at == byte) {
        cursor->at++;
        return true;
    }
    return false;
}

static bool is_leap(uint32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

bool calendar_is_date(uint32_t year, uint32_t month, uint32_t day)
{
    static const uint8_t lengths[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    return day <= lengths[month - 1] + (month == 2 && is_leap(year) ? 1U : 0U);
}

// Days from the civil date and back: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
int64_t calendar_days(uint32_t year, uint32_t month, uint32_t day)
{
    int64_t y = (int64_t)year - (month <= 2 ? 1 : 0);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

bool calendar_set_days(struct moment *moment, int64_t days)
{
    if (days < -719162 || days > 2932896) { // 0001-01-01, 9999-12-31
        return false;
    }
    int64_t z = days + 719468;
    int64_t era = z / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;

    moment->days = days;
    moment->day = (uint32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    moment->month = (uint32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    moment->year = (uint32_t)(year_of_era + era * 400 + (moment->month <= 2 ? 1 : 0));
    return true;
}

uint32_t calendar_weekday(int64_t days)
{
    return (uint32_t)(((days + 3) % 7 + 7) % 7 + 1); // 1970-01-01 was a Thursday
}

static bool take_date(struct cursor *cursor, struct moment *moment)
{
    if (!take_digits(cursor, 4, &moment->year)) {
        return false;
    }
    bool is_extended = take_byte(cursor, '-');
    if (!take_digits(cursor, 2, &moment->month) || (is_extended && !take_byte(cursor, '-')) ||
        !take_digits(cursor, 2, &moment->day) || !calendar_is_date(moment->year, moment->month, moment->day)) {
        return false;
    }
    moment->days = calendar_days(moment->year, moment->month, moment->day);
    return true;
}

// Decimals of a second; more than six digits are cut.
static bool take_fraction(struct cursor *cursor, uint32_t *micros)
{
    size_t count = digits_ahead(cursor);
    uint32_t value = 0;

    if (count == 0) {
        return false;
    }
    for (size_t i = 0; i < 6; i++) {
        value = value * 10 + (i < count ? (uint32_t)(cursor->at[i] - '0') : 0);
    }
    cursor->at += count;
    *micros = value;
    return true;
}

static bool take_time(struct cursor *cursor, struct moment *moment)
{
    if (!take_digits(cursor, 2, &moment->hour)) {
        return false;
    }
    bool is_extended = take_byte(cursor, ':');
    if (is_extended || digits_ahead(cursor) >= 2) {
        if (!take_digits(cursor, 2, &moment->minute)) {
            return false;
        }
        if (is_extended ? take_byte(cursor, ':') : digits_ahead(cursor) >= 2) {
            if (!take_digits(cursor, 2, &moment->second)) {
                return false;
            }
            if ((take_byte(cursor, '.') || take_byte(cursor, ',')) && !take_fraction(cursor, &moment->micros)) {
                return false;
            }
        }
    }
    moment->has_time = true;
    if (moment->hour == 24 && moment->minute == 0 && moment->second == 0 && moment->micros == 0) {
        moment->hour = 0;
        return calendar_set_days(moment, moment->days + 1);
    }
    return moment->hour < 24 && moment->minute < 60 && moment->second < 60;
}

static bool take_offset(struct cursor *cursor, struct moment *moment)
{
    uint32_t hours = 0, minutes = 0;

    if (take_byte(cursor, 'Z') || take_byte(cursor, 'z')) {
        moment->has_offset = true;
        return true;
    }
    bool is_west = take_byte(cursor, '-');
    if (!is_west && !take_byte(cursor, '+')) {
        return true;
    }
    if (!take_digits(cursor, 2, &hours)) {
        return false;
    }
    if ((take_byte(cursor, ':') || digits_ahead(cursor) > 0) && !take_digits(cursor, 2, &minutes)) {
        return false;
    }
    if (hours > 18 || minutes > 59) {
        return false;
    }
    moment->offset_min = (int32_t)(hours * 60 + minutes);
    if (is_west) {
        moment->offset_min = -moment->offset_min;
    }
    moment->has_offset = true;
    return true;
}

bool calendar_parse(struct text text, struct moment *moment)
{
    struct cursor cursor = { text.data, text.data + text.length };

    *moment = (struct moment){ 0 };
    if (text.length == 0 || !take_date(&cursor, moment)) {
        return false;
    }
    if (cursor.at == cursor.end) {
        return true;
    }
    if (!take_byte(&cursor, 'T') && !take_byte(&cursor, 't') && !take_byte(&cursor, ' ')) {
        return false;
    }
    return take_time(&cursor, moment) && take_offset(&cursor, moment) && cursor.at == cursor.end;
}

bool calendar_parse_http(struct text text, int64_t *epoch_s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char names[] = "MonTueWedThuFriSatSun";
    struct moment moment = { 0 };
    struct cursor cursor = { text.data, text.data + text.length };

    if (text.length != 29 || memcmp(text.data + 3, ", ", 2) != 0 || memcmp(text.data + 25, " GMT", 4) != 0) {
        return false;
    }
    cursor.at += 5;
    if (!take_digits(&cursor, 2, &moment.day) || !take_byte(&cursor, ' ')) {
        return false;
    }
    for (uint32_t i = 0; i < 12; i++) {
        if (memcmp(cursor.at, months + (size_t)i * 3, 3) == 0) {
            moment.month = i + 1;
        }
    }
    cursor.at += 3;
    if (!take_byte(&cursor, ' ') || !take_digits(&cursor, 4, &moment.year) || !take_byte(&cursor, ' ') ||
        !take_digits(&cursor, 2, &moment.hour) || !take_byte(&cursor, ':') ||
        !take_digits(&cursor, 2, &moment.minute) || !take_byte(&cursor, ':') ||
        !take_digits(&cursor, 2, &moment.second) || !calendar_is_date(moment.year, moment.month, moment.day) ||
        moment.hour > 23 || moment.minute > 59 || moment.second > 60) {
        return false;
    }
    moment.days = calendar_days(moment.year, moment.month, moment.day);
    if (memcmp(text.data, names + (size_t)(calendar_weekday(moment.days) - 1) * 3, 3) != 0) {
        return false;
    }
    *epoch_s = calendar_epoch_us(&moment) / MICROS;
    return true;
}

struct duration_unit {
    char letter;
    bool is_time;
    int64_t seconds; // 0: of no fixed length
};

static const struct duration_unit DURATION_UNITS[] = {
    { 'Y', false, 0 },   { 'M', false, 0 }, { 'W', false, 7 * DAY_S }, { 'D', false, DAY_S },
    { 'H', true, 3600 }, { 'M', true, 60 }, { 'S', true, 1 },
};

// One number with its letter; units must come in the order of the table, from `*first` on.
static bool take_component(struct cursor *cursor, bool is_time, size_t *first, int64_t *seconds, bool *has_fraction)
{
    uint32_t value = 0, fraction = 0;
    size_t count = digits_ahead(cursor);

    if (count == 0 || count > 9 || *has_fraction || !take_digits(cursor, count, &value)) {
        return false;
    }
    if (take_byte(cursor, '.') || take_byte(cursor, ',')) {
        *has_fraction = true;
        if (!take_fraction(cursor, &fraction)) {
            return false;
        }
    }
    for (size_t i = *first; i < COUNT_OF(DURATION_UNITS); i++) {
        const struct duration_unit *unit = &DURATION_UNITS[i];
        if (unit->is_time == is_time && take_byte(cursor, unit->letter)) {
            *first = i + 1;
            *seconds += (int64_t)value * unit->seconds + (int64_t)fraction * unit->seconds / MICROS;
            return unit->seconds != 0 || (value == 0 && fraction == 0);
        }
    }
    return false;
}

bool calendar_parse_duration(struct text text, int64_t *seconds)
{
    struct cursor cursor = { text.data, text.data + text.length };
    size_t first = 0;
    int64_t sum = 0;
    bool is_time = false, has_fraction = false, has_component = false;

    if (text.length == 0 || !take_byte(&cursor, 'P')) {
        return false;
    }
    while (cursor.at < cursor.end) {
        if (!is_time && take_byte(&cursor, 'T')) {
            is_time = true; // and something must follow it
        }
        if (!take_component(&cursor, is_time, &first, &sum, &has_fraction)) {
            return false;
        }
        has_component = true;
    }
    *seconds = sum;
    return has_component;
}

int64_t calendar_epoch_us(const struct moment *moment)
{
    int64_t seconds = moment->days * DAY_S + (int64_t)moment->hour * 3600 + (int64_t)moment->minute * 60 +
                      (int64_t)moment->second - (int64_t)moment->offset_min * 60;

    return seconds * MICROS + (int64_t)moment->micros;
}

bool calendar_of_epoch_us(int64_t epoch_us, struct moment *moment)
{
    const int64_t day_us = (int64_t)DAY_S * MICROS;
    int64_t days = epoch_us / day_us;
    int64_t rest = epoch_us % day_us;

    if (rest < 0) {
        rest += day_us;
        days--;
    }
    *moment = (struct moment){ .has_time = true, .has_offset = true };
    moment->micros = (uint32_t)(rest % MICROS);
    rest /= MICROS;
    moment->hour = (uint32_t)(rest / 3600);
    moment->minute = (uint32_t)(rest / 60 % 60);
    moment->second = (uint32_t)(rest % 60);
    return calendar_set_days(moment, days);
}

// ---- the usual spelling ---------------------------------------------------------------------------------------------

// Eight bytes at once against a pattern in which 0 stands for a digit: digits become their values, the rest zero.
// False: a byte that does not fit. `tops` holds for each byte what takes the first value that does not fit to 128.
static bool take_word(uint64_t word, const char pattern[8], uint64_t tops, uint8_t out[8])
{
    uint64_t shape = 0;

    memcpy(&shape, pattern, sizeof shape);
    word ^= shape;
    memcpy(out, &word, sizeof word);
    return (((word + tops) | word) & 0x8080808080808080ULL) == 0;
}

static bool take_pattern(const char *at, const char pattern[8], uint64_t tops, uint8_t out[8])
{
    uint64_t word = 0;

    memcpy(&word, at, sizeof word);
    return take_word(word, pattern, tops, out);
}

static uint32_t pair(const uint8_t digits[2])
{
    return (uint32_t)digits[0] * 10 + digits[1];
}

static const uint64_t TOPS_DATE = 0x7f76767f76767676ULL; // 0000-00-, the first byte lowest
static const uint64_t TOPS_TIME = 0x76767f76767f7676ULL; // 00T00:00

static bool spell_offset(const char *at, size_t length, struct calendar_spelling *spelling)
{
    uint8_t digits[8];
    uint32_t hours = 0; // `01:0` of `+01:00`

    spelling->has_offset = length > 0;
    spelling->offset_min = 0;
    if (length == 0 || (length == 1 && *at == 'Z')) {
        return true;
    }
    if (length != 6 || (*at != '+' && *at != '-') || at[3] != ':') {
        return false;
    }
    memcpy(&hours, at + 1, sizeof hours);
    uint64_t word = 0x543030 | (uint64_t)hours << 24 | (uint64_t)(unsigned char)at[5] << 56; // behind `00T`
    if (!take_word(word, "00T00:00", TOPS_TIME, digits) || pair(digits + 3) > 18 || pair(digits + 6) > 59) {
        return false;
    }
    spelling->offset_min = (int32_t)(pair(digits + 3) * 60 + pair(digits + 6));
    if (*at == '-') {
        spelling->offset_min = -spelling->offset_min;
    }
    return true;
}

// The days since 1970 of the ten bytes at `at`. False: they are no date.
static bool spell_day(const char *at, struct calendar_days *days, int64_t *number)
{
    struct calendar_day *kept = &days->kept[(unsigned char)at[9] % CALENDAR_DAYS]; // neighbours have different ones
    uint32_t ones = (unsigned char)at[9] - (uint32_t)'0', tens = (unsigned char)at[8] - (uint32_t)'0';
    uint8_t month[8];

    if (!text_same_bytes(at, kept->spelt, sizeof kept->spelt)) {
        if (!take_pattern(at, "0000-00-", TOPS_DATE, month) || tens > 3 || ones > 9) {
            return false;
        }
        uint32_t year = pair(month) * 100 + pair(month + 2), day = tens * 10 + ones;
        if (!calendar_is_date(year, pair(month + 5), day)) {
            return false;
        }
        memcpy(kept->spelt, at, sizeof kept->spelt);
        kept->days = calendar_days(year, pair(month + 5), day);
    }
    *number = kept->days;
    return true;
}

bool calendar_spell(struct text text, struct calendar_days *days, struct calendar_spelling *spelling)
{
    int64_t day = 0;
    uint8_t time[8];
    size_t length = CALENDAR_LOCAL - 3;
    uint32_t seconds = 0;

    if (text.length < length || !spell_day(text.data, days, &day) ||
        !take_pattern(text.data + 8, "00T00:00", TOPS_TIME, time)) {
        return false;
    }
    memcpy(spelling->local, text.data, length);
    memcpy(spelling->local + length, ":00", 3);
    if (text.length >= CALENDAR_LOCAL && text.data[length] == ':') {
        uint32_t tens = (unsigned char)text.data[length + 1] - (uint32_t)'0';
        uint32_t ones = (unsigned char)text.data[length + 2] - (uint32_t)'0';
        if (tens > 5 || ones > 9) {
            return false;
        }
        memcpy(spelling->local + length, text.data + length, 3);
        length = CALENDAR_LOCAL;
        seconds = tens * 10 + ones;
    }
    uint32_t hour = pair(time + 3), minute = pair(time + 6);
    spelling->local_s = day * DAY_S + (int64_t)(hour * 3600 + minute * 60 + seconds);
    return hour < 24 && minute < 60 && spell_offset(text.data + length, text.length - length, spelling);
}

bool calendar_spell_utc(struct calendar_spelling *spelling)
{
    char *at = spelling->local;

    if (!spelling->has_offset) {
        return false;
    }
    if (spelling->offset_min != 0) {
        int32_t minutes = (at[11] - '0') * 600 + (at[12] - '0') * 60 + (at[14] - '0') * 10 + (at[15] - '0');
        minutes -= spelling->offset_min;
        if (minutes < 0 || minutes >= DAY_S / 60) {
            return false;
        }
        at[11] = (char)('0' + minutes / 600);
        at[12] = (char)('0' + minutes / 60 % 10);
        at[14] = (char)('0' + minutes / 10 % 6);
        at[15] = (char)('0' + minutes % 10);
    }
    at[CALENDAR_LOCAL] = 'Z';
    return true;
}

// ---- writing -------------------------------------------------------------------------------------------------------

static char *put(char *out, uint32_t value, size_t width)
{
    for (size_t i = width; i > 0; i--) {
        out[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + width;
}

static char *put_date(char *out, const struct moment *moment)
{
    out = put(out, moment->year, 4);
    *out++ = '-';
    out = put(out, moment->month, 2);
    *out++ = '-';
    return put(out, moment->day, 2);
}

static char *put_local(char *out, const struct moment *moment)
{
    out = put_date(out, moment);
    *out++ = 'T';
    out = put(out, moment->hour, 2);
    *out++ = ':';
    out = put(out, moment->minute, 2);
    *out++ = ':';
    return put(out, moment->second, 2);
}

size_t calendar_write_date(const struct moment *moment, char out[CALENDAR_TEXT_MAX])
{
    char *end = put_date(out, moment);

    *end = '\0';
    return (size_t)(end - out);
}

size_t calendar_write_local(const struct moment *moment, char out[CALENDAR_TEXT_MAX])
{
    char *end = put_local(out, moment);

    *end = '\0';
    return (size_t)(end - out);
}

size_t calendar_write_utc(const struct moment *moment, char out[CALENDAR_TEXT_MAX])
{
    char *end = put_local(out, moment);

    if (moment->micros >= 1000) {
        *end++ = '.';
        end = put(end, moment->micros / 1000, 3);
    }
    *end++ = 'Z';
    *end = '\0';
    return (size_t)(end - out);
}
