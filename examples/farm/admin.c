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

/// What a change asks for; NAN and -1: nothing.
struct change {
    double numbers[BEHAVIOUR_FIELDS]; // by behaviour_field()
    double delay_ms, seed, revoke;
    int model, mode, fault, outage; // a fault of FAULT_COUNT: "mix"
    bool has_field, has_retry_after;
    char retry_after[sizeof(((struct behaviour *)0)->retry_after)];
    char field[64];
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
    json_field_c(writer, "model", latency_model_name(supplier->now.model));
    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        struct behaviour now = supplier->now;
        write_number(writer, behaviour_field(i)->name, *behaviour_number(&now, behaviour_field(i)));
    }
    json_field_c(writer, "outage", fault_row(supplier->now.outage)->name);
}

static void write_counters(struct json_writer *writer, const struct supplier *supplier)
{
    const struct supplier_counters *counters = &supplier->counters;

    json_field_u64(writer, "connections", counters->connections);
    json_field_u64(writer, "handshakes", counters->handshakes);
    json_field_u64(writer, "requests", counters->requests);
    json_field_u64(writer, "answered", counters->answered);
    json_field_u64(writer, "refused", counters->refused);
    json_field_u64(writer, "steps", counters->steps);
    json_field_u64(writer, "abandoned", counters->abandoned);
    json_field_u64(writer, "names", counters->names);
    json_field_u64(writer, "logins", counters->logins);
    json_field_u64(writer, "denied", counters->denied);
    json_field_u64(writer, "strangers", counters->strangers);
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

static void answer_faults(struct connection *connection)
{
    static const char *const needs[] = { "", "tls", "sources", "login", "field" }; // by enum fault_need
    struct buffer body;
    struct json_writer writer;

    buffer_init(&body, ANSWER_MAX);
    json_writer_init(&writer, &body);
    json_begin_object(&writer);
    json_key(&writer, "faults");
    json_begin_array(&writer);
    for (unsigned i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
        const struct fault_row *row = fault_row((enum fault)i);
        buffer_append_byte(&body, '\n'); // a line each
        json_begin_object(&writer);
        json_field_c(&writer, "name", row->name);
        json_field_c(&writer, "at", fault_place_name(row->place));
        json_field_c(&writer, "about", row->about);
        if (row->need != FAULT_NEEDS_NOTHING) {
            json_field_c(&writer, "needs", needs[row->need]);
        }
        json_end_object(&writer);
    }
    json_end_array(&writer);
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

/// -1: `sentence` tells what there is. FAULT_COUNT stands for "mix".
static int change_find_fault(struct text key, struct text word, struct buffer *sentence)
{
    const char *names[FAULT_COUNT + 1];

    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        names[i] = fault_row((enum fault)i)->name;
    }
    names[FAULT_COUNT] = "mix";
    return change_find_word(key, word, names, COUNT_OF(names), sentence);
}

static int change_find_model(struct text key, struct text word, struct buffer *sentence)
{
    const char *names[LATENCY_MODELS];

    for (unsigned i = 0; i < LATENCY_MODELS; i++) {
        names[i] = latency_model_name((enum latency_model)i);
    }
    return change_find_word(key, word, names, COUNT_OF(names), sentence);
}

static bool change_read_word(struct change *change, struct text key, struct text value, struct buffer *sentence)
{
    if (text_equals_c(key, "fault")) {
        return (change->fault = change_find_fault(key, value, sentence)) >= 0;
    }
    if (text_equals_c(key, "model")) {
        return (change->model = change_find_model(key, value, sentence)) >= 0;
    }
    if (text_equals_c(key, "mode")) {
        return (change->mode = change_find_word(key, value, modes, COUNT_OF(modes), sentence)) >= 0;
    }
    if (text_equals_c(key, "retry_after")) {
        change->has_retry_after = true;
        snprintf(change->retry_after, sizeof(change->retry_after), "%.*s", TEXT_ARGS(value));
        return true;
    }
    if (text_equals_c(key, "field")) {
        change->has_field = true;
        snprintf(change->field, sizeof(change->field), "%.*s", TEXT_ARGS(value));
        return true;
    }
    change->outage = change_find_fault(key, value, sentence);
    if (change->outage == FAULT_COUNT ||
        (change->outage >= 0 && fault_row((enum fault)change->outage)->place != FAULT_AT_ANSWER)) {
        buffer_printf(sentence, "\"%.*s\" is no fault of an answer", TEXT_ARGS(value));
        return false;
    }
    return change->outage >= 0;
}

/// The number of this name and how large it may be; NULL: there is none.
static double *change_find_number(struct change *change, struct text key, double *most)
{
    const struct behaviour_field *field = behaviour_find(key);

    if (field != NULL) {
        *most = field->most;
        return &change->numbers[field - behaviour_field(0)];
    }
    if (text_equals_c(key, "revoke")) {
        *most = 1;
        return &change->revoke;
    }
    *most = text_equals_c(key, "seed") ? 0x1p53 : 600000;
    return text_equals_c(key, "seed") ? &change->seed : text_equals_c(key, "delay_ms") ? &change->delay_ms : NULL;
}

/// False: `sentence` tells what is wrong with the member.
static bool change_read_member(struct change *change, struct text key, enum json_token token, struct text value,
                               struct buffer *sentence)
{
    static const char *const words[] = { "fault", "model", "mode", "outage", "field", "retry_after" };
    double most;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (text_equals_c(key, words[i])) {
            if (token == JSON_STRING) {
                return change_read_word(change, key, value, sentence);
            }
            buffer_printf(sentence, "\"%.*s\" takes a text", TEXT_ARGS(key));
            return false;
        }
    }
    double *number = change_find_number(change, key, &most);
    if (number != NULL) {
        if (token == JSON_NUMBER && change_read_number(value, most, number)) {
            return true;
        }
        buffer_printf(sentence, "\"%.*s\" takes a number from 0 to %.0f", TEXT_ARGS(key), most);
        return false;
    }
    buffer_printf(sentence, "\"%.*s\" is unknown; there are fault, model, mode, outage, field, retry_after",
                  TEXT_ARGS(key));
    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        buffer_printf(sentence, ", %s", behaviour_field(i)->name);
    }
    buffer_append_c(sentence, ", revoke, delay_ms, seed");
    return false;
}

/// False: `sentence` tells which member is wrong.
static bool change_read(struct change *change, struct text body, struct buffer *sentence)
{
    struct json_reader reader;
    enum json_token token;

    *change = (struct change){
        .delay_ms = NAN, .seed = NAN, .revoke = NAN, .model = -1, .mode = -1, .fault = -1, .outage = -1
    };
    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        change->numbers[i] = NAN;
    }
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

/// A change of how it behaves begins its time anew; a fault alone does not.
static void change_behaviour(struct supplier *supplier, const struct change *change)
{
    struct behaviour *now = &supplier->now;
    bool is_changed = change->model >= 0 || change->outage >= 0;

    now->model = change->model < 0 ? now->model : (enum latency_model)change->model;
    now->outage = change->outage < 0 ? now->outage : (enum fault)change->outage;
    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        if (!isnan(change->numbers[i])) {
            *behaviour_number(now, behaviour_field(i)) = change->numbers[i];
            is_changed = true;
        }
    }
    if (is_changed) {
        supplier->began_us = clock_now_us();
    }
}

static void change_supplier(struct connection *connection, struct supplier *supplier, const struct change *change)
{
    struct failure why = { 0 };
    const int faults[] = { change->fault, change->outage };

    if (change->has_retry_after) {
        snprintf(supplier->now.retry_after, sizeof(supplier->now.retry_after), "%s", change->retry_after);
    }
    if (change->has_field) {
        memcpy(supplier->now.field, change->field, sizeof(change->field));
    }

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        bool is_played = faults[i] >= 0 && faults[i] < FAULT_COUNT;
        const char *obstacle = is_played ? supplier_cannot_play(supplier, (enum fault)faults[i]) : NULL;
        if (obstacle != NULL) {
            reply_error(connection, "422 Unprocessable Content", obstacle);
            return;
        }
    }
    change_behaviour(supplier, change);
    if (change->revoke == 1) {
        supplier->gate.revoked = supplier->gate.granted;
    }
    if (change->fault >= 0) {
        supplier->is_forced = change->fault != FAULT_COUNT;
        supplier->forced = supplier->is_forced ? (enum fault)change->fault : FAULT_NONE;
    }
    enum fault_place place = fault_row(supplier->forced)->place;
    if (supplier->forced != FAULT_SILENT_KEPT && (place == FAULT_AT_DOOR || place == FAULT_AT_ACCEPT)) {
        connection_drop_idle(connection->farm, supplier);
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
    population_reset(farm->population, farm->seed, clock_now_us());
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
    } else if (text_equals_c(request->path, "/faults")) {
        answer_faults(connection);
    } else {
        reply_error(connection, "404 Not Found", "GET goes to /stats, /faults or /supplier/NAME");
    }
}
