// The usual spelling, read without arithmetic, says what the calendar says.

#include "script/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const spellings[] = {
    "2027-05-03T20:05:00",       "2027-05-03T20:05",          "2027-05-03T20:05Z",         "2027-05-03T20:05:59Z",
    "2027-05-03T00:30:00+01:00", "2027-05-03T23:30:00-01:00", "2027-05-03T12:30:00+05:45", "2028-02-29T23:59:59-00:00",
    "2027-05-03T18:00:00+18:00", "2027-05-03T05:59:00-18:00", "0001-01-01T00:00:00",       "9999-12-31T23:59:59",
};

// True: both ways agree on this text, whatever they say, also when days of other texts are known.
static bool agree(struct text text, bool *is_spelled)
{
    static struct calendar_days kept;
    struct calendar_spelling spelling;
    struct calendar_days fresh = { .kept = { { .days = 0 } } };
    struct moment moment, utc;
    char local[CALENDAR_TEXT_MAX], other[CALENDAR_TEXT_MAX];

    bool is_spelled_alone = calendar_spell(text, &fresh, &spelling);
    *is_spelled = calendar_spell(text, &kept, &spelling);
    if (!*is_spelled) {
        return !is_spelled_alone;
    }
    if (!calendar_parse(text, &moment) || !moment.has_time || moment.has_offset != spelling.has_offset ||
        moment.offset_min != spelling.offset_min || calendar_write_local(&moment, local) != CALENDAR_LOCAL ||
        memcmp(local, spelling.local, CALENDAR_LOCAL) != 0 || !is_spelled_alone) {
        return false;
    }
    moment.offset_min = 0;
    if (calendar_epoch_us(&moment) != spelling.local_s * 1000000) {
        return false;
    }
    moment.offset_min = spelling.offset_min;
    if (!calendar_spell_utc(&spelling)) {
        return true;
    }
    return moment.has_offset && calendar_of_epoch_us(calendar_epoch_us(&moment), &utc) &&
           calendar_write_utc(&utc, other) == CALENDAR_LOCAL + 1 &&
           memcmp(other, spelling.local, CALENDAR_LOCAL + 1) == 0;
}

static void the_usual_spellings_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        bool is_spelled = false;
        if (!agree(text_of(spellings[i]), &is_spelled) || !is_spelled) {
            fail_msg("%s", spellings[i]);
        }
    }
}

static void every_changed_byte_is_read_as_the_calendar_reads_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        char text[32];
        size_t length = strlen(spellings[i]);
        for (size_t at = 0; at < length; at++) {
            for (int byte = 0; byte < 256; byte++) {
                bool is_spelled = false;
                memcpy(text, spellings[i], length);
                text[at] = (char)byte;
                if (!agree((struct text){ text, length }, &is_spelled)) {
                    fail_msg("%.*s", (int)length, text);
                }
            }
        }
        for (size_t cut = 0; cut < length; cut++) {
            char *exact = malloc(cut + 1); // no byte behind it may be read
            bool is_spelled = false;
            assert_non_null(exact);
            memcpy(exact, spellings[i], cut);
            assert_true(agree((struct text){ exact, cut }, &is_spelled));
            free(exact);
        }
    }
}

static void every_day_and_minute_goes_to_utc(void **state)
{
    char text[32];
    (void)state;

    for (int minute = 0; minute < 1440; minute++) {
        for (int offset = -1080; offset <= 1080; offset += 15) {
            bool is_spelled = false;
            (void)snprintf(text, sizeof text, "2027-%02d-%02dT%02d:%02d:07%c%02d:%02d", 1 + minute % 12,
                           1 + minute % 31, minute / 60, minute % 60, offset < 0 ? '-' : '+', abs(offset) / 60,
                           abs(offset) % 60);
            if (!agree(text_of(text), &is_spelled)) {
                fail_msg("%s", text);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_spellings_are_known),
        cmocka_unit_test(every_changed_byte_is_read_as_the_calendar_reads_it),
        cmocka_unit_test(every_day_and_minute_goes_to_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
