#include "app/generation_data.h"

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
    struct data_table *table;
    enum status status = data_table_load(&options, generation_forward, builder, &table);

    if (status == STATUS_INVALID) {
        return STATUS_OK; // reported
    }
    if (status == STATUS_OK) {
        status = data_set_add(data, settings->name, &table);
        data_table_release(&table);
    }
    return status;
}

enum status generation_load_data(struct generation_builder *builder, struct data_set **data)
{
    const struct settings *settings = builder->settings;
    enum status status = STATUS_OK;

    *data = data_set_create(settings->table_count);
    if (*data == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < settings->table_count && status == STATUS_OK; i++) {
        status = load_table(builder, &settings->tables[i], *data);
    }
    return status;
}

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

void generation_check_tables(struct generation_builder *builder, const struct generation_sources *sources,
                             const struct script_set *set)
{
    size_t count;
    const struct script_look_up *look_ups = script_set_look_ups(set, &count);

    for (size_t i = 0; i < count; i++) {
        const struct script_look_up *use = &look_ups[i];
        const struct settings_supplier *supplier = use->supplier < 0 ? NULL : sources->items[use->supplier].settings;
        if (is_declared(builder->settings, use->table) || (supplier != NULL && !supplier->is_enabled)) {
            continue;
        }
        const char *nearest = nearest_table(builder->settings, use->table);
        struct failure finding = { 0 };
        failure_at(&finding, use->file.data, use->line, 0);
        failure_set(&finding, "there is no table \"%.*s\" to look up", TEXT_ARGS(use->table));
        failure_help(&finding,
                     nearest == NULL ? "declare it in the settings: data: { NAME: { file: NAME.tsv, key: [COLUMN] } }%s"
                                     : "did you mean \"%s\"?",
                     nearest == NULL ? "" : nearest);
        generation_forward(builder, &finding);
    }
}
