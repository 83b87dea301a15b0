#include "farm/airports.h"

#include <math.h>
#include <string.h>

struct airport_row {
    char code[4];
    double latitude, longitude;
};

static const struct airport_row rows[] = {
    // The hubs come first.
    { "FRA", 50.03, 8.57 },    { "CDG", 49.01, 2.55 },    { "AMS", 52.31, 4.76 },   { "IST", 41.26, 28.74 },
    { "ZRH", 47.46, 8.55 },    { "VIE", 48.11, 16.57 },   { "MUC", 48.35, 11.79 },  { "CPH", 55.62, 12.65 },
    { "LHR", 51.47, -0.45 },   { "LGW", 51.15, -0.19 },   { "STN", 51.89, 0.24 },   { "MAN", 53.35, -2.27 },
    { "EDI", 55.95, -3.36 },   { "DUB", 53.42, -6.27 },   { "ORY", 48.73, 2.36 },   { "NCE", 43.66, 7.22 },
    { "LYS", 45.72, 5.09 },    { "MAD", 40.47, -3.56 },   { "BCN", 41.30, 2.08 },   { "PMI", 39.55, 2.74 },
    { "AGP", 36.67, -4.50 },   { "LIS", 38.77, -9.13 },   { "OPO", 41.24, -8.68 },  { "FCO", 41.80, 12.25 },
    { "MXP", 45.63, 8.72 },    { "VCE", 45.51, 12.35 },   { "NAP", 40.88, 14.29 },  { "ATH", 37.94, 23.94 },
    { "BER", 52.37, 13.50 },   { "HAM", 53.63, 9.99 },    { "DUS", 51.29, 6.77 },   { "STR", 48.69, 9.22 },
    { "BRU", 50.90, 4.48 },    { "GVA", 46.24, 6.11 },    { "PRG", 50.10, 14.26 },  { "WAW", 52.17, 20.97 },
    { "BUD", 47.44, 19.26 },   { "ARN", 59.65, 17.92 },   { "OSL", 60.19, 11.10 },  { "HEL", 60.32, 24.96 },
    { "KEF", 63.99, -22.61 },  { "DXB", 25.25, 55.36 },   { "DOH", 25.27, 51.61 },  { "TLV", 32.01, 34.89 },
    { "CAI", 30.12, 31.41 },   { "JNB", -26.13, 28.24 },  { "NBO", -1.32, 36.93 },  { "DEL", 28.56, 77.10 },
    { "BOM", 19.09, 72.87 },   { "SIN", 1.36, 103.99 },   { "BKK", 13.69, 100.75 }, { "HKG", 22.31, 113.91 },
    { "HND", 35.55, 139.78 },  { "NRT", 35.77, 140.39 },  { "ICN", 37.46, 126.44 }, { "PVG", 31.14, 121.81 },
    { "SYD", -33.95, 151.18 }, { "JFK", 40.64, -73.78 },  { "EWR", 40.69, -74.17 }, { "BOS", 42.36, -71.01 },
    { "IAD", 38.95, -77.46 },  { "ORD", 41.97, -87.91 },  { "ATL", 33.64, -84.43 }, { "MIA", 25.80, -80.29 },
    { "DFW", 32.90, -97.04 },  { "DEN", 39.86, -104.67 }, { "LAX", 33.94, -118.4 }, { "SFO", 37.62, -122.38 },
    { "SEA", 47.45, -122.31 }, { "YYZ", 43.68, -79.63 },  { "MEX", 19.44, -99.07 }, { "GRU", -23.44, -46.47 },
    { "EZE", -34.82, -58.54 },
};

static struct places *clocks; // NULL: none

static void on_finding(void *context, const struct failure *failure)
{
    *(struct failure *)context = *failure;
}

enum status airport_open_clocks(const char *path, struct failure *why)
{
    return places_load(path, on_finding, why, &clocks);
}

void airport_close_clocks(void)
{
    places_destroy(&clocks);
}

int airport_offset_at_min(const struct airport *airport, int64_t utc_min)
{
    return airport->zone == NULL ? airport->offset_min : zone_offset(airport->zone, utc_min * 60) / 60;
}

int airport_offset_min(const struct airport *airport, int64_t local_min)
{
    int64_t instants[2];

    if (airport->zone == NULL) {
        return airport->offset_min;
    }
    if (zone_instants(airport->zone, local_min * 60, instants) == 0) {
        return zone_offset(airport->zone, local_min * 60 - 86400) / 60;
    }
    return (int)(local_min - instants[0] / 60);
}

static struct airport airport_at(const char code[3], double latitude, double longitude)
{
    const double degree = 3.14159265358979323846 / 180.0;
    struct airport airport = { .offset_min = (int)lround(longitude / 15.0) * 60 };

    if (clocks != NULL) {
        airport.zone = places_zone(clocks, (struct text){ code, 3 });
    }

    memcpy(airport.code, code, 3);
    airport.position[0] = cos(latitude * degree) * cos(longitude * degree);
    airport.position[1] = cos(latitude * degree) * sin(longitude * degree);
    airport.position[2] = sin(latitude * degree);
    return airport;
}

struct airport airport_of(const char code[3])
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (memcmp(rows[i].code, code, 3) == 0) {
            return airport_at(code, rows[i].latitude, rows[i].longitude);
        }
    }
    uint64_t hash = text_hash((struct text){ code, 3 });
    double latitude = -35.0 + (double)(hash % 95);
    double longitude = -120.0 + (double)((hash >> 20) % 260);
    return airport_at(code, latitude, longitude);
}

int airport_flight_min(const struct airport *from, const struct airport *to)
{
    double cosine = 0;
    for (int i = 0; i < 3; i++) {
        cosine += from->position[i] * to->position[i];
    }
    double kilometres = acos(fmax(-1.0, fmin(1.0, cosine))) * 6371.0;
    return 5 * (int)lround((35.0 + kilometres / 13.5) / 5.0);
}

struct airport airport_hub(unsigned index, const struct airport *from, const struct airport *to)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct airport_row *row = &rows[(index + i) % AIRPORT_HUBS];
        if (memcmp(row->code, from->code, 3) != 0 && memcmp(row->code, to->code, 3) != 0) {
            return airport_at(row->code, row->latitude, row->longitude);
        }
    }
    require(false);
    return *from;
}
