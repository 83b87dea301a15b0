#include "base/places.h"
#include "base/redact.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/calendar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What a supplier sends may be anything: a text that is no time gives nil and a sentence, and nil gives nil, so that
// the missing value reaches the check of its offer. Anything else but text is a mistake in the script.
static bool read_text(lua_State *L, struct text *text)
{
    if (lua_isnoneornil(L, 1)) {
        lua_pushnil(L);
        return false;
    }
    *text = bind_check_text(L, 1);
    return true;
}

// The moment of argument 1, or false with the results pushed: `*results` of them.
static bool read_moment(lua_State *L, const char *expected, struct moment *moment, int *results)
{
    struct text text = { NULL, 0 };

    *results = 1;
    if (!read_text(L, &text)) {
        return false;
    }
    if (!calendar_parse(text, moment)) {
        *results = bind_refuse(L, "%s expected, got \"%s\"", expected, text.data);
        return false;
    }
    return true;
}

// A date that must be one: where scripts calculate.
static struct moment check_date(lua_State *L, int argument)
{
    struct moment moment;

    if (!calendar_parse(bind_check_text(L, argument), &moment)) {
        luaL_argerror(L, argument, "a date such as 2027-05-03 expected");
    }
    return moment;
}

static int push_date(lua_State *L, const struct moment *moment)
{
    char out[CALENDAR_TEXT_MAX];

    lua_pushlstring(L, out, calendar_write_date(moment, out));
    return 1;
}

static int time_date(lua_State *L)
{
    bind_at_most(L, 1);
    struct moment moment;
    int results = 0;

    return read_moment(L, "a date", &moment, &results) ? push_date(L, &moment) : results;
}

static int time_local_time(lua_State *L)
{
    bind_at_most(L, 1);
    struct moment moment;
    struct calendar_spelling spelling;
    struct calendar_days days = { .kept = { { .days = 0 } } };
    int results = 0;
    char out[CALENDAR_TEXT_MAX];

    if (lua_type(L, 1) == LUA_TSTRING && calendar_spell(bind_text_at(L, 1), &days, &spelling)) {
        lua_pushlstring(L, spelling.local, CALENDAR_LOCAL);
        return 1;
    }
    if (!read_moment(L, "a date with a time", &moment, &results)) {
        return results;
    }
    if (!moment.has_time) {
        return bind_refuse(L, "a time of day expected after the date");
    }
    lua_pushlstring(L, out, calendar_write_local(&moment, out));
    return 1;
}

// The moment of argument 1 with its offset; otherwise false with the results pushed.
static bool read_instant(lua_State *L, struct moment *moment, int *results)
{
    if (!read_moment(L, "a time with offset", moment, results)) {
        return false;
    }
    if (!moment->has_time || !moment->has_offset) {
        *results = bind_refuse(L, "a time with `Z` or an offset expected");
        return false;
    }
    return true;
}

static int time_utc(lua_State *L)
{
    bind_at_most(L, 1);
    struct moment moment, utc;
    struct calendar_spelling spelling;
    struct calendar_days days = { .kept = { { .days = 0 } } };
    int results = 0;
    char out[CALENDAR_TEXT_MAX];

    if (lua_type(L, 1) == LUA_TSTRING && calendar_spell(bind_text_at(L, 1), &days, &spelling) &&
        calendar_spell_utc(&spelling)) {
        lua_pushlstring(L, spelling.local, CALENDAR_LOCAL + 1);
        return 1;
    }
    if (!read_instant(L, &moment, &results)) {
        return results;
    }
    if (!calendar_of_epoch_us(calendar_epoch_us(&moment), &utc)) {
        return bind_refuse(L, "a time of the years 1 to 9999 expected");
    }
    lua_pushlstring(L, out, calendar_write_utc(&utc, out));
    return 1;
}

static int time_epoch(lua_State *L)
{
    bind_at_most(L, 1);
    struct moment moment;
    int results = 0;

    if (!read_instant(L, &moment, &results)) {
        return results;
    }
    lua_pushnumber(L, (double)calendar_epoch_us(&moment) / 1e6);
    return 1;
}

// iso(epoch_s, offset_min): UTC, or the same instant with the offset written out.
static int time_iso(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 1)) {
        return 1;
    }
    double epoch_s = luaL_checknumber(L, 1);
    int offset_min = lua_isnoneornil(L, 2) ? 0 : (int)bind_check_integer(L, 2, -18 * 60, 18 * 60);
    struct moment moment;
    char out[CALENDAR_TEXT_MAX + 8];

    if (!(fabs(epoch_s) < 4e11) || !calendar_of_epoch_us(llround(epoch_s * 1e6) + offset_min * 60000000LL, &moment)) {
        return luaL_argerror(L, 1, "seconds since 1970, of the years 1 to 9999, expected");
    }
    size_t length = calendar_write_utc(&moment, out);
    if (offset_min != 0) {
        int distance = offset_min < 0 ? -offset_min : offset_min;
        length--; // the Z
        length += (size_t)snprintf(out + length, sizeof out - length, "%c%02d:%02d", offset_min < 0 ? '-' : '+',
                                   distance / 60, distance % 60);
    }
    lua_pushlstring(L, out, length);
    return 1;
}

static int time_http(lua_State *L)
{
    bind_at_most(L, 1);
    struct text text = { NULL, 0 };
    int64_t epoch_s = 0;

    if (!read_text(L, &text)) {
        return 1;
    }
    if (!calendar_parse_http(text, &epoch_s)) {
        return bind_refuse(L, "a date such as \"Mon, 03 May 2027 20:05:00 GMT\" expected, got \"%s\"", text.data);
    }
    lua_pushnumber(L, (double)epoch_s);
    return 1;
}

// ---- durations -----------------------------------------------------------------------------------------------------

static int time_minutes(lua_State *L)
{
    bind_at_most(L, 1);
    struct text text = { NULL, 0 };
    int64_t seconds = 0;

    if (!read_text(L, &text)) {
        return 1;
    }
    if (!calendar_parse_duration(text, &seconds)) {
        return bind_refuse(L, "a duration such as PT1H35M expected, got \"%s\"", text.data);
    }
    int64_t minutes = seconds / 60;
    lua_pushnumber(L, (double)minutes);
    return 1;
}

static int time_duration(lua_State *L)
{
    bind_at_most(L, 1);
    if (bind_gives_nil(L, 1)) {
        return 1;
    }
    int64_t minutes = bind_check_integer(L, 1, 0, 100000000);
    char out[32];
    size_t length = 0;

    length += (size_t)snprintf(out, sizeof out, "PT");
    if (minutes >= 60) {
        length += (size_t)snprintf(out + length, sizeof out - length, "%dH", (int)(minutes / 60));
    }
    if (minutes % 60 != 0 || minutes == 0) {
        length += (size_t)snprintf(out + length, sizeof out - length, "%dM", (int)(minutes % 60));
    }
    lua_pushlstring(L, out, length);
    return 1;
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

static int time_add_days(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    struct moment moment = check_date(L, 1);
    int64_t count = bind_check_integer(L, 2, -4000000, 4000000);

    if (!calendar_set_days(&moment, moment.days + count)) {
        return luaL_argerror(L, 2, "a date of the years 1 to 9999 expected");
    }
    return push_date(L, &moment);
}

static int time_days_between(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    struct moment from = check_date(L, 1);
    struct moment to = check_date(L, 2);

    lua_pushnumber(L, (double)(to.days - from.days));
    return 1;
}

static int time_weekday(lua_State *L)
{
    bind_at_most(L, 1);
    if (bind_gives_nil(L, 1)) {
        return 1;
    }
    struct moment moment = check_date(L, 1);

    lua_pushinteger(L, (lua_Integer)calendar_weekday(moment.days));
    return 1;
}

static int time_minutes_between(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    struct moment from = check_date(L, 1);
    struct moment to = check_date(L, 2);

    if (!from.has_time || !to.has_time || from.has_offset != to.has_offset) {
        return luaL_argerror(L, 2, "two local times or two times with offset expected");
    }
    lua_pushnumber(L, floor((double)(calendar_epoch_us(&to) - calendar_epoch_us(&from)) / 6e7));
    return 1;
}

// at(date, days, time): the local time `time` ("20:05", "2005") on the day `days` after `date`.
static int time_at(lua_State *L)
{
    bind_at_most(L, 3);
    if (bind_gives_nil(L, 3)) {
        return 1;
    }
    struct moment moment = check_date(L, 1);
    int64_t days = bind_check_integer(L, 2, -4000000, 4000000);
    struct text clock = bind_check_text(L, 3);
    struct moment time;
    char spelling[CALENDAR_TEXT_MAX] = "1970-01-01T";
    char out[CALENDAR_TEXT_MAX];

    if (clock.length > 8) {
        return luaL_argerror(L, 3, "a time such as 20:05 expected");
    }
    memcpy(spelling + 11, clock.data, clock.length);
    if (!calendar_parse((struct text){ spelling, 11 + clock.length }, &time) || time.has_offset) {
        return luaL_argerror(L, 3, "a time such as 20:05 expected");
    }
    if (!calendar_set_days(&time, moment.days + days + time.days)) {
        return luaL_argerror(L, 2, "a date of the years 1 to 9999 expected");
    }
    lua_pushlstring(L, out, calendar_write_local(&time, out));
    return 1;
}

// ddmmyy("160427") of this century.
static int time_ddmmyy(lua_State *L)
{
    bind_at_most(L, 1);
    struct text text = { NULL, 0 };
    struct moment moment;

    if (!read_text(L, &text)) {
        return 1;
    }
    if (text.length == 6) {
        char iso[8] = { '2', '0', text.data[4], text.data[5], text.data[2], text.data[3], text.data[0], text.data[1] };
        if (calendar_parse((struct text){ iso, sizeof iso }, &moment)) {
            return push_date(L, &moment);
        }
    }
    return bind_refuse(L, "a date such as 160427 expected, got \"%s\"", text.data);
}

// ---- places --------------------------------------------------------------------------------------------------------

static const char PLACES_KEY;

void bind_time_set_places(lua_State *L, const struct places *places)
{
    bind_keep_pointer(L, &PLACES_KEY, places);
}

const struct places *bind_time_places(lua_State *L)
{
    return bind_kept_pointer(L, &PLACES_KEY);
}

// The zone of the airport that is the argument; NULL: nil and a sentence are pushed.
static const struct zone *find_zone(lua_State *L, int argument)
{
    const struct places *places = bind_time_places(L);

    if (lua_isnoneornil(L, argument)) {
        (void)bind_refuse(L, "there is no airport");
        return NULL;
    }
    struct text code = bind_check_text(L, argument);
    if (places == NULL) {
        luaL_error(L, "there are no airports while a file is loaded: ask within a function, such as build_request");
    }
    const struct zone *zone = places_zone(places, code);
    if (zone == NULL) {
        char shown[21];
        (void)redact_copy(shown, sizeof shown, code);
        (void)bind_refuse(L, "an airport whose time zone is known expected, got \"%s\"", shown);
    }
    return zone;
}

// A wrong type is told whatever the time before it is.
static void check_airport(lua_State *L, int argument)
{
    if (!lua_isnoneornil(L, argument)) {
        (void)bind_check_text(L, argument);
    }
}

// zone("SYD") -> "Australia/Sydney"
static int time_zone(lua_State *L)
{
    bind_at_most(L, 1);
    if (lua_isnoneornil(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    const struct zone *zone = find_zone(L, 1);
    if (zone == NULL) {
        return 2;
    }
    bind_push_text(L, zone_name(zone));
    return 1;
}

// utc_at("2027-05-03T20:05", "SYD") -> "2027-05-03T10:05:00Z"; of a time that comes twice, the first.
static int time_utc_at(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    check_airport(L, 2);
    struct moment moment, utc;
    int64_t instants[2];
    int results = 0;
    char out[CALENDAR_TEXT_MAX];

    if (!read_moment(L, "a local time", &moment, &results)) {
        return results;
    }
    if (!moment.has_time || moment.has_offset) {
        return bind_refuse(L, "a local time without offset expected");
    }
    const struct zone *zone = find_zone(L, 2);
    if (zone == NULL) {
        return 2;
    }
    if (zone_instants(zone, calendar_epoch_us(&moment) / 1000000, instants) == 0) {
        return bind_refuse(L, "there is no such time in %s: clocks were put forward over it", zone_name(zone).data);
    }
    if (!calendar_of_epoch_us(instants[0] * 1000000, &utc)) {
        return bind_refuse(L, "a time of the years 1 to 9999 expected");
    }
    lua_pushlstring(L, out, calendar_write_utc(&utc, out));
    return 1;
}

// local_at("2027-05-03T10:05:00Z", "SYD") -> "2027-05-03T20:05:00"
static int time_local_at(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    check_airport(L, 2);
    struct moment moment, local;
    int results = 0;
    char out[CALENDAR_TEXT_MAX];

    if (!read_instant(L, &moment, &results)) {
        return results;
    }
    const struct zone *zone = find_zone(L, 2);
    if (zone == NULL) {
        return 2;
    }
    int64_t utc_us = calendar_epoch_us(&moment);
    if (!calendar_of_epoch_us(utc_us + zone_offset(zone, utc_us / 1000000) * 1000000LL, &local)) {
        return bind_refuse(L, "a time of the years 1 to 9999 expected");
    }
    lua_pushlstring(L, out, calendar_write_local(&local, out));
    return 1;
}

void bind_time(lua_State *L)
{
    static const luaL_Reg functions[] = { { "date", time_date },
                                          { "local_time", time_local_time },
                                          { "utc", time_utc },
                                          { "epoch", time_epoch },
                                          { "iso", time_iso },
                                          { "http", time_http },
                                          { "minutes", time_minutes },
                                          { "duration", time_duration },
                                          { "add_days", time_add_days },
                                          { "days_between", time_days_between },
                                          { "minutes_between", time_minutes_between },
                                          { "weekday", time_weekday },
                                          { "at", time_at },
                                          { "ddmmyy", time_ddmmyy },
                                          { "zone", time_zone },
                                          { "utc_at", time_utc_at },
                                          { "local_at", time_local_at },
                                          { NULL, NULL } };

    bind_push_module(L, functions);
}
