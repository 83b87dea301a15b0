#include "base/clock.h"

#include <time.h>

static uint64_t clock_read_us(clockid_t id)
{
    struct timespec now;

    require(clock_gettime(id, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}

uint64_t clock_now_us(void)
{
    uint64_t now_us = clock_read_us(CLOCK_MONOTONIC);

    return now_us != 0 ? now_us : 1; // 0 means "never" to everyone
}

uint64_t clock_wall_us(void)
{
    return clock_read_us(CLOCK_REALTIME);
}

uint64_t clock_thread_cpu_us(void)
{
    return clock_read_us(CLOCK_THREAD_CPUTIME_ID);
}

static char *clock_put(char *out, uint64_t value, size_t digits)
{
    for (size_t i = digits; i != 0; i--) {
        out[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + digits;
}

// Not gmtime: it takes a lock of the C library's, which a demoted thread may hold.
// The date from the day number: H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
size_t clock_print_utc(uint64_t wall_us, char out[CLOCK_UTC_SIZE])
{
    uint64_t second = wall_us / 1000000;
    uint64_t shifted = second / 86400 + 719468; // days since 0000-03-01
    uint64_t day_of_era = shifted % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t shifted_month = (5 * day_of_year + 2) / 153;
    uint64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    char *end = clock_put(out, shifted / 146097 * 400 + year_of_era + (month <= 2), 4);

    *end++ = '-';
    end = clock_put(end, month, 2);
    *end++ = '-';
    end = clock_put(end, day_of_year - (153 * shifted_month + 2) / 5 + 1, 2);
    *end++ = 'T';
    end = clock_put(end, second / 3600 % 24, 2);
    *end++ = ':';
    end = clock_put(end, second / 60 % 60, 2);
    *end++ = ':';
    end = clock_put(end, second % 60, 2);
    *end++ = '.';
    end = clock_put(end, wall_us / 1000 % 1000, 3);
    *end++ = 'Z';
    *end = '\0';
    return (size_t)(end - out);
}

/// The number that so many digits from `at` on make.
static uint64_t number_at(struct text text, size_t at, size_t digits)
{
    uint64_t number = 0;

    for (size_t i = at; i < at + digits; i++) {
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return number;
}

static bool has_layout(struct text text, const char *layout)
{
    if (text.length != strlen(layout)) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';
        if (layout[i] == 'd' ? !is_digit : text.data[i] != layout[i]) {
            return false;
        }
    }
    return true;
}

// The day number from the date: H. Hinnant, as above, days_from_civil.
bool clock_read_utc(struct text text, uint64_t *wall_ms)
{
    static const uint8_t DAYS[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool has_thousandths = has_layout(text, "dddd-dd-ddTdd:dd:dd.dddZ");

    if (!has_thousandths && !has_layout(text, "dddd-dd-ddTdd:dd:ddZ")) {
        return false;
    }
    uint64_t year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
    uint64_t hour = number_at(text, 11, 2), minute = number_at(text, 14, 2), second = number_at(text, 17, 2);
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || day > DAYS[month - 1] || (month == 2 && day == 29 && !is_leap) ||
        hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    *wall_ms = 0;
    if (year < 1970) {
        return true;
    }
    uint64_t shifted_year = month > 2 ? year : year - 1;
    uint64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    uint64_t days = shifted_year * 365 + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 + day_of_year;
    days -= 719468; // from 0000-03-01 to 1970-01-01
    *wall_ms = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000;
    *wall_ms += has_thousandths ? number_at(text, 20, 3) : 0;
    return true;
}
