#include "farm/population.h"
#include "farm/content.h"
#include "farm/hotels.h"
#include "farm/recording.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 10 };

static struct text next_word(struct text *rest)
{
    size_t start = 0, end;

    while (start < rest->length && (rest->data[start] == ' ' || rest->data[start] == '\t')) {
        start++;
    }
    for (end = start; end < rest->length && rest->data[end] != ' ' && rest->data[end] != '\t'; end++) {
    }
    struct text word = { rest->data + start, end - start };
    *rest = (struct text){ rest->data + end, rest->length - end };
    return word;
}

static bool read_number(struct text word, double least, double most, double *value)
{
    char copy[32], *end;

    if (word.length == 0 || word.length >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, word.data, word.length);
    copy[word.length] = '\0';
    *value = strtod(copy, &end);
    if (strcmp(end, "%") == 0) {
        *value /= 100;
    } else if (*end != '\0') {
        return false;
    }
    return isfinite(*value) && *value >= least && *value <= most;
}

/// The index of `word` among `names`; -1 and a sentence when it is none of them.
static int read_choice(struct text word, const char *column, const char *const *names, int count, struct failure *why)
{
    for (int i = 0; i < count; i++) {
        if (text_equals_c(word, names[i])) {
            return i;
        }
    }
    failure_set(why, "%s: \"%.*s\" is unknown", column, TEXT_ARGS(word));
    return -1;
}

static enum status read_column_number(struct text word, const char *column, double least, double most, double *value,
                                      struct failure *why)
{
    if (!read_number(word, least, most, value)) {
        failure_set(why, "%s: \"%.*s\" is no number from %g to %g", column, TEXT_ARGS(word), least, most);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status read_identity(struct supplier *supplier, const struct population *population,
                                 const struct text *words, struct failure *why)
{
    static const char *const speaks[] = { "http", "https", "both" };
    const char *shapes[SUPPLIER_FILE];
    double host;

    for (int i = 0; i < SUPPLIER_FILE; i++) {
        shapes[i] = supplier_shape_row((enum supplier_shape)i)->name;
    }

    if (words[0].length >= sizeof(supplier->name)) {
        failure_set(why, "the name is too long");
        return STATUS_INVALID;
    }
    memcpy(supplier->name, words[0].data, words[0].length);
    for (size_t i = 0; i < population->count; i++) {
        if (strcmp(population->suppliers[i].name, supplier->name) == 0) {
            failure_set(why, "%s is listed twice", supplier->name);
            return STATUS_INVALID;
        }
    }
    if (read_column_number(words[1], "address", 1, 250, &host, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    char address[24];
    snprintf(address, sizeof(address), "%s.%d", population->network, (int)host);
    if (inet_pton(AF_INET, address, &supplier->address) != 1) {
        failure_set(why, "address: %s is none", address);
        return STATUS_INVALID;
    }
    int speech = read_choice(words[2], "speaks", speaks, 3, why);
    int shape = read_choice(words[3], "shape", shapes, SUPPLIER_FILE, why);
    if (speech < 0 || shape < 0) {
        return STATUS_INVALID;
    }
    supplier->speaks_http = speech != 1;
    supplier->speaks_tls = speech != 0;
    supplier->shape = (enum supplier_shape)shape;
    supplier->rounds = 3;
    supplier->poll_ms = 100;
    supplier->planned.login_ms = 30;
    supplier->planned.login_life_s = 1800;
    if (supplier->shape == SUPPLIER_HOTELS && hotels_supplier(supplier->name) == 0) {
        failure_set(why, "a supplier of hotels (shape h) is called h01 to h20");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status read_latency(struct supplier *supplier, const struct text *words, struct failure *why)
{
    const char *models[LATENCY_MODELS];
    struct behaviour *planned = &supplier->planned;
    double ceiling_ms = 0;

    for (int i = 0; i < LATENCY_MODELS; i++) {
        models[i] = latency_model_name((enum latency_model)i);
    }
    int model = read_choice(words[4], "model", models, LATENCY_MODELS, why);

    if (model < 0 || read_column_number(words[5], "median_ms", 0, 600000, &planned->median_ms, why) != STATUS_OK ||
        read_column_number(words[6], "sigma", 0, 5, &planned->sigma, why) != STATUS_OK ||
        read_column_number(words[7], "tail", 0, 1, &planned->tail, why) != STATUS_OK ||
        read_column_number(words[8], "cap_ms", 0, 600000, &planned->cap_ms, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    if (!text_equals_c(words[9], "-") &&
        read_column_number(words[9], "ceiling_ms", 1, 600000, &ceiling_ms, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    planned->model = (enum latency_model)model;
    supplier->ceiling_ms = (uint32_t)ceiling_ms;
    return STATUS_OK;
}

/// login=oauth (shape a), login=session (shape poll_add), sign=sha256 or sha512 (shape pages). False: the word is none.
static enum status read_gate(struct supplier *supplier, struct text key, struct text value, struct failure *why)
{
    struct gate *gate = &supplier->gate;

    for (int i = 1; i < GATE_LOGINS && text_equals_c(key, "login"); i++) {
        gate->login = text_equals_c(value, gate_login_name((enum gate_login)i)) ? (enum gate_login)i : gate->login;
    }
    for (int i = 1; i < GATE_SIGNATURES && text_equals_c(key, "sign"); i++) {
        bool is_it = text_equals_c(value, gate_signature_name((enum gate_signature)i));
        gate->signature = is_it ? (enum gate_signature)i : gate->signature;
    }
    enum supplier_shape wanted = gate->login == GATE_OAUTH     ? SUPPLIER_SHAPE_A
                                 : gate->login == GATE_SESSION ? SUPPLIER_POLL_ADD
                                                               : SUPPLIER_PAGES;
    bool is_known = gate->login != GATE_NO_LOGIN || gate->signature != GATE_UNSIGNED;
    if (!is_known || supplier->shape != wanted || (gate->login != GATE_NO_LOGIN && gate->signature != GATE_UNSIGNED)) {
        failure_set(why,
                    "there are login=oauth (shape a), login=session (poll_add), sign=sha256 and sign=sha512 (pages)");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

/// A number of its own or of its behaviour. False: the word is none.
static bool read_extra_number(struct supplier *supplier, struct text key, struct text value)
{
    double number;
    const struct behaviour_field *field = behaviour_find(key);

    if (field != NULL && read_number(value, 0, field->most, &number)) {
        *behaviour_number(&supplier->planned, field) = number;
        return true;
    }
    if (text_equals_c(key, "rounds") && read_number(value, 1, 1000, &number)) {
        supplier->rounds = (uint32_t)number;
        return true;
    }
    if (text_equals_c(key, "poll_after_ms") && read_number(value, 0, 600000, &number)) {
        supplier->poll_ms = (uint32_t)number;
        return true;
    }
    return false;
}

static enum status check_fault(const struct supplier *supplier, enum fault fault, struct failure *why)
{
    const char *obstacle = supplier_cannot_play(supplier, fault);

    if (obstacle != NULL) {
        failure_set(why, "%s: %s", fault_row(fault)->name, obstacle);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status read_outage(struct supplier *supplier, struct text name, struct failure *why)
{
    if (!fault_find(name, &supplier->planned.outage) || fault_row(supplier->planned.outage)->place != FAULT_AT_ANSWER) {
        failure_set(why, "outage: \"%.*s\" is no fault of an answer", TEXT_ARGS(name));
        return STATUS_INVALID;
    }
    return check_fault(supplier, supplier->planned.outage, why);
}

static enum status read_extra(struct supplier *supplier, struct text word, struct failure *why)
{
    struct text value;
    struct text key = text_split(word, '=', &value);
    enum fault fault;
    double number;

    if (text_equals_c(word, "close")) {
        supplier->planned.closes = true;
        return STATUS_OK;
    }
    if (text_equals_c(word, "no_tickets")) {
        supplier->planned.has_no_tickets = true;
        return STATUS_OK;
    }
    if (text_equals_c(key, "field") && value.length > 0 && value.length < sizeof(supplier->planned.field)) {
        memcpy(supplier->planned.field, value.data, value.length);
        return STATUS_OK;
    }
    if (text_equals_c(key, "outage")) {
        return read_outage(supplier, value, why);
    }
    if (text_equals_c(key, "login") || text_equals_c(key, "sign")) {
        return read_gate(supplier, key, value, why);
    }
    if (read_extra_number(supplier, key, value)) {
        return STATUS_OK;
    }
    if (!fault_find(key, &fault) || fault == FAULT_NONE || !read_number(value, 0, 1, &number)) {
        failure_set(why, "\"%.*s\" is no FAULT=SHARE, outage=FAULT, field=NAME, close, no_tickets or NUMBER_NAME=N",
                    TEXT_ARGS(word));
        return STATUS_INVALID;
    }
    supplier->planned.shares[fault] = number;
    return check_fault(supplier, fault, why);
}

static enum status read_line(struct population *population, struct text line, struct failure *why)
{
    struct text words[COLUMNS], rest = line;

    for (int i = 0; i < COLUMNS; i++) {
        words[i] = next_word(&rest);
        if (i == 0 && words[i].length == 0) {
            return STATUS_OK;
        }
        if (words[i].length == 0) {
            failure_set(why, "%d columns are expected, there are %d", COLUMNS, i);
            return STATUS_INVALID;
        }
    }
    if (population->count == POPULATION_MAX) {
        failure_set(why, "at most %d suppliers fit", POPULATION_MAX);
        return STATUS_FULL;
    }
    struct supplier *supplier = &population->suppliers[population->count];
    memset(supplier, 0, sizeof(*supplier));
    enum status status = read_identity(supplier, population, words, why);
    if (status == STATUS_OK) {
        status = read_latency(supplier, words, why);
    }
    for (struct text word; status == STATUS_OK && (word = next_word(&rest)).length > 0;) {
        status = read_extra(supplier, word, why);
    }
    if (status == STATUS_OK) {
        supplier->index = (uint32_t)population->count++;
    }
    return status;
}

struct population *population_create(const char *network)
{
    struct population *made = calloc(1, sizeof(*made));

    if (made != NULL) {
        snprintf(made->network, sizeof(made->network), "%s", network);
    }
    return made;
}

enum status population_read(const char *file, const char *network, struct population **population, struct failure *why)
{
    char *bytes;
    size_t length;
    enum status status = content_read(file, &bytes, &length, why);

    *population = NULL;
    if (status != STATUS_OK) {
        return status;
    }
    struct population *read = population_create(network);
    if (read == NULL) {
        free(bytes);
        return STATUS_NO_MEMORY;
    }
    struct text rest = { bytes, length };
    for (uint32_t line = 1; status == STATUS_OK && rest.length > 0; line++) {
        struct text comment;
        struct text content = text_split(text_split(rest, '\n', &rest), '#', &comment);
        status = read_line(read, content, why);
        if (status != STATUS_OK) {
            failure_at(why, file, line, 1);
        }
    }
    free(bytes);
    if (status == STATUS_OK && read->count == 0) {
        failure_set(why, "%s lists no supplier", file);
        status = STATUS_INVALID;
    }
    if (status != STATUS_OK) {
        population_destroy(&read);
        return status;
    }
    *population = read;
    return STATUS_OK;
}

enum status population_add_file(struct population *population, const char *argument, struct failure *why)
{
    struct text address, path;
    struct text name = text_split(text_of(argument), ':', &address);
    address = text_split(address, ':', &path);

    if (population->count == POPULATION_MAX) {
        failure_set(why, "at most %d suppliers fit", POPULATION_MAX);
        return STATUS_FULL;
    }
    struct supplier *supplier = &population->suppliers[population->count];
    memset(supplier, 0, sizeof(*supplier));
    char dotted[INET_ADDRSTRLEN] = "";
    snprintf(dotted, sizeof(dotted), "%.*s", TEXT_ARGS(address));
    if (name.length == 0 || name.length >= sizeof(supplier->name) || path.length == 0 ||
        inet_pton(AF_INET, dotted, &supplier->address) != 1 || population_find(population, name) != NULL) {
        failure_set(why, "--file %s: a new NAME:ADDRESS:PATH is expected", argument);
        return STATUS_INVALID;
    }
    bool is_recording = recording_is_named(path.data);
    enum status status = is_recording ? recording_read(path.data, &supplier->recording, why)
                                      : content_read(path.data, &supplier->file, &supplier->file_length, why);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(supplier->name, name.data, name.length);
    supplier->shape = is_recording ? SUPPLIER_RECORDING : SUPPLIER_FILE;
    supplier->speaks_http = true;
    supplier->planned = (struct behaviour){
        .model = LATENCY_LOGNORMAL,
        .median_ms = 420,
        .sigma = 0.2,
        .cap_ms = 4000,
    };
    supplier->index = (uint32_t)population->count++;
    return STATUS_OK;
}

/// The nearest of the names of faults, as a remedy.
static void help_with_fault(struct text key, struct failure *why)
{
    const char *names[FAULT_COUNT];

    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        names[i] = fault_row((enum fault)i)->name;
    }
    const char *nearest = text_nearest(key, names, FAULT_COUNT);
    if (nearest != NULL) {
        failure_help(why, "did you mean `%s`?", nearest);
    }
}

static enum status read_door_word(struct supplier *supplier, struct text word, struct failure *why)
{
    const char *models[LATENCY_MODELS];
    struct text value;
    struct text key = text_split(word, '=', &value);
    enum fault fault;

    for (int i = 0; i < LATENCY_MODELS; i++) {
        models[i] = latency_model_name((enum latency_model)i);
    }
    if (text_equals_c(key, "model")) {
        int model = read_choice(value, "model", models, LATENCY_MODELS, why);
        supplier->planned.model = model < 0 ? LATENCY_CONSTANT : (enum latency_model)model;
        if (model < 0) {
            failure_help(why, "models are constant, lognormal, bimodal, ramp, recovery");
        }
        return model < 0 ? STATUS_INVALID : STATUS_OK;
    }
    if (fault_find(key, &fault) && fault_row(fault)->place == FAULT_AT_NAME) {
        failure_set(why, "%.*s: this supplier has no name", TEXT_ARGS(key));
        return STATUS_INVALID;
    }
    enum status status = read_extra(supplier, word, why);
    if (status != STATUS_OK) {
        help_with_fault(key, why);
    }
    return status;
}

enum status population_add_door(struct population *population, const char *argument, bool is_tls,
                                const char *const *words, size_t word_count, struct failure *why)
{
    struct text port_text;
    struct text address = text_split(text_of(argument), ':', &port_text);
    char dotted[INET_ADDRSTRLEN] = "";
    uint64_t port;

    if (population->count == POPULATION_MAX) {
        failure_set(why, "at most %d suppliers fit", POPULATION_MAX);
        return STATUS_FULL;
    }
    struct supplier *supplier = &population->suppliers[population->count];
    memset(supplier, 0, sizeof(*supplier));
    snprintf(dotted, sizeof(dotted), "%.*s", TEXT_ARGS(address));
    if (inet_pton(AF_INET, dotted, &supplier->address) != 1 || !text_to_u64(port_text, &port) || port == 0 ||
        port > UINT16_MAX) {
        failure_set(why, "--door %s: ADDRESS:PORT is expected", argument);
        return STATUS_INVALID;
    }
    snprintf(supplier->name, sizeof(supplier->name), "door%zu", population->count + 1);
    supplier->port = (uint16_t)port;
    supplier->shape = SUPPLIER_PROMPTED;
    supplier->speaks_http = !is_tls;
    supplier->speaks_tls = is_tls;
    supplier->planned = (struct behaviour){ .median_ms = -1, .sigma = 0.4, .cap_ms = 600000 };
    supplier->index = (uint32_t)population->count++;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < word_count; i++) {
        status = read_door_word(supplier, text_of(words[i]), why);
    }
    return status;
}

void population_destroy(struct population **population)
{
    if (*population == NULL) {
        return;
    }
    for (size_t i = 0; i < (*population)->count; i++) {
        for (int slices = 0; slices < QUERY_SLICES_MAX; slices++) {
            answer_template_destroy(&(*population)->suppliers[i].templates[slices]);
        }
        free((*population)->suppliers[i].file);
        recording_destroy(&(*population)->suppliers[i].recording);
    }
    free(*population);
    *population = NULL;
}

void population_reset(struct population *population, uint64_t seed, uint64_t now_us)
{
    for (size_t i = 0; i < population->count; i++) {
        supplier_reset(&population->suppliers[i], seed, now_us);
    }
}

struct supplier *population_find(struct population *population, struct text name)
{
    for (size_t i = 0; i < population->count; i++) {
        if (text_equals_c(name, population->suppliers[i].name)) {
            return &population->suppliers[i];
        }
    }
    return NULL;
}

static bool has_gates(const struct population *population)
{
    for (size_t i = 0; i < population->count; i++) {
        const struct gate *gate = &population->suppliers[i].gate;
        if (gate->login != GATE_NO_LOGIN || gate->signature != GATE_UNSIGNED) {
            return true;
        }
    }
    return false;
}

/// The options by which a script knows who it is.
static void print_gate(const struct gate *gate, const char *name)
{
    if (gate->login != GATE_NO_LOGIN) {
        printf(", user: %s", name);
    } else if (gate->signature != GATE_UNSIGNED) {
        printf(", key: %s, digest: %s", name, gate_signature_name(gate->signature));
    }
}

void population_print_settings(const struct population *population, bool is_plain)
{
    printf("suppliers:\n");
    for (int i = 0; i < SUPPLIER_HOTELS; i++) {
        printf("  %s: { enabled: false, because: \"a template: s01 to s40 use it\" }\n",
               supplier_shape_row((enum supplier_shape)i)->script);
    }
    static const char *const gates[] = { "farm_oauth", "farm_session", "farm_signed" };
    for (size_t i = 0; i < COUNT_OF(gates) && has_gates(population); i++) {
        printf("  %s: { enabled: false, because: \"a template: s01 to s40 use it\" }\n", gates[i]);
    }
    for (size_t i = 0; i < population->count; i++) {
        const struct supplier *supplier = &population->suppliers[i];
        if (!supplier_has_templates(supplier)) {
            continue;
        }
        bool is_http = supplier->speaks_http && (is_plain || !supplier->speaks_tls);
        printf("  %s:\n    uses: %s\n", supplier->name, supplier_script(supplier));
        if (supplier->ceiling_ms > 0) {
            printf("    ceiling: %ums\n", supplier->ceiling_ms);
        }
        printf("    accounts: { main: { options: { base_url: \"%s://%s.farm.test:%d\"", is_http ? "http" : "https",
               supplier->name, is_http ? POPULATION_HTTP_PORT : POPULATION_TLS_PORT);
        print_gate(&supplier->gate, supplier->name);
        printf(" } } }\n");
    }
}
