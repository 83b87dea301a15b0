#include "app/try_write.h"

#include "app/hide.h"
#include "app/hide_document.h"
#include "app/pretty.h"
#include "app/unread.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "script/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TEXT_MAX = 64 << 20,
    PLAIN_MAX = 64 << 20,
    PATH_SIZE = 4096,
    UNREAD_ARENA = 512 << 20,
    SIGNED_LEAST = 12,
    BEGINNING_MAX = 2000
};

void try_field(struct hide *hide, struct json_writer *json, const char *key, struct text value)
{
    struct buffer out;

    buffer_init(&out, TEXT_MAX);
    hide_text(hide, value, &out);
    json_field_text(json, key, out.length > 0 ? buffer_text(&out) : TEXT(""));
    buffer_fini(&out);
}

void try_hide_signed(const struct try_run *run, struct hide *hide)
{
    for (size_t i = 0; i < run->tap.count; i++) {
        const struct http_request *request = tap_at(&run->tap, i)->request;
        for (size_t j = request->header_count - request->signed_count; j < request->header_count; j++) {
            const struct header *header = &request->headers[j];
            if (header->value.length >= SIGNED_LEAST) {
                (void)hide_stand_in(hide, header->name, header->value);
            }
        }
    }
}

bool try_inflate(const struct http_response *response, struct buffer *scratch, struct text *plain)
{
    struct text encoding = http_response_header(response, "content-encoding");
    struct text body = block_text(response->body);

    *plain = body;
    return body.length == 0 ||
           inflate_body(encoding.data == NULL ? TEXT("") : encoding, body, scratch, plain) == INFLATE_OK;
}

// ------------------------------------------------------------------------------------------------------------- request

static struct text request_header(const struct http_request *request, struct text name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (text_equals_nocase(request->headers[i].name, name)) {
            return request->headers[i].value;
        }
    }
    return (struct text){ 0 };
}

/// A header's name is a script's or a server's own words, too.
static void write_name(struct text name, struct hide *hide, struct json_writer *json)
{
    struct buffer out;

    buffer_init(&out, TEXT_MAX);
    hide_text(hide, name, &out);
    json_field_text(json, "name", out.length > 0 ? buffer_text(&out) : TEXT(""));
    buffer_fini(&out);
}

static void write_request_headers(const struct http_request *request, struct hide *hide, struct json_writer *json)
{
    size_t signed_from = request->header_count - request->signed_count;

    json_key(json, "headers");
    json_begin_array(json);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct header *header = &request->headers[i];
        struct buffer value;
        buffer_init(&value, TEXT_MAX);
        if (i >= signed_from) { // what `sign` gave is made of secrets
            buffer_append_c(&value, "***");
        } else {
            hide_header(hide, header->name, header->value, &value);
        }
        json_begin_object(json);
        write_name(header->name, hide, json);
        json_field_text(json, "value", value.length > 0 ? buffer_text(&value) : TEXT(""));
        json_field_u64(json, "length", header->value.length);
        if (i >= signed_from) {
            json_field_bool(json, "signed", true);
        }
        json_end_object(json);
        buffer_fini(&value);
    }
    json_end_array(json);
}

static bool is_form_type(struct text type)
{
    return text_starts_with(type, TEXT("application/x-www-form-urlencoded"));
}

static void write_request(const struct http_request *request, struct hide *hide, struct json_writer *json)
{
    struct text type = request_header(request, TEXT("content-type"));
    struct buffer out;

    hide->is_of_request = true;
    buffer_init(&out, TEXT_MAX);
    json_key(json, "request");
    json_begin_object(json);
    json_field_text(json, "method", request->method);
    hide_url(hide, request->url, &out);
    json_field_text(json, "url", buffer_text(&out));
    write_request_headers(request, hide, json);
    if (request->body.data != NULL) {
        buffer_clear(&out);
        hide_body(hide, request->body, is_form_type(type), &out);
        json_field_u64(json, "body_bytes", request->body.length);
        json_field_text(json, "body", out.length > 0 ? buffer_text(&out) : TEXT(""));
        json_field_text(json, "type", type.data == NULL ? TEXT("") : type);
    }
    json_end_object(json);
    buffer_fini(&out);
    hide->is_of_request = false;
}

// ------------------------------------------------------------------------------------------------------------ response

static const char *extension_of(struct text body)
{
    struct text head = text_trim(body);

    if (head.length > 0 && (head.data[0] == '{' || head.data[0] == '[')) {
        return "json";
    }
    if (head.length > 5 && (strncasecmp(head.data, "<html", 5) == 0 || strncasecmp(head.data, "<!doc", 5) == 0)) {
        return "html";
    }
    return head.length > 0 && head.data[0] == '<' ? "xml" : "txt";
}

/// Nobody else may read it, whatever is in it.
static bool save_body(const char *path, struct text body, struct failure *why)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t written = 0;

    while (file >= 0 && written < body.length) {
        ssize_t count = write(file, body.data + written, body.length - written);
        if (count < 0 && errno != EINTR) {
            break;
        }
        written += count > 0 ? (size_t)count : 0;
    }
    bool is_whole = file >= 0 && written == body.length && fchmod(file, 0600) == 0;
    if (!is_whole) {
        failure_set(why, "the body cannot be saved as %s: %s", path, strerror(errno));
        failure_help(why, "say where else: --keep DIR");
    }
    if (file >= 0) {
        close(file);
    }
    return is_whole;
}

static bool write_body(const struct try_view *view, struct tap_exchange *exchange, struct text plain, struct hide *hide,
                       struct json_writer *json, struct failure *why)
{
    char path[PATH_SIZE];
    struct buffer out;

    if (view->folder == NULL || plain.length == 0) {
        return true;
    }
    buffer_init(&out, TEXT_MAX);
    if (exchange->is_login) { // full of what must not be seen
        hide_body(hide, plain, false, &out);
    } else {
        hide_text(hide, plain, &out);
    }
    (void)snprintf(path, sizeof(path), "%s/%02zu%s.%s", view->folder, exchange->number,
                   exchange->is_login ? "-login" : "", extension_of(plain));
    bool is_saved = save_body(path, buffer_text(&out), why);
    if (is_saved) {
        json_field_c(json, "saved", path);
        (void)snprintf(exchange->saved_to, sizeof(exchange->saved_to), "%.*s", (int)sizeof(exchange->saved_to) - 1,
                       path);
    }
    buffer_fini(&out);
    return is_saved;
}

/// Of an answer that means trouble, what a person reads first.
static void write_beginning(const struct tap_exchange *exchange, struct text plain, struct hide *hide,
                            struct json_writer *json)
{
    struct buffer hidden, shown;

    if (exchange->response->status < 300 || plain.length == 0) {
        return;
    }
    buffer_init(&hidden, TEXT_MAX);
    buffer_init(&shown, TEXT_MAX);
    hide_body(hide, plain, false, &hidden);
    pretty_body(buffer_text(&hidden), false, &shown);
    struct text whole = buffer_text(&shown);
    size_t length = whole.length < BEGINNING_MAX ? whole.length : BEGINNING_MAX;
    while (length > 0 && length < whole.length && ((unsigned char)whole.data[length] & 0xc0) == 0x80) {
        length--; // no character is cut
    }
    json_field_text(json, "beginning", (struct text){ whole.data, length });
    buffer_fini(&shown);
    buffer_fini(&hidden);
}

static void write_response_headers(const struct http_response *response, struct hide *hide, struct json_writer *json)
{
    json_key(json, "headers");
    json_begin_array(json);
    for (size_t i = 0; i < response->header_count; i++) {
        struct buffer value;
        buffer_init(&value, TEXT_MAX);
        hide_header(hide, response->headers[i].name, response->headers[i].value, &value);
        json_begin_object(json);
        write_name(response->headers[i].name, hide, json);
        json_field_text(json, "value", value.length > 0 ? buffer_text(&value) : TEXT(""));
        json_end_object(json);
        buffer_fini(&value);
    }
    json_end_array(json);
}

static void write_unread(struct text reads, struct text plain, struct hide *hide, struct json_writer *json)
{
    struct unread *unread = NULL;
    struct arena arena;

    arena_init(&arena, UNREAD_ARENA);
    unread = arena_alloc(&arena, sizeof(*unread));
    if (unread != NULL) {
        unread_find(unread, &arena, reads, plain);
        json_field_bool(json, "reads_all", unread->is_all_read);
    }
    if (unread != NULL && unread->is_known) {
        json_key(json, "unread");
        json_begin_array(json);
        for (size_t i = 0; i < unread->count; i++) {
            json_begin_object(json);
            try_field(hide, json, "path", unread->paths[i].path);
            try_field(hide, json, "kind", unread->paths[i].kind);
            json_field_u64(json, "count", unread->paths[i].count);
            json_end_object(json);
        }
        json_end_array(json);
        if (unread->more > 0) {
            json_field_u64(json, "unread_more", unread->more);
        }
    }
    if (unread == NULL || unread->why != NULL) {
        json_field_c(json, "unread_unknown", unread == NULL ? "there is no memory to look" : unread->why);
    }
    arena_fini(&arena);
}

static void write_lines(struct hide *hide, const char *key, struct text lines, struct json_writer *json)
{
    json_key(json, key);
    json_begin_array(json);
    for (struct text rest = lines; rest.length > 0;) {
        struct buffer out;
        buffer_init(&out, TEXT_MAX);
        hide_text(hide, text_split(rest, '\n', &rest), &out);
        json_text(json, buffer_text(&out));
        buffer_fini(&out);
    }
    json_end_array(json);
}

static void write_script(const struct tap_exchange *exchange, struct hide *hide, struct text plain,
                         struct json_writer *json)
{
    json_key(json, "script");
    json_begin_object(json);
    json_field_c(json, "verdict", tap_is_untold(exchange) ? "none" : script_verdict_name(exchange->verdict));
    if (exchange->message[0] != '\0') {
        try_field(hide, json, "message", text_of(exchange->message));
    }
    if (exchange->code[0] != '\0') {
        try_field(hide, json, "code", text_of(exchange->code));
    }
    if (!exchange->is_login) {
        json_field_u64(json, "offers", exchange->offers);
        write_lines(hide, "dropped", block_text(exchange->drops), json);
        write_unread(block_text(exchange->reads), plain, hide, json);
    }
    if (exchange->warning_count > 0) {
        json_field_u64(json, "warnings", exchange->warning_count);
        try_field(hide, json, "first_warning", text_of(exchange->warning));
    }
    if (exchange->ended > 0) {
        json_field_u64(json, "over", exchange->ended);
        try_field(hide, json, "first_over", text_of(exchange->ended_first));
    }
    if (exchange->is_incomplete) {
        json_field_bool(json, "incomplete", true);
    }
    if (exchange->is_quota_used) {
        json_field_bool(json, "quota_used", true);
        json_field_u64(json, "quota_wait_ms", exchange->quota_wait_ms);
    }
    if (exchange->retry_after_ms > 0) {
        json_field_u64(json, "retry_after_ms", exchange->retry_after_ms);
    }
    if (exchange->has_next) {
        json_field_u64(json, "next_after_ms", clock_us_to_ms(exchange->next_after_us));
    }
    json_end_object(json);
}

// --------------------------------------------------------------------------------------------------------------- times

static void write_time(struct json_writer *json, const char *key, uint64_t from_us, uint64_t to_us)
{
    if (from_us != 0 && to_us >= from_us) {
        json_key(json, key);
        struct buffer *out = json->out;
        char number[32];
        (void)snprintf(number, sizeof(number), "%.1f", (double)(to_us - from_us) / 1000.0);
        (void)out;
        json_raw(json, text_of(number));
    }
}

static void write_times(const struct try_view *view, const struct tap_exchange *exchange, struct json_writer *json)
{
    const struct fetch *fetch = &exchange->fetch;
    uint64_t started_us = fetch->started_us, ready_us = fetch->named_us == 0 ? started_us : fetch->named_us;

    json_key(json, "times_ms");
    json_begin_object(json);
    if (view->run->is_live) {
        write_time(json, "at", view->run->arrival_us, started_us);
        write_time(json, "queue", started_us, started_us + exchange->waited_us);
        write_time(json, "dns", started_us, ready_us);
        if (fetch->connected_us != 0 && !fetch->is_reused) {
            uint64_t handshake_us = fetch->connected_us - ready_us;
            uint64_t tls_us = fetch->tls_took_us < handshake_us ? fetch->tls_took_us : handshake_us;
            write_time(json, "connect", ready_us, fetch->connected_us - tls_us);
            write_time(json, "tls", fetch->connected_us - tls_us, fetch->connected_us);
        }
        write_time(json, "send", fetch->connected_us, fetch->sent_us);
        write_time(json, "first_byte", fetch->sent_us, fetch->first_byte_us);
        write_time(json, "body", fetch->first_byte_us, fetch->done_us);
    }
    if (exchange->was_read) {
        write_time(json, "script_queue", exchange->read_queued_us, exchange->read_begun_us);
        write_time(json, "script", exchange->read_begun_us, exchange->read_done_us);
    }
    write_time(json, "total", started_us, fetch->done_us);
    json_end_object(json);
}

// ---------------------------------------------------------------------------------------------------------- the whole

static const char *result_name(const struct try_view *view, const struct tap_exchange *exchange)
{
    static const char *const NAMES[] = {
        [FETCH_OK] = "ok",
        [FETCH_DNS_FAILED] = "dns_failed",
        [FETCH_CONNECT_FAILED] = "connect_failed",
        [FETCH_TLS_FAILED] = "tls_failed",
        [FETCH_SEND_FAILED] = "send_failed",
        [FETCH_RECEIVE_FAILED] = "receive_failed",
        [FETCH_TOO_LARGE] = "too_large",
        [FETCH_REFUSED] = "refused",
        [FETCH_ENDED] = "cut",
        [FETCH_LOST] = "lost",
        [FETCH_NO_MEMORY] = "out_of_memory",
    };
    bool is_missing = !view->run->is_live && exchange->fetch.result == FETCH_CONNECT_FAILED;

    return is_missing ? "no_saved_answer" : exchange->is_cut ? "cut" : NAMES[exchange->fetch.result];
}

static bool write_response(const struct try_view *view, struct tap_exchange *exchange, struct hide *hide,
                           struct json_writer *json, struct failure *why)
{
    const struct http_response *response = exchange->response;
    struct buffer scratch;
    struct text plain;

    buffer_init(&scratch, PLAIN_MAX);
    bool is_plain = try_inflate(response, &scratch, &plain);
    json_key(json, "response");
    json_begin_object(json);
    json_field_u64(json, "status", response->status);
    write_response_headers(response, hide, json);
    json_field_u64(json, "wire_bytes", block_text(response->body).length);
    if (is_plain) {
        json_field_u64(json, "bytes", plain.length);
    }
    bool is_saved = write_body(view, exchange, plain, hide, json, why);
    write_beginning(exchange, is_plain ? plain : TEXT(""), hide, json);
    json_end_object(json);
    if (exchange->was_read) {
        write_script(exchange, hide, plain, json);
    }
    buffer_fini(&scratch);
    return is_saved;
}

bool try_write_exchange(const struct try_view *view, struct tap_exchange *exchange, struct hide *hide,
                        struct json_writer *json, struct failure *why)
{
    bool is_fine = true;

    json_begin_object(json);
    json_field_u64(json, "number", exchange->number);
    json_field_c(json, "kind", exchange->is_login ? "login" : "search");
    if (!exchange->is_login) {
        json_field_u64(json, "part", exchange->part);
        json_field_u64(json, "step", exchange->step);
    }
    write_request(exchange->request, hide, json);
    json_field_c(json, "result", result_name(view, exchange));
    if (exchange->response == NULL) {
        json_field_c(json, "phase", phase_name(exchange->fetch.phase));
    }
    if (exchange->fetch.detail[0] != '\0') {
        try_field(hide, json, "detail", text_of(exchange->fetch.detail));
    }
    if (exchange->fetch.is_reused) {
        json_field_bool(json, "reused", true);
    }
    write_times(view, exchange, json);
    if (exchange->response != NULL) {
        is_fine = write_response(view, exchange, hide, json, why);
    }
    json_end_object(json);
    return is_fine;
}
