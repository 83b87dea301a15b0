// A table whose file says the same is the one that runs. One that cannot be read any more goes on as it runs, as long
// as the settings ask for the same: whoever writes the file may not have ended yet.

#include "app/generation_data.h"

#include "app/generation_blame.h"
#include "app/settings_compare.h"
#include "base/clock.h"
#include "script/rates.h"

// What was found of something that can be kept: told, not counted, the first one remembered.
struct kept_findings {
    struct generation_builder *builder;
    struct failure first;
    size_t count;
};

static void keep_finding(void *context, const struct failure *failure)
{
    struct kept_findings *kept = context;
    if (kept->count++ == 0) {
        kept->first = *failure;
    }
    generation_tell(kept->builder, failure);
}

// Of the generation that runs; NULL: none does.
static const struct settings *settings_before(const struct generation_builder *builder)
{
    return builder->previous == NULL ? NULL : generation_settings(builder->order->previous);
}

// Loads it; the one that runs takes its place where it may. NULL in `*table`: findings were reported.
static enum status load_fresh(struct generation_builder *builder, const struct settings_table *settings,
                              const struct data_table_options *options, ptrdiff_t before, struct data_table **table)
{
    struct kept_findings kept = { .builder = builder };
    bool can_keep = before >= 0 && settings_has_same_table(settings_before(builder), settings);
    enum status status = data_table_load(options, can_keep ? keep_finding : generation_forward,
                                         can_keep ? (void *)&kept : (void *)builder, table);

    if (status == STATUS_INVALID && can_keep) {
        *table = data_set_acquire_table(builder->previous->data, (size_t)before);
        generation_tell_change(builder, SCRIPT_KIND_TABLE, settings->name, settings->file, SCRIPT_KEPT, &kept.first);
        return STATUS_OK;
    }
    if (status == STATUS_OK && can_keep &&
        generation_holds_back(builder, SCRIPT_KIND_TABLE, settings->name, settings->file, data_table_digest(*table))) {
        data_table_release(table);
        *table = data_set_acquire_table(builder->previous->data, (size_t)before);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        generation_tell_change(builder, SCRIPT_KIND_TABLE, settings->name, settings->file,
                               before >= 0 ? SCRIPT_CHANGED : SCRIPT_ADDED, NULL);
    }
    return status == STATUS_INVALID ? STATUS_OK : status;
}

static enum status add_table(struct data_set *data, struct text name, struct data_table **table)
{
    enum status status = data_set_add(data, name, table);
    data_table_release(table);
    return status;
}

static enum status load_table(struct generation_builder *builder, const struct settings_table *settings,
                              struct data_set *data)
{
    struct data_table_options options = {
        .path = settings->file.data,
        .keys = settings->keys,
        .key_count = settings->key_count,
        .keys_file = settings->keys_file,
        .keys_line = settings->keys_line,
        .keys_column = settings->keys_column,
    };
    const struct data_set *running = builder->previous == NULL ? NULL : builder->previous->data;
    ptrdiff_t before = data_set_find(running, settings->name);
    struct data_table *table = NULL;
    enum status status = STATUS_OK;

    if (generation_take_table(builder, settings, &table)) {
        return add_table(data, settings->name, &table);
    }
    if (before >= 0 && data_table_is_current(data_set_table(running, (size_t)before), &options)) {
        table = data_set_acquire_table(running, (size_t)before);
    } else {
        status = load_fresh(builder, settings, &options, before, &table);
    }
    return table != NULL ? add_table(data, settings->name, &table) : status;
}

enum status generation_load_data(struct generation_builder *builder, struct data_set **data)
{
    const struct settings *settings = builder->settings;
    struct data_set *running = builder->previous == NULL ? NULL : builder->previous->data;
    enum status status = STATUS_OK;

    *data = data_set_create(settings->table_count);
    if (*data == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < settings->table_count && status == STATUS_OK; i++) {
        status = load_table(builder, &settings->tables[i], *data);
    }
    if (status == STATUS_OK && generation_is_same_data(*data, running)) {
        data_set_release(data);
        *data = data_set_acquire(running);
    } else {
        data_set_follow(*data, running);
    }
    return status;
}

// ---- rates

static bool is_same_fx(const struct settings *a, const struct settings *b)
{
    return a->fx_file.data != NULL && text_equals(a->fx_file, b->fx_file) && a->fx_max_age_us == b->fx_max_age_us;
}

// It converts nothing, being too old or dated ahead, and is worse than what runs: that converts, or is less old.
static bool is_step_back(const struct rates *fresh, const struct rates *running)
{
    uint64_t wall_us = clock_wall_us();
    return rates_is_stale(fresh, wall_us) &&
           (!rates_is_stale(running, wall_us) || rates_age_us(fresh, wall_us) > rates_age_us(running, wall_us));
}

static void tell_step_back(struct generation_builder *builder, const struct rates *fresh, const struct rates *running)
{
    struct failure why = { 0 };

    failure_at(&why, builder->settings->fx_file.data, 0, 0);
    failure_code(&why, CODE_DATA_FILE);
    failure_set(&why, "the rates are of %.*s, which `fx.max_age` does not allow, and those that run are of %.*s",
                TEXT_ARGS(rates_as_of(fresh)), TEXT_ARGS(rates_as_of(running)));
    failure_help(&why, "mend `as_of`, or write a table of today");
    generation_tell(builder, &why);
    generation_tell_change(builder, SCRIPT_KIND_RATES, TEXT("fx"), builder->settings->fx_file, SCRIPT_KEPT, &why);
}

// Chooses between the table that was read and the one that runs (NULL: none). At the start, and with other settings, a
// table that converts nothing is taken: there is nothing better then.
static void choose_rates(struct generation_builder *builder, struct rates *running, bool can_keep, struct rates **rates)
{
    bool is_same = running != NULL && rates_equals(*rates, running);
    bool is_held =
        !is_same && can_keep &&
        generation_holds_back(builder, SCRIPT_KIND_RATES, TEXT("fx"), builder->settings->fx_file, rates_digest(*rates));
    bool is_worse = !is_same && !is_held && can_keep && is_step_back(*rates, running);

    if (is_worse) {
        tell_step_back(builder, *rates, running);
    }
    if (is_same || is_held || is_worse) {
        rates_release(rates);
        *rates = rates_acquire(running);
    } else {
        generation_tell_change(builder, SCRIPT_KIND_RATES, TEXT("fx"), builder->settings->fx_file,
                               running != NULL ? SCRIPT_CHANGED : SCRIPT_ADDED, NULL);
    }
}

enum status generation_load_rates(struct generation_builder *builder, struct rates **rates)
{
    const struct settings *settings = builder->settings;
    struct rates *running = builder->previous == NULL ? NULL : builder->previous->rates;
    bool can_keep = running != NULL && is_same_fx(settings_before(builder), settings);
    struct kept_findings kept = { .builder = builder };

    if (settings->fx_file.data == NULL || generation_take_rates(builder, rates)) {
        return STATUS_OK;
    }
    enum status status =
        rates_load(settings->fx_file.data, settings->fx_max_age_us, can_keep ? keep_finding : generation_forward,
                   can_keep ? (void *)&kept : (void *)builder, rates);
    if (status == STATUS_INVALID && can_keep) {
        *rates = rates_acquire(running);
        generation_tell_change(builder, SCRIPT_KIND_RATES, TEXT("fx"), settings->fx_file, SCRIPT_KEPT, &kept.first);
    } else if (status == STATUS_OK) {
        choose_rates(builder, running, can_keep, rates);
    }
    return status == STATUS_INVALID ? STATUS_OK : status;
}

// ---- the scripts' use of tables

static bool is_declared(const struct settings *settings, struct text name)
{
    bool is_there = false;
    for (size_t i = 0; i < settings->table_count && !is_there; i++) {
        is_there = text_equals(settings->tables[i].name, name);
    }
    return is_there;
}

static const char *nearest_table(const struct settings *settings, struct text name)
{
    enum { CANDIDATES = 64 };
    const char *candidates[CANDIDATES];
    size_t count = 0;

    for (; count < settings->table_count && count < CANDIDATES; count++) {
        candidates[count] = settings->tables[count].name.data;
    }
    return text_nearest(name, candidates, count);
}

// A look-up in a supplier's own file may be its fault, one in a product's the product's.
static void suspect_use(struct generation_builder *builder, const struct script_set *set,
                        const struct script_look_up *use)
{
    generation_suspect_nobody(builder);
    if (use->supplier >= (ptrdiff_t)script_set_supplier_count(set)) {
        generation_suspect_shadow(builder, script_set_supplier(set, (size_t)use->supplier)->name);
    } else if (use->supplier >= 0) {
        generation_suspect_supplier(builder, script_set_supplier(set, (size_t)use->supplier)->name);
    }
    for (size_t i = 0; i < script_set_product_count(set) && use->supplier < 0; i++) {
        if (text_equals(script_set_product_file(set, i)->path, use->file)) {
            generation_suspect_product(builder, script_set_product(set, i));
        }
    }
}

void generation_check_tables(struct generation_builder *builder, const struct generation_sources *sources,
                             const struct script_set *set)
{
    size_t count;
    const struct script_look_up *look_ups = script_set_look_ups(set, &count);

    for (size_t i = 0; i < count; i++) {
        const struct script_look_up *use = &look_ups[i];
        const struct generation_source *source =
            use->supplier < 0 ? NULL
                              : generation_source_of(sources, script_set_supplier(set, (size_t)use->supplier)->name);
        const struct settings_supplier *supplier = source == NULL ? NULL : source->settings;
        if (is_declared(builder->settings, use->table) || (supplier != NULL && !supplier->is_enabled)) {
            continue;
        }
        const char *nearest = nearest_table(builder->settings, use->table);
        struct failure finding = { 0 };
        failure_at(&finding, use->file.data, use->line, 0);
        failure_code(&finding, CODE_LOOKUP);
        failure_set(&finding, "there is no table \"%.*s\" to look up", TEXT_ARGS(use->table));
        failure_help(&finding,
                     nearest == NULL ? "declare it in the settings: data: { NAME: { file: NAME.tsv, key: [COLUMN] } }%s"
                                     : "did you mean \"%s\"?",
                     nearest == NULL ? "" : nearest);
        suspect_use(builder, set, use);
        generation_forward(builder, &finding);
    }
    generation_suspect_nobody(builder);
}
