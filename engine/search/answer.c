#include "search/answer.h"

#include "base/clock.h"
#include "search/coverage.h"
#include "search/facets.h"
#include "search/gain.h"
#include "search/merge.h"
#include "search/search_internal.h"
#include "search/shown.h"

enum {
    ANSWER_CEILING = 32 << 20,
    ANSWER_HEAD_ROOM = 4096,
    ANSWER_ATTEMPT_ROOM = 512,
    ANSWER_ITEM_ROOM = 64,
    ANSWER_ATTEMPT_MOST = 4096, // what one attempt's entry can take with every byte escaped
    ANSWER_ESCAPED = 6,         // of one byte of an item's name
};

static void write_head(const struct search *search, struct json_writer *json)
{
    const struct search_options *options = &search->options;
    uint64_t now_us = options->world->ops->now_us(options->world);

    json_field_text(json, "search_id", options->search_id);
    json_field_u64(json, "took_ms", clock_us_to_ms(now_us - options->arrival_us));
    json_field_u64(json, "generation", options->catalogue->generation);
    if (options->is_test) {
        json_field_c(json, "mode", mode_name(MODE_TEST));
    }
    json_key(json, "budget");
    json_begin_object(json);
    json_field_u64(json, "requested_ms", clock_us_to_ms(options->budget.requested_us));
    json_field_u64(json, "effective_ms", clock_us_to_ms(options->budget.effective_us));
    json_field_u64(json, "reserve_ms", clock_us_to_ms(options->reserve_us));
    json_field_bool(json, "clamped", options->budget.is_clamped);
    json_field_c(json, "from", budget_from_name(options->budget.from));
    if (search->deadline_rule != NULL && options->detail == REPLY_FULL) {
        json_field_text(json, "rule", search->deadline_rule->place);
    }
    json_end_object(json);
}

static void write_suppliers(const struct search *search, const struct coverage *coverage,
                            const struct merge_result *merged, struct json_writer *json)
{
    json_key(json, "coverage");
    coverage_write(coverage, search->options.detail, json, merged->found, merged->pick_count);
    json_key(json, "suppliers");
    json_begin_array(json);
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (!attempt_is_dark(&search->attempts[i])) {
            coverage_write_attempt(&search->attempts[i], search->options.arrival_us, search->options.detail, json);
        }
    }
    json_end_array(json);
}

enum { TOKEN_MAX = 64 << 10 };

/// Makes the token of an offer in `token`. False: it has none.
static bool seal_pick(const struct search *search, const struct merge_pick *pick, struct buffer *token)
{
    struct search_seal seal = { .supplier = pick->attempt->supplier,
                                .account = pick->attempt->account,
                                .facts = block_text(search->facts),
                                .offer = pick->offer };

    buffer_clear(token);
    return search->options.on_seal != NULL && search->facts != NULL &&
           search->options.on_seal(search->options.owner, &seal, token) && !token->is_full;
}

/// The tokens of what counts, by the offers' ids.
static void write_tokens(const struct search *search, const struct merge_result *merged, struct json_writer *json)
{
    struct buffer token;

    buffer_init(&token, TOKEN_MAX);
    json_key(json, "tokens");
    json_begin_object(json);
    for (size_t i = 0; i < merged->pick_count; i++) {
        const struct merge_pick *pick = &merged->picks[i];
        if (seal_pick(search, pick, &token)) {
            shown_write_id_key(json, pick->attempt->supplier, pick->offer, search->options.detail);
            json_text(json, buffer_text(&token));
        }
    }
    json_end_object(json);
    buffer_fini(&token);
}

static void write_offers(const struct search *search, const struct merge_result *merged, struct json_writer *json)
{
    static const struct text NO_TOKEN = { NULL, 0 };
    enum reply_detail detail = search->options.detail;
    struct buffer token;

    json_key(json, "items");
    json_begin_object(json);
    for (size_t i = 0; i < merged->item_count; i++) {
        const struct offer *offer = merged->items[i].offer;
        if (offer->item_json.data != NULL) {
            shown_write_item_key(json, merged->items[i].attempt->supplier, offer, detail);
            json_raw(json, offer->item_json);
        }
    }
    json_end_object(json);
    json_key(json, "offers");
    json_begin_array(json);
    buffer_init(&token, TOKEN_MAX);
    for (size_t i = 0; i < merged->pick_count; i++) {
        const struct merge_pick *pick = &merged->picks[i];
        bool has_token = seal_pick(search, pick, &token);
        shown_write_offer(json, pick->attempt->supplier, pick->offer, has_token ? buffer_text(&token) : NO_TOKEN,
                          detail);
    }
    buffer_fini(&token);
    json_end_array(json);
}

/// The ids of what counts, in the order of the reply.
static void write_order(const struct search *search, const struct merge_result *merged, struct json_writer *json)
{
    json_key(json, "order");
    json_begin_array(json);
    for (size_t i = 0; i < merged->pick_count; i++) {
        shown_write_id(json, merged->picks[i].attempt->supplier, merged->picks[i].offer, search->options.detail);
    }
    json_end_array(json);
}

/// About what a token takes, or nothing.
static size_t token_room(const struct search *search, const struct offer *offer)
{
    enum { TOKEN_BESIDES = 512, TOKEN_HIDDEN_MOST = 1024 };

    if (search->options.on_seal == NULL) {
        return 0;
    }
    size_t hidden = offer->hidden.length < TOKEN_HIDDEN_MOST ? offer->hidden.length : TOKEN_HIDDEN_MOST;
    return (block_text(search->facts).length + offer->id.length + offer->price.length + hidden + TOKEN_BESIDES) * 4 / 3;
}

/// Room for everything at once, so that a large reply is not copied while it grows.
static size_t answer_room(const struct search *search, const struct merge_result *merged)
{
    size_t room = ANSWER_HEAD_ROOM + search->attempt_count * ANSWER_ATTEMPT_ROOM;

    for (size_t i = 0; i < merged->item_count; i++) {
        const struct offer *offer = merged->items[i].offer;
        room += offer->item.length + offer->item_json.length + ANSWER_ITEM_ROOM;
    }
    for (size_t i = 0; i < merged->pick_count; i++) {
        room += merged->picks[i].offer->json.length + 1;
        room += shown_room(merged->picks[i].attempt->supplier, search->options.detail);
        room += token_room(search, merged->picks[i].offer);
    }
    return room;
}

/// A reply has a ceiling. What does not fit is left out from the end, where the least wanted offers are; the counts of
/// the coverage tell it. An item comes with its first offer.
static void answer_fit(const struct search *search, struct merge_result *merged)
{
    size_t left = ANSWER_CEILING - ANSWER_HEAD_ROOM - FACETS_ROOM_MAX;
    size_t used = search->attempt_count * ANSWER_ATTEMPT_MOST;
    size_t items = 0;
    size_t picks = 0;

    for (; picks < merged->pick_count; picks++) {
        const struct offer *offer = merged->picks[picks].offer;
        bool is_new = items < merged->item_count && merged->items[items].offer == offer;
        used += offer->json.length + 1 + shown_room(merged->picks[picks].attempt->supplier, search->options.detail);
        used += token_room(search, offer);
        used += is_new ? offer->item.length * ANSWER_ESCAPED + offer->item_json.length + ANSWER_ITEM_ROOM : 0;
        if (used > left) {
            break;
        }
        items += is_new ? 1 : 0;
    }
    merged->pick_count = picks;
    merged->item_count = items;
}

static void write_problem(struct json_writer *json, uint16_t status, const char *code, const char *title)
{
    json_field_c(json, "type", "about:blank");
    json_field_c(json, "title", title);
    json_field_u64(json, "status", status);
    json_field_c(json, "code", code);
}

/// Nobody answered, or the caller wants all or nothing.
static uint16_t answer_status(const struct search *search, const struct coverage *coverage)
{
    if (coverage->eligible == 0) {
        return 200;
    }
    if (search->options.whole_or_nothing && !coverage->is_complete) {
        return 504;
    }
    return coverage->answered + coverage->empty + coverage->cached + coverage->indicative > 0 ? 200 : 504;
}

static void answer_seal(struct search_reply *reply, struct buffer *buffer, uint16_t status)
{
    reply->body = block_from_buffer(buffer);
    reply->status = reply->body != NULL ? status : 503;
    buffer_fini(buffer);
}

void answer_build(struct search *search, struct search_reply *reply)
{
    struct merge_limits limits = { search->options.max_items, search->options.max_offers_per_item,
                                   search->options.sort };
    struct merge_result merged;
    struct coverage coverage;
    struct buffer buffer;
    struct json_writer json;

    recall_settle(search);
    coverage_count(&coverage, search->attempts, search->attempt_count);
    coverage.has_store = search_has_store(search);
    bool has_offers = merge_offers(&search->arena, search->attempts, search->attempt_count, limits, &merged);
    uint16_t status = answer_status(search, &coverage);
    if (has_offers) {
        gain_tell(search, &merged);
    }

    bool is_stream = search->has_begun && stream_is_on(&search->stream);
    if (has_offers) {
        answer_fit(search, &merged);
    }
    if (status != 200) { // a problem has no offers
        merged.pick_count = 0;
        merged.item_count = 0;
    }
    buffer_init(&buffer, ANSWER_CEILING);
    buffer.is_full = !has_offers || !buffer_reserve(&buffer, answer_room(search, &merged));
    json_writer_init(&json, &buffer);
    json_begin_object(&json);
    if (is_stream) {
        stream_settle(&search->stream, search, &merged);
        json_field_u64(&json, "seq", stream_take_seq(&search->stream));
    }
    if (status == 504) {
        bool wants_all = search->options.whole_or_nothing;
        write_problem(&json, status, wants_all ? "not_complete" : "no_answer",
                      wants_all ? "Not every supplier answered" : "No supplier answered");
    }
    write_head(search, &json);
    write_suppliers(search, &coverage, &merged, &json);
    if (status == 200 && is_stream) {
        write_order(search, &merged, &json);
        if (search->options.on_seal != NULL) {
            write_tokens(search, &merged, &json);
        }
    } else if (status == 200) {
        write_offers(search, &merged, &json);
    }
    if (status == 200) {
        json_key(&json, "facets");
        facets_write(search->attempts, search->attempt_count, &json);
    }
    json_end_object(&json);
    reply->is_complete = coverage.is_complete;
    reply->has_cached = coverage.cached + coverage.indicative > 0;
    reply->offers_found = merged.found;
    reply->offers_returned = merged.pick_count;
    answer_seal(reply, &buffer, status);
}

void answer_refuse(struct search *search, const struct start_call *start, struct search_reply *reply)
{
    bool is_bad_query = start->product_verdict == SCRIPT_FAIL_UNEXPECTED;
    reply->is_refused = true;
    uint16_t status = is_bad_query ? 422 : 500;
    struct buffer buffer;
    struct json_writer json;

    buffer_init(&buffer, ANSWER_CEILING);
    json_writer_init(&json, &buffer);
    json_begin_object(&json);
    write_problem(&json, status, is_bad_query ? "bad_query" : "product_script_error",
                  is_bad_query ? "The query is not valid" : "The product script failed");
    json_field_text(&json, "search_id", search->options.search_id);
    if (is_bad_query && start->errors != NULL) {
        json_key(&json, "errors");
        json_raw(&json, block_text(start->errors));
    } else if (start->message[0] != '\0' && search->options.detail == REPLY_FULL) {
        json_field_c(&json, "detail", start->message);
    }
    json_end_object(&json);
    answer_seal(reply, &buffer, status);
}
