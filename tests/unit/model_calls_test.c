#include "model/offer.h"
#include "model/script_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct offer offer_of(uint32_t flag, int64_t total_micros, const char *currency, const char *item,
                             const char *id)
{
    struct offer offer = { .flag = flag, .total_micros = total_micros, .item = text_of(item), .id = text_of(id) };
    memcpy(offer.currency, currency, 4);
    return offer;
}

static void offers_are_ordered_by_flag_total_currency_item_and_id(void **state)
{
    (void)state;
    const struct offer ordered[] = {
        offer_of(0, -5, "EUR", "x", "z"),
        offer_of(0, 100, "EUR", "b", "a"),
        offer_of(0, 100, "USD", "a", "a"),
        offer_of(0, 100, "USD", "ab", "a"),
        offer_of(0, 100, "USD", "ab", "b"),
        offer_of(0, 5000000000000, "EUR", "a", "a"),
        offer_of(OFFER_TAXES_UNCLEAR, 1, "EUR", "a", "a"),
        offer_of(OFFER_NOT_CONVERTIBLE, 0, "EUR", "a", "a"),
    };
    for (size_t i = 0; i < COUNT_OF(ordered); i++) {
        for (size_t j = 0; j < COUNT_OF(ordered); j++) {
            int order = offer_compare(&ordered[i], &ordered[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

static void a_sorted_batch_does_not_depend_on_the_order_of_arrival(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    char ids[COUNT][8];
    for (unsigned seed = 1; seed <= 5; seed++) {
        unsigned random = seed;
        struct offer_batch *batch = offer_batch_create(1 << 20);
        assert_non_null(batch);
        batch->offers = arena_alloc_array(&batch->arena, COUNT, sizeof(struct offer));
        assert_non_null(batch->offers);
        batch->count = COUNT;
        for (int i = 0; i < COUNT; i++) {
            snprintf(ids[i], sizeof(ids[i]), "%03d", i);
            batch->offers[i] = offer_of(0, i / 10, "EUR", "same", ids[i]);
        }
        for (int i = COUNT - 1; i > 0; i--) {
            int j = rand_r(&random) % (i + 1);
            struct offer swap = batch->offers[i];
            batch->offers[i] = batch->offers[j];
            batch->offers[j] = swap;
        }
        offer_batch_sort(batch);
        for (int i = 0; i < COUNT; i++) {
            assert_ptr_equal(batch->offers[i].id.data, ids[i]);
        }
        offer_batch_release(&batch);
    }
}

static void an_empty_batch_sorts_and_respects_its_ceiling(void **state)
{
    (void)state;
    struct offer_batch *batch = offer_batch_create(64);
    offer_batch_sort(batch);
    assert_int_equal(batch->count, 0);
    assert_null(arena_alloc(&batch->arena, 65));
    struct offer_batch *second = offer_batch_acquire(batch);
    assert_int_equal(batch->references, 2);
    offer_batch_release(&batch);
    assert_null(batch);
    assert_int_equal(second->references, 1);
    offer_batch_release(&second);
    offer_batch_release(&second);
    assert_null(offer_batch_acquire(NULL));
}

static pthread_barrier_t everybody;

static void *share_batch(void *argument)
{
    struct offer_batch *shared = argument;
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < 20000; i++) {
        struct offer_batch *mine = offer_batch_acquire(shared);
        offer_batch_release(&mine);
    }
    offer_batch_release(&shared);
    return NULL;
}

static void threads_share_a_batch(void **state)
{
    (void)state;
    pthread_t threads[4];
    struct offer_batch *batch = offer_batch_create(1024);
    assert_int_equal(pthread_barrier_init(&everybody, NULL, COUNT_OF(threads)), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, share_batch, offer_batch_acquire(batch)), 0);
    }
    offer_batch_release(&batch);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&everybody);
}

static struct http_request *some_request(void)
{
    const struct http_request values = { .method = TEXT("GET"), .url = TEXT("http://h/") };
    return http_request_create(&values);
}

static void a_start_call_begins_with_every_candidate_undone(void **state)
{
    (void)state;
    char product[] = "flights";
    char id[] = "01ABC";
    struct block *body = block_create(TEXT("{}"));
    struct start_call *start = start_call_create((struct text){ product, 7 }, (struct text){ id, 5 }, body, 40);
    assert_non_null(start);
    block_release(&body);
    product[0] = id[0] = '?';
    assert_true(text_equals(start->product, TEXT("flights")));
    assert_true(text_equals(start->search_id, TEXT("01ABC")));
    assert_true(text_equals(block_text(start->body), TEXT("{}")));
    assert_int_equal(start->call.kind, SCRIPT_CALL_START);
    assert_int_equal(start->product_verdict, SCRIPT_DROPPED);
    assert_false(atomic_load(&start->call.is_cancelled));
    assert_true(list_is_empty(&start->call.message.node));
    assert_int_equal(start->candidate_count, 40);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(start->candidates[i].verdict, SCRIPT_DROPPED);
        assert_true(start->candidates[i].ceiling.us == UINT64_MAX);
        assert_null(start->candidates[i].request);
        assert_null(start->candidates[i].account);
        assert_int_equal(start->candidates[i].terms.settings_us, 0);
    }
    script_call_destroy(&start->call);
}

static void a_start_call_frees_what_nobody_took(void **state)
{
    (void)state;
    struct start_call *start = start_call_create(TEXT("flights"), TEXT("x"), NULL, 3);
    start->candidates[0].request = some_request();
    start->candidates[2].request = some_request();
    start->facts = block_create(TEXT("{}"));
    start->errors = block_create(TEXT("[]"));
    struct http_request *taken = start->candidates[0].request;
    start->candidates[0].request = NULL;
    script_call_destroy(&start->call); // a leak checker sees what this forgets
    assert_string_equal(taken->url.data, "http://h/");
    http_request_destroy(&taken);
}

static void a_start_call_without_candidates_is_fine_and_too_many_are_refused(void **state)
{
    (void)state;
    struct start_call *start = start_call_create(TEXT("flights"), TEXT("x"), NULL, 0);
    assert_non_null(start);
    script_call_destroy(&start->call);
    assert_null(start_call_create(TEXT("flights"), TEXT("x"), NULL, SIZE_MAX / 2));
    script_call_destroy(NULL);
}

static void a_normalise_call_shares_facts_and_owns_its_response(void **state)
{
    (void)state;
    struct block *facts = block_create(TEXT("{\"f\":1}"));
    struct http_response *response = http_response_create();
    response->body = block_create(TEXT("body"));
    struct normalise_call *normalise = normalise_call_create(TEXT("01ABC"), facts, response);
    assert_non_null(normalise);
    block_release(&facts);
    assert_true(text_equals(block_text(normalise->facts), TEXT("{\"f\":1}")));
    assert_true(text_equals(normalise->search_id, TEXT("01ABC")));
    assert_ptr_equal(normalise->search_id.data, normalise->search_id_bytes);
    assert_int_equal(normalise->verdict, SCRIPT_DROPPED);
    normalise->offers = offer_batch_create(1024);
    script_call_destroy(&normalise->call);
}

static void the_first_account_that_fits_the_market_is_chosen(void **state)
{
    (void)state;
    struct text british[] = { TEXT("GB"), TEXT("IE") };
    struct text german[] = { TEXT("DE") };
    const struct script_account accounts[] = { { .serial = 1, .markets = british, .market_count = 2 },
                                               { .serial = 2, .markets = german, .market_count = 1 },
                                               { .serial = 3 } };
    const struct {
        const char *market;
        size_t count;
        uint64_t serial; // 0: none
    } cases[] = { { "GB", 3, 1 }, { "IE", 3, 1 }, { "DE", 3, 2 }, { "FR", 3, 3 }, { "", 3, 3 },
                  { "FR", 2, 0 }, { "", 2, 0 },   { "GB", 0, 1 }, { "DE", 1, 0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct start_candidate candidate = { .account = accounts, .account_count = cases[i].count };
        for (int round = 0; round < 2; round++) { // as after a lost worker
            assert_int_equal(start_candidate_choose(&candidate, text_of(cases[i].market)), cases[i].serial != 0);
            assert_int_equal(candidate.has_no_account, cases[i].serial == 0);
        }
        assert_int_equal(candidate.account->serial, cases[i].serial == 0 ? 1 : cases[i].serial);
    }
}

static void every_verdict_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = SCRIPT_OK; a <= SCRIPT_DROPPED; a++) {
        for (int b = a + 1; b <= SCRIPT_DROPPED; b++) {
            assert_string_not_equal(script_verdict_name((enum script_verdict)a),
                                    script_verdict_name((enum script_verdict)b));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_are_ordered_by_flag_total_currency_item_and_id),
        cmocka_unit_test(a_sorted_batch_does_not_depend_on_the_order_of_arrival),
        cmocka_unit_test(an_empty_batch_sorts_and_respects_its_ceiling),
        cmocka_unit_test(threads_share_a_batch),
        cmocka_unit_test(a_start_call_begins_with_every_candidate_undone),
        cmocka_unit_test(a_start_call_frees_what_nobody_took),
        cmocka_unit_test(a_start_call_without_candidates_is_fine_and_too_many_are_refused),
        cmocka_unit_test(a_normalise_call_shares_facts_and_owns_its_response),
        cmocka_unit_test(the_first_account_that_fits_the_market_is_chosen),
        cmocka_unit_test(every_verdict_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
