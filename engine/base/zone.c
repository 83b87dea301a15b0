// A zone is a sorted list of instants, each with the offset from then on; the first is the beginning of time and a
// last one, never reached, spares the search its border. The footer's rule is turned into entries of the same list, so
// that every question is one binary search.

#include "base/zone.h"

#include "base/file.h"
#include "base/zone_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 44,
    TYPE = 6, // bytes of a local time type
    TYPES_MAX = 256,
    CHANGES_MAX = 2000, // of a file
    FOOTER_MAX = 256,
    FIRST_YEAR = 1970,
    LAST_YEAR = 2199,
    ENTRIES_MAX = CHANGES_MAX + 2 * (LAST_YEAR - FIRST_YEAR + 1) + 2,
    OFFSET_MIN = -93599, // a second less than 26 hours
    OFFSET_MAX = 93599,
    INDEX_S = 1 << 25, // 388 days
    INDEX_COUNT = 218, // from 1970 on, beyond the last year
};

struct zone_entry {
    int64_t at; // from this instant on
    int32_t offset;
};

struct zone {
    char name[ZONE_NAME_MAX + 1];
    size_t name_length;
    size_t count;                // entries, without the last
    uint16_t index[INDEX_COUNT]; // the entry in force at the beginning of each INDEX_S
    struct zone_entry entries[]; // the first at INT64_MIN, the last at INT64_MAX
};

// ---- the file ------------------------------------------------------------------------------------------------------

struct counts {
    uint32_t isut, isstd, leap, time, type, characters;
};

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t read_i64(const unsigned char *at)
{
    return (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4));
}

// The counts of the header at `bytes`, and how long its block of data is when times take `width` bytes.
static bool read_header(struct text bytes, uint32_t width, struct counts *counts, uint64_t *length)
{
    const unsigned char *at = (const unsigned char *)bytes.data;

    if (bytes.length < HEADER || memcmp(at, "TZif", 4) != 0 || at[4] < '2' || at[4] > '9') {
        return false;
    }
    *counts = (struct counts){ read_u32(at + 20), read_u32(at + 24), read_u32(at + 28),
                               read_u32(at + 32), read_u32(at + 36), read_u32(at + 40) };
    *length = (uint64_t)counts->time * (width + 1) + (uint64_t)counts->type * TYPE + counts->characters +
              (uint64_t)counts->leap * (width + 4) + counts->isstd + counts->isut;
    return *length <= bytes.length - HEADER;
}

struct builder {
    struct zone_entry *entries;
    size_t count;
};

// An entry that changes nothing is left out; one at the same instant as the last takes its place; one before the last,
// which only a rule that contradicts itself can make, is not heard.
static void add(struct builder *builder, int64_t at, int32_t offset)
{
    struct zone_entry *last = &builder->entries[builder->count - 1];

    if (at < last->at) {
        return;
    }
    if (at == last->at) {
        last->offset = offset;
    } else if (offset != last->offset) {
        builder->entries[builder->count++] = (struct zone_entry){ at, offset };
    }
}

static bool read_changes(const unsigned char *at, const struct counts *counts, struct builder *builder,
                         const char **why)
{
    const unsigned char *indices = at + (size_t)counts->time * 8;
    const unsigned char *types = indices + counts->time;
    int32_t offsets[TYPES_MAX];
    int64_t before = INT64_MIN;

    for (uint32_t i = 0; i < counts->type; i++) {
        offsets[i] = (int32_t)read_u32(types + (size_t)i * TYPE);
        if (offsets[i] < OFFSET_MIN || offsets[i] > OFFSET_MAX) {
            *why = "an offset of more than a day";
            return false;
        }
    }
    builder->entries[0] = (struct zone_entry){ INT64_MIN, offsets[0] };
    builder->count = 1;
    for (uint32_t i = 0; i < counts->time; i++) {
        int64_t change = read_i64(at + (size_t)i * 8);
        if (indices[i] >= counts->type || (i > 0 && change <= before) || change > INT64_MAX / 2) {
            *why = "changes out of order, or to a type that is not there";
            return false;
        }
        before = change;
        if (change <= 0) {
            builder->entries[0].offset = offsets[indices[i]];
        } else {
            add(builder, change, offsets[indices[i]]);
        }
    }
    return true;
}

// ---- the footer ----------------------------------------------------------------------------------------------------

static void add_year(const struct zone_rule *rule, int year, int64_t after, struct builder *builder)
{
    int64_t start = zone_rule_start(rule, year), end = zone_rule_end(rule, year);
    bool is_start_first = start < end;

    for (int i = 0; i < 2; i++) {
        bool is_start = (i == 0) == is_start_first;
        int64_t at = is_start ? start : end;
        if (at > after) {
            add(builder, at, is_start ? rule->summer : rule->standard);
        }
    }
}

static bool read_footer(struct text footer, const struct counts *counts, const unsigned char *times,
                        struct builder *builder, const char **why)
{
    struct zone_rule rule;
    int64_t after = counts->time > 0 ? read_i64(times + (size_t)(counts->time - 1) * 8) : 0;

    if (footer.length < 2 || footer.data[0] != '\n' || footer.data[footer.length - 1] != '\n') {
        *why = "the footer is missing, or cut";
        return false;
    }
    footer = (struct text){ footer.data + 1, footer.length - 2 };
    if (footer.length == 0) {
        return true; // nothing is said of later years
    }
    if (footer.length > FOOTER_MAX || !zone_rule_parse(footer, &rule)) {
        *why = "a footer that cannot be read";
        return false;
    }
    after = after < 0 ? 0 : after;
    if (!rule.has_summer) {
        if (counts->time == 0) {
            builder->entries[0].offset = rule.standard;
        }
        return true;
    }
    for (int year = FIRST_YEAR; year <= LAST_YEAR; year++) {
        add_year(&rule, year, after, builder);
    }
    return true;
}

// ---- making --------------------------------------------------------------------------------------------------------

// The entry in force at an instant.
static size_t search(const struct zone *zone, int64_t utc_s)
{
    size_t low = 0, high = zone->count; // entries[low].at <= utc_s < entries[high].at

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->entries[middle].at <= utc_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct zone *finish(struct text name, struct builder *builder)
{
    builder->entries[builder->count] = (struct zone_entry){ INT64_MAX, 0 };
    struct zone *zone = calloc(1, sizeof *zone + (builder->count + 1) * sizeof(struct zone_entry));

    if (zone != NULL) {
        memcpy(zone->name, name.data, name.length);
        zone->name_length = strlen(zone->name);
        zone->count = builder->count;
        memcpy(zone->entries, builder->entries, (builder->count + 1) * sizeof(struct zone_entry));
        for (int i = 0; i < INDEX_COUNT; i++) {
            zone->index[i] = (uint16_t)search(zone, (int64_t)i * INDEX_S);
        }
    }
    return zone;
}

static enum status parse_into(struct text name, struct text bytes, struct builder *builder, struct zone **zone,
                              const char **why)
{
    struct counts counts;
    uint64_t length = 0;

    if (!read_header(bytes, 4, &counts, &length)) {
        *why = "no TZif file of version 2 or later, or a cut one";
        return STATUS_INVALID;
    }
    bytes = (struct text){ bytes.data + HEADER + length, bytes.length - HEADER - (size_t)length };
    if (!read_header(bytes, 8, &counts, &length)) {
        *why = "the second part is missing, or cut";
        return STATUS_INVALID;
    }
    if (counts.type == 0 || counts.type > TYPES_MAX || counts.time > CHANGES_MAX || counts.leap != 0) {
        *why = "no types of local time, too many changes, or leap seconds";
        return STATUS_INVALID;
    }
    const unsigned char *at = (const unsigned char *)bytes.data + HEADER;
    struct text footer = { bytes.data + HEADER + length, bytes.length - HEADER - (size_t)length };
    if (!read_changes(at, &counts, builder, why) || !read_footer(footer, &counts, at, builder, why)) {
        return STATUS_INVALID;
    }
    *zone = finish(name, builder);
    return *zone != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status zone_parse(struct text name, struct text bytes, struct zone **zone, const char **why)
{
    struct builder builder = { calloc(ENTRIES_MAX, sizeof(struct zone_entry)), 0 };

    *zone = NULL;
    if (builder.entries == NULL) {
        return STATUS_NO_MEMORY;
    }
    require(name.length <= ZONE_NAME_MAX);
    enum status status = parse_into(name, bytes, &builder, zone, why);
    free(builder.entries);
    return status;
}

// Names lead to files, so they may not lead out of the folder.
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool is_ok = length > 0 && length <= ZONE_NAME_MAX && name[0] != '/' && strstr(name, "..") == NULL;

    for (size_t i = 0; i < length && is_ok; i++) {
        char c = name[i];
        is_ok = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("_+-/", c) != NULL;
    }
    return is_ok;
}

enum status zone_load(const char *name, struct zone **zone, const char **why)
{
    const char *folder = getenv("TZDIR");
    char path[512];

    *zone = NULL;
    *why = "there is no such zone";
    if (!is_name(name)) {
        return STATUS_NOT_FOUND;
    }
    int length = snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "/usr/share/zoneinfo", name);
    if (length < 0 || (size_t)length >= sizeof path) {
        return STATUS_NOT_FOUND;
    }
    struct buffer bytes;
    buffer_init(&bytes, ZONE_FILE_MAX);
    enum status status = file_read(path, &bytes, NULL);
    if (status == STATUS_OK) {
        status = zone_parse(text_of(name), buffer_text(&bytes), zone, why);
    } else if (status != STATUS_NOT_FOUND && status != STATUS_NO_MEMORY) {
        *why = "its file cannot be read, or is too large";
        status = STATUS_IO;
    }
    buffer_fini(&bytes);
    return status;
}

void zone_destroy(struct zone **zone)
{
    free(*zone);
    *zone = NULL;
}

struct text zone_name(const struct zone *zone)
{
    return (struct text){ zone->name, zone->name_length };
}

// ---- questions -----------------------------------------------------------------------------------------------------

// The same by the index: from there it is a step or two.
static size_t find(const struct zone *zone, int64_t utc_s)
{
    if (utc_s < 0 || utc_s >= (int64_t)INDEX_COUNT * INDEX_S) {
        return search(zone, utc_s);
    }
    size_t at = zone->index[utc_s / INDEX_S];
    while (zone->entries[at + 1].at <= utc_s) {
        at++;
    }
    return at;
}

int32_t zone_offset(const struct zone *zone, int64_t utc_s)
{
    return zone->entries[find(zone, utc_s)].offset;
}

size_t zone_instants(const struct zone *zone, int64_t local_s, int64_t utc_s[2])
{
    size_t count = 0;
    size_t first = find(zone, local_s - OFFSET_MAX); // no clock is further ahead
    int64_t latest = local_s - OFFSET_MIN;

    if (zone->entries[first + 1].at > latest) { // nothing changes near it
        utc_s[0] = local_s - zone->entries[first].offset;
        return 1;
    }
    for (size_t i = first; i < zone->count && zone->entries[i].at <= latest && count < 2; i++) {
        int64_t instant = local_s - zone->entries[i].offset;
        if (instant >= zone->entries[i].at && instant < zone->entries[i + 1].at) {
            utc_s[count++] = instant;
        }
    }
    return count;
}
