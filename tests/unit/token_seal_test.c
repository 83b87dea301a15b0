#include "token/base64url.h"
#include "token/booking_token.h"
#include "token/offer_token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LATER_MS = 60000 };

static const uint64_t NOW_MS = 1796000000000;

static struct text of(const struct buffer *buffer)
{
    return buffer_text(buffer);
}

static void ring_with_keys(struct token_ring *ring)
{
    token_ring_init(ring);
    assert_int_equal(token_ring_make(ring, TOKEN_OFFER), STATUS_OK);
    assert_int_equal(token_ring_make(ring, TOKEN_BOOKING), STATUS_OK);
}

static struct offer_claims some_claims(void)
{
    return (struct offer_claims){
        .product = TEXT("flights"),
        .supplier = TEXT("acme"),
        .account = TEXT("main"),
        .facts = TEXT("{\"query\":{\"slices\":[{\"origin\":\"LON\"}]}}"),
        .offer = TEXT("{\"id\":\"o-1\",\"price\":{\"total\":\"412.30\",\"currency\":\"EUR\"}}"),
        .hidden = TEXT("\"ref\":\"r1\",\"handoff\":{\"url\":\"https://acme.example/1\"}"),
        .observed_ms = NOW_MS,
        .expires_ms = NOW_MS + LATER_MS,
    };
}

static struct booking_claims some_booking(void)
{
    return (struct booking_claims){
        .product = TEXT("flights"),
        .supplier = TEXT("acme"),
        .account = TEXT("main"),
        .offer = TEXT("o-1"),
        .total = TEXT("412.30"),
        .currency = TEXT("EUR"),
        .search = TEXT("x"),
        .issued_s = NOW_MS / 1000,
        .expires_s = NOW_MS / 1000 + 60,
    };
}

static void sealing_hides_vouches_and_opens(void **state)
{
    (void)state;
    uint8_t key[SEAL_KEY];
    struct buffer sealed, plain;
    struct text head = TEXT("head"), nonce = TEXT("0123456789abcdef"), text = TEXT("what nobody shall read");

    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)i;
    }
    buffer_init(&sealed, 4096);
    buffer_init(&plain, 4096);
    assert_int_equal(seal_close(key, head, nonce, text, &sealed), STATUS_OK);
    assert_int_equal(sealed.length, text.length + SEAL_TAG);
    assert_null(memmem(sealed.data, sealed.length, "nobody", 6));
    assert_int_equal(seal_open(key, head, nonce, of(&sealed), &plain), STATUS_OK);
    assert_true(text_equals(of(&plain), text));
    for (size_t i = 0; i < sealed.length; i++) { // each byte counts
        sealed.data[i] ^= 1;
        buffer_clear(&plain);
        assert_int_equal(seal_open(key, head, nonce, of(&sealed), &plain), STATUS_INVALID);
        assert_int_equal(plain.length, 0);
        sealed.data[i] ^= 1;
    }
    assert_int_equal(seal_open(key, TEXT("heaD"), nonce, of(&sealed), &plain), STATUS_INVALID);
    assert_int_equal(seal_open(key, head, TEXT("0123456789abcdeF"), of(&sealed), &plain), STATUS_INVALID);
    assert_int_equal(seal_close(key, head, nonce, (struct text){ "", 0 }, &sealed), STATUS_INVALID);
    buffer_fini(&sealed);
    buffer_fini(&plain);
}

// RFC 8032, 7.1, TEST 2.
static void signing_is_ed25519(void **state)
{
    (void)state;
    static const uint8_t SEED[SEAL_SEED] = { 0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3,
                                             0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
                                             0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb };
    static const uint8_t PUBLIC[SEAL_PUBLIC] = { 0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a,
                                                 0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4,
                                                 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c };
    static const uint8_t FIRST[8] = { 0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8 };
    uint8_t public_key[SEAL_PUBLIC], signature[SEAL_SIGNATURE];
    struct text message = { "\x72", 1 };

    assert_int_equal(seal_public(SEED, public_key), STATUS_OK);
    assert_memory_equal(public_key, PUBLIC, sizeof PUBLIC);
    assert_int_equal(seal_sign(SEED, message, signature), STATUS_OK);
    assert_memory_equal(signature, FIRST, sizeof FIRST);
    assert_true(seal_is_signed(PUBLIC, message, signature));
    assert_false(seal_is_signed(PUBLIC, TEXT("s"), signature));
    signature[63] ^= 1;
    assert_false(seal_is_signed(PUBLIC, message, signature));
}

// RFC 4648, 10.
static void base64url_has_one_spelling(void **state)
{
    (void)state;
    static const struct {
        struct text bytes, spelt;
    } ROWS[] = {
        { { "", 0 }, { "", 0 } },
        { { "f", 1 }, { "Zg", 2 } },
        { { "fo", 2 }, { "Zm8", 3 } },
        { { "foo", 3 }, { "Zm9v", 4 } },
        { { "foob", 4 }, { "Zm9vYg", 6 } },
        { { "fooba", 5 }, { "Zm9vYmE", 7 } },
        { { "\xfb\xff", 2 }, { "-_8", 3 } },
    };
    static const char *const REFUSED[] = { "Z", "Zg==", "Zh", "Zm9", "Zm 9v", "Zm+v", "Zm/v", "Zm9vY", "Zm9v\n" };
    struct buffer out;

    buffer_init(&out, 64);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        buffer_clear(&out);
        base64url_append(&out, ROWS[i].bytes);
        assert_true(text_equals(of(&out), ROWS[i].spelt));
        buffer_clear(&out);
        assert_true(base64url_read(ROWS[i].spelt, &out));
        assert_true(text_equals(of(&out), ROWS[i].bytes));
    }
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        buffer_clear(&out);
        assert_false(base64url_read(text_of(REFUSED[i]), &out));
    }
    buffer_fini(&out);
}

static void an_offer_token_gives_back_what_went_in(void **state)
{
    (void)state;
    struct token_ring ring;
    struct offer_claims claims = some_claims(), got;
    struct buffer token, again;
    struct arena arena;

    ring_with_keys(&ring);
    arena_init(&arena, 1 << 20);
    buffer_init(&token, OFFER_TOKEN_MAX);
    buffer_init(&again, OFFER_TOKEN_MAX);
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_OK);
    assert_int_equal(offer_token_write(&ring, &claims, &again), STATUS_OK);
    assert_false(text_equals(of(&token), of(&again))); // 128 random bits
    assert_int_equal(offer_token_read(&ring, of(&token), NOW_MS, &arena, &got), TOKEN_GENUINE);
    assert_true(text_equals(got.product, claims.product) && text_equals(got.supplier, claims.supplier));
    assert_true(text_equals(got.account, claims.account) && text_equals(got.offer, claims.offer));
    assert_true(text_equals(got.facts, claims.facts) && text_equals(got.hidden, claims.hidden));
    assert_int_equal(got.hidden_key.length, 0);
    assert_int_equal(got.observed_ms, claims.observed_ms);
    assert_int_equal(offer_token_read(&ring, of(&token), NOW_MS + LATER_MS - 1, &arena, &got), TOKEN_GENUINE);
    assert_int_equal(offer_token_read(&ring, of(&token), NOW_MS + LATER_MS, &arena, &got), TOKEN_EXPIRED);
    assert_true(text_equals(got.supplier, claims.supplier));
    buffer_fini(&token);
    buffer_fini(&again);
    arena_fini(&arena);
    token_ring_fini(&ring);
}

// What becomes of a token that is cut at each place, and of which each letter is changed.
static void a_changed_offer_token_is_refused(void **state)
{
    (void)state;
    struct token_ring ring, other;
    struct offer_claims claims = some_claims(), got;
    struct buffer token;
    struct arena arena;

    ring_with_keys(&ring);
    ring_with_keys(&other);
    arena_init(&arena, 1 << 20);
    buffer_init(&token, OFFER_TOKEN_MAX);
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_OK);
    for (size_t length = 0; length < token.length; length++) {
        enum token_fault fault = offer_token_read(&ring, (struct text){ token.data, length }, NOW_MS, &arena, &got);
        assert_true(fault == TOKEN_MALFORMED || fault == TOKEN_TAMPERED);
    }
    for (size_t i = 0; i < token.length; i++) {
        char was = token.data[i];
        token.data[i] = was == 'A' ? 'B' : 'A';
        enum token_fault fault = offer_token_read(&ring, of(&token), NOW_MS, &arena, &got);
        assert_true(fault == TOKEN_MALFORMED || fault == TOKEN_TAMPERED || fault == TOKEN_UNKNOWN_KEY);
        token.data[i] = was;
    }
    assert_int_equal(offer_token_read(&other, of(&token), NOW_MS, &arena, &got), TOKEN_UNKNOWN_KEY);
    memcpy(other.keys[TOKEN_OFFER][0].id, ring.keys[TOKEN_OFFER][0].id, TOKEN_KEY_ID); // ids that met by accident
    assert_int_equal(offer_token_read(&other, of(&token), NOW_MS, &arena, &got), TOKEN_TAMPERED);
    buffer_fini(&token);
    arena_fini(&arena);
}

static void a_reference_has_its_limit(void **state)
{
    (void)state;
    static char hidden[OFFER_TOKEN_HIDDEN_MAX + 1], facts[OFFER_TOKEN_MAX];
    struct token_ring ring;
    struct offer_claims claims = some_claims();
    struct buffer token;

    ring_with_keys(&ring);
    buffer_init(&token, OFFER_TOKEN_MAX);
    claims.hidden = (struct text){ hidden, OFFER_TOKEN_HIDDEN_MAX };
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_OK);
    claims.hidden = (struct text){ hidden, sizeof hidden };
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_INVALID);
    claims = some_claims();
    claims.facts = (struct text){ facts, sizeof facts };
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_INVALID);
    token_ring_init(&ring);
    claims = some_claims();
    assert_int_equal(offer_token_write(&ring, &claims, &token), STATUS_NOT_FOUND);
    buffer_fini(&token);
}

static void keys_rotate(void **state)
{
    (void)state;
    static const char OLD[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
                              "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static const char NEW[] =
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    struct token_ring before, after;
    struct offer_claims claims = some_claims(), got;
    struct buffer token;
    struct arena arena;
    struct failure why = { 0 };

    token_ring_init(&before);
    token_ring_init(&after);
    arena_init(&arena, 1 << 20);
    buffer_init(&token, OFFER_TOKEN_MAX);
    assert_int_equal(token_ring_add(&before, TOKEN_OFFER, text_of(OLD), &why), STATUS_OK);
    assert_int_equal(token_ring_add(&after, TOKEN_OFFER, text_of(NEW), &why), STATUS_OK);
    assert_int_equal(token_ring_add(&after, TOKEN_OFFER, text_of(OLD), &why), STATUS_OK);
    assert_int_equal(offer_token_write(&before, &claims, &token), STATUS_OK);
    assert_int_equal(offer_token_read(&after, of(&token), NOW_MS, &arena, &got), TOKEN_GENUINE);
    buffer_clear(&token);
    assert_int_equal(offer_token_write(&after, &claims, &token), STATUS_OK); // by the newest
    assert_int_equal(offer_token_read(&before, of(&token), NOW_MS, &arena, &got), TOKEN_UNKNOWN_KEY);
    assert_int_equal(token_ring_add(&after, TOKEN_OFFER, text_of(OLD), &why), STATUS_INVALID);
    assert_non_null(strstr(why.message, "already"));
    assert_int_equal(token_ring_add(&after, TOKEN_OFFER, TEXT("c2hvcnQ"), &why), STATUS_INVALID);
    assert_non_null(strstr(why.message, "64 random bytes"));
    assert_null(strstr(why.message, "c2hv")); // never the value
    assert_int_equal(token_ring_add(&after, TOKEN_BOOKING, text_of(OLD), &why), STATUS_INVALID);
    buffer_fini(&token);
    arena_fini(&arena);
}

static void eight_keys_are_the_most(void **state)
{
    (void)state;
    struct token_ring ring;

    token_ring_init(&ring);
    for (size_t i = 0; i < TOKEN_KEYS_MOST; i++) {
        assert_int_equal(token_ring_make(&ring, TOKEN_BOOKING), STATUS_OK);
    }
    assert_int_equal(token_ring_make(&ring, TOKEN_BOOKING), STATUS_FULL);
}

static void a_booking_token_is_a_signed_web_token(void **state)
{
    (void)state;
    struct token_ring ring, other;
    struct booking_claims claims = some_booking(), got;
    struct buffer token, again;
    struct arena arena;

    ring_with_keys(&ring);
    ring_with_keys(&other);
    arena_init(&arena, 1 << 20);
    buffer_init(&token, BOOKING_TOKEN_MAX);
    buffer_init(&again, BOOKING_TOKEN_MAX);
    assert_int_equal(booking_token_write(&ring, &claims, &token), STATUS_OK);
    assert_int_equal(booking_token_write(&ring, &claims, &again), STATUS_OK);
    assert_int_equal(booking_token_read(&ring, of(&token), claims.issued_s, &arena, &got), TOKEN_GENUINE);
    assert_true(text_equals(got.total, claims.total) && text_equals(got.currency, claims.currency));
    assert_true(text_equals(got.supplier, claims.supplier) && text_equals(got.offer, claims.offer));
    assert_true(text_equals(got.search, claims.search) && text_equals(got.account, claims.account));
    struct text first_id = got.id;
    assert_int_equal(booking_token_read(&ring, of(&again), claims.issued_s, &arena, &got), TOKEN_GENUINE);
    assert_false(text_equals(got.id, first_id));
    assert_int_equal(booking_token_read(&ring, of(&token), claims.expires_s, &arena, &got), TOKEN_EXPIRED);
    assert_int_equal(booking_token_read(&other, of(&token), claims.issued_s, &arena, &got), TOKEN_UNKNOWN_KEY);
    for (size_t length = 0; length < token.length; length++) {
        enum token_fault fault =
            booking_token_read(&ring, (struct text){ token.data, length }, claims.issued_s, &arena, &got);
        assert_true(fault == TOKEN_MALFORMED);
    }
    for (size_t i = 0; i < token.length; i++) {
        char was = token.data[i];
        token.data[i] = was == 'A' ? 'B' : 'A';
        assert_int_not_equal(booking_token_read(&ring, of(&token), claims.issued_s, &arena, &got), TOKEN_GENUINE);
        token.data[i] = was;
    }
    buffer_fini(&token);
    buffer_fini(&again);
    arena_fini(&arena);
}

// The old trick: a header that says there is no signature, or another algorithm.
static void a_header_never_chooses_how_it_is_verified(void **state)
{
    (void)state;
    static const char *const HEADERS[] = { "{\"alg\":\"none\"}", "{\"alg\":\"HS256\",\"typ\":\"JWT\"}" };
    struct token_ring ring;
    struct booking_claims got;
    struct arena arena;

    ring_with_keys(&ring);
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        struct buffer token;
        char signature[SEAL_SIGNATURE] = { 0 };
        buffer_init(&token, BOOKING_TOKEN_MAX);
        base64url_append(&token, text_of(HEADERS[i]));
        buffer_append_byte(&token, '.');
        base64url_append(&token, TEXT("{\"jti\":\"x\",\"iat\":1,\"exp\":99999999999}"));
        buffer_append_byte(&token, '.');
        base64url_append(&token, (struct text){ signature, sizeof signature });
        assert_int_equal(booking_token_read(&ring, of(&token), 2, &arena, &got), TOKEN_MALFORMED);
        buffer_fini(&token);
    }
    arena_fini(&arena);
}

static void public_keys_are_a_key_set(void **state)
{
    (void)state;
    struct token_ring ring;
    struct buffer out;

    ring_with_keys(&ring);
    buffer_init(&out, 4096);
    token_ring_write_public(&ring, &out);
    buffer_append_byte(&out, '\0');
    assert_non_null(strstr(out.data, "\"crv\":\"Ed25519\""));
    assert_non_null(strstr(out.data, "\"kty\":\"OKP\""));
    assert_null(strstr(out.data, "\"d\"")); // the private half
    buffer_fini(&out);
}

static void each_fault_has_a_code_of_its_own(void **state)
{
    (void)state;
    for (int i = TOKEN_GENUINE + 1; i < TOKEN_FAULTS; i++) {
        assert_non_null(token_fault_code((enum token_fault)i));
        assert_non_null(token_fault_sentence((enum token_fault)i));
        for (int k = TOKEN_GENUINE + 1; k < i; k++) {
            assert_string_not_equal(token_fault_code((enum token_fault)i), token_fault_code((enum token_fault)k));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sealing_hides_vouches_and_opens),
        cmocka_unit_test(signing_is_ed25519),
        cmocka_unit_test(base64url_has_one_spelling),
        cmocka_unit_test(an_offer_token_gives_back_what_went_in),
        cmocka_unit_test(a_changed_offer_token_is_refused),
        cmocka_unit_test(a_reference_has_its_limit),
        cmocka_unit_test(keys_rotate),
        cmocka_unit_test(eight_keys_are_the_most),
        cmocka_unit_test(a_booking_token_is_a_signed_web_token),
        cmocka_unit_test(a_header_never_chooses_how_it_is_verified),
        cmocka_unit_test(public_keys_are_a_key_set),
        cmocka_unit_test(each_fault_has_a_code_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
