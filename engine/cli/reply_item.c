#include "cli/reply_view.h"

#include "base/json_read.h"

#include <string.h>

// The reply is free of products here: an item with `slices` is a journey, of any other its first texts are shown.

enum { ITEM_LINE = 512, ITEM_KEY = 32 };

struct leg {
    char origin[ITEM_KEY], destination[ITEM_KEY], departs[ITEM_KEY], flights[ITEM_KEY * 2];
};

struct item_reader {
    struct json_reader json;
    struct buffer line;
};

static void copy_short(char *place, size_t room, struct text text)
{
    size_t length = text.length < room - 1 ? text.length : room - 1;

    memcpy(place, text.data, length);
    place[length] = '\0';
}

/// "2030-05-01T08:30:00" -> "08:30".
static struct text time_of_day(struct text local)
{
    return local.length >= 16 && local.data[10] == 'T' ? (struct text){ local.data + 11, 5 } : local;
}

/// `departs` is {local, …} or the time itself.
static bool read_departs(struct item_reader *reader, enum json_token token, char *place, size_t room)
{
    if (token == JSON_STRING) {
        copy_short(place, room, time_of_day(reader->json.value));
        return true;
    }
    if (token != JSON_BEGIN_OBJECT) {
        return json_skip(&reader->json, token);
    }
    for (token = json_next(&reader->json); token == JSON_KEY; token = json_next(&reader->json)) {
        bool is_local = text_equals_c(reader->json.value, "local");
        token = json_next(&reader->json);
        if (is_local && token == JSON_STRING) {
            copy_short(place, room, time_of_day(reader->json.value));
        } else if (!json_skip(&reader->json, token)) {
            return false;
        }
    }
    return token == JSON_END_OBJECT;
}

static void leg_add_flight(struct leg *leg, const char *carrier, const char *number)
{
    size_t used = strlen(leg->flights);

    if (used > 0 && used < sizeof(leg->flights) - 1) {
        leg->flights[used++] = '+';
        leg->flights[used] = '\0';
    }
    strncat(leg->flights, carrier, sizeof(leg->flights) - strlen(leg->flights) - 1);
    strncat(leg->flights, number, sizeof(leg->flights) - strlen(leg->flights) - 1);
}

static bool read_segment(struct item_reader *reader, struct leg *leg)
{
    char carrier[ITEM_KEY] = "";
    char number[ITEM_KEY] = "";
    char origin[ITEM_KEY] = "";
    char departs[ITEM_KEY] = "";
    enum json_token token = JSON_KEY;
    static const char *const keys[] = { "carrier", "number", "origin", "destination" };
    char *const places[] = { carrier, number, origin, leg->destination };

    for (token = json_next(&reader->json); token == JSON_KEY; token = json_next(&reader->json)) {
        char *place = NULL;
        bool is_departure = text_equals_c(reader->json.value, "departs");
        for (size_t i = 0; i < COUNT_OF(keys); i++) {
            place = text_equals_c(reader->json.value, keys[i]) ? places[i] : place;
        }
        token = json_next(&reader->json);
        if (is_departure) {
            if (!read_departs(reader, token, departs, sizeof(departs))) {
                return false;
            }
        } else if (place != NULL && (token == JSON_STRING || token == JSON_NUMBER)) {
            copy_short(place, ITEM_KEY, reader->json.value);
        } else if (!json_skip(&reader->json, token)) {
            return false;
        }
    }
    if (leg->origin[0] == '\0') {
        copy_short(leg->origin, sizeof(leg->origin), text_of(origin));
        copy_short(leg->departs, sizeof(leg->departs), text_of(departs));
    }
    leg_add_flight(leg, carrier, number);
    return token == JSON_END_OBJECT;
}

static bool read_segments(struct item_reader *reader, enum json_token token, struct leg *leg)
{
    if (token != JSON_BEGIN_ARRAY) {
        return json_skip(&reader->json, token);
    }
    for (token = json_next(&reader->json); token != JSON_END_ARRAY; token = json_next(&reader->json)) {
        bool is_read = token == JSON_BEGIN_OBJECT ? read_segment(reader, leg)
                                                  : token != JSON_ERROR && json_skip(&reader->json, token);
        if (!is_read) {
            return false;
        }
    }
    return true;
}

static bool read_slice(struct item_reader *reader)
{
    struct leg leg = { 0 };
    enum json_token token = JSON_KEY;

    for (token = json_next(&reader->json); token == JSON_KEY; token = json_next(&reader->json)) {
        bool is_segments = text_equals_c(reader->json.value, "segments");
        token = json_next(&reader->json);
        if (!(is_segments ? read_segments(reader, token, &leg) : json_skip(&reader->json, token))) {
            return false;
        }
    }
    if (leg.origin[0] != '\0') {
        buffer_printf(&reader->line, "%s%s-%s %s %s", reader->line.length > 0 ? " | " : "", leg.origin, leg.destination,
                      leg.departs, leg.flights);
    }
    return token == JSON_END_OBJECT;
}

static bool read_slices(struct item_reader *reader)
{
    enum json_token token = json_next(&reader->json);

    for (; token == JSON_BEGIN_OBJECT; token = json_next(&reader->json)) {
        if (!read_slice(reader)) {
            return false;
        }
    }
    return token == JSON_END_ARRAY;
}

static bool read_item(struct item_reader *reader)
{
    enum json_token token = JSON_KEY;

    (void)json_next(&reader->json); // the object begins
    for (token = json_next(&reader->json); token == JSON_KEY; token = json_next(&reader->json)) {
        bool is_slices = text_equals_c(reader->json.value, "slices");
        token = json_next(&reader->json);
        if (is_slices && token == JSON_BEGIN_ARRAY) {
            return read_slices(reader);
        }
        if (token == JSON_STRING) {
            buffer_printf(&reader->line, "%s%.*s", reader->line.length > 0 ? " " : "", TEXT_ARGS(reader->json.value));
        } else if (!json_skip(&reader->json, token)) {
            return false;
        }
    }
    return token == JSON_END_OBJECT;
}

struct text reply_offer_describe(struct reply_view *view, const struct reply_offer *offer)
{
    struct item_reader reader = { 0 };
    struct text described = offer->item;

    if (offer->item_json.data == NULL) {
        return described;
    }
    json_reader_init(&reader.json, offer->item_json);
    buffer_init(&reader.line, ITEM_LINE);
    (void)read_item(&reader); // what could be read before something odd is still worth showing
    struct text line = arena_copy(&view->arena, buffer_text(&reader.line));
    buffer_fini(&reader.line);
    return line.length > 0 ? line : described;
}
