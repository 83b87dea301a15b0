#include "model/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { RESPONSE_HEAD_CEILING = 256 * 1024 };

// Adds to a size; false when it no longer fits.
static bool request_add_size(size_t *size, size_t more)
{
    if (more > SIZE_MAX - *size) {
        return false;
    }
    *size += more;
    return true;
}

static bool request_size(const struct http_request *values, size_t *size)
{
    *size = sizeof(struct http_request);
    if (values->header_count > SIZE_MAX / sizeof(struct header)) {
        return false;
    }
    bool fits = request_add_size(size, values->header_count * sizeof(struct header)) &&
                request_add_size(size, values->method.length) && request_add_size(size, values->url.length) &&
                request_add_size(size, values->body.length) && request_add_size(size, 3);
    for (size_t i = 0; fits && i < values->header_count; i++) {
        fits = request_add_size(size, values->headers[i].name.length) &&
               request_add_size(size, values->headers[i].value.length) && request_add_size(size, 2);
    }
    return fits;
}

// Copies with a terminator (for the sake of C interfaces) and moves `*end` behind it. Absent stays absent.
static struct text request_put(char **end, struct text value)
{
    if (value.data == NULL) {
        return value;
    }
    struct text copy = { *end, value.length };
    memcpy(*end, value.data, value.length);
    (*end)[value.length] = '\0';
    *end += value.length + 1;
    return copy;
}

struct http_request *http_request_create(const struct http_request *values)
{
    size_t size = 0;

    if (!request_size(values, &size)) {
        return NULL;
    }
    struct http_request *request = malloc(size);
    if (request == NULL) {
        return NULL;
    }
    struct header *headers = (struct header *)(request + 1);
    char *end = (char *)(headers + values->header_count);
    request->method = request_put(&end, values->method);
    request->url = request_put(&end, values->url);
    request->body = request_put(&end, values->body);
    request->headers = values->header_count != 0 ? headers : NULL;
    request->header_count = values->header_count;
    request->signed_count = values->signed_count;
    request->signed_us = values->signed_us;
    request->next = NULL;
    for (size_t i = 0; i < values->header_count; i++) {
        headers[i].name = request_put(&end, values->headers[i].name);
        headers[i].value = request_put(&end, values->headers[i].value);
    }
    return request;
}

void http_request_destroy(struct http_request **request)
{
    while (*request != NULL) {
        struct http_request *next = (*request)->next;
        free(*request);
        *request = next;
    }
}

struct http_response *http_response_create(void)
{
    struct http_response *response = calloc(1, sizeof(*response));

    if (response != NULL) {
        buffer_init(&response->header_bytes, RESPONSE_HEAD_CEILING);
    }
    return response;
}

static struct text response_copy_text(struct http_response *copy, struct text text)
{
    const char *data = copy->header_bytes.data + copy->header_bytes.length;

    buffer_append_text(&copy->header_bytes, text);
    return (struct text){ text.data == NULL ? NULL : data, text.length };
}

struct http_response *http_response_copy(const struct http_response *response)
{
    struct http_response *copy = http_response_create();
    size_t size = 1;

    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < response->header_count; i++) {
        size += response->headers[i].name.length + response->headers[i].value.length;
    }
    copy->headers = calloc(response->header_count + 1, sizeof(*copy->headers));
    if (copy->headers == NULL || !buffer_reserve(&copy->header_bytes, size)) {
        http_response_destroy(&copy);
        return NULL;
    }
    copy->status = response->status;
    copy->body = block_acquire(response->body);
    copy->header_count = response->header_count;
    for (size_t i = 0; i < response->header_count; i++) { // the bytes do not move: there is room for all
        copy->headers[i].name = response_copy_text(copy, response->headers[i].name);
        copy->headers[i].value = response_copy_text(copy, response->headers[i].value);
    }
    return copy;
}

void http_response_destroy(struct http_response **response)
{
    struct http_response *gone = *response;

    *response = NULL;
    if (gone == NULL) {
        return;
    }
    free(gone->headers);
    buffer_fini(&gone->header_bytes);
    block_release(&gone->body);
    free(gone);
}

struct text http_response_header(const struct http_response *response, const char *name)
{
    struct text wanted = text_of(name);

    for (size_t i = 0; i < response->header_count; i++) {
        if (text_equals(response->headers[i].name, wanted)) {
            return response->headers[i].value;
        }
    }
    return (struct text){ NULL, 0 };
}
