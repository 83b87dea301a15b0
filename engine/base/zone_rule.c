#include "base/zone_rule.h"

enum { HOURS_MAX = 167, NAME_MIN = 3, HOUR_S = 3600, DAY_S = 86400 };

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c) {
        return false;
    }
    cursor->at++;
    return true;
}

static bool take_number(struct cursor *cursor, int least, int most, int *number)
{
    const char *start = cursor->at;

    *number = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' && cursor->at - start < 4) {
        *number = *number * 10 + (*cursor->at++ - '0');
    }
    return cursor->at > start && *number >= least && *number <= most;
}

// `CET`, or `<+0330>`.
static bool take_name(struct cursor *cursor)
{
    bool is_quoted = take(cursor, '<');
    const char *start = cursor->at;

    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool is_other = (c >= '0' && c <= '9') || c == '+' || c == '-';
        if (!is_letter && !(is_quoted && is_other)) {
            break;
        }
        cursor->at++;
    }
    return cursor->at - start >= NAME_MIN && (!is_quoted || take(cursor, '>'));
}

// `[+-]hh[:mm[:ss]]`
static bool take_time(struct cursor *cursor, int hours_most, int32_t *seconds)
{
    bool is_negative = take(cursor, '-');
    int hours = 0, minutes = 0, rest = 0;

    if (!is_negative) {
        (void)take(cursor, '+');
    }
    if (!take_number(cursor, 0, hours_most, &hours)) {
        return false;
    }
    if (take(cursor, ':')) {
        if (!take_number(cursor, 0, 59, &minutes) || (take(cursor, ':') && !take_number(cursor, 0, 59, &rest))) {
            return false;
        }
    }
    *seconds = hours * HOUR_S + minutes * 60 + rest;
    *seconds = is_negative ? -*seconds : *seconds;
    return true;
}

static bool take_day(struct cursor *cursor, struct zone_day *day)
{
    *day = (struct zone_day){ .time_s = 2 * HOUR_S };
    if (take(cursor, 'M')) {
        day->kind = ZONE_DAY_OF_WEEK;
        if (!take_number(cursor, 1, 12, &day->month) || !take(cursor, '.') || !take_number(cursor, 1, 5, &day->week) ||
            !take(cursor, '.') || !take_number(cursor, 0, 6, &day->weekday)) {
            return false;
        }
    } else if (take(cursor, 'J')) {
        day->kind = ZONE_DAY_JULIAN;
        if (!take_number(cursor, 1, 365, &day->day)) {
            return false;
        }
    } else {
        day->kind = ZONE_DAY_OF_YEAR;
        if (!take_number(cursor, 0, 365, &day->day)) {
            return false;
        }
    }
    return !take(cursor, '/') || take_time(cursor, HOURS_MAX, &day->time_s);
}

bool zone_rule_parse(struct text text, struct zone_rule *rule)
{
    struct cursor cursor = { text.data, text.data + text.length };

    *rule = (struct zone_rule){ 0 };
    if (!take_name(&cursor) || !take_time(&cursor, 24, &rule->standard)) {
        return false;
    }
    rule->standard = -rule->standard; // POSIX counts to the west
    if (cursor.at == cursor.end) {
        return true;
    }
    rule->has_summer = true;
    rule->summer = rule->standard + HOUR_S;
    if (!take_name(&cursor)) {
        return false;
    }
    if (cursor.at < cursor.end && *cursor.at != ',') {
        if (!take_time(&cursor, 24, &rule->summer)) {
            return false;
        }
        rule->summer = -rule->summer;
    }
    return take(&cursor, ',') && take_day(&cursor, &rule->start) && take(&cursor, ',') &&
           take_day(&cursor, &rule->end) && cursor.at == cursor.end;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Days from 1970-01-01 to the first of January.
static int64_t days_to_year(int year)
{
    int64_t before = year - 1;

    return 365 * ((int64_t)year - 1970) + (before / 4 - before / 100 + before / 400) - 477;
}

static int days_of_month(int year, int month)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return lengths[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

static int64_t day_of(const struct zone_day *day, int year)
{
    int64_t first = days_to_year(year);

    if (day->kind == ZONE_DAY_OF_YEAR) {
        return first + day->day;
    }
    if (day->kind == ZONE_DAY_JULIAN) {
        return first + day->day - 1 + (is_leap(year) && day->day >= 60 ? 1 : 0);
    }
    for (int month = 1; month < day->month; month++) {
        first += days_of_month(year, month);
    }
    int64_t weekday = (first + 4) % 7; // 1970-01-01 was a Thursday
    int64_t in_month = (day->weekday - weekday + 7) % 7 + 7 * (int64_t)(day->week - 1);
    while (in_month >= days_of_month(year, day->month)) {
        in_month -= 7;
    }
    return first + in_month;
}

int64_t zone_rule_start(const struct zone_rule *rule, int year)
{
    return day_of(&rule->start, year) * DAY_S + rule->start.time_s - rule->standard;
}

int64_t zone_rule_end(const struct zone_rule *rule, int year)
{
    return day_of(&rule->end, year) * DAY_S + rule->end.time_s - rule->summer;
}
