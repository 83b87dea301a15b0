#include "farm/admin.h"
#include "base/clock.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "farm/door.h"
#include "farm/play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MAX = 1 << 20, SENTENCE_MAX = 4096 };

static const char *const modes[] = {
    [NAMES_ANSWER] = "answer", [NAMES_NEVER] = "never", [NAMES_NXDOMAIN] = "nxdomain"
};
static const char *const models[] = { [LATENCY_CONSTANT] = "constant", [LATENCY_LOGNORMAL] = "lognormal" };

/// What a change asks for; NAN and -1: nothing.
struct change {
    double median_ms, sigma, tail, cap_ms, name_delay_ms, delay_ms, seed;
    int model, mode;
    bool has_fault, is_mix;
    enum fault fault;
};

double admin_cpu_share(struct farm *farm)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    uint64_t cpu_us = (uint64_t)spent.tv_sec * 1000000 + (uint64_t)spent.tv_nsec / 1000;
    uint64_t wall_us = clock_now_us();
    double share =
        wall_us > farm->wall_us ? 100.0 * (double)(cpu_us - farm->cpu_us) / (double)(wall_us - farm->wall_us) : 0.0;
    farm->cpu_us = cpu_us;
    farm->wall_us = wall_us;
    return share;
}

/// Ends the body with a line feed, for it is read on terminals.
static void reply(struct connection *connection, const char *status, struct buffer *body)
{
    char head[256];
    buffer_append_byte(body, '\n');
    int length =
        snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
                 status, body->length, connection->closes ? "Connection: close\r\n" : "");
    connection_send(connection, (struct text){ head, (size_t)length }, buffer_text(body));
}

static void reply_error(struct connection *connection, const char *status, const char *sentence)
{
    struct buffer body;
    struct json_writer writer;

    buffer_init(&body, ANSWER_MAX);
    json_writer_init(&writer, &body);
    json_begin_object(&writer);
    json_field_c(&writer, "error", sentence);
    json_end_object(&writer);
    reply(connection, status, &body);
    buffer_fini(&body);
}

static void write_number(struct json_writer *writer, const char *key, double value)
{
    char literal[32];
    int length = snprintf(literal, sizeof(literal), "%.6g", value);
    json_key(writer, key);
    json_raw(writer, (struct text){ literal, (size_t)length });
}

static void write_behaviour(struct json_writer *writer, const struct supplier *supplier)
{
    json_field_c(writer, "name", supplier->name);
    json_field_c(writer, "fault", supplier->is_forced ? fault_row(supplier->forced)->name : "mix");
    json_field_c(writer, "model", models[supplier->now.model]);
    write_number(writer, "median_ms", supplier->now.median_ms);
    write_number(writer, "sigma", supplier->now.sigma);
    write_number(writer, "tail", supplier->now.tail);
    write_number(writer, "cap_ms", supplier->now.cap_ms);
    json_field_u64(writer, "name_delay_ms", supplier->now.name_delay_ms);
}

static void write_counters(struct json_writer *writer, const struct supplier *supplier)
{
    const struct supplier_counters *counters = &supplier->counters;

    json_field_u64(writer, "connections", counters->connections);
    json_field_u64(writer, "handshakes", counters->handshakes);
    json_field_u64(writer, "requests", counters->requests);
    json_field_u64(writer, "answered", counters->answered);
    json_field_u64(writer, "refused", counters->refused);
    json_field_u64(writer, "abandoned", counters->abandoned);
    json_field_u64(writer, "names", counters->names);
    json_key(writer, "faults");
    json_begin_object(writer);
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (counters->faults[i] > 0) {
            json_field_u64(writer, fault_row((enum fault)i)->name, counters->faults[i]);
        }
    }
    json_end_object(writer);
}

static void answer_stats(struct connection *connection)
{
    struct farm *farm = connection->farm;
    struct buffer body;
    struct json_writer writer;
    double share = admin_cpu_share(farm);

    buffer_init(&body, ANSWER_MAX);
    json_writer_init(&writer, &body);
    json_begin_object(&writer);
    json_field_u64(&writer, "seed", farm->seed);
    write_number(&writer, "cpu_percent", share);
    json_key(&writer, "threads");
    json_begin_array(&writer);
    json_begin_object(&writer);
    json_field_c(&writer, "name", "farm");
    write_number(&writer, "cpu_percent", share);
    json_end_object(&writer);
    json_end_array(&writer);
    json_field_u64(&writer, "answered", farm->answered);
    json_key(&writer, "names");
    json_begin_object(&writer);
    json_field_u64(&writer, "asked", farm->names_asked);
    json_field_u64(&writer, "answered", farm->names_answered);
    json_end_object(&writer);
    json_key(&writer, "suppliers");
    json_begin_array(&writer);
    for (size_t i = 0; i < farm->population->count; i++) {
        buffer_append_byte(&body, '\n'); // a line each
        json_begin_object(&writer);
        write_behaviour(&writer, &farm->population->suppliers[i]);
        write_counters(&writer, &farm->population->suppliers[i]);
        json_end_object(&writer);
    }
    json_end_array(&writer);
    json_end_object(&writer);
    reply(connection, "200 OK", &body);
    buffer_fini(&body);
}

/// What /names and /reset changed.
static void answer_short(struct connection *connection)
{
    const struct farm *farm = connection->farm;
    struct buffer body;
    struct json_writer writer;

    buffer_init(&body, ANSWER_MAX);
    json_writer_init(&writer, &body);
    json_begin_object(&writer);
    json_field_u64(&writer, "seed", farm->seed);
    json_key(&writer, "names");
    json_begin_object(&writer);
    json_field_c(&writer, "mode", modes[farm->names]);
    json_field_u64(&writer, "delay_ms", farm->names_delay_ms);
    json_end_object(&writer);
    json_end_object(&writer);
    reply(connection, "200 OK", &body);
    buffer_fini(&body);
}

static void answer_supplier(struct connection *connection, const struct supplier *supplier)
{
    struct buffer body;
    struct json_writer writer;

    buffer_init(&body, ANSWER_MAX);
    json_writer_init(&writer, &body);
    json_begin_object(&writer);
    write_behaviour(&writer, supplier);
    write_counters(&writer, supplier);
    json_end_object(&writer);
    reply(connection, "200 OK", &body);
    buffer_fini(&body);
}

static bool change_read_number(struct text literal, double most, double *value)
{
    char copy[40];

    if (literal.length >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, literal.data, literal.length);
    copy[literal.length] = '\0';
    *value = strtod(copy, NULL);
    return *value >= 0 && *value <= most;
}

/// The index of the word; -1: it is none of them, and `sentence` says which there are.
static int change_find_word(struct text key, struct text word, const char *const *words, size_t count,
                            struct buffer *sentence)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(word, words[i])) {
            return (int)i;
        }
    }
    buffer_printf(sentence, "\"%.*s\" is no %.*s; there are", TEXT_ARGS(word), TEXT_ARGS(key));
    for (size_t i = 0; i < count; i++) {
        buffer_printf(sentence, "%s %s", i > 0 ? "," : "", words[i]);
    }
    return -1;
}

static bool change_read_fault(struct change *change, struct text key, struct text word, struct buffer *sentence)
{
    const char *names[FAULT_COUNT + 1];

    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        names[i] = fault_row((enum fault)i)->name;
    }
    names[FAULT_COUNT] = "mix";
    int found = change_find_word(key, word, names, COUNT_OF(names), sentence);
    change->has_fault = found >= 0;
    change->is_mix = found == FAULT_COUNT;
    change->fault = found >= 0 && found < FAULT_COUNT ? (enum fault)found : FAULT_NONE;
    return found >= 0;
}

/// False: `sentence` tells what is wrong with the member.
static bool change_read_member(struct change *change, struct text key, enum json_token token, struct text value,
                               struct buffer *sentence)
{
    const struct {
        const char *key;
        double most;
        double *value;
    } numbers[] = {
        { "median_ms", 600000, &change->median_ms },
        { "sigma", 5, &change->sigma },
        { "tail", 1, &change->tail },
        { "cap_ms", 600000, &change->cap_ms },
        { "delay_ms", 600000, &change->delay_ms },
        { "name_delay_ms", 600000, &change->name_delay_ms },
        { "seed", 0x1p53, &change->seed },
    };
    bool is_word = text_equals_c(key, "fault") || text_equals_c(key, "model") || text_equals_c(key, "mode");

    if (is_word && token != JSON_STRING) {
        buffer_printf(sentence, "\"%.*s\" takes a text", TEXT_ARGS(key));
        return false;
    }
    if (text_equals_c(key, "fault")) {
        return change_read_fault(change, key, value, sentence);
    }
    if (text_equals_c(key, "model")) {
        return (change->model = change_find_word(key, value, models, COUNT_OF(models), sentence)) >= 0;
    }
    if (text_equals_c(key, "mode")) {
        return (change->mode = change_find_word(key, value, modes, COUNT_OF(modes), sentence)) >= 0;
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (text_equals_c(key, numbers[i].key)) {
            if (token == JSON_NUMBER && change_read_number(value, numbers[i].most, numbers[i].value)) {
                return true;
            }
            buffer_printf(sentence, "\"%s\" takes a number from 0 to %.0f", numbers[i].key, numbers[i].most);
            return false;
        }
    }
    buffer_printf(sentence, "\"%.*s\" is unknown; there are fault, model, mode", TEXT_ARGS(key));
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        buffer_printf(sentence, ", %s", numbers[i].key);
    }
    return false;
}

/// False: `sentence` tells which member is wrong.
static bool change_read(struct change *change, struct text body, struct buffer *sentence)
{
    struct json_reader reader;
    enum json_token token;

    *change = (struct change){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, -1, -1, false, false, FAULT_NONE };
    if (body.length == 0) {
        return true;
    }
    json_reader_init(&reader, body);
    token = json_next(&reader);
    if (token != JSON_BEGIN_OBJECT) {
        buffer_append_c(sentence, "a JSON object is expected");
        return false;
    }
    while ((token = json_next(&reader)) == JSON_KEY) {
        struct text key = reader.value;
        enum json_token kind = json_next(&reader);
        if (!change_read_member(change, key, kind, reader.value, sentence)) {
            return false;
        }
    }
    if (token != JSON_END_OBJECT || json_next(&reader) != JSON_END) {
        buffer_append_c(sentence, "the body is no JSON");
        return false;
    }
    return true;
}

static void change_supplier(struct connection *connection, struct supplier *supplier, const struct change *change)
{
    struct behaviour *now = &supplier->now;
    struct failure why = { 0 };

    if (change->has_fault && !change->is_mix && change->fault == FAULT_HANG_TLS && !supplier->speaks_tls) {
        reply_error(connection, "422 Unprocessable Content", "this supplier does not speak TLS");
        return;
    }
    now->median_ms = isnan(change->median_ms) ? now->median_ms : change->median_ms;
    now->sigma = isnan(change->sigma) ? now->sigma : change->sigma;
    now->tail = isnan(change->tail) ? now->tail : change->tail;
    now->cap_ms = isnan(change->cap_ms) ? now->cap_ms : change->cap_ms;
    now->name_delay_ms = isnan(change->name_delay_ms) ? now->name_delay_ms : (uint32_t)change->name_delay_ms;
    now->model = change->model < 0 ? now->model : (enum latency_model)change->model;
    if (change->has_fault) {
        supplier->is_forced = !change->is_mix;
        supplier->forced = change->fault;
    }
    if (door_apply(connection->farm, supplier, &why) != STATUS_OK) {
        reply_error(connection, "500 Internal Server Error", why.message);
        return;
    }
    answer_supplier(connection, supplier);
}

static void reset(struct connection *connection, const struct change *change)
{
    struct farm *farm = connection->farm;
    struct failure why = { 0 };
    enum status status;

    farm->seed = isnan(change->seed) ? farm->seed : (uint64_t)change->seed;
    farm->names = NAMES_ANSWER;
    farm->names_delay_ms = 0;
    farm->names_asked = farm->names_answered = farm->answered = 0;
    population_reset(farm->population, farm->seed);
    status = play_prepare(farm);
    for (size_t i = 0; i < farm->population->count; i++) {
        memset(&farm->population->suppliers[i].counters, 0, sizeof(struct supplier_counters));
        if (status == STATUS_OK) {
            status = door_apply(farm, &farm->population->suppliers[i], &why);
        }
    }
    if (status != STATUS_OK) {
        reply_error(connection, "500 Internal Server Error",
                    why.message[0] != '\0' ? why.message : status_name(status));
        return;
    }
    answer_short(connection);
}

static void post(struct connection *connection, const struct request *request, struct supplier *supplier)
{
    struct change change;
    struct buffer sentence;

    buffer_init(&sentence, SENTENCE_MAX);
    if (!change_read(&change, request->body, &sentence)) {
        buffer_append_byte(&sentence, '\0');
        reply_error(connection, "422 Unprocessable Content", sentence.data);
    } else if (supplier != NULL) {
        change_supplier(connection, supplier, &change);
    } else if (text_equals_c(request->path, "/names")) {
        struct farm *farm = connection->farm;
        farm->names = change.mode < 0 ? farm->names : (enum name_mode)change.mode;
        farm->names_delay_ms = isnan(change.delay_ms) ? farm->names_delay_ms : (uint32_t)change.delay_ms;
        answer_short(connection);
    } else if (text_equals_c(request->path, "/reset")) {
        reset(connection, &change);
    } else {
        reply_error(connection, "404 Not Found", "POST goes to /supplier/NAME, /names or /reset");
    }
    buffer_fini(&sentence);
}

void admin_answer(struct connection *connection, const struct request *request)
{
    const struct text prefix = TEXT("/supplier/");
    struct supplier *supplier = NULL;

    if (text_starts_with(request->path, prefix)) {
        struct text name = { request->path.data + prefix.length, request->path.length - prefix.length };
        supplier = population_find(connection->farm->population, name);
        if (supplier == NULL) {
            reply_error(connection, "404 Not Found", "no supplier has this name");
            return;
        }
    }
    if (text_equals(request->method, TEXT("POST"))) {
        post(connection, request, supplier);
    } else if (!text_equals(request->method, TEXT("GET"))) {
        reply_error(connection, "405 Method Not Allowed", "GET or POST is expected");
    } else if (supplier != NULL) {
        answer_supplier(connection, supplier);
    } else if (text_equals_c(request->path, "/stats")) {
        answer_stats(connection);
    } else {
        reply_error(connection, "404 Not Found", "GET goes to /stats or /supplier/NAME");
    }
}
