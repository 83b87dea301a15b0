#include "farm/timetable.h"

static const char *const carriers[TIMETABLE_CARRIERS] = {
    "LH", "AF", "KL", "BA", "IB", "LX", "OS", "SK", "TK", "AZ", "TP", "LO", "AY", "VY", "EI", "UA",
};

void timetable_draw(struct itinerary *itinerary, struct draw *draw)
{
    for (int i = 0; i < QUERY_SLICES_MAX; i++) {
        struct itinerary_slice *slice = &itinerary->slices[i];
        slice->leg_count = draw_below(draw, 100) < 60 ? 1 : 2;
        slice->hub = (uint8_t)draw_below(draw, AIRPORT_HUBS);
        slice->departs_min = (uint16_t)(300 + 5 * draw_below(draw, 204));
        slice->layover_min = (uint16_t)(45 + 5 * draw_below(draw, 30));
        slice->slack_min = (uint8_t)(5 * draw_below(draw, 5));
        slice->carriers[0] = (uint8_t)draw_below(draw, COUNT_OF(carriers));
        slice->carriers[1] =
            draw_below(draw, 3) == 0 ? (uint8_t)draw_below(draw, COUNT_OF(carriers)) : slice->carriers[0];
        slice->numbers[0] = (uint16_t)draw_below(draw, 9000);
        slice->numbers[1] = (uint16_t)draw_below(draw, 9000);
    }
    itinerary->price = 0.75 + 0.9 * draw_unit(draw);
}

static void hop_fill(struct hop *hop, const struct airport *from, const struct airport *to)
{
    hop->from = *from;
    hop->to = *to;
    hop->flight_min = airport_flight_min(from, to);
    hop->hash = draw_mix(text_hash((struct text){ from->code, 3 }), text_hash((struct text){ to->code, 3 }));
}

void timetable_route(struct route *route, const char from[3], const char to[3])
{
    struct airport start = airport_of(from);
    struct airport end = airport_of(to);

    hop_fill(&route->direct, &start, &end);
    for (unsigned i = 0; i < AIRPORT_HUBS; i++) {
        struct airport hub = airport_hub(i, &start, &end);
        hop_fill(&route->to_hub[i], &start, &hub);
        hop_fill(&route->from_hub[i], &hub, &end);
    }
}

static void leg_fill(struct leg *leg, const struct itinerary_slice *slice, int index, const struct hop *hop,
                     int32_t day, int departs_min)
{
    int64_t midnight_min = (int64_t)day * 1440;

    leg->hop = hop;
    leg->flight_min = hop->flight_min + slice->slack_min;
    leg->departs_min = departs_min;
    leg->departs_offset_min = airport_offset_min(&hop->from, midnight_min + departs_min);
    int64_t lands_min = midnight_min + departs_min - leg->departs_offset_min + leg->flight_min;
    leg->arrives_offset_min = airport_offset_at_min(&hop->to, lands_min);
    leg->arrives_min = (int)(lands_min + leg->arrives_offset_min - midnight_min);
    leg->number = 1000 + (int)((slice->numbers[index] + hop->hash) % 9000);
}

int timetable_legs(const struct itinerary_slice *slice, const struct route *route, int32_t day,
                   struct leg legs[TIMETABLE_LEGS])
{
    if (slice->leg_count == 1) {
        leg_fill(&legs[0], slice, 0, &route->direct, day, slice->departs_min);
        return legs[0].flight_min;
    }
    leg_fill(&legs[0], slice, 0, &route->to_hub[slice->hub], day, slice->departs_min);
    leg_fill(&legs[1], slice, 1, &route->from_hub[slice->hub], day, legs[0].arrives_min + slice->layover_min);
    return legs[0].flight_min + slice->layover_min + legs[1].flight_min;
}

const char *timetable_carrier(unsigned carrier)
{
    require(carrier < COUNT_OF(carriers));
    return carriers[carrier];
}
