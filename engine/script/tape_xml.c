// Elements in hand are a stack; what is not declared is only counted. A list's or map's node keeps its last element in
// `next` while it is open, because several lists of one parent grow at once.

#include "script/tape_xml.h"

#include <string.h>

#define XSI_NAMESPACE TEXT("http://www.w3.org/2001/XMLSchema-instance")

/// An element in hand.
struct level {
    struct declared *declared;
    uint32_t at;      // its node
    size_t begin;     // of its tag
    struct text text; // so far, in the tape; absent: none
    bool has_elements;
    bool is_nil;
};

struct reading {
    struct tape *tape;
    struct text document;
    const struct xml_names *names;
    tape_is_stopped is_stopped;
    void *context;
    enum tape_result result;
    uint32_t skipping; // elements within each other that nobody reads
    uint32_t depth;    // levels in hand; [0] is the document
    struct level levels[XML_DEPTH_MAX + 1];
};

static bool full(struct reading *reading)
{
    reading->result = TAPE_FULL;
    return false;
}

/// Room for all texts that a document can have, so that they never move. Those that are put together again and again,
/// because elements stand between their pieces, end at the cap.
static bool reserve_texts(struct reading *reading)
{
    struct buffer *texts = &reading->tape->texts;

    size_t wanted = reading->document.length < texts->ceiling / 2 ? reading->document.length * 2 : texts->ceiling;

    return texts->length > 0 || buffer_reserve(texts, wanted);
}

static bool keep_text(struct reading *reading, struct text text, struct text *kept)
{
    struct buffer *texts = &reading->tape->texts;
    size_t begin = texts->length;

    if (!reserve_texts(reading) || text.length > texts->capacity - begin || !buffer_append_text(texts, text)) {
        return full(reading);
    }
    *kept = (struct text){ texts->data + begin, text.length };
    return true;
}

static bool set_text(struct reading *reading, uint32_t at, struct text text)
{
    struct tape_node *node = &reading->tape->nodes[at];

    node->kind = text.length > 0 ? TAPE_TEXT : TAPE_EMPTY;
    node->text = text;
    return true;
}

// ---- text ----------------------------------------------------------------------------------------------------------

static bool is_blank(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != ' ' && text.data[i] != '\n' && text.data[i] != '\t' && text.data[i] != '\r') {
            return false;
        }
    }
    return true;
}

static bool on_text(void *context, struct text piece)
{
    struct reading *reading = context;
    struct level *level = &reading->levels[reading->depth - 1];
    const struct buffer *texts = &reading->tape->texts;
    bool is_wanted = level->declared->kind == DECLARED_SCALAR || level->declared->kind == DECLARED_OBJECT;
    struct text added;

    if (reading->skipping > 0 || !is_wanted || (level->text.data == NULL && is_blank(piece))) {
        return true;
    }
    // It grows where it is, unless texts of elements in it came behind: then it moves.
    bool is_last = level->text.data != NULL && level->text.data + level->text.length == texts->data + texts->length;
    if (level->text.data != NULL && !is_last && !keep_text(reading, level->text, &level->text)) {
        return false;
    }
    if (!keep_text(reading, piece, &added)) {
        return false;
    }
    level->text =
        level->text.data != NULL ? (struct text){ level->text.data, level->text.length + added.length } : added;
    return true;
}

// ---- elements ------------------------------------------------------------------------------------------------------

static bool enter(struct reading *reading, struct declared *declared, uint32_t at, size_t begin)
{
    struct tape *tape = reading->tape;

    reading->levels[reading->depth++] = (struct level){ .declared = declared, .at = at, .begin = begin };
    if (declared->kind == DECLARED_OBJECT) {
        uint32_t first = declared->member_count > 0 ? tape_take(tape, declared->member_count) : 0;
        if (declared->member_count > 0 && first == 0) {
            return full(reading);
        }
        tape->nodes[at].kind = TAPE_OBJECT;
        tape->nodes[at].first = first;
    } else if (declared->kind == DECLARED_MAP) {
        tape->nodes[at].kind = TAPE_MAP;
    }
    return true;
}

/// One more element of an open list or map, of `count` nodes; 0: no room.
static uint32_t add_element(struct reading *reading, uint32_t list, uint32_t count)
{
    uint32_t element = tape_take(reading->tape, count);

    if (element == 0) {
        (void)full(reading);
        return 0;
    }
    uint32_t last = reading->tape->nodes[list].next;
    tape_chain(reading->tape, list, &last, element);
    reading->tape->nodes[list].next = last;
    return element;
}

/// The element of a list that is a member.
static bool enter_listed(struct reading *reading, const struct declared *member, uint32_t list, size_t begin)
{
    reading->tape->nodes[list].kind = TAPE_LIST;
    uint32_t element = add_element(reading, list, 1);

    return element != 0 && enter(reading, member->element, element, begin);
}

static bool enter_mapped(struct reading *reading, const struct level *parent, const struct xml_element *element)
{
    uint32_t pair = add_element(reading, parent->at, 2);

    if (pair == 0) {
        return false;
    }
    return set_text(reading, pair, element->name.local) &&
           enter(reading, parent->declared->element, pair + 1, element->begin);
}

static bool enter_member(struct reading *reading, const struct level *parent, const struct xml_element *element)
{
    struct declared *member = xml_names_element(reading->names, parent->declared, &element->name);

    if (member == NULL) {
        reading->skipping = 1;
        return true;
    }
    uint32_t at = reading->tape->nodes[parent->at].first + member->place;
    if (member->kind == DECLARED_LIST) {
        return enter_listed(reading, member, at, element->begin);
    }
    if (reading->tape->nodes[at].kind != TAPE_NONE) {
        reading->skipping = 1; // the first one counts
        return true;
    }
    return enter(reading, member, at, element->begin);
}

static bool take_attribute(struct reading *reading, const struct level *level, const struct xml_attribute *attribute)
{
    bool is_exact;
    const struct declared *member = xml_names_attribute(reading->names, level->declared, &attribute->name, &is_exact);

    if (member == NULL || member->kind != DECLARED_SCALAR) {
        return true;
    }
    uint32_t at = reading->tape->nodes[level->at].first + member->place;
    if (reading->tape->nodes[at].kind != TAPE_NONE && !is_exact) {
        return true;
    }
    struct text value = TEXT("");
    if (attribute->value.length > 0 && !keep_text(reading, attribute->value, &value)) {
        return false;
    }
    return set_text(reading, at, value);
}

static bool take_attributes(struct reading *reading, const struct xml_element *element)
{
    struct level *level = &reading->levels[reading->depth - 1];

    for (size_t i = 0; i < element->attribute_count; i++) {
        const struct xml_attribute *attribute = &element->attributes[i];
        if (attribute->is_binding) {
            continue;
        }
        if (text_equals_c(attribute->name.local, "nil") && text_equals(attribute->name.uri, XSI_NAMESPACE)) {
            level->is_nil = text_equals_c(attribute->value, "true") || text_equals_c(attribute->value, "1");
        }
        if (level->declared->kind == DECLARED_OBJECT && !take_attribute(reading, level, attribute)) {
            return false;
        }
    }
    return true;
}

static bool on_begin(void *context, const struct xml_element *element)
{
    struct reading *reading = context;
    struct level *parent = &reading->levels[reading->depth - 1];
    bool is_entered = true;

    if (reading->skipping > 0) {
        reading->skipping++;
        return true;
    }
    parent->has_elements = true;
    if (parent->declared->kind == DECLARED_OBJECT) {
        is_entered = enter_member(reading, parent, element);
    } else if (parent->declared->kind == DECLARED_MAP) {
        is_entered = enter_mapped(reading, parent, element);
    } else {
        reading->skipping = 1;
    }
    return is_entered && (reading->skipping > 0 || take_attributes(reading, element));
}

// ---- ends ----------------------------------------------------------------------------------------------------------

static void finish_object(struct reading *reading, const struct level *level)
{
    const struct declared *object = level->declared;
    struct tape_node *node = &reading->tape->nodes[level->at];
    bool is_empty = !level->has_elements && level->text.data == NULL;

    node->text = level->has_elements ? (struct text){ 0 } : level->text; // one in which others stand is no leaf
    for (uint32_t i = 0; i < object->member_count; i++) {
        struct tape_node *member = &reading->tape->nodes[node->first + i];
        if (object->members[i]->kind == DECLARED_LIST) {
            member->next = 0;
            member->kind = is_empty ? TAPE_LIST : member->kind;
        } else if (object->members[i]->kind == DECLARED_SCALAR && text_equals_c(object->members[i]->name, "#text")) {
            (void)set_text(reading, node->first + i, level->text);
        }
    }
}

static void finish(struct reading *reading, struct level *level, size_t end)
{
    struct tape_node *node = &reading->tape->nodes[level->at];
    struct text bytes = { reading->document.data + level->begin, end - level->begin };

    if (level->text.data != NULL) {
        level->text = text_trim(level->text);
    }
    if (level->declared->kind == DECLARED_RAW) {
        node->kind = TAPE_RAW;
        node->text = bytes;
    } else if (level->is_nil && !level->has_elements) {
        node->kind = TAPE_NULL;
    } else if (level->declared->kind == DECLARED_OBJECT) {
        finish_object(reading, level);
    } else if (level->declared->kind == DECLARED_MAP) {
        node->next = 0;
    } else if (level->declared->kind == DECLARED_LIST || level->has_elements) {
        node->kind = TAPE_OTHER;
        node->text = bytes;
    } else {
        (void)set_text(reading, level->at, level->text);
    }
}

static bool on_end(void *context, size_t end)
{
    struct reading *reading = context;

    if (reading->skipping > 0) {
        reading->skipping--;
        return true;
    }
    finish(reading, &reading->levels[--reading->depth], end);
    return true;
}

static bool is_stopped(void *context)
{
    const struct reading *reading = context;
    return reading->is_stopped != NULL && reading->is_stopped(reading->context);
}

enum tape_result tape_read_xml(struct tape *tape, struct text xml, struct declared *declared, struct tape_xml *options,
                               tape_is_stopped stopped, void *context)
{
    struct reading reading = { .tape = tape,
                               .document = xml,
                               .names = options->names,
                               .is_stopped = stopped,
                               .context = context,
                               .result = TAPE_OK };
    const struct xml_events events = {
        .context = &reading, .on_begin = on_begin, .on_end = on_end, .on_text = on_text, .is_stopped = is_stopped
    };

    tape_restart(tape);
    options->sentence[0] = '\0';
    uint32_t none = tape_take(tape, 2); // no node, and the document
    if (tape->count != none + 2 || !enter(&reading, declared, 1, 0)) {
        return TAPE_FULL;
    }
    switch (xml_read(xml, options->is_lenient, options->heap, &events, options->sentence)) {
    case XML_READER_OK:
        finish(&reading, &reading.levels[0], xml.length);
        return TAPE_OK;
    case XML_READER_BROKEN:
        return TAPE_BROKEN;
    case XML_READER_STOPPED:
        return TAPE_STOPPED;
    case XML_READER_REFUSED:
    case XML_READER_NO_MEMORY:
        break;
    }
    return TAPE_FULL;
}
