#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 4096 };

static char result[TEXT_SIZE];

static const char *redacted(struct text text)
{
    assert_true(text.length < sizeof(result));
    memcpy(result, text.data, text.length);
    result[redact_apply(result, text.length, false)] = '\0';
    return result;
}

// ---- spelling, by other means than the code under test

static void spell_hex(struct text text, bool is_upper, char *out)
{
    for (size_t i = 0; i < text.length; i++) {
        sprintf(out + 2 * i, is_upper ? "%02X" : "%02x", (unsigned)(unsigned char)text.data[i]);
    }
}

static void spell_base64(struct text text, bool is_url, char *out)
{
    const char *alphabet = is_url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                                  : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < text.length; i += 3) {
        uint32_t group = 0;
        size_t count = text.length - i < 3 ? text.length - i : 3;
        for (size_t j = 0; j < 3; j++) {
            group = group << 8 | (j < count ? (unsigned char)text.data[i + j] : 0);
        }
        for (size_t j = 0; j < 4; j++) {
            *out++ = j <= count ? alphabet[group >> (18 - 6 * j) & 63] : '=';
        }
    }
    *out = '\0';
}

static void spell_url(struct text text, int kind, char *out) // 0: all, 1: what must be, 2: lower case, 3: a form
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (kind == 3 && byte == ' ') {
            *out++ = '+';
        } else if (kind != 0 && is_plain) {
            *out++ = (char)byte;
        } else {
            out += sprintf(out, kind == 2 ? "%%%02x" : "%%%02X", (unsigned)byte);
        }
    }
    *out = '\0';
}

static void spell_json(struct text text, bool is_all, char *out)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '\n') {
            out += sprintf(out, "\\n");
        } else if (byte == '"' || byte == '\\' || byte == '/') {
            out += sprintf(out, "\\%c", byte);
        } else if (is_all || byte < 32) {
            out += sprintf(out, "\\u%04x", (unsigned)byte);
        } else {
            *out++ = (char)byte;
        }
    }
    *out = '\0';
}

static const struct text secrets[] = {
    { "correct horse battery", 21 },
    { "p@ss/w+rd=%41\\\"x", 16 },
    { "0123456789abcdefABCDEF", 22 },
    { "line one\nline two", 17 },
    { "k3y!", 4 },
    { "%%25%", 5 },
};

static int add_secrets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        if (redact_add(secrets[i]) != STATUS_OK) {
            return -1;
        }
    }
    return 0;
}

static void check_gone(const char *spelled, struct text secret)
{
    char text[TEXT_SIZE];
    int length = snprintf(text, sizeof(text), "before<%s>after", spelled);
    assert_in_range(length, 1, sizeof(text) - 1);
    if (strcmp(redacted((struct text){ text, (size_t)length }), "before<***>after") != 0) {
        fail_msg("%.*s as %s: %s", TEXT_ARGS(secret), text, result);
    }
}

static void a_secret_goes_in_every_spelling(void **state)
{
    (void)state;
    char spelled[TEXT_SIZE];

    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        memcpy(spelled, secrets[i].data, secrets[i].length);
        spelled[secrets[i].length] = '\0';
        check_gone(spelled, secrets[i]);
        for (int kind = 0; kind < 4; kind++) {
            spell_url(secrets[i], kind, spelled);
            check_gone(spelled, secrets[i]);
        }
        spell_json(secrets[i], false, spelled);
        check_gone(spelled, secrets[i]);
        spell_json(secrets[i], true, spelled);
        check_gone(spelled, secrets[i]);
        spell_hex(secrets[i], false, spelled);
        check_gone(spelled, secrets[i]);
        spell_hex(secrets[i], true, spelled);
        check_gone(spelled, secrets[i]);
    }
}

/// Of base64 at most a character at each end stays, which also holds what stands beside the secret.
static void a_secret_beyond_ascii_goes_as_json_escapes_it(void **state)
{
    (void)state;
    struct text secret = TEXT("p\"a\\s/w&\xC3\xB6<r>d \xE6\x9D\xB1\xF0\x9F\x9B\xAB");
    struct text first = TEXT("\xC3\xB6pening-17");

    assert_int_equal(redact_add(secret), STATUS_OK);
    assert_int_equal(redact_add(first), STATUS_OK);
    check_gone("p\"a\\s/w&\xC3\xB6<r>d \xE6\x9D\xB1\xF0\x9F\x9B\xAB", secret);
    check_gone("p\\\"a\\\\s/w&\\u00f6<r>d \\u6771\\ud83d\\udeeb", secret);
    check_gone("p\\\"a\\\\s\\/w&\\u00F6\\u003cr\\u003ed \\u6771\\uD83D\\uDEEB", secret);
    check_gone("\\u00f6pening-17", first);
}

static void a_secret_goes_in_base64_wherever_it_begins(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        for (size_t before = 0; before < 7; before++) {
            for (int is_url = 0; is_url < 2; is_url++) {
                char plain[200], spelled[TEXT_SIZE], shown[TEXT_SIZE];
                int length = snprintf(plain, sizeof(plain), "%.*s%.*s%.*s", (int)before, "user1:2",
                                      TEXT_ARGS(secrets[i]), (int)before, "behind");
                spell_base64((struct text){ plain, (size_t)length }, is_url != 0, spelled);
                snprintf(shown, sizeof(shown), "%s", redacted(text_of(spelled)));
                assert_non_null(strstr(shown, "***"));
                assert_in_range(strlen(shown), 3, 3 + 4 * (before + 2) / 3 + 4 * (before + 2) / 3 + 8);
                // with what base64 makes unfit for a URL escaped
                char escaped[TEXT_SIZE];
                spell_url(text_of(spelled), 1, escaped);
                assert_non_null(strstr(redacted(text_of(escaped)), "***"));
            }
        }
    }
}

static void what_is_no_secret_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "correct horse batter",
        "orrect horse battery",
        "Correct horse battery",
        "k3y",
        "k3 y!",
        "%",
        "%4",
        "\\",
        "\\u00",
        "100 % of it",
        "abc%zzdef",
        "{\"price\":\"1.00\",\"text\":\"\\u20ac 7 \\/ 8\"}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_string_equal(redacted(text_of(texts[i])), texts[i]);
    }
}

static void what_a_cut_leaves_of_a_secret_goes_too(void **state)
{
    (void)state;
    char spelled[6][TEXT_SIZE];
    struct text secret = secrets[0];

    snprintf(spelled[0], TEXT_SIZE, "%.*s", TEXT_ARGS(secret));
    spell_url(secret, 0, spelled[1]);
    spell_json(secret, true, spelled[2]);
    spell_hex(secret, true, spelled[3]);
    spell_base64(secret, false, spelled[4]);
    spell_hex(secret, false, spelled[5]);
    for (size_t i = 0; i < 6; i++) {
        for (size_t cut = 1; cut < strlen(spelled[i]) - (i == 4 ? 4 : 0); cut++) {
            char place[TEXT_SIZE];
            snprintf(place, sizeof(place), "!!%.*s", (int)cut, spelled[i]);
            size_t length = redact_apply(place, strlen(place), true);
            assert_int_equal(length, 2);
        }
    }
}

static void copies_are_cut_and_redacted_in_one(void **state)
{
    (void)state;
    char place[12];

    assert_int_equal(redact_copy(place, sizeof(place), TEXT("is correct horse battery")), 3);
    assert_string_equal(place, "is ");
    assert_int_equal(redact_copy(place, sizeof(place), TEXT("is k3y!")), 6);
    assert_string_equal(place, "is ***");
    assert_int_equal(redact_copy(place, sizeof(place), (struct text){ 0 }), 0);
    assert_string_equal(place, "");
    assert_int_equal(redact_print(place, sizeof(place), "%s %d", "k3y!", 7), 5);
    assert_string_equal(place, "*** 7");
    assert_int_equal(redact_print(place, sizeof(place), "%d %s", 7, "correct horse battery"), 2);
    assert_string_equal(place, "7 ");
}

static void the_longest_wins_and_a_cut_longer_one_too(void **state)
{
    (void)state;
    char place[100];

    assert_int_equal(redact_add(TEXT("seven")), STATUS_OK);
    assert_int_equal(redact_add(TEXT("seven-eight-nine")), STATUS_OK);
    assert_string_equal(redacted(TEXT("a seven-eight-nine b seven-eight c")), "a *** b ***-eight c");
    memcpy(place, "a seven-eight", 13);
    assert_int_equal(redact_apply(place, 13, true), 2);
}

/// Bytes of a generator of its own against a search for the plain value: random secrets in random company.
static void no_secret_comes_out_of_anything(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 400; round++) {
        char bytes[41], text[TEXT_SIZE], spelled[TEXT_SIZE];
        size_t length = 8 + (size_t)(round % 32);
        for (size_t i = 0; i < length; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(33 + (seed >> 33) % 94);
        }
        bytes[length] = '\0';
        struct text secret = { bytes, length };
        assert_int_equal(redact_add_passing(secret), STATUS_OK);
        switch (round % 5) {
        case 0:
            snprintf(spelled, sizeof(spelled), "%s", bytes);
            break;
        case 1:
            spell_url(secret, round % 4, spelled);
            break;
        case 2:
            spell_hex(secret, round % 2 == 0, spelled);
            break;
        case 3:
            spell_base64(secret, round % 2 == 0, spelled);
            spelled[length * 8 / 6] = '\0'; // without the character that is half of it, and the padding
            break;
        default:
            spell_json(secret, round % 2 == 0, spelled);
        }
        int whole = snprintf(text, sizeof(text), "x%s{%s}%s", spelled, spelled, spelled);
        (void)redacted((struct text){ text, (size_t)whole });
        assert_null(strstr(result, spelled));
        assert_null(strstr(result, bytes));
        assert_non_null(strstr(result, "{***}"));
    }
}

static void passing_values_make_room_for_newer_ones(void **state)
{
    (void)state;
    char value[40];

    for (int i = 0; i < REDACT_PASSING_MAX + 1; i++) {
        snprintf(value, sizeof(value), "login-%06d-of-today", i);
        assert_int_equal(redact_add_passing(text_of(value)), STATUS_OK);
        if (i == 500) {
            assert_int_equal(redact_add_passing(TEXT("login-000001-of-today")), STATUS_OK); // it is the newest again
        }
    }
    assert_string_equal(redacted(TEXT("login-000000-of-today")), "login-000000-of-today");
    assert_string_equal(redacted(TEXT("login-000001-of-today")), "***");
    assert_string_equal(redacted(TEXT("login-001024-of-today")), "***");
    assert_string_equal(redacted(TEXT("k3y!")), "***"); // those that last, last
    assert_int_equal(redact_add(TEXT("login-001024-of-today")), STATUS_OK);
}

// ---- many threads

static atomic_bool is_over;

static void *read_all_the_time(void *argument)
{
    (void)argument;
    while (!atomic_load(&is_over)) {
        char place[64] = "a k3y! and login-000777-of-today";
        size_t length = redact_apply(place, strlen(place), false);
        place[length] = '\0';
        assert_non_null(strstr(place, "a *** and "));
    }
    return NULL;
}

static void readers_never_see_what_is_gone(void **state)
{
    (void)state;
    pthread_t readers[3];
    char value[40];

    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_all_the_time, NULL), 0);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(value, sizeof(value), "login-%06d-of-later", i);
        assert_int_equal(redact_add_passing(text_of(value)), STATUS_OK);
    }
    atomic_store(&is_over, true);
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        pthread_join(readers[i], NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_goes_in_every_spelling),
        cmocka_unit_test(a_secret_beyond_ascii_goes_as_json_escapes_it),
        cmocka_unit_test(a_secret_goes_in_base64_wherever_it_begins),
        cmocka_unit_test(what_is_no_secret_stays),
        cmocka_unit_test(what_a_cut_leaves_of_a_secret_goes_too),
        cmocka_unit_test(copies_are_cut_and_redacted_in_one),
        cmocka_unit_test(the_longest_wins_and_a_cut_longer_one_too),
        cmocka_unit_test(no_secret_comes_out_of_anything),
        cmocka_unit_test(passing_values_make_room_for_newer_ones),
        cmocka_unit_test(readers_never_see_what_is_gone),
    };
    return cmocka_run_group_tests(tests, add_secrets, NULL);
}
