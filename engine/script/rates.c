#include "script/rates.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "script/amount.h"
#include "script/calendar.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 200 };

static const int64_t DAY_US = 86400000000LL;

struct row {
    char code[4];
    struct rate rate;
};

struct rates {
    atomic_uint references;
    atomic_bool is_warned;
    uint64_t max_age_us;
    int64_t as_of_us;
    char id[RATES_ID_MAX + 1];
    char as_of[CALENDAR_TEXT_MAX];
    char base[4];
    char json[6 * RATES_ID_MAX + 128]; // the id may need escapes
    size_t json_length;
    struct row rows[ROWS_MAX]; // by code
    size_t count;
};

struct load {
    struct rates *rates;
    struct json_reader reader;
    const char *file;
    rates_finding report;
    void *context;
    size_t findings;
    struct buffer scratch; // of texts with escapes
    bool has_rates;
    uint32_t seen; // one bit a field
};

// ---- findings ------------------------------------------------------------------------------------------------------

static void find_at(struct load *load, size_t offset, const char *help, const char *message)
{
    struct failure failure = { .line = 0 };
    uint32_t line = 1, column = 1;

    for (size_t i = 0; i < offset && i < load->reader.input.length; i++) {
        bool is_end = load->reader.input.data[i] == '\n';
        line += is_end ? 1 : 0;
        column = is_end ? 1 : column + 1;
    }
    failure_at(&failure, load->file, line, column);
    failure_code(&failure, CODE_DATA_FILE);
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    load->report(load->context, &failure);
    load->findings++;
}

static void find(struct load *load, const char *help, const char *message)
{
    find_at(load, load->reader.offset, help, message);
}

// "`rates.USD`: a rate is not zero"
static void find_in(struct load *load, struct text name, const char *why)
{
    char message[200];

    (void)snprintf(message, sizeof message, "`rates.%.*s`: %s", name.length < 40 ? (int)name.length : 40, name.data,
                   why);
    find(load, "write it like \"USD\": 1.0842", message);
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Past a value; what is no JSON in it is told at the end, by the reader's error.
static void skip(struct load *load, enum json_token first)
{
    if (!json_skip(&load->reader, first)) {
        return;
    }
}

// The value that follows, a text; absent: it is none, which is a finding.
static struct text read_text(struct load *load, const char *message)
{
    enum json_token token = json_next(&load->reader);

    if (token == JSON_STRING) {
        buffer_clear(&load->scratch);
        return json_unescape(&load->reader, &load->scratch);
    }
    if (token != JSON_ERROR) {
        find(load, "", message);
        skip(load, token);
    }
    return (struct text){ NULL, 0 };
}

static void read_id(struct load *load)
{
    static const char message[] = "`id` is a text of 1 to 64 bytes";
    struct text id = read_text(load, message);

    if (id.data != NULL && (id.length == 0 || id.length > RATES_ID_MAX || memchr(id.data, 0, id.length) != NULL)) {
        find(load, "", message);
    } else if (id.data != NULL) {
        memcpy(load->rates->id, id.data, id.length);
        load->rates->id[id.length] = 0;
    }
}

static void read_as_of(struct load *load)
{
    static const char message[] = "`as_of` is a time such as \"2026-11-29T15:00:00Z\", or a day";
    struct text text = read_text(load, message);
    struct moment moment, utc;

    if (text.data == NULL) {
        return;
    }
    if (!calendar_parse(text, &moment) || moment.has_time != moment.has_offset ||
        !calendar_of_epoch_us(calendar_epoch_us(&moment), &utc)) {
        find(load, "", message);
        return;
    }
    load->rates->as_of_us = calendar_epoch_us(&moment);
    (void)calendar_write_utc(&utc, load->rates->as_of);
}

static void read_base(struct load *load)
{
    static const char message[] = "`base` is a currency of ISO 4217, such as \"EUR\"";
    struct text base = read_text(load, message);

    if (base.data != NULL && amount_exponent(base) < 0) {
        find(load, "", message);
    } else if (base.data != NULL) {
        memcpy(load->rates->base, base.data, 3);
    }
}

static bool is_code(struct text code)
{
    for (size_t i = 0; i < code.length; i++) {
        if (code.data[i] < 'A' || code.data[i] > 'Z') {
            return false;
        }
    }
    return code.length == 3;
}

static struct row *row_of(struct rates *rates, struct text code)
{
    for (size_t i = 0; i < rates->count; i++) {
        if (text_equals_c(code, rates->rows[i].code)) {
            return &rates->rows[i];
        }
    }
    return NULL;
}

static void add_row(struct load *load, struct text code, struct rate rate)
{
    struct rates *rates = load->rates;

    if (row_of(rates, code) != NULL) {
        find_in(load, code, "stands here twice");
        return;
    }
    require(rates->count < ROWS_MAX); // there are fewer currencies
    struct row *row = &rates->rows[rates->count++];
    memcpy(row->code, code.data, 3);
    row->rate = rate;
}

static void read_rate(struct load *load, struct text code)
{
    enum json_token token = json_next(&load->reader);
    const char *why = "a number, or a text with one, expected";
    struct rate rate;

    if (token == JSON_ERROR) {
        return;
    }
    if (token != JSON_NUMBER && token != JSON_STRING) {
        find_in(load, code, why);
        skip(load, token);
    } else if (!is_code(code)) {
        find_in(load, code, "a code of three capitals expected");
    } else if (!rate_parse(load->reader.value, &rate, &why)) {
        find_in(load, code, why);
    } else if (amount_exponent(code) >= 0) {
        add_row(load, code, rate);
    }
}

static void read_rates(struct load *load)
{
    enum json_token token = json_next(&load->reader);

    if (token != JSON_BEGIN_OBJECT) {
        if (token != JSON_ERROR) {
            find(load, "", "`rates` is an object of currencies and numbers");
            skip(load, token);
        }
        return;
    }
    load->has_rates = true;
    while (json_next(&load->reader) == JSON_KEY) {
        struct text code = load->reader.value; // of the input, so it lasts
        read_rate(load, code);
    }
}

static void read_field(struct load *load)
{
    static const struct {
        const char *name;
        void (*read)(struct load *load);
    } fields[] = { { "id", read_id }, { "as_of", read_as_of }, { "base", read_base }, { "rates", read_rates } };

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (text_equals_c(load->reader.value, fields[i].name)) {
            if ((load->seen & 1u << i) != 0) {
                find(load, "one of the two is meant", "a field that stands here twice");
            }
            load->seen |= 1u << i;
            fields[i].read(load);
            return;
        }
    }
    find(load, "a table has `id`, `as_of`, `base` and `rates`", "an unknown field");
    skip(load, json_next(&load->reader));
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static void check_base(struct load *load)
{
    struct rates *rates = load->rates;
    struct text base = text_of(rates->base);
    const char *why = NULL;
    struct rate one;

    require(rate_parse(TEXT("1"), &one, &why));
    const struct row *row = row_of(rates, base);
    if (row == NULL) {
        add_row(load, base, one);
    } else if (row->rate.digits != one.digits || row->rate.exponent != one.exponent) {
        find(load, "leave it out, or write 1", "the rate of the base is not 1");
    }
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(((const struct row *)a)->code, ((const struct row *)b)->code, 3);
}

static void check_whole(struct load *load)
{
    struct rates *rates = load->rates;

    if (load->reader.error != NULL) {
        find(load, "", load->reader.error);
        return;
    }
    if (load->findings > 0) {
        return;
    }
    if (rates->id[0] == 0 || rates->as_of[0] == 0 || rates->base[0] == 0 || !load->has_rates) {
        find(load, "a table has `id`, `as_of`, `base` and `rates`",
             rates->id[0] == 0      ? "`id` is missing"
             : rates->as_of[0] == 0 ? "`as_of` is missing"
             : rates->base[0] == 0  ? "`base` is missing"
                                    : "`rates` is missing");
        return;
    }
    check_base(load);
    qsort(rates->rows, rates->count, sizeof rates->rows[0], compare_rows);
}

static void write_json(struct rates *rates)
{
    struct json_writer writer;
    struct buffer out;

    buffer_init(&out, sizeof rates->json);
    json_writer_init(&writer, &out);
    json_begin_object(&writer);
    json_field_c(&writer, "id", rates->id);
    json_field_c(&writer, "as_of", rates->as_of);
    json_end_object(&writer);
    require(!out.is_full);
    memcpy(rates->json, out.data, out.length);
    rates->json_length = out.length;
    buffer_fini(&out);
}

enum status rates_parse(struct text json, const char *file, uint64_t max_age_us, rates_finding report, void *context,
                        struct rates **rates)
{
    struct load load = { .rates = calloc(1, sizeof(struct rates)), .file = file, .report = report, .context = context };

    *rates = NULL;
    if (load.rates == NULL) {
        return STATUS_NO_MEMORY;
    }
    atomic_init(&load.rates->references, 1);
    load.rates->max_age_us = max_age_us;
    buffer_init(&load.scratch, RATES_FILE_MAX);
    json_reader_init(&load.reader, json);
    if (json_next(&load.reader) == JSON_BEGIN_OBJECT) {
        while (json_next(&load.reader) == JSON_KEY) {
            read_field(&load);
        }
        (void)json_next(&load.reader);
    } else if (load.reader.error == NULL) {
        find(&load, "", "an object expected");
    }
    check_whole(&load);
    buffer_fini(&load.scratch);
    if (load.findings > 0) {
        free(load.rates);
        return STATUS_INVALID;
    }
    write_json(load.rates);
    *rates = load.rates;
    return STATUS_OK;
}

enum status rates_load(const char *file, uint64_t max_age_us, rates_finding report, void *context, struct rates **rates)
{
    struct load load = { .file = file, .report = report, .context = context };
    struct file_facts facts;
    struct buffer bytes;

    *rates = NULL;
    buffer_init(&bytes, RATES_FILE_MAX);
    enum status status = file_read(file, &bytes, &facts);
    if (status == STATUS_OK) {
        status = rates_parse(buffer_text(&bytes), file, max_age_us, report, context, rates);
    } else if (status == STATUS_FULL) {
        find(&load, "", "the table of rates is larger than 1 MiB");
        status = STATUS_INVALID;
    } else if (status != STATUS_NO_MEMORY) {
        struct failure failure = { .line = 0 };
        failure_at(&failure, file, 0, 0);
        failure_code(&failure, CODE_DATA_FILE);
        failure_set(&failure, "the table of rates cannot be read: %s", facts.why);
        failure_help(&failure, "`fx.file` names it");
        report(context, &failure);
        status = STATUS_INVALID;
    }
    buffer_fini(&bytes);
    return status;
}

struct rates *rates_acquire(struct rates *rates)
{
    if (rates != NULL) {
        atomic_fetch_add_explicit(&rates->references, 1, memory_order_relaxed);
    }
    return rates;
}

void rates_release(struct rates **rates)
{
    if (*rates != NULL && atomic_fetch_sub_explicit(&(*rates)->references, 1, memory_order_acq_rel) == 1) {
        free(*rates);
    }
    *rates = NULL;
}

// ---- questions -----------------------------------------------------------------------------------------------------

bool rates_equals(const struct rates *one, const struct rates *other)
{
    if (one == NULL || other == NULL) {
        return one == other;
    }
    bool is_same = one->max_age_us == other->max_age_us && one->as_of_us == other->as_of_us &&
                   one->count == other->count && strcmp(one->id, other->id) == 0 &&
                   strcmp(one->as_of, other->as_of) == 0 && strcmp(one->base, other->base) == 0;
    for (size_t i = 0; i < one->count && is_same; i++) {
        const struct row *row = &one->rows[i], *beside = &other->rows[i];
        is_same = strcmp(row->code, beside->code) == 0 && row->rate.digits == beside->rate.digits &&
                  row->rate.exponent == beside->rate.exponent;
    }
    return is_same;
}

uint64_t rates_digest(const struct rates *rates)
{
    uint64_t digest = text_hash_on(0, text_of(rates->id));

    digest = text_hash_on(digest, text_of(rates->as_of));
    digest = text_hash_on(digest, text_of(rates->base));
    for (size_t i = 0; i < rates->count; i++) {
        const struct row *row = &rates->rows[i];
        digest = text_hash_on(digest, text_of(row->code));
        digest = text_hash_on(digest, (struct text){ (const char *)&row->rate.digits, sizeof(row->rate.digits) });
        digest = text_hash_on(digest, (struct text){ (const char *)&row->rate.exponent, sizeof(row->rate.exponent) });
    }
    return digest;
}

struct text rates_id(const struct rates *rates)
{
    return text_of(rates->id);
}

struct text rates_as_of(const struct rates *rates)
{
    return text_of(rates->as_of);
}

struct text rates_base(const struct rates *rates)
{
    return text_of(rates->base);
}

size_t rates_count(const struct rates *rates)
{
    return rates->count;
}

struct text rates_json(const struct rates *rates)
{
    return (struct text){ rates->json, rates->json_length };
}

uint64_t rates_age_us(const struct rates *rates, uint64_t wall_us)
{
    int64_t age_us = (int64_t)wall_us - rates->as_of_us;

    return age_us > 0 ? (uint64_t)age_us : 0;
}

bool rates_is_stale(const struct rates *rates, uint64_t wall_us)
{
    return rates_age_us(rates, wall_us) > rates->max_age_us || rates->as_of_us - (int64_t)wall_us > DAY_US;
}

static const struct row *find_row(const struct rates *rates, struct text code)
{
    size_t low = 0, high = rates->count;

    while (low < high && code.length == 3) {
        size_t middle = (low + high) / 2;
        int order = memcmp(code.data, rates->rows[middle].code, 3);
        if (order == 0) {
            return &rates->rows[middle];
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

bool rates_find(const struct rates *rates, struct text from, struct text to, struct conversion *conversion)
{
    const struct row *source = find_row(rates, from), *target = find_row(rates, to);

    if (source == NULL || target == NULL) {
        return false;
    }
    *conversion = conversion_make(source->rate, target->rate, amount_exponent(to));
    return true;
}

bool rates_first_warning(struct rates *rates)
{
    return !atomic_exchange(&rates->is_warned, true);
}
