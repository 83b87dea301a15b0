// Which addresses may be used, and what becomes of one name, without servers and clock.

#include "io/resolver.h"
#include "io/resolver_name.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ------------------------------------------------------------------------------------------------------------ ranges

static bool is_allowed(const char *address, const char *range)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    struct address_range parsed;

    if (range != NULL) {
        assert_true(address_range_parse(text_of(range), &parsed));
    }
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        return address_is_allowed((struct sockaddr *)&v4, &parsed, range != NULL);
    }
    assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
    return address_is_allowed((struct sockaddr *)&v6, &parsed, range != NULL);
}

static void private_addresses_are_refused_at_the_edges_of_their_ranges(void **state)
{
    static const char *const refused[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.255",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fc00::",
        "fdff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:0a00:0001::1",
        "2002:7f00:0001::",
        "2001:0:1::1",
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (is_allowed(refused[i], NULL)) {
            fail_msg("%s was allowed", refused[i]);
        }
    }
}

static void public_addresses_are_allowed_right_beside_the_private_ones(void **state)
{
    static const char *const allowed[] = {
        "1.0.0.0",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255",   "100.128.0.0",
        "126.255.255.255", "128.0.0.0",       "169.253.255.255", "169.255.0.0",      "172.15.255.255",
        "172.32.0.0",      "192.0.1.0",       "192.167.255.255", "192.169.0.0",      "198.17.255.255",
        "198.20.0.0",      "223.255.255.255", "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8", "2002:0808:0808::1",
        "2606:4700::1111", "2001:4860::8888", "fb00::1",         "fe00::1",
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        if (!is_allowed(allowed[i], NULL)) {
            fail_msg("%s was refused", allowed[i]);
        }
    }
}

static void a_rule_allows_exactly_its_range(void **state)
{
    (void)state;
    assert_true(is_allowed("127.0.40.1", "127.0.40.0/24"));
    assert_true(is_allowed("::ffff:127.0.40.255", "127.0.40.0/24"));
    assert_false(is_allowed("127.0.41.1", "127.0.40.0/24"));
    assert_true(is_allowed("127.0.0.1", "127.0.0.1"));
    assert_false(is_allowed("127.0.0.2", "127.0.0.1"));
    assert_true(is_allowed("::1", "::1/128"));
    assert_false(is_allowed("::", "::1/128"));
    assert_true(is_allowed("10.1.2.3", "0.0.0.0/0"));
    assert_false(is_allowed("::1", "0.0.0.0/0"));
    assert_true(is_allowed("fd12::1", "fd00::/8"));
}

static void what_is_no_range_is_refused(void **state)
{
    static const char *const wrong[] = { "",           "/8",        "10.0.0.0/",   "10.0.0.0/33",  "10.0.0/8",
                                         "::1/129",    "localhost", "10.0.0.0/-1", "10.0.0.0/8/8", "1.2.3.4 ",
                                         "10.0.0.0/8x" };
    struct address_range range;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (address_range_parse(text_of(wrong[i]), &range)) {
            fail_msg("\"%s\" was taken", wrong[i]);
        }
    }
    assert_false(address_range_parse((struct text){ "1.2.3.4\0x", 9 }, &range));
}

// -------------------------------------------------------------------------------------------------- a name, by itself

static const uint64_t SECOND = 1000000;

static struct lookup_found found_one(const char *address, uint32_t ttl_s)
{
    struct lookup_found found = { .answer = LOOKUP_ADDRESSES, .ttl_s = ttl_s, .sentence = "", .count = 1, .seen = 1 };
    found.addresses = calloc(1, sizeof(*found.addresses));
    found.addresses->ss_family = AF_INET;
    assert_int_equal(inet_pton(AF_INET, address, &((struct sockaddr_in *)(void *)found.addresses)->sin_addr), 1);
    return found;
}

static void settle(struct lookup *lookup, enum lookup_answer answer, uint64_t now_us, bool expect_change)
{
    struct lookup_found found = { .answer = answer, .sentence = "no" };
    assert_int_equal(lookup_settle(lookup, &found, now_us), expect_change);
}

static enum name_state state_of(const struct name *name)
{
    struct sockaddr_storage room[8];
    struct address_entry entry;
    name_to_entry(name, &entry, room);
    return entry.state;
}

static void a_refresh_is_due_at_four_fifths_of_the_ttl_within_bounds(void **state)
{
    static const uint64_t cases[][2] = { { 0, 5 }, { 5, 5 }, { 100, 80 }, { 700, 560 }, { 86400, 600 } };
    struct name *name = name_create(TEXT("acme.example"));
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lookup_found found = found_one("8.8.8.8", (uint32_t)cases[i][0]);
        lookup_settle(&name->lookups[0], &found, 1000 * SECOND);
        assert_int_equal(name->lookups[0].next_us, (1000 + cases[i][1]) * SECOND);
    }
    name_destroy(&name);
}

static void silence_never_fails_a_name_but_a_no_does(void **state)
{
    struct name *name = name_create(TEXT("acme.example"));
    uint64_t now_us = SECOND;
    (void)state;

    for (int i = 0; i < 50; i++) {
        settle(&name->lookups[0], LOOKUP_SILENCE, now_us, false);
        settle(&name->lookups[1], LOOKUP_SILENCE, now_us, false);
        assert_int_equal(state_of(name), NAME_PENDING);
        assert_true(name->lookups[0].next_us > now_us && name->lookups[0].next_us <= now_us + 5 * SECOND);
        now_us = name->lookups[0].next_us;
    }
    settle(&name->lookups[0], LOOKUP_NO_NAME, now_us, true);
    assert_int_equal(state_of(name), NAME_FAILED);
    settle(&name->lookups[1], LOOKUP_SILENCE, now_us, false);
    assert_int_equal(state_of(name), NAME_FAILED);
    name_destroy(&name);
}

static void a_name_without_ipv4_waits_for_what_is_said_of_ipv6(void **state)
{
    struct name *name = name_create(TEXT("acme.example"));
    (void)state;

    settle(&name->lookups[0], LOOKUP_NO_DATA, SECOND, false);
    assert_int_equal(state_of(name), NAME_PENDING);
    settle(&name->lookups[1], LOOKUP_ERROR, SECOND, true);
    assert_int_equal(state_of(name), NAME_FAILED);
    name_destroy(&name);
}

static void a_name_says_which_address_was_private_whatever_the_other_family_says(void **state)
{
    struct sockaddr_storage room[8];
    struct address_entry entry;
    struct lookup_found private = { .answer = LOOKUP_ADDRESSES, .seen = 1, .sentence = "acme.example is at 10.0.0.1" };
    (void)state;

    for (size_t first = 0; first < NAME_LOOKUPS; first++) {
        struct name *name = name_create(TEXT("acme.example"));
        if (first == 0) {
            assert_true(lookup_settle(&name->lookups[0], &private, SECOND));
            settle(&name->lookups[1], LOOKUP_NO_DATA, SECOND, false);
            settle(&name->lookups[0], LOOKUP_SILENCE, 2 * SECOND, false);
        } else {
            settle(&name->lookups[1], LOOKUP_NO_DATA, SECOND, false);
            assert_true(lookup_settle(&name->lookups[0], &private, SECOND));
        }
        name_to_entry(name, &entry, room);
        assert_int_equal(entry.state, NAME_FORBIDDEN);
        assert_string_equal(entry.detail, "acme.example is at 10.0.0.1");
        settle(&name->lookups[0], LOOKUP_NO_NAME, 3 * SECOND, true);
        name_to_entry(name, &entry, room);
        assert_string_equal(entry.detail, "no");
        name_destroy(&name);
    }
}

static void addresses_are_served_stale_while_refreshes_fail(void **state)
{
    struct name *name = name_create(TEXT("acme.example"));
    struct lookup_found found = found_one("8.8.8.8", 60);
    (void)state;

    assert_true(lookup_settle(&name->lookups[0], &found, SECOND));
    settle(&name->lookups[1], LOOKUP_NO_DATA, SECOND, false);
    static const enum lookup_answer failures[] = { LOOKUP_SILENCE, LOOKUP_NO_NAME, LOOKUP_ERROR, LOOKUP_NO_DATA };
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        settle(&name->lookups[0], failures[i], (100 + i) * SECOND, false);
        assert_int_equal(state_of(name), NAME_KNOWN);
        assert_int_equal(name_address_count(name), 1);
    }
    found = found_one("8.8.4.4", 60);
    assert_true(lookup_settle(&name->lookups[0], &found, 200 * SECOND));
    found = found_one("8.8.4.4", 60);
    assert_false(lookup_settle(&name->lookups[0], &found, 300 * SECOND));
    name_destroy(&name);
}

static void failures_are_retried_ever_more_slowly(void **state)
{
    struct name *name = name_create(TEXT("acme.example"));
    uint64_t waits_s[8];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(waits_s); i++) {
        struct lookup_found found = { .answer = LOOKUP_ERROR, .sentence = "" };
        lookup_settle(&name->lookups[0], &found, 10 * SECOND);
        waits_s[i] = (name->lookups[0].next_us - 10 * SECOND) / SECOND;
    }
    static const uint64_t expected_s[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
    assert_memory_equal(waits_s, expected_s, sizeof(expected_s));
    name_destroy(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_addresses_are_refused_at_the_edges_of_their_ranges),
        cmocka_unit_test(public_addresses_are_allowed_right_beside_the_private_ones),
        cmocka_unit_test(a_rule_allows_exactly_its_range),
        cmocka_unit_test(what_is_no_range_is_refused),
        cmocka_unit_test(a_refresh_is_due_at_four_fifths_of_the_ttl_within_bounds),
        cmocka_unit_test(silence_never_fails_a_name_but_a_no_does),
        cmocka_unit_test(a_name_without_ipv4_waits_for_what_is_said_of_ipv6),
        cmocka_unit_test(a_name_says_which_address_was_private_whatever_the_other_family_says),
        cmocka_unit_test(addresses_are_served_stale_while_refreshes_fail),
        cmocka_unit_test(failures_are_retried_ever_more_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
