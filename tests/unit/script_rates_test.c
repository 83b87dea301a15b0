#include "script/rates.h"

#include "script/amount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TABLE_OF(rates)                                                                                                \
    "{ \"id\": \"t-1\", \"as_of\": \"2026-11-29T15:00:00+01:00\", \"base\": \"EUR\", \"rates\": {" rates "} }"

static const char TABLE[] =
    TABLE_OF("\"USD\": 1.0842, \"GBP\": \"0.8611\", \"JPY\": 163.05, \"KWD\": 0.33287, \"XAU\": 0.00025,"
             "\"CLF\": 0.0241937, \"IRR\": 49123.456789, \"XOF\": 655.957,"
             "\"BHD\": 0.408123456789, \"VND\": 27451.0000001, \"UYW\": 0.000012345");

static const uint64_t HOUR_US = 3600000000ULL;
static const uint64_t AS_OF_US = 1795960800000000ULL; // 2026-11-29T14:00:00Z

struct findings {
    size_t count;
    char text[1000];
};

static void on_finding(void *context, const struct failure *failure)
{
    struct findings *findings = context;
    size_t length = strlen(findings->text);

    findings->count++;
    (void)snprintf(findings->text + length, sizeof findings->text - length, "%s:%u:%u: %s\n", failure->file,
                   failure->line, failure->column, failure->message);
}

static struct rates *table(void)
{
    struct findings findings = { 0 };
    struct rates *rates = NULL;

    if (rates_parse(text_of(TABLE), "rates.json", 36 * HOUR_US, on_finding, &findings, &rates) != STATUS_OK) {
        fail_msg("%s", findings.text);
    }
    return rates;
}

// What `amount` becomes; "": out of range.
static const char *convert(const struct rates *rates, const char *amount, const char *from, const char *to,
                           char out[AMOUNT_TEXT_MAX])
{
    struct conversion conversion;
    int64_t micros = 0, converted = 0;
    const char *why = NULL;

    if (!amount_parse(text_of(amount), amount_exponent(text_of(from)), &micros, &why)) {
        fail_msg("%s %s: %s", amount, from, why);
    }
    assert_true(rates_find(rates, text_of(from), text_of(to), &conversion));
    out[0] = 0;
    if (conversion_apply(&conversion, micros, &converted)) {
        (void)amount_write(converted, conversion.decimals, out);
    }
    return out;
}

// All codes of three letters are asked, so one that is out of order in the table would be missed here.
static void every_currency_of_iso_4217_has_its_decimals(void **state)
{
    static const char others[] =
        "BHD3BIF0CLF4CLP0DJF0GNF0IQD3ISK0JOD3JPY0KMF0KRW0KWD3LYD3OMR3PYG0RWF0TND3UGX0UYI0UYW4VND0"
        "VUV0XAF0XOF0XPF0";
    size_t count = 0, place = 0;

    (void)state;
    for (int number = 0; number < 26 * 26 * 26; number++) {
        char code[4] = { (char)('A' + number / 676), (char)('A' + number / 26 % 26), (char)('A' + number % 26), 0 };
        int decimals = amount_exponent(text_of(code));
        count += decimals >= 0 ? 1 : 0;
        if (decimals >= 0 && decimals != 2) {
            assert_memory_equal(others + place, code, 3);
            assert_int_equal(others[place + 3] - '0', decimals);
            place += 4;
        }
    }
    assert_int_equal(place, sizeof others - 1);
    assert_int_equal(count, 166);
}

static void a_table_says_what_it_is(void **state)
{
    struct rates *rates = table();

    (void)state;
    assert_true(text_equals_c(rates_id(rates), "t-1"));
    assert_true(text_equals_c(rates_as_of(rates), "2026-11-29T14:00:00Z"));
    assert_true(text_equals_c(rates_base(rates), "EUR"));
    assert_true(text_equals_c(rates_json(rates), "{\"id\":\"t-1\",\"as_of\":\"2026-11-29T14:00:00Z\"}"));
    assert_int_equal(rates_count(rates), 11); // gold is no money
    rates_release(&rates);
    assert_null(rates);
}

// The results were worked out with bc, to 60 digits.
static void every_conversion_is_exact_and_rounded_once(void **state)
{
    static const struct {
        const char *amount, *from, *to, *expected;
    } cases[] = {
        { "412.30", "EUR", "USD", "447.02" },
        { "412.30", "EUR", "JPY", "67226" },
        { "60200", "JPY", "EUR", "369.21" },
        { "0.01", "EUR", "JPY", "2" },
        { "1", "JPY", "KWD", "0.002" },
        { "123.456", "KWD", "JPY", "60473" },
        { "0.0001", "CLF", "EUR", "0.00" },
        { "1000000.00", "EUR", "CLF", "24193.7000" },
        { "9223372036854.77", "EUR", "USD", NULL },
        { "9223372036854.775", "KWD", "GBP", NULL },
        { "99999999999.99", "IRR", "BHD", "830811.762" },
        { "0.01", "IRR", "EUR", "0.00" },
        { "0.005", "BHD", "VND", "336" },
        { "9000000000000", "VND", "BHD", "133806094.900" },
        { "1.00", "USD", "EUR", "0.92" },
        { "3333.33", "GBP", "IRR", "190157580.09" },
        { "655957", "XOF", "EUR", "1000.00" },
        { "2.50", "EUR", "XOF", "1640" },
        { "7777777.7777", "UYW", "EUR", "630034651899.55" },
        { "0.01", "EUR", "UYW", "0.0000" },
        { "0.00", "USD", "EUR", "0.00" },
        { "188000000.00", "IRR", "VND", "105057509" },
    };
    struct rates *rates = table();
    char out[AMOUNT_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = convert(rates, cases[i].amount, cases[i].from, cases[i].to, out);
        if (strcmp(got, cases[i].expected == NULL ? "" : cases[i].expected) != 0) {
            fail_msg("%s %s: %s %s, not %s", cases[i].amount, cases[i].from, got, cases[i].to, cases[i].expected);
        }
    }
    rates_release(&rates);
}

static void halves_go_away_from_zero(void **state)
{
    struct rate one, half;
    const char *why = NULL;
    int64_t converted = 0;

    (void)state;
    assert_true(rate_parse(TEXT("1"), &one, &why));
    assert_true(rate_parse(TEXT("0.5"), &half, &why));
    struct conversion conversion = conversion_make(one, half, 2);
    assert_true(conversion_apply(&conversion, 10000, &converted)); // 0.01 to 0.005
    assert_int_equal(converted, 10000);
    assert_true(conversion_apply(&conversion, -30000, &converted)); // -0.03 to -0.015
    assert_int_equal(converted, -20000);
    assert_true(conversion_apply(&conversion, 20000, &converted));
    assert_int_equal(converted, 10000);
    assert_true(conversion_apply(&conversion, 9999, &converted)); // less than half a cent
    assert_int_equal(converted, 0);
}

static void the_widest_rates_apart_give_a_result_or_none(void **state)
{
    struct rate least, most;
    const char *why = NULL;
    int64_t converted = 0;

    (void)state;
    assert_true(rate_parse(TEXT("0.000000001"), &least, &why));
    assert_true(rate_parse(TEXT("999999999"), &most, &why));
    struct conversion up = conversion_make(least, most, 4), down = conversion_make(most, least, 0);
    assert_true(conversion_apply(&up, 1, &converted));
    assert_int_equal(converted, 999999999000000000);
    assert_false(conversion_apply(&up, 10, &converted));
    assert_false(conversion_apply(&up, INT64_MAX, &converted));
    assert_true(conversion_apply(&down, INT64_MAX, &converted));
    assert_int_equal(converted, 0);
    assert_true(conversion_apply(&down, INT64_MIN, &converted));
    assert_int_equal(converted, 0);
}

// One of the last digit, in millionths.
static int64_t digit_of(int decimals)
{
    int64_t digit = 1;

    for (int i = decimals; i < AMOUNT_MAX_DECIMALS; i++) {
        digit *= 10;
    }
    return digit;
}

// The coarser of two currencies decides how near one comes back: half of its last digit, and half of one's own.
static void there_and_back_is_within_a_last_digit(void **state)
{
    static const char *const codes[] = { "EUR", "USD", "GBP", "JPY", "KWD", "CLF", "IRR", "XOF", "BHD", "VND" };
    struct rates *rates = table();
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        struct text from = text_of(codes[(seed >> 33) % COUNT_OF(codes)]);
        struct text to = text_of(codes[(seed >> 43) % COUNT_OF(codes)]);
        struct conversion there, back;
        int64_t middle = 0, end = 0, worth = 0;
        assert_true(rates_find(rates, from, to, &there));
        assert_true(rates_find(rates, to, from, &back));
        int64_t own = digit_of(back.decimals);
        int64_t start = (int64_t)((seed >> 20) % 10000000) * own;
        assert_true(conversion_apply(&there, start, &middle));
        assert_true(conversion_apply(&back, middle, &end));
        assert_true(conversion_apply(&back, digit_of(there.decimals), &worth));
        int64_t distance = end > start ? end - start : start - end;
        if (distance > (worth > own ? worth / 2 + own : own)) {
            fail_msg("%.3s to %.3s: %lld came back as %lld", from.data, to.data, (long long)start, (long long)end);
        }
    }
    rates_release(&rates);
}

static void what_the_table_does_not_hold_is_not_converted(void **state)
{
    struct rates *rates = table();
    struct conversion conversion;

    (void)state;
    assert_false(rates_find(rates, TEXT("EUR"), TEXT("AUD"), &conversion));
    assert_false(rates_find(rates, TEXT("AUD"), TEXT("EUR"), &conversion));
    assert_false(rates_find(rates, TEXT("XAU"), TEXT("EUR"), &conversion));
    assert_false(rates_find(rates, TEXT("EURO"), TEXT("EUR"), &conversion));
    rates_release(&rates);
}

static void an_old_table_is_stale_and_one_from_the_future_too(void **state)
{
    struct rates *rates = table();

    (void)state;
    assert_false(rates_is_stale(rates, AS_OF_US));
    assert_false(rates_is_stale(rates, AS_OF_US + 36 * HOUR_US));
    assert_true(rates_is_stale(rates, AS_OF_US + 36 * HOUR_US + 1));
    assert_false(rates_is_stale(rates, AS_OF_US - 24 * HOUR_US));
    assert_true(rates_is_stale(rates, AS_OF_US - 24 * HOUR_US - 1));
    assert_int_equal(rates_age_us(rates, AS_OF_US + HOUR_US), HOUR_US);
    assert_int_equal(rates_age_us(rates, AS_OF_US - HOUR_US), 0);
    assert_true(rates_first_warning(rates));
    assert_false(rates_first_warning(rates));
    rates_release(&rates);
}

static void rates_are_plain_decimal_numbers_of_twelve_digits(void **state)
{
    static const char *const good[] = {
        "1", "163.05", "0.000000001", "999999999", "0.408123456789", "100000000.123", "1.00000000000"
    };
    static const char *const bad[] = { "",
                                       "0",
                                       "0.0",
                                       "-1",
                                       "1e3",
                                       ".5",
                                       "5.",
                                       "1.2.3",
                                       "1,2",
                                       " 1",
                                       "1 ",
                                       "+1",
                                       "1.0000000000001",
                                       "0.0000000001",
                                       "1000000000",
                                       "NaN" };
    const char *why = NULL;
    struct rate rate;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        if (!rate_parse(text_of(good[i]), &rate, &why)) {
            fail_msg("%s: %s", good[i], why);
        }
        assert_in_range(rate.digits, 100000000000ULL, 999999999999ULL);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        why = NULL;
        if (rate_parse(text_of(bad[i]), &rate, &why) || why == NULL) {
            fail_msg("%s is read", bad[i]);
        }
    }
}

static void whatever_is_wrong_with_a_table_is_told_with_its_place(void **state)
{
    static const struct {
        const char *json, *finding;
    } cases[] = {
        { "", "1:1: " },
        { "[]", "1:2: an object expected" },
        { "{}", "`id` is missing" },
        { "{\n \"id\": 7 }", "2:9: `id` is a text" },
        { "{\"id\":\"a\",\"as_of\":\"yesterday\"}", "`as_of` is a time" },
        { "{\"id\":\"a\",\"as_of\":\"2026-11-29T14:00:00\"}", "`as_of` is a time" },
        { "{\"id\":\"a\",\"base\":\"EURO\"}", "`base` is a currency" },
        { "{\"id\":\"a\",\"rates\":[]}", "`rates` is an object" },
        { "{\"id\":\"a\",\"fees\":{}}", "an unknown field" },
        { TABLE_OF("\"USD\": 0"), "`rates.USD`: a rate is not zero" },
        { TABLE_OF("\"USD\": 1.0842,\n\"USD\": 1.1"), "2:11: `rates.USD`: stands here twice" },
        { "{\"id\":\"a\",\"id\":\"b\",\"as_of\":\"2026-11-29\",\"base\":\"EUR\",\"rates\":{}}",
          "a field that stands here twice" },
        { TABLE_OF("\"USD\": null"), "`rates.USD`: a number" },
        { TABLE_OF("\"usd\": 1.1"), "`rates.usd`: a code of three capitals" },
        { TABLE_OF("\"EUR\": 1.1"), "the rate of the base is not 1" },
        { TABLE_OF("\"USD\": 1.1") "x", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct findings findings = { 0 };
        struct rates *rates = NULL;
        assert_int_equal(rates_parse(text_of(cases[i].json), "rates.json", HOUR_US, on_finding, &findings, &rates),
                         STATUS_INVALID);
        assert_null(rates);
        if (findings.count == 0 || strstr(findings.text, cases[i].finding) == NULL) {
            fail_msg("%s: %s", cases[i].json, findings.text);
        }
    }
}

static void a_file_that_is_not_there_is_a_finding(void **state)
{
    struct findings findings = { 0 };
    struct rates *rates = NULL;

    (void)state;
    assert_int_equal(rates_load("/no/such/rates.json", HOUR_US, on_finding, &findings, &rates), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_int_equal(rates_load("examples/rates.json", HOUR_US, on_finding, &findings, &rates), STATUS_OK);
    rates_release(&rates);
}

static void expect_irregular(const char *path)
{
    struct findings findings = { 0 };
    struct rates *rates = NULL;

    assert_int_equal(rates_load(path, HOUR_US, on_finding, &findings, &rates), STATUS_INVALID);
    assert_null(rates);
    bool is_told =
        strstr(findings.text, "it is not a regular file") != NULL || strstr(findings.text, "it is a directory") != NULL;
    if (findings.count != 1 || !is_told) {
        fail_msg("%s: %s", path, findings.text);
    }
}

static void what_is_no_regular_file_is_a_finding_and_is_not_waited_for(void **state)
{
    char folder[] = "/tmp/rates_XXXXXX";
    char pipe[64];

    (void)state;
    expect_irregular("/dev/null");
    expect_irregular("/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(pipe, sizeof pipe, "%s/rates.json", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    expect_irregular(pipe);
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void tables_are_equal_when_they_say_the_same_by_the_same_settings(void **state)
{
    static const char *const OTHER[] = {
        TABLE_OF("\"USD\": 1.0843"),
        TABLE_OF("\"USD\": 1.0842, \"GBP\": 1"),
        TABLE_OF("\"GBP\": 1.0842"),
        "{ \"id\": \"t-2\", \"as_of\": \"2026-11-29T15:00:00+01:00\", \"base\": \"EUR\", \"rates\": { \"USD\": "
        "1.0842 } }",
        "{ \"id\": \"t-1\", \"as_of\": \"2026-11-29T15:00:01+01:00\", \"base\": \"EUR\", \"rates\": { \"USD\": "
        "1.0842 } }",
    };
    struct findings findings = { 0 };
    struct rates *one = NULL, *other = NULL;
    (void)state;
    assert_true(rates_equals(NULL, NULL));
    assert_int_equal(rates_parse(text_of(TABLE_OF("\"USD\": 1.0842")), "r", HOUR_US, on_finding, &findings, &one),
                     STATUS_OK);
    assert_false(rates_equals(one, NULL));
    for (size_t i = 0; i < COUNT_OF(OTHER); i++) {
        assert_int_equal(rates_parse(text_of(OTHER[i]), "r", HOUR_US, on_finding, &findings, &other), STATUS_OK);
        assert_false(rates_equals(one, other));
        rates_release(&other);
    }
    assert_int_equal(
        rates_parse(text_of(TABLE_OF(" \"USD\": \"1.0842\"")), "r", HOUR_US, on_finding, &findings, &other), STATUS_OK);
    assert_true(rates_equals(one, other));
    rates_release(&other);
    assert_int_equal(rates_parse(text_of(TABLE_OF("\"USD\": 1.0842")), "r", HOUR_US + 1, on_finding, &findings, &other),
                     STATUS_OK);
    assert_false(rates_equals(one, other));
    rates_release(&other);
    rates_release(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_currency_of_iso_4217_has_its_decimals),
        cmocka_unit_test(a_table_says_what_it_is),
        cmocka_unit_test(every_conversion_is_exact_and_rounded_once),
        cmocka_unit_test(halves_go_away_from_zero),
        cmocka_unit_test(the_widest_rates_apart_give_a_result_or_none),
        cmocka_unit_test(there_and_back_is_within_a_last_digit),
        cmocka_unit_test(what_the_table_does_not_hold_is_not_converted),
        cmocka_unit_test(an_old_table_is_stale_and_one_from_the_future_too),
        cmocka_unit_test(rates_are_plain_decimal_numbers_of_twelve_digits),
        cmocka_unit_test(whatever_is_wrong_with_a_table_is_told_with_its_place),
        cmocka_unit_test(a_file_that_is_not_there_is_a_finding),
        cmocka_unit_test(what_is_no_regular_file_is_a_finding_and_is_not_waited_for),
        cmocka_unit_test(tables_are_equal_when_they_say_the_same_by_the_same_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
