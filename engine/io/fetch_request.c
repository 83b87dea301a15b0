#include "io/fetch_request.h"

#include <string.h>

// Layout of the buffer: URL \0 method \0 line \0 line \0 … \0

enum { WIRE_REQUEST_CEILING = 256 * 1024 };

void wire_request_init(struct wire_request *wire)
{
    *wire = (struct wire_request){ 0 };
    buffer_init(&wire->bytes, WIRE_REQUEST_CEILING);
}

void wire_request_fini(struct wire_request *wire)
{
    buffer_fini(&wire->bytes);
}

const char *wire_request_url(const struct wire_request *wire)
{
    return wire->bytes.data;
}

const char *wire_request_method(const struct wire_request *wire)
{
    return wire->bytes.data + wire->method_at;
}

const char *wire_request_next_line(const struct wire_request *wire, const char *line)
{
    const char *next = line == NULL ? wire->bytes.data + wire->lines_at : line + strlen(line) + 1;
    return *next != '\0' ? next : NULL;
}

// RFC 9110, token.
static bool text_is_token(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return text.length != 0;
}

static bool text_is_one_line(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\r' || text.data[i] == '\n' || text.data[i] == '\0') {
            return false;
        }
    }
    return true;
}

// The URL is written anew from its parts, so that the transport cannot read another host out of it than we did.
static void wire_write_url(struct buffer *bytes, const struct url_parts *url)
{
    bool is_ipv6 = url->is_literal && url->host.length != 0 && memchr(url->host.data, ':', url->host.length) != NULL;

    buffer_append_c(bytes, url->is_https ? "https://" : "http://");
    buffer_append_c(bytes, is_ipv6 ? "[" : "");
    buffer_append_text(bytes, url->host);
    buffer_append_c(bytes, is_ipv6 ? "]" : "");
    buffer_printf(bytes, ":%u", (unsigned)url->port);
    if (url->target.length == 0 || url->target.data[0] != '/') {
        buffer_append_byte(bytes, '/');
    }
    buffer_append_text(bytes, url->target);
    buffer_append_byte(bytes, '\0');
}

static void wire_write_line(struct buffer *bytes, struct text name, struct text value)
{
    buffer_append_text(bytes, name);
    if (value.length == 0) {
        buffer_append_byte(bytes, ';'); // the transport's way to write an empty header
    } else {
        buffer_append_c(bytes, ": ");
        buffer_append_text(bytes, value);
    }
    buffer_append_byte(bytes, '\0');
}

static bool header_is_ours(struct text name)
{
    return text_equals_nocase(name, TEXT("content-length")) || text_equals_nocase(name, TEXT("transfer-encoding")) ||
           text_equals_nocase(name, TEXT("expect"));
}

static const char *wire_write_lines(struct wire_request *wire, const struct http_request *request)
{
    bool has_encoding = false;
    bool has_type = false;

    for (size_t i = 0; i < request->header_count; i++) {
        struct text name = request->headers[i].name;
        struct text value = text_trim(request->headers[i].value);
        if (!text_is_token(name)) {
            return "a header's name is no token";
        }
        if (!text_is_one_line(value)) {
            return "a header's value holds a line break";
        }
        if (header_is_ours(name)) {
            continue;
        }
        has_encoding = has_encoding || text_equals_nocase(name, TEXT("accept-encoding"));
        has_type = has_type || text_equals_nocase(name, TEXT("content-type"));
        wire_write_line(&wire->bytes, name, value);
    }
    if (!has_encoding) {
        wire_write_line(&wire->bytes, TEXT("Accept-Encoding"), TEXT("gzip"));
    }
    // A name with nothing behind its colon takes the transport's own header away.
    buffer_append(&wire->bytes, "Expect:", sizeof("Expect:"));
    if (wire->has_body && !has_type) {
        buffer_append(&wire->bytes, "Content-Type:", sizeof("Content-Type:"));
    }
    buffer_append_byte(&wire->bytes, '\0');
    return NULL;
}

const char *wire_request_write(struct wire_request *wire, const struct http_request *request,
                               const struct url_parts *url)
{
    struct text method = request->method;

    if (!text_is_token(method)) {
        return "the method is no token";
    }
    wire->is_head = text_equals_c(method, "HEAD");
    wire->is_repeatable = wire->is_head || text_equals_c(method, "GET") || text_equals_c(method, "OPTIONS");
    wire->has_body = request->body.data != NULL || text_equals_c(method, "POST") || text_equals_c(method, "PUT") ||
                     text_equals_c(method, "PATCH");
    if (wire->is_head && request->body.length != 0) {
        return "a HEAD request has no body";
    }
    wire->has_body = wire->has_body && !wire->is_head;
    buffer_clear(&wire->bytes);
    wire_write_url(&wire->bytes, url);
    wire->method_at = wire->bytes.length;
    buffer_append_text(&wire->bytes, method);
    buffer_append_byte(&wire->bytes, '\0');
    wire->lines_at = wire->bytes.length;
    const char *refusal = wire_write_lines(wire, request);
    if (refusal == NULL && wire->bytes.is_full) {
        return "the head of the request is too large";
    }
    return refusal;
}
