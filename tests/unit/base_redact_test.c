// Secrets that stay and secrets that pass.

#include "base/redact.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *redacted(const char *words)
{
    static char bytes[256];
    int length = snprintf(bytes, sizeof(bytes), "%s", words);
    bytes[redact_apply(bytes, (size_t)length, false)] = '\0';
    return bytes;
}

static void a_passing_secret_is_taken_out_and_the_longest_wins(void **state)
{
    (void)state;
    assert_string_equal(redacted("a token-1 of mine"), "a token-1 of mine");
    redact_add_passing(TEXT("token-1"));
    redact_add_passing(TEXT("token-1"));
    redact_add_passing(TEXT("token-123"));
    redact_add_passing(TEXT("abc")); // too short to be one
    assert_string_equal(redacted("a token-1 of mine"), "a *** of mine");
    assert_string_equal(redacted("a token-1234 of mine"), "a ***4 of mine");
    assert_string_equal(redacted("abc"), "abc");
    assert_int_equal(redact_add(TEXT("token")), STATUS_OK);
    assert_string_equal(redacted("token, token-2, token-1"), "***, ***-2, ***");
}

static void a_cut_beginning_of_a_passing_secret_goes_as_well(void **state)
{
    char bytes[] = "the bearer-xy";
    (void)state;

    redact_add_passing(TEXT("bearer-xyz"));
    assert_int_equal(redact_apply(bytes, strlen(bytes), true), 4);
    assert_string_equal(redacted("the bearer-xy"), "the bearer-xy");
}

static void the_oldest_passing_secrets_make_room(void **state)
{
    char secret[32];
    (void)state;

    for (int i = 0; i < 3 * REDACT_PASSING_MAX; i++) {
        snprintf(secret, sizeof(secret), "pass-%05d", i);
        redact_add_passing(text_of(secret));
        assert_string_equal(redacted(secret), "***");
    }
    assert_string_equal(redacted("pass-00000"), "pass-00000");
    snprintf(secret, sizeof(secret), "pass-%05d", 2 * REDACT_PASSING_MAX);
    assert_string_equal(redacted(secret), "***");
}

static atomic_bool is_over;

static void *add_many(void *context)
{
    char secret[32];
    (void)context;

    for (int i = 0; i < 20 * REDACT_PASSING_MAX; i++) {
        snprintf(secret, sizeof(secret), "race-%06d", i);
        redact_add_passing(text_of(secret));
    }
    atomic_store(&is_over, true);
    return NULL;
}

static void secrets_may_come_and_pass_while_others_are_taken_out(void **state)
{
    pthread_t thread;
    (void)state;

    assert_int_equal(redact_add(TEXT("stays-here")), STATUS_OK);
    assert_int_equal(pthread_create(&thread, NULL, add_many, NULL), 0);
    while (!atomic_load(&is_over)) {
        assert_string_equal(redacted("what stays-here is ours"), "what *** is ours");
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_passing_secret_is_taken_out_and_the_longest_wins),
        cmocka_unit_test(a_cut_beginning_of_a_passing_secret_goes_as_well),
        cmocka_unit_test(the_oldest_passing_secrets_make_room),
        cmocka_unit_test(secrets_may_come_and_pass_while_others_are_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
