#include "base/micros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void amounts_are_written_with_the_decimals_of_their_currency(void **state)
{
    static const struct {
        int64_t micros;
        int decimals;
        const char *text;
    } rows[] = {
        { 412300000, 2, "412.30" },
        { 0, 2, "0.00" },
        { 0, 0, "0" },
        { 60200000000, 0, "60200" },
        { 12345000, 3, "12.345" },
        { 10000, 2, "0.01" },
        { -12500000, 1, "-12.5" },
        { 1, 6, "0.000001" },
        { INT64_MAX, 6, "9223372036854.775807" },
        { INT64_MIN, 6, "-9223372036854.775808" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[MICROS_TEXT_MAX];
        size_t length = micros_write(rows[i].micros, rows[i].decimals, out);
        assert_string_equal(out, rows[i].text);
        assert_int_equal(length, strlen(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_written_with_the_decimals_of_their_currency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
