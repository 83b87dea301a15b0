#include "app/settings_apply.h"
#include "app/settings_value.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_LENGTH_MAX = 4095, SHOWN_LENGTH_MAX = 60 };

// One value on its way: what it is, where it goes, what a finding says about it.
struct target {
    struct settings_reader *reader;
    const struct setting *row;
    char *base;
    const struct settings_node *node;
};

static void find(const struct target *target, const struct settings_node *node, const char *sentence, const char *help)
{
    struct buffer message;
    buffer_init(&message, 500);
    buffer_append_byte(&message, '`');
    setting_path_write(&target->reader->path, &message);
    buffer_printf(&message, "` %s", sentence);
    buffer_append_byte(&message, 0);
    settings_find(target->reader, node->file, node->line, node->column, CODE_SETTING_VALUE,
                  message.is_full ? "a value is wrong" : message.data, help);
    buffer_fini(&message);
}

// "`KEY`: `VALUE` SENTENCE"; long values are shortened, control characters replaced.
static void find_value(const struct target *target, const struct settings_node *node, const char *sentence,
                       const char *help)
{
    struct buffer words;
    buffer_init(&words, 300);
    buffer_append_c(&words, "is `");
    struct text value = node->value;
    for (size_t i = 0; i < value.length; i++) {
        unsigned char byte = (unsigned char)value.data[i];
        if (i >= SHOWN_LENGTH_MAX && (byte & 0xc0U) != 0x80U) {
            buffer_append_c(&words, "...");
            break;
        }
        buffer_append_byte(&words, byte < 0x20 || byte == 0x7f ? '?' : (char)byte);
    }
    buffer_printf(&words, "`, which %s", sentence);
    buffer_append_byte(&words, 0);
    find(target, node, words.is_full ? sentence : words.data, help);
    buffer_fini(&words);
}

static void find_range(const struct target *target)
{
    char help[128];
    snprintf(help, sizeof(help), "from %s to %s", target->row->least, target->row->most);
    find_value(target, target->node, "is out of range", help);
}

static bool parse_number(enum setting_kind kind, struct text text, uint64_t *value, struct value_problem *problem)
{
    switch (kind) {
    case SETTING_DURATION:
        return value_duration(text, value, problem);
    case SETTING_SIZE:
        return value_size(text, value, problem);
    case SETTING_SHARE:
        return value_share(text, value, problem);
    case SETTING_DECIMAL:
        return value_decimal(text, value, problem);
    default:
        return value_integer(text, value, problem);
    }
}

static bool is_choice(const char *choices, struct text word)
{
    struct text rest = text_of(choices);
    while (rest.data != NULL) {
        if (text_equals(text_split(rest, ' ', &rest), word)) {
            return true;
        }
    }
    return false;
}

static void store_number(const struct target *target)
{
    const struct setting *row = target->row;
    struct value_problem problem = { 0 };
    uint64_t value = row->kind == SETTING_INTEGER ? 0 : SETTINGS_AUTO; // of a word
    uint64_t least = 0;
    uint64_t most = 0;

    if (row->choices == NULL || !is_choice(row->choices, target->node->value)) {
        if (!parse_number(row->kind, target->node->value, &value, &problem)) {
            find_value(target, target->node, problem.sentence, problem.help);
            return;
        }
        require(parse_number(row->kind, text_of(row->least), &least, &problem));
        require(parse_number(row->kind, text_of(row->most), &most, &problem));
        if (value < least || value > most) {
            find_range(target);
            return;
        }
    }
    if (row->kind == SETTING_INTEGER) {
        *(uint32_t *)(void *)(target->base + row->offset) = (uint32_t)value;
    } else {
        *(uint64_t *)(void *)(target->base + row->offset) = value;
    }
}

// A copy in the settings; absent when it cannot be kept, and then reported.
static struct text keep_text(const struct target *target, const struct settings_node *node)
{
    struct text text = node->value;
    struct text kept = { 0 };
    if (text.length > TEXT_LENGTH_MAX) {
        find_value(target, node, "is longer than 4095 bytes", "");
        return kept;
    }
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f) {
            find_value(target, node, "holds a control character", "");
            return kept;
        }
    }
    if (!text_is_utf8(text)) {
        find(target, node, "is not UTF-8", "");
        return kept;
    }
    kept = arena_copy(&target->reader->settings->arena, text);
    if (kept.data == NULL) {
        target->reader->is_out_of_memory = true;
    }
    return kept;
}

static void store_text(const struct target *target)
{
    const struct setting *row = target->row;
    const struct settings_node *node = target->node;
    struct value_problem problem = { 0 };
    bool is_address = row->kind == SETTING_ADDRESS || (row->kind == SETTING_ADDRESS_OR_NONE && node->value.length > 0);
    if (node->value.length == 0 && row->kind != SETTING_ADDRESS_OR_NONE) {
        find(target, node, "is empty", "");
        return;
    }
    if (row->kind == SETTING_VARIABLE && !value_variable(node->value)) {
        // The value is not shown: it may be the secret itself.
        find(target, node, "is not the name of an environment variable",
             "a secret never stands here; put it into a variable and write the variable's name");
        return;
    }
    if ((is_address && !value_address(node->value, &problem)) ||
        (row->kind == SETTING_NAME && !value_name(node->value, &problem))) {
        find_value(target, node, problem.sentence, problem.help);
        return;
    }
    if (row->choices != NULL && !is_choice(row->choices, node->value)) {
        char help[160];
        snprintf(help, sizeof(help), "one of: %s", row->choices);
        find_value(target, node, "is not a choice", help);
        return;
    }
    struct text text = keep_text(target, node);
    if (text.data != NULL) {
        *(struct text *)(void *)(target->base + row->offset) = text;
    }
}

static void store_flag(const struct target *target)
{
    struct value_problem problem = { 0 };
    bool flag = false;
    if (!value_flag(target->node->value, &flag, &problem)) {
        find_value(target, target->node, problem.sentence, problem.help);
        return;
    }
    *(bool *)(void *)(target->base + target->row->offset) = flag;
}

static bool is_value(const struct target *target, const struct settings_node *node)
{
    char help[200];
    const char *preset = target->row->preset;
    if (node->kind != SETTINGS_SCALAR) {
        find(target, node, node->kind == SETTINGS_LIST ? "is one value, not a list" : "is one value, not a map", "");
        return false;
    }
    if (!node->is_environment && settings_node_is_nothing(node)) {
        if (preset != NULL && preset[0] != 0) {
            snprintf(help, sizeof(help), "leave the line out for the default, %s", preset);
        }
        find(target, node, "has no value", preset != NULL && preset[0] != 0 ? help : "leave the line out");
        return false;
    }
    return true;
}

static size_t item_size(enum setting_kind kind)
{
    switch (kind) {
    case SETTING_RANGES:
        return sizeof(struct address_range);
    case SETTING_NAME_SERVERS:
        return sizeof(const char *);
    default:
        return sizeof(struct text);
    }
}

// Puts one item of a list at `slot`; false: it was reported.
static bool store_item(const struct target *target, const struct settings_node *node, void *slot)
{
    struct value_problem problem = { 0 };
    if (!is_value(target, node)) {
        return false;
    }
    if (node->value.length == 0) {
        find(target, node, "has an empty item", "");
        return false;
    }
    if (target->row->kind == SETTING_RANGES) {
        bool is_range = address_range_parse(node->value, slot);
        if (!is_range) {
            find_value(target, node, "is not an address range", "write it like 10.1.0.0/16 or fd00::/8");
        }
        return is_range;
    }
    if ((target->row->kind == SETTING_NAME_SERVERS && !value_name_server(node->value, &problem)) ||
        (target->row->kind == SETTING_NAMES && !value_name(node->value, &problem)) ||
        (target->row->kind == SETTING_ORIGINS && !value_origin(node->value, &problem))) {
        find_value(target, node, problem.sentence, problem.help);
        return false;
    }
    struct text text = keep_text(target, node);
    if (text.data == NULL) {
        return false;
    }
    if (target->row->kind == SETTING_NAME_SERVERS) {
        *(const char **)slot = text.data;
    } else {
        *(struct text *)slot = text;
    }
    return true;
}

// "a, b" of one scalar, as the nodes of a list. NULL without memory.
static struct settings_node *split_scalar(struct arena *arena, const struct settings_node *scalar)
{
    struct settings_node *list = settings_node_create(arena, SETTINGS_LIST, scalar->file, scalar->line, scalar->column);
    struct text rest = text_trim(scalar->value);
    while (list != NULL && rest.data != NULL && rest.length > 0) {
        struct settings_node *item =
            settings_node_create(arena, SETTINGS_SCALAR, scalar->file, scalar->line, scalar->column);
        if (item == NULL) {
            return NULL;
        }
        item->value = text_trim(text_split(rest, ',', &rest));
        item->is_environment = true;
        settings_node_append(list, item);
    }
    return list;
}

// The node as a list; NULL: it cannot be one, and was reported.
static const struct settings_node *list_of(const struct target *target)
{
    const struct settings_node *node = target->node;
    struct arena *arena = &target->reader->settings->arena;
    struct settings_node *list = NULL;
    if (node->kind == SETTINGS_LIST) {
        return node;
    }
    if (node->kind == SETTINGS_SCALAR && node->is_environment) {
        list = split_scalar(arena, node);
    } else if (node->kind == SETTINGS_MAP ||
               (target->row->kind != SETTING_LIST && target->row->kind != SETTING_ORIGINS)) {
        find(target, node, "is a list", "write it like [ first, second ]");
        return NULL;
    } else if (!is_value(target, node)) {
        return NULL;
    } else {
        list = settings_node_create(arena, SETTINGS_LIST, node->file, node->line, node->column);
        struct settings_node *item = arena_alloc(arena, sizeof(*item));
        if (list != NULL && item != NULL) {
            *item = *node;
            item->next = NULL;
            settings_node_append(list, item);
        }
    }
    if (list == NULL) {
        target->reader->is_out_of_memory = true;
    }
    return list;
}

// A name that stands in the list twice is a slip of the pen.
static bool find_twice(const struct target *target, const struct settings_node *list)
{
    for (const struct settings_node *item = list->first; item != NULL; item = item->next) {
        for (const struct settings_node *other = list->first; other != item; other = other->next) {
            if (text_equals(item->value, other->value)) {
                find_value(target, item, "stands there twice", "");
                return true;
            }
        }
    }
    return false;
}

static void store_list(const struct target *target)
{
    const struct setting *row = target->row;
    const struct settings_node *list = list_of(target);
    size_t count = 0;
    bool is_whole = true;
    if (list == NULL) {
        return;
    }
    for (const struct settings_node *item = list->first; item != NULL; item = item->next) {
        count++;
    }
    if (count == 0 && row->kind == SETTING_LIST) {
        find(target, list, "is empty", "name at least one");
        return;
    }
    size_t size = item_size(row->kind);
    char *items = arena_alloc_array(&target->reader->settings->arena, count == 0 ? 1 : count, size);
    if (items == NULL) {
        target->reader->is_out_of_memory = true;
        return;
    }
    char *slot = items;
    for (const struct settings_node *item = list->first; item != NULL; item = item->next, slot += size) {
        is_whole = store_item(target, item, slot) && is_whole;
    }
    if (is_whole && row->kind == SETTING_NAMES && find_twice(target, list)) {
        return;
    }
    if (is_whole) {
        *(void **)(void *)(target->base + row->offset) = items;
        *(size_t *)(void *)(target->base + row->count_offset) = count;
    }
}

// The pair of that key in the account, made when it is new; NULL without memory.
static struct settings_pair *pair_of(const struct target *target, struct text key)
{
    struct settings_pair **pairs = (struct settings_pair **)(void *)(target->base + target->row->offset);
    size_t *count = (size_t *)(void *)(target->base + target->row->count_offset);
    struct arena *arena = &target->reader->settings->arena;
    for (size_t i = 0; i < *count; i++) {
        if (text_equals((*pairs)[i].key, key)) {
            return &(*pairs)[i];
        }
    }
    struct text kept = arena_copy(arena, key);
    struct settings_pair *grown = settings_grow(arena, *pairs, *count, sizeof(**pairs));
    if (kept.data == NULL || grown == NULL) {
        return NULL;
    }
    *pairs = grown;
    grown[*count].key = kept;
    return &grown[(*count)++];
}

static void store_pair(const struct target *target)
{
    const struct settings_node *node = target->node;
    struct settings_reader *reader = target->reader;
    struct text key = reader->path.parts[reader->path.count - 1];
    if (target->row->kind == SETTING_SECRET && !value_variable(node->value)) {
        // The value is not shown: it may be the secret itself.
        find(target, node, "is not the name of an environment variable",
             "a secret never stands here; put it into a variable and write the variable's name");
        return;
    }
    struct text value = keep_text(target, node);
    struct settings_pair *pair = value.data == NULL ? NULL : pair_of(target, key);
    if (pair == NULL) {
        reader->is_out_of_memory = reader->is_out_of_memory || value.data != NULL;
        return;
    }
    pair->value = value;
    pair->is_plain = node->is_plain || node->is_environment;
    pair->file = node->file;
    pair->line = node->line;
    pair->column = node->column;
}

void *settings_grow(struct arena *arena, const void *items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0) {
        return (void *)items;
    }
    void *grown = arena_alloc_array(arena, count == 0 ? 1 : count * 2, size);
    if (grown != NULL && count > 0) {
        memcpy(grown, items, count * size);
    }
    return grown;
}

void settings_store(struct settings_reader *reader, const struct setting *row, void *base,
                    const struct settings_node *node)
{
    struct target target = { reader, row, base, node };
    if (row->count_offset != 0 && row->kind != SETTING_PAIR && row->kind != SETTING_SECRET) {
        store_list(&target);
        return;
    }
    if (!is_value(&target, node)) {
        return;
    }
    switch (row->kind) {
    case SETTING_DURATION:
    case SETTING_SIZE:
    case SETTING_SHARE:
    case SETTING_DECIMAL:
    case SETTING_INTEGER:
        store_number(&target);
        break;
    case SETTING_TEXT:
    case SETTING_NAME:
    case SETTING_ADDRESS:
    case SETTING_ADDRESS_OR_NONE:
    case SETTING_VARIABLE:
        store_text(&target);
        break;
    case SETTING_FLAG:
        store_flag(&target);
        break;
    case SETTING_PAIR:
    case SETTING_SECRET:
        store_pair(&target);
        break;
    default:
        require(false);
    }
}
