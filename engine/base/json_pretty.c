#include "base/json_pretty.h"

enum { STEP = 2 };

struct pretty {
    uint32_t width;
    struct buffer *out;
};

static bool is_tree(const struct json_node *node)
{
    return node->kind == JSON_BEGIN_OBJECT || node->kind == JSON_BEGIN_ARRAY;
}

/// The key as it stands in the source, with its quotes: it ends before the colon, which stands before the value.
static size_t key_length(const struct json_node *node)
{
    return node->parent != NULL && node->parent->kind == JSON_BEGIN_OBJECT ? node->key.length + 4 : 0;
}

/// How long the node is in one line; more than `most` as soon as that is clear.
static size_t line_length(const struct json_node *node, size_t most)
{
    if (!is_tree(node)) {
        return node->source.length;
    }
    size_t length = node->count == 0 ? 2 : 4;
    for (const struct json_node *below = node->first; below != NULL && length <= most; below = below->next) {
        length += key_length(below) + line_length(below, most) + (below->next != NULL ? 2 : 0);
    }
    return length;
}

static void write_escaped(struct text key, struct buffer *out)
{
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < key.length; i++) {
        unsigned char c = (unsigned char)key.data[i];
        if (c == '"' || c == '\\') {
            buffer_printf(out, "\\%c", c);
        } else if (c < ' ') {
            buffer_printf(out, "\\u%04x", c);
        } else {
            buffer_append_byte(out, (char)c);
        }
    }
    buffer_append_byte(out, '"');
}

static void write_break(const struct pretty *pretty, uint32_t indent)
{
    buffer_append_byte(pretty->out, '\n');
    for (uint32_t i = 0; i < indent; i++) {
        buffer_append_byte(pretty->out, ' ');
    }
}

// The depth is that of a document that was read, which has a limit.
static void write_node(const struct pretty *pretty, const struct json_node *node, uint32_t indent, size_t before)
{
    struct buffer *out = pretty->out;
    bool is_object = node->kind == JSON_BEGIN_OBJECT;

    if (!is_tree(node)) {
        buffer_append_text(out, node->source);
        return;
    }
    bool fits = before + line_length(node, pretty->width) < pretty->width;
    buffer_append_byte(out, is_object ? '{' : '[');
    for (const struct json_node *below = node->first; below != NULL; below = below->next) {
        if (fits) {
            buffer_append_c(out, below != node->first || is_object ? " " : "");
        } else {
            write_break(pretty, indent + STEP);
        }
        if (is_object) {
            write_escaped(below->key, out);
            buffer_append_c(out, ": ");
        }
        write_node(pretty, below, indent + STEP, indent + STEP + key_length(below));
        buffer_append_c(out, below->next != NULL ? "," : "");
    }
    if (!fits) {
        write_break(pretty, indent);
    } else if (is_object && node->count > 0) {
        buffer_append_byte(out, ' ');
    }
    buffer_append_byte(out, is_object ? '}' : ']');
}

void json_pretty(const struct json_node *root, uint32_t width, struct buffer *out)
{
    write_node(&(struct pretty){ width, out }, root, 0, 0);
    buffer_append_byte(out, '\n');
}
