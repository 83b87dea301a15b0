#include "farm/query.h"
#include "base/json_read.h"
#include "farm/draw.h"

#include <string.h>

// Both shapes fill the same value; what a shape leaves out keeps the default. Unknown keys are skipped.

static int32_t day_of(int32_t year, int32_t month, int32_t day)
{
    // Howard Hinnant, "chrono-compatible low-level date algorithms".
    year -= month <= 2 ? 1 : 0;
    int32_t era = year / 400;
    int32_t year_of_era = year - era * 400;
    int32_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int32_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void write_digits(char *out, int32_t value, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

void query_write_date(int32_t day, char out[10])
{
    int32_t shifted = day + 719468;
    int32_t era = shifted / 146097;
    int32_t day_of_era = shifted - era * 146097;
    int32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int32_t shifted_month = (5 * day_of_year + 2) / 153;
    int32_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;

    write_digits(out, year_of_era + era * 400 + (month <= 2 ? 1 : 0), 4);
    out[4] = '-';
    write_digits(out + 5, month, 2);
    out[7] = '-';
    write_digits(out + 8, day_of_year - (153 * shifted_month + 2) / 5 + 1, 2);
}

static bool read_letters(struct text text, char out[4])
{
    if (text.length != 3) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (text.data[i] < 'A' || text.data[i] > 'Z') {
            return false;
        }
        out[i] = text.data[i];
    }
    out[3] = '\0';
    return true;
}

bool query_read_date(struct text text, int32_t *day)
{
    uint64_t year, month, of_month;
    char back[10];

    if (text.length != 10 || text.data[4] != '-' || text.data[7] != '-' ||
        !text_to_u64((struct text){ text.data, 4 }, &year) || !text_to_u64((struct text){ text.data + 5, 2 }, &month) ||
        !text_to_u64((struct text){ text.data + 8, 2 }, &of_month)) {
        return false;
    }
    if (year < 2000 || year > 2199 || month < 1 || month > 12 || of_month < 1) {
        return false;
    }
    *day = day_of((int32_t)year, (int32_t)month, (int32_t)of_month);
    query_write_date(*day, back); // 30 February comes back as another day
    return memcmp(back, text.data, 10) == 0;
}

static bool add_slice(struct query *query, struct text from, struct text to, struct text date)
{
    if (query->slice_count == QUERY_SLICES_MAX) {
        return false;
    }
    struct query_slice *slice = &query->slices[query->slice_count];
    if (!read_letters(from, slice->from) || !read_letters(to, slice->to) || !query_read_date(date, &slice->day) ||
        memcmp(slice->from, slice->to, 3) == 0) {
        return false;
    }
    query->slice_count++;
    return true;
}

static bool read_trip(struct query *query, struct json_reader *reader)
{
    if (json_next(reader) != JSON_BEGIN_ARRAY) {
        return false;
    }
    for (;;) {
        enum json_token token = json_next(reader);
        if (token == JSON_END_ARRAY) {
            return true;
        }
        if (token != JSON_BEGIN_OBJECT) {
            return false;
        }
        struct text from = { 0 }, to = { 0 }, date = { 0 };
        while ((token = json_next(reader)) == JSON_KEY) {
            struct text key = reader->value;
            if (json_next(reader) != JSON_STRING) {
                return false;
            }
            if (text_equals_c(key, "from")) {
                from = reader->value;
            } else if (text_equals_c(key, "to")) {
                to = reader->value;
            } else if (text_equals_c(key, "date")) {
                date = reader->value;
            }
        }
        if (token != JSON_END_OBJECT || !add_slice(query, from, to, date)) {
            return false;
        }
    }
}

static bool read_travellers(struct query *query, struct json_reader *reader)
{
    uint64_t party = 0;
    enum json_token token;

    if (json_next(reader) != JSON_BEGIN_OBJECT) {
        return false;
    }
    while ((token = json_next(reader)) == JSON_KEY) {
        uint64_t count;
        if (json_next(reader) != JSON_NUMBER || !text_to_u64(reader->value, &count) || count > QUERY_PARTY_MAX) {
            return false;
        }
        party += count;
    }
    query->party = (uint8_t)(party <= QUERY_PARTY_MAX ? party : 0);
    return token == JSON_END_OBJECT && query->party > 0;
}

static bool read_pax(struct query *query, struct text pax)
{
    unsigned party = 0;

    if (pax.length == 0 || pax.length % 4 != 0) {
        return false;
    }
    for (size_t i = 0; i < pax.length; i += 4) {
        if (pax.data[i] < '0' || pax.data[i] > '9') {
            return false;
        }
        party += (unsigned)(pax.data[i] - '0');
    }
    query->party = (uint8_t)(party <= QUERY_PARTY_MAX ? party : 0);
    return query->party > 0;
}

static bool read_od(struct query *query, struct json_reader *reader)
{
    enum json_token token;

    if (json_next(reader) != JSON_BEGIN_ARRAY) {
        return false;
    }
    while ((token = json_next(reader)) == JSON_STRING) {
        struct text to_and_date, date;
        struct text from = text_split(reader->value, '-', &to_and_date);
        struct text to = text_split(to_and_date, '-', &date);
        if (!add_slice(query, from, to, date)) {
            return false;
        }
    }
    return token == JSON_END_ARRAY;
}

static bool read_cabin(struct query *query, struct text word)
{
    static const char *const names[][2] = {
        { "economy", "Y" }, { "premium", "W" }, { "business", "C" }, { "first", "F" }
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (text_equals_c(word, names[i][0]) || text_equals_c(word, names[i][1])) {
            query->cabin = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool read_member(struct query *query, enum query_shape shape, struct json_reader *reader, const char **why)
{
    struct text key = reader->value;

    if (shape == QUERY_SHAPE_A && text_equals_c(key, "trip")) {
        *why = "trip: a list of 1 to 6 {from, to, date} is expected";
        return read_trip(query, reader);
    }
    if (shape == QUERY_SHAPE_A && text_equals_c(key, "travellers")) {
        *why = "travellers: 1 to 9 are expected";
        return read_travellers(query, reader);
    }
    if (shape == QUERY_SHAPE_B && text_equals_c(key, "od")) {
        *why = "od: a list of 1 to 6 FROM-TO-DATE is expected";
        return read_od(query, reader);
    }
    enum json_token token = json_next(reader);
    if (text_equals_c(key, shape == QUERY_SHAPE_A ? "cabin" : "class")) {
        *why = "the cabin is unknown";
        return token == JSON_STRING && read_cabin(query, reader->value);
    }
    if (text_equals_c(key, shape == QUERY_SHAPE_A ? "currency" : "cur")) {
        *why = "the currency is no code of three letters";
        return token == JSON_STRING && read_letters(reader->value, query->currency);
    }
    if (shape == QUERY_SHAPE_B && text_equals_c(key, "pax")) {
        *why = "pax: 1 to 9 travellers like 2ADT1CHD are expected";
        return token == JSON_STRING && read_pax(query, reader->value);
    }
    *why = "the body is no JSON";
    return json_skip(reader, token);
}

bool query_read(struct query *query, enum query_shape shape, struct text body, const char **why)
{
    struct json_reader reader;
    enum json_token token;

    memset(query, 0, sizeof(*query));
    query->party = 1;
    memcpy(query->currency, "EUR", 4);
    json_reader_init(&reader, body);
    *why = "the body is no JSON object";
    if (json_next(&reader) != JSON_BEGIN_OBJECT) {
        return false;
    }
    while ((token = json_next(&reader)) == JSON_KEY) {
        if (!read_member(query, shape, &reader, why)) {
            return false;
        }
    }
    *why = "the body is no JSON object";
    if (token != JSON_END_OBJECT || json_next(&reader) != JSON_END) {
        return false;
    }
    *why = "the journey is missing";
    return query_finish(query);
}

bool query_finish(struct query *query)
{
    uint64_t hash = draw_mix(query->party, query->cabin);
    hash = draw_mix(hash, text_hash((struct text){ query->currency, 3 }));
    for (unsigned i = 0; i < query->slice_count; i++) {
        struct query_slice *slice = &query->slices[i];
        hash = draw_mix(hash, text_hash((struct text){ slice->from, 3 }));
        hash = draw_mix(hash, text_hash((struct text){ slice->to, 3 }) + (uint32_t)slice->day);
    }
    query->hash = hash;
    return query->slice_count > 0;
}

bool query_equals(const struct query *a, const struct query *b)
{
    bool is_same = a->hash == b->hash && a->slice_count == b->slice_count && a->party == b->party &&
                   a->cabin == b->cabin && memcmp(a->currency, b->currency, sizeof(a->currency)) == 0;

    for (unsigned i = 0; i < a->slice_count && is_same; i++) {
        const struct query_slice *x = &a->slices[i], *y = &b->slices[i];
        is_same = x->day == y->day && memcmp(x->from, y->from, sizeof(x->from)) == 0 &&
                  memcmp(x->to, y->to, sizeof(x->to)) == 0;
    }
    return is_same;
}
