#include "app/verify_route.h"

#include "app/io_thread.h"
#include "app/token_call.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "token/booking_token.h"

enum { CALL_ARENA = 1 << 20, REPLY_MAX = 1 << 20 };

static void write_claims(const struct booking_claims *claims, struct json_writer *json)
{
    char expires_at[TOKENS_TIME_SIZE];

    json_field_text(json, "id", claims->id);
    json_field_text(json, "product", claims->product);
    json_field_text(json, "supplier", claims->supplier);
    if (claims->account.length > 0) {
        json_field_text(json, "account", claims->account);
    }
    json_field_text(json, "offer", claims->offer);
    json_key(json, "price");
    json_begin_object(json);
    json_field_text(json, "total", claims->total);
    json_field_text(json, "currency", claims->currency);
    json_end_object(json);
    json_field_text(json, "search", claims->search);
    tokens_print_time(claims->expires_s * 1000, expires_at);
    json_field_c(json, "expires_at", expires_at);
}

void verify_route_handle(struct io_thread *thread, struct http_call *call)
{
    struct booking_claims claims;
    struct json_writer json;
    struct arena arena;
    struct buffer body;
    struct text token;

    if (!thread->engine->tokens.is_on) {
        token_call_refuse_off(call);
        return;
    }
    arena_init(&arena, CALL_ARENA);
    if (!token_call_read(call, "booking_token", &arena, &token)) {
        arena_fini(&arena);
        return;
    }
    enum token_fault fault =
        booking_token_read(&thread->engine->tokens.ring, token, clock_wall_us() / 1000000, &arena, &claims);
    buffer_init(&body, REPLY_MAX);
    json_writer_init(&json, &body);
    json_begin_object(&json);
    json_field_bool(&json, "genuine", fault == TOKEN_GENUINE || fault == TOKEN_EXPIRED);
    json_field_bool(&json, "valid", fault == TOKEN_GENUINE);
    if (fault != TOKEN_GENUINE) {
        json_field_c(&json, "because", token_fault_code(fault));
    }
    if (fault == TOKEN_GENUINE || fault == TOKEN_EXPIRED) {
        write_claims(&claims, &json);
    }
    json_end_object(&json);
    token_call_reply(call, &body);
    buffer_fini(&body);
    arena_fini(&arena);
}

void verify_route_keys(struct io_thread *thread, struct http_call *call)
{
    struct buffer body;

    if (!thread->engine->tokens.is_on) {
        token_call_refuse_off(call);
        return;
    }
    buffer_init(&body, REPLY_MAX);
    token_ring_write_public(&thread->engine->tokens.ring, &body);
    token_call_reply(call, &body);
    buffer_fini(&body);
}
