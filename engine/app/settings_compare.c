// Values are reached through the offsets of their rows. Named sections (suppliers, tables) are matched by name, ordered
// ones (rules, accounts) by position, because their order decides.

#include "app/settings_compare.h"

#include "app/settings_table.h"

#include <stdio.h>
#include <string.h>

// ---- one value

static const void *at(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

static struct text text_at(const void *base, size_t offset)
{
    return *(const struct text *)at(base, offset);
}

static size_t count_at(const struct setting *row, const void *base)
{
    return *(const size_t *)at(base, row->count_offset);
}

static const void *items_at(const struct setting *row, const void *base)
{
    return *(const void *const *)at(base, row->offset);
}

// An absent text is not an empty one: `admin.listen: ""` switches something off.
static bool is_same_text(struct text a, struct text b)
{
    return a.data == NULL || b.data == NULL ? a.data == b.data : text_equals(a, b);
}

static bool is_same_item(enum setting_kind kind, const void *a, const void *b, size_t index)
{
    if (kind == SETTING_RANGES) {
        const struct address_range *left = (const struct address_range *)a + index;
        const struct address_range *right = (const struct address_range *)b + index;
        return left->prefix == right->prefix && memcmp(&left->network, &right->network, sizeof(left->network)) == 0;
    }
    if (kind == SETTING_NAME_SERVERS) {
        return strcmp(((const char *const *)a)[index], ((const char *const *)b)[index]) == 0;
    }
    if (kind == SETTING_PAIR || kind == SETTING_SECRET) {
        const struct settings_pair *left = (const struct settings_pair *)a + index;
        const struct settings_pair *right = (const struct settings_pair *)b + index;
        return text_equals(left->key, right->key) && text_equals(left->value, right->value) &&
               left->is_plain == right->is_plain;
    }
    return text_equals(((const struct text *)a)[index], ((const struct text *)b)[index]);
}

static bool is_same_list(const struct setting *row, const void *a, const void *b)
{
    size_t count = count_at(row, a);
    bool is_same = count == count_at(row, b);
    for (size_t i = 0; i < count && is_same; i++) {
        is_same = is_same_item(row->kind, items_at(row, a), items_at(row, b), i);
    }
    return is_same;
}

static bool is_same_row(const struct setting *row, const void *a, const void *b)
{
    if (row->count_offset != 0) {
        return is_same_list(row, a, b);
    }
    switch (row->kind) {
    case SETTING_DURATION:
    case SETTING_SIZE:
    case SETTING_SHARE:
    case SETTING_DECIMAL:
        return *(const uint64_t *)at(a, row->offset) == *(const uint64_t *)at(b, row->offset);
    case SETTING_INTEGER:
        return *(const uint32_t *)at(a, row->offset) == *(const uint32_t *)at(b, row->offset);
    case SETTING_FLAG:
        return *(const bool *)at(a, row->offset) == *(const bool *)at(b, row->offset);
    case SETTING_LATER:
        return true;
    default:
        return is_same_text(text_at(a, row->offset), text_at(b, row->offset));
    }
}

static bool is_same_section(enum setting_owner owner, const void *a, const void *b)
{
    bool is_same = true;
    for (size_t i = 0; i < SETTINGS_COUNT && is_same; i++) {
        is_same = SETTINGS[i].owner != owner || is_same_row(&SETTINGS[i], a, b);
    }
    return is_same;
}

// ---- all of them

static bool is_same_supplier(const struct settings_supplier *a, const struct settings_supplier *b)
{
    bool is_same = is_same_section(SETTING_OF_SUPPLIER, a, b) && a->account_count == b->account_count;
    for (size_t i = 0; i < a->account_count && is_same; i++) {
        is_same = text_equals(a->accounts[i].name, b->accounts[i].name) &&
                  is_same_section(SETTING_OF_ACCOUNT, &a->accounts[i], &b->accounts[i]);
    }
    return is_same;
}

static bool has_same_supplier(const struct settings *settings, const struct settings_supplier *supplier)
{
    for (size_t i = 0; i < settings->supplier_count; i++) {
        if (text_equals(settings->suppliers[i].name, supplier->name)) {
            return is_same_supplier(&settings->suppliers[i], supplier);
        }
    }
    return false;
}

bool settings_has_same_table(const struct settings *settings, const struct settings_table *table)
{
    for (size_t i = 0; i < settings->table_count; i++) {
        if (text_equals(settings->tables[i].name, table->name)) {
            return is_same_section(SETTING_OF_TABLE, &settings->tables[i], table);
        }
    }
    return false;
}

static bool is_same_rule(const struct settings_rule *a, const struct settings_rule *b)
{
    bool is_same = is_same_section(SETTING_OF_RULE, a, b) && a->condition_count == b->condition_count;
    for (size_t i = 0; i < a->condition_count && is_same; i++) {
        is_same = text_equals(a->conditions[i].segment, b->conditions[i].segment) &&
                  is_same_section(SETTING_OF_CONDITION, &a->conditions[i], &b->conditions[i]);
    }
    return is_same;
}

static bool are_same_rules(const struct settings *a, const struct settings *b)
{
    bool are_same = a->rule_count == b->rule_count;
    for (size_t i = 0; i < a->rule_count && are_same; i++) {
        are_same = is_same_rule(&a->rules[i], &b->rules[i]);
    }
    return are_same;
}

bool settings_is_same(const struct settings *a, const struct settings *b)
{
    bool is_same = is_same_section(SETTING_OF_ENGINE, a, b) && a->supplier_count == b->supplier_count &&
                   a->table_count == b->table_count && are_same_rules(a, b);
    for (size_t i = 0; i < a->supplier_count && is_same; i++) {
        is_same = has_same_supplier(b, &a->suppliers[i]);
    }
    for (size_t i = 0; i < a->table_count && is_same; i++) {
        is_same = settings_has_same_table(b, &a->tables[i]);
    }
    return is_same;
}

// ---- names of what differs

static void report_named(const char *section, struct text name, settings_name_report report, void *context)
{
    char path[256];
    int length =
        snprintf(path, sizeof(path), "%s.%.*s", section, (int)(name.length < 200 ? name.length : 200), name.data);
    report(context, (struct text){ path, (size_t)length });
}

static bool has_supplier(const struct settings *settings, struct text name)
{
    bool has = false;
    for (size_t i = 0; i < settings->supplier_count && !has; i++) {
        has = text_equals(settings->suppliers[i].name, name);
    }
    return has;
}

static bool has_table(const struct settings *settings, struct text name)
{
    bool has = false;
    for (size_t i = 0; i < settings->table_count && !has; i++) {
        has = text_equals(settings->tables[i].name, name);
    }
    return has;
}

static void name_sections(const struct settings *before, const struct settings *now, settings_name_report report,
                          void *context)
{
    for (size_t i = 0; i < now->supplier_count; i++) {
        if (!has_same_supplier(before, &now->suppliers[i])) {
            report_named("suppliers", now->suppliers[i].name, report, context);
        }
    }
    for (size_t i = 0; i < before->supplier_count; i++) {
        if (!has_supplier(now, before->suppliers[i].name)) {
            report_named("suppliers", before->suppliers[i].name, report, context);
        }
    }
    for (size_t i = 0; i < now->table_count; i++) {
        if (!settings_has_same_table(before, &now->tables[i])) {
            report_named("data", now->tables[i].name, report, context);
        }
    }
    for (size_t i = 0; i < before->table_count; i++) {
        if (!has_table(now, before->tables[i].name)) {
            report_named("data", before->tables[i].name, report, context);
        }
    }
}

void settings_name_changes(const struct settings *before, const struct settings *now, settings_name_report report,
                           void *context)
{
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (SETTINGS[i].owner == SETTING_OF_ENGINE && !is_same_row(&SETTINGS[i], before, now)) {
            report(context, text_of(SETTINGS[i].key));
        }
    }
    name_sections(before, now, report, context);
    if (!are_same_rules(before, now)) {
        report(context, TEXT("rules"));
    }
}

// ---- what waits for a restart

static bool waits_for_restart(const struct setting *row, const struct settings *running, const struct settings *fresh)
{
    return row->needs_restart && row->owner == SETTING_OF_ENGINE && !is_same_row(row, running, fresh);
}

// Where the new value stands; of one that was taken out, the file in which it stood.
static void take_place(const struct settings *running, const struct settings *fresh, size_t row,
                       struct failure *failure)
{
    if (fresh->places != NULL && fresh->places[row].file != NULL) {
        const struct settings_place *place = &fresh->places[row];
        failure_at(failure, place->file, place->line, place->column);
    } else if (running->places != NULL && running->places[row].file != NULL) {
        failure_at(failure, running->places[row].file, 0, 0);
    }
}

size_t settings_compare(const struct settings *running, const struct settings *fresh, settings_difference_report report,
                        void *context)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (!waits_for_restart(&SETTINGS[i], running, fresh)) {
            continue;
        }
        struct settings_difference difference = { .setting = SETTINGS[i].key };
        take_place(running, fresh, i, &difference.failure);
        failure_set(&difference.failure, "`%s` differs from what runs, and only a restart changes it", SETTINGS[i].key);
        failure_help(&difference.failure,
                     "restart the engine, or put the value back; until then the running one holds");
        if (report != NULL) {
            report(context, &difference);
        }
        count++;
    }
    return count;
}

// ---- keeping what runs

// A copy of one text, into `*kept`; an absent one stays absent. False: no memory.
static bool keep_text(struct arena *arena, struct text text, struct text *kept)
{
    *kept = text.data == NULL ? text : arena_copy(arena, text);
    return text.data == NULL || kept->data != NULL;
}

static enum status keep_list(const struct setting *row, struct settings *fresh, const struct settings *running)
{
    size_t count = count_at(row, running);
    const void *items = items_at(row, running);
    size_t size = row->kind == SETTING_RANGES         ? sizeof(struct address_range)
                  : row->kind == SETTING_NAME_SERVERS ? sizeof(const char *)
                                                      : sizeof(struct text);
    char *kept = arena_alloc_array(&fresh->arena, count + 1, size);
    bool is_whole = kept != NULL;
    if (is_whole && count > 0) {
        memcpy(kept, items, count * size);
    }
    for (size_t i = 0; i < count && is_whole && row->kind != SETTING_RANGES; i++) {
        struct text copy;
        if (row->kind == SETTING_NAME_SERVERS) {
            is_whole = keep_text(&fresh->arena, text_of(((const char *const *)items)[i]), &copy);
            ((const char **)(void *)kept)[i] = copy.data;
        } else {
            is_whole = keep_text(&fresh->arena, ((const struct text *)items)[i], &((struct text *)(void *)kept)[i]);
        }
    }
    if (!is_whole) {
        return STATUS_NO_MEMORY;
    }
    *(void **)(void *)((char *)fresh + row->offset) = kept;
    *(size_t *)(void *)((char *)fresh + row->count_offset) = count;
    return STATUS_OK;
}

static enum status keep_row(const struct setting *row, struct settings *fresh, const struct settings *running)
{
    char *slot = (char *)fresh + row->offset;
    const char *value = (const char *)running + row->offset;
    if (row->count_offset != 0) {
        return keep_list(row, fresh, running);
    }
    switch (row->kind) {
    case SETTING_DURATION:
    case SETTING_SIZE:
    case SETTING_SHARE:
    case SETTING_DECIMAL:
        memcpy(slot, value, sizeof(uint64_t));
        return STATUS_OK;
    case SETTING_INTEGER:
        memcpy(slot, value, sizeof(uint32_t));
        return STATUS_OK;
    case SETTING_FLAG:
        memcpy(slot, value, sizeof(bool));
        return STATUS_OK;
    default:
        return keep_text(&fresh->arena, text_at(running, row->offset), (struct text *)(void *)slot) ? STATUS_OK
                                                                                                    : STATUS_NO_MEMORY;
    }
}

enum status settings_keep_running(struct settings *fresh, const struct settings *running)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < SETTINGS_COUNT && status == STATUS_OK; i++) {
        if (waits_for_restart(&SETTINGS[i], running, fresh)) {
            status = keep_row(&SETTINGS[i], fresh, running);
        }
    }
    return status;
}

// ---- files that somebody is still writing

static const struct settings_file *file_of(const struct settings *settings, const char *path)
{
    for (size_t i = 0; i < settings->file_count; i++) {
        if (strcmp(settings->files[i].path, path) == 0) {
            return &settings->files[i];
        }
    }
    return NULL;
}

size_t settings_find_torn(const struct settings *running, const struct settings *fresh, settings_finding report,
                          void *context)
{
    size_t count = 0;
    for (size_t i = 0; i < fresh->file_count; i++) {
        const struct settings_file *file = &fresh->files[i];
        const struct settings_file *before = file_of(running, file->path);
        struct failure failure = { 0 };
        failure_at(&failure, file->path, 0, 0);
        if (before != NULL && file->is_empty && !before->is_empty) {
            failure_set(&failure, "the file sets nothing any more, and what runs came from it");
            failure_help(&failure, "if it is still being written, wait; to run on defaults, restart the engine");
        } else if (before != NULL && !file->has_end && before->has_end) {
            failure_set(&failure, "the last line has no end: the file may have been cut");
            failure_help(&failure, "if it is still being written, wait; if it is whole, end it with a line feed");
        } else {
            continue;
        }
        report(context, &failure);
        count++;
    }
    return count;
}
