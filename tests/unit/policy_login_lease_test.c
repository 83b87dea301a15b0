// When a login may be used, fetched, renewed; when it may not.

#include "policy/login_lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S UINT64_C(1000000)
#define NOW (1000 * S)
#define NEVER UINT64_MAX

/// A lease with a login that was made at NOW and lives for so long.
static struct login_lease held_for(uint64_t life_us)
{
    struct login_lease lease = { 0 };

    assert_true(login_lease_begin(&lease, NOW));
    login_lease_made(&lease, NOW, NOW, life_us, 0);
    return lease;
}

static void a_login_is_waited_for_until_it_is_made_and_held_until_it_expires(void **state)
{
    struct login_lease lease = { 0 };
    (void)state;

    assert_int_equal(login_lease_ask(&lease, NOW, 0), LEASE_WAIT);
    assert_true(login_lease_begin(&lease, NOW));
    assert_false(login_lease_begin(&lease, NOW)); // one at a time
    assert_int_equal(login_lease_ask(&lease, NOW, 0), LEASE_WAIT);
    login_lease_made(&lease, NOW, NOW + S, 10 * S, 0);
    assert_int_equal(lease.number, 1);
    assert_int_equal(login_lease_ask(&lease, NOW + S, 0), LEASE_HELD);
    assert_int_equal(login_lease_ask(&lease, NOW + 10 * S - 1, 0), LEASE_HELD); // counted from its request on
    assert_int_equal(login_lease_ask(&lease, NOW + 10 * S, 0), LEASE_WAIT);
}

static void a_login_that_lasts_never_expires_and_is_not_renewed(void **state)
{
    struct login_lease lease = held_for(NEVER);
    (void)state;

    assert_int_equal(login_lease_ask(&lease, NEVER - 1, 0), LEASE_HELD);
    assert_int_equal(login_lease_look_us(&lease), NEVER);
    assert_false(login_lease_wants_renewal(&lease, NEVER - 1));
}

static void a_login_is_renewed_from_eighty_percent_on_while_it_is_used(void **state)
{
    struct login_lease lease = held_for(100 * S);
    (void)state;

    assert_int_equal(login_lease_look_us(&lease), NOW + 80 * S);
    assert_false(login_lease_wants_renewal(&lease, NOW + 90 * S)); // nobody has used it
    assert_int_equal(login_lease_ask(&lease, NOW + S, 0), LEASE_HELD);
    assert_false(login_lease_wants_renewal(&lease, NOW + 80 * S - 1));
    assert_true(login_lease_wants_renewal(&lease, NOW + 80 * S));
    assert_true(login_lease_begin(&lease, NOW + 80 * S));
    assert_int_equal(login_lease_ask(&lease, NOW + 81 * S, 0), LEASE_HELD); // nobody waits
    login_lease_made(&lease, NOW + 80 * S, NOW + 82 * S, 100 * S, 0);
    assert_int_equal(lease.number, 2);
    assert_false(lease.is_used);
    assert_false(login_lease_wants_renewal(&lease, NOW + 100 * S)); // it is not used, and ends
    assert_int_equal(login_lease_ask(&lease, NOW + 180 * S, 0), LEASE_WAIT);
}

static void the_jitter_moves_the_renewal_by_ten_percent_at_most(void **state)
{
    (void)state;
    for (uint64_t jitter = 0; jitter < 100; jitter++) {
        struct login_lease lease = { 0 };
        assert_true(login_lease_begin(&lease, NOW));
        login_lease_made(&lease, NOW, NOW, 100 * S, jitter);
        assert_in_range(login_lease_look_us(&lease), NOW + 80 * S, NOW + 90 * S);
    }
}

static void a_refused_login_is_given_up_by_its_number_only(void **state)
{
    struct login_lease lease = held_for(100 * S);
    (void)state;

    assert_int_equal(login_lease_ask(&lease, NOW, 1), LEASE_WAIT);
    assert_int_equal(login_lease_ask(&lease, NOW, 0), LEASE_WAIT); // for everybody
    assert_true(login_lease_begin(&lease, NOW));
    login_lease_made(&lease, NOW, NOW, 100 * S, 0);
    assert_int_equal(login_lease_ask(&lease, NOW, 1), LEASE_HELD); // a late one who was refused the old one
    assert_int_equal(lease.number, 2);
}

static void failures_are_paused_for_longer_and_longer(void **state)
{
    static const uint64_t pauses_s[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
    struct login_lease lease = { 0 };
    uint64_t now_us = NOW;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(pauses_s); i++) {
        assert_true(login_lease_begin(&lease, now_us));
        login_lease_failed(&lease, now_us);
        assert_int_equal(login_lease_ask(&lease, now_us + pauses_s[i] * S - 1, 0), LEASE_PAUSED);
        assert_false(login_lease_begin(&lease, now_us + pauses_s[i] * S - 1));
        now_us += pauses_s[i] * S;
        assert_int_equal(login_lease_ask(&lease, now_us, 0), LEASE_WAIT);
    }
    assert_true(login_lease_begin(&lease, now_us));
    login_lease_made(&lease, now_us, now_us, NEVER, 0);
    assert_int_equal(login_lease_ask(&lease, now_us, 1), LEASE_WAIT);
    assert_true(login_lease_begin(&lease, now_us)); // a success has ended the pauses
    login_lease_failed(&lease, now_us);
    assert_int_equal(lease.not_before_us, now_us + S);
}

static void a_pause_lasts_as_long_as_the_supplier_wants(void **state)
{
    struct login_lease lease = { 0 };
    (void)state;

    assert_true(login_lease_begin(&lease, NOW));
    login_lease_failed(&lease, NOW);
    login_lease_defer(&lease, NOW + 90 * S);
    login_lease_defer(&lease, NOW); // nothing more
    assert_int_equal(login_lease_ask(&lease, NOW + 90 * S - 1, 0), LEASE_PAUSED);
    assert_int_equal(login_lease_ask(&lease, NOW + 90 * S, 0), LEASE_WAIT);
    assert_true(login_lease_begin(&lease, NOW + 90 * S));
    login_lease_failed(&lease, NOW + 90 * S);
    login_lease_defer(&lease, NOW + 91 * S); // shorter than the pause, which stands
    assert_int_equal(lease.not_before_us, NOW + 92 * S);
}

static void a_failed_renewal_leaves_the_login_in_use(void **state)
{
    struct login_lease lease = held_for(100 * S);
    (void)state;

    (void)login_lease_ask(&lease, NOW, 0);
    assert_true(login_lease_begin(&lease, NOW + 80 * S));
    login_lease_failed(&lease, NOW + 80 * S);
    assert_int_equal(login_lease_ask(&lease, NOW + 80 * S, 0), LEASE_HELD);
    assert_int_equal(login_lease_look_us(&lease), NOW + 81 * S); // after the pause
    assert_int_equal(login_lease_ask(&lease, NOW + 100 * S, 0), LEASE_WAIT);
}

static void new_logins_that_are_refused_at_once_are_paused_like_failures(void **state)
{
    struct login_lease lease = { 0 };
    uint64_t now_us = NOW;
    (void)state;

    for (uint64_t pause_s = 1; pause_s <= 4; pause_s *= 2) {
        assert_true(login_lease_begin(&lease, now_us));
        login_lease_made(&lease, now_us, now_us, NEVER, 0);
        login_lease_refused(&lease, now_us, lease.number);
        assert_int_equal(login_lease_ask(&lease, now_us + pause_s * S - 1, 0), LEASE_PAUSED);
        now_us += pause_s * S;
        assert_int_equal(login_lease_ask(&lease, now_us, 0), LEASE_WAIT);
    }
    assert_true(login_lease_begin(&lease, now_us));
    login_lease_made(&lease, now_us, now_us, NEVER, 0);
    login_lease_refused(&lease, now_us, lease.number - 1); // an old one: it is gone
    assert_int_equal(login_lease_ask(&lease, now_us, 0), LEASE_HELD);
    login_lease_refused(&lease, now_us + LOGIN_SETTLED_US, lease.number); // it was good for a while
    assert_int_equal(login_lease_ask(&lease, now_us + LOGIN_SETTLED_US, 0), LEASE_WAIT);
    assert_int_equal(lease.refusals, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_login_is_waited_for_until_it_is_made_and_held_until_it_expires),
        cmocka_unit_test(a_login_that_lasts_never_expires_and_is_not_renewed),
        cmocka_unit_test(a_login_is_renewed_from_eighty_percent_on_while_it_is_used),
        cmocka_unit_test(the_jitter_moves_the_renewal_by_ten_percent_at_most),
        cmocka_unit_test(a_refused_login_is_given_up_by_its_number_only),
        cmocka_unit_test(failures_are_paused_for_longer_and_longer),
        cmocka_unit_test(a_pause_lasts_as_long_as_the_supplier_wants),
        cmocka_unit_test(a_failed_renewal_leaves_the_login_in_use),
        cmocka_unit_test(new_logins_that_are_refused_at_once_are_paused_like_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
