#include "app/revalidate_reply.h"

#include "base/json_tree.h"
#include "base/json_write.h"
#include "token/booking_token.h"

enum { REPLY_ARENA = 4 << 20 };

// What the supplier said, taken apart.
struct reading {
    struct arena arena;
    struct text status;
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

static bool is_same_price(const struct json_node *a, const struct json_node *b)
{
    return text_equals(json_tree_text(a, "total"), json_tree_text(b, "total")) &&
           text_equals(json_tree_text(a, "currency"), json_tree_text(b, "currency"));
}

static bool is_sold(struct text status)
{
    return text_equals_c(status, "confirmed") || text_equals_c(status, "price_changed");
}

// The price that holds now, in the supplier's own currency where he says it so: what `confirmed` confirms is the price
// that was shown, and another one is no confirmation whatever it is called.
static void settle_price(struct reading *reading)
{
    const struct json_node *of_offer = json_tree_member(reading->offer, "price");

    reading->now = reading->now != NULL ? reading->now : of_offer;
    if (reading->now == NULL && text_equals_c(reading->status, "confirmed")) {
        reading->now = reading->was;
    }
    if (!is_sold(reading->status)) {
        return;
    }
    const struct json_node *own = json_tree_member(reading->was, "supplier_price");
    bool is_own_price = own != NULL &&
                        text_equals(json_tree_text(own, "amount"), json_tree_text(reading->now, "total")) &&
                        text_equals(json_tree_text(own, "currency"), json_tree_text(reading->now, "currency"));
    bool is_same = is_same_price(reading->was, reading->now) || is_own_price;
    reading->status = is_same ? TEXT("confirmed") : TEXT("price_changed");
}

static void read_end(const struct revalidate_subject *subject, const struct revalidation_end *end,
                     struct reading *reading)
{
    const struct json_node *shown = read_tree(reading, subject->claims->offer);
    const struct json_node *root =
        end == NULL || end->result == NULL ? NULL : read_tree(reading, block_text(end->result));

    reading->status = TEXT("retry");
    reading->expires_ms = UINT64_MAX;
    reading->was = json_tree_member(shown, "price");
    if (root == NULL || reading->was == NULL) {
        return;
    }
    reading->status = json_tree_text(root, "status");
    reading->now = json_tree_member(root, "now");
    reading->offer = json_tree_member(root, "offer");
    reading->handoff = json_tree_member(root, "handoff");
    struct text expires = json_tree_text(root, "expires_at");
    if (expires.data == NULL) {
        expires = json_tree_text(reading->offer, "expires_at");
    }
    if (expires.data != NULL && tokens_read_time(expires, &reading->expires_ms) &&
        reading->expires_ms <= subject->now_ms) {
        reading->status = TEXT("expired");
        return;
    }
    settle_price(reading);
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
        .supplier = subject->claims->supplier,
        .account = subject->claims->account,
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
    struct text id = json_tree_text(offer, "id");
    size_t head = subject->supplier->name.length + 1;
    struct offer made = {
        .id = { id.data + head, id.length - head }, // "supplier:id"
        .price = json_tree_member(offer, "price")->source,
        .expires_at = json_tree_text(offer, "expires_at"),
        .hidden = end->hidden != NULL ? block_text(end->hidden) : (struct text){ NULL, 0 },
    };
    struct search_seal seal = { subject->supplier, subject->account, subject->claims->facts, &made };

    buffer_init(&token, OFFER_TOKEN_MAX);
    json_key(json, "offer");
    if (tokens_seal(subject->tokens, &seal, subject->now_ms, subject->settings->offer_life_us, &token)) {
        json_raw(json, (struct text){ offer->source.data, offer->source.length - 1 });
        buffer_append_text(json->out, TEXT(",\"token\":\""));
        buffer_append_text(json->out, buffer_text(&token));
        buffer_append_text(json->out, TEXT("\"}"));
    } else {
        json_raw(json, offer->source);
    }
    buffer_fini(&token);
}

static void write_why(const struct revalidation_end *end, const char *why, struct json_writer *json)
{
    if (end == NULL) {
        json_field_c(json, "because", why);
        return;
    }
    json_field_c(json, "because", outcome_name(end->end.outcome));
    if (end->end.retry_after_ms > 0) {
        json_field_u64(json, "retry_in_ms", end->end.retry_after_ms);
    }
}

void revalidate_reply_write(const struct revalidate_subject *subject, const struct revalidation_end *end,
                            const char *why, struct buffer *out)
{
    struct reading reading = { 0 };
    struct json_writer json, sold;
    struct buffer members;

    arena_init(&reading.arena, REPLY_ARENA);
    read_end(subject, end, &reading);
    buffer_init(&members, BOOKING_TOKEN_MAX);
    json_writer_init(&sold, &members);
    json_begin_object(&sold);
    if (is_sold(reading.status) && !write_booking(subject, &reading, &sold)) {
        reading.status = TEXT("retry");
        why = "out_of_memory";
        end = NULL;
    }
    json_end_object(&sold);
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "status", reading.status);
    if (text_equals_c(reading.status, "retry") && (end == NULL || end->result == NULL)) {
        write_why(end, why, &json);
    }
    if (reading.was != NULL) {
        json_key(&json, "was");
        json_raw(&json, reading.was->source);
    }
    if (is_sold(reading.status)) {
        json_key(&json, "now");
        json_raw(&json, reading.now->source);
        if (reading.handoff != NULL) {
            json_key(&json, "handoff");
            json_raw(&json, reading.handoff->source);
        }
        buffer_append_byte(out, ','); // the members of the object above
        buffer_append(out, members.data + 1, members.length - 2);
    } else if (text_equals_c(reading.status, "changed")) {
        write_offer(subject, end, reading.offer, &json);
    }
    json_end_object(&json);
    buffer_fini(&members);
    arena_fini(&reading.arena);
}
