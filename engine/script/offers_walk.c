#include "script/offers_walk.h"
#include "script/offers_scope.h"

#include "script/amount.h"
#include "script/bind_support.h"
#include "script/calendar.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUOTE_MAX = 40 }; // of a value in a reason

static const char EXPECTED_CURRENCY[] = "currency of ISO 4217";

static const uint64_t FNV_START = 0xcbf29ce484222325ULL;
static const uint64_t FNV_PRIME = 0x100000001b3ULL;

void walk_begin(struct walk *walk)
{
    walk->total_micros = 0;
    walk->shown_micros = 0;
    walk->scope = NULL;
    walk->is_in_price = false;
    walk->is_converted = false;
    walk->id = (struct text){ NULL, 0 };
    walk->currency[0] = '\0';
    walk->taxes_are_included = false;
    walk->taxes_are_excluded = false;
    walk->due_is_ours = false;
    walk->due_micros = 0;
    walk->mark_count = 0;
    for (size_t i = 0; i < walk->schema->facet_count; i++) {
        walk->longest[i] = -1;
    }
    walk->has_duration = false;
    walk->lacks_duration = false;
    walk->duration_min = 0;
    walk->key_hash = FNV_START;
    walk->has_key = false;
    walk->reason[0] = '\0';
}

bool walk_failed(struct walk *walk, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(walk->reason, sizeof walk->reason, format, arguments);
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

// "local time expected, got "…"": the head of a text, or the type of anything else.
static bool expected(struct walk *walk, int index, const char *what)
{
    struct text text = bind_to_text(walk->L, index);

    if (text.data == NULL) {
        return walk_failed(walk, "%s expected, got %s", what, luaL_typename(walk->L, index));
    }
    int shown = text.length < QUOTE_MAX ? (int)text.length : QUOTE_MAX;
    return walk_failed(walk, "%s expected, got \"%.*s\"", what, shown, text.data);
}

static void add_key(struct walk *walk, struct text text)
{
    uint64_t hash = walk->key_hash;

    for (size_t i = 0; i < text.length; i++) {
        hash = (hash ^ (unsigned char)text.data[i]) * FNV_PRIME;
    }
    walk->key_hash = (hash ^ 0x1f) * FNV_PRIME; // an end that no text contains
    walk->has_key = walk->has_key || text.data != NULL;
}

// ---- leaves --------------------------------------------------------------------------------------------------------

static bool write_checked(struct walk *walk, const struct schema_field *field, struct text text)
{
    if (field->is_key) {
        add_key(walk, text);
    }
    walk_write_text(walk->out, text);
    return field->facet < 0 || walk_mark(walk, field->facet, text, true);
}

bool walk_write_leaf(struct walk *walk, const struct schema_field *field, struct text text)
{
    return write_checked(walk, field, text);
}

static bool walk_text(struct walk *walk, const struct schema_field *field, int index, struct text text)
{
    if (text.data == NULL) {
        return expected(walk, index, "text");
    }
    if (text.length > (uint64_t)field->max || text.length < (uint64_t)field->min) {
        return walk_failed(walk, "text of %d to %d bytes expected, got %zu", (int)field->min, (int)field->max,
                           text.length);
    }
    while (field->trims_zeros && text.length > 1 && text.data[0] == '0') {
        text.data++;
        text.length--;
    }
    if (field == walk->schema->id) {
        walk->id = text;
    }
    return write_checked(walk, field, text);
}

static bool integer_failed(struct walk *walk, const struct schema_field *field, int index)
{
    char what[80];

    (void)snprintf(what, sizeof what, "whole number from %lld to %lld", (long long)field->min, (long long)field->max);
    if (lua_type(walk->L, index) == LUA_TNUMBER) {
        return walk_failed(walk, "%s expected, got %.14g", what, lua_tonumber(walk->L, index));
    }
    return expected(walk, index, what);
}

static bool walk_integer(struct walk *walk, const struct schema_field *field, int index, int type)
{
    char digits[24];
    double value = type == LUA_TNUMBER ? lua_tonumber(walk->L, index) : NAN;
    size_t length = 0;

    if (!(value >= (double)field->min && value <= (double)field->max) || value != floor(value)) {
        return integer_failed(walk, field, index);
    }
    int64_t whole = (int64_t)value;
    uint64_t rest = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    do {
        digits[sizeof digits - ++length] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (whole < 0) {
        digits[sizeof digits - ++length] = '-';
    }
    struct text text = { digits + sizeof digits - length, length };
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

static bool walk_money(struct walk *walk, const struct schema_field *field, int index, struct text text, int decimals)
{
    char out[AMOUNT_TEXT_MAX];
    const char *why = NULL;
    int64_t micros = 0;

    if (text.data == NULL && lua_type(walk->L, index) == LUA_TNUMBER) {
        return walk_failed(walk,
                           "money as decimal text such as \"412.30\" expected, got a number: a float is an error");
    }
    if (text.data == NULL) {
        return expected(walk, index, "money as decimal text");
    }
    if (decimals < 0) {
        return walk_failed(walk, "an amount without a currency beside it");
    }
    if (!amount_parse(text, decimals, &micros, &why)) {
        return walk_failed(walk, "%s, got \"%.*s\"", why, text.length < QUOTE_MAX ? (int)text.length : QUOTE_MAX,
                           text.data);
    }
    if (micros < 0) {
        return expected(walk, index, "an amount that is not negative");
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
    return write_checked(walk, field, (struct text){ out, amount_write(micros, decimals, out) });
}

static bool walk_currency(struct walk *walk, const struct schema_field *field, int index, struct text text)
{
    if (text.data == NULL || amount_exponent(text) < 0) {
        return expected(walk, index, EXPECTED_CURRENCY);
    }
    if (field == walk->schema->currency) {
        memcpy(walk->currency, text.data, 4);
    }
    return write_checked(walk, field, price_show_currency(walk, field, text));
}

static bool walk_time(struct walk *walk, const struct schema_field *field, int index, struct text text)
{
    struct moment moment, utc;
    struct calendar_spelling spelling;
    char out[CALENDAR_TEXT_MAX];

    if (field->kind == SCHEMA_LOCAL_TIME && text.data != NULL && calendar_spell(text, &spelling) &&
        !spelling.has_offset) {
        return write_checked(walk, field, (struct text){ spelling.local, CALENDAR_LOCAL });
    }
    if (field->kind == SCHEMA_UTC_TIME && text.data != NULL && calendar_spell(text, &spelling) &&
        calendar_spell_utc(&spelling)) {
        return write_checked(walk, field, (struct text){ spelling.local, CALENDAR_LOCAL + 1 });
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
            return write_checked(walk, field, (struct text){ out, calendar_write_utc(&utc, out) });
        }
    }
    return expected(walk, index,
                    field->kind == SCHEMA_DATE         ? "date such as 2027-05-03"
                    : field->kind == SCHEMA_LOCAL_TIME ? "local time without offset, such as 2027-05-03T20:05:00,"
                                                       : "time with Z or an offset");
}

static bool enum_failed(struct walk *walk, const struct schema_field *field, int index)
{
    char choices[100] = "one of ";
    size_t length = strlen(choices);

    for (size_t i = 0; i < field->value_count && length < sizeof choices; i++) {
        int added =
            snprintf(choices + length, sizeof choices - length, "%s%s", i > 0 ? "|" : "", field->values[i].data);
        length += added > 0 ? (size_t)added : 0;
    }
    return expected(walk, index, choices);
}

static bool walk_enum(struct walk *walk, const struct schema_field *field, int index, struct text text)
{
    for (size_t i = 0; i < field->value_count && text.data != NULL; i++) {
        if (text.length == field->values[i].length && memcmp(text.data, field->values[i].data, text.length) == 0) {
            if (field == walk->schema->taxes_included) {
                walk->taxes_are_included = text_equals(text, TEXT("yes"));
                walk->taxes_are_excluded = text_equals(text, TEXT("no"));
            }
            return write_checked(walk, field, text);
        }
    }
    return enum_failed(walk, field, index);
}
// ---- tables --------------------------------------------------------------------------------------------------------

// Says what was probably meant, and which required field is not there; without either, which fields there are.
static bool walk_unknown(struct walk *walk, const struct schema_object *object, int index, const char *name)
{
    lua_State *L = walk->L;
    const char *names[SCHEMA_FIELDS_MAX];
    const char *missing = NULL;
    char rest[sizeof(walk->reason)] = "";
    size_t length = 0;

    for (size_t i = 0; i < object->count; i++) {
        names[i] = object->fields[i].name;
        lua_pushstring(L, names[i]);
        lua_rawget(L, index);
        if (missing == NULL && object->fields[i].is_required && lua_isnil(L, -1)) {
            missing = names[i];
        }
        lua_pop(L, 1);
    }
    const char *nearest = text_nearest(text_of(name), names, object->count);
    if (nearest != NULL) {
        snprintf(rest, sizeof(rest), "did you mean \"%s\"?", nearest);
    } else if (missing != NULL) {
        snprintf(rest, sizeof(rest), "\"%s\" is required, but absent", missing);
    }
    for (size_t i = 0; nearest == NULL && missing == NULL && i < object->count && length < sizeof(rest); i++) {
        length +=
            (size_t)snprintf(rest + length, sizeof(rest) - length, "%s%s", i == 0 ? "there are " : ", ", names[i]);
    }
    if (price_is_reserved(walk, object, name)) {
        return walk_failed(walk, "\"%s\" is the engine's to write: prices are converted once, and not by scripts",
                           name);
    }
    if (nearest != NULL && missing != NULL && strcmp(nearest, missing) != 0) {
        return walk_failed(walk, "unknown field \"%.40s\"; %s \"%s\" is required, but absent", name, rest, missing);
    }
    return walk_failed(walk, "unknown field \"%.40s\"; %s", name, rest);
}

// Field by field: for tables with a metatable, and to find what is wrong. The slots are there, and nil.
static bool spread_slowly(struct walk *walk, const struct schema_object *object, int index, int base)
{
    lua_State *L = walk->L;

    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            return walk_failed(walk, "fields expected, got a list");
        }
        const char *name = lua_tostring(L, -2);
        const struct schema_field *field = schema_find(object, name);
        if (field == NULL) {
            lua_pop(L, 2);
            return walk_unknown(walk, object, index, name);
        }
        lua_replace(L, base + (int)(field - object->fields));
    }
    return true;
}

static lua_Integer read_types(lua_State *L, const struct schema_object *object, int base,
                              int8_t types[SCHEMA_FIELDS_MAX])
{
    lua_Integer present = 0;

    for (size_t i = 0; i < object->count; i++) {
        types[i] = (int8_t)lua_type(L, base + (int)i);
        present += types[i] != LUA_TNIL ? 1 : 0;
    }
    return present;
}

// When the table has as many fields as the schema found in it, it has no others.
int walk_spread(struct walk *walk, const struct schema_object *object, int index, int8_t types[SCHEMA_FIELDS_MAX])
{
    lua_State *L = walk->L;
    int base = lua_gettop(L) + 2;

    if (!lua_checkstack(L, (int)object->count + 8)) {
        walk_failed(walk, "nested too deeply");
        return 0;
    }
    if (lua_getmetatable(L, index) == 0) {
        lua_rawgeti(L, walk->readers, object->reader);
        lua_pushvalue(L, index);
        lua_call(L, 1, (int)object->count + 1);
        if (read_types(L, object, base, types) == lua_tointeger(L, base - 1)) {
            return base;
        }
    }
    lua_settop(L, base - 1);
    lua_settop(L, base - 1 + (int)object->count);
    if (!spread_slowly(walk, object, index, base)) {
        return 0;
    }
    (void)read_types(L, object, base, types);
    return base;
}

bool walk_absent(struct walk *walk, const struct schema_field *field)
{
    if (field->is_required) {
        enter_name(walk, field->name);
        return walk_failed(walk, "required, but absent");
    }
    if (field->is_key) {
        add_key(walk, (struct text){ NULL, 0 });
    }
    walk->lacks_duration = walk->lacks_duration || field->adds_duration;
    return true;
}

static bool walk_object(struct walk *walk, const struct schema_object *object, int index)
{
    lua_State *L = walk->L;
    int top = lua_gettop(L);
    int8_t types[SCHEMA_FIELDS_MAX];
    int base = walk_spread(walk, object, index, types);
    int decimals = -1;
    bool is_first = true;
    struct walk_scope scope;

    if (base == 0) {
        return false;
    }
    scope_enter(walk, &scope, object, base, types);
    if (object->currency >= 0) {
        decimals = amount_exponent(bind_to_text(L, base + object->currency));
        if (decimals < 0 && types[object->currency] != LUA_TNIL) { // told here, not at the amount that needs it
            enter_name(walk, object->fields[object->currency].name);
            return expected(walk, base + object->currency, EXPECTED_CURRENCY);
        }
        walk->due_is_ours = text_equals_c(bind_to_text(L, base + object->currency), walk->currency);
    }
    for (size_t i = 0; i < object->count; i++) {
        const struct schema_field *field = &object->fields[i];
        if (types[i] == LUA_TNIL && !field->is_elapsed) {
            if (!walk_absent(walk, field)) {
                return false;
            }
            continue;
        }
        size_t start = walk->out->length;
        walk_write_key(walk->out, field, is_first);
        enter_name(walk, field->name);
        if (!walk_value(walk, field, base + (int)i, types[i], decimals)) {
            return false;
        }
        walk->depth--;
        if (field->is_hidden) {
            walk->out->length = start;
        } else {
            is_first = false;
        }
    }
    if (is_first) {
        buffer_append_byte(walk->out, '{');
    }
    if (!scope_leave(walk, &scope)) {
        return false;
    }
    buffer_append_byte(walk->out, '}');
    lua_settop(L, top);
    return true;
}

static bool walk_list(struct walk *walk, const struct schema_field *field, int index)
{
    lua_State *L = walk->L;
    size_t count = lua_objlen(L, index);

    if (count < (size_t)field->min || count > (size_t)field->max) {
        return walk_failed(walk, "%d to %d items expected, got %zu", (int)field->min, (int)field->max, count);
    }
    if (count == 0) {
        lua_pushnil(L);
        if (lua_next(L, index) != 0) {
            return walk_failed(walk, "list expected, got fields");
        }
    }
    if (field->facet >= 0 && (int64_t)count - field->facet_less > walk->longest[field->facet]) {
        walk->longest[field->facet] = (int64_t)count - field->facet_less;
    }
    int item = lua_gettop(L) + 1;
    buffer_append_byte(walk->out, '[');
    for (size_t i = 1; i <= count; i++) {
        if (i > 1) {
            buffer_append_byte(walk->out, ',');
        }
        enter_index(walk, (int)i);
        lua_rawgeti(L, index, (int)i);
        if (!walk_value(walk, field->element, item, lua_type(L, item), -1)) {
            return false;
        }
        lua_pop(L, 1);
        walk->depth--;
    }
    buffer_append_byte(walk->out, ']');
    if (walk->has_key) {
        add_key(walk, TEXT("]")); // two lists are not one longer list
    }
    return true;
}

bool walk_value(struct walk *walk, const struct schema_field *field, int index, int type, int decimals)
{
    struct text text = type == LUA_TSTRING ? bind_text_at(walk->L, index) : (struct text){ NULL, 0 };

    switch (field->kind) {
    case SCHEMA_TEXT:
        return walk_text(walk, field, index, text);
    case SCHEMA_INTEGER:
        return field->is_elapsed ? times_elapsed(walk, field, index, type) : walk_integer(walk, field, index, type);
    case SCHEMA_FLAG:
        if (type != LUA_TBOOLEAN) {
            return expected(walk, index, "true or false");
        }
        buffer_append_text(walk->out, lua_toboolean(walk->L, index) ? TEXT("true") : TEXT("false"));
        return true;
    case SCHEMA_MONEY:
        return walk_money(walk, field, index, text, decimals);
    case SCHEMA_CURRENCY:
        return walk_currency(walk, field, index, text);
    case SCHEMA_LOCAL_TIME:
    case SCHEMA_UTC_TIME:
    case SCHEMA_DATE:
        return walk_time(walk, field, index, text);
    case SCHEMA_ENUM:
        return walk_enum(walk, field, index, text);
    case SCHEMA_LIST:
    case SCHEMA_OBJECT:
        break;
    }
    if (type != LUA_TTABLE && !bind_unwrap(walk->L, index)) {
        return expected(walk, index, field->kind == SCHEMA_LIST ? "list" : "table with fields");
    }
    if (field->at >= 0) {
        return times_walk(walk, field, index);
    }
    return field->kind == SCHEMA_LIST ? walk_list(walk, field, index) : walk_object(walk, field->object, index);
}
