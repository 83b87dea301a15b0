// Shares of the traffic: always the same for the same search, near the share over many, independent between suppliers.

#include "policy/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { SEARCHES = 20000 };

static bool reaches(unsigned search, const char *supplier, uint64_t share)
{
    char id[32];
    int length = snprintf(id, sizeof(id), "01JDX%08u", search);
    return traffic_reaches((struct text){ id, (size_t)length }, text_of(supplier), share);
}

static void nobody_and_everybody_are_exact(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SEARCHES; i++) {
        assert_false(reaches(i, "acme", 0));
        assert_true(reaches(i, "acme", TRAFFIC_ALL));
    }
}

static void a_share_is_kept_over_many_searches(void **state)
{
    (void)state;
    const uint64_t shares[] = { 10000, 50000, 500000 };
    for (size_t i = 0; i < 3; i++) {
        uint64_t reached = 0;
        for (unsigned search = 0; search < SEARCHES; search++) {
            reached += reaches(search, "acme", shares[i]);
        }
        uint64_t wanted = SEARCHES * shares[i] / TRAFFIC_ALL;
        assert_in_range(reached, wanted - wanted / 4 - 20, wanted + wanted / 4 + 20);
    }
}

static void a_larger_share_reaches_whom_a_smaller_one_does(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SEARCHES; i++) {
        assert_true(!reaches(i, "acme", 50000) || reaches(i, "acme", 60000));
    }
}

static void suppliers_have_shares_of_their_own(void **state)
{
    (void)state;
    unsigned both = 0;
    for (unsigned i = 0; i < SEARCHES; i++) {
        both += reaches(i, "acme", 500000) && reaches(i, "delta", 500000);
    }
    assert_in_range(both, SEARCHES / 5, SEARCHES * 3 / 10);
}

static void the_formula_is_the_one_that_is_told(void **state)
{
    (void)state;
    // FNV-1a of "a b": computed apart, upper half folded into the lower, modulo 1,000,000.
    uint64_t hash = 14695981039346656037u;
    for (const char *at = "a b"; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    uint64_t place = (uint32_t)(hash ^ (hash >> 32)) % TRAFFIC_ALL;
    assert_false(traffic_reaches(TEXT("a"), TEXT("b"), place));
    assert_true(traffic_reaches(TEXT("a"), TEXT("b"), place + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_and_everybody_are_exact),
        cmocka_unit_test(a_share_is_kept_over_many_searches),
        cmocka_unit_test(a_larger_share_reaches_whom_a_smaller_one_does),
        cmocka_unit_test(suppliers_have_shares_of_their_own),
        cmocka_unit_test(the_formula_is_the_one_that_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
