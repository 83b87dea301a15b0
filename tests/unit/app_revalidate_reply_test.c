// What becomes of a revalidation's end: no way to book without a live answer about that very offer at that very price.

#include "app/revalidate_reply.h"
#include "base/json_tree.h"
#include "token/booking_token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS UINT64_C(1800000000250) // 2027-01-15T08:00:00.250Z

#define EUR(total) "{\"total\":\"" total "\",\"currency\":\"EUR\"}"
#define CONVERTED(total, own, currency)                                                                                \
    "{\"total\":\"" total "\",\"currency\":\"EUR\",\"supplier_price\":{\"amount\":\"" own                              \
    "\",\"currency\":\"" currency "\"}}"
#define OFFER(id, price) "{\"id\":\"acme:" id "\",\"supplier\":\"acme\",\"item\":\"acme:x\",\"price\":" price "}"

struct desk {
    struct settings settings;
    struct tokens tokens;
    struct script_account account;
    struct catalogue_supplier supplier;
    struct offer_claims claims;
    struct revalidate_prices prices;
    struct revalidate_subject subject;
    struct arena arena;
    struct buffer body;
    struct json_node *reply;
};

static int open_desk(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    struct failure why = { 0 };

    assert_non_null(desk);
    desk->settings.tokens_are_on = true;
    desk->settings.booking_life_us = UINT64_C(900) * 1000000;
    desk->settings.offer_life_us = UINT64_C(900) * 1000000;
    assert_int_equal(tokens_open(&desk->tokens, &desk->settings, &why), STATUS_OK);
    desk->account.name = TEXT("secret_contract");
    desk->supplier = (struct catalogue_supplier){
        .name = TEXT("acme"), .display_name = TEXT("Travels"), .product = TEXT("flights"), .account = &desk->account
    };
    desk->claims = (struct offer_claims){ .product = TEXT("flights"),
                                          .supplier = TEXT("acme"),
                                          .account = TEXT("secret_contract"),
                                          .facts = TEXT("{\"query\":{}}") };
    desk->subject = (struct revalidate_subject){ .tokens = &desk->tokens,
                                                 .settings = &desk->settings,
                                                 .supplier = &desk->supplier,
                                                 .account = &desk->account,
                                                 .claims = &desk->claims,
                                                 .hidden = TEXT(",\"handoff\":{\"ref\":\"book-me\"}"),
                                                 .now_ms = NOW_MS };
    arena_init(&desk->arena, 1 << 20);
    buffer_init(&desk->body, 1 << 20);
    *state = desk;
    return 0;
}

static int close_desk(void **state)
{
    struct desk *desk = *state;

    tokens_close(&desk->tokens);
    arena_fini(&desk->arena);
    buffer_fini(&desk->body);
    free(desk);
    return 0;
}

static bool is_told(const struct desk *desk, const char *word)
{
    return memmem(desk->body.data, desk->body.length, word, strlen(word)) != NULL;
}

// The reply to what the script said of an offer at that price.
static enum revalidation_status say(struct desk *desk, const char *was, const char *result)
{
    char shown[1024];
    struct block *block = block_create(text_of(result));
    struct revalidation_end end = { .result = block, .end = { .outcome = OUTCOME_ANSWERED } };
    size_t offset = 0;
    const char *sentence = NULL;

    (void)snprintf(shown, sizeof shown, "{\"id\":\"o1\",\"price\":%s}", was);
    desk->claims.offer = arena_copy(&desk->arena, text_of(shown));
    assert_non_null(desk->claims.offer.data);
    buffer_clear(&desk->body);
    enum revalidation_status status = revalidate_reply_write(&desk->subject, &end, NULL, &desk->body, &desk->prices);
    block_release(&block);
    assert_int_equal(json_tree_read(&desk->arena, arena_copy(&desk->arena, buffer_text(&desk->body)), &desk->reply,
                                    &offset, &sentence),
                     STATUS_OK);
    assert_true(text_equals_c(json_tree_text(desk->reply, "status"), revalidation_status_name(status)));
    bool is_sold = status == REVALIDATION_CONFIRMED || status == REVALIDATION_PRICE_CHANGED;
    assert_int_equal(json_tree_member(desk->reply, "booking_token") != NULL, is_sold);
    assert_int_equal(json_tree_member(desk->reply, "now") != NULL, is_sold);
    assert_int_equal(is_told(desk, "book-me"), is_sold);
    return status;
}

static void the_price_that_was_shown_is_confirmed(void **state)
{
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"confirmed\"}"), REVALIDATION_CONFIRMED);
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"confirmed\",\"now\":" EUR("100.00") "}"),
                     REVALIDATION_CONFIRMED);
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"price_changed\",\"now\":" EUR("100.00") "}"),
                     REVALIDATION_CONFIRMED);
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"confirmed\",\"now\":" EUR("100.01") "}"),
                     REVALIDATION_PRICE_CHANGED);
}

static void an_equal_total_in_another_currency_is_another_price(void **state)
{
    assert_int_equal(
        say(*state, EUR("100.00"), "{\"status\":\"confirmed\",\"now\":{\"total\":\"100.00\",\"currency\":\"USD\"}}"),
        REVALIDATION_PRICE_CHANGED);
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"),
                         "{\"status\":\"confirmed\",\"now\":{\"total\":\"110.00\",\"currency\":\"USD\"}}"),
                     REVALIDATION_CONFIRMED);
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"),
                         "{\"status\":\"confirmed\",\"now\":{\"total\":\"110.00\",\"currency\":\"GBP\"}}"),
                     REVALIDATION_PRICE_CHANGED);
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"), "{\"status\":\"confirmed\"}"),
                     REVALIDATION_CONFIRMED);
}

static void two_prices_of_a_supplier_that_convert_to_one_total_are_two(void **state)
{
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"),
                         "{\"status\":\"confirmed\",\"offer\":" OFFER("o1", CONVERTED("100.00", "110.01", "USD")) "}"),
                     REVALIDATION_PRICE_CHANGED);
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"),
                         "{\"status\":\"confirmed\",\"offer\":" OFFER("o1", CONVERTED("100.00", "85.00", "GBP")) "}"),
                     REVALIDATION_PRICE_CHANGED);
    assert_int_equal(say(*state, CONVERTED("100.00", "110.00", "USD"),
                         "{\"status\":\"confirmed\",\"offer\":" OFFER("o1", CONVERTED("100.00", "110.00", "USD")) "}"),
                     REVALIDATION_CONFIRMED);
}

static void another_offer_is_no_confirmation_of_this_one(void **state)
{
    struct desk *desk = *state;

    assert_int_equal(say(desk, EUR("100.00"), "{\"status\":\"confirmed\",\"offer\":" OFFER("o2", EUR("100.00")) "}"),
                     REVALIDATION_CHANGED);
    assert_int_equal(say(desk, EUR("100.00"), "{\"status\":\"price_changed\",\"offer\":" OFFER("o2", EUR("90.00")) "}"),
                     REVALIDATION_CHANGED);
    const struct json_node *offer = json_tree_member(desk->reply, "offer");
    assert_true(text_equals_c(json_tree_text(offer, "id"), "acme:o2"));
    assert_true(json_tree_text(offer, "token").length > 0);
}

static void a_price_that_is_over_is_expired_however_its_end_is_spelt(void **state)
{
    static const char *const OVER[] = { "2027-01-15T07:59:59Z", "2027-01-15T08:00:00Z", "2027-01-15T08:00:00.100Z",
                                        "2027-01-15T08:00:00.900Z" };
    char result[256];

    for (size_t i = 0; i < COUNT_OF(OVER); i++) {
        (void)snprintf(result, sizeof result, "{\"status\":\"confirmed\",\"expires_at\":\"%s\"}", OVER[i]);
        assert_int_equal(say(*state, EUR("100.00"), result), REVALIDATION_EXPIRED);
    }
    assert_int_equal(
        say(*state, EUR("100.00"), "{\"status\":\"confirmed\",\"expires_at\":\"2027-01-15T08:00:01.500Z\"}"),
        REVALIDATION_CONFIRMED);
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"confirmed\",\"expires_at\":\"tomorrow\"}"),
                     REVALIDATION_RETRY);
    assert_int_equal(say(*state, EUR("100.00"), "{\"status\":\"sold_out\",\"expires_at\":\"2020-01-15T08:00:00Z\"}"),
                     REVALIDATION_SOLD_OUT);
}

static void strangers_learn_neither_account_nor_name_nor_what_went_wrong(void **state)
{
    struct desk *desk = *state;
    struct booking_claims claims;

    desk->subject.detail = REPLY_PUBLIC;
    assert_int_equal(say(desk, EUR("100.00"), "{\"status\":\"changed\",\"offer\":" OFFER("o2", EUR("90.00")) "}"),
                     REVALIDATION_CHANGED);
    assert_false(is_told(desk, "acme"));
    assert_true(text_equals_c(json_tree_text(json_tree_member(desk->reply, "offer"), "id"), "Travels:o2"));
    assert_true(text_equals_c(json_tree_text(json_tree_member(desk->reply, "offer"), "item"), "Travels:x"));
    assert_int_equal(say(desk, EUR("100.00"), "{\"status\":\"confirmed\"}"), REVALIDATION_CONFIRMED);
    assert_int_equal(booking_token_read(&desk->tokens.ring, json_tree_text(desk->reply, "booking_token"), NOW_MS / 1000,
                                        &desk->arena, &claims),
                     TOKEN_GENUINE);
    assert_int_equal(claims.account.length, 0);
    assert_true(text_equals_c(claims.supplier, "Travels"));

    struct revalidation_end end = { .end = { .outcome = OUTCOME_BREAKER_OPEN } };
    buffer_clear(&desk->body);
    assert_int_equal(revalidate_reply_write(&desk->subject, &end, NULL, &desk->body, &desk->prices),
                     REVALIDATION_RETRY);
    assert_false(is_told(desk, "breaker"));
    assert_true(is_told(desk, "\"because\":\"unavailable\""));
    buffer_clear(&desk->body);
    assert_int_equal(revalidate_reply_write(&desk->subject, NULL, "disabled", &desk->body, &desk->prices),
                     REVALIDATION_RETRY);
    assert_false(is_told(desk, "disabled"));
}

static void those_who_may_know_are_told_the_account(void **state)
{
    struct desk *desk = *state;
    struct booking_claims claims;

    assert_int_equal(say(desk, EUR("100.00"), "{\"status\":\"confirmed\"}"), REVALIDATION_CONFIRMED);
    assert_int_equal(booking_token_read(&desk->tokens.ring, json_tree_text(desk->reply, "booking_token"), NOW_MS / 1000,
                                        &desk->arena, &claims),
                     TOKEN_GENUINE);
    assert_true(text_equals_c(claims.account, "secret_contract"));
    assert_true(text_equals_c(claims.supplier, "acme"));
}

static void an_offer_without_a_readable_end_has_no_token(void **state)
{
    struct desk *desk = *state;
    struct offer offer = { .id = TEXT("o1"),
                           .price = TEXT(EUR("1.00")),
                           .expires_at = TEXT("2027-01-15T08:00:09.500Z") };
    struct search_seal seal = { &desk->supplier, &desk->account, TEXT("{}"), &offer };
    struct offer_claims claims;
    struct buffer token;
    size_t room = 0;

    buffer_init(&token, OFFER_TOKEN_MAX);
    assert_true(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    assert_int_equal(offer_token_read(&desk->tokens.ring, buffer_text(&token), NOW_MS, &desk->arena, &claims),
                     TOKEN_GENUINE);
    assert_int_equal(claims.expires_ms, NOW_MS + 9250);
    offer.expires_at = TEXT("2027-01-15 at nine");
    assert_false(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    buffer_fini(&token);
}

static void a_reply_has_so_much_room_on_the_shelf_and_no_more(void **state)
{
    static char large[2000];
    struct desk *desk = *state;
    struct offer offer = { .id = TEXT("o1"), .price = TEXT(EUR("1.00")), .hidden = { large, sizeof large } };
    struct search_seal seal = { &desk->supplier, &desk->account, TEXT("{}"), &offer };
    struct buffer token;
    size_t room = 2 * sizeof large + 1;

    memset(large, 'x', sizeof large);
    buffer_init(&token, OFFER_TOKEN_MAX);
    assert_true(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    assert_true(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    assert_int_equal(room, 1);
    assert_false(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    offer.hidden = TEXT(",\"ref\":\"small\""); // needs none
    assert_true(tokens_seal(&desk->tokens, &seal, NULL, NOW_MS, desk->settings.offer_life_us, &room, &token));
    buffer_fini(&token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_price_that_was_shown_is_confirmed, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(an_equal_total_in_another_currency_is_another_price, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(two_prices_of_a_supplier_that_convert_to_one_total_are_two, open_desk,
                                        close_desk),
        cmocka_unit_test_setup_teardown(another_offer_is_no_confirmation_of_this_one, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(a_price_that_is_over_is_expired_however_its_end_is_spelt, open_desk,
                                        close_desk),
        cmocka_unit_test_setup_teardown(strangers_learn_neither_account_nor_name_nor_what_went_wrong, open_desk,
                                        close_desk),
        cmocka_unit_test_setup_teardown(those_who_may_know_are_told_the_account, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(an_offer_without_a_readable_end_has_no_token, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(a_reply_has_so_much_room_on_the_shelf_and_no_more, open_desk, close_desk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
