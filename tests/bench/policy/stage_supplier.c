#include "bench/policy/stage_supplier.h"

#include "base/text.h"
#include "model/request_call.h"
#include "search/search_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A request is "http://eENDPOINT/SEARCH/SUPPLIER".

enum { URL_MAX = 64, OFFER_BYTES_MAX = 96, BATCH_BYTES_MAX = 1 << 20 };

static uint64_t number_of(struct text text)
{
    uint64_t number = 0;

    require(text_to_u64(text, &number));
    return number;
}

void stage_supplier_of(const struct http_request *request, size_t *search, size_t *supplier, uint32_t *endpoint)
{
    static const size_t SCHEME = sizeof("http://e") - 1;
    struct text rest = { request->url.data + SCHEME, request->url.length - SCHEME };

    *endpoint = (uint32_t)number_of(text_split(rest, '/', &rest));
    *search = (size_t)number_of(text_split(rest, '/', &rest));
    *supplier = (size_t)number_of(rest);
}

static struct http_request *make_request(size_t search, size_t supplier)
{
    char url[URL_MAX];
    int length = snprintf(url, sizeof(url), "http://e0/%zu/%zu", search, supplier);
    struct http_request values = { .method = TEXT("GET"), .url = { url, (size_t)length } };
    struct http_request *request = http_request_create(&values);

    require(request != NULL);
    return request;
}

struct http_response *stage_supplier_respond(struct stage *stage, enum trace_fate fate)
{
    struct http_response *response = http_response_create();

    require(response != NULL);
    response->status = fate == TRACE_FAILS ? 503 : 200;
    response->body = block_acquire(stage->body);
    return response;
}

static void run_start(struct stage *stage, struct start_call *start)
{
    size_t search = (size_t)number_of(start->search_id);

    start->product_verdict = SCRIPT_OK;
    start->facts = block_acquire(stage->body);
    memcpy(start->currency, "EUR", 4);
    for (size_t i = 0; i < start->candidate_count; i++) {
        struct start_candidate *candidate = &start->candidates[i];
        require(start_candidate_choose(candidate, TEXT("")));
        candidate->verdict = SCRIPT_OK;
        candidate->ceiling = start_candidate_ceiling(start, candidate, 0);
        candidate->request = make_request(search, candidate->account->supplier);
    }
}

static void fill_offer(struct offer *offer, char *at, const char *supplier, size_t number, struct trace_offer priced)
{
    static const char ITEM[] = "\",\"item\":\"";

    *offer = (struct offer){ .total_micros = (int64_t)priced.cents * (OFFER_MICROS / 100),
                             .duration_min = UINT32_MAX,
                             .item_json = TEXT("{}") };
    memcpy(offer->currency, "EUR", 4);
    int id = snprintf(at, OFFER_BYTES_MAX, "{\"id\":\"%s:%zu", supplier, number);
    int length = id + snprintf(at + id, OFFER_BYTES_MAX - (size_t)id, "%si%u\"}", ITEM, priced.item);
    size_t prefix = sizeof("{\"id\":\"") + strlen(supplier);
    require(length > 0 && length < OFFER_BYTES_MAX);
    offer->json = (struct text){ at, (size_t)length };
    offer->head_length = (uint32_t)length - 1;
    offer->id = (struct text){ at + prefix, (size_t)id - prefix };
    offer->item = (struct text){ at + id + sizeof(ITEM) - 1, (size_t)(length - id) - (sizeof(ITEM) - 1) - 2 };
}

static struct offer_batch *make_offers(const struct stage *stage, size_t search, size_t supplier)
{
    struct offer_batch *batch = offer_batch_create(BATCH_BYTES_MAX);
    size_t count;
    const struct trace_offer *offers = trace_offers(stage->trace, search, supplier, &count);

    require(batch != NULL);
    batch->offers = arena_alloc_array(&batch->arena, count, sizeof(*batch->offers));
    char *bytes = arena_alloc_raw(&batch->arena, count * OFFER_BYTES_MAX);
    require(batch->offers != NULL && bytes != NULL);
    for (size_t i = 0; i < count; i++) {
        fill_offer(&batch->offers[i], bytes + i * OFFER_BYTES_MAX, stage->trace->population->suppliers[supplier].name,
                   i, offers[i]);
    }
    batch->count = count;
    batch->decimals = 2;
    offer_batch_sort(batch);
    return batch;
}

static void run_normalise(struct stage *stage, struct normalise_call *normalise)
{
    bool is_error = normalise->response->status >= 500;

    normalise->verdict = is_error ? SCRIPT_UNPARSABLE : SCRIPT_OK;
    if (!is_error) {
        normalise->offers = make_offers(stage, (size_t)number_of(normalise->search_id), normalise->account->supplier);
    }
}

struct extra_terms stage_supplier_terms(const struct row *row, const struct population_supplier *supplier)
{
    static const struct text SECOND = { "http://e1", sizeof("http://e1") - 1 };
    bool has_second = row->has_hedge && supplier->endpoints > 1;

    return (struct extra_terms){ .endpoints = &SECOND, .endpoint_count = has_second ? 1 : 0 };
}

size_t stage_supplier_search(const struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_START) {
        return (size_t)number_of(CONTAINER_OF(call, const struct start_call, call)->search_id);
    }
    if (call->kind == SCRIPT_CALL_REQUEST) {
        return (size_t)number_of(((const struct part *)call->owner)->attempt->search->options.search_id);
    }
    require(call->kind == SCRIPT_CALL_NORMALISE); // nothing here signs, logs in, or reads the progress
    return (size_t)number_of(CONTAINER_OF(call, const struct normalise_call, call)->search_id);
}

void stage_supplier_run(struct stage *stage, struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_START) {
        run_start(stage, CONTAINER_OF(call, struct start_call, call));
    } else if (call->kind == SCRIPT_CALL_REQUEST) {
        struct request_call *request = CONTAINER_OF(call, struct request_call, call);
        request->verdict = SCRIPT_OK;
        request->request = make_request(stage_supplier_search(call), request->account->supplier);
    } else {
        run_normalise(stage, CONTAINER_OF(call, struct normalise_call, call));
    }
}

void stage_supplier_drop(struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_NORMALISE) {
        CONTAINER_OF(call, struct normalise_call, call)->verdict = SCRIPT_DROPPED;
        return;
    }
    if (call->kind == SCRIPT_CALL_REQUEST) {
        CONTAINER_OF(call, struct request_call, call)->verdict = SCRIPT_DROPPED;
        return;
    }
    struct start_call *start = CONTAINER_OF(call, struct start_call, call);
    start->product_verdict = SCRIPT_DROPPED;
    for (size_t i = 0; i < start->candidate_count; i++) {
        start->candidates[i].verdict = SCRIPT_DROPPED;
    }
}
