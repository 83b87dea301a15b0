#include "script/bind_support.h"
#include "script/calendar.h"
#include "script/offers_scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A day is the usual mistake, so what is further off than half of one is a wrong date and not another clock.
enum { ZONED_LOCAL, ZONED_ZONE, ZONED_UTC, ELAPSED_OFF_MAX = 12 * 60 };

struct clock_time {
    struct calendar_spelling spelling;
    bool is_spelled; // in the usual way: the spelling has the offset's minutes too
};

// False: it is no clock time, or has an offset (then `has_offset` of the spelling is set, and the rest is there).
static bool read_clock(struct walk *walk, struct text text, struct clock_time *time)
{
    struct calendar_spelling *spelling = &time->spelling;
    struct moment moment;

    spelling->has_offset = false;
    spelling->offset_min = 0;
    time->is_spelled = calendar_spell(text, &walk->days, spelling);
    if (!time->is_spelled) {
        if (!calendar_parse(text, &moment) || !moment.has_time) {
            return false;
        }
        char out[CALENDAR_TEXT_MAX];
        (void)calendar_write_local(&moment, out);
        memcpy(spelling->local, out, CALENDAR_LOCAL);
        spelling->has_offset = moment.has_offset;
        spelling->local_s = moment.days * 86400 + (int64_t)(moment.hour * 3600 + moment.minute * 60 + moment.second);
    }
    spelling->local[CALENDAR_LOCAL] = 0;
    return !spelling->has_offset;
}

// ---- which instant -------------------------------------------------------------------------------------------------

// The last instant before this one; false: there is none.
static bool instant_before(const struct walk_scope *scope, int64_t *instant_s)
{
    for (; scope != NULL; scope = scope->outer) {
        if (scope->has_times) {
            *instant_s = scope->last_s;
            return true;
        }
    }
    return false;
}

// The instants of a zoned time of the scope that has not been walked yet; how many.
static size_t look_ahead(struct walk *walk, const struct schema_field *field, int64_t instants[2])
{
    const struct walk_scope *scope = walk->scope;
    const struct value *value = &scope->values[field - scope->object->fields];
    struct clock_time time;
    const struct zone *zone = places_zone(walk->places, value_text(&scope->values[field->at]));
    struct text text = zone != NULL ? walk_peek(walk, field->object, value, ZONED_LOCAL) : (struct text){ NULL, 0 };

    return text.data != NULL && read_clock(walk, text, &time) ? zone_instants(zone, time.spelling.local_s, instants)
                                                              : 0;
}

// Does the candidate agree with the minutes told, and with the times of its object?
static bool agrees(struct walk *walk, const struct schema_field *field, int64_t candidate_s, int64_t told_s)
{
    const struct walk_scope *scope = walk->scope;
    const struct schema_object *object = scope->object;
    int64_t ends[2];

    if (scope->has_times) {
        return candidate_s - scope->first_s == told_s;
    }
    for (const struct schema_field *other = object->fields + object->count; --other > field;) {
        size_t count = other->at >= 0 ? look_ahead(walk, other, ends) : 0;
        for (size_t i = 0; i < count; i++) {
            if (ends[i] - candidate_s == told_s) {
                return true;
            }
        }
    }
    return false;
}

static int64_t choose(struct walk *walk, const struct schema_field *field, const int64_t candidates[2])
{
    const struct walk_scope *scope = walk->scope;
    int64_t before_s = 0;
    int slot = scope->object->elapsed;

    if (slot >= 0 && scope->values[slot].kind == VALUE_NUMBER) {
        int64_t told_s = (int64_t)scope->values[slot].number * 60;
        for (int i = 0; i < 2; i++) {
            if (agrees(walk, field, candidates[i], told_s)) {
                return candidates[i];
            }
        }
    }
    bool is_late = instant_before(scope, &before_s) && candidates[0] < before_s;
    return candidates[is_late ? 1 : 0];
}

// ---- one time ------------------------------------------------------------------------------------------------------

// `format` shows the head of `a`, then `b`.
static bool failed_at(struct walk *walk, const char *name, const char *format, struct text a, const char *b)
{
    walk->steps[walk->depth++] = (struct walk_step){ name, 0 };
    return walk_failed(walk, format, walk_quote(a).text, b);
}

static const struct zone *find_zone(struct walk *walk, const struct schema_field *field)
{
    const struct schema_field *place = &walk->scope->object->fields[field->at];
    struct text code = value_text(&walk->scope->values[field->at]);
    const struct zone *zone = walk->places != NULL && code.data != NULL ? places_zone(walk->places, code) : NULL;

    if (zone == NULL) {
        bool is_small = code.length > 0 && code.data[0] >= 'a' && code.data[0] <= 'z';
        const char *hint = walk->places == NULL ? ""
                           : is_small           ? "; airports are capitals"
                                                : "; scripts/data/airports.txt has those that are";
        walk->depth--; // the place is beside the time
        (void)failed_at(walk, place->name,
                        walk->places == NULL ? "\"%s\" has no time zone: no table of places was loaded%s"
                                             : "\"%s\" is a place whose time zone is not known%s",
                        code, hint);
    }
    return zone;
}

static bool read_told(struct walk *walk, const struct schema_field *field, struct text text, int64_t *told_s)
{
    struct moment moment;

    if (!calendar_parse(text, &moment) || !moment.has_time || !moment.has_offset) {
        return failed_at(walk, field->object->fields[ZONED_UTC].name, "time with Z or an offset expected, got \"%s\"%s",
                         text, "");
    }
    *told_s = calendar_epoch_us(&moment) / 1000000;
    return true;
}

// What the script says of the instant must be one of the candidates, which then is the one.
static bool check_told(struct walk *walk, const struct schema_field *field, struct text text, int64_t told_s,
                       int64_t candidates[2], size_t *count)
{
    const char *name = field->object->fields[ZONED_UTC].name;
    struct moment moment;

    for (size_t i = 0; i < *count; i++) {
        if (candidates[i] == told_s) {
            candidates[0] = told_s;
            *count = 1;
            return true;
        }
    }
    char ours[CALENDAR_TEXT_MAX] = "";
    if (calendar_of_epoch_us(candidates[0] * 1000000, &moment)) {
        (void)calendar_write_utc(&moment, ours);
    }
    return failed_at(walk, name, "\"%s\" does not agree with the clocks of the place, by which it is %s", text, ours);
}

static bool check_zone(struct walk *walk, const struct schema_field *field, struct text told, const struct zone *zone,
                       int64_t instant_s)
{
    const struct zone *other = NULL;

    if (text_equals(told, zone_name(zone))) {
        return true;
    }
    other = places_zone_named(walk->places, told); // one that is not known, such as an old name, is passed over
    if (other == NULL || zone_offset(other, instant_s) == zone_offset(zone, instant_s)) {
        return true;
    }
    return failed_at(walk, field->object->fields[ZONED_ZONE].name,
                     "\"%s\" has other clocks than the place, whose zone is %s", told, zone_name(zone).data);
}

// `,"name":"text"`, where the text needs no escapes.
static char *put_field(char *at, const struct schema_field *field, struct text text)
{
    at = text_put(at, field->key_json);
    *at++ = '"';
    at = text_put(at, text);
    *at++ = '"';
    return at;
}

static bool write_time(struct walk *walk, const struct schema_field *field, struct clock_time *time,
                       const struct zone *zone, int64_t instant_s)
{
    const struct schema_field *fields = field->object->fields;
    struct calendar_spelling utc = time->spelling;
    int64_t offset_s = time->spelling.local_s - instant_s;
    char out[CALENDAR_TEXT_MAX];
    struct moment moment;
    struct text text = { utc.local, CALENDAR_LOCAL + 1 };
    struct text local = { time->spelling.local, CALENDAR_LOCAL };

    utc.has_offset = true;
    utc.offset_min = (int32_t)(offset_s / 60);
    if (offset_s % 60 != 0 || !calendar_spell_utc(&utc)) {
        if (!calendar_of_epoch_us(instant_s * 1000000, &moment)) {
            return walk_failed(walk, "a time of the years 1 to 9999 expected");
        }
        text = (struct text){ out, calendar_write_utc(&moment, out) };
    }
    size_t length = fields[ZONED_LOCAL].key_json.length + fields[ZONED_ZONE].key_json.length +
                    fields[ZONED_UTC].key_json.length + local.length + zone_name(zone).length + text.length + 7;
    bool has_room = walk->out->capacity - walk->out->length >= length;
    if (has_room || buffer_reserve(walk->out, length)) { // a full buffer is told at the end
        char *start = walk->out->data + walk->out->length;
        char *at = put_field(start, &fields[ZONED_LOCAL], local);
        at = put_field(at, &fields[ZONED_ZONE], zone_name(zone));
        at = put_field(at, &fields[ZONED_UTC], text);
        *start = '{';
        *at = '}';
        walk->out->length += length;
    }
    return walk_note_leaf(walk, &fields[ZONED_LOCAL], local);
}

static void note_instant(struct walk_scope *scope, int64_t instant_s)
{
    scope->first_s = scope->has_times ? scope->first_s : instant_s;
    scope->last_s = instant_s;
    scope->has_times = true;
}

bool times_walk(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    const struct schema_object *object = field->object;
    const char *local_name = object->fields[ZONED_LOCAL].name;
    struct value values[SCHEMA_FIELDS_MAX];
    int64_t candidates[2] = { 0, 0 };
    struct clock_time time;

    if (!walk_spread(walk, object, value, values)) {
        return false;
    }
    struct text local = value_text(&values[ZONED_LOCAL]), zone_told = value_text(&values[ZONED_ZONE]);
    struct text utc_told = value_text(&values[ZONED_UTC]);
    int64_t told_s = 0;
    bool is_read = false; // told_s is known
    if (values[ZONED_LOCAL].kind == VALUE_ABSENT) {
        return walk_absent(walk, &object->fields[ZONED_LOCAL]);
    }
    // With an offset and nothing else said, it tells the instant too, which must then be that of the place's clocks.
    bool is_clock = local.data != NULL && read_clock(walk, local, &time);
    if (local.data != NULL && !is_clock && time.spelling.has_offset && values[ZONED_UTC].kind == VALUE_ABSENT) {
        utc_told = local;
        is_clock = true;
        is_read = time.is_spelled;
        told_s = time.spelling.local_s - (int64_t)time.spelling.offset_min * 60;
    }
    if (!is_clock) {
        return failed_at(walk, local_name,
                         "local time without offset, such as 2027-05-03T20:05:00, expected, got \"%s\"%s",
                         local.data != NULL ? local : text_of(value_what(&values[ZONED_LOCAL])), "");
    }
    const struct zone *zone = find_zone(walk, field);
    if (zone == NULL) {
        return false;
    }
    size_t count = zone_instants(zone, time.spelling.local_s, candidates);
    if (count == 0) {
        return failed_at(walk, local_name, "%s does not exist in %s: clocks were put forward over it",
                         text_of(time.spelling.local), zone_name(zone).data);
    }
    if (utc_told.data != NULL && ((!is_read && !read_told(walk, field, utc_told, &told_s)) ||
                                  !check_told(walk, field, utc_told, told_s, candidates, &count))) {
        return false;
    }
    int64_t instant_s = count == 1 ? candidates[0] : choose(walk, field, candidates);
    if (zone_told.data != NULL && !check_zone(walk, field, zone_told, zone, instant_s)) {
        return false;
    }
    note_instant(walk->scope, instant_s);
    return write_time(walk, field, &time, zone, instant_s);
}

// ---- between times -------------------------------------------------------------------------------------------------

// The check of any other number, which says what is wrong.
static bool check_minutes(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    struct schema_field plain = *field;

    plain.is_elapsed = plain.adds_duration = plain.is_key = false;
    plain.facet = -1;
    return walk_value(walk, &plain, value, -1);
}

bool times_elapsed(struct walk *walk, const struct schema_field *field, const struct value *value)
{
    struct walk_scope *scope = walk->scope;
    size_t start = walk->out->length;

    if (value->kind != VALUE_ABSENT) {
        double minutes = value->kind == VALUE_NUMBER ? value->number : -1;
        bool is_fine = minutes >= (double)field->min && minutes <= (double)field->max && minutes >= 0 &&
                       minutes <= INT32_MAX && minutes == (double)(int32_t)minutes;
        if (!is_fine && !check_minutes(walk, field, value)) {
            return false;
        }
        scope->told_min = (int32_t)value->number;
        walk->out->length = start;
    }
    scope->elapsed_at = start;
    // What is told is mostly right, and stands there already then.
    char digits[DIGITS_MAX];
    struct text text = scope->told_min >= 0 ? walk_digits((uint64_t)scope->told_min, digits) : TEXT("?");
    scope->elapsed_width = text.length;
    return buffer_append_text(walk->out, text) || true; // a full buffer is told at the end
}

static void correct(struct walk *walk, const struct walk_scope *scope, int64_t minutes)
{
    struct walk report = { .depth = walk->depth };

    if (walk->corrected++ > 0) {
        return;
    }
    memcpy(report.steps, walk->steps, sizeof report.steps);
    (void)walk_failed(&report, "%d minutes are told, but its times are %lld minutes apart", scope->told_min,
                      (long long)minutes);
    walk_describe(&report, walk->corrected_first, sizeof walk->corrected_first);
}

static bool check_elapsed(struct walk *walk, const struct walk_scope *scope, const struct schema_field *field,
                          int64_t minutes)
{
    bool is_told = scope->told_min >= 0;

    walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
    if (minutes < 0 || scope->last_s < scope->first_s) {
        return walk_failed(walk, "its times are %lld minutes apart: it ends before it begins", (long long)minutes);
    }
    if (minutes > field->max) {
        return walk_failed(walk, "its times are %lld minutes apart, more than %lld", (long long)minutes,
                           (long long)field->max);
    }
    if (is_told && llabs(minutes - scope->told_min) > ELAPSED_OFF_MAX) {
        return walk_failed(walk, "%d minutes are told, but its times are %lld minutes apart", scope->told_min,
                           (long long)minutes);
    }
    if (is_told && minutes != scope->told_min) {
        correct(walk, scope, minutes);
    }
    walk->depth--;
    return true;
}

// The minutes take their place in what was written, and what is behind it moves.
static void write_elapsed(struct walk *walk, const struct walk_scope *scope, int64_t minutes)
{
    struct buffer *out = walk->out;
    char room[DIGITS_MAX];
    struct text digits = walk_digits((uint64_t)minutes, room);
    size_t width = scope->elapsed_width;

    if (!buffer_reserve(out, digits.length)) {
        return;
    }
    char *at = out->data + scope->elapsed_at;
    memmove(at + digits.length, at + width, out->length - scope->elapsed_at - width);
    memcpy(at, digits.data, digits.length);
    out->length = out->length - width + digits.length;
}

bool times_leave(struct walk *walk, struct walk_scope *scope)
{
    const struct schema_object *object = scope->object;

    if (object->elapsed >= 0) {
        const struct schema_field *field = &object->fields[object->elapsed];
        int64_t minutes = (scope->last_s - scope->first_s) / 60;
        if (!scope->has_times) {
            walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
            return walk_failed(walk, "there are no times to tell it from");
        }
        if (!check_elapsed(walk, scope, field, minutes)) {
            return false;
        }
        if (minutes != scope->told_min) {
            write_elapsed(walk, scope, minutes);
        }
        if (field->adds_duration) {
            walk->duration_min += (uint64_t)minutes;
            walk->has_duration = true;
        }
    }
    if (scope->has_times && scope->outer != NULL) {
        struct walk_scope *outer = scope->outer;
        outer->first_s = outer->has_times ? outer->first_s : scope->first_s;
        outer->last_s = scope->last_s;
        outer->has_times = true;
    }
    return true;
}
