#include "app/try_fixture.h"

#include "app/fixture_secret.h"
#include "base/clock.h"
#include "base/json_write.h"

#include <string.h>

enum { SECRET_VALUE_MAX = 64 << 10 };

static const struct settings_supplier *settings_of(const struct try_subject *subject)
{
    for (size_t i = 0; i < subject->settings->supplier_count; i++) {
        if (text_equals(subject->settings->suppliers[i].name, subject->supplier->name)) {
            return &subject->settings->suppliers[i];
        }
    }
    return NULL;
}

/// What the settings say over the script's own options.
static void write_options(const struct try_subject *subject, const struct json_node *context, struct json_writer *json)
{
    const struct settings_supplier *settings = settings_of(subject);
    const struct json_node *options = json_tree_member(context, "options");
    bool has_any = false;

    for (size_t i = 0; settings != NULL && i < settings->accounts[0].option_count; i++) {
        const struct json_node *option = json_tree_member_text(options, settings->accounts[0].options[i].key);
        if (option == NULL) {
            continue;
        }
        if (!has_any) {
            json_key(json, "options");
            json_begin_object(json);
            has_any = true;
        }
        json_key_text(json, option->key);
        json_raw(json, option->source);
    }
    if (has_any) {
        json_end_object(json);
    }
}

static void write_secrets(const struct try_subject *subject, const struct json_node *context, struct json_writer *json)
{
    const struct json_node *secrets = json_tree_member(context, "secret");
    struct buffer value;

    if (subject->script->secret_count == 0) {
        return;
    }
    buffer_init(&value, SECRET_VALUE_MAX);
    json_key(json, "secrets");
    json_begin_object(json);
    for (size_t i = 0; i < subject->script->secret_count; i++) {
        struct text name = subject->script->secrets[i];
        buffer_clear(&value);
        fixture_test_secret(name,
                            json_tree_member_text(secrets, name) == NULL ? (struct text){ 0 }
                                                                         : json_tree_member_text(secrets, name)->text,
                            &value);
        json_key_text(json, name);
        json_text(json, buffer_text(&value));
    }
    json_end_object(json);
    buffer_fini(&value);
}

static void write_headers(const struct header *headers, size_t count, struct json_writer *json)
{
    json_key(json, "headers");
    json_begin_object(json);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0, before = 0;
        for (size_t j = 0; j < count; j++) {
            bool is_same = text_equals(headers[j].name, headers[i].name);
            same += is_same ? 1 : 0;
            before += is_same && j < i ? 1 : 0;
        }
        if (before > 0) {
            continue;
        }
        json_key_text(json, headers[i].name);
        if (same > 1) {
            json_begin_array(json);
        }
        for (size_t j = i; j < count; j++) {
            if (text_equals(headers[j].name, headers[i].name)) {
                json_text(json, headers[j].value);
            }
        }
        if (same > 1) {
            json_end_array(json);
        }
    }
    json_end_object(json);
}

static void write_exchange(const struct try_frame_exchange *exchange, struct json_writer *json)
{
    json_begin_object(json);
    if (exchange->expect_request.data != NULL) {
        json_key(json, "expect_request");
        json_raw(json, exchange->expect_request);
    }
    json_key(json, "response");
    json_begin_object(json);
    json_field_u64(json, "status", exchange->status);
    if (exchange->after_ms > 0) {
        json_field_u64(json, "after_ms", exchange->after_ms);
    }
    if (exchange->header_count > 0) {
        write_headers(exchange->headers, exchange->header_count, json);
    }
    if (exchange->body_file != NULL) {
        json_field_c(json, "body_file", exchange->body_file);
    }
    json_end_object(json);
    json_end_object(json);
}

void try_fixture_write(const struct try_subject *subject, const struct try_frame *frame, struct buffer *out)
{
    struct json_node *context = NULL;
    struct json_writer json;
    struct arena arena;
    char now[CLOCK_UTC_SIZE];
    const char *sentence;
    size_t offset;

    arena_init(&arena, 4 << 20);
    (void)!json_tree_read(&arena, subject->supplier->account->context, &context, &offset, &sentence);
    clock_print_utc(frame->wall_us, now);
    json_writer_init(&json, out);
    json_begin_object(&json);
    if (frame->about.data != NULL) {
        json_field_text(&json, "about", frame->about);
    }
    json_key(&json, "search");
    json_raw(&json, frame->search);
    json_field_c(&json, "now", now);
    write_secrets(subject, context, &json);
    write_options(subject, context, &json);
    if (frame->login.data != NULL) {
        json_key(&json, "login");
        json_raw(&json, frame->login);
    }
    json_key(&json, "exchanges");
    json_begin_array(&json);
    for (size_t i = 0; i < frame->exchange_count; i++) {
        write_exchange(&frame->exchanges[i], &json);
    }
    json_end_array(&json);
    if (frame->expect.data != NULL) {
        json_key(&json, "expect");
        json_raw(&json, frame->expect);
    }
    json_end_object(&json);
    arena_fini(&arena);
}
