#include "farm/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What the faults that are answers say.
struct fixed_answer {
    const char *status;
    const char *type;
    const char *extra; // more header lines
    const char *body;
};

static const struct fixed_answer fixed_answers[FAULT_COUNT] = {
    [FAULT_STATUS_429] = { "429 Too Many Requests", "application/json", "Retry-After: 2\r\n",
                           "{\"error\":{\"code\":\"rate_limited\",\"message\":\"too many requests\"}}" },
    [FAULT_STATUS_500] = { "500 Internal Server Error", "application/json", "",
                           "{\"error\":{\"code\":\"internal\",\"message\":\"something broke\"}}" },
    [FAULT_STATUS_503] = { "503 Service Unavailable", "application/json", "",
                           "{\"error\":{\"code\":\"unavailable\",\"message\":\"come back later\"}}" },
    [FAULT_HTML] = { "200 OK", "text/html", "",
                     "<!DOCTYPE html><html><head><title>Please wait</title></head><body>Checking you.</body></html>" },
    [FAULT_EMPTY] = { "200 OK", "application/json", "", "" },
};

static struct text write_head(char *out, size_t size, const struct connection *connection, const char *status,
                              const char *type, const char *extra, size_t length)
{
    int written = snprintf(out, size, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", status,
                           type, length, extra, connection->closes ? "Connection: close\r\n" : "");
    require(written > 0 && (size_t)written < size);
    return (struct text){ out, (size_t)written };
}

static void send_fixed(struct connection *connection, const struct fixed_answer *answer)
{
    char head[512];
    size_t length = strlen(answer->body);

    connection_send(connection,
                    write_head(head, sizeof(head), connection, answer->status, answer->type, answer->extra, length),
                    (struct text){ answer->body, length });
}

static void refuse(struct connection *connection, const char *status, const char *why)
{
    char body[256];

    snprintf(body, sizeof(body), "{\"error\":{\"code\":\"invalid_request\",\"message\":\"%s\"}}", why);
    connection->supplier->counters.refused++;
    send_fixed(connection, &(struct fixed_answer){ status, "application/json", "", body });
}

static struct text answer_body(struct connection *connection)
{
    struct supplier *supplier = connection->supplier;

    if (connection->recorded != NULL) {
        return connection->recorded->body;
    }
    if (supplier->shape == SUPPLIER_FILE) {
        return (struct text){ supplier->file, supplier->file_length };
    }
    if (supplier->shape == SUPPLIER_HOTELS) {
        char *out = connection->farm->output;
        size_t length = hotels_render(&connection->hotels, supplier->seed, hotels_supplier(supplier->name), out);
        return (struct text){ out, length };
    }
    const struct answer_template *answer = supplier->templates[connection->query.slice_count - 1];
    answer_render(answer, &connection->query, connection->farm->output);
    return (struct text){ connection->farm->output, answer_length(answer) };
}

/// The start of an answer that will never be whole.
static void play_fragment(struct connection *connection, enum fault fault, struct text head, struct text body)
{
    connection_send_now(connection, head);
    if (fault == FAULT_HANG_BODY || fault == FAULT_RESET_BODY || fault == FAULT_CUT_BODY) {
        if (connection->state != CONNECTION_CLOSED) {
            connection_send_now(connection, (struct text){ body.data, body.length / 2 });
        }
    }
    if (connection->state == CONNECTION_CLOSED) {
        return;
    }
    switch (fault) {
    case FAULT_RESET_HEADERS:
    case FAULT_RESET_BODY:
        connection_reset_soon(connection);
        break;
    case FAULT_CUT_BODY:
        connection_close(connection);
        break;
    case FAULT_DRIP:
        connection_drip(connection, body);
        break;
    default:
        connection_hang(connection);
    }
}

void play_answer(struct connection *connection)
{
    struct supplier *supplier = connection->supplier;
    enum fault fault = supplier_fault(supplier, FAULT_AT_ANSWER);

    connection->closes = connection->closes || supplier->now.closes;
    if (fault != FAULT_NONE) {
        supplier_count_fault(supplier, fault);
    }
    if (fault == FAULT_HANG_ANSWER) {
        connection_hang(connection);
        return;
    }
    if (fixed_answers[fault].status != NULL) {
        send_fixed(connection, &fixed_answers[fault]);
        return;
    }
    static const struct recorded_answer made = { "200 OK", "application/json", "", { NULL, 0 } };
    const struct recorded_answer *answer = connection->recorded != NULL ? connection->recorded : &made;
    char bytes[256 + RECORDING_HEADERS_MAX];
    struct text body = answer_body(connection);
    struct text head =
        write_head(bytes, sizeof(bytes), connection, answer->status, answer->type, answer->headers, body.length);
    if (fault != FAULT_NONE) {
        play_fragment(connection, fault, head, body);
        return;
    }
    supplier->counters.answered++;
    connection->farm->answered++;
    connection_send(connection, head, body);
}

void play_request(struct connection *connection, const struct request *request)
{
    struct supplier *supplier = connection->supplier;
    const char *why;

    supplier->counters.requests++;
    if (supplier->is_forced && supplier->forced == FAULT_SILENT_KEPT && connection->exchanges > 0) {
        supplier_count_fault(supplier, FAULT_SILENT_KEPT);
        connection_hang(connection);
        return;
    }
    bool is_recording = supplier->shape == SUPPLIER_RECORDING;
    connection->recorded = is_recording ? recording_find(supplier->recording, request) : NULL;
    if (is_recording ? connection->recorded == NULL : !text_equals_c(request->path, supplier_path(supplier))) {
        refuse(connection, "404 Not Found", "there is nothing at this path");
        return;
    }
    if (!is_recording && !text_equals(request->method, TEXT("POST"))) {
        refuse(connection, "405 Method Not Allowed", "POST is expected");
        return;
    }
    if (supplier->shape == SUPPLIER_HOTELS && !hotels_read(&connection->hotels, request->body, &why)) {
        refuse(connection, "400 Bad Request", why);
        return;
    }
    if (supplier_has_templates(supplier)) {
        enum query_shape shape = supplier->shape == SUPPLIER_SHAPE_A ? QUERY_SHAPE_A : QUERY_SHAPE_B;
        if (!query_read(&connection->query, shape, request->body, &why)) {
            refuse(connection, "400 Bad Request", why);
            return;
        }
    }
    uint64_t latency_us = supplier_latency_us(supplier);
    if (latency_us == 0) {
        play_answer(connection);
    } else {
        connection_wait(connection, latency_us);
    }
}

enum status play_prepare(struct farm *farm)
{
    size_t longest = HOTELS_ANSWER_MAX;

    for (size_t i = 0; i < farm->population->count; i++) {
        struct supplier *supplier = &farm->population->suppliers[i];
        for (unsigned slices = 0; slices < QUERY_SLICES_MAX && supplier_has_templates(supplier); slices++) {
            answer_template_destroy(&supplier->templates[slices]);
            supplier->templates[slices] =
                answer_template_create(supplier->shape == SUPPLIER_SHAPE_A ? QUERY_SHAPE_A : QUERY_SHAPE_B, farm->seed,
                                       supplier->index, slices + 1);
            if (supplier->templates[slices] == NULL) {
                return STATUS_NO_MEMORY;
            }
            size_t length = answer_length(supplier->templates[slices]);
            longest = length > longest ? length : longest;
        }
    }
    char *output = realloc(farm->output, longest + 1);
    if (output == NULL) {
        return STATUS_NO_MEMORY;
    }
    farm->output = output;
    farm->output_size = longest + 1;
    return STATUS_OK;
}
