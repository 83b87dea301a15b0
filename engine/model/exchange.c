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
