#include "farm/hotels_world.h"
#include "farm/draw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A property's number is an affine function of the hotel's modulo a prime, so that no table is needed for the way back.
enum { PRIME = 1000003, FACTOR = 7919, SHIFT = 31337 };

static const char cities[WORLD_CITIES][4] = {
    "LON", "PAR", "NYC", "TYO", "ROM", "BCN", "MAD", "AMS", "BER", "VIE", "PRG", "LIS", "DUB",
    "IST", "DXB", "BKK", "SIN", "HKG", "SYD", "MEL", "LAX", "SFO", "MIA", "CHI", "YTO", "MEX",
    "RIO", "BUE", "CPT", "CAI", "MIL", "VCE", "FLR", "MUC", "HAM", "ZRH", "GVA", "BRU", "CPH",
    "STO", "OSL", "HEL", "WAW", "BUD", "ATH", "OPO", "AGP", "PMI", "SEL", "KWI",
};

uint32_t world_sellers(uint32_t hotel, uint32_t sellers[WORLD_SELLERS_MAX])
{
    uint64_t mixed = draw_mix(hotel, 1);
    uint32_t first = (uint32_t)(mixed % HOTELS_SUPPLIERS);
    uint32_t stride = 1 + (uint32_t)(mixed / HOTELS_SUPPLIERS % 9); // twice it is no whole turn
    uint32_t count = 2 + hotel % 2;

    for (uint32_t i = 0; i < count; i++) {
        sellers[i] = 1 + (first + i * stride) % HOTELS_SUPPLIERS;
    }
    return count;
}

uint32_t world_property(uint32_t hotel, uint32_t supplier)
{
    return (uint32_t)(((uint64_t)hotel * FACTOR + (uint64_t)supplier * SHIFT) % PRIME);
}

/// FACTOR to the power of PRIME - 2: what undoes a multiplication by it.
static uint64_t inverse(void)
{
    uint64_t result = 1, power = FACTOR;

    for (uint32_t rest = PRIME - 2; rest > 0; rest /= 2) {
        result = rest % 2 == 1 ? result * power % PRIME : result;
        power = power * power % PRIME;
    }
    return result;
}

bool world_hotel(uint32_t property, uint32_t supplier, uint32_t *hotel)
{
    static uint64_t factor; // the farm has one thread
    uint32_t sellers[WORLD_SELLERS_MAX];
    bool is_sold = false;

    factor = factor == 0 ? inverse() : factor;
    uint64_t shifted = (property % PRIME + PRIME - (uint64_t)supplier * SHIFT % PRIME) % PRIME;
    *hotel = (uint32_t)(shifted * factor % PRIME);
    if (property >= PRIME || *hotel >= WORLD_HOTELS) {
        return false;
    }
    uint32_t count = world_sellers(*hotel, sellers);
    for (uint32_t i = 0; i < count; i++) {
        is_sold = is_sold || sellers[i] == supplier;
    }
    return is_sold;
}

uint32_t world_stars(uint32_t hotel)
{
    return 1 + (uint32_t)(draw_mix(hotel, 2) % 5);
}

static void write_hotel(FILE *file, uint32_t hotel)
{
    static const char *const first[] = { "Grand", "Royal", "Park", "Old", "New", "Little", "Central", "Garden" };
    static const char *const second[] = { "Harbour", "Palace", "Station", "Bridge", "Court", "Terrace", "Lodge" };
    uint32_t sellers[WORLD_SELLERS_MAX];
    uint64_t mixed = draw_mix(hotel, 3);
    uint32_t count = world_sellers(hotel, sellers);

    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "h%02u\t%s\tP%07u\tfarm-%05u\t%s %s %u\t%u\n", sellers[i], cities[hotel % WORLD_CITIES],
                world_property(hotel, sellers[i]), hotel, first[mixed % COUNT_OF(first)],
                second[mixed / COUNT_OF(first) % COUNT_OF(second)], hotel, world_stars(hotel));
    }
}

enum status hotels_write_table(const char *path, struct failure *why)
{
    char words[128];
    FILE *file = fopen(path, "we");
    bool is_written = file != NULL;

    if (file != NULL) {
        fputs("supplier\tcity\tproperty\thotel\tname\tstars\n", file);
        for (uint32_t hotel = 0; hotel < WORLD_HOTELS; hotel++) {
            write_hotel(file, hotel);
        }
        is_written = ferror(file) == 0;
        is_written = fclose(file) == 0 && is_written;
    }
    if (!is_written) {
        failure_set(why, "%s: %s", path, strerror_r(errno, words, sizeof(words)));
        return STATUS_IO;
    }
    return STATUS_OK;
}
