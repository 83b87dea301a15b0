#include "app/envelope.h"

#include "base/json_unique.h"
#include "base/json_write.h"
#include "model/mode.h"

#include <stdio.h>
#include <string.h>

enum { ENVELOPE_SCRATCH = 64 << 10, ENVELOPE_MAX_NUMBER = 10000, POINTER_ROOM = 128 };

/// One reading in progress.
struct reading {
    struct envelope *envelope;
    struct json_reader reader;
    struct problem *problem;
    uint32_t seen; // one bit a field
};

typedef bool (*field_reader)(struct reading *reading, enum json_token token);

/// The fields of the body; `read` gets the first token of the value.
struct field {
    const char *name;
    field_reader read;
    bool is_required;
};

void envelope_init(struct envelope *envelope)
{
    *envelope = (struct envelope){ 0 };
    buffer_init(&envelope->scratch, ENVELOPE_SCRATCH);
    // Texts point into the scratch: it must not move while it grows.
    (void)!buffer_reserve(&envelope->scratch, ENVELOPE_SCRATCH / 4);
}

void envelope_fini(struct envelope *envelope)
{
    buffer_fini(&envelope->scratch);
}

static bool refuse_syntax(struct reading *reading)
{
    const char *sentence = reading->reader.error != NULL ? reading->reader.error : "not a JSON object";
    problem_init(reading->problem, 400, "not_json", "The body is not a JSON object");
    problem_add(reading->problem, "", "not_json", "%s, at byte %zu", sentence, reading->reader.offset);
    return false;
}

/// Notes an error and skips the value, so that all errors are told at once.
static bool refuse_field(struct reading *reading, enum json_token token, const char *pointer, const char *code,
                         const char *detail)
{
    problem_add(reading->problem, pointer, code, "%s", detail);
    return json_skip(&reading->reader, token) || refuse_syntax(reading);
}

/// The current string without escapes; stays valid. False: it does not fit.
static bool take_text(struct reading *reading, struct text *text)
{
    struct buffer *scratch = &reading->envelope->scratch;
    if (reading->reader.has_escapes && scratch->capacity - scratch->length < reading->reader.value.length) {
        return false;
    }
    *text = json_unescape(&reading->reader, scratch);
    return true;
}

static bool read_product(struct reading *reading, enum json_token token)
{
    struct text *product = &reading->envelope->product;
    if (token != JSON_STRING || !take_text(reading, product) || product->length == 0) {
        return refuse_field(reading, token, "/product", "wrong_type", "expected the name of a product");
    }
    return true;
}

static bool refuse_duplicate(void *context, struct text pointer, bool is_cut)
{
    struct reading *reading = context;
    char terminated[sizeof reading->problem->errors[0].pointer];

    _Static_assert(sizeof terminated > JSON_UNIQUE_POINTER_MAX, "a pointer fits whole");
    snprintf(terminated, sizeof terminated, "%.*s", TEXT_ARGS(pointer));
    problem_add(reading->problem, terminated, "duplicate",
                is_cut ? "a field somewhere in it is given twice" : "the field is given twice");
    return reading->problem->error_count < PROBLEM_MAX_ERRORS;
}

static bool read_query(struct reading *reading, enum json_token token)
{
    if (token != JSON_BEGIN_OBJECT) {
        return refuse_field(reading, token, "/query", "wrong_type", "expected an object");
    }
    switch (json_skip_unique(&reading->reader, token, TEXT("/query"), refuse_duplicate, reading)) {
    case STATUS_OK:
        return true;
    case STATUS_NO_MEMORY:
        problem_init(reading->problem, 503, "out_of_memory", "There was no memory for the request");
        return false;
    default:
        return refuse_syntax(reading);
    }
}

static bool read_number(struct reading *reading, enum json_token token, const char *pointer, uint64_t max,
                        uint64_t *value)
{
    char detail[96];
    if (token == JSON_NUMBER && text_to_u64(reading->reader.value, value) && *value >= 1 && *value <= max) {
        return true;
    }
    *value = 0;
    snprintf(detail, sizeof detail, "expected a whole number from 1 to %llu", (unsigned long long)max);
    return refuse_field(reading, token, pointer, token == JSON_NUMBER ? "out_of_range" : "wrong_type", detail);
}

static bool read_budget(struct reading *reading, enum json_token token)
{
    return read_number(reading, token, "/budget_ms", ENVELOPE_MAX_BUDGET_MS, &reading->envelope->budget_ms);
}

static bool read_max_items(struct reading *reading, enum json_token token)
{
    uint64_t value = 0;
    bool is_fine = read_number(reading, token, "/max_items", ENVELOPE_MAX_NUMBER, &value);
    reading->envelope->max_items = (uint32_t)value;
    return is_fine;
}

static bool read_max_offers(struct reading *reading, enum json_token token)
{
    uint64_t value = 0;
    bool is_fine = read_number(reading, token, "/max_offers_per_item", ENVELOPE_MAX_NUMBER, &value);
    reading->envelope->max_offers_per_item = (uint32_t)value;
    return is_fine;
}

static bool read_partial(struct reading *reading, enum json_token token)
{
    if (token != JSON_TRUE && token != JSON_FALSE) {
        return refuse_field(reading, token, "/partial", "wrong_type", "expected true or false");
    }
    reading->envelope->whole_or_nothing = token == JSON_FALSE;
    return true;
}

static bool read_sort(struct reading *reading, enum json_token token)
{
    for (enum sort sort = 0; token == JSON_STRING && sort < SORT_COUNT; sort++) {
        if (text_equals_c(reading->reader.value, sort_name(sort))) {
            reading->envelope->sort = sort;
            return true;
        }
    }
    return refuse_field(reading, token, "/sort", token == JSON_STRING ? "unknown_value" : "wrong_type",
                        "expected \"best\", \"price\" or \"duration\"");
}

static bool read_suppliers(struct reading *reading, enum json_token token)
{
    struct envelope *envelope = reading->envelope;

    if (token != JSON_BEGIN_ARRAY) {
        return refuse_field(reading, token, "/suppliers", "wrong_type", "expected a list of names");
    }
    envelope->has_suppliers = true;
    for (size_t index = 0;; index++) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/suppliers/%zu", index);
        token = json_next(&reading->reader);
        if (token == JSON_END_ARRAY) {
            return true;
        }
        if (token == JSON_ERROR) {
            return refuse_syntax(reading);
        }
        bool fits = envelope->supplier_count < ENVELOPE_MAX_SUPPLIERS;
        struct text *name = fits ? &envelope->suppliers[envelope->supplier_count] : NULL;
        bool is_name = token == JSON_STRING && fits && take_text(reading, name);
        envelope->supplier_count += fits ? 1 : 0; // one that is no name keeps its place, so that pointers are right
        if (is_name) {
            continue;
        }
        if (!refuse_field(reading, token, pointer, fits ? "wrong_type" : "too_many",
                          fits ? "expected the name of a supplier" : "too many suppliers")) {
            return false;
        }
    }
}

static bool read_indicative(struct reading *reading, enum json_token token)
{
    static const char *const NAMES[] = {
        [INDICATIVE_AT_END] = "end",
        [INDICATIVE_FIRST] = "first",
        [INDICATIVE_NONE] = "none",
    };

    for (size_t i = 0; token == JSON_STRING && i < COUNT_OF(NAMES); i++) {
        if (text_equals_c(reading->reader.value, NAMES[i])) {
            reading->envelope->indicative = (enum indicative)i;
            return true;
        }
    }
    return refuse_field(reading, token, "/indicative", token == JSON_STRING ? "unknown_value" : "wrong_type",
                        "expected \"end\", \"first\" or \"none\"");
}

/// A search is never dark: what is, is for suppliers to be.
static bool read_mode(struct reading *reading, enum json_token token)
{
    enum mode mode;

    if (token == JSON_STRING && mode_find(reading->reader.value, &mode) && mode != MODE_DARK) {
        reading->envelope->is_test = mode == MODE_TEST;
        return true;
    }
    return refuse_field(reading, token, "/mode", token == JSON_STRING ? "unknown_value" : "wrong_type",
                        "expected \"live\" or \"test\"");
}

static const struct field FIELDS[] = {
    { "product", read_product, true },        { "query", read_query, true },
    { "budget_ms", read_budget, false },      { "suppliers", read_suppliers, false },
    { "partial", read_partial, false },       { "sort", read_sort, false },
    { "max_items", read_max_items, false },   { "max_offers_per_item", read_max_offers, false },
    { "indicative", read_indicative, false }, { "mode", read_mode, false },
};

static bool refuse_unknown(struct reading *reading, struct text key)
{
    const char *names[COUNT_OF(FIELDS)];
    char detail[192];
    struct buffer pointer;

    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        names[i] = FIELDS[i].name;
    }
    const char *nearest = text_nearest(key, names, COUNT_OF(FIELDS));
    snprintf(detail, sizeof detail, nearest != NULL ? "no such field; did you mean %s?" : "no such field", nearest);
    buffer_init(&pointer, POINTER_ROOM);
    json_pointer_append(&pointer, key);
    buffer_append_byte(&pointer, '\0');
    bool is_fine = refuse_field(reading, json_next(&reading->reader), pointer.is_full ? "" : pointer.data,
                                "unknown_field", detail);
    buffer_fini(&pointer);
    return is_fine;
}

static bool read_field(struct reading *reading)
{
    struct text key;

    if (!take_text(reading, &key)) {
        key = reading->reader.value;
    }
    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        if (text_equals_c(key, FIELDS[i].name)) {
            char pointer[64];
            snprintf(pointer, sizeof pointer, "/%s", FIELDS[i].name);
            enum json_token token = json_next(&reading->reader);
            if (token == JSON_ERROR) {
                return refuse_syntax(reading);
            }
            if ((reading->seen & (1u << i)) != 0) {
                return refuse_field(reading, token, pointer, "duplicate", "the field is given twice");
            }
            reading->seen |= 1u << i;
            return FIELDS[i].read(reading, token);
        }
    }
    return refuse_unknown(reading, key);
}

bool envelope_read(struct envelope *envelope, struct text body, struct problem *problem)
{
    struct reading reading = { .envelope = envelope, .problem = problem };

    problem_init(problem, 422, "bad_request", "The request is not valid");
    json_reader_init(&reading.reader, body);
    if (json_next(&reading.reader) != JSON_BEGIN_OBJECT) {
        return refuse_syntax(&reading);
    }
    for (;;) {
        enum json_token token = json_next(&reading.reader);
        if (token == JSON_END_OBJECT) {
            break;
        }
        if (token != JSON_KEY) {
            return refuse_syntax(&reading);
        }
        if (!read_field(&reading)) {
            return false;
        }
    }
    if (json_next(&reading.reader) != JSON_END) {
        return refuse_syntax(&reading);
    }
    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        if (FIELDS[i].is_required && (reading.seen & (1u << i)) == 0) {
            char pointer[64];
            snprintf(pointer, sizeof pointer, "/%s", FIELDS[i].name);
            problem_add(problem, pointer, "required", "the field is missing");
        }
    }
    return problem->error_count == 0;
}
