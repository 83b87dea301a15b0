#include "app/hide_document.h"

#include "base/json_tree.h"
#include "base/json_write.h"

#include <ctype.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------- JSON

struct hide_copy {
    struct hide *hide;
    struct buffer *out;
    const char *at; // what is copied so far ends here
};

static void put_instead(struct hide_copy *copy, const struct json_node *node, struct text stand_in)
{
    struct json_writer json;

    buffer_append(copy->out, copy->at, (size_t)(node->source.data - copy->at));
    json_writer_init(&json, copy->out);
    json_text(&json, stand_in);
    copy->at = node->source.data + node->source.length;
}

static void copy_node(struct hide_copy *copy, const struct json_node *node, bool is_secret)
{
    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        struct text value = at->kind == JSON_STRING ? at->text : (struct text){ 0 };
        bool is_inherited = is_secret && (node->kind != JSON_BEGIN_OBJECT || copy->hide->is_of_login);
        bool is_named = is_inherited || hide_is_named(copy->hide, at->key, value);
        struct text known = at->kind == JSON_STRING ? hide_known(copy->hide, at->text) : (struct text){ 0 };
        if (known.data != NULL) {
            put_instead(copy, at, known);
        } else if (is_named && at->kind == JSON_STRING && at->text.length > 0) {
            put_instead(copy, at, hide_stand_in(copy->hide, at->key, at->text));
        } else {
            copy_node(copy, at, is_named);
        }
    }
}

bool hide_json(struct hide *hide, struct text json, struct buffer *out)
{
    struct hide_copy copy = { .hide = hide, .out = out, .at = json.data };
    struct arena arena;
    struct json_node *root;
    const char *sentence;
    size_t offset;

    arena_init(&arena, 256 << 20);
    bool is_read = json_tree_read(&arena, json, &root, &offset, &sentence) == STATUS_OK;
    if (is_read) {
        copy_node(&copy, root, false);
        buffer_append(out, copy.at, (size_t)(json.data + json.length - copy.at));
    }
    arena_fini(&arena);
    return is_read;
}

// ----------------------------------------------------------------------------------------------------------------- XML

static size_t name_length(const char *at, const char *end)
{
    size_t length = 0;

    while (at + length < end && (isalnum((unsigned char)at[length]) || strchr(":_-.", at[length]) != NULL) &&
           at[length] != '\0') {
        length++;
    }
    return length;
}

/// Without its prefix.
static struct text local_of(const char *name, size_t length)
{
    struct text rest;
    struct text head = text_split((struct text){ name, length }, ':', &rest);
    return rest.data != NULL ? rest : head;
}

/// From behind a tag's name to behind its ">"; values of its attributes are hidden.
static const char *copy_attributes(struct hide *hide, const char *at, const char *end, struct buffer *out)
{
    while (at < end && *at != '>') {
        size_t length = name_length(at, end);
        struct text name = local_of(at, length);
        buffer_append(out, at, length > 0 ? length : 1);
        at += length > 0 ? length : 1;
        if (length == 0 || end - at < 2 || *at != '=' || (at[1] != '"' && at[1] != '\'')) {
            continue;
        }
        const char *close = memchr(at + 2, at[1], (size_t)(end - at - 2));
        if (close == NULL) {
            break;
        }
        struct text value = { at + 2, (size_t)(close - at - 2) };
        buffer_append(out, at, 2);
        buffer_append_text(out, value.length > 0 && hide_is_named(hide, name, value) ? hide_stand_in(hide, name, value)
                                                                                     : value);
        at = close;
    }
    if (at < end) {
        buffer_append_byte(out, '>');
        at++;
    }
    return at;
}

/// The text that an element begins with.
static const char *copy_secret(struct hide *hide, struct text name, const char *at, const char *end, struct buffer *out)
{
    static const char OPEN[] = "<![CDATA[", CLOSE[] = "]]>";
    bool is_data = (size_t)(end - at) > strlen(OPEN) && memcmp(at, OPEN, strlen(OPEN)) == 0;
    const char *from = is_data ? at + strlen(OPEN) : at;
    const char *to =
        is_data ? memmem(from, (size_t)(end - from), CLOSE, strlen(CLOSE)) : memchr(from, '<', (size_t)(end - from));
    struct text value = { from, to == NULL ? 0 : (size_t)(to - from) };

    if (text_trim(value).length == 0) {
        return at;
    }
    buffer_append(out, at, (size_t)(from - at));
    buffer_append_text(out, hide_stand_in(hide, name, text_trim(value)));
    return to;
}

bool hide_xml(struct hide *hide, struct text xml, struct buffer *out)
{
    const char *at = xml.data, *end = xml.data + xml.length;

    while (at < end) {
        const char *tag = memchr(at, '<', (size_t)(end - at));
        size_t length = tag == NULL ? 0 : name_length(tag + 1, end);
        const char *next = tag == NULL ? end : tag + 1 + length;
        buffer_append(out, at, (size_t)(next - at));
        at = next;
        if (length == 0) {
            continue; // an end, a comment, an instruction
        }
        struct text name = local_of(tag + 1, length);
        at = copy_attributes(hide, at, end, out);
        if (hide_is_named(hide, name, (struct text){ 0 }) && at < end && at[-2] != '/') {
            at = copy_secret(hide, name, at, end, out);
        }
    }
    return true;
}
