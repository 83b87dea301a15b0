#include "base/json_tree.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64, SCRATCH_MAX = 64 << 20 };

struct tree_reading {
    struct json_reader reader;
    struct arena *arena;
    struct buffer scratch;
};

/// The current key or string, without escapes; absent without memory.
static struct text tree_text(struct tree_reading *reading)
{
    if (!reading->reader.has_escapes) {
        return reading->reader.value;
    }
    buffer_clear(&reading->scratch);
    struct text plain = json_unescape(&reading->reader, &reading->scratch);
    return plain.data == NULL ? plain : arena_copy(reading->arena, plain);
}

static enum status tree_read_value(struct tree_reading *reading, enum json_token token, struct json_node *node);

static enum status tree_read_items(struct tree_reading *reading, struct json_node *node)
{
    struct json_node **end = &node->first;
    bool is_object = node->kind == JSON_BEGIN_OBJECT;

    for (;;) {
        struct text key = { 0 };
        enum json_token token = json_next(&reading->reader);
        if (token == (is_object ? JSON_END_OBJECT : JSON_END_ARRAY)) {
            return STATUS_OK;
        }
        if (token == JSON_KEY) {
            key = tree_text(reading);
            token = json_next(&reading->reader);
        }
        struct json_node *item = arena_alloc(reading->arena, sizeof(*item));
        if (item == NULL || (is_object && key.data == NULL && token != JSON_ERROR)) {
            return STATUS_NO_MEMORY;
        }
        item->parent = node;
        item->key = key;
        enum status status = tree_read_value(reading, token, item);
        if (status != STATUS_OK) {
            return status;
        }
        *end = item;
        end = &item->next;
        node->count++;
    }
}

static enum status tree_read_value(struct tree_reading *reading, enum json_token token, struct json_node *node)
{
    const struct json_reader *reader = &reading->reader;
    const char *from = reader->input.data + reader->offset;
    enum status status = STATUS_OK;

    node->kind = token;
    switch (token) {
    case JSON_BEGIN_OBJECT:
    case JSON_BEGIN_ARRAY:
        from--;
        status = tree_read_items(reading, node);
        break;
    case JSON_STRING:
        from = reader->value.data - 1;
        node->text = tree_text(reading);
        status = node->text.data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
        break;
    case JSON_NUMBER:
        from = reader->value.data;
        node->text = reader->value;
        break;
    case JSON_TRUE:
    case JSON_NULL:
        from -= 4;
        break;
    case JSON_FALSE:
        from -= 5;
        break;
    default:
        return STATUS_INVALID;
    }
    node->source = (struct text){ from, (size_t)(reader->input.data + reader->offset - from) };
    return status;
}

enum status json_tree_read(struct arena *arena, struct text input, struct json_node **root, size_t *offset,
                           const char **sentence)
{
    struct tree_reading reading = { .arena = arena };
    struct json_node *node = arena_alloc(arena, sizeof(*node));

    *root = NULL;
    *offset = 0;
    *sentence = "";
    if (node == NULL) {
        return STATUS_NO_MEMORY;
    }
    json_reader_init(&reading.reader, input);
    buffer_init(&reading.scratch, SCRATCH_MAX);
    enum status status = tree_read_value(&reading, json_next(&reading.reader), node);
    if (status == STATUS_OK && json_next(&reading.reader) != JSON_END) {
        status = STATUS_INVALID;
    }
    if (status == STATUS_INVALID) {
        *offset = reading.reader.offset;
        *sentence = reading.reader.error != NULL ? reading.reader.error : "it is empty";
    } else if (status == STATUS_OK) {
        *root = node;
    }
    buffer_fini(&reading.scratch);
    return status;
}

struct json_node *json_tree_member_text(const struct json_node *object, struct text key)
{
    struct json_node *member = object != NULL && object->kind == JSON_BEGIN_OBJECT ? object->first : NULL;

    while (member != NULL && !text_equals(member->key, key)) {
        member = member->next;
    }
    return member;
}

struct json_node *json_tree_member(const struct json_node *object, const char *key)
{
    return json_tree_member_text(object, text_of(key));
}

struct text json_tree_text(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);
    bool has_text = member != NULL && (member->kind == JSON_STRING || member->kind == JSON_NUMBER);
    return has_text ? member->text : (struct text){ 0 };
}

struct json_node *json_tree_element(const struct json_node *list, size_t index)
{
    struct json_node *element = list != NULL && list->kind == JSON_BEGIN_ARRAY ? list->first : NULL;

    while (element != NULL && index > 0) {
        element = element->next;
        index--;
    }
    return element;
}

/// Literals that differ may be worth the same; doubles tell, as far as they go.
static bool number_equals(struct text a, struct text b)
{
    char left[NUMBER_MAX], right[NUMBER_MAX];

    if (text_equals(a, b)) {
        return true;
    }
    if (a.length >= NUMBER_MAX || b.length >= NUMBER_MAX) {
        return false;
    }
    memcpy(left, a.data, a.length);
    memcpy(right, b.data, b.length);
    left[a.length] = right[b.length] = '\0';
    double difference = strtod(left, NULL) - strtod(right, NULL);
    return !(difference < 0) && !(difference > 0);
}

static bool object_equals(const struct json_node *a, const struct json_node *b)
{
    for (const struct json_node *member = a->first; member != NULL; member = member->next) {
        const struct json_node *other = json_tree_member_text(b, member->key);
        if (other == NULL || !json_tree_equals(member, other)) {
            return false;
        }
    }
    return a->count == b->count;
}

bool json_tree_equals(const struct json_node *a, const struct json_node *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case JSON_BEGIN_OBJECT:
        return object_equals(a, b);
    case JSON_BEGIN_ARRAY: {
        const struct json_node *left = a->first, *right = b->first;
        while (left != NULL && right != NULL && json_tree_equals(left, right)) {
            left = left->next;
            right = right->next;
        }
        return left == NULL && right == NULL;
    }
    case JSON_STRING:
        return text_equals(a->text, b->text);
    case JSON_NUMBER:
        return number_equals(a->text, b->text);
    default:
        return true;
    }
}

bool json_tree_to_u64(const struct json_node *node, uint64_t *value)
{
    return node != NULL && node->kind == JSON_NUMBER && text_to_u64(node->text, value);
}

const char *json_tree_kind(const struct json_node *node)
{
    switch (node->kind) {
    case JSON_BEGIN_OBJECT:
        return "an object";
    case JSON_BEGIN_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_NUMBER:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
}

struct json_place json_place_of(struct text input, size_t offset)
{
    struct json_place place = { 1, 1 };

    for (size_t i = 0; i < offset && i < input.length; i++) {
        place.column++;
        if (input.data[i] == '\n') {
            place.line++;
            place.column = 1;
        }
    }
    return place;
}
