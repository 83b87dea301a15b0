// Tables and rates that do not come from their files: those of a generation of before, and those that run on because
// what lies on the disk was rolled back.

#include "app/generation_blame.h"
#include "app/generation_data.h"
#include "script/rates.h"

#include <stdio.h>

static struct data_set *running_data(const struct generation_builder *builder)
{
    return builder->previous == NULL ? NULL : builder->previous->data;
}

bool generation_is_same_data(const struct data_set *data, const struct data_set *running)
{
    bool is_same = running != NULL && data_set_count(data) == data_set_count(running);
    for (size_t i = 0; i < data_set_count(data) && is_same; i++) {
        ptrdiff_t before = data_set_find(running, data_set_name(data, i));
        is_same = before >= 0 && data_set_table(running, (size_t)before) == data_set_table(data, i);
    }
    return is_same;
}

// The running table of that name where it says the same, else the one of before.
static struct data_table *choose(struct generation_builder *builder, const struct settings_table *settings)
{
    const struct data_set *fixed = builder->order->fixed_data;
    const struct data_set *running = running_data(builder);
    ptrdiff_t index = data_set_find(fixed, settings->name);
    ptrdiff_t before = data_set_find(running, settings->name);

    if (index < 0) {
        return NULL;
    }
    const struct data_table *table = data_set_table(fixed, (size_t)index);
    const struct data_table *now = before < 0 ? NULL : data_set_table(running, (size_t)before);
    if (now != NULL && (now == table || data_table_digest(now) == data_table_digest(table))) {
        return data_set_acquire_table(running, (size_t)before);
    }
    generation_tell_change(builder, SCRIPT_KIND_TABLE, settings->name, settings->file,
                           now != NULL ? SCRIPT_CHANGED : SCRIPT_ADDED, NULL);
    return data_set_acquire_table(fixed, (size_t)index);
}

bool generation_take_table(struct generation_builder *builder, const struct settings_table *settings,
                           struct data_table **table)
{
    *table = builder->order == NULL || builder->order->fixed_data == NULL ? NULL : choose(builder, settings);
    return *table != NULL;
}

bool generation_take_rates(struct generation_builder *builder, struct rates **rates)
{
    struct rates *fixed = builder->order == NULL ? NULL : builder->order->fixed_rates;
    struct rates *running = builder->previous == NULL ? NULL : builder->previous->rates;

    if (fixed == NULL) {
        return false;
    }
    if (running != NULL && rates_equals(fixed, running)) {
        *rates = rates_acquire(running);
        return true;
    }
    generation_tell_change(builder, SCRIPT_KIND_RATES, TEXT("fx"), builder->settings->fx_file,
                           running != NULL ? SCRIPT_CHANGED : SCRIPT_ADDED, NULL);
    *rates = rates_acquire(fixed);
    return true;
}

bool generation_holds_back(struct generation_builder *builder, enum script_kind kind, struct text name,
                           struct text file, uint64_t content)
{
    struct script_change change = { .kind = kind, .name = name, .file = file, .fate = SCRIPT_KEPT };
    char label[DATA_NAME_MAX + 8];

    if (builder->blames == NULL || builder->changes == NULL || builder->previous == NULL) {
        return false;
    }
    memcpy(change.on_disk_digest, &content, sizeof(content));
    if (!generation_refuses(builder->blames, kind, name, change.on_disk_digest, &change.because)) {
        return false;
    }
    (void)snprintf(label, sizeof(label), "%.*s@%04x", (int)(name.length < DATA_NAME_MAX ? name.length : DATA_NAME_MAX),
                   name.data, (unsigned)(content & 0xffff));
    change.on_disk = text_of(label);
    builder->blames->is_out_of_memory =
        !script_changes_add(builder->changes, &change) || builder->blames->is_out_of_memory;
    return true;
}
