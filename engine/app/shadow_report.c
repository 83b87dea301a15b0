#include "app/shadow_report.h"

#include "base/clock.h"
#include "base/redact.h"

#include <stdlib.h>
#include <string.h>

struct shadow_report *shadow_report_create(struct text name)
{
    struct shadow_report *report = calloc(1, sizeof(*report));

    if (report == NULL) {
        return NULL;
    }
    list_init(&report->node);
    report->holds = 1;
    report->since_wall_us = clock_wall_us();
    pthread_mutex_init(&report->telling, NULL);
    (void)redact_copy(report->name, sizeof(report->name), name);
    return report;
}

void shadow_report_destroy(struct shadow_report **report)
{
    struct shadow_report *gone = *report;

    *report = NULL;
    if (gone != NULL) {
        pthread_mutex_destroy(&gone->telling);
        free(gone);
    }
}

// -------------------------------------------------------------------------------------------------------------- taking

struct taking {
    struct shadow_report *report;
    const char *search_id;
};

static void take_words(char place[SHADOW_WORDS], struct text words, bool *is_there)
{
    *is_there = words.data != NULL;
    if (*is_there) {
        (void)redact_copy(place, SHADOW_WORDS, words);
    }
}

static void on_difference(void *context, const struct shadow_difference *difference)
{
    const struct taking *taking = context;
    struct shadow_report *report = taking->report;
    bool is_whole_offer = difference->offer.data != NULL && difference->pointer.length == 0;
    bool has_pointer;

    report->differences++;
    report->only_live += is_whole_offer && difference->shadow.data == NULL;
    report->only_shadow += is_whole_offer && difference->live.data == NULL;
    if (report->entry_count == SHADOW_DIFFERENCES) {
        return;
    }
    struct shadow_entry *entry = &report->entries[report->entry_count++];
    (void)redact_copy(entry->search_id, sizeof(entry->search_id), text_of(taking->search_id));
    take_words(entry->offer, difference->offer, &entry->has_offer);
    take_words(entry->pointer, difference->pointer, &has_pointer);
    take_words(entry->live, difference->live, &entry->has_live);
    take_words(entry->shadow, difference->shadow, &entry->has_shadow);
}

static bool is_error(enum script_verdict verdict)
{
    return verdict == SCRIPT_ERROR || verdict == SCRIPT_TIMEOUT || verdict == SCRIPT_MEMORY;
}

void shadow_report_take(struct shadow_report *report, const char *search_id, const struct shadow_side *live,
                        const struct shadow_side *shadow)
{
    struct taking taking = { report, search_id };
    size_t differences = 0;

    pthread_mutex_lock(&report->telling);
    enum status status = shadow_compare(live, shadow, on_difference, &taking, &differences);
    if (is_error(shadow->verdict) && report->first_error[0] == '\0') {
        (void)redact_copy(report->first_error, sizeof(report->first_error), text_of(shadow->message));
    }
    pthread_mutex_unlock(&report->telling);
    if (status != STATUS_OK) {
        atomic_fetch_add(&report->skipped, 1);
        return;
    }
    atomic_fetch_add(&report->answers, 1);
    atomic_fetch_add(differences > 0 ? &report->different : &report->same, 1);
    atomic_fetch_add(&report->errors, is_error(shadow->verdict) ? 1 : 0);
    atomic_fetch_add(&report->out_of_memory, shadow->verdict == SCRIPT_MEMORY ? 1 : 0);
}

// ------------------------------------------------------------------------------------------------------------- telling

static void write_given(struct json_writer *json, const char *key, const char *words)
{
    if (words[0] != '\0') {
        json_field_c(json, key, words);
    }
}

static void write_entry(const struct shadow_entry *entry, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "search_id", entry->search_id);
    json_field_c(json, "offer", entry->has_offer ? entry->offer : NULL);
    json_field_c(json, "pointer", entry->pointer);
    json_field_c(json, "live", entry->has_live ? entry->live : NULL);
    json_field_c(json, "shadow", entry->has_shadow ? entry->shadow : NULL);
    json_end_object(json);
}

static void write_counts(struct shadow_report *report, struct json_writer *json)
{
    json_field_u64(json, "answers", atomic_load(&report->answers));
    json_field_u64(json, "same", atomic_load(&report->same));
    json_field_u64(json, "different", atomic_load(&report->different));
    json_field_u64(json, "skipped", atomic_load(&report->skipped));
    json_field_u64(json, "errors", atomic_load(&report->errors));
    write_given(json, "first_error", report->first_error);
    json_field_u64(json, "offers_only_live", report->only_live);
    json_field_u64(json, "offers_only_shadow", report->only_shadow);
    json_field_u64(json, "differences_count", report->differences);
}

void shadow_report_write(struct shadow_report *report, bool has_differences, struct json_writer *json)
{
    static const char *const states[] = {
        [SHADOW_WAITS] = "waits", [SHADOW_BROKEN] = "broken", [SHADOW_RUNS] = "runs"
    };
    char since[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(report->since_wall_us, since);

    json_begin_object(json);
    json_field_c(json, "supplier", report->name);
    json_field_c(json, "state", states[report->state]);
    write_given(json, "running", report->live);
    write_given(json, "shadow", report->shadow);
    write_given(json, "because", report->because);
    json_field_text(json, "since", (struct text){ since, length });
    pthread_mutex_lock(&report->telling);
    write_counts(report, json);
    if (has_differences) {
        json_key(json, "differences");
        json_begin_array(json);
        for (size_t i = 0; i < report->entry_count; i++) {
            write_entry(&report->entries[i], json);
        }
        json_end_array(json);
    }
    pthread_mutex_unlock(&report->telling);
    json_end_object(json);
}
