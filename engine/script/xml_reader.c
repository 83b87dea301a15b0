// Over libexpat, the only file that sees it. It is used without its own handling of namespaces, which knows no way to
// go on after a prefix that nobody has declared.
//
// The document is fed in pieces, because the parser copies each into a buffer of its own. They end behind a `>`, so
// that little is left over for the next one. A piece without any event is a tag or comment of its size: that is
// refused, for the parser would look through all of it again with each further piece.

#include "script/xml_reader.h"

#include "script/xml_scope.h"

#include <expat.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 20, PARSER_BYTES_MAX = 4 << 20, EVENTS_BETWEEN_LOOKS = 16 };

struct reading {
    struct text document;
    bool is_lenient;
    const struct xml_events *events;
    enum xml_result result;
    const char *reason; // of BROKEN: ours; NULL: the parser's
    size_t place;       // … where
    XML_Parser parser;
    size_t skipped; // bytes in front of what the parser sees
    uint64_t event_count;
    uint32_t depth;
    struct text path[XML_DEPTH_MAX];
    struct xml_attribute attributes[XML_ATTRIBUTES_MAX];
    struct xml_scope scope;
};

// ---- memory --------------------------------------------------------------------------------------------------------

/// The parser's functions get no context, so the reading's heap waits here. What the parser may hold is less than what
/// a call may: a document of nothing but new names is the supplier's fault, not its script's.
static _Thread_local struct {
    struct heap *heap;
    size_t used;
} memory;

/// In front of each block: its size, which a heap wants to be told. Keeps what follows aligned.
struct block_head {
    size_t size;
    size_t unused;
};

static void *resize(void *block, size_t size)
{
    struct block_head *head = block != NULL ? (struct block_head *)block - 1 : NULL;
    size_t before = head != NULL ? head->size : 0;

    if (size > PARSER_BYTES_MAX || memory.used - before + size > PARSER_BYTES_MAX) {
        return NULL;
    }
    struct block_head *made = heap_allocate(memory.heap, head, before, size + sizeof *head);
    if (made == NULL) {
        return NULL;
    }
    made->size = size + sizeof *head;
    memory.used += made->size - before;
    return made + 1;
}

static void *take(size_t size)
{
    return resize(NULL, size);
}

static void give(void *block)
{
    if (block != NULL) {
        struct block_head *head = (struct block_head *)block - 1;
        memory.used -= head->size;
        (void)heap_allocate(memory.heap, head, head->size, 0);
    }
}

// ---- events --------------------------------------------------------------------------------------------------------

static size_t place_of(const struct reading *reading)
{
    XML_Index index = XML_GetCurrentByteIndex(reading->parser);
    size_t place = reading->skipped + (index > 0 ? (size_t)index : 0);

    return place < reading->document.length ? place : reading->document.length;
}

static bool end_reading(struct reading *reading, enum xml_result result, const char *reason)
{
    if (reading->result == XML_READER_OK) {
        reading->result = result;
        reading->reason = reason;
        reading->place = place_of(reading);
        (void)XML_StopParser(reading->parser, XML_FALSE);
    }
    return false;
}

static bool broken(struct reading *reading, const char *reason)
{
    return end_reading(reading, XML_READER_BROKEN, reason);
}

/// Counts an event. False: the reading is over.
static bool goes_on(struct reading *reading)
{
    if (reading->result != XML_READER_OK) {
        return false; // the parser still tells the end of a tag in hand
    }
    if (++reading->event_count % EVENTS_BETWEEN_LOOKS == 0 && reading->events->is_stopped != NULL &&
        reading->events->is_stopped(reading->events->context)) {
        return end_reading(reading, XML_READER_STOPPED, NULL);
    }
    return true;
}

/// `prefix:local`; false: it is neither that nor a name without a prefix.
static bool split_name(struct text whole, struct xml_name *name)
{
    const char *colon = memchr(whole.data, ':', whole.length);

    if (colon == NULL) {
        *name = (struct xml_name){ .prefix = { whole.data, 0 }, .local = whole };
        return true;
    }
    size_t length = (size_t)(colon - whole.data);
    name->prefix = (struct text){ whole.data, length };
    name->local = (struct text){ colon + 1, whole.length - length - 1 };
    name->uri = (struct text){ NULL, 0 };
    return length > 0 && name->local.length > 0 && memchr(name->local.data, ':', name->local.length) == NULL;
}

static bool bind(struct reading *reading, const struct xml_attribute *attribute)
{
    struct text prefix = attribute->name.prefix.length > 0 ? attribute->name.local : TEXT("");
    struct text uri = attribute->value;
    bool is_xml = text_equals_c(prefix, "xml");

    if (!reading->is_lenient && (text_equals_c(prefix, "xmlns") || (prefix.length > 0 && uri.length == 0) ||
                                 is_xml != text_equals(uri, XML_NAMESPACE) || text_equals(uri, XMLNS_NAMESPACE))) {
        return broken(reading, "a prefix is bound to a namespace that it cannot have");
    }
    return xml_scope_bind(&reading->scope, reading->depth, prefix, uri) || broken(reading, "too many namespaces");
}

static bool find_namespace(struct reading *reading, struct xml_name *name)
{
    if (xml_scope_find(&reading->scope, name->prefix, &name->uri) || reading->is_lenient) {
        return true;
    }
    return broken(reading, "a prefix that nobody has declared");
}

static bool is_repeated(const struct reading *reading, size_t index)
{
    const struct xml_name *name = &reading->attributes[index].name;

    for (size_t i = 0; i < index; i++) {
        const struct xml_name *other = &reading->attributes[i].name;
        if (other->prefix.length > 0 && text_equals(other->local, name->local) && other->uri.data != NULL &&
            text_equals(other->uri, name->uri)) {
            return true;
        }
    }
    return false;
}

static bool take_attributes(struct reading *reading, const XML_Char **attributes, size_t count)
{
    if (count > XML_ATTRIBUTES_MAX) {
        return broken(reading, "more than 256 attributes");
    }
    for (size_t i = 0; i < count; i++) {
        struct xml_attribute *attribute = &reading->attributes[i];
        if (!split_name(text_of(attributes[2 * i]), &attribute->name) && !reading->is_lenient) {
            return broken(reading, "a name with a colon in the wrong place");
        }
        attribute->value = text_of(attributes[2 * i + 1]);
        attribute->is_binding =
            text_equals_c(attribute->name.prefix.length > 0 ? attribute->name.prefix : attribute->name.local, "xmlns");
        if (attribute->is_binding && !bind(reading, attribute)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct xml_attribute *attribute = &reading->attributes[i];
        if (attribute->is_binding) {
            attribute->name.uri = XMLNS_NAMESPACE;
        } else if (attribute->name.prefix.length > 0) { // without a prefix: in no namespace, whatever the element's is
            if (!find_namespace(reading, &attribute->name)) {
                return false;
            }
            if (!reading->is_lenient && is_repeated(reading, i)) {
                return broken(reading, "duplicate attribute");
            }
        }
    }
    return true;
}

static void XMLCALL on_begin(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reading *reading = context;

    if (!goes_on(reading)) {
        return;
    }
    if (reading->depth == XML_DEPTH_MAX) {
        (void)broken(reading, "nested deeper than 64");
        return;
    }
    struct xml_element element = { .begin = place_of(reading) };
    struct text whole = { reading->document.data + element.begin + 1, strlen(name) };
    if (element.begin + 1 + whole.length > reading->document.length) {
        (void)broken(reading, "a tag that is not in the document");
        return;
    }
    reading->path[reading->depth++] = whole;
    element.attribute_count = (size_t)XML_GetSpecifiedAttributeCount(reading->parser) / 2;
    if (!split_name(whole, &element.name) && !reading->is_lenient) {
        (void)broken(reading, "a name with a colon in the wrong place");
        return;
    }
    element.attributes = reading->attributes;
    if (take_attributes(reading, attributes, element.attribute_count) && find_namespace(reading, &element.name) &&
        !reading->events->on_begin(reading->events->context, &element)) {
        (void)end_reading(reading, XML_READER_REFUSED, NULL);
    }
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct reading *reading = context;

    (void)name;
    if (!goes_on(reading)) {
        return;
    }
    int length = XML_GetCurrentByteCount(reading->parser); // 0 of <a/>, whose place is its end already
    if (!reading->events->on_end(reading->events->context, place_of(reading) + (size_t)(length > 0 ? length : 0))) {
        (void)end_reading(reading, XML_READER_REFUSED, NULL);
        return;
    }
    xml_scope_leave(&reading->scope, reading->depth);
    reading->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int length)
{
    struct reading *reading = context;

    if (goes_on(reading) &&
        !reading->events->on_text(reading->events->context, (struct text){ text, (size_t)length })) {
        (void)end_reading(reading, XML_READER_REFUSED, NULL);
    }
}

/// Comments and the like: they are told so that there is a moment to stop.
static void XMLCALL on_other(void *context, const XML_Char *text, int length)
{
    (void)text;
    (void)length;
    (void)goes_on(context);
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int has_internal)
{
    struct reading *reading = context;

    (void)system;
    (void)public;
    (void)has_internal;
    if (!reading->is_lenient) {
        (void)broken(reading, text_equals_nocase(text_of(name), TEXT("html")) ? "a DOCTYPE: this is an HTML page"
                                                                              : "a DOCTYPE is not accepted");
    }
}

static void XMLCALL on_entity(void *context, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
                              const XML_Char *base, const XML_Char *system, const XML_Char *public,
                              const XML_Char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    (void)broken(context, "the DOCTYPE declares an entity");
}

static void XMLCALL on_skipped_entity(void *context, const XML_Char *name, int is_parameter)
{
    (void)name;
    (void)is_parameter;
    (void)broken(context, "undefined entity");
}

// ---- the whole -----------------------------------------------------------------------------------------------------

/// `Envelope.Body`, its end when it is long.
static void describe_path(const struct reading *reading, char *out, size_t size)
{
    size_t length = 0;
    uint32_t first = reading->depth > 6 ? reading->depth - 6 : 0;

    out[0] = '\0';
    for (uint32_t i = first; i < reading->depth && length < size; i++) {
        int shown = reading->path[i].length < 40 ? (int)reading->path[i].length : 40;
        int added =
            snprintf(out + length, size - length, "%s%.*s", i > first ? "." : ", in ", shown, reading->path[i].data);
        length += added > 0 ? (size_t)added : 0;
    }
}

static void describe(const struct reading *reading, char sentence[XML_SENTENCE_MAX])
{
    char path[160];
    size_t place = reading->reason != NULL ? reading->place : place_of(reading);
    size_t line = 1;
    size_t line_begin = 0;

    for (size_t i = 0; i < place; i++) {
        if (reading->document.data[i] == '\n') {
            line++;
            line_begin = i + 1;
        }
    }
    describe_path(reading, path, sizeof path);
    (void)snprintf(sentence, XML_SENTENCE_MAX, "line %zu, column %zu%s: %s", line, place - line_begin + 1, path,
                   reading->reason != NULL ? reading->reason : XML_ErrorString(XML_GetErrorCode(reading->parser)));
}

static void feed(struct reading *reading, struct text text)
{
    for (;;) {
        uint64_t before = reading->event_count;
        bool is_last = text.length <= PIECE;
        size_t size = text.length;
        if (!is_last) {
            const char *bracket = memrchr(text.data, '>', PIECE);
            size = bracket != NULL ? (size_t)(bracket - text.data) + 1 : PIECE;
        }
        enum XML_Status status = XML_Parse(reading->parser, text.data, (int)size, is_last);
        if (status != XML_STATUS_OK && reading->result == XML_READER_OK) {
            reading->result =
                XML_GetErrorCode(reading->parser) == XML_ERROR_NO_MEMORY ? XML_READER_NO_MEMORY : XML_READER_BROKEN;
        }
        if (is_last || reading->result != XML_READER_OK) {
            return;
        }
        if (reading->event_count == before) {
            (void)broken(reading, "a tag or comment of more than 1 MiB");
            return;
        }
        text = (struct text){ text.data + size, text.length - size };
    }
}

static void set_handlers(XML_Parser parser, struct reading *reading)
{
    XML_SetUserData(parser, reading);
    XML_SetElementHandler(parser, on_begin, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetDefaultHandler(parser, on_other); // and so no entity of a DOCTYPE is expanded
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    XML_SetEntityDeclHandler(parser, on_entity);
    XML_SetSkippedEntityHandler(parser, on_skipped_entity);
}

enum xml_result xml_read(struct text document, bool is_lenient, struct heap *heap, const struct xml_events *events,
                         char sentence[XML_SENTENCE_MAX])
{
    static const XML_Memory_Handling_Suite functions = { take, resize, give };
    struct reading reading;
    struct text text = document.data != NULL ? document : TEXT("");

    sentence[0] = '\0';
    memory.heap = heap;
    memory.used = 0;
    reading.parser = XML_ParserCreate_MM("UTF-8", &functions, NULL);
    if (reading.parser == NULL) {
        return XML_READER_NO_MEMORY;
    }
    reading.document = text;
    reading.is_lenient = is_lenient;
    reading.events = events;
    reading.result = XML_READER_OK;
    reading.reason = NULL;
    reading.place = 0;
    reading.skipped = 0;
    reading.event_count = 0;
    reading.depth = 0;
    xml_scope_init(&reading.scope);
    while (is_lenient && reading.skipped < text.length && strchr(" \t\r\n", text.data[reading.skipped]) != NULL &&
           text.data[reading.skipped] != '\0') {
        reading.skipped++;
    }
    set_handlers(reading.parser, &reading);
    feed(&reading, (struct text){ text.data + reading.skipped, text.length - reading.skipped });
    if (reading.result == XML_READER_BROKEN) {
        describe(&reading, sentence);
    }
    XML_ParserFree(reading.parser);
    memory.heap = NULL;
    return reading.result;
}
