#include "bench/policy/population.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, DEPTH_MAX = 2 };

struct reading {
    struct population *population;
    struct population_error *error;
    const char *path;
    unsigned line, depth;
};

static bool reading_read(struct reading *reading);

PRINTF_LIKE(2, 3) static bool fails(const struct reading *reading, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(reading->error->text, sizeof(reading->error->text), "%s:%u: ", reading->path, reading->line);

    if (length > 0 && (size_t)length < sizeof(reading->error->text)) {
        va_start(arguments, format);
        vsnprintf(reading->error->text + length, sizeof(reading->error->text) - (size_t)length, format, arguments);
        va_end(arguments);
    }
    return false;
}

static bool read_supplier(struct reading *reading, const char *rest)
{
    struct population *population = reading->population;
    struct population_supplier supplier = { 0 };
    double median_ms, slow_s;

    int fields =
        sscanf(rest, "%15s %lf %lf %lf %lf %lf %lf %lf %lf %lf %u %u", supplier.name, &median_ms, &supplier.sigma,
               &supplier.tail_share, &supplier.tail_alpha, &supplier.hang_share, &supplier.error_share,
               &supplier.slow_share, &slow_s, &supplier.slow_factor, &supplier.endpoints, &supplier.offers);
    if (fields != 12) {
        return fails(reading, "a supplier has twelve words, see healthy.txt");
    }
    if (population->count == POPULATION_SUPPLIERS_MAX) {
        return fails(reading, "more than %d suppliers", POPULATION_SUPPLIERS_MAX);
    }
    if (median_ms <= 0 || supplier.tail_alpha <= 1 || supplier.slow_share >= 1 || supplier.slow_factor < 1 ||
        supplier.endpoints < 1 || supplier.endpoints > POPULATION_ENDPOINTS_MAX || supplier.offers < 1) {
        return fails(reading, "wanted: median above 0, alpha above 1, slow_share below 1, slow_factor from 1 on, "
                              "1 or 2 endpoints, offers from 1 on");
    }
    if (population->count > 0 && strcmp(population->suppliers[population->count - 1].name, supplier.name) >= 0) {
        return fails(reading, "suppliers stand in the order of their names");
    }
    supplier.median_us = median_ms * 1000;
    supplier.slow_us = slow_s * 1e6;
    population->suppliers[population->count++] = supplier;
    population->dead = population->count;
    return true;
}

static bool find_supplier(const struct reading *reading, const char *name, size_t *number)
{
    const struct population *population = reading->population;

    for (size_t i = 0; i < population->count; i++) {
        if (strcmp(population->suppliers[i].name, name) == 0) {
            *number = i;
            return true;
        }
    }
    return fails(reading, "no supplier is called %s", name);
}

static bool read_hangs(struct reading *reading, char *rest)
{
    char *kept = NULL;
    size_t number = 0;

    for (char *name = strtok_r(rest, " \t", &kept); name != NULL; name = strtok_r(NULL, " \t", &kept)) {
        if (!find_supplier(reading, name, &number)) {
            return false;
        }
        reading->population->suppliers[number].hangs = true;
    }
    return true;
}

static bool read_dead(struct reading *reading, const char *rest)
{
    char name[16];
    double seconds;

    if (sscanf(rest, "%15s %lf", name, &seconds) != 2 || seconds <= 0) {
        return fails(reading, "wanted: dead NAME SECONDS");
    }
    reading->population->dead_us = (uint64_t)(seconds * 1e6);
    return find_supplier(reading, name, &reading->population->dead);
}

/// The file beside this one.
static bool read_like(struct reading *reading, const char *rest)
{
    char path[512];
    const char *slash = strrchr(reading->path, '/');
    int folder = slash != NULL ? (int)(slash - reading->path) + 1 : 0;

    if (reading->depth == DEPTH_MAX) {
        return fails(reading, "too many files, each like another");
    }
    snprintf(path, sizeof(path), "%.*s%s", folder, reading->path, rest);
    struct reading other = { reading->population, reading->error, path, 0, reading->depth + 1 };
    return reading_read(&other);
}

static bool read_number(struct reading *reading, const char *word, const char *rest)
{
    struct population *population = reading->population;
    char *end;
    double value = strtod(rest, &end);

    if (end == rest || *end != '\0' || !(value >= 0)) {
        return fails(reading, "%s wants a number from 0 on", word);
    }
    if (strcmp(word, "rate_per_s") == 0) {
        population->rate_per_s = value;
    } else if (strcmp(word, "warm_up_s") == 0) {
        population->warm_up_us = (uint64_t)(value * 1e6);
    } else if (strcmp(word, "searches") == 0) {
        population->searches = (uint32_t)value;
    } else if (strcmp(word, "same_again") == 0) {
        population->same_again = value;
    } else if (strcmp(word, "items") == 0) {
        population->items = (uint32_t)value;
    } else if (strcmp(word, "price_spread") == 0) {
        population->price_spread = value;
    } else if (strcmp(word, "slower") == 0) {
        population->slower = value;
    } else {
        return fails(reading, "%s is no word of a population, see healthy.txt", word);
    }
    return true;
}

static bool read_line(struct reading *reading, char *line)
{
    line[strcspn(line, "#\n")] = '\0';
    line += strspn(line, " \t");
    if (*line == '\0') {
        return true;
    }
    char *rest = line + strcspn(line, " \t");
    if (*rest != '\0') {
        *rest++ = '\0';
        rest += strspn(rest, " \t");
    }
    if (strcmp(line, "supplier") == 0) {
        return read_supplier(reading, rest);
    }
    if (strcmp(line, "hangs") == 0) {
        return read_hangs(reading, rest);
    }
    if (strcmp(line, "dead") == 0) {
        return read_dead(reading, rest);
    }
    return strcmp(line, "like") == 0 ? read_like(reading, rest) : read_number(reading, line, rest);
}

static bool reading_read(struct reading *reading)
{
    char line[LINE_MAX_BYTES];
    bool is_good = true;
    FILE *file = fopen(reading->path, "r");

    if (file == NULL) {
        return fails(reading, "it cannot be read");
    }
    while (is_good && fgets(line, sizeof(line), file) != NULL) {
        reading->line++;
        is_good = read_line(reading, line);
    }
    fclose(file);
    return is_good;
}

bool population_read(const char *path, struct population *population, struct population_error *error)
{
    struct reading reading = { population, error, path, 0, 0 };

    *population = (struct population){ .slower = 1 };
    if (!reading_read(&reading)) {
        return false;
    }
    for (size_t i = 0; i < population->count; i++) {
        if (population->suppliers[i].offers * 3 / 2 > population->items) {
            return fails(&reading, "%s has more offers than there are items", population->suppliers[i].name);
        }
    }
    if (population->count == 0 || population->rate_per_s <= 0 || population->slower <= 0 || population->searches == 0 ||
        population->items > POPULATION_ITEMS_MAX || population->same_again > 1) {
        return fails(&reading,
                     "wanted: suppliers, rate_per_s, searches, slower above 0, same_again up to 1, at most "
                     "%d items",
                     POPULATION_ITEMS_MAX);
    }
    return true;
}
