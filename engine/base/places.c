#include "base/places.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE = 3, LETTERS = 26, CODES = LETTERS * LETTERS * LETTERS };

struct places {
    uint16_t zone_of[CODES]; // index + 1
    struct zone *zones[PLACES_ZONES_MAX];
    size_t zone_count;
    size_t count;
};

struct load {
    struct places *places;
    const char *path;
    uint32_t line;
    places_finding report;
    void *context;
    size_t findings;
};

static void find(struct load *load, const char *help, const char *format, struct text subject, const char *why)
{
    struct failure failure = { .line = 0 };

    failure_at(&failure, load->path, load->line, 1);
    failure_set(&failure, format, TEXT_ARGS(subject), why);
    failure_help(&failure, "%s", help);
    load->report(load->context, &failure);
    load->findings++;
}

// -1: not three capitals.
static int number_of(struct text code)
{
    uint32_t letters[CODE] = { LETTERS };

    for (size_t i = 0; code.length == CODE && i < CODE; i++) {
        letters[i] = (unsigned char)code.data[i] - (uint32_t)'A';
    }
    bool is_code = letters[0] < LETTERS && letters[1] < LETTERS && letters[2] < LETTERS;
    return is_code ? (int)((letters[0] * LETTERS + letters[1]) * LETTERS + letters[2]) : -1;
}

// The index of a zone, loaded if need be; -1: a finding.
static int zone_index(struct load *load, struct text name)
{
    struct places *places = load->places;
    char terminated[ZONE_NAME_MAX + 1] = "";
    const char *why = "its name is too long";

    for (size_t i = places->zone_count; i > 0; i--) {
        if (text_equals(zone_name(places->zones[i - 1]), name)) {
            return (int)i - 1;
        }
    }
    if (places->zone_count == PLACES_ZONES_MAX) {
        find(load, "", "zone `%.*s`: %s", name, "there are too many zones");
        return -1;
    }
    if (name.length <= ZONE_NAME_MAX) {
        memcpy(terminated, name.data, name.length);
    }
    enum status status = zone_load(terminated, &places->zones[places->zone_count], &why);
    if (status != STATUS_OK) {
        find(load, "zones are named as in the IANA database; Debian's package tzdata holds their rules",
             "zone `%.*s`: %s", name, status == STATUS_NO_MEMORY ? "not enough memory" : why);
        return -1;
    }
    return (int)places->zone_count++;
}

static void add_code(struct load *load, struct text code, int zone)
{
    int number = number_of(code);

    if (number < 0) {
        find(load, "write `Europe/London LHR LGW`", "`%.*s` is no code of three capitals%s", code, "");
    } else if (load->places->zone_of[number] != 0) {
        find(load, "", "`%.*s` stands in this file twice%s", code, "");
    } else {
        load->places->zone_of[number] = (uint16_t)(zone + 1);
        load->places->count++;
    }
}

static void read_line(struct load *load, struct text line)
{
    struct text ignored, rest;
    int zone = -1;

    line = text_trim(text_split(line, '#', &ignored));
    if (line.length == 0) {
        return;
    }
    struct text name = text_split(line, ' ', &rest);
    if (rest.data == NULL) {
        find(load, "write `Europe/London LHR LGW`", "codes expected after `%.*s`%s", name, "");
        return;
    }
    zone = zone_index(load, name);
    while (zone >= 0 && rest.data != NULL) {
        struct text code = text_split(rest, ' ', &rest);
        if (code.length > 0) {
            add_code(load, code, zone);
        }
    }
}

static void read_lines(struct load *load, struct text text)
{
    while (text.data != NULL) {
        struct text line = text_split(text, '\n', &text);
        load->line++;
        read_line(load, line);
    }
}

enum status places_load(const char *path, places_finding report, void *context, struct places **places)
{
    struct load load = { .path = path, .report = report, .context = context };
    struct file_facts facts;
    struct buffer bytes;

    buffer_init(&bytes, PLACES_FILE_MAX);
    enum status status = file_read(path, &bytes, &facts);
    *places = NULL;
    if (status == STATUS_FULL) {
        find(&load, "", "%.*s%s", TEXT("is larger than 4 MiB"), "");
        status = STATUS_INVALID;
    } else if (status == STATUS_IO || status == STATUS_INVALID) {
        find(&load, "", "%.*s%s", TEXT("cannot be read: "), facts.why);
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK) {
        load.places = calloc(1, sizeof *load.places);
        status = load.places != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        read_lines(&load, buffer_text(&bytes));
        status = load.findings > 0 ? STATUS_INVALID : STATUS_OK;
    }
    buffer_fini(&bytes);
    if (status != STATUS_OK) {
        places_destroy(&load.places);
    }
    *places = load.places;
    return status;
}

void places_destroy(struct places **places)
{
    if (*places == NULL) {
        return;
    }
    for (size_t i = 0; i < (*places)->zone_count; i++) {
        zone_destroy(&(*places)->zones[i]);
    }
    free(*places);
    *places = NULL;
}

size_t places_count(const struct places *places)
{
    return places->count;
}

const struct zone *places_zone(const struct places *places, struct text code)
{
    int number = number_of(code);

    return number < 0 || places->zone_of[number] == 0 ? NULL : places->zones[places->zone_of[number] - 1];
}

const struct zone *places_zone_named(const struct places *places, struct text name)
{
    for (size_t i = 0; i < places->zone_count; i++) {
        if (text_equals(zone_name(places->zones[i]), name)) {
            return places->zones[i];
        }
    }
    return NULL;
}
