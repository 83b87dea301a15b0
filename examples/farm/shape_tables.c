// What itineraries have in common stands in tables, by numbers: an itinerary names legs, a leg its schedules.

#include "farm/shapes.h"

enum { BRANDS = 4 };

struct tables {
    struct buffer *out;
    const struct step *step;
    const struct answer_sale *sale;
    unsigned legs[ANSWER_OFFERS][QUERY_SLICES_MAX]; // the first schedule of each, from 1 on
};

/// Days from the slice's day to a local time of it.
static int days_of(int minutes)
{
    return minutes >= 0 ? minutes / 1440 : -((1439 - minutes) / 1440);
}

static void write_end(struct buffer *out, const char *name, const char *airport, int minutes, int offset_min)
{
    int of_day = minutes - days_of(minutes) * 1440;
    int size = offset_min < 0 ? -offset_min : offset_min;

    buffer_printf(out, ",\"%s\":{\"airport\":\"%s\",\"time\":\"%02d:%02d:00%c%02d:%02d\"", name, airport, of_day / 60,
                  of_day % 60, offset_min < 0 ? '-' : '+', size / 60, size % 60);
}

static void write_schedule(struct tables *tables, unsigned id, const struct leg *leg, unsigned carrier)
{
    struct buffer *out = tables->out;
    int days = days_of(leg->arrives_min) - days_of(leg->departs_min);

    buffer_printf(out, "%s{\"id\":%u,\"frequency\":\"SMTWTFS\",\"stopCount\":0,\"elapsedTime\":%d", id > 1 ? "," : "",
                  id, leg->flight_min);
    write_end(out, "departure", leg->hop->from.code, leg->departs_min, leg->departs_offset_min);
    buffer_append_c(out, "}");
    write_end(out, "arrival", leg->hop->to.code, leg->arrives_min, leg->arrives_offset_min);
    if (days != 0) {
        buffer_printf(out, ",\"dateAdjustment\":%d", days);
    }
    buffer_printf(out, "},\"carrier\":{\"marketing\":\"%s\",\"marketingFlightNumber\":%d,\"operating\":\"%s\"}}",
                  timetable_carrier(carrier), leg->number, timetable_carrier(carrier));
}

static void write_schedules(struct tables *tables)
{
    unsigned id = 1;

    buffer_append_c(tables->out, "\"scheduleDescs\":[");
    for (unsigned offer = 0; offer < ANSWER_OFFERS; offer++) {
        for (unsigned slice = 0; slice < tables->step->query.slice_count; slice++) {
            const struct itinerary_slice *plan = &tables->sale->itineraries[offer].slices[slice];
            tables->legs[offer][slice] = id;
            for (unsigned i = 0; i < plan->leg_count; i++) {
                write_schedule(tables, id++, &tables->sale->legs[offer][slice][i], plan->carriers[i]);
            }
        }
    }
    buffer_append_c(tables->out, "]");
}

static void write_legs(struct tables *tables)
{
    unsigned slices = tables->step->query.slice_count;

    buffer_append_c(tables->out, ",\"legDescs\":[");
    for (unsigned at = 0; at < ANSWER_OFFERS * slices; at++) {
        unsigned offer = at / slices, slice = at % slices;
        buffer_printf(tables->out, "%s{\"id\":%u,\"elapsedTime\":%d,\"schedules\":[", at > 0 ? "," : "", at + 1,
                      tables->sale->durations[offer][slice]);
        for (unsigned i = 0; i < tables->sale->itineraries[offer].slices[slice].leg_count; i++) {
            int days = days_of(tables->sale->legs[offer][slice][i].departs_min);
            buffer_printf(tables->out, "%s{\"ref\":%u", i > 0 ? "," : "", tables->legs[offer][slice] + i);
            if (days != 0) {
                buffer_printf(tables->out, ",\"departureDateAdjustment\":%d", days);
            }
            buffer_append_c(tables->out, "}");
        }
        buffer_append_c(tables->out, "]}");
    }
    buffer_append_c(tables->out, "]");
}

static void write_brands(struct tables *tables)
{
    static const char *const names[BRANDS] = { "LIGHT", "BASIC", "CLASSIC", "FLEX" };

    buffer_append_c(tables->out, ",\"fareComponentDescs\":[");
    for (unsigned i = 0; i < BRANDS; i++) {
        buffer_printf(tables->out,
                      "%s{\"id\":%u,\"fareBasisCode\":\"%c00%s\",\"brand\":{\"code\":\"%.2s\",\"brandName\":"
                      "\"%s\"}}",
                      i > 0 ? "," : "", i + 1, "YSCF"[tables->step->query.cabin], names[i], names[i], names[i]);
    }
    buffer_append_c(tables->out,
                    "],\"baggageAllowanceDescs\":[{\"id\":1,\"pieceCount\":0},{\"id\":2,\"pieceCount\":1}]");
}

/// Hundredths as a JSON number without zeros at its end: 412.3.
static void write_amount(struct buffer *out, const char *name, int64_t hundredths)
{
    int rest = (int)(hundredths % 100);

    buffer_printf(out, "\"%s\":%lld", name, (long long)(hundredths / 100));
    if (rest % 10 == 0) {
        buffer_printf(out, ".%d", rest / 10);
    } else {
        buffer_printf(out, ".%02d", rest);
    }
}

static void write_itinerary(struct tables *tables, unsigned offer)
{
    const struct answer_sale *sale = tables->sale;
    const struct query *query = &tables->step->query;
    struct buffer *out = tables->out;
    uint64_t drawn = draw_mix(sale->hash, offer);
    unsigned brand = (unsigned)(drawn % BRANDS);

    buffer_printf(out, "%s{\"id\":%u,\"pricingSource\":\"ADVJR1\",\"legs\":[", offer > 0 ? "," : "", offer + 1);
    for (unsigned slice = 0; slice < query->slice_count; slice++) {
        buffer_printf(out, "%s{\"ref\":%u}", slice > 0 ? "," : "", offer * query->slice_count + slice + 1);
    }
    buffer_printf(
        out,
        "],\"pricingInformation\":[{\"fare\":{\"validatingCarrierCode\":\"%s\",\"passengerInfoList\":[{"
        "\"passengerInfo\":{\"passengerType\":\"ADT\",\"passengerNumber\":%u,\"nonRefundable\":%s,"
        "\"fareComponents\":[{\"ref\":%u,\"segments\":[{\"segment\":{\"bookingCode\":\"%c\",\"cabinCode\":\"%c\","
        "\"seatsAvailable\":%u}}]}],\"baggageInformation\":[{\"provisionType\":\"A\",\"allowance\":{\"ref\":%u}}]"
        "}}],\"totalFare\":{",
        timetable_carrier(sale->itineraries[offer].slices[0].carriers[0]), query->party,
        brand < BRANDS - 1 ? "true" : "false", brand + 1, "YSCF"[query->cabin], "YSCF"[query->cabin],
        1 + (unsigned)(drawn / BRANDS % 9), 1 + brand / 2);
    write_amount(out, "totalPrice", sale->totals[offer]);
    buffer_append_c(out, ",");
    write_amount(out, "totalTaxAmount", sale->taxes[offer]);
    buffer_printf(out, ",\"currency\":\"%s\"}}}]}", sale->currency);
}

void shape_tables_write(struct buffer *out, const struct step *step, const struct answer_sale *sale)
{
    struct tables tables = { .out = out, .step = step, .sale = sale };
    const struct query *query = &step->query;

    buffer_append_c(out, "{\"groupedItineraryResponse\":{\"version\":\"4\",");
    write_schedules(&tables);
    write_legs(&tables);
    write_brands(&tables);
    buffer_append_c(out, ",\"itineraryGroups\":[{\"groupDescription\":{\"legDescriptions\":[");
    for (unsigned i = 0; i < query->slice_count; i++) {
        char date[11] = "";
        query_write_date(query->slices[i].day, date);
        buffer_printf(out, "%s{\"departureDate\":\"%s\",\"departureLocation\":\"%s\",\"arrivalLocation\":\"%s\"}",
                      i > 0 ? "," : "", date, query->slices[i].from, query->slices[i].to);
    }
    buffer_append_c(out, "]},\"itineraries\":[");
    for (unsigned offer = 0; offer < ANSWER_OFFERS; offer++) {
        write_itinerary(&tables, offer);
    }
    buffer_append_c(out, "]}]}}");
}
