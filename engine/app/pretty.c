#include "app/pretty.h"

#include "base/json_tree.h"
#include "base/json_write.h"

#include <string.h>

enum { ARENA_MAX = 256 << 20, LINE_MAX_BYTES = 96, INDENT = 2 };

static void indent(struct buffer *out, size_t depth)
{
    buffer_append_byte(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++) {
        buffer_append_byte(out, ' ');
    }
}

// ---------------------------------------------------------------------------------------------------------------- JSON

static void write_key(struct text key, struct buffer *out)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_text(&json, key.data == NULL ? TEXT("") : key);
    buffer_append_c(out, ": ");
}

static void write_node(const struct json_node *node, size_t depth, bool is_broken, struct buffer *out);

static void write_children(const struct json_node *node, size_t depth, bool is_broken, struct buffer *out)
{
    bool is_object = node->kind == JSON_BEGIN_OBJECT;

    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        if (is_broken) {
            indent(out, depth + 1);
        } else if (is_object && at == node->first) {
            buffer_append_byte(out, ' ');
        }
        if (is_object) {
            write_key(at->key, out);
        }
        write_node(at, depth + 1, is_broken, out);
        if (at->next != NULL) {
            buffer_append_c(out, is_broken ? "," : ", ");
        }
    }
    if (is_broken) {
        indent(out, depth);
    } else if (is_object) {
        buffer_append_byte(out, ' ');
    }
}

/// `may_break`: within lines of its own, so that it may have some as well.
static void write_node(const struct json_node *node, size_t depth, bool may_break, struct buffer *out)
{
    bool is_object = node->kind == JSON_BEGIN_OBJECT;
    size_t column = depth * INDENT + node->key.length;
    bool is_short =
        node->source.length + column < LINE_MAX_BYTES && memchr(node->source.data, '\n', node->source.length) == NULL;

    if (!is_object && node->kind != JSON_BEGIN_ARRAY) {
        buffer_append_text(out, node->source);
        return;
    }
    buffer_append_byte(out, is_object ? '{' : '[');
    if (node->count > 0) {
        write_children(node, depth, may_break && !(is_short && depth > 0), out);
    }
    buffer_append_byte(out, is_object ? '}' : ']');
}

void pretty_json(struct text json, struct buffer *out)
{
    struct arena arena;
    struct json_node *root;
    const char *sentence;
    size_t offset;

    arena_init(&arena, ARENA_MAX);
    if (json_tree_read(&arena, json, &root, &offset, &sentence) == STATUS_OK) {
        write_node(root, 0, true, out);
    } else {
        buffer_append_text(out, json);
    }
    arena_fini(&arena);
}

// ----------------------------------------------------------------------------------------------------------------- XML

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/// Where the blanks at `at` end, if a tag follows them; else `at`.
static size_t pass_blanks(struct text xml, size_t at)
{
    size_t next = at;

    while (next < xml.length && is_blank(xml.data[next])) {
        next++;
    }
    return next < xml.length && xml.data[next] == '<' ? next : at;
}

/// A line for each tag that stands behind another; blanks between them are ours.
static void pretty_xml(struct text xml, struct buffer *out)
{
    size_t depth = 0;

    for (size_t i = 0; i < xml.length; i++) {
        bool is_after_tag = out->length > 0 && i > 0 && out->data[out->length - 1] == '>';
        i = is_after_tag ? pass_blanks(xml, i) : i;
        bool is_open = xml.data[i] == '<' && i + 1 < xml.length;
        bool is_end = is_open && xml.data[i + 1] == '/';
        bool is_other = is_open && (xml.data[i + 1] == '?' || xml.data[i + 1] == '!');
        depth -= is_end && depth > 0 ? 1 : 0;
        if (is_open && is_after_tag) {
            indent(out, depth);
        }
        const char *close = is_open ? memchr(xml.data + i, '>', xml.length - i) : NULL;
        depth += is_open && !is_end && !is_other && close != NULL && close[-1] != '/' ? 1 : 0;
        buffer_append_byte(out, xml.data[i]);
    }
}

void pretty_body(struct text body, bool is_form, struct buffer *out)
{
    struct text trimmed = text_trim(body);

    if (is_form) {
        for (struct text rest = body; rest.data != NULL;) {
            buffer_append_text(out, text_split(rest, '&', &rest));
            buffer_append_c(out, rest.data != NULL ? "\n" : "");
        }
    } else if (trimmed.length > 0 && trimmed.data[0] == '<') {
        pretty_xml(trimmed, out);
    } else {
        pretty_json(body, out);
    }
}
