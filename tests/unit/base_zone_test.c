// Time zones of the system, over whose rules nobody here has a say: the dates are of the past, or follow from footers
// that have stood for decades.

#include "base/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct zone *open_zone(const char *name)
{
    struct zone *zone = NULL;
    const char *why = NULL;

    if (zone_load(name, &zone, &why) != STATUS_OK) {
        fail_msg("%s: %s", name, why);
    }
    return zone;
}

// "2027-03-28 02:30:00" as if it were UTC.
static int64_t seconds_of(const char *text)
{
    struct tm parts = { 0 };

    assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &parts));
    return timegm(&parts);
}

static void assert_instants(const char *zone_name_text, const char *local, size_t count, const char *first,
                            const char *second)
{
    struct zone *zone = open_zone(zone_name_text);
    int64_t instants[2] = { 0, 0 };

    size_t found = zone_instants(zone, seconds_of(local), instants);
    if (found != count || (count > 0 && instants[0] != seconds_of(first)) ||
        (count > 1 && instants[1] != seconds_of(second))) {
        fail_msg("%s %s: %zu instants, %lld and %lld", zone_name_text, local, found, (long long)instants[0],
                 (long long)instants[1]);
    }
    zone_destroy(&zone);
}

static void a_clock_time_is_one_instant_on_most_days(void **state)
{
    (void)state;
    assert_instants("Asia/Tokyo", "2022-04-16 19:53:00", 1, "2022-04-16 10:53:00", NULL);
    assert_instants("America/New_York", "2022-04-16 18:59:00", 1, "2022-04-16 22:59:00", NULL);
    assert_instants("America/New_York", "2022-01-16 18:59:00", 1, "2022-01-16 23:59:00", NULL);
    assert_instants("Europe/London", "2030-05-14 10:00:00", 1, "2030-05-14 09:00:00", NULL);
    assert_instants("UTC", "1999-12-31 23:59:59", 1, "1999-12-31 23:59:59", NULL);
}

static void zones_of_halves_and_quarters_of_hours_are_exact(void **state)
{
    (void)state;
    assert_instants("Asia/Kolkata", "2027-05-03 00:15:00", 1, "2027-05-02 18:45:00", NULL);
    assert_instants("Asia/Kathmandu", "2027-05-03 00:15:00", 1, "2027-05-02 18:30:00", NULL);
    assert_instants("Australia/Adelaide", "2027-01-03 00:15:00", 1, "2027-01-02 13:45:00", NULL);
    assert_instants("Australia/Adelaide", "2027-07-03 00:15:00", 1, "2027-07-02 14:45:00", NULL);
}

static void an_hour_that_was_skipped_has_no_instant(void **state)
{
    (void)state;
    assert_instants("Europe/Paris", "2022-03-27 02:00:00", 0, NULL, NULL);
    assert_instants("Europe/Paris", "2022-03-27 02:59:59", 0, NULL, NULL);
    assert_instants("Europe/Paris", "2022-03-27 01:59:59", 1, "2022-03-27 00:59:59", NULL);
    assert_instants("Europe/Paris", "2022-03-27 03:00:00", 1, "2022-03-27 01:00:00", NULL);
}

static void an_hour_that_came_twice_has_two_the_earlier_first(void **state)
{
    (void)state;
    assert_instants("Europe/Paris", "2022-10-30 02:30:00", 2, "2022-10-30 00:30:00", "2022-10-30 01:30:00");
    assert_instants("Europe/Paris", "2022-10-30 01:59:59", 1, "2022-10-29 23:59:59", NULL);
    assert_instants("Europe/Paris", "2022-10-30 03:00:00", 1, "2022-10-30 02:00:00", NULL);
    assert_instants("Australia/Lord_Howe", "2022-04-03 01:45:00", 2, "2022-04-02 14:45:00", "2022-04-02 15:15:00");
}

static void a_day_that_the_date_line_took_has_no_instant(void **state)
{
    (void)state;
    assert_instants("Pacific/Apia", "2011-12-30 12:00:00", 0, NULL, NULL);
    assert_instants("Pacific/Apia", "2011-12-29 12:00:00", 1, "2011-12-29 22:00:00", NULL);
    assert_instants("Pacific/Kiritimati", "2027-05-03 10:00:00", 1, "2027-05-02 20:00:00", NULL);
}

static void the_footer_rules_the_years_after_the_table(void **state)
{
    (void)state;
    assert_instants("Europe/Berlin", "2150-07-01 12:00:00", 1, "2150-07-01 10:00:00", NULL);
    assert_instants("Europe/Berlin", "2150-12-01 12:00:00", 1, "2150-12-01 11:00:00", NULL);
    assert_instants("America/Santiago", "2100-01-01 12:00:00", 1, "2100-01-01 15:00:00", NULL);
    assert_instants("America/Santiago", "2100-07-01 12:00:00", 1, "2100-07-01 16:00:00", NULL);
}

// libc knows one zone at a time; over a century of hours it says the same.
static void every_offset_is_that_of_libc(void **state)
{
    static const char *const names[] = { "Europe/London", "America/New_York",  "Australia/Lord_Howe",
                                         "Asia/Tehran",   "Africa/Casablanca", "America/Sao_Paulo",
                                         "Pacific/Apia",  "Europe/Dublin",     "America/Nuuk",
                                         "Africa/Cairo" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct zone *zone = open_zone(names[i]);
        setenv("TZ", names[i], 1);
        tzset();
        for (int64_t at = 0; at < 4102444800LL; at += 7 * 3600 + 1) {
            struct tm parts;
            time_t clock = (time_t)at;
            localtime_r(&clock, &parts);
            if (parts.tm_gmtoff != zone_offset(zone, at)) {
                fail_msg("%s at %lld: libc %ld, ours %d", names[i], (long long)at, parts.tm_gmtoff,
                         zone_offset(zone, at));
            }
        }
        zone_destroy(&zone);
    }
    unsetenv("TZ");
    tzset();
}

static void names_that_lead_out_of_the_folder_are_none(void **state)
{
    static const char *const names[] = { "", "/etc/passwd", "../../../etc/passwd", "Europe/../UTC", "No/Such", "a b" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct zone *zone = NULL;
        const char *why = NULL;
        assert_int_equal(zone_load(names[i], &zone, &why), STATUS_NOT_FOUND);
        assert_null(zone);
        assert_non_null(why);
    }
}

// ---- files that are none -------------------------------------------------------------------------------------------

static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rbe");

    assert_non_null(file);
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static enum status parse(const char *bytes, size_t length)
{
    struct zone *zone = NULL;
    const char *why = NULL;
    char *exact = malloc(length + 1); // so that a read past the end is seen

    assert_non_null(exact);
    memcpy(exact, bytes, length);
    enum status status = zone_parse(TEXT("x"), (struct text){ exact, length }, &zone, &why);
    assert_true((status == STATUS_OK) == (zone != NULL));
    assert_true(status == STATUS_OK || why != NULL);
    zone_destroy(&zone);
    free(exact);
    return status;
}

static void a_file_that_is_cut_anywhere_is_refused(void **state)
{
    char bytes[8192];
    size_t length = read_file("/usr/share/zoneinfo/Europe/Paris", bytes, sizeof bytes);

    (void)state;
    assert_int_equal(parse(bytes, length), STATUS_OK);
    for (size_t cut = 0; cut < length; cut++) {
        assert_int_equal(parse(bytes, cut), STATUS_INVALID);
    }
}

static void changes_out_of_order_are_refused(void **state)
{
    static const char header[] = "TZif2";
    char bytes[8192];
    size_t length = read_file("/usr/share/zoneinfo/Europe/Paris", bytes, sizeof bytes);
    char *second = memmem(bytes + 1, length - 1, header, sizeof header - 1); // the part that counts

    (void)state;
    assert_non_null(second);
    char *changes = second + 44;
    char first_two[16];
    memcpy(first_two, changes, sizeof first_two);
    memcpy(changes, first_two + 8, 8);
    memcpy(changes + 8, first_two, 8);
    assert_int_equal(parse(bytes, length), STATUS_INVALID);
    memcpy(changes, first_two, 8); // both the same
    assert_int_equal(parse(bytes, length), STATUS_INVALID);
    memcpy(changes, first_two, sizeof first_two);
    assert_int_equal(parse(bytes, length), STATUS_OK);
}

static void a_file_with_any_byte_changed_is_read_or_refused(void **state)
{
    char bytes[8192];
    size_t length = read_file("/usr/share/zoneinfo/Europe/Paris", bytes, sizeof bytes);

    (void)state;
    for (size_t i = 0; i < length; i++) {
        char before = bytes[i];
        bytes[i] = (char)(before ^ 0xff);
        (void)parse(bytes, length);
        bytes[i] = before;
    }
}

// ---- places --------------------------------------------------------------------------------------------------------

struct findings {
    size_t count;
    char text[2000];
};

static void on_finding(void *context, const struct failure *failure)
{
    struct findings *findings = context;
    size_t length = strlen(findings->text);

    findings->count++;
    (void)snprintf(findings->text + length, sizeof findings->text - length, "%u: %s\n", failure->line,
                   failure->message);
}

static struct places *load_places(const char *content, struct findings *findings)
{
    char path[] = "/tmp/lastcall-places-XXXXXX";
    struct places *places = NULL;
    int file = mkstemp(path);

    assert_true(file >= 0);
    FILE *stream = fdopen(file, "w");
    fputs(content, stream);
    fclose(stream);
    enum status status = places_load(path, on_finding, findings, &places);
    assert_true((status == STATUS_OK) == (places != NULL));
    assert_true((status == STATUS_INVALID) == (findings->count > 0));
    remove(path);
    return places;
}

static void places_tell_the_zone_of_a_code(void **state)
{
    struct findings findings = { 0 };
    struct places *places =
        load_places("# airports\nEurope/London LHR  LGW # and so on\n\nAsia/Tokyo HND\n", &findings);

    (void)state;
    assert_non_null(places);
    assert_int_equal(places_count(places), 3);
    assert_true(text_equals_c(zone_name(places_zone(places, TEXT("LGW"))), "Europe/London"));
    assert_true(text_equals_c(zone_name(places_zone(places, TEXT("HND"))), "Asia/Tokyo"));
    assert_null(places_zone(places, TEXT("XXX")));
    assert_null(places_zone(places, TEXT("lhr")));
    assert_null(places_zone(places, TEXT("LH")));
    assert_non_null(places_zone_named(places, TEXT("Asia/Tokyo")));
    assert_null(places_zone_named(places, TEXT("Asia/Seoul")));
    places_destroy(&places);
}

static void whatever_is_wrong_with_places_is_told_with_its_line(void **state)
{
    struct findings findings = { 0 };

    (void)state;
    assert_null(load_places("Europe/London LHR\nNo/Such ABC\nAsia/Tokyo HND hnd LHR\nEurope/Paris\n", &findings));
    assert_string_equal(findings.text, "2: zone `No/Such`: there is no such zone\n"
                                       "3: `hnd` is no code of three capitals\n"
                                       "3: `LHR` stands in this file twice\n"
                                       "4: codes expected after `Europe/Paris`\n");
}

static void the_airports_of_the_scripts_can_all_be_read(void **state)
{
    struct findings findings = { 0 };
    struct places *places = NULL;

    (void)state;
    assert_int_equal(places_load("scripts/data/airports.txt", on_finding, &findings, &places), STATUS_OK);
    assert_true(places_count(places) > 4500);
    static const char *const known[][2] = {
        { "ATL", "America/New_York" },   { "DXB", "Asia/Dubai" },         { "LON", "Europe/London" },
        { "PHX", "America/Phoenix" },    { "KTM", "Asia/Kathmandu" },     { "ADL", "Australia/Adelaide" },
        { "URC", "Asia/Shanghai" },      { "OOL", "Australia/Brisbane" }, { "JEG", "America/Nuuk" },
        { "CXI", "Pacific/Kiritimati" }, { "ASF", "Europe/Astrakhan" },   { "CUN", "America/Cancun" },
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const struct zone *zone = places_zone(places, text_of(known[i][0]));
        if (zone == NULL || !text_equals_c(zone_name(zone), known[i][1])) {
            fail_msg("%s: %s", known[i][0], zone == NULL ? "unknown" : zone_name(zone).data);
        }
    }
    places_destroy(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_time_is_one_instant_on_most_days),
        cmocka_unit_test(zones_of_halves_and_quarters_of_hours_are_exact),
        cmocka_unit_test(an_hour_that_was_skipped_has_no_instant),
        cmocka_unit_test(an_hour_that_came_twice_has_two_the_earlier_first),
        cmocka_unit_test(a_day_that_the_date_line_took_has_no_instant),
        cmocka_unit_test(the_footer_rules_the_years_after_the_table),
        cmocka_unit_test(every_offset_is_that_of_libc),
        cmocka_unit_test(names_that_lead_out_of_the_folder_are_none),
        cmocka_unit_test(a_file_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(changes_out_of_order_are_refused),
        cmocka_unit_test(a_file_with_any_byte_changed_is_read_or_refused),
        cmocka_unit_test(places_tell_the_zone_of_a_code),
        cmocka_unit_test(whatever_is_wrong_with_places_is_told_with_its_line),
        cmocka_unit_test(the_airports_of_the_scripts_can_all_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
