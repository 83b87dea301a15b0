// Everything but itineraries is told once, in maps by id: what an itinerary is made of it names.

#include "farm/shapes.h"

#include <stdlib.h>
#include <string.h>

struct writing {
    struct buffer *out;
    const struct step *step;
    const struct answer_sale *sale;
    bool is_first;
};

/// An id like those of places: digits that nobody should read anything out of.
static unsigned place_of(const char code[4])
{
    return 27000000U + (unsigned)(code[0] - 'A') * 676 + (unsigned)(code[1] - 'A') * 26 + (unsigned)(code[2] - 'A');
}

static const char *separator(struct writing *writing)
{
    bool is_first = writing->is_first;

    writing->is_first = false;
    return is_first ? "" : ",";
}

static void write_time(struct writing *writing, const char *name, unsigned slice, int minutes)
{
    int32_t days = minutes >= 0 ? minutes / 1440 : -((1439 - minutes) / 1440);
    int of_day = minutes - days * 1440;
    char date[11] = "";

    query_write_date(writing->step->query.slices[slice].day + days, date);
    buffer_printf(writing->out, ",\"%s\":{\"year\":%d,\"month\":%d,\"day\":%d,\"hour\":%d,\"minute\":%d,\"second\":0}",
                  name, atoi(date), atoi(date + 5), atoi(date + 8), of_day / 60, of_day % 60);
}

/// The members that legs and segments share.
static void write_way(struct writing *writing, unsigned slice, const struct leg *first, const struct leg *last,
                      int minutes)
{
    buffer_printf(writing->out, "{\"originPlaceId\":\"%u\",\"destinationPlaceId\":\"%u\"",
                  place_of(first->hop->from.code), place_of(last->hop->to.code));
    write_time(writing, "departureDateTime", slice, first->departs_min);
    write_time(writing, "arrivalDateTime", slice, last->arrives_min);
    buffer_printf(writing->out, ",\"durationInMinutes\":%d", minutes);
}

static int carrier_id(unsigned carrier)
{
    return -32000 - (int)carrier;
}

static void write_itinerary(struct writing *writing, unsigned offer)
{
    const struct query *query = &writing->step->query;
    const struct answer_sale *sale = writing->sale;
    struct buffer *out = writing->out;
    unsigned agents = 1 + (unsigned)(draw_mix(sale->hash, offer) % 2);

    buffer_printf(out, "%s\"%012llx-%u\":{\"pricingOptions\":[", separator(writing),
                  (unsigned long long)(sale->hash >> 16), offer);
    for (unsigned agent = 0; agent < agents; agent++) {
        buffer_printf(out,
                      "%s{\"price\":{\"amount\":\"%lld\",\"unit\":\"PRICE_UNIT_MILLI\",\"updateStatus\":"
                      "\"PRICE_UPDATE_STATUS_CURRENT\"},\"agentIds\":[\"ag%u\"],\"id\":\"%u-%u\"}",
                      agent > 0 ? "," : "", (long long)sale->totals[offer] * (100 + 3 * agent) / 100 * 10, agent, offer,
                      agent);
    }
    buffer_append_c(out, "],\"legIds\":[");
    for (unsigned slice = 0; slice < query->slice_count; slice++) {
        buffer_printf(out, "%s\"%u-%u\"", slice > 0 ? "," : "", offer, slice);
    }
    buffer_append_c(out, "]}");
}

static void write_leg(struct writing *writing, unsigned offer, unsigned slice)
{
    const struct answer_sale *sale = writing->sale;
    unsigned legs = sale->itineraries[offer].slices[slice].leg_count;
    const struct leg *leg = sale->legs[offer][slice];

    buffer_printf(writing->out, "%s\"%u-%u\":", separator(writing), offer, slice);
    write_way(writing, slice, &leg[0], &leg[legs - 1], sale->durations[offer][slice]);
    buffer_printf(writing->out, ",\"stopCount\":%u,\"segmentIds\":[", legs - 1);
    for (unsigned i = 0; i < legs; i++) {
        buffer_printf(writing->out, "%s\"%u-%u-%u\"", i > 0 ? "," : "", offer, slice, i);
    }
    buffer_append_c(writing->out, "]}");
}

static void write_segments(struct writing *writing, unsigned offer, unsigned slice)
{
    const struct itinerary_slice *plan = &writing->sale->itineraries[offer].slices[slice];

    for (unsigned i = 0; i < plan->leg_count; i++) {
        const struct leg *leg = &writing->sale->legs[offer][slice][i];
        buffer_printf(writing->out, "%s\"%u-%u-%u\":", separator(writing), offer, slice, i);
        write_way(writing, slice, leg, leg, leg->flight_min);
        buffer_printf(writing->out, ",\"marketingFlightNumber\":\"%d\",\"marketingCarrierId\":\"%d\"}", leg->number,
                      carrier_id(plan->carriers[i]));
    }
}

static void write_place(struct writing *writing, const char code[4], char *seen, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        if (memcmp(seen + 4 * i, code, 4) == 0) {
            return;
        }
    }
    memcpy(seen + 4 * (*count)++, code, 4);
    buffer_printf(writing->out, "%s\"%u\":{\"entityId\":\"%u\",\"iata\":\"%s\",\"type\":\"PLACE_TYPE_AIRPORT\"}",
                  separator(writing), place_of(code), place_of(code), code);
}

static void write_places(struct writing *writing, unsigned first, unsigned end)
{
    char seen[4 * ANSWER_OFFERS * QUERY_SLICES_MAX * (TIMETABLE_LEGS + 1)];
    size_t count = 0;

    for (unsigned offer = first; offer < end; offer++) {
        for (unsigned slice = 0; slice < writing->step->query.slice_count; slice++) {
            for (unsigned i = 0; i < writing->sale->itineraries[offer].slices[slice].leg_count; i++) {
                const struct hop *hop = writing->sale->legs[offer][slice][i].hop;
                write_place(writing, hop->from.code, seen, &count);
                write_place(writing, hop->to.code, seen, &count);
            }
        }
    }
}

static void open_map(struct writing *writing, const char *open)
{
    buffer_append_c(writing->out, open);
    writing->is_first = true;
}

void shape_maps_write(struct buffer *out, const struct step *step, const struct answer_sale *sale)
{
    struct writing writing = { .out = out, .step = step, .sale = sale };
    unsigned first = step->first, end = step->first + step->count, slices = step->query.slice_count;

    buffer_printf(out,
                  "{\"sessionToken\":\"%016llx\",\"status\":\"RESULT_STATUS_%s\",\"action\":"
                  "\"RESULT_ACTION_REPLACED\",\"content\":{\"results\":",
                  (unsigned long long)step->session, step->is_last ? "COMPLETE" : "INCOMPLETE");
    open_map(&writing, "{\"itineraries\":{");
    for (unsigned offer = first; offer < end; offer++) {
        write_itinerary(&writing, offer);
    }
    open_map(&writing, "},\"legs\":{");
    for (unsigned i = first * slices; i < end * slices; i++) {
        write_leg(&writing, i / slices, i % slices);
    }
    open_map(&writing, "},\"segments\":{");
    for (unsigned i = first * slices; i < end * slices; i++) {
        write_segments(&writing, i / slices, i % slices);
    }
    open_map(&writing, "},\"places\":{");
    write_places(&writing, first, end);
    open_map(&writing, "},\"carriers\":{");
    for (unsigned i = 0; i < TIMETABLE_CARRIERS; i++) {
        buffer_printf(out, "%s\"%d\":{\"iata\":\"%s\"}", separator(&writing), carrier_id(i), timetable_carrier(i));
    }
    buffer_append_c(out, "},\"agents\":{\"ag0\":{\"name\":\"Farm Air\"},\"ag1\":{\"name\":\"Farm Trips\"}}}}}");
}
