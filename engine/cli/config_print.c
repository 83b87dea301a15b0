#include "cli/config_print.h"

#include <string.h>

enum { STEP = 2, COMMENT_COLUMN = 40, PATH_CAP = 8192 };

static void write_spaces(size_t count, struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_byte(out, ' ');
    }
}

// ---------------------------------------------------------------------------------------------------------------- YAML

/// Could it be read as it is, also within a list? Then it needs no quotes.
static bool is_safe(struct text value)
{
    static const char *const WORDS[] = { "~", "null", "Null", "NULL" };

    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        if (text_equals_c(value, WORDS[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool is_inner = i > 0 && i + 1 < value.length && c != '\0' && strchr(".:@%+-/=<> ", c) != NULL;
        bool is_colon_blank = c == ':' && i + 1 < value.length && value.data[i + 1] == ' ';
        if ((!is_word && !is_inner && c != '_' && c != '/' && c != '.' && c != '%') || is_colon_blank) {
            return false;
        }
    }
    return value.length > 0 && value.data[0] != '%';
}

static void write_quoted(struct text value, struct buffer *out)
{
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < value.length; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if (c == '"' || c == '\\') {
            buffer_printf(out, "\\%c", c);
        } else if (c < ' ' || c == 0x7f) {
            buffer_printf(out, "\\x%02x", c);
        } else {
            buffer_append_byte(out, (char)c);
        }
    }
    buffer_append_byte(out, '"');
}

/// In one line. What stood without quotes keeps doing so where it can: a plain `2` of an option is a number.
static void write_flow(const struct settings_node *node, struct buffer *out)
{
    bool is_list = node->kind == SETTINGS_LIST;

    if (node->kind == SETTINGS_SCALAR) {
        if ((node->is_plain || node->is_environment) && is_safe(node->value)) {
            buffer_append_text(out, node->value);
        } else {
            write_quoted(node->value, out);
        }
        return;
    }
    buffer_append_c(out, is_list ? "[" : "{");
    for (const struct settings_node *below = node->first; below != NULL; below = below->next) {
        buffer_append_c(out, below == node->first ? (is_list ? "" : " ") : ", ");
        if (!is_list) {
            buffer_append_text(out, below->key);
            buffer_append_c(out, ": ");
        }
        write_flow(below, out);
    }
    buffer_append_c(out, is_list ? "]" : node->first != NULL ? " }" : "}");
}

/// "lastcall.yaml:12", "LASTCALL__DEADLINE__MAX", "suppliers/acme.lua", "built-in"
static void write_source(const struct settings_said *said, struct buffer *out)
{
    buffer_append_c(out, said->file == NULL ? "built-in" : said->file);
    if (said->source == SETTINGS_FILE && said->line > 0) {
        buffer_printf(out, ":%u", said->line);
    }
}

static bool is_list_of_maps(const struct settings_node *node)
{
    return node->kind == SETTINGS_LIST && node->first != NULL && node->first->kind == SETTINGS_MAP;
}

static void write_origin(const struct settings_said *said, struct buffer *out)
{
    buffer_append_c(out, "# ");
    write_source(said, out);
    for (const struct settings_said *loser = said->before; loser != NULL; loser = loser->before) {
        buffer_append_c(out, loser == said->before ? ", over " : ", ");
        write_source(loser, out);
        if (is_list_of_maps(loser->value)) {
            continue; // rules are too long for a comment
        }
        buffer_append_c(out, " (");
        write_flow(loser->value, out);
        buffer_append_byte(out, ')');
    }
}

static void write_setting(const struct settings_shown_node *node, bool has_origin, size_t indent, struct buffer *out)
{
    const struct settings_node *value = node->said->value;
    size_t began = out->length;

    write_spaces(indent, out);
    buffer_append_text(out, node->key);
    buffer_append_c(out, is_list_of_maps(value) ? ":" : ": ");
    if (!is_list_of_maps(value)) {
        write_flow(value, out);
    }
    if (has_origin) {
        size_t width = out->length - began;
        write_spaces(width + 2 < COMMENT_COLUMN ? COMMENT_COLUMN - width : 2, out);
        write_origin(node->said, out);
    }
    buffer_append_byte(out, '\n');
    for (const struct settings_node *item = value->first; item != NULL && is_list_of_maps(value); item = item->next) {
        write_spaces(indent + STEP, out);
        buffer_append_c(out, "- ");
        write_flow(item, out);
        buffer_append_byte(out, '\n');
    }
}

// The depth is that of the settings' keys.
static void write_section(const struct settings_shown_node *section, bool has_origin, size_t indent, struct buffer *out)
{
    for (const struct settings_shown_node *node = section->first; node != NULL; node = node->next) {
        if (node->said != NULL) {
            write_setting(node, has_origin, indent, out);
            continue;
        }
        write_spaces(indent, out);
        buffer_append_text(out, node->key);
        buffer_append_c(out, node->first == NULL ? ": {}\n" : ":\n");
        write_section(node, has_origin, indent + STEP, out);
    }
}

void config_print_yaml(const struct settings_shown *shown, bool has_origin, struct buffer *out)
{
    write_section(&shown->root, has_origin, 0, out);
}

// ---------------------------------------------------------------------------------------------------------------- JSON

static void write_value(const struct settings_node *node, struct json_writer *json)
{
    if (node->kind == SETTINGS_SCALAR) {
        json_text(json, node->value.data == NULL ? TEXT("") : node->value);
        return;
    }
    bool is_list = node->kind == SETTINGS_LIST;
    (is_list ? json_begin_array : json_begin_object)(json);
    for (const struct settings_node *below = node->first; below != NULL; below = below->next) {
        if (!is_list) {
            json_key_text(json, below->key);
        }
        write_value(below, json);
    }
    (is_list ? json_end_array : json_end_object)(json);
}

static void write_nested(const struct settings_shown_node *section, struct json_writer *json)
{
    json_begin_object(json);
    for (const struct settings_shown_node *node = section->first; node != NULL; node = node->next) {
        json_key_text(json, node->key);
        if (node->said != NULL) {
            write_value(node->said->value, json);
        } else {
            write_nested(node, json);
        }
    }
    json_end_object(json);
}

static void write_said(const struct settings_said *said, struct json_writer *json)
{
    static const char *const SOURCES[] = { "built-in", "script", "file", "environment" };

    json_field_c(json, "source", SOURCES[said->source]);
    if (said->file != NULL) {
        json_field_c(json, said->source == SETTINGS_ENVIRONMENT ? "variable" : "file", said->file);
    }
    if (said->source == SETTINGS_FILE) {
        json_field_u64(json, "line", said->line);
    }
    json_key(json, "value");
    write_value(said->value, json);
}

static void write_list(const struct settings_shown_node *section, struct buffer *path, struct json_writer *json)
{
    for (const struct settings_shown_node *node = section->first; node != NULL; node = node->next) {
        size_t length = path->length;
        buffer_printf(path, "%s%.*s", length > 0 ? "." : "", TEXT_ARGS(node->key));
        if (node->said != NULL) {
            json_begin_object(json);
            json_field_text(json, "key", buffer_text(path));
            write_said(node->said, json);
            json_key(json, "over");
            json_begin_array(json);
            for (const struct settings_said *loser = node->said->before; loser != NULL; loser = loser->before) {
                json_begin_object(json);
                write_said(loser, json);
                json_end_object(json);
            }
            json_end_array(json);
            json_end_object(json);
        }
        write_list(node, path, json);
        path->length = length;
    }
}

void config_print_json(const struct settings_shown *shown, bool has_origin, struct json_writer *json)
{
    struct buffer path;

    if (!has_origin) {
        write_nested(&shown->root, json);
        return;
    }
    buffer_init(&path, PATH_CAP);
    json_begin_array(json);
    write_list(&shown->root, &path, json);
    json_end_array(json);
    buffer_fini(&path);
}
