#include "app/history.h"

#include "base/clock.h"
#include "model/data_set.h"
#include "script/rates.h"
#include "script/script_set.h"

#include <stdlib.h>

enum { SCRIPTS_CAP = 1 << 20 };

void history_init(struct history *history)
{
    *history = (struct history){ .data_max = HISTORY_DATA_MAX };
    pthread_mutex_init(&history->mutex, NULL);
}

static void let_go(struct history_entry *entry)
{
    settings_release(&entry->settings);
    script_set_drop(&entry->set);
    data_set_release(&entry->data);
    rates_release(&entry->rates);
}

static void clear(struct history_entry *entry)
{
    let_go(entry);
    reload_answer_release(&entry->answer);
    block_release(&entry->scripts);
}

void history_fini(struct history *history)
{
    for (size_t i = 0; i < HISTORY_MAX; i++) {
        clear(&history->entries[i]);
    }
    pthread_mutex_destroy(&history->mutex);
}

/// `back` 0 is the newest.
static struct history_entry *entry_at(struct history *history, size_t back)
{
    return &history->entries[(history->noted - 1 - back) % HISTORY_MAX];
}

static size_t told(const struct history *history)
{
    return history->noted < HISTORY_MAX ? history->noted : HISTORY_MAX;
}

static struct block *write_scripts(const struct script_set *set)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, SCRIPTS_CAP);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    json_key(&json, "products");
    json_begin_array(&json);
    for (size_t i = 0; i < script_set_product_count(set); i++) {
        json_text(&json, script_set_product_version(set, i)->label);
    }
    json_end_array(&json);
    json_key(&json, "suppliers");
    json_begin_array(&json);
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        json_text(&json, script_set_supplier(set, i)->label);
    }
    json_end_array(&json);
    json_end_object(&json);
    struct block *block = block_from_buffer(&out);
    buffer_fini(&out);
    return block;
}

/// Bytes of the tables that `newer` does not have.
static size_t own_bytes(const struct data_set *data, const struct data_set *newer)
{
    size_t bytes = 0;

    for (size_t i = 0; i < data_set_count(data); i++) {
        ptrdiff_t index = data_set_find(newer, data_set_name(data, i));
        if (index < 0 || data_set_table(newer, (size_t)index) != data_set_table(data, i)) {
            bytes += data_table_stats(data_set_table(data, i)).bytes;
        }
    }
    return bytes;
}

/// Takes away the oldest tables, beyond the room that there is for those that do not run. The number of sets.
static size_t take_large(struct history *history, struct data_set **large)
{
    size_t bytes = 0, count = 0;

    for (size_t i = 1; i < told(history) && i < HISTORY_KEPT; i++) {
        struct history_entry *entry = entry_at(history, i);
        bytes += own_bytes(entry->data, entry_at(history, i - 1)->data);
        if (bytes > history->data_max && data_set_count(entry->data) > 0) {
            large[count++] = entry->data;
            entry->data = NULL;
        }
    }
    return count;
}

void history_note(struct history *history, const struct generation *generation, struct settings *settings,
                  struct reload_answer *answer)
{
    const struct catalogue *catalogue = generation_catalogue(generation);
    struct script_set *set = catalogue->set;
    struct history_entry made = {
        .generation = generation_number(generation),
        .answer = reload_answer_acquire(answer),
        .scripts = write_scripts(set),
        .settings = settings_acquire(settings),
        .set = script_set_hold(set),
        .data = data_set_acquire(catalogue->data),
        .rates = rates_acquire(catalogue->rates),
    };
    struct history_entry replaced, faded = { 0 };
    struct data_set *large[HISTORY_KEPT];

    pthread_mutex_lock(&history->mutex);
    history->noted++;
    struct history_entry *place = entry_at(history, 0);
    replaced = *place;
    *place = made;
    if (told(history) > HISTORY_KEPT) {
        struct history_entry *old = entry_at(history, HISTORY_KEPT);
        faded = (struct history_entry){
            .settings = old->settings, .set = old->set, .data = old->data, .rates = old->rates
        };
        old->settings = NULL;
        old->set = NULL;
        old->data = NULL;
        old->rates = NULL;
    }
    size_t large_count = take_large(history, large);
    pthread_mutex_unlock(&history->mutex);
    clear(&replaced); // what frees takes its time, and readers wait for the lock
    clear(&faded);
    for (size_t i = 0; i < large_count; i++) {
        data_set_release(&large[i]);
    }
}

/// "5 to 14"; numbers may be missing between, where a build was given up.
static void tell_kept(struct history *history, struct failure *why)
{
    size_t count = told(history);
    size_t oldest = count < HISTORY_KEPT ? count : HISTORY_KEPT;

    if (count == 0) {
        failure_help(why, "nothing was published yet");
        return;
    }
    failure_help(why, "generations %u to %u are kept; `GET /admin/v1/generations` lists them",
                 entry_at(history, oldest - 1)->generation, entry_at(history, 0)->generation);
}

enum status history_find(struct history *history, uint32_t number, struct history_found *found, struct failure *why)
{
    enum status status = STATUS_NOT_FOUND;

    pthread_mutex_lock(&history->mutex);
    for (size_t i = 0; i < told(history) && status != STATUS_OK; i++) {
        const struct history_entry *entry = entry_at(history, i);
        if (entry->generation == number && entry->set != NULL) {
            *found = (struct history_found){
                .settings = settings_acquire(entry->settings),
                .set = script_set_hold(entry->set),
                .data = data_set_acquire(entry->data),
                .rates = rates_acquire(entry->rates),
            };
            status = STATUS_OK;
        }
    }
    if (status != STATUS_OK) {
        failure_set(why, "generation %u is not kept", number);
        tell_kept(history, why);
    }
    pthread_mutex_unlock(&history->mutex);
    return status;
}

void history_found_fini(struct history_found *found)
{
    settings_release(&found->settings);
    script_set_drop(&found->set);
    data_set_release(&found->data);
    rates_release(&found->rates);
}

static void write_entry(const struct history_entry *entry, bool is_running, struct json_writer *json)
{
    json_begin_object(json);
    json_field_u64(json, "generation", entry->generation);
    json_field_bool(json, "running", is_running);
    json_field_bool(json, "kept", entry->set != NULL);
    json_key(json, "scripts");
    if (entry->scripts != NULL) {
        json_raw(json, block_text(entry->scripts));
    } else {
        json_null(json);
    }
    json_key(json, "reload");
    reload_answer_write(entry->answer, json);
    json_end_object(json);
}

void history_write(struct history *history, struct json_writer *json)
{
    json_begin_array(json);
    pthread_mutex_lock(&history->mutex);
    for (size_t i = 0; i < told(history); i++) {
        write_entry(entry_at(history, i), i == 0, json);
    }
    pthread_mutex_unlock(&history->mutex);
    json_end_array(json);
}
