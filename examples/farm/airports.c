#include "farm/airports.h"

#include <math.h>
#include <string.h>

struct airport_row {
    char code[4];
    int offset_min;
    double latitude, longitude;
};

static const struct airport_row rows[] = {
    // The hubs come first.
    { "FRA", 60, 50.03, 8.57 },      { "CDG", 60, 49.01, 2.55 },      { "AMS", 60, 52.31, 4.76 },
    { "IST", 180, 41.26, 28.74 },    { "ZRH", 60, 47.46, 8.55 },      { "VIE", 60, 48.11, 16.57 },
    { "MUC", 60, 48.35, 11.79 },     { "CPH", 60, 55.62, 12.65 },     { "LHR", 0, 51.47, -0.45 },
    { "LGW", 0, 51.15, -0.19 },      { "STN", 0, 51.89, 0.24 },       { "MAN", 0, 53.35, -2.27 },
    { "EDI", 0, 55.95, -3.36 },      { "DUB", 0, 53.42, -6.27 },      { "ORY", 60, 48.73, 2.36 },
    { "NCE", 60, 43.66, 7.22 },      { "LYS", 60, 45.72, 5.09 },      { "MAD", 60, 40.47, -3.56 },
    { "BCN", 60, 41.30, 2.08 },      { "PMI", 60, 39.55, 2.74 },      { "AGP", 60, 36.67, -4.50 },
    { "LIS", 0, 38.77, -9.13 },      { "OPO", 0, 41.24, -8.68 },      { "FCO", 60, 41.80, 12.25 },
    { "MXP", 60, 45.63, 8.72 },      { "VCE", 60, 45.51, 12.35 },     { "NAP", 60, 40.88, 14.29 },
    { "ATH", 120, 37.94, 23.94 },    { "BER", 60, 52.37, 13.50 },     { "HAM", 60, 53.63, 9.99 },
    { "DUS", 60, 51.29, 6.77 },      { "STR", 60, 48.69, 9.22 },      { "BRU", 60, 50.90, 4.48 },
    { "GVA", 60, 46.24, 6.11 },      { "PRG", 60, 50.10, 14.26 },     { "WAW", 60, 52.17, 20.97 },
    { "BUD", 60, 47.44, 19.26 },     { "ARN", 60, 59.65, 17.92 },     { "OSL", 60, 60.19, 11.10 },
    { "HEL", 120, 60.32, 24.96 },    { "KEF", 0, 63.99, -22.61 },     { "DXB", 240, 25.25, 55.36 },
    { "DOH", 180, 25.27, 51.61 },    { "TLV", 120, 32.01, 34.89 },    { "CAI", 120, 30.12, 31.41 },
    { "JNB", 120, -26.13, 28.24 },   { "NBO", 180, -1.32, 36.93 },    { "DEL", 330, 28.56, 77.10 },
    { "BOM", 330, 19.09, 72.87 },    { "SIN", 480, 1.36, 103.99 },    { "BKK", 420, 13.69, 100.75 },
    { "HKG", 480, 22.31, 113.91 },   { "HND", 540, 35.55, 139.78 },   { "NRT", 540, 35.77, 140.39 },
    { "ICN", 540, 37.46, 126.44 },   { "PVG", 480, 31.14, 121.81 },   { "SYD", 600, -33.95, 151.18 },
    { "JFK", -300, 40.64, -73.78 },  { "EWR", -300, 40.69, -74.17 },  { "BOS", -300, 42.36, -71.01 },
    { "IAD", -300, 38.95, -77.46 },  { "ORD", -360, 41.97, -87.91 },  { "ATL", -300, 33.64, -84.43 },
    { "MIA", -300, 25.80, -80.29 },  { "DFW", -360, 32.90, -97.04 },  { "DEN", -420, 39.86, -104.67 },
    { "LAX", -480, 33.94, -118.4 },  { "SFO", -480, 37.62, -122.38 }, { "SEA", -480, 47.45, -122.31 },
    { "YYZ", -300, 43.68, -79.63 },  { "MEX", -360, 19.44, -99.07 },  { "GRU", -180, -23.44, -46.47 },
    { "EZE", -180, -34.82, -58.54 },
};

static struct airport airport_at(const char code[3], int offset_min, double latitude, double longitude)
{
    const double degree = 3.14159265358979323846 / 180.0;
    struct airport airport = { .offset_min = offset_min };

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
            return airport_at(code, rows[i].offset_min, rows[i].latitude, rows[i].longitude);
        }
    }
    uint64_t hash = text_hash((struct text){ code, 3 });
    double latitude = -35.0 + (double)(hash % 95);
    double longitude = -120.0 + (double)((hash >> 20) % 260);
    return airport_at(code, (int)lround(longitude / 15.0) * 60, latitude, longitude);
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
            return airport_at(row->code, row->offset_min, row->latitude, row->longitude);
        }
    }
    require(false);
    return *from;
}
