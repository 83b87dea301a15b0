#include "io/fetch_response.h"

#include <stdlib.h>

enum { BODY_FIRST_MAX = 256 * 1024 }; // the room taken at once for a body, whatever it announces

// The head is kept as it came. At the end its lines are cut into names and values in place; folded lines become blanks.

void assembly_init(struct assembly *assembly, uint64_t head_cap, uint64_t body_cap)
{
    *assembly = (struct assembly){ .head_left = head_cap };
    buffer_init(&assembly->head, head_cap);
    buffer_init(&assembly->body, body_cap);
}

void assembly_fini(struct assembly *assembly)
{
    buffer_fini(&assembly->head);
    buffer_fini(&assembly->body);
}

bool assembly_has_begun(const struct assembly *assembly)
{
    return assembly->status >= 200;
}

// "HTTP/1.1 200 OK": the number, or 0.
static uint16_t status_of_line(struct text line)
{
    struct text rest;
    struct text version = text_split(line, ' ', &rest);
    uint64_t status = 0;

    if (!text_starts_with(version, TEXT("HTTP/")) || rest.length < 3) {
        return 0;
    }
    if (!text_to_u64((struct text){ rest.data, 3 }, &status) || status < 100) {
        return 0;
    }
    return (uint16_t)status;
}

// "Content-Length: 20700"; what it says of anything else is 0.
static uint64_t length_of_line(struct text line)
{
    struct text value;
    struct text name = text_split(line, ':', &value);
    uint64_t length = 0;

    if (name.length != sizeof("content-length") - 1 || !text_equals_nocase(name, TEXT("content-length")) ||
        !text_to_u64(text_trim(value), &length)) {
        return 0;
    }
    return length;
}

bool assembly_add_line(struct assembly *assembly, struct text line)
{
    if (line.length > assembly->head_left) {
        assembly->fault = ASSEMBLY_HEAD_TOO_LARGE;
        return false;
    }
    assembly->head_left -= line.length;
    if (assembly->is_head_complete) {
        return true; // a trailer
    }
    uint16_t status = status_of_line(line);
    if (status != 0 && !assembly_has_begun(assembly)) {
        assembly->status = status;
        assembly->line_count = 0;
        assembly->announced = 0;
        buffer_clear(&assembly->head);
    }
    if (assembly->announced == 0) {
        assembly->announced = length_of_line(line);
    }
    if (!buffer_append_text(&assembly->head, line)) {
        assembly->fault = ASSEMBLY_NO_MEMORY;
        return false;
    }
    assembly->line_count++;
    assembly->is_head_complete = assembly_has_begun(assembly) && text_trim(line).length == 0;
    return true;
}

bool assembly_add_body(struct assembly *assembly, struct text piece)
{
    if (piece.length > assembly->body.ceiling - assembly->body.length) {
        assembly->fault = ASSEMBLY_BODY_TOO_LARGE;
        return false;
    }
    if (assembly->body.length == 0 && assembly->announced > piece.length) {
        uint64_t room = assembly->announced < BODY_FIRST_MAX ? assembly->announced : BODY_FIRST_MAX;
        room = room < assembly->body.ceiling ? room : assembly->body.ceiling;
        (void)!buffer_reserve_exactly(&assembly->body, (size_t)room); // else it is grown step by step
    }
    if (!buffer_append_text(&assembly->body, piece)) {
        assembly->fault = ASSEMBLY_NO_MEMORY;
        return false;
    }
    return true;
}

static void lower_in_place(char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] >= 'A' && data[i] <= 'Z') {
            data[i] = (char)(data[i] - 'A' + 'a');
        }
    }
}

// The value before it goes on: the line end between them becomes blanks.
static void header_unfold(struct header *header, char *line, size_t length)
{
    char *start = (char *)header->value.data; // points into the head, which is ours

    for (char *c = start + header->value.length; c < line; c++) {
        *c = ' ';
    }
    header->value = text_trim((struct text){ start, (size_t)(line - start) + length });
}

static void response_take_line(struct http_response *response, char *line, size_t length)
{
    struct text text = { line, length };
    struct text value;

    if (length != 0 && (line[0] == ' ' || line[0] == '\t')) {
        if (response->header_count != 0) {
            header_unfold(&response->headers[response->header_count - 1], line, length);
        }
        return;
    }
    struct text name = text_trim(text_split(text, ':', &value));
    if (name.length == 0 || value.data == NULL) {
        return; // the blank line at the end, or no header at all
    }
    lower_in_place((char *)name.data, name.length);
    value = text_trim(value);
    response->headers[response->header_count++] = (struct header){ name, value };
}

struct http_response *assembly_finish(struct assembly *assembly)
{
    struct http_response *response = http_response_create();

    if (response == NULL) {
        return NULL;
    }
    response->status = assembly->status;
    response->headers = calloc(assembly->line_count + 1, sizeof(*response->headers));
    response->body = assembly->body.length != 0 ? block_from_buffer(&assembly->body) : NULL;
    if (response->headers == NULL || (assembly->body.length != 0 && response->body == NULL)) {
        http_response_destroy(&response);
        return NULL;
    }
    buffer_fini(&response->header_bytes);
    response->header_bytes = assembly->head;
    buffer_init(&assembly->head, 0);

    char *data = response->header_bytes.data;
    size_t length = response->header_bytes.length;
    bool is_status_line = true;
    for (size_t start = 0; start < length;) {
        size_t end = start;
        while (end < length && data[end] != '\n') {
            end++;
        }
        if (!is_status_line) {
            size_t cut = end > start && data[end - 1] == '\r' ? end - 1 : end;
            response_take_line(response, data + start, cut - start);
        }
        is_status_line = false;
        start = end + 1;
    }
    return response;
}
