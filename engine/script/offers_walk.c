#include "script/offers_walk.h"

#include "base/plain.h"
#include "base/redact.h"
#include "script/amount.h"
#include "script/bind_shape.h"
#include "script/calendar.h"
#include "script/offers_scope.h"
#include "script/plan_only.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char EXPECTED_CURRENCY[] = "currency of ISO 4217";

static const uint64_t KEY_START = 0xcbf29ce484222325ULL;

void walk_begin(struct walk *walk)
{
    walk->total_micros = 0;
    walk->shown_micros = 0;
    walk->scope = NULL;
    walk->is_in_price = false;
    walk->is_converted = false;
    walk->is_over = false;
    walk->is_hidden = false;
    walk->id = (struct text){ NULL, 0 };
    walk->currency[0] = '\0';
    walk->taxes_are_included = false;
    walk->taxes_are_excluded = false;
    walk->due_is_ours = false;
    walk->due_micros = 0;
    walk->due_shown_micros = 0;
    walk->due_count = 0;
    walk->mark_count = 0;
    for (size_t i = 0; i < walk->schema->facet_count; i++) {
        walk->longest[i] = -1;
    }
    walk->has_duration = false;
    walk->lacks_duration = false;
    walk->duration_min = 0;
    walk->key_hash = KEY_START;
    walk->has_key = false;
    walk->reason[0] = '\0';
}

struct walk_quote walk_quote(struct text text)
{
    struct walk_quote quote;
    quote.text[plain_strip(quote.text, redact_copy(quote.text, sizeof quote.text, text))] = '\0';
    return quote;
}

bool walk_failed(struct walk *walk, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)redact_vprint(walk->reason, sizeof walk->reason, format, arguments);
    va_end(arguments);
    return false;
}

void walk_describe(const struct walk *walk, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < walk->depth && length < size; i++) {
        const struct walk_step *step = &walk->steps[i];
        int added = step->name != NULL ? snprintf(out + length, size - length, "%s%s", i > 0 ? "." : "", step->name)
                                       : snprintf(out + length, size - length, "[%d]", step->index);
        length += added > 0 ? (size_t)added : 0;
    }
    if (length < size) {
        (void)snprintf(out + length, size - length, "%s%s", length > 0 ? ": " : "", walk->reason);
    }
}

static void enter_name(struct walk *walk, const char *name)
{
    walk->steps[walk->depth++] = (struct walk_step){ name, 0 };
}

static void enter_index(struct walk *walk, int index)
{
    walk->steps[walk->depth++] = (struct walk_step){ NULL, index };
}

// "local time expected, got "…"": the head of a text, or the kind of anything else.
static bool expected(struct walk *walk, const struct value *value, const char *what)
{
    struct text text = value_text(value);

    if (text.data == NULL) {
        return walk_failed(walk, "%s expected, got %s", what, value_what(value));
    }
    return walk_failed(walk, "%s expected, got \"%s\"", what, walk_quote(text).text);
}

static void add_key(struct walk *walk, struct text text)
{
    walk->key_hash = text_hash_on(walk->key_hash, text);
    walk->has_key = walk->has_key || text.data != NULL;
}

// ---- leaves --------------------------------------------------------------------------------------------------------

bool walk_note_leaf(struct walk *walk, const struct schema_field *field, struct text text)
{
    if (field->is_key) {
        add_key(walk, text);
    }
    return field->facet < 0 || walk_mark(walk, field->facet, text, true);
}

static bool write_checked(struct walk *walk, const struct schema_field *field, struct text text)
{
    walk_write_text(walk->out, text);
    return walk_note_leaf(walk, field, text);
}

static bool has_length(const struct schema_field *field, struct text text)
{
    return text.length <= (uint64_t)field->max && text.length >= (uint64_t)field->min;
}

static bool walk_text(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    struct text text = value_text(value);

    if (text.data == NULL) {
        return expected(walk, value, "text");
    }
    text = field->is_hidden || walk->is_hidden ? text : walk_stripped(walk, text);
    if (text.data == NULL) {
        return walk_failed(walk, "there is no memory for it");
    }
    if (!has_length(field, text)) {
        return walk_failed(walk, "text of %d to %d bytes expected, got %zu", (int)field->min, (int)field->max,
                           text.length);
    }
    text = walk_trimmed(field, text);
    if (field == walk->schema->id) {
        walk->id = text;
    }
    return write_checked(walk, field, text);
}

static bool integer_failed(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    char what[80];

    (void)snprintf(what, sizeof what, "whole number from %lld to %lld", (long long)field->min, (long long)field->max);
    if (value->kind == VALUE_NUMBER) {
        return walk_failed(walk, "%s expected, got %.14g", what, value->number);
    }
    struct text text = value_text(value);
    if (text.length > 1 && text.data[0] == 'P' && strstr(field->name, "_min") != NULL) {
        return walk_failed(walk, "%s expected, got \"%s\": time.minutes reads it, { \"duration\", time.minutes }", what,
                           walk_quote(text).text);
    }
    int64_t number;
    if (text.data != NULL && text_to_whole(text, 15, &number)) {
        return walk_failed(walk, "%s expected, got the text \"%s\": give it through tonumber", what,
                           walk_quote(text).text);
    }
    return expected(walk, value, what);
}

static bool walk_integer(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    char room[1 + DIGITS_MAX]; // a sign before them
    double number = value->kind == VALUE_NUMBER ? value->number : NAN;

    if (!(number >= (double)field->min && number <= (double)field->max) || number != (double)(int64_t)number) {
        return integer_failed(walk, field, value);
    }
    int64_t whole = (int64_t)number;
    struct text text = walk_digits(whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole, room + 1);
    if (whole < 0) {
        room[text.data - room - 1] = '-';
        text = (struct text){ text.data - 1, text.length + 1 };
    }
    if (field->adds_duration) {
        walk->duration_min += (uint64_t)whole;
        walk->has_duration = true;
    }
    if (field->is_key) {
        add_key(walk, text);
    }
    buffer_append_text(walk->out, text);
    return field->facet < 0 || walk_mark(walk, field->facet, text, false);
}

static bool walk_money(struct walk *walk, const struct schema_field *field, const struct value *value, int decimals)
{
    struct text text = value_text(value);
    char out[AMOUNT_TEXT_MAX];
    const char *why = NULL;
    int64_t micros = 0;

    if (value->kind == VALUE_NUMBER) {
        return walk_failed(walk,
                           "money as decimal text such as \"412.30\" expected, got a number: a float is an error");
    }
    if (text.data == NULL) {
        return expected(walk, value, "money as decimal text");
    }
    if (decimals < 0) {
        return walk_failed(walk, "an amount without a currency beside it");
    }
    if (!amount_parse(text, decimals, &micros, &why)) {
        return walk_failed(walk, "%s, got \"%s\"", why, walk_quote(text).text);
    }
    if (micros < 0) {
        return expected(walk, value, "an amount that is not negative");
    }
    if (field == walk->schema->total) {
        walk->total_micros = micros;
    }
    if (field == walk->schema->due_amount && walk->due_is_ours &&
        __builtin_add_overflow(walk->due_micros, micros, &walk->due_micros)) {
        return walk_failed(walk, "an amount out of range");
    }
    if (!price_show_amount(walk, field, &micros, &decimals)) {
        return false;
    }
    if (field == walk->schema->due_amount && price_is_like_total(walk)) {
        walk->due_shown_micros += micros <= INT64_MAX - walk->due_shown_micros ? micros : 0;
        walk->due_count++;
    }
    bool is_kept = !walk->scope->is_converted && amount_is_as_written(text, decimals);
    return write_checked(walk, field, is_kept ? text : (struct text){ out, amount_write(micros, decimals, out) });
}

static bool walk_currency(struct walk *walk, const struct schema_field *field, const struct value *value, int decimals)
{
    struct text text = value_text(value);
    bool is_of_amounts = decimals >= 0 && field == &walk->scope->object->fields[walk->scope->object->currency];

    if (text.data == NULL || (!is_of_amounts && amount_exponent(text) < 0)) { // its decimals are known else
        return expected(walk, value, EXPECTED_CURRENCY);
    }
    if (field == walk->schema->currency) {
        memcpy(walk->currency, text.data, 3);
        walk->currency[3] = '\0';
    }
    return write_checked(walk, field, price_show_currency(walk, field, text));
}

// Instants are told as UTC in one spelling, so their seconds are in the order of their texts.
static bool write_instant(struct walk *walk, const struct schema_field *field, struct text utc)
{
    if (field->ends && walk->now[0] != '\0' && memcmp(utc.data, walk->now, CALENDAR_LOCAL) < 0) {
        walk->is_over = true;
        if (walk->ended++ == 0) {
            walk_failed(walk, "%.*s was over when the answer came", TEXT_ARGS(utc));
            walk_describe(walk, walk->ended_first, sizeof walk->ended_first);
            walk->reason[0] = '\0';
        }
    }
    return write_checked(walk, field, utc);
}

static bool walk_time(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    struct text text = value_text(value);
    struct moment moment, utc;
    struct calendar_spelling spelling;
    char out[CALENDAR_TEXT_MAX];

    if (field->kind == SCHEMA_LOCAL_TIME && text.data != NULL && calendar_spell(text, &walk->days, &spelling) &&
        !spelling.has_offset) {
        return write_checked(walk, field, (struct text){ spelling.local, CALENDAR_LOCAL });
    }
    if (field->kind == SCHEMA_UTC_TIME && text.data != NULL && calendar_spell(text, &walk->days, &spelling) &&
        calendar_spell_utc(&spelling)) {
        return write_instant(walk, field, (struct text){ spelling.local, CALENDAR_LOCAL + 1 });
    }
    if (text.data != NULL && calendar_parse(text, &moment)) {
        if (field->kind == SCHEMA_DATE && !moment.has_time) {
            return write_checked(walk, field, (struct text){ out, calendar_write_date(&moment, out) });
        }
        if (field->kind == SCHEMA_LOCAL_TIME && moment.has_time && !moment.has_offset) {
            return write_checked(walk, field, (struct text){ out, calendar_write_local(&moment, out) });
        }
        if (field->kind == SCHEMA_UTC_TIME && moment.has_offset &&
            calendar_of_epoch_us(calendar_epoch_us(&moment), &utc)) {
            return write_instant(walk, field, (struct text){ out, calendar_write_utc(&utc, out) });
        }
    }
    return expected(walk, value,
                    field->kind == SCHEMA_DATE         ? "date such as 2027-05-03"
                    : field->kind == SCHEMA_LOCAL_TIME ? "local time without offset, such as 2027-05-03T20:05:00,"
                                                       : "time with Z or an offset");
}

static bool enum_failed(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    char choices[100] = "one of ";
    size_t length = strlen(choices);

    for (size_t i = 0; i < field->value_count && length < sizeof choices; i++) {
        int added =
            snprintf(choices + length, sizeof choices - length, "%s%s", i > 0 ? "|" : "", field->values[i].data);
        length += added > 0 ? (size_t)added : 0;
    }
    return expected(walk, value, choices);
}

static bool walk_enum(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    struct text text = value_text(value);

    for (size_t i = 0; i < field->value_count && text.data != NULL; i++) {
        if (text_equals(text, field->values[i])) {
            if (field == walk->schema->taxes_included) {
                walk->taxes_are_included = text_equals(text, TEXT("yes"));
                walk->taxes_are_excluded = text_equals(text, TEXT("no"));
            }
            return write_checked(walk, field, text);
        }
    }
    return enum_failed(walk, field, value);
}

// ---- objects and lists ---------------------------------------------------------------------------------------------

bool walk_absent(struct walk *walk, const struct schema_field *field)
{
    if (field->is_required) {
        enter_name(walk, field->name);
        const struct plan_node *map = walk->row != NULL ? walk->row->unmapped : NULL;
        if (map != NULL && text_equals_c(map->name, field->name)) {
            return walk_failed(walk, "required, but the map has nothing for \"%s\"",
                               walk_quote(walk->row->unmapped_key).text);
        }
        if (walk->row != NULL && walk->row->unasked != NULL && text_equals_c(walk->row->unasked->name, field->name)) {
            return walk_failed(walk, "required, but absent; what a map gives otherwise is for a value that it does not "
                                     "know: { \"path\", function(value) ... end }");
        }
        return walk_failed(walk, "required, but absent");
    }
    if (field->is_key) {
        add_key(walk, (struct text){ NULL, 0 });
    }
    walk->lacks_duration = walk->lacks_duration || field->adds_duration;
    return true;
}

// The decimals of the object's money; -1: it has none. False: its currency is none, told here and not at the amount.
static bool read_decimals(struct walk *walk, const struct schema_object *object, const struct value *values,
                          int *decimals)
{
    *decimals = -1;
    if (object->currency < 0) {
        return true;
    }
    const struct value *currency = &values[object->currency];
    bool is_target = text_equals(value_text(currency), walk->target);
    *decimals = is_target ? walk->target_decimals : amount_exponent(value_text(currency));
    if (*decimals < 0 && currency->kind != VALUE_ABSENT) {
        enter_name(walk, object->fields[object->currency].name);
        return expected(walk, currency, EXPECTED_CURRENCY);
    }
    walk->due_is_ours = text_equals(value_text(currency), walk_price_currency(walk));
    return true;
}

// A text without anything to say against it, as most are: name and text in one go. False: nothing has happened.
static bool write_plain_text(struct walk *walk, const struct schema_field *field, const struct value *value,
                             bool is_first)
{
    if (field->kind != SCHEMA_TEXT || value->kind != VALUE_TEXT || field->is_hidden ||
        !has_length(field, value->text)) {
        return false;
    }
    struct text text = walk_trimmed(field, value->text);
    if (!walk_write_plain(walk->out, field, text, is_first)) {
        return false;
    }
    if (field->is_key) {
        add_key(walk, text);
    }
    return true;
}

static bool mark_plain_text(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    enter_name(walk, field->name);
    if (!walk_mark(walk, field->facet, walk_trimmed(field, value->text), true)) {
        return false;
    }
    walk->depth--;
    return true;
}

bool walk_take_back(struct walk *walk, const struct schema_field *field, size_t start)
{
    bool is_over = walk->is_over && field->kind == SCHEMA_OBJECT && field->object->end >= 0;

    if (is_over) {
        walk->is_over = false;
    }
    if (is_over || field->is_hidden) {
        walk->out->length = start;
    }
    return is_over || field->is_hidden;
}

static bool walk_fields(struct walk *walk, const struct schema_object *object, const struct value *values, int decimals)
{
    bool is_first = true;

    for (size_t i = 0; i < object->count; i++) {
        const struct schema_field *field = &object->fields[i];
        if (values[i].kind == VALUE_ABSENT && !field->is_elapsed) {
            if (!walk_absent(walk, field)) {
                return false;
            }
            continue;
        }
        if (write_plain_text(walk, field, &values[i], is_first)) {
            is_first = false;
            if (field->facet >= 0 && !mark_plain_text(walk, field, &values[i])) {
                return false;
            }
            continue;
        }
        size_t start = walk->out->length;
        walk_write_key(walk->out, field, is_first);
        enter_name(walk, field->name);
        if (!walk_value(walk, field, &values[i], decimals)) {
            return false;
        }
        walk->depth--;
        is_first = walk_take_back(walk, field, start) && is_first;
    }
    if (is_first) {
        buffer_append_byte(walk->out, '{');
    }
    return true;
}

static bool walk_object(struct walk *walk, const struct schema_object *object, const struct value *value)
{
    int top = lua_gettop(walk->L);
    struct value values[SCHEMA_FIELDS_MAX];
    struct walk_scope scope;
    int decimals = -1;

    if (!walk_spread(walk, object, value, values)) {
        return false;
    }
    scope_enter(walk, &scope, object, values);
    if (!read_decimals(walk, object, values, &decimals) || !walk_fields(walk, object, values, decimals) ||
        !scope_leave(walk, &scope)) {
        return false;
    }
    buffer_append_byte(walk->out, '}');
    walk_let_go(walk, top);
    return true;
}

static bool walk_element(struct walk *walk, const struct schema_field *field, const struct value *value, size_t number)
{
    int top = lua_gettop(walk->L);

    if (number > 1) {
        buffer_append_byte(walk->out, ',');
    }
    enter_index(walk, (int)number);
    if (!walk_value(walk, field->element, value, -1)) {
        return false;
    }
    walk->depth--;
    walk_let_go(walk, top);
    return true;
}

static bool check_count(struct walk *walk, const struct schema_field *field, size_t count)
{
    return (count >= (size_t)field->min && count <= (size_t)field->max) ||
           walk_failed(walk, "%d to %d items expected, got %zu", (int)field->min, (int)field->max, count);
}

static bool walk_table_list(struct walk *walk, const struct schema_field *field, int index, size_t *count)
{
    lua_State *L = walk->L;
    int item = lua_gettop(L) + 1;

    *count = lua_objlen(L, index);
    if (!check_count(walk, field, *count)) {
        return false;
    }
    if (*count == 0) {
        lua_pushnil(L);
        if (lua_next(L, index) != 0) {
            return walk_failed(walk, "list expected, got fields");
        }
    }
    for (size_t i = 1; i <= *count; i++) {
        lua_rawgeti(L, index, (int)i);
        struct value value = walk_lua_value(L, item, lua_type(L, item));
        if (!walk_element(walk, field, &value, i)) {
            return false;
        }
        lua_pop(L, 1);
    }
    return true;
}

static bool walk_planned_list(struct walk *walk, const struct schema_field *field, const struct plan_node *list,
                              size_t *count)
{
    struct value value;

    while (plan_only_next(walk->row, list, plan_wants_text(field->element->kind), &value)) {
        if (++*count <= (size_t)field->max && !walk_element(walk, field, &value, *count)) {
            plan_row_note_failed(walk->row);
            plan_row_leave(walk->row, list);
            return false;
        }
    }
    return true;
}

static bool walk_list(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    size_t count = 0;

    buffer_append_byte(walk->out, '[');
    if (value->kind == VALUE_PLANNED ? !walk_planned_list(walk, field, value->node, &count)
                                     : !walk_table_list(walk, field, value->index, &count)) {
        return false;
    }
    if (!check_count(walk, field, count)) {
        return false;
    }
    if (field->facet >= 0 && (int64_t)count - field->facet_less > walk->longest[field->facet]) {
        walk->longest[field->facet] = (int64_t)count - field->facet_less;
    }
    buffer_append_byte(walk->out, ']');
    if (walk->has_key) {
        add_key(walk, TEXT("]")); // two lists are not one longer list
    }
    return true;
}

static bool walk_flag(struct walk *walk, const struct value *value)
{
    bool flag = value->index != 0;
    bool is_xml = walk->row != NULL && walk->row->plan->is_xml; // which knows text only

    if (value->kind != VALUE_FLAG && !(is_xml && value->kind == VALUE_TEXT && shape_is_flag(value->text, &flag))) {
        return expected(walk, value, "true or false");
    }
    buffer_append_text(walk->out, flag ? TEXT("true") : TEXT("false"));
    return true;
}

bool walk_value(struct walk *walk, const struct schema_field *field, const struct value *value, int decimals)
{
    bool is_list = field->kind == SCHEMA_LIST;

    switch (field->kind) {
    case SCHEMA_TEXT:
        return walk_text(walk, field, value);
    case SCHEMA_INTEGER:
        return field->is_elapsed ? times_elapsed(walk, field, value) : walk_integer(walk, field, value);
    case SCHEMA_FLAG:
        return walk_flag(walk, value);
    case SCHEMA_MONEY:
        return walk_money(walk, field, value, decimals);
    case SCHEMA_CURRENCY:
        return walk_currency(walk, field, value, decimals);
    case SCHEMA_LOCAL_TIME:
    case SCHEMA_UTC_TIME:
    case SCHEMA_DATE:
        return walk_time(walk, field, value);
    case SCHEMA_ENUM:
        return walk_enum(walk, field, value);
    case SCHEMA_LIST:
    case SCHEMA_OBJECT:
        break;
    }
    bool is_planned = value->kind == VALUE_PLANNED && plan_is_list(value) == is_list;
    if (value->kind != VALUE_TABLE && !is_planned) {
        return expected(walk, value, is_list ? "list" : "table with fields");
    }
    if (field->at >= 0) {
        return times_walk(walk, field, value);
    }
    return is_list ? walk_list(walk, field, value) : walk_object(walk, field->object, value);
}
