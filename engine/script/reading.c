#include "script/reading.h"

#include <string.h>

enum { TREES_MAX = 1 << 20 };

void reading_init(struct reading *reading)
{
    reading->is_all = false;
    buffer_init(&reading->trees, TREES_MAX);
    buffer_init(&reading->text, TREES_MAX + 64);
}

void reading_fini(struct reading *reading)
{
    buffer_fini(&reading->trees);
    buffer_fini(&reading->text);
}

void reading_clear(struct reading *reading)
{
    reading->is_all = false;
    buffer_clear(&reading->trees);
}

static void write_key(struct buffer *out, struct text name)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_text(&json, name);
    buffer_append_byte(out, ':');
}

// The writer's depth has an end that trees do not have, so brackets are written here.
static void write_node(struct buffer *out, const struct declared *node)
{
    switch (node->kind) {
    case DECLARED_SCALAR:
        buffer_append_byte(out, '1');
        return;
    case DECLARED_RAW:
        buffer_append_byte(out, '2');
        return;
    case DECLARED_LIST:
    case DECLARED_MAP:
        buffer_append_c(out, node->kind == DECLARED_LIST ? "{\"l\":" : "{\"m\":");
        write_node(out, node->element);
        buffer_append_byte(out, '}');
        return;
    case DECLARED_OBJECT:
        break;
    }
    buffer_append_c(out, "{\"o\":{");
    for (uint32_t i = 0; i < node->member_count; i++) {
        if (i > 0) {
            buffer_append_byte(out, ',');
        }
        write_key(out, node->members[i]->name);
        write_node(out, node->members[i]);
    }
    buffer_append_c(out, "}}");
}

static void write_pair(struct buffer *out, struct text key, struct text value, bool is_first)
{
    struct json_writer json;

    buffer_append_c(out, is_first ? "" : ",");
    write_key(out, key);
    json_writer_init(&json, out);
    json_text(&json, value);
}

// In place of the node's last brace.
static void write_names(struct buffer *out, const struct xml_names *names)
{
    if (out->length == 0 || (names->count == 0 && names->common.data == NULL)) {
        return;
    }
    out->length--;
    buffer_append_c(out, ",\"x\":{");
    for (size_t i = 0; i < names->count; i++) {
        write_pair(out, names->prefixes[i], names->uris[i], i == 0);
    }
    if (names->common.data != NULL) {
        write_pair(out, TEXT(""), names->common, names->count == 0);
    }
    buffer_append_c(out, "}}");
}

void reading_note(struct reading *reading, const struct declared *root, const struct xml_names *names)
{
    struct buffer *trees = reading == NULL ? NULL : &reading->trees;
    struct buffer node;

    if (trees == NULL || reading->is_all) {
        return;
    }
    buffer_init(&node, TREES_MAX);
    write_node(&node, root);
    if (names != NULL && root->kind == DECLARED_OBJECT) {
        write_names(&node, names);
    }
    struct text written = buffer_text(&node), known = buffer_text(trees);
    bool is_known = known.length > 0 && written.length > 0 &&
                    memmem(known.data, known.length, written.data, written.length) != NULL;
    if (!is_known) {
        buffer_printf(trees, "%s", trees->length > 0 ? "," : "");
        buffer_append_text(trees, written);
    }
    reading->is_all = node.is_full || trees->is_full;
    buffer_fini(&node);
}

void reading_note_all(struct reading *reading)
{
    if (reading != NULL) {
        reading->is_all = true;
    }
}

struct text reading_text(struct reading *reading)
{
    struct buffer *text = &reading->text;

    if (reading->is_all) {
        return TEXT("{\"all\":true}");
    }
    buffer_clear(text);
    if (reading->trees.length > 0) {
        buffer_append_c(text, "{\"trees\":[");
        buffer_append_text(text, buffer_text(&reading->trees));
        buffer_append_c(text, "]}");
    }
    return buffer_text(text);
}
