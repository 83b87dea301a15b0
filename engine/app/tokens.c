#include "app/tokens.h"

#include "app/hidden_notes.h"
#include "app/secret.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/log.h"
#include "token/offer_token.h"

#include <stdio.h>
#include <time.h>

enum { KEY_ARENA = 1 << 20, OFFER_MAX = 16 << 10 };

static enum status add_keys(struct tokens *tokens, const struct settings *settings, enum token_kind kind,
                            const struct text *names, size_t count, struct failure *why)
{
    static const char *const SETTINGS_OF[] = { "tokens.offer_keys", "tokens.booking_keys" };
    struct arena arena;
    enum status status = STATUS_OK;

    arena_init(&arena, KEY_ARENA);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct failure reason = { 0 };
        struct text value;
        status = secret_find(settings->secrets_dir, names[i], &arena, &value, &reason);
        if (status == STATUS_OK) {
            status = token_ring_add(&tokens->ring, kind, value, &reason);
        }
        if (status != STATUS_OK) {
            failure_set(why, "%s: the secret %.*s %s", SETTINGS_OF[kind], TEXT_ARGS(names[i]), reason.message);
            failure_help(why, "%s", reason.help);
            failure_code(why, CODE_START);
            status = STATUS_INVALID;
        }
    }
    arena_fini(&arena);
    if (status == STATUS_OK && count == 0) {
        status = token_ring_make(&tokens->ring, kind);
        tokens->is_own = true;
        if (status != STATUS_OK) {
            failure_set(why, "tokens: no key could be made: %s", status_name(status));
        }
    }
    return status;
}

enum status tokens_open(struct tokens *tokens, const struct settings *settings, struct failure *why)
{
    *tokens = (struct tokens){ .is_on = settings->tokens_are_on };
    token_ring_init(&tokens->ring);
    if (!tokens->is_on) {
        return STATUS_OK;
    }
    tokens->shelf = hidden_shelf_create();
    if (tokens->shelf == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = add_keys(tokens, settings, TOKEN_OFFER, settings->offer_keys, settings->offer_key_count, why);
    if (status == STATUS_OK) {
        status = add_keys(tokens, settings, TOKEN_BOOKING, settings->booking_keys, settings->booking_key_count, why);
    }
    if (status == STATUS_OK && tokens->is_own) {
        log_line(LOG_WARNING, "tokens",
                 "keys of its own: tokens are of this process alone, and over when it ends; name secrets in "
                 "tokens.offer_keys and tokens.booking_keys");
    }
    return status;
}

void tokens_close(struct tokens *tokens)
{
    token_ring_fini(&tokens->ring);
    hidden_shelf_destroy(&tokens->shelf);
}

void tokens_print_time(uint64_t ms, char out[TOKENS_TIME_SIZE])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    (void)gmtime_r(&seconds, &tm);
    (void)strftime(out, TOKENS_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

// When its supplier said it: an offer out of the store tells so behind its `price_status`; one that does not is of now.
static uint64_t observed_of(const struct offer *offer, uint64_t now_ms)
{
    static const char BEFORE[] = ",\"observed_at\":\"";
    struct text rest, at = offer->json;
    uint64_t observed_ms = 0;

    if (offer->status_at == 0 || offer->status_at >= at.length) {
        return now_ms;
    }
    at = (struct text){ at.data + offer->status_at, at.length - offer->status_at };
    (void)text_split(at, '"', &rest);
    if (!text_starts_with(rest, text_of(BEFORE))) {
        return now_ms;
    }
    rest = (struct text){ rest.data + sizeof BEFORE - 1, rest.length - (sizeof BEFORE - 1) };
    bool is_told = clock_read_utc(text_split(rest, '"', &rest), &observed_ms);
    return is_told && observed_ms < now_ms ? observed_ms : now_ms;
}

// What the script gets of the offer again, but for what is hidden.
static void write_offer(const struct offer *offer, uint64_t observed_ms, struct buffer *out)
{
    struct json_writer json;
    char observed[TOKENS_TIME_SIZE];

    tokens_print_time(observed_ms, observed);
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "id", offer->id);
    json_key(&json, "price");
    json_raw(&json, offer->price);
    json_field_c(&json, "observed_at", observed);
    if (offer->expires_at.length > 0) {
        json_field_text(&json, "expires_at", offer->expires_at);
    }
    json_end_object(&json);
}

// The shelf is nearer than the store, and there when the store is not.
static bool claims_hide(struct tokens *tokens, struct text hidden, struct world *store, uint64_t now_ms, size_t *room,
                        struct offer_claims *claims, char name[HIDDEN_NAME])
{
    if (hidden.length <= OFFER_TOKEN_HIDDEN_MAX) {
        claims->hidden = hidden;
        return true;
    }
    if (hidden.length > *room) {
        return false;
    }
    *room -= hidden.length;
    claims->hidden_key = (struct text){ name, HIDDEN_NAME };
    bool is_kept = hidden_shelf_keep(tokens->shelf, hidden, claims->expires_ms, name) == STATUS_OK;
    if (is_kept && store != NULL) { // what cannot be stored is of this engine alone
        (void)!hidden_notes_put(store, &tokens->ring, name, hidden, claims->expires_ms - now_ms);
    }
    return is_kept;
}

bool tokens_seal(struct tokens *tokens, const struct search_seal *seal, struct world *store, uint64_t now_ms,
                 uint64_t life_us, size_t *room, struct buffer *out)
{
    const struct offer *offer = seal->offer;
    uint64_t expires_ms = now_ms + life_us / 1000, offer_ms = 0;
    struct buffer again;
    char name[HIDDEN_NAME];

    if (offer->expires_at.length > 0 && !clock_read_utc(offer->expires_at, &offer_ms)) {
        return false; // nobody could tell when it is over
    }
    if (offer->expires_at.length > 0 && offer_ms < expires_ms) {
        expires_ms = offer_ms;
    }
    if (expires_ms <= now_ms || offer->price.data == NULL) {
        return false;
    }
    buffer_init(&again, OFFER_MAX);
    uint64_t observed_ms = observed_of(offer, now_ms);
    write_offer(offer, observed_ms, &again);
    struct offer_claims claims = {
        .product = seal->supplier->product,
        .supplier = seal->supplier->name,
        .account = seal->account->name,
        .facts = seal->facts,
        .offer = buffer_text(&again),
        .observed_ms = observed_ms,
        .expires_ms = expires_ms,
    };
    bool is_sealed = !again.is_full && claims_hide(tokens, offer->hidden, store, now_ms, room, &claims, name) &&
                     offer_token_write(&tokens->ring, &claims, out) == STATUS_OK;
    buffer_fini(&again);
    return is_sealed;
}
