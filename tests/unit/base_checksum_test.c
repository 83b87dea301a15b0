#include "base/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void any_change_of_one_byte_changes_the_sum(void **state)
{
    char bytes[41];
    (void)state;

    for (size_t length = 0; length <= sizeof bytes; length++) {
        for (size_t i = 0; i < length; i++) {
            bytes[i] = (char)(i * 37);
        }
        uint64_t sum = checksum_of((struct text){ bytes, length });
        for (size_t i = 0; i < length; i++) {
            for (int change = 1; change < 256; change++) {
                bytes[i] = (char)(bytes[i] ^ change);
                assert_true(checksum_of((struct text){ bytes, length }) != sum);
                bytes[i] = (char)(bytes[i] ^ change);
            }
        }
        assert_true(length == 0 || checksum_of((struct text){ bytes, length - 1 }) != sum);
    }
}

// What was stored by an earlier version must still be right.
static void the_sum_stays_what_it_was(void **state)
{
    (void)state;
    assert_true(checksum_of(TEXT("")) == 0xF56A99C215C01433ULL);
    assert_true(checksum_of(TEXT("last call for passengers")) == 0x77532F0533CADC48ULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_change_of_one_byte_changes_the_sum),
        cmocka_unit_test(the_sum_stays_what_it_was),
    };
    return cmocka_run_group_tests_name("base/checksum", tests, NULL, NULL);
}
