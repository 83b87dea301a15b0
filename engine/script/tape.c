#include "script/tape.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

enum { TAPE_FIRST = 512, TAPE_KEEP = 16 << 10, TAPE_MAX = 1 << 20, TEXTS_MAX = 32 << 20, TEXTS_KEEP = 256 << 10 };
enum { TAPE_AHEAD = 32 }; // so many nodes more are made empty at once

struct reading {
    struct tape *tape;
    struct json_reader reader;
    tape_is_stopped is_stopped;
    void *context;
    enum tape_result result;
};

static bool read_value(struct reading *reading, struct declared *declared, enum json_token token, uint32_t at);

void tape_init(struct tape *tape)
{
    *tape = (struct tape){ 0 };
    buffer_init(&tape->texts, TEXTS_MAX);
}

void tape_fini(struct tape *tape)
{
    free(tape->nodes);
    free(tape->slots);
    buffer_fini(&tape->texts);
    tape_init(tape);
}

void tape_trim(struct tape *tape)
{
    if (tape->capacity > TAPE_KEEP || tape->texts.capacity > TEXTS_KEEP || tape->slot_capacity > TAPE_KEEP) {
        tape_fini(tape);
    }
}

bool tape_take_slots(struct tape *tape, uint32_t count, uint32_t *first)
{
    if (tape->slot_count + count > tape->slot_capacity) {
        uint32_t capacity = tape->slot_count + count;
        uint32_t *grown = capacity <= 4 * TAPE_MAX ? realloc(tape->slots, capacity * sizeof(uint32_t)) : NULL;
        if (grown == NULL) {
            return false;
        }
        tape->slots = grown;
        tape->slot_capacity = capacity;
    }
    *first = tape->slot_count;
    memset(&tape->slots[*first], 0, count * sizeof(uint32_t));
    tape->slot_count += count;
    return true;
}

static bool fail(struct reading *reading, enum tape_result result)
{
    reading->result = result;
    return false;
}

/// Room for `end` nodes, all empty from the last taken on. False: past the cap or out of memory.
static NEVER_INLINE bool make_room(struct tape *tape, uint32_t end)
{
    if (end > tape->capacity) {
        uint32_t capacity = tape->capacity == 0 ? TAPE_FIRST : tape->capacity * 2;
        while (capacity < end) {
            capacity *= 2;
        }
        struct tape_node *grown =
            capacity <= TAPE_MAX ? realloc(tape->nodes, capacity * sizeof(struct tape_node)) : NULL;
        if (grown == NULL) {
            return false;
        }
        tape->nodes = grown;
        tape->capacity = capacity;
    }
    uint32_t most = tape->capacity - end < TAPE_AHEAD ? tape->capacity : end + TAPE_AHEAD;
    memset(&tape->nodes[tape->empty], 0, (most - tape->empty) * sizeof(struct tape_node)); // 0 is TAPE_NONE
    tape->empty = most;
    return true;
}

uint32_t tape_take(struct tape *tape, uint32_t count)
{
    uint32_t first = tape->count;

    if (first + count > tape->empty && !make_room(tape, first + count)) {
        return 0;
    }
    tape->count += count;
    return first;
}

void tape_restart(struct tape *tape)
{
    tape->count = 0;
    tape->empty = 0;
    tape->error = NULL;
    buffer_clear(&tape->texts);
}

/// Nodes, or 0 and FULL.
static uint32_t take_nodes(struct reading *reading, uint32_t count)
{
    uint32_t count_before = reading->tape->count;
    uint32_t first = tape_take(reading->tape, count);

    if (reading->tape->count == count_before) {
        (void)fail(reading, TAPE_FULL);
    }
    return first;
}

/// The text in the reader's hand, half by half: both were written just now, and a copy in one piece would have to wait
/// until they are out of the store buffer.
static inline struct text fresh_text(const struct json_reader *reader)
{
    const char *data = reader->value.data;
    size_t length = reader->value.length;

    __asm__("" : "+r"(data), "+r"(length)); // or the compiler makes one piece of them
    return (struct text){ data, length };
}

/// The string in the reader's hand, without escapes. A text without them is never longer, so with the document's length
/// reserved at the first one the buffer does not move while nodes point into it.
static bool take_text(struct reading *reading, struct text *text)
{
    *text = fresh_text(&reading->reader);
    if (!reading->reader.has_escapes) {
        return true;
    }
    struct buffer *texts = &reading->tape->texts;
    if (texts->length == 0 && !buffer_reserve(texts, reading->reader.input.length)) {
        return fail(reading, TAPE_FULL);
    }
    *text = json_unescape(&reading->reader, texts);
    return text->data != NULL || fail(reading, TAPE_FULL);
}

static bool is_interrupted(const struct reading *reading)
{
    return reading->is_stopped != NULL && reading->is_stopped(reading->context);
}

/// A value that nobody reads further: its bytes.
static bool read_bytes(struct reading *reading, enum json_token token, size_t start, uint32_t at, enum tape_kind kind)
{
    if (!json_skip(&reading->reader, token)) {
        return fail(reading, TAPE_BROKEN);
    }
    struct tape_node *node = &reading->tape->nodes[at];
    node->kind = kind;
    node->text = (struct text){ reading->reader.input.data + start, reading->reader.offset - start };
    return true;
}

/// The key in the reader's hand, or NULL: not declared.
static struct declared *find_member(struct reading *reading, const struct declared *object)
{
    struct text key = fresh_text(&reading->reader);

    if (reading->reader.has_escapes) {
        char plain[DECLARED_NAME_MAX];
        struct buffer scratch = { .data = plain, .capacity = sizeof plain, .ceiling = sizeof plain };
        if (key.length > sizeof plain) {
            return NULL; // its escapes may make it short, but no supplier spells a plain name like that
        }
        key = json_unescape(&reading->reader, &scratch);
        return declared_find(object, key);
    }
    return declared_find(object, key);
}

/// The members that are expected next, as long as they are plain texts or whole numbers, which most are. Where the next
/// one is expected.
static inline struct declared **take_plain(struct reading *reading, struct declared **expected, uint32_t first)
{
    struct json_run run = json_run_begin(&reading->reader);
    struct tape_node *nodes = reading->tape->nodes + first;
    struct declared *member;

    while ((member = *expected) != NULL && member->kind == DECLARED_SCALAR) {
        struct tape_node *node = &nodes[member->place];
        enum json_token token = json_run_take(&run, member->spelt, &node->text);
        if (token == JSON_END) {
            break;
        }
        node->kind = token == JSON_STRING ? TAPE_TEXT : TAPE_NUMBER;
        expected = &member->follower;
    }
    json_run_end(&run, &reading->reader);
    return expected;
}

static bool read_object(struct reading *reading, struct declared *object, uint32_t at)
{
    struct json_reader *reader = &reading->reader;
    uint32_t first = object->member_count > 0 ? take_nodes(reading, object->member_count) : 0;
    struct declared **expected = &object->first;

    if (reading->result != TAPE_OK) {
        return false;
    }
    if (is_interrupted(reading)) {
        return fail(reading, TAPE_STOPPED);
    }
    reading->tape->nodes[at].kind = TAPE_OBJECT;
    reading->tape->nodes[at].first = first;
    for (;;) {
        expected = take_plain(reading, expected, first);
        struct declared *member = *expected;
        if (member == NULL || !json_take_key(reader, member->spelt)) {
            enum json_token token = json_next(reader);
            if (token != JSON_KEY) {
                return token == JSON_END_OBJECT || fail(reading, TAPE_BROKEN);
            }
            member = find_member(reading, object);
            if (member == NULL) {
                if (!json_skip(reader, JSON_KEY)) {
                    return fail(reading, TAPE_BROKEN);
                }
                continue;
            }
            *expected = member;
        }
        struct tape_node *node = &reading->tape->nodes[first + member->place];
        if (node->kind != TAPE_NONE) {
            *node = (struct tape_node){ 0 }; // an equal key came before
        }
        if (!read_value(reading, member, json_next(reader), first + member->place)) {
            return false;
        }
        expected = &member->follower;
    }
}

void tape_chain(struct tape *tape, uint32_t list, uint32_t *last, uint32_t element)
{
    if (*last == 0) {
        tape->nodes[list].first = element;
    } else {
        tape->nodes[*last].next = element;
    }
    *last = element;
    tape->nodes[list].count++;
}

static bool read_list(struct reading *reading, struct declared *list, uint32_t at)
{
    uint32_t last = 0;

    reading->tape->nodes[at].kind = TAPE_LIST;
    for (;;) {
        enum json_token token = json_next(&reading->reader);
        if (token == JSON_END_ARRAY) {
            return true;
        }
        uint32_t element = take_nodes(reading, 1);
        if (element == 0) {
            return false;
        }
        tape_chain(reading->tape, at, &last, element);
        if (!read_value(reading, list->element, token, element)) {
            return false;
        }
    }
}

static bool read_map(struct reading *reading, struct declared *map, uint32_t at)
{
    uint32_t last = 0;

    if (is_interrupted(reading)) {
        return fail(reading, TAPE_STOPPED);
    }
    reading->tape->nodes[at].kind = TAPE_MAP;
    for (;;) {
        enum json_token token = json_next(&reading->reader);
        if (token != JSON_KEY) {
            return token == JSON_END_OBJECT || fail(reading, TAPE_BROKEN);
        }
        struct text key;
        uint32_t element = take_nodes(reading, 2);
        if (element == 0 || !take_text(reading, &key)) {
            return false;
        }
        reading->tape->nodes[element].kind = TAPE_TEXT;
        reading->tape->nodes[element].text = key;
        tape_chain(reading->tape, at, &last, element);
        if (!read_value(reading, map->element, json_next(&reading->reader), element + 1)) {
            return false;
        }
    }
}

/// The bytes of the token that the reader has just taken.
static size_t token_length(const struct json_reader *reader, enum json_token token)
{
    switch (token) {
    case JSON_STRING:
        return reader->value.length + 2;
    case JSON_NUMBER:
        return reader->value.length;
    case JSON_FALSE:
        return 5;
    case JSON_TRUE:
    case JSON_NULL:
        return 4;
    default:
        return 1;
    }
}

static bool read_value(struct reading *reading, struct declared *declared, enum json_token token, uint32_t at)
{
    struct tape_node *node = &reading->tape->nodes[at];
    size_t start = reading->reader.offset - 1; // of an opening bracket

    if (declared->kind == DECLARED_RAW && token != JSON_ERROR) {
        return read_bytes(reading, token, reading->reader.offset - token_length(&reading->reader, token), at, TAPE_RAW);
    }
    switch (token) {
    case JSON_BEGIN_OBJECT:
        return declared->kind == DECLARED_OBJECT ? read_object(reading, declared, at)
               : declared->kind == DECLARED_MAP  ? read_map(reading, declared, at)
                                                 : read_bytes(reading, token, start, at, TAPE_OTHER);
    case JSON_BEGIN_ARRAY:
        return declared->kind == DECLARED_LIST ? read_list(reading, declared, at)
                                               : read_bytes(reading, token, start, at, TAPE_OTHER);
    case JSON_STRING:
        node->kind = TAPE_TEXT;
        return take_text(reading, &node->text);
    case JSON_NUMBER:
        node->kind = TAPE_NUMBER;
        node->text = fresh_text(&reading->reader);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        node->kind = token == JSON_TRUE ? TAPE_TRUE : TAPE_FALSE;
        return true;
    case JSON_NULL:
        node->kind = TAPE_NULL;
        return true;
    default:
        return fail(reading, TAPE_BROKEN);
    }
}

/// No node, and the root.
static bool make_root(struct reading *reading)
{
    (void)take_nodes(reading, 2);
    return reading->result == TAPE_OK;
}

enum tape_result tape_read_json(struct tape *tape, struct text json, struct declared *declared,
                                tape_is_stopped is_stopped, void *context)
{
    struct reading reading = { .tape = tape, .is_stopped = is_stopped, .context = context, .result = TAPE_OK };

    tape_restart(tape);
    if (!make_root(&reading)) {
        return TAPE_FULL;
    }
    json_reader_init(&reading.reader, json);
    bool is_ok = read_value(&reading, declared, json_next(&reading.reader), 1);
    if (is_ok && json_next(&reading.reader) == JSON_END) {
        return TAPE_OK;
    }
    if (reading.result == TAPE_OK || reading.result == TAPE_BROKEN) {
        tape->error = reading.reader.error != NULL ? reading.reader.error : "a value expected";
        tape->offset = reading.reader.offset;
        return TAPE_BROKEN;
    }
    return reading.result;
}

const char *tape_kind_name(const struct tape_node *node)
{
    switch (node->kind) {
    case TAPE_NONE:
        return "nothing";
    case TAPE_NULL:
        return "null";
    case TAPE_FALSE:
        return "false";
    case TAPE_TRUE:
        return "true";
    case TAPE_NUMBER:
        return "a number";
    case TAPE_TEXT:
        return "a text";
    case TAPE_RAW:
        return "a value";
    case TAPE_OBJECT:
    case TAPE_MAP:
        return "an object";
    case TAPE_LIST:
        return "a list";
    case TAPE_OTHER:
        return node->text.length == 0      ? "an object"
               : node->text.data[0] == '[' ? "a list"
               : node->text.data[0] == '<' ? "elements"
                                           : "an object";
    case TAPE_EMPTY:
        return "nothing in it";
    }
    return "a value";
}
