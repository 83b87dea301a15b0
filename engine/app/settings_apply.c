#include "app/settings_apply.h"

#include "app/settings_shown.h"
#include "app/settings_value.h"
#include "base/data_table.h"

#include <stdio.h>
#include <string.h>

void settings_find(struct settings_reader *reader, const char *file, uint32_t line, uint32_t column, enum code code,
                   const char *message, const char *help)
{
    struct failure failure = { .code = code };
    failure_at(&failure, file, line, column);
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    reader->report(reader->context, &failure);
    reader->findings++;
}

// "`PATH` SENTENCE" at the key of an entry.
static void find_key(struct settings_reader *reader, const struct settings_node *entry, enum code code,
                     const char *sentence, const char *help)
{
    struct buffer message;
    buffer_init(&message, 500);
    buffer_append_byte(&message, '`');
    setting_path_write(&reader->path, &message);
    buffer_printf(&message, "` %s", sentence);
    buffer_append_byte(&message, 0);
    settings_find(reader, entry->file, entry->key_line, entry->key_column, code,
                  message.is_full ? sentence : message.data, help);
    buffer_fini(&message);
}

// "deadline.min" -> "LASTCALL__DEADLINE__MIN", with what stood below the unknown part.
static void write_variable(struct text key, const struct settings_node *entry, struct buffer *out)
{
    buffer_append_c(out, "LASTCALL__");
    for (size_t i = 0; i < key.length; i++) {
        char c = key.data[i];
        if (c == '.') {
            buffer_append_c(out, "__");
        } else {
            buffer_append_byte(out, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        }
    }
    for (const struct settings_node *below = entry->first; below != NULL; below = below->first) {
        buffer_append_c(out, "__");
        for (size_t i = 0; i < below->key.length; i++) {
            char c = below->key.data[i];
            buffer_append_byte(out, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        }
    }
}

static void find_unknown(struct settings_reader *reader, const struct settings_node *entry)
{
    struct buffer near;
    struct buffer help;
    buffer_init(&near, 200);
    buffer_init(&help, 250);
    if (setting_nearest(&reader->path, &near)) {
        buffer_append_c(&help, "did you mean `");
        if (entry->is_environment) {
            write_variable(buffer_text(&near), entry, &help);
        } else {
            buffer_append_text(&help, buffer_text(&near));
        }
        buffer_append_c(&help, memchr(entry->key.data, '.', entry->key.length) != NULL
                                   ? "`? A section and its settings are nested, not joined by dots"
                                   : "`?");
    }
    if (help.length == 0 && reader->path.count == 3 && text_equals_c(reader->path.parts[0], "suppliers")) {
        bool is_all = text_equals_c(entry->key, "options");
        buffer_printf(&help, "options of a script are an account's: accounts: { main: { options: %s%.*s%s } }",
                      is_all ? "" : "{ ", is_all ? 0 : (int)(entry->key.length < 60 ? entry->key.length : 60),
                      entry->key.data, is_all ? "…" : ": … }");
    }
    buffer_append_byte(&help, 0);
    find_key(reader, entry, CODE_SETTING_UNKNOWN, "is not a setting", help.is_full ? "" : help.data);
    buffer_fini(&near);
    buffer_fini(&help);
}

static void find_not_section(struct settings_reader *reader, const struct settings_node *entry)
{
    struct buffer help;
    buffer_init(&help, 250);
    buffer_append_c(&help, "below it stand ");
    size_t empty = help.length;
    setting_children_write(&reader->path, &help);
    if (help.length == empty) {
        buffer_append_c(&help, "names");
    }
    buffer_append_byte(&help, 0);
    struct settings_node at_value = *entry;
    at_value.key_line = entry->line;
    at_value.key_column = entry->column;
    find_key(reader, &at_value, CODE_SETTING_VALUE,
             entry->kind == SETTINGS_LIST ? "is a section, not a list" : "is a section, not a value",
             help.is_full ? "" : help.data);
    buffer_fini(&help);
}

static struct settings_supplier *current_supplier(const struct settings_reader *reader)
{
    return &reader->settings->suppliers[reader->supplier];
}

static struct settings_table *current_table(const struct settings_reader *reader)
{
    return &reader->settings->tables[reader->table];
}

static void select_supplier(struct settings_reader *reader, const struct settings_node *entry)
{
    struct settings *settings = reader->settings;
    for (size_t i = 0; i < settings->supplier_count; i++) {
        if (text_equals(settings->suppliers[i].name, entry->key)) {
            reader->supplier = i;
            return;
        }
    }
    struct settings_supplier *grown =
        settings_grow(&settings->arena, settings->suppliers, settings->supplier_count, sizeof(*grown));
    struct text name = arena_copy(&settings->arena, entry->key);
    if (grown == NULL || name.data == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    settings->suppliers = grown;
    reader->supplier = settings->supplier_count++;
    grown[reader->supplier] = (struct settings_supplier){
        .name = name, .is_enabled = true, .file = entry->file, .line = entry->key_line, .column = entry->key_column
    };
}

static bool select_account(struct settings_reader *reader, const struct settings_node *entry)
{
    struct settings_supplier *supplier = current_supplier(reader);
    struct arena *arena = &reader->settings->arena;
    for (size_t i = 0; i < supplier->account_count; i++) {
        if (text_equals(supplier->accounts[i].name, entry->key)) {
            reader->account = i;
            return true;
        }
    }
    struct settings_account *grown =
        settings_grow(arena, supplier->accounts, supplier->account_count, sizeof(*supplier->accounts));
    struct text name = arena_copy(arena, entry->key);
    if (grown == NULL || name.data == NULL) {
        reader->is_out_of_memory = true;
        return false;
    }
    supplier->accounts = grown;
    reader->account = supplier->account_count++;
    grown[reader->account] = (struct settings_account){
        .name = name, .file = entry->file, .line = entry->key_line, .column = entry->key_column
    };
    return true;
}

static void select_table(struct settings_reader *reader, const struct settings_node *entry)
{
    struct settings *settings = reader->settings;
    for (size_t i = 0; i < settings->table_count; i++) {
        if (text_equals(settings->tables[i].name, entry->key)) {
            reader->table = i;
            return;
        }
    }
    struct settings_table *grown =
        settings_grow(&settings->arena, settings->tables, settings->table_count, sizeof(*grown));
    struct text name = arena_copy(&settings->arena, entry->key);
    if (grown == NULL || name.data == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    settings->tables = grown;
    reader->table = settings->table_count++;
    grown[reader->table] = (struct settings_table){
        .name = name, .place_file = entry->file, .line = entry->key_line, .column = entry->key_column
    };
}

// A section whose name the operator chose: "data.NAME", "suppliers.NAME", "suppliers.NAME.accounts.NAME". False: leave
// it out.
static bool enter_section(struct settings_reader *reader, const struct settings_node *entry)
{
    const struct setting_path *path = &reader->path;
    bool is_table = path->count == 2 && text_equals_c(path->parts[0], "data");
    bool is_supplier = path->count == 2 && text_equals_c(path->parts[0], "suppliers");
    bool is_account = path->count == 4 && text_equals_c(path->parts[0], "suppliers");
    struct value_problem problem = { 0 };
    if (!is_table && !is_supplier && !(is_account && text_equals_c(path->parts[2], "accounts"))) {
        return true;
    }
    if (!value_name(entry->key, &problem)) {
        find_key(reader, entry, CODE_SETTING_VALUE, problem.sentence, problem.help);
        return false;
    }
    if (reader->shown != NULL) {
        settings_shown_enter(reader->shown, path);
    }
    if (is_account) {
        return select_account(reader, entry);
    }
    if (is_table) {
        select_table(reader, entry);
    } else {
        select_supplier(reader, entry);
    }
    return !reader->is_out_of_memory;
}

static void apply_row(struct settings_reader *reader, const struct setting *row, const struct settings_node *entry)
{
    void *base = reader->settings;
    if (row->kind == SETTING_LATER) {
        find_key(reader, entry, CODE_SETTING_UNSUPPORTED, "is not supported by this version",
                 "leave it out; nothing here would act on it");
        return;
    }
    if (row->owner == SETTING_OF_SUPPLIER) {
        base = current_supplier(reader);
    } else if (row->owner == SETTING_OF_TABLE) {
        base = current_table(reader);
    } else if (row->owner == SETTING_OF_ACCOUNT) {
        base = &current_supplier(reader)->accounts[reader->account];
    } else if (row->owner == SETTING_OF_RULE || row->owner == SETTING_OF_CONDITION) {
        base = settings_rule_base(reader, row, entry);
    } else {
        reader->origins[row - SETTINGS] = entry;
    }
    if (base == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    settings_store(reader, row, base, entry);
    if (row->owner == SETTING_OF_SUPPLIER && text_equals_c(entry->key, "uses")) {
        struct settings_supplier *supplier = current_supplier(reader);
        supplier->uses_file = entry->file;
        supplier->uses_line = entry->line;
        supplier->uses_column = entry->column;
    }
    if (row->owner == SETTING_OF_TABLE && row->kind == SETTING_LIST) {
        struct settings_table *table = current_table(reader);
        table->keys_file = entry->file;
        table->keys_line = entry->line;
        table->keys_column = entry->column;
    }
}

// Nesting is at most SETTINGS_DEPTH_MAX, which the tree guarantees.
void settings_apply_below(struct settings_reader *reader, const struct settings_node *map)
{
    require(reader->path.count < SETTING_PARTS_MAX);
    for (const struct settings_node *entry = map->first; entry != NULL && !reader->is_out_of_memory;
         entry = entry->next) {
        const struct setting *row = NULL;
        reader->path.parts[reader->path.count++] = entry->key;
        switch (setting_find(&reader->path, &row)) {
        case SETTING_NONE:
            find_unknown(reader, entry);
            break;
        case SETTING_ROW:
            if (reader->shown != NULL && reader->rule == NULL) {
                settings_shown_add(reader->shown, &reader->path, entry);
            }
            apply_row(reader, row, entry);
            break;
        case SETTING_SECTION:
            if (reader->path.count == 1 && text_equals_c(entry->key, "rules")) {
                if (reader->shown != NULL) {
                    settings_shown_add(reader->shown, &reader->path, entry); // as a whole
                }
                settings_apply_rules(reader, entry);
            } else if (entry->kind != SETTINGS_MAP && !(settings_node_is_nothing(entry) && !entry->is_environment)) {
                find_not_section(reader, entry);
            } else if (enter_section(reader, entry)) {
                settings_apply_below(reader, entry);
            }
            break;
        }
        reader->path.count--;
    }
}

void settings_apply(struct settings_reader *reader, const struct settings_node *root)
{
    reader->path.count = 0;
    settings_apply_below(reader, root);
}

void settings_reader_init(struct settings_reader *reader, struct settings *settings, struct arena *scratch,
                          settings_finding report, void *context)
{
    *reader = (struct settings_reader){ .settings = settings, .report = report, .context = context };
    require(SETTINGS_COUNT <= SETTING_ROWS_MAX);
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (SETTINGS[i].owner != SETTING_OF_ENGINE || SETTINGS[i].preset == NULL) {
            continue;
        }
        struct settings_node *node = settings_node_create(scratch, SETTINGS_SCALAR, "built-in", 0, 0);
        if (node == NULL) {
            reader->is_out_of_memory = true;
            return;
        }
        node->value = text_of(SETTINGS[i].preset);
        node->is_environment = true;
        settings_store(reader, &SETTINGS[i], settings, node);
        require(reader->findings == 0);
    }
}

static const struct settings_node *origin_of(const struct settings_reader *reader, const char *key)
{
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (strcmp(SETTINGS[i].key, key) == 0) {
            return reader->origins[i];
        }
    }
    return NULL;
}

// `lower` must not be above `upper`; the finding stands at the one that somebody wrote.
static void check_order(struct settings_reader *reader, const char *lower, uint64_t lower_us, const char *upper,
                        uint64_t upper_us)
{
    const struct settings_node *at =
        origin_of(reader, upper) != NULL ? origin_of(reader, upper) : origin_of(reader, lower);
    char message[200];
    if (lower_us <= upper_us || at == NULL) {
        return;
    }
    snprintf(message, sizeof(message), "`%s` (%.10gms) is above `%s` (%.10gms)", lower, (double)lower_us / 1000.0,
             upper, (double)upper_us / 1000.0);
    settings_find(reader, at->file, at->line, at->column, CODE_SETTING_CONFLICT, message,
                  "deadline.min, deadline.default and deadline.max must rise in this order");
}

// A table needs a file and a key without repetition.
static void check_table(struct settings_reader *reader, const struct settings_table *table)
{
    char message[200];
    if (table->file.data == NULL || table->key_count == 0) {
        snprintf(message, sizeof(message), "`data.%.*s` has no `%s`", TEXT_ARGS(table->name),
                 table->file.data == NULL ? "file" : "key");
        settings_find(reader, table->place_file, table->line, table->column, CODE_SETTING_VALUE, message,
                      "a table is written { file: hotels.tsv, key: [supplier, city] }");
        return;
    }
    if (table->key_count > DATA_KEYS_MAX) {
        snprintf(message, sizeof(message), "`data.%.*s.key` has more than %d columns", TEXT_ARGS(table->name),
                 DATA_KEYS_MAX);
        settings_find(reader, table->keys_file, table->keys_line, table->keys_column, CODE_SETTING_VALUE, message, "");
    }
    for (size_t i = 1; i < table->key_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (text_equals(table->keys[i], table->keys[j])) {
                snprintf(message, sizeof(message), "`data.%.*s.key` names `%.*s` twice", TEXT_ARGS(table->name),
                         TEXT_ARGS(table->keys[i]));
                settings_find(reader, table->keys_file, table->keys_line, table->keys_column, CODE_SETTING_VALUE,
                              message, "");
            }
        }
    }
}

// Nodes end with the reading; where their values stand is kept.
static void keep_places(struct settings_reader *reader)
{
    struct settings *settings = reader->settings;
    settings->places = arena_alloc_array(&settings->arena, SETTINGS_COUNT, sizeof(*settings->places));
    reader->is_out_of_memory = reader->is_out_of_memory || settings->places == NULL;
    for (size_t i = 0; settings->places != NULL && i < SETTINGS_COUNT; i++) {
        const struct settings_node *at = reader->origins[i];
        if (at != NULL) {
            settings->places[i] = (struct settings_place){ at->file, at->line, at->column };
        }
    }
}

// Each backend needs to be told where it is.
static void check_store(struct settings_reader *reader)
{
    const struct settings *settings = reader->settings;
    const struct settings_node *at = origin_of(reader, "store.backend");

    if (at != NULL && text_equals_c(settings->store_backend, "redis") && settings->store_url.data == NULL) {
        settings_find(reader, at->file, at->line, at->column, CODE_SETTING_VALUE,
                      "`store.backend` is redis, and `store.url` does not say where it is",
                      "set it like redis://127.0.0.1:6379/0");
    }
    if (at != NULL && text_equals_c(settings->store_backend, "lmdb") && settings->store_path.data == NULL &&
        settings->state_dir.data == NULL) {
        settings_find(reader, at->file, at->line, at->column, CODE_SETTING_VALUE,
                      "`store.backend` is lmdb, and neither `store.path` nor `state_dir` says where it is",
                      "set store.path to a directory that the engine may write");
    }
}

void settings_reader_finish(struct settings_reader *reader)
{
    struct settings *settings = reader->settings;
    keep_places(reader);
    for (size_t i = 0; i < settings->table_count && reader->findings == 0; i++) {
        check_table(reader, &settings->tables[i]);
    }
    if (reader->findings == 0) {
        check_order(reader, "deadline.min", settings->deadline_min_us, "deadline.max", settings->deadline_max_us);
    }
    if (reader->findings == 0) {
        check_order(reader, "deadline.min", settings->deadline_min_us, "deadline.default",
                    settings->deadline_default_us);
        check_order(reader, "deadline.default", settings->deadline_default_us, "deadline.max",
                    settings->deadline_max_us);
    }
    check_store(reader);
    if (reader->findings == 0) {
        const struct settings_node *at = origin_of(reader, "segments");
        settings->segments_place = at == NULL ? (struct settings_place){ NULL, 0, 0 }
                                              : (struct settings_place){ at->file, at->line, at->column };
        settings_finish_rules(reader);
    }
    for (size_t i = 0; i < settings->supplier_count && !reader->is_out_of_memory; i++) {
        struct settings_supplier *supplier = &settings->suppliers[i];
        if (supplier->uses.data == NULL) {
            supplier->uses = supplier->name;
        }
        settings_check_traffic(reader, supplier);
        if (supplier->account_count > 0) {
            settings_finish_accounts(reader, supplier);
            continue;
        }
        supplier->accounts = arena_alloc(&settings->arena, sizeof(*supplier->accounts));
        if (supplier->accounts == NULL) {
            reader->is_out_of_memory = true;
            return;
        }
        *supplier->accounts = (struct settings_account){
            .name = TEXT("main"), .file = supplier->file, .line = supplier->line, .column = supplier->column
        };
        supplier->account_count = 1;
    }
}
