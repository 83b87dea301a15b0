// A body of XML in a pasted call as a call of `xml.build`: values are guessed by their elements, slices become a loop,
// and the header of WS-Security is made anew.

#include "cli/draft.h"

#include "script/heap.h"

#include <string.h>

enum { LINE_MAX = 100, PATH_STEPS = 64, PATH_BYTES = 110, ANCESTORS = 3, MEMORY_MAX = 64 << 20 };

#define WSS_EXTENSION "wssecurity-secext-1.0.xsd"

/// Where in the document one is.
struct place {
    size_t index;                  // among the slices
    const char *slice;             // the variable that holds the slice; NULL: none does
    const struct xml_node *folded; // the first of the elements that become one, in a loop; NULL: none
    size_t folded_count;
    const struct xml_node *item; // the one of them
    const char *kind;            // of the travellers whom the element counts; NULL: it counts none
    struct text word;            // what the supplier calls them
    bool is_flat;                // in one line
};

/// A value of an element: its text, or an attribute.
struct spot {
    const struct xml_node *node;
    const struct xml_attribute *attribute; // NULL: its text
};

static struct text name_of(struct spot spot)
{
    return spot.attribute != NULL ? spot.attribute->name.local : spot.node->name.local;
}

static struct text text_at(struct spot spot)
{
    return spot.attribute != NULL ? spot.attribute->value : spot.node->text;
}

// --------------------------------------------------------------------------------------------------------------
// reading

/// What cannot be written as it is: text around elements, an attribute that xml.build takes for something else.
static bool is_plain(const struct xml_node *node)
{
    if (node->first != NULL && node->text.length > 0) {
        return false;
    }
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (text_equals_c(node->attributes[i].name.local, "attrs")) {
            return false;
        }
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        if (!is_plain(child)) {
            return false;
        }
    }
    return true;
}

void draft_read_xml(struct draft *draft)
{
    struct text body = text_trim(draft->call->body);
    char sentence[XML_SENTENCE_MAX];
    struct heap heap;

    if (draft->call->kind != PASTED_RAW || body.length == 0 || body.data[0] != '<') {
        return;
    }
    heap_init(&heap);
    heap.limit = MEMORY_MAX;
    enum xml_result result = xml_tree_read(&draft->xml, body, true, &heap, NULL, NULL, sentence);
    heap_fini(&heap);
    const struct xml_node *root = result == XML_READER_OK ? draft->xml.root : NULL;
    draft->is_xml = root != NULL && is_plain(root);
    struct text uri = draft->is_xml ? root->name.uri : (struct text){ 0 };
    draft->is_soap = uri.data != NULL && text_equals_c(root->name.local, "Envelope") &&
                     memmem(uri.data, uri.length, "/soap", 5) != NULL;
}

/// Do the names say where from, or where to, and not both?
static bool is_one_place(struct text name)
{
    return draft_is_origin(name) != draft_is_destination(name);
}

/// The name around a value that says most: of a place, one of the nearest that says from or to.
static struct text name_around(struct spot spot)
{
    const struct xml_node *around = spot.attribute != NULL ? spot.node : spot.node->parent;
    struct text nearest = around != NULL ? around->name.local : (struct text){ 0 };

    for (int i = 0; i < ANCESTORS && around != NULL; i++, around = around->parent) {
        if (is_one_place(around->name.local)) {
            return around->name.local;
        }
    }
    return nearest;
}

/// Where a value stands: Body.Search.Way[].@from, without the envelope; the front is left out when it is long.
static struct text path_of(struct draft *draft, struct spot spot, const struct xml_node *item)
{
    const struct xml_node *chain[PATH_STEPS];
    struct buffer path;
    size_t count = 0;

    for (const struct xml_node *at = spot.node; at != NULL && count < PATH_STEPS; at = at->parent) {
        if (at->parent != NULL || !draft->is_soap) {
            chain[count++] = at;
        }
    }
    buffer_init(&path, DRAFT_FILE_MAX);
    while (count-- > 0) {
        buffer_printf(&path, "%s%.*s%s", path.length > 0 ? "." : "", TEXT_ARGS(chain[count]->name.local),
                      chain[count] == item ? "[]" : "");
    }
    if (spot.attribute != NULL) {
        buffer_printf(&path, ".@%.*s", TEXT_ARGS(spot.attribute->name.local));
    }
    struct text whole = buffer_text(&path), cut = whole;
    while (cut.length > PATH_BYTES) {
        (void)text_split(cut, '.', &cut);
    }
    if (cut.length < whole.length && cut.data != NULL) {
        struct buffer shorter;
        buffer_init(&shorter, DRAFT_FILE_MAX);
        buffer_printf(&shorter, "….%.*s", TEXT_ARGS(cut));
        cut = arena_copy(draft->arena, buffer_text(&shorter));
        buffer_fini(&shorter);
    } else {
        cut = arena_copy(draft->arena, cut);
    }
    buffer_fini(&path);
    return cut;
}

/// OTA counts adults as 10; others are not what a search calls them.
static bool is_of_no_adults(struct spot spot)
{
    for (size_t i = 0; spot.attribute != NULL && i < spot.node->attribute_count; i++) {
        const struct xml_attribute *attribute = &spot.node->attributes[i];
        if (text_equals_c(attribute->name.local, "AgeQualifyingCode") && !text_equals_c(attribute->value, "10")) {
            return true;
        }
    }
    return false;
}

static struct draft_value value_of(struct draft *draft, struct spot spot, const struct place *place)
{
    return (struct draft_value){ .where = DRAFT_BODY,
                                 .key = name_of(spot),
                                 .parent = is_of_no_adults(spot) ? TEXT("") : name_around(spot),
                                 .path = path_of(draft, spot, place->item),
                                 .value = text_at(spot),
                                 .index = place->index,
                                 .slice = place->slice };
}

// ---------------------------------------------------------------------------------------------------- WS-Security

static bool is_named(const struct xml_node *node, const char *local)
{
    return node != NULL && text_equals_c(node->name.local, local);
}

/// The element Security, when it holds one UsernameToken and nothing else that soap.security does not make.
static const struct xml_node *token_of(const struct xml_node *node)
{
    struct text uri = node->name.uri;
    bool is_one = is_named(node, "Security") && node->child_count == 1 && is_named(node->first, "UsernameToken") &&
                  uri.data != NULL && memmem(uri.data, uri.length, WSS_EXTENSION, strlen(WSS_EXTENSION)) != NULL;
    const struct xml_node *name = is_one ? xml_tree_child(node->first, "Username") : NULL;
    const struct xml_node *password = is_one ? xml_tree_child(node->first, "Password") : NULL;

    if (name == NULL || password == NULL || name->text.length == 0 || password->text.length == 0) {
        return NULL;
    }
    return node->first;
}

static bool is_digest(const struct xml_node *token)
{
    return xml_tree_child(token, "Nonce") != NULL;
}

static void write_secret(struct draft *draft, const struct xml_node *node, struct buffer *out)
{
    draft_write_value(draft, &(struct draft_value){ .where = DRAFT_BODY, .key = node->name.local, .value = node->text },
                      out);
}

static void write_security(struct draft *draft, const struct xml_node *token, const struct place *place,
                           uint32_t indent, struct buffer *out)
{
    const struct xml_node *password = xml_tree_child(token, "Password");
    struct draft_value told = value_of(draft, (struct spot){ .node = token->parent }, place);

    draft_tell(draft, &told,
               is_digest(token) ? "soap.security makes it for each request, of the password itself (pasted is a digest)"
                                : "soap.security makes it; some want a digest, crypto.sha1");
    buffer_append_c(out, "soap.security {\n");
    draft_write_indent(indent + 2, out);
    buffer_append_c(out, "username = ");
    write_secret(draft, xml_tree_child(token, "Username"), out);
    buffer_append_c(out, ", password = ");
    write_secret(draft, password, out);
    buffer_append_c(out, ",\n");
    if (is_digest(token)) {
        draft_write_indent(indent + 2, out);
        buffer_append_c(out, "nonce = crypto.random(16), created = ctx.now.iso,\n");
    }
    draft_write_indent(indent, out);
    buffer_append_byte(out, '}');
}

// --------------------------------------------------------------------------------------------------------------
// secrets

static void find_at(struct draft *draft, struct spot spot)
{
    struct draft_value value = { .where = DRAFT_BODY,
                                 .key = name_of(spot),
                                 .parent = spot.attribute != NULL ? spot.node->name.local : TEXT(""),
                                 .value = text_at(spot) };

    if (value.value.length > 0 && !draft_take_secret(draft, &value)) {
        draft_find_words(draft, value.value);
    }
}

/// What makes it anew for each request; NULL: nothing does.
static const char *anew(struct spot spot)
{
    return draft_made_anew(name_of(spot), text_at(spot));
}

static void find_in(struct draft *draft, const struct xml_node *node)
{
    const struct xml_node *token = token_of(node);

    if (token != NULL) { // the rest of it is made anew
        find_at(draft, (struct spot){ .node = xml_tree_child(token, "Username") });
        find_at(draft, (struct spot){ .node = xml_tree_child(token, "Password") });
        return;
    }
    for (size_t i = 0; i < node->attribute_count; i++) {
        struct spot spot = { node, &node->attributes[i] };
        if (!node->attributes[i].is_binding && anew(spot) == NULL) {
            find_at(draft, spot);
        }
    }
    if (anew((struct spot){ .node = node }) == NULL) {
        find_at(draft, (struct spot){ .node = node });
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        find_in(draft, child);
    }
}

void draft_find_in_xml(struct draft *draft)
{
    find_in(draft, draft->xml.root);
}

// --------------------------------------------------------------------------------------------------- slices,
// travellers

static bool is_airport_of(struct spot spot, bool (*is_kind)(struct text key))
{
    return text_at(spot).data != NULL && draft_is_airport(text_at(spot)) &&
           (is_kind(name_of(spot)) || is_kind(name_around(spot)));
}

/// An airport of that kind somewhere in it.
static bool has_airport(const struct xml_node *node, bool (*is_kind)(struct text key))
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (is_airport_of((struct spot){ node, &node->attributes[i] }, is_kind)) {
            return true;
        }
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        if (has_airport(child, is_kind)) {
            return true;
        }
    }
    return is_airport_of((struct spot){ .node = node }, is_kind);
}

static bool is_slice(const struct xml_node *node)
{
    return has_airport(node, draft_is_origin) && has_airport(node, draft_is_destination);
}

/// How many elements of that name follow each other, all of that kind.
static size_t run_of(const struct xml_node *first, bool (*is_kind)(const struct xml_node *node))
{
    size_t count = 0;

    for (const struct xml_node *at = first; at != NULL && text_equals(at->name.local, first->name.local);
         at = at->next) {
        if (!is_kind(at)) {
            return 0;
        }
        count++;
    }
    return count;
}

/// What says the kind of travellers, or (`is_count`) how many there are; `node` NULL: nothing does.
static struct spot find_spot(const struct xml_node *node, bool is_count)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        struct spot spot = { node, &node->attributes[i] };
        if (is_count ? draft_is_traveller_count(name_of(spot), text_at(spot))
                     : draft_traveller_of(text_at(spot)) != DRAFT_NO_TRAVELLER) {
            return spot;
        }
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        struct spot spot = { .node = child };
        if (is_count ? draft_is_traveller_count(name_of(spot), text_at(spot))
                     : draft_traveller_of(text_at(spot)) != DRAFT_NO_TRAVELLER) {
            return spot;
        }
    }
    return (struct spot){ 0 };
}

static bool is_count(const struct xml_node *node)
{
    return find_spot(node, false).node != NULL && find_spot(node, true).node != NULL;
}

static bool is_same_spot(struct spot a, struct spot b)
{
    return a.node == b.node && a.attribute == b.attribute;
}

// --------------------------------------------------------------------------------------------------------------
// writing

static void write_element(struct draft *draft, const struct xml_node *node, struct place place, uint32_t indent,
                          struct buffer *out);

/// The same place in another of the elements that become one; NULL: that has none.
static const struct xml_node *counterpart(const struct xml_node *node, const struct xml_node *item,
                                          const struct xml_node *other)
{
    size_t before = 0;

    if (node == item) {
        return other;
    }
    const struct xml_node *above = counterpart(node->parent, item, other);
    for (const struct xml_node *at = node->parent->first; at != node; at = at->next) {
        before += text_equals(at->name.local, node->name.local);
    }
    for (const struct xml_node *at = above == NULL ? NULL : above->first; at != NULL; at = at->next) {
        if (text_equals(at->name.local, node->name.local) && before-- == 0) {
            return at;
        }
    }
    return NULL;
}

static struct text other_value(struct spot spot, const struct xml_node *item, const struct xml_node *other)
{
    const struct xml_node *node = counterpart(spot.node, item, other);

    for (size_t i = 0; node != NULL && spot.attribute != NULL && i < node->attribute_count; i++) {
        if (text_equals(node->attributes[i].name.local, spot.attribute->name.local)) {
            return node->attributes[i].value;
        }
    }
    return node != NULL && spot.attribute == NULL && node->text.data != NULL ? node->text : TEXT("");
}

static enum draft_numbering numbering_of(struct spot spot, const struct place *place)
{
    struct text values[DRAFT_FOLDED_MAX];
    const struct xml_node *item = place->folded;

    if (item == NULL || place->folded_count > DRAFT_FOLDED_MAX) {
        return DRAFT_SAME;
    }
    for (size_t i = 0; i < place->folded_count; i++, item = item->next) {
        values[i] = other_value(spot, place->item, item);
    }
    return draft_numbering_of(name_of(spot), values, place->folded_count);
}

static void write_value(struct draft *draft, struct spot spot, const struct place *place, const struct xml_node *counts,
                        struct buffer *out)
{
    struct draft_value value = value_of(draft, spot, place);
    enum draft_numbering numbering = numbering_of(spot, place);

    value.differs = numbering == DRAFT_DIFFERS;
    if (counts != NULL && is_same_spot(spot, find_spot(counts, false))) {
        draft_write_text(draft, place->word, out);
    } else if (counts != NULL && is_same_spot(spot, find_spot(counts, true))) {
        draft_tell(draft, &value, "how many travellers of each kind");
        buffer_printf(out, "count(search, \"%s\")", place->kind);
    } else if (anew(spot) != NULL) {
        draft_tell(draft, &value, "a new one for each request");
        buffer_append_c(out, anew(spot));
    } else if (numbering == DRAFT_FROM_ONE || numbering == DRAFT_FROM_ZERO) {
        draft_write_number(draft, &value, numbering, out);
    } else {
        draft_write_value(draft, &value, out);
    }
}

/// The element that counts travellers, and in which the value stands; NULL: in none.
static const struct xml_node *counting(const struct xml_node *node, const struct place *place)
{
    if (place->kind == NULL) {
        return NULL;
    }
    return is_count(node) ? node : node->parent != NULL && is_count(node->parent) ? node->parent : NULL;
}

static void write_name(const struct xml_name *name, struct buffer *out)
{
    buffer_printf(out, "%.*s%s%.*s", TEXT_ARGS(name->prefix), name->prefix.length > 0 ? ":" : "",
                  TEXT_ARGS(name->local));
}

static void write_attributes(struct draft *draft, const struct xml_node *node, const struct place *place,
                             uint32_t indent, struct buffer *out)
{
    struct buffer name;

    buffer_init(&name, DRAFT_FILE_MAX);
    for (size_t i = 0; i < node->attribute_count; i++) {
        const struct xml_attribute *attribute = &node->attributes[i];
        buffer_append_c(out, place->is_flat ? ", " : ",\n");
        draft_write_indent(place->is_flat ? 0 : indent + 2, out);
        buffer_clear(&name);
        write_name(&attribute->name, &name);
        draft_write_key(draft, buffer_text(&name), out);
        buffer_append_c(out, " = ");
        if (attribute->is_binding) {
            draft_write_text(draft, attribute->value, out);
        } else {
            write_value(draft, (struct spot){ node, attribute }, place, counting(node, place), out);
        }
    }
    buffer_fini(&name);
}

/// `map(search.query.slices, function(slice) return { … } end)`, made of the first.
static void write_slices(struct draft *draft, const struct xml_node *first, size_t count, struct place place,
                         uint32_t indent, struct buffer *out)
{
    struct buffer one, ignored;
    const struct xml_node *item = first;

    place = (struct place){ .slice = "slice", .folded = first, .folded_count = count, .item = first };
    struct draft_value told = value_of(draft, (struct spot){ .node = first }, &place);
    draft_tell(draft, &told, "one for each slice of the search");
    draft->uses_number = false;
    buffer_init(&one, DRAFT_FILE_MAX);
    write_element(draft, first, place, indent + 2, &one);
    buffer_printf(out, "map(search.query.slices, function(slice%s)\n", draft->uses_number ? ", number" : "");
    draft_write_indent(indent + 2, out);
    buffer_append_c(out, "return ");
    buffer_append_text(out, buffer_text(&one));
    buffer_append_byte(out, '\n');
    draft_write_indent(indent, out);
    buffer_append_c(out, "end)");
    buffer_fini(&one);
    buffer_init(&ignored, DRAFT_FILE_MAX);
    draft->is_silent = true; // the others only say what the fixture searches for
    for (place.index = 1; place.index < count; place.index++) {
        item = item->next;
        place.item = item;
        write_element(draft, item, place, indent, &ignored);
    }
    draft->is_silent = false;
    buffer_fini(&ignored);
}

/// An element for each kind of travellers, left out where there are none.
static void write_kinds(struct draft *draft, const struct xml_node *first, size_t count, struct place place,
                        uint32_t indent, struct buffer *out)
{
    const struct xml_node *models[DRAFT_NO_TRAVELLER] = { NULL }, *item = first;
    uint64_t counts[DRAFT_NO_TRAVELLER] = { 0 };
    struct text words[DRAFT_NO_TRAVELLER];

    draft_traveller_words(text_at(find_spot(first, false)), words);
    for (size_t i = 0; i < count; i++, item = item->next) {
        struct text word = text_at(find_spot(item, false));
        enum draft_traveller kind = draft_traveller_of(word);
        models[kind] = item;
        words[kind] = word;
        counts[kind] += (uint64_t)(text_at(find_spot(item, true)).data[0] - '0');
    }
    draft_count_travellers(draft, counts);
    draft->counts_travellers = true;
    for (size_t i = 0; i < DRAFT_NO_TRAVELLER; i++) {
        place.kind = draft_traveller_names[i];
        place.word = words[i];
        place.is_flat = false;
        buffer_printf(out, "count(search, \"%s\") > 0 and ", place.kind);
        write_element(draft, models[i] != NULL ? models[i] : first, place, indent, out);
        if (i + 1 < DRAFT_NO_TRAVELLER) {
            buffer_append_c(out, ",\n");
            draft_write_indent(indent, out);
        }
    }
}

static void write_children(struct draft *draft, const struct xml_node *node, struct place place, uint32_t indent,
                           struct buffer *out)
{
    for (const struct xml_node *child = node->first; child != NULL;) {
        bool can_fold = !draft->is_hotels && place.slice == NULL && place.kind == NULL;
        size_t slices = can_fold ? run_of(child, is_slice) : 0, kinds = can_fold ? run_of(child, is_count) : 0;
        size_t taken = 1;
        buffer_append_c(out, place.is_flat ? ", " : ",\n");
        draft_write_indent(place.is_flat ? 0 : indent + 2, out);
        if (slices == 2) { // one alone may stand for the whole request
            taken = slices;
            write_slices(draft, child, slices, place, indent + 2, out);
        } else if (kinds > 0 && kinds <= DRAFT_NO_TRAVELLER) {
            taken = kinds;
            write_kinds(draft, child, kinds, place, indent + 2, out);
        } else {
            write_element(draft, child, place, indent + 2, out);
        }
        while (taken-- > 0) {
            child = child->next;
        }
    }
}

static void write_table(struct draft *draft, const struct xml_node *node, struct place place, uint32_t indent,
                        struct buffer *out)
{
    const struct xml_node *token = token_of(node);

    if (token != NULL) {
        write_security(draft, token, &place, indent, out);
        return;
    }
    buffer_append_c(out, place.is_flat ? "{ " : "{\n");
    draft_write_indent(place.is_flat ? 0 : indent + 2, out);
    buffer_append_byte(out, '"');
    write_name(&node->name, out);
    buffer_append_byte(out, '"');
    write_attributes(draft, node, &place, indent, out);
    if (node->text.length > 0) {
        buffer_append_c(out, place.is_flat ? ", " : ",\n");
        draft_write_indent(place.is_flat ? 0 : indent + 2, out);
        write_value(draft, (struct spot){ .node = node }, &place, counting(node, &place), out);
    }
    write_children(draft, node, place, indent, out);
    buffer_append_c(out, place.is_flat ? " " : ",\n");
    draft_write_indent(place.is_flat ? 0 : indent, out);
    buffer_append_byte(out, '}');
}

/// In one line where it fits.
static void write_element(struct draft *draft, const struct xml_node *node, struct place place, uint32_t indent,
                          struct buffer *out)
{
    struct place flat = place;
    struct buffer line;

    flat.is_flat = true;
    buffer_init(&line, DRAFT_FILE_MAX);
    write_table(draft, node, flat, indent, &line);
    bool fits = !line.is_full && line.length + indent + 4 < LINE_MAX && memchr(line.data, '\n', line.length) == NULL;
    if (place.is_flat || fits) {
        buffer_append_text(out, buffer_text(&line));
    } else {
        write_table(draft, node, place, indent, out);
    }
    buffer_fini(&line);
}

void draft_write_xml(struct draft *draft, uint32_t indent, struct buffer *out)
{
    bool is_declared = text_starts_with(text_trim(draft->call->body), TEXT("<?xml"));

    buffer_append_c(out, is_declared ? "xml.build " : "xml.build(");
    write_element(draft, draft->xml.root, (struct place){ 0 }, indent, out);
    buffer_append_c(out, is_declared ? "" : ", { declaration = false })");
}
