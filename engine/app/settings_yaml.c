#include "app/settings_yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

// Nesting is kept on a small stack of our own, so a hostile file cannot reach the C stack.
struct builder {
    yaml_parser_t parser;
    struct arena *arena;
    const char *file;
    struct text bytes;
    settings_finding report;
    void *context;
    struct settings_node *open[SETTINGS_DEPTH_MAX];
    uint32_t depth;
    struct settings_node *root;
    struct settings_node *duplicate; // takes the value of a key that stands twice, apart from the tree
    struct text key;                 // read, its value still to come; absent: none
    uint32_t key_line, key_column;
    uint32_t documents;
    uint32_t nodes;
    uint32_t findings;
    enum status status; // not OK: the walk ends
};

struct settings_node *settings_node_create(struct arena *arena, enum settings_node_kind kind, const char *file,
                                           uint32_t line, uint32_t column)
{
    struct settings_node *node = arena_alloc(arena, sizeof(*node));
    if (node != NULL) {
        node->kind = kind;
        node->file = file;
        node->line = line;
        node->column = column;
    }
    return node;
}

void settings_node_append(struct settings_node *parent, struct settings_node *child)
{
    if (parent->last == NULL) {
        parent->first = child;
    } else {
        parent->last->next = child;
    }
    parent->last = child;
}

bool settings_node_is_nothing(const struct settings_node *node)
{
    return node->kind == SETTINGS_SCALAR && node->is_plain &&
           (node->value.length == 0 || text_equals_c(node->value, "~") || text_equals_c(node->value, "null") ||
            text_equals_c(node->value, "Null") || text_equals_c(node->value, "NULL"));
}

static uint32_t position(size_t from_zero)
{
    return from_zero >= UINT32_MAX ? UINT32_MAX : (uint32_t)from_zero + 1;
}

static void find(struct builder *builder, yaml_mark_t mark, enum code code, const char *message, const char *help)
{
    struct failure failure = { .code = code };
    failure_at(&failure, builder->file, position(mark.line), position(mark.column));
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    builder->report(builder->context, &failure);
    builder->findings++;
}

static void find_and_end(struct builder *builder, yaml_mark_t mark, const char *message, const char *help)
{
    find(builder, mark, CODE_SETTINGS_UNREADABLE, message, help);
    builder->status = STATUS_INVALID;
}

// The reader of libyaml gives an offset in bytes instead of a mark.
static yaml_mark_t mark_of_offset(struct text bytes, size_t offset)
{
    yaml_mark_t mark = { .index = offset };
    for (size_t i = 0; i < offset && i < bytes.length; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        if (byte == '\n') {
            mark.line++;
            mark.column = 0;
        } else if ((byte & 0xc0U) != 0x80U) {
            mark.column++;
        }
    }
    return mark;
}

/// Is there a tab before the first word of that line, counted from 0, or of the one before?
static bool is_indented_by_tab(struct text bytes, size_t line)
{
    size_t at = 0, row = 0;

    while (at < bytes.length && row <= line) {
        size_t end = at;
        while (end < bytes.length && (bytes.data[end] == ' ' || bytes.data[end] == '\t')) {
            end++;
        }
        if (row + 1 >= line && memchr(bytes.data + at, '\t', end - at) != NULL) {
            return true;
        }
        const char *newline = memchr(bytes.data + end, '\n', bytes.length - end);
        at = newline == NULL ? bytes.length : (size_t)(newline - bytes.data) + 1;
        row++;
    }
    return false;
}

static void find_syntax(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        builder->status = STATUS_NO_MEMORY;
        return;
    }
    yaml_mark_t mark = parser->error == YAML_READER_ERROR ? mark_of_offset(builder->bytes, parser->problem_offset)
                                                          : parser->problem_mark;
    char message[256];
    const char *problem = parser->problem != NULL ? parser->problem : "not readable";
    if (parser->context != NULL) {
        snprintf(message, sizeof(message), "this is not YAML: %s (%s, from line %u)", problem, parser->context,
                 position(parser->context_mark.line));
    } else {
        snprintf(message, sizeof(message), "this is not YAML: %s", problem);
    }
    find_and_end(builder, mark, message,
                 is_indented_by_tab(builder->bytes, mark.line) ? "indent with spaces: a tab is none to YAML"
                 : strstr(problem, "cannot start any token") != NULL
                     ? "indent with spaces, and put quotes around text that starts with a special character"
                     : "");
}

static struct settings_node *parent_of(const struct builder *builder)
{
    return builder->depth == 0 ? NULL : builder->open[builder->depth - 1];
}

static struct settings_node *find_entry(const struct settings_node *map, struct text key)
{
    for (struct settings_node *entry = map->first; entry != NULL; entry = entry->next) {
        if (text_equals(entry->key, key)) {
            return entry;
        }
    }
    return NULL;
}

static bool wants_key(const struct builder *builder)
{
    const struct settings_node *parent = parent_of(builder);
    return parent != NULL && parent->kind == SETTINGS_MAP && builder->key.data == NULL;
}

// A new node where the event stands; NULL: the walk has ended.
static struct settings_node *make_node(struct builder *builder, const yaml_event_t *event, enum settings_node_kind kind)
{
    if (builder->nodes++ == SETTINGS_NODES_MAX) {
        find_and_end(builder, event->start_mark, "more than 20000 values", "divide the work between several engines");
        return NULL;
    }
    struct settings_node *node = settings_node_create(
        builder->arena, kind, builder->file, position(event->start_mark.line), position(event->start_mark.column));
    if (node == NULL) {
        builder->status = STATUS_NO_MEMORY;
    }
    return node;
}

// A node that is complete or just begun takes its place under its parent.
static void attach(struct builder *builder, struct settings_node *node)
{
    struct settings_node *parent = parent_of(builder);
    if (parent == NULL) {
        builder->root = node;
        return;
    }
    if (parent->kind == SETTINGS_MAP) {
        node->key = builder->key;
        node->key_line = builder->key_line;
        node->key_column = builder->key_column;
        builder->key = (struct text){ 0 };
        if (builder->duplicate != NULL) {
            builder->duplicate = NULL; // reported; its value is read and left out
            return;
        }
    }
    settings_node_append(parent, node);
}

static void take_key(struct builder *builder, const yaml_event_t *event)
{
    struct text key = { (const char *)event->data.scalar.value, event->data.scalar.length };
    const char *help = "";
    char message[256];

    builder->key_line = position(event->start_mark.line);
    builder->key_column = position(event->start_mark.column);
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && text_equals_c(key, "<<")) {
        find_and_end(builder, event->start_mark, "merge keys (`<<`) are not supported",
                     "write the settings out where they are needed");
        return;
    }
    if (memchr(key.data, 0, key.length) != NULL) {
        find_and_end(builder, event->start_mark, "a key holds a NUL byte", "");
        return;
    }
    builder->key = arena_copy(builder->arena, key);
    if (builder->key.data == NULL) {
        builder->status = STATUS_NO_MEMORY;
        return;
    }
    builder->duplicate = find_entry(parent_of(builder), key);
    if (builder->duplicate != NULL) {
        snprintf(message, sizeof(message), "`%.*s` stands twice; the first is in line %u",
                 TEXT_ARGS(key.length > 100 ? ((struct text){ key.data, 100 }) : key), builder->duplicate->key_line);
        help = "keep one of them";
        find(builder, event->start_mark, CODE_SETTING_TWICE, message, help);
    }
}

static void take_scalar(struct builder *builder, const yaml_event_t *event)
{
    if (wants_key(builder)) {
        take_key(builder, event);
        return;
    }
    struct text value = { (const char *)event->data.scalar.value, event->data.scalar.length };
    if (memchr(value.data, 0, value.length) != NULL) {
        find_and_end(builder, event->start_mark, "a value holds a NUL byte", "");
        return;
    }
    struct settings_node *node = make_node(builder, event, SETTINGS_SCALAR);
    if (node == NULL) {
        return;
    }
    node->value = arena_copy(builder->arena, value);
    if (node->value.data == NULL) {
        builder->status = STATUS_NO_MEMORY;
        return;
    }
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    attach(builder, node);
}

static void take_begin(struct builder *builder, const yaml_event_t *event, enum settings_node_kind kind)
{
    if (wants_key(builder)) {
        find_and_end(builder, event->start_mark, "a key is a word, not a list or a map", "");
        return;
    }
    if (builder->depth == SETTINGS_DEPTH_MAX) {
        find_and_end(builder, event->start_mark, "nested deeper than 16 levels", "no setting lies that deep");
        return;
    }
    struct settings_node *node = make_node(builder, event, kind);
    if (node == NULL) {
        return;
    }
    attach(builder, node);
    builder->open[builder->depth++] = node;
}

static bool has_tag_or_anchor(struct builder *builder, const yaml_event_t *event)
{
    const yaml_char_t *tag = NULL;
    const yaml_char_t *anchor = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        tag = event->data.scalar.tag;
        anchor = event->data.scalar.anchor;
        break;
    case YAML_SEQUENCE_START_EVENT:
        tag = event->data.sequence_start.tag;
        anchor = event->data.sequence_start.anchor;
        break;
    case YAML_MAPPING_START_EVENT:
        tag = event->data.mapping_start.tag;
        anchor = event->data.mapping_start.anchor;
        break;
    case YAML_ALIAS_EVENT:
        find_and_end(builder, event->start_mark, "aliases (`*name`) are not supported",
                     "write the settings out where they are needed; text that starts with `*` needs quotes");
        return true;
    default:
        break;
    }
    if (anchor != NULL) {
        find_and_end(builder, event->start_mark, "anchors (`&name`) are not supported",
                     "write the settings out where they are needed; text that starts with `&` needs quotes");
    } else if (tag != NULL) {
        find_and_end(builder, event->start_mark, "tags (`!name`) are not supported",
                     "leave the tag out; text that starts with `!` needs quotes");
    }
    return anchor != NULL || tag != NULL;
}

static void take(struct builder *builder, const yaml_event_t *event)
{
    if (has_tag_or_anchor(builder, event)) {
        return;
    }
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->documents++ > 0) {
            find_and_end(builder, event->start_mark, "a second document begins here",
                         "one file is one document; give several files with -c");
        }
        break;
    case YAML_SCALAR_EVENT:
        take_scalar(builder, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        take_begin(builder, event, SETTINGS_LIST);
        break;
    case YAML_MAPPING_START_EVENT:
        take_begin(builder, event, SETTINGS_MAP);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        require(builder->depth > 0);
        builder->depth--;
        break;
    default:
        break;
    }
}

static void walk_events(struct builder *builder)
{
    bool is_at_end = false;
    while (builder->status == STATUS_OK && !is_at_end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&builder->parser, &event)) {
            find_syntax(builder);
            return;
        }
        take(builder, &event);
        is_at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
}

static void finish_root(struct builder *builder)
{
    if (builder->status != STATUS_OK) {
        return;
    }
    if (builder->root == NULL || settings_node_is_nothing(builder->root)) {
        builder->root = settings_node_create(builder->arena, SETTINGS_MAP, builder->file, 1, 1);
        if (builder->root == NULL) {
            builder->status = STATUS_NO_MEMORY;
        }
    } else if (builder->root->kind != SETTINGS_MAP) {
        yaml_mark_t mark = { .line = builder->root->line - 1, .column = builder->root->column - 1 };
        find_and_end(builder, mark, "settings are a map of `name: value`",
                     "begin with a line like `listen: 127.0.0.1:8080`");
    }
}

enum status settings_yaml_parse(struct arena *arena, const char *file, struct text bytes, settings_finding report,
                                void *context, struct settings_node **root)
{
    struct builder builder = {
        .arena = arena, .file = file, .bytes = bytes, .report = report, .context = context, .status = STATUS_OK
    };
    *root = NULL;
    if (bytes.length > SETTINGS_FILE_MAX) {
        find(&builder, (yaml_mark_t){ 0 }, CODE_SETTINGS_UNREADABLE, "the file is larger than 1 MiB", "");
        return STATUS_INVALID;
    }
    if (!yaml_parser_initialize(&builder.parser)) {
        return STATUS_NO_MEMORY;
    }
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)(bytes.length == 0 ? "" : bytes.data),
                                 bytes.length);
    walk_events(&builder);
    yaml_parser_delete(&builder.parser);
    finish_root(&builder);
    if (builder.status == STATUS_OK && builder.findings > 0) {
        builder.status = STATUS_INVALID;
    }
    if (builder.status == STATUS_OK) {
        *root = builder.root;
    }
    return builder.status;
}
