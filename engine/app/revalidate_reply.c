#include "app/revalidate_reply.h"

#include "base/clock.h"
#include "base/json_tree.h"
#include "base/json_write.h"
#include "search/shown.h"
#include "token/booking_token.h"

#include <stdio.h>
#include <string.h>

enum { REPLY_ARENA = 4 << 20 };

// What the supplier said, taken apart.
struct reading {
    struct arena arena;
    enum revalidation_status status;
    const struct json_node *was, *now, *offer, *handoff; // NULL: not there
    uint64_t expires_ms;                                 // of the confirmed price; UINT64_MAX: it does not say
};

static struct json_node *read_tree(struct reading *reading, struct text json)
{
    struct json_node *root = NULL;
    size_t offset = 0;
    const char *sentence = NULL;

    return json_tree_read(&reading->arena, json, &root, &offset, &sentence) == STATUS_OK ? root : NULL;
}

// Members that begin with a comma, as an object.
static struct json_node *read_hidden(struct reading *reading, struct text hidden)
{
    struct buffer object;
    struct json_node *root = NULL;

    if (hidden.length < 2) {
        return NULL;
    }
    buffer_init(&object, hidden.length + 2);
    buffer_append_byte(&object, '{');
    buffer_append(&object, hidden.data + 1, hidden.length - 1);
    buffer_append_byte(&object, '}');
    struct text kept = arena_copy(&reading->arena, buffer_text(&object));
    if (kept.data != NULL) {
        root = read_tree(reading, kept);
    }
    buffer_fini(&object);
    return root;
}

static bool is_same(const struct json_node *a, const char *amount_of_a, const struct json_node *b,
                    const char *amount_of_b)
{
    return text_equals(json_tree_text(a, amount_of_a), json_tree_text(b, amount_of_b)) &&
           text_equals(json_tree_text(a, "currency"), json_tree_text(b, "currency"));
}

// A total that was converted says nothing of the supplier's price by itself: two of his prices may round to one total,
// and one of his prices becomes another total with other rates.
static bool is_same_price(const struct json_node *was, const struct json_node *now)
{
    const struct json_node *own_was = json_tree_member(was, "supplier_price");
    const struct json_node *own_now = json_tree_member(now, "supplier_price");

    if (own_was != NULL && own_now == NULL) { // now may be told in his currency, or as it was shown
        return is_same(own_was, "amount", now, "total") || (was == now);
    }
    if (own_was == NULL && own_now != NULL) {
        return is_same(was, "total", own_now, "amount");
    }
    return is_same(was, "total", now, "total") && (own_was == NULL || is_same(own_was, "amount", own_now, "amount"));
}

static bool is_sold(enum revalidation_status status)
{
    return status == REVALIDATION_CONFIRMED || status == REVALIDATION_PRICE_CHANGED;
}

// "supplier:id" without the supplier. Absent: it is not one of his.
static struct text id_of_offer(const struct revalidate_subject *subject, const struct json_node *offer)
{
    struct text id = json_tree_text(offer, "id"), name = subject->supplier->name;

    if (id.length <= name.length || !text_starts_with(id, name) || id.data[name.length] != ':') {
        return (struct text){ 0 };
    }
    return (struct text){ id.data + name.length + 1, id.length - name.length - 1 };
}

// The price that holds now, in the supplier's own currency where he says it so: what `confirmed` confirms is the offer
// and the price that were shown; another price is no confirmation and another offer no change of price, whatever they
// are called.
static void settle(const struct revalidate_subject *subject, struct reading *reading)
{
    const struct json_node *of_offer = json_tree_member(reading->offer, "price");

    if (!is_sold(reading->status)) {
        return;
    }
    if (reading->offer != NULL &&
        !text_equals(id_of_offer(subject, reading->offer), json_tree_text(reading->was->parent, "id"))) {
        reading->status = REVALIDATION_CHANGED;
        return;
    }
    reading->now = reading->now != NULL ? reading->now : of_offer;
    if (reading->now == NULL && reading->status == REVALIDATION_CONFIRMED) {
        reading->now = reading->was;
    }
    if (reading->now == NULL) { // the script's side does not let it through
        reading->status = REVALIDATION_RETRY;
        return;
    }
    reading->status = is_same_price(reading->was, reading->now) ? REVALIDATION_CONFIRMED : REVALIDATION_PRICE_CHANGED;
}

static void read_end(const struct revalidate_subject *subject, const struct revalidation_end *end,
                     struct reading *reading)
{
    const struct json_node *shown = read_tree(reading, subject->claims->offer);
    const struct json_node *root =
        end == NULL || end->result == NULL ? NULL : read_tree(reading, block_text(end->result));

    reading->status = REVALIDATION_RETRY;
    reading->expires_ms = UINT64_MAX;
    reading->was = json_tree_member(shown, "price");
    if (root == NULL || reading->was == NULL) {
        return;
    }
    reading->status = revalidation_status_of(json_tree_text(root, "status"));
    reading->now = json_tree_member(root, "now");
    reading->offer = json_tree_member(root, "offer");
    reading->handoff = json_tree_member(root, "handoff");
    struct text expires = json_tree_text(root, "expires_at");
    if (expires.data == NULL) {
        expires = json_tree_text(reading->offer, "expires_at");
    }
    if (expires.data != NULL && !clock_read_utc(expires, &reading->expires_ms)) {
        reading->status = REVALIDATION_RETRY; // nobody could tell when it is over
        return;
    }
    // A booking token counts in seconds: what is left must be one, or it would be over when it comes.
    if (reading->expires_ms / 1000 <= subject->now_ms / 1000 &&
        (is_sold(reading->status) || reading->status == REVALIDATION_CHANGED)) {
        reading->status = REVALIDATION_EXPIRED;
        return;
    }
    settle(subject, reading);
    if (reading->handoff == NULL) {
        reading->handoff = json_tree_member(
            read_hidden(reading, end->hidden != NULL ? block_text(end->hidden) : subject->hidden), "handoff");
    }
}

// False: there was no memory for one.
static bool write_booking(const struct revalidate_subject *subject, const struct reading *reading,
                          struct json_writer *json)
{
    const struct json_node *shown = reading->was->parent;
    uint64_t life_ms = subject->now_ms + subject->settings->booking_life_us / 1000;
    uint64_t expires_ms = reading->expires_ms < life_ms ? reading->expires_ms : life_ms;
    char expires_at[TOKENS_TIME_SIZE];
    struct buffer token, search;
    struct booking_claims claims = {
        .product = subject->claims->product,
        .supplier = shown_name(subject->supplier, subject->detail),
        .account = subject->detail == REPLY_FULL ? subject->claims->account : (struct text){ NULL, 0 },
        .offer = json_tree_text(shown, "id"),
        .total = json_tree_text(reading->now, "total"),
        .currency = json_tree_text(reading->now, "currency"),
        .issued_s = subject->now_ms / 1000,
        .expires_s = expires_ms / 1000,
    };

    buffer_init(&token, BOOKING_TOKEN_MAX);
    buffer_init(&search, 64);
    bool is_made = booking_token_digest(subject->claims->facts, &search) == STATUS_OK;
    claims.search = buffer_text(&search);
    is_made = is_made && booking_token_write(&subject->tokens->ring, &claims, &token) == STATUS_OK;
    if (is_made) {
        json_field_text(json, "booking_token", buffer_text(&token));
        tokens_print_time(expires_ms, expires_at);
        json_field_c(json, "expires_at", expires_at);
    }
    buffer_fini(&token);
    buffer_fini(&search);
    return is_made;
}

// An offer that takes the place of the one asked for, with a token of its own.
static void write_offer(const struct revalidate_subject *subject, const struct revalidation_end *end,
                        const struct json_node *offer, struct json_writer *json)
{
    struct buffer token;
    struct offer made = {
        .id = id_of_offer(subject, offer),
        .json = offer->source,
        .item = json_tree_text(offer, "item"),
        .price = json_tree_member(offer, "price")->source,
        .expires_at = json_tree_text(offer, "expires_at"),
        .hidden = end->hidden != NULL ? block_text(end->hidden) : (struct text){ NULL, 0 },
    };
    size_t room = HIDDEN_SHELF_OF_REPLY;
    struct search_seal seal = { subject->supplier, subject->account, subject->claims->facts, &made };

    const struct json_node *item = json_tree_member(offer, "item");
    if (item != NULL) { // it is the third: what stands before its end is the head
        made.head_length = (uint32_t)(item->source.data + item->source.length - offer->source.data);
    }
    buffer_init(&token, OFFER_TOKEN_MAX);
    json_key(json, "offer");
    bool is_sealed = tokens_seal(subject->tokens, &seal, subject->store, subject->now_ms,
                                 subject->settings->offer_life_us, &room, &token);
    shown_write_offer(json, subject->supplier, &made, is_sealed ? buffer_text(&token) : (struct text){ NULL, 0 },
                      subject->detail);
    buffer_fini(&token);
}

// How an outcome looks to a stranger, as in a search's reply.
static const char *seen_of(const struct revalidation_end *end)
{
    return seen_name(end != NULL && end->result == NULL ? outcome_row(end->end.outcome)->seen : SEEN_UNAVAILABLE);
}

static void write_why(const struct revalidate_subject *subject, const struct revalidation_end *end, const char *why,
                      struct json_writer *json)
{
    bool is_ours = end == NULL && (strcmp(why, "draining") == 0 || strcmp(why, "out_of_memory") == 0 ||
                                   strcmp(why, "forgotten") == 0 ||
                                   strcmp(why, "store_unavailable") == 0); // says nothing of a supplier
    if (subject->detail == REPLY_PUBLIC && !is_ours) {
        json_field_c(json, "because", seen_of(end));
        return;
    }
    if (end == NULL) {
        json_field_c(json, "because", why);
        return;
    }
    json_field_c(json, "because", outcome_name(end->end.outcome));
    if (end->end.retry_after_ms > 0) {
        json_field_u64(json, "retry_in_ms", end->end.retry_after_ms);
    }
}

static void tell_price(const struct json_node *price, char out[REVALIDATE_PRICE_SIZE])
{
    struct text total = json_tree_text(price, "total"), currency = json_tree_text(price, "currency");

    (void)snprintf(out, REVALIDATE_PRICE_SIZE, "%.*s %.*s", TEXT_ARGS(total), TEXT_ARGS(currency));
}

enum revalidation_status revalidate_reply_write(const struct revalidate_subject *subject,
                                                const struct revalidation_end *end, const char *why, struct buffer *out,
                                                struct revalidate_prices *prices)
{
    struct reading reading = { 0 };
    struct json_writer json, sold;
    struct buffer members;

    arena_init(&reading.arena, REPLY_ARENA);
    read_end(subject, end, &reading);
    buffer_init(&members, 2 * BOOKING_TOKEN_MAX);
    json_writer_init(&sold, &members);
    json_begin_object(&sold);
    if (is_sold(reading.status) && !write_booking(subject, &reading, &sold)) {
        reading.status = REVALIDATION_RETRY;
        why = "out_of_memory";
        end = NULL;
    }
    json_end_object(&sold);
    json_writer_init(&json, out);
    json_begin_object(&json);
    if (subject->id.length > 0) {
        json_field_text(&json, "revalidation_id", subject->id);
    }
    json_field_c(&json, "status", revalidation_status_name(reading.status));
    if (reading.status == REVALIDATION_RETRY && (end == NULL || end->result == NULL)) {
        write_why(subject, end, why, &json);
    }
    *prices = (struct revalidate_prices){ 0 };
    if (reading.was != NULL) {
        tell_price(reading.was, prices->was);
        json_key(&json, "was");
        json_raw(&json, reading.was->source);
    }
    if (is_sold(reading.status)) {
        tell_price(reading.now, prices->now);
        json_key(&json, "now");
        json_raw(&json, reading.now->source);
        if (reading.handoff != NULL) {
            json_key(&json, "handoff");
            json_raw(&json, reading.handoff->source);
        }
        buffer_append_byte(out, ','); // the members of the object above
        buffer_append(out, members.data + 1, members.length - 2);
    } else if (reading.status == REVALIDATION_CHANGED) {
        write_offer(subject, end, reading.offer, &json);
    }
    json_end_object(&json);
    buffer_fini(&members);
    arena_fini(&reading.arena);
    return reading.status;
}
