#include "farm/play.h"
#include "base/clock.h"
#include "farm/garble.h"
#include "farm/prompter.h"
#include "farm/rewrite.h"
#include "farm/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GARBLED_MAX = 16 << 20 };

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
    [FAULT_SOURCE_DOWN] = { "502 Bad Gateway", "application/json", "",
                            "{\"error\":{\"code\":\"source_down\",\"message\":\"this source does not answer\"}}" },
    [FAULT_HTML] = { "200 OK", "text/html", "",
                     "<!DOCTYPE html><html><head><title>Please wait</title></head><body>Checking you.</body></html>" },
    [FAULT_EMPTY] = { "200 OK", "application/json", "", "" },
};

static const struct fixed_answer denied_answer = { "401 Unauthorized", "application/json", "",
                                                   "{\"error\":\"invalid_client\"}" };
static const struct fixed_answer stranger_answer = {
    "401 Unauthorized", "application/json", "",
    "{\"error\":{\"code\":\"login_expired\",\"message\":\"this login is unknown or over\"}}"
};
static const struct fixed_answer unsigned_answer = {
    "403 Forbidden", "application/json", "",
    "{\"error\":{\"code\":\"bad_signature\",\"message\":\"the signature is missing, wrong or too old\"}}"
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
    char head[1024];
    size_t length = strlen(answer->body);

    connection_send(connection,
                    write_head(head, sizeof(head), connection, answer->status, answer->type, answer->extra, length),
                    (struct text){ answer->body, length });
}

/// A 429 or 503 with the wait that the supplier was told to tell, once or several times.
static void send_waiting(struct connection *connection, const struct fixed_answer *answer)
{
    struct fixed_answer waiting = *answer;
    struct text rest = text_of(connection->supplier->now.retry_after);
    char extra[400];
    size_t length = 0;

    while (rest.length > 0 && length < sizeof(extra)) {
        struct text value = text_split(rest, '|', &rest);
        length += (size_t)snprintf(extra + length, sizeof(extra) - length, "Retry-After: %.*s\r\n", TEXT_ARGS(value));
    }
    if (length > 0 && length < sizeof(extra)) {
        waiting.extra = extra;
    }
    send_fixed(connection, &waiting);
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

    if (connection->prompted != NULL) {
        return connection->prompted->body;
    }
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
    if (supplier->shape == SUPPLIER_RATES) {
        char *out = connection->farm->output;
        return (struct text){ out, rates_render(&connection->rates, supplier->seed, out) };
    }
    if (supplier->shape == SUPPLIER_XML) {
        char *out = connection->farm->output;
        return (struct text){ out, shape_xml_render(&connection->xml, supplier, out) };
    }
    if (shapes_is_needed(supplier)) {
        char *out = connection->farm->output;
        return (struct text){ out, shapes_render(&connection->step, supplier, out) };
    }
    const struct step *step = &connection->step;
    struct answer_template *answer = supplier->templates[step->query.slice_count - 1];
    struct text recalled = step_is_needed(supplier) ? TEXT("") : answer_recall(answer, &step->query);
    if (recalled.length > 0) {
        return recalled;
    }
    char *output = connection->farm->output;
    size_t length = answer_length(answer);
    answer_render(answer, &step->query, output);
    if (step_is_needed(supplier)) {
        length = answer_keep(answer, output, step->first, step->count);
        length += step_write_tail(step, supplier, output + length);
    }
    return (struct text){ output, length };
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

static void play_garbled(struct connection *connection, enum fault fault, struct text body)
{
    const struct population *population = connection->farm->population;
    char elsewhere[128];
    struct buffer bytes;
    bool closes;

    buffer_init(&bytes, GARBLED_MAX);
    int length = snprintf(elsewhere, sizeof(elsewhere), "http://%s.farm.test:%d/elsewhere",
                          population->suppliers[0].name, POPULATION_HTTP_PORT);
    if (garble_write(&bytes, fault, body, (struct text){ elsewhere, (size_t)length }, &closes)) {
        connection->closes = connection->closes || closes;
        connection_send(connection, buffer_text(&bytes), TEXT(""));
    } else {
        connection_close(connection);
    }
    buffer_fini(&bytes);
}

/// A login takes its time, then it is granted unless a fault says otherwise.
static void play_login(struct connection *connection)
{
    struct supplier *supplier = connection->supplier;
    enum fault fault = supplier_fault(supplier, FAULT_AT_LOGIN, clock_now_us());
    char body[GATE_BODY_MAX];
    char head[256];

    if (fault != FAULT_NONE) {
        supplier_count_fault(supplier, fault);
    }
    if (fault == FAULT_LOGIN_HANG) {
        connection_hang(connection);
    } else if (fault == FAULT_LOGIN_500) {
        send_fixed(connection, &fixed_answers[FAULT_STATUS_500]);
    } else if (fault == FAULT_LOGIN_DENIED) {
        supplier->counters.denied++;
        send_fixed(connection, &denied_answer);
    } else {
        supplier->counters.logins++;
        size_t length = gate_grant(&supplier->gate, supplier->name, supplier->seed, supplier->now.login_life_s,
                                   clock_wall_us(), body);
        connection_send(connection,
                        write_head(head, sizeof(head), connection, "200 OK", "application/json", "", length),
                        (struct text){ body, length });
    }
}

/// True: the request is answered, or will be, by the gate.
static bool play_gate(struct connection *connection, const struct request *request)
{
    struct supplier *supplier = connection->supplier;
    const struct gate *gate = &supplier->gate;

    connection->is_login = gate_is_login(gate, request);
    if (!connection->is_login) {
        enum gate_verdict verdict = gate_check(gate, supplier->name, supplier->seed, request, clock_wall_us());
        if (verdict == GATE_PASSED) {
            return false;
        }
        supplier->counters.strangers++;
        send_fixed(connection, verdict == GATE_NOT_SIGNED ? &unsigned_answer : &stranger_answer);
        return true;
    }
    if (gate_check_login(gate, supplier->name, request) != GATE_PASSED) {
        supplier->counters.denied++;
        send_fixed(connection, &denied_answer);
        return true;
    }
    connection_wait(connection, (uint64_t)(supplier->now.login_ms * 1000.0) + 1);
    return true;
}

/// The answer with a field that has another name, or is not there.
static void play_rewritten(struct connection *connection, enum fault fault, struct text body)
{
    struct buffer bytes;
    char head[512];

    buffer_init(&bytes, GARBLED_MAX);
    if (rewrite_field(&bytes, body, text_of(connection->supplier->now.field), fault == FAULT_DROP_FIELD)) {
        bool is_xml = bytes.length > 0 && bytes.data[0] == '<';
        connection_send(connection,
                        write_head(head, sizeof(head), connection, "200 OK",
                                   is_xml ? "text/xml; charset=utf-8" : "application/json", "", bytes.length),
                        buffer_text(&bytes));
    } else {
        connection_close(connection);
    }
    buffer_fini(&bytes);
}

/// What a request says in `X-Mark` its answer says, too, so that a script sees which of its requests was answered.
static void take_mark(struct connection *connection, const struct request *request)
{
    struct text mark = request_header(request, "x-mark");
    int length = snprintf(connection->mark, sizeof(connection->mark), "X-Mark: %.*s\r\n", TEXT_ARGS(mark));

    if (mark.length == 0 || (size_t)length >= sizeof(connection->mark)) {
        connection->mark[0] = '\0';
    }
}

/// An answer with all its bytes.
static struct text write_whole_head(const struct connection *connection, const struct recorded_answer *answer,
                                    size_t length, char *out, size_t size)
{
    char extra[RECORDING_HEADERS_MAX + CONNECTION_MARK_MAX];

    (void)snprintf(extra, sizeof(extra), "%s%s", answer->headers, connection->mark);
    return write_head(out, size, connection, answer->status, answer->type, extra, length);
}

void play_answer(struct connection *connection)
{
    if (connection->is_login) {
        play_login(connection);
        return;
    }
    struct supplier *supplier = connection->supplier;
    enum fault fault = supplier_fault(supplier, FAULT_AT_ANSWER, clock_now_us());

    if (fault == FAULT_SOURCE_DOWN && connection->step.source != STEP_BROKEN_SOURCE) {
        fault = FAULT_NONE;
    }
    connection->closes = connection->closes || supplier->now.closes;
    if (fault != FAULT_NONE) {
        supplier_count_fault(supplier, fault);
    }
    if (fault != FAULT_NONE) {
        prompter_tell(connection, fault);
    }
    if (fault == FAULT_HANG_ANSWER) {
        connection_hang(connection);
        return;
    }
    if (fixed_answers[fault].status != NULL) {
        bool waits = fault == FAULT_STATUS_429 || fault == FAULT_STATUS_503;
        (waits ? send_waiting : send_fixed)(connection, &fixed_answers[fault]);
        return;
    }
    static const struct recorded_answer made = { "200 OK", "application/json", "", { NULL, 0 } };
    static const struct recorded_answer made_xml = { "200 OK", "text/xml", "", { NULL, 0 } };
    const struct recorded_answer *answer = connection->recorded != NULL      ? connection->recorded
                                           : supplier->shape == SUPPLIER_XML ? &made_xml
                                                                             : &made;
    char bytes[256 + RECORDING_HEADERS_MAX + CONNECTION_MARK_MAX];
    struct text body = answer_body(connection);
    if (fault == FAULT_RENAME_FIELD || fault == FAULT_DROP_FIELD) {
        play_rewritten(connection, fault, body);
        return;
    }
    if (garble_is(fault)) {
        play_garbled(connection, fault, body);
        return;
    }
    struct text head = connection->prompted != NULL
                           ? connection->prompted->head
                           : write_whole_head(connection, answer, body.length, bytes, sizeof(bytes));
    if (fault != FAULT_NONE) {
        play_fragment(connection, fault, head, body);
        return;
    }
    supplier->counters.answered++;
    connection->farm->answered++;
    connection_send(connection, head, body);
}

/// False: `*status` and `*why` say what is wrong with the request.
static bool read_request(struct connection *connection, const struct request *request, const char **status,
                         const char **why)
{
    struct supplier *supplier = connection->supplier;
    const struct supplier_shape_row *shape = supplier_shape_row(supplier->shape);

    if (step_is_needed(supplier)) {
        return step_read(&connection->step, supplier, connection->farm->sessions, request, status, why);
    }
    if (shapes_is_needed(supplier)) {
        return shapes_read(&connection->step, supplier, connection->farm->sessions, request, status, why);
    }
    *status = "404 Not Found";
    *why = "there is nothing at this path";
    if (supplier->shape == SUPPLIER_RECORDING) {
        connection->recorded = recording_find(supplier->recording, request);
        return connection->recorded != NULL;
    }
    connection->recorded = NULL;
    if (supplier->shape == SUPPLIER_XML) {
        return shape_xml_read(&connection->xml, supplier, connection->farm->sessions, request);
    }
    if (!text_equals_c(request->path, shape->path)) {
        return false;
    }
    if (supplier->shape == SUPPLIER_RATES) {
        return rates_read(&connection->rates, request, clock_wall_us() / 1000000, status, why);
    }
    *status = "405 Method Not Allowed";
    *why = "POST is expected";
    if (!text_equals(request->method, TEXT("POST"))) {
        return false;
    }
    *status = "400 Bad Request";
    if (supplier->shape == SUPPLIER_HOTELS) {
        return hotels_read(&connection->hotels, request->body, why);
    }
    return supplier->shape == SUPPLIER_FILE || query_read(&connection->step.query, shape->query, request->body, why);
}

void play_request(struct connection *connection, const struct request *request)
{
    struct supplier *supplier = connection->supplier;
    const char *status, *why;

    supplier->counters.requests++;
    take_mark(connection, request);
    if (supplier->is_forced && supplier->forced == FAULT_SILENT_KEPT && connection->exchanges > 0) {
        supplier_count_fault(supplier, FAULT_SILENT_KEPT);
        connection_hang(connection);
        return;
    }
    if (play_gate(connection, request)) {
        return;
    }
    if (supplier->shape == SUPPLIER_PROMPTED) {
        prompter_ask(connection, request);
        return;
    }
    if (!read_request(connection, request, &status, &why)) {
        refuse(connection, status, why);
        return;
    }
    uint64_t latency_us = supplier_latency_us(supplier, clock_now_us());
    if (latency_us == 0) {
        play_answer(connection);
    } else {
        connection_wait(connection, latency_us);
    }
}

enum status play_prepare(struct farm *farm)
{
    size_t longest = RATES_ANSWER_MAX; // of those that are not templates

    for (size_t i = 0; i < farm->population->count; i++) {
        struct supplier *supplier = &farm->population->suppliers[i];
        for (unsigned slices = 0; slices < QUERY_SLICES_MAX && supplier_has_templates(supplier); slices++) {
            answer_template_destroy(&supplier->templates[slices]);
            supplier->templates[slices] = answer_template_create(supplier_shape_row(supplier->shape)->query, farm->seed,
                                                                 supplier->index, slices + 1);
            if (supplier->templates[slices] == NULL) {
                return STATUS_NO_MEMORY;
            }
            size_t length = answer_length(supplier->templates[slices]);
            longest = length > longest ? length : longest;
        }
    }
    if (farm->sessions == NULL && (farm->sessions = sessions_create()) == NULL) {
        return STATUS_NO_MEMORY;
    }
    sessions_reset(farm->sessions, farm->seed);
    longest += STEP_TAIL_MAX;
    char *output = realloc(farm->output, longest + 1);
    if (output == NULL) {
        return STATUS_NO_MEMORY;
    }
    farm->output = output;
    farm->output_size = longest + 1;
    return STATUS_OK;
}
