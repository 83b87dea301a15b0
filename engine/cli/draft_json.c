// A document of JSON in a pasted call as a table of Lua: lists of slices and of travellers become loops.

#include "cli/draft.h"
#include "cli/draft_key.h"

#include <string.h>

enum { LINE_MAX = 100, PATH_STEPS = 64 };

/// Where in the document one is.
struct place {
    struct text parent;
    size_t index;
    const char *slice;
    const struct json_node *folded; // the list whose elements become one, in a loop; NULL: none
    const struct json_node *item;   // that element
    const char *kind;               // of the travellers whom the element counts; NULL: it counts none
    struct text word;               // what the supplier calls them
    bool is_traveller;
    bool is_flat; // in one line
};

static void write_node(struct draft *draft, const struct json_node *node, struct place place, uint32_t indent,
                       struct buffer *out);

/// An airport of that kind somewhere below.
static bool has_airport(const struct json_node *node, struct text parent, bool (*is_kind)(struct text key))
{
    if (node->kind == JSON_STRING) {
        return draft_is_airport(node->text) && (is_kind(node->key) || is_kind(parent));
    }
    for (const struct json_node *below = node->first; below != NULL; below = below->next) {
        if (has_airport(below, node->key, is_kind)) {
            return true;
        }
    }
    return false;
}

/// A day of the way back somewhere below.
static bool has_way_back(const struct json_node *node)
{
    static const char *const WORDS[] = { "return", "inbound" };
    char key[DRAFT_KEY_SIZE];

    draft_key_plain(node->key, key);
    bool has = node->kind == JSON_STRING && node->text.length > 0 && draft_key_has_any(key, WORDS, COUNT_OF(WORDS));
    for (const struct json_node *below = node->first; below != NULL && !has; below = below->next) {
        has = has_way_back(below);
    }
    return has;
}

/// A list of the slices of a search: each has an origin and a destination. One that has a day of the way back, too, is
/// both ways.
static bool is_slice_list(const struct draft *draft, const struct json_node *list)
{
    bool is_one =
        !draft->is_hotels && list->count >= 1 && list->count <= 2 && !(list->count == 1 && has_way_back(list));

    for (const struct json_node *item = list->first; item != NULL && is_one; item = item->next) {
        is_one = item->kind == JSON_BEGIN_OBJECT && has_airport(item, TEXT(""), draft_is_origin) &&
                 has_airport(item, TEXT(""), draft_is_destination);
    }
    return is_one;
}

/// The member of an object that says what kind of traveller it is; NULL: none does.
static const struct json_node *traveller_member(const struct json_node *object)
{
    for (const struct json_node *member = object->first; member != NULL; member = member->next) {
        if (member->kind == JSON_STRING && draft_traveller_of(member->text) != DRAFT_NO_TRAVELLER) {
            return member;
        }
    }
    return NULL;
}

static bool is_traveller_list(const struct draft *draft, const struct json_node *list)
{
    bool is_one = !draft->is_hotels && list->count >= 1 && list->count <= 9;

    for (const struct json_node *item = list->first; item != NULL && is_one; item = item->next) {
        is_one = item->kind == JSON_BEGIN_OBJECT && traveller_member(item) != NULL;
    }
    return is_one;
}

static void count_travellers(struct draft *draft, const struct json_node *list)
{
    uint64_t counts[DRAFT_NO_TRAVELLER] = { 0 };

    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        counts[draft_traveller_of(traveller_member(item)->text)]++;
    }
    draft_count_travellers(draft, counts);
}

/// Where a value stands in its document: segments[].from.code
static struct text path_of(struct draft *draft, const struct json_node *node)
{
    const struct json_node *chain[PATH_STEPS];
    struct buffer path;
    size_t count = 0;

    for (; node->parent != NULL && count < PATH_STEPS; node = node->parent) {
        chain[count++] = node;
    }
    buffer_init(&path, DRAFT_FILE_MAX);
    while (count-- > 0) {
        if (chain[count]->parent->kind == JSON_BEGIN_ARRAY) {
            buffer_append_c(&path, "[]");
        } else {
            buffer_printf(&path, "%s%.*s", path.length > 0 ? "." : "", TEXT_ARGS(chain[count]->key));
        }
    }
    struct text kept = arena_copy(draft->arena, buffer_text(&path));
    buffer_fini(&path);
    return kept;
}

/// What the supplier calls each kind, as far as the call says so.
static void words_of(const struct json_node *list, struct text words[DRAFT_NO_TRAVELLER])
{
    draft_traveller_words(traveller_member(list->first)->text, words);
    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        struct text word = traveller_member(item)->text;
        words[draft_traveller_of(word)] = word;
    }
}

static void write_traveller_type(struct draft *draft, const struct json_node *member, struct buffer *out)
{
    struct text words[DRAFT_NO_TRAVELLER];

    words_of(member->parent->parent, words);
    draft_tell(draft, &(struct draft_value){ .where = DRAFT_JSON, .key = member->key, .path = path_of(draft, member) },
               "the kind of each traveller");
    for (size_t i = 0; i < DRAFT_NO_TRAVELLER; i++) {
        buffer_printf(out, "%s%s = \"%.*s\"", i == 0 ? "({ " : ", ", draft_traveller_names[i], TEXT_ARGS(words[i]));
    }
    buffer_append_c(out, " })[traveller.type]");
}

/// The member that says how many travellers of the kind there are; NULL: none does.
static const struct json_node *count_member(const struct json_node *object)
{
    for (const struct json_node *member = object->first; member != NULL; member = member->next) {
        bool is_scalar = member->kind == JSON_STRING || member->kind == JSON_NUMBER;
        if (is_scalar && draft_is_traveller_count(member->key, member->text)) {
            return member;
        }
    }
    return NULL;
}

/// A list of the kinds of travellers, each with how many there are.
static bool is_kind_list(const struct draft *draft, const struct json_node *list)
{
    bool is_there[DRAFT_NO_TRAVELLER] = { false };
    bool is_one = is_traveller_list(draft, list) && list->count <= DRAFT_NO_TRAVELLER;

    for (const struct json_node *item = list->first; item != NULL && is_one; item = item->next) {
        enum draft_traveller kind = draft_traveller_of(traveller_member(item)->text);
        is_one = count_member(item) != NULL && !is_there[kind];
        is_there[kind] = true;
    }
    return is_one;
}

/// All kinds, and of them those of whom there are any.
static void write_kinds(struct draft *draft, const struct json_node *list, struct place place, uint32_t indent,
                        struct buffer *out)
{
    const struct json_node *models[DRAFT_NO_TRAVELLER] = { NULL };
    struct text words[DRAFT_NO_TRAVELLER];
    uint64_t counts[DRAFT_NO_TRAVELLER] = { 0 };

    words_of(list, words);
    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        enum draft_traveller kind = draft_traveller_of(traveller_member(item)->text);
        models[kind] = item;
        bool is_read = text_to_u64(count_member(item)->text, &counts[kind]);
        counts[kind] = is_read ? counts[kind] : 0;
    }
    draft_count_travellers(draft, counts);
    draft->counts_travellers = true;
    buffer_append_c(out, "filter({\n");
    for (size_t i = 0; i < DRAFT_NO_TRAVELLER; i++) {
        place.kind = draft_traveller_names[i];
        place.word = words[i];
        place.is_flat = false;
        draft_write_indent(indent + 2, out);
        write_node(draft, models[i] != NULL ? models[i] : list->first, place, indent + 2, out);
        buffer_append_c(out, ",\n");
    }
    draft_write_indent(indent, out);
    buffer_append_c(out, "}, function(kind)\n");
    draft_write_indent(indent + 2, out);
    const struct json_node *counted = count_member(list->first);
    buffer_append_c(out, counted->kind == JSON_STRING ? "return tonumber(kind." : "return kind.");
    buffer_append_text(out, counted->key); // a plain word
    buffer_append_c(out, counted->kind == JSON_STRING ? ") > 0\n" : " > 0\n");
    draft_write_indent(indent, out);
    buffer_append_c(out, "end)");
}

/// The one that says most.
static const struct json_node *fullest(const struct json_node *list)
{
    const struct json_node *found = list->first;

    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        found = item->count > found->count ? item : found;
    }
    return found;
}

/// `map(search.query.slices, function(slice) return { … } end)`, made of one of them.
static void write_map(struct draft *draft, const struct json_node *list, const struct json_node *model,
                      const char *field, const char *variable, struct place place, uint32_t indent, struct buffer *out)
{
    bool is_used_around = draft->uses_number;
    struct buffer one, ignored;

    place.is_flat = false;
    place.folded = list;
    place.item = model;
    draft->uses_number = false;
    buffer_init(&one, DRAFT_FILE_MAX);
    write_node(draft, model, place, indent + 2, &one);
    buffer_printf(out, "map(search.query.%s, function(%s%s)\n", field, variable, draft->uses_number ? ", number" : "");
    draft_write_indent(indent + 2, out);
    buffer_append_c(out, "return ");
    buffer_append_text(out, buffer_text(&one));
    buffer_append_byte(out, '\n');
    draft_write_indent(indent, out);
    buffer_append_c(out, "end)");
    buffer_fini(&one);
    buffer_init(&ignored, DRAFT_FILE_MAX);
    bool is_silent = draft->is_silent;
    draft->is_silent = true;
    for (const struct json_node *item = list->first; item != NULL; item = item->next, place.index++) {
        place.item = item; // the others only say what the fixture searches for
        if (item != model) {
            write_node(draft, item, place, indent, &ignored);
        }
    }
    draft->is_silent = is_silent;
    draft->uses_number = is_used_around;
    buffer_fini(&ignored);
}

static void tell_loop(struct draft *draft, const struct json_node *list, const char *what)
{
    draft_tell(draft, &(struct draft_value){ .where = DRAFT_JSON, .key = list->key, .path = path_of(draft, list) },
               what);
}

static void write_list(struct draft *draft, const struct json_node *list, struct place place, uint32_t indent,
                       struct buffer *out)
{
    size_t index = 0;

    if (list->count == 0) {
        buffer_append_c(out, "json.array({})");
        return;
    }
    if (is_slice_list(draft, list)) {
        place.slice = "slice";
        place.index = 0;
        tell_loop(draft, list, "one entry for each slice of the search");
        write_map(draft, list, list->first, "slices", "slice", place, indent, out);
        return;
    }
    if (is_kind_list(draft, list)) {
        write_kinds(draft, list, place, indent, out);
        return;
    }
    if (is_traveller_list(draft, list)) {
        count_travellers(draft, list);
        place.is_traveller = true;
        place.index = 0;
        tell_loop(draft, list, "one entry for each traveller");
        write_map(draft, list, fullest(list), "travellers", "traveller", place, indent, out);
        return;
    }
    buffer_append_c(out, place.is_flat ? "{ " : "{\n");
    for (const struct json_node *item = list->first; item != NULL; item = item->next, index++) {
        if (item->kind == JSON_BEGIN_OBJECT) {
            place.index = index;
        }
        draft_write_indent(place.is_flat ? 0 : indent + 2, out);
        write_node(draft, item, place, indent + 2, out);
        buffer_append_c(out, !place.is_flat ? ",\n" : item->next != NULL ? ", " : " ");
    }
    draft_write_indent(place.is_flat ? 0 : indent, out);
    buffer_append_byte(out, '}');
}

static void write_object(struct draft *draft, const struct json_node *object, struct place place, uint32_t indent,
                         struct buffer *out)
{
    place.parent = object->key;
    if (object->count == 0) {
        buffer_append_c(out, "{}");
        return;
    }
    buffer_append_c(out, place.is_flat ? "{ " : "{\n");
    for (const struct json_node *member = object->first; member != NULL; member = member->next) {
        draft_write_indent(place.is_flat ? 0 : indent + 2, out);
        draft_write_key(draft, member->key, out);
        buffer_append_c(out, " = ");
        write_node(draft, member, place, indent + 2, out);
        buffer_append_c(out, !place.is_flat ? ",\n" : member->next != NULL ? ", " : " ");
    }
    draft_write_indent(place.is_flat ? 0 : indent, out);
    buffer_append_byte(out, '}');
}

/// The same place in another element of the folded list; NULL: that has none.
static const struct json_node *counterpart(const struct json_node *node, const struct json_node *item,
                                           const struct json_node *other)
{
    if (node == item) {
        return other;
    }
    const struct json_node *above = counterpart(node->parent, item, other),
                           *found = above == NULL ? NULL : above->first;
    if (node->key.length > 0) {
        return json_tree_member_text(above, node->key);
    }
    for (const struct json_node *at = node->parent->first; at != node && found != NULL; at = at->next) {
        found = found->next;
    }
    return found;
}

static enum draft_numbering numbering_of(const struct json_node *node, struct place place)
{
    struct text values[DRAFT_FOLDED_MAX];
    size_t count = 0;

    if (place.folded == NULL || place.folded->count > DRAFT_FOLDED_MAX) {
        return DRAFT_SAME;
    }
    for (const struct json_node *item = place.folded->first; item != NULL; item = item->next) {
        const struct json_node *other = counterpart(node, place.item, item);
        values[count++] = other != NULL ? other->text : TEXT("");
    }
    return draft_numbering_of(node->key, values, count);
}

static void write_plain(struct draft *draft, const struct json_node *node, struct place place, struct buffer *out)
{
    bool is_element = node->key.length == 0 && node->parent != NULL; // of a list, whose key it has
    enum draft_numbering numbering = numbering_of(node, place);
    struct draft_value value = { .where = DRAFT_JSON,
                                 .key = is_element ? node->parent->key : node->key,
                                 .parent = place.parent,
                                 .path = path_of(draft, node),
                                 .value = node->text,
                                 .is_number = node->kind == JSON_NUMBER,
                                 .differs = numbering == DRAFT_DIFFERS,
                                 .index = place.index,
                                 .slice = place.slice };

    if (numbering == DRAFT_FROM_ONE || numbering == DRAFT_FROM_ZERO) {
        draft_write_number(draft, &value, numbering, out);
    } else {
        draft_write_value(draft, &value, out);
    }
}

static void write_scalar(struct draft *draft, const struct json_node *node, struct place place, struct buffer *out)
{
    bool is_member = node->parent != NULL && node->parent->kind == JSON_BEGIN_OBJECT;
    bool is_type = is_member && node->kind == JSON_STRING && traveller_member(node->parent) == node;

    if (node->kind == JSON_TRUE || node->kind == JSON_FALSE) {
        buffer_append_c(out, node->kind == JSON_TRUE ? "true" : "false");
    } else if (node->kind == JSON_NULL) {
        buffer_append_c(out, "json.null");
    } else if (place.kind != NULL && is_type) {
        draft_write_text(draft, place.word, out);
    } else if (place.kind != NULL && is_member && count_member(node->parent) == node) {
        draft_tell(draft, &(struct draft_value){ .where = DRAFT_JSON, .path = path_of(draft, node) },
                   "how many travellers of each kind");
        bool is_text = node->kind == JSON_STRING;
        buffer_printf(out, "%scount(search, \"%s\")%s", is_text ? "tostring(" : "", place.kind, is_text ? ")" : "");
    } else if (place.is_traveller && is_type) {
        write_traveller_type(draft, node, out);
    } else if (place.is_traveller && text_equals_c(node->key, "age")) {
        buffer_append_c(out, "traveller.age");
    } else {
        write_plain(draft, node, place, out);
    }
}

/// In one line where it fits.
static void write_node(struct draft *draft, const struct json_node *node, struct place place, uint32_t indent,
                       struct buffer *out)
{
    bool is_list = node->kind == JSON_BEGIN_ARRAY;
    struct buffer line;

    if (!is_list && node->kind != JSON_BEGIN_OBJECT) {
        write_scalar(draft, node, place, out);
        return;
    }
    if (!place.is_flat) {
        struct place flat = place;
        flat.is_flat = true;
        buffer_init(&line, DRAFT_FILE_MAX);
        (is_list ? write_list : write_object)(draft, node, flat, indent, &line);
        bool fits = !line.is_full && line.length + indent + 20 < LINE_MAX &&
                    (line.length == 0 || memchr(line.data, '\n', line.length) == NULL);
        if (fits) {
            buffer_append_text(out, buffer_text(&line));
        }
        buffer_fini(&line);
        if (fits) {
            return;
        }
    }
    (is_list ? write_list : write_object)(draft, node, place, indent, out);
}

void draft_write_json(struct draft *draft, const struct json_node *node, uint32_t indent, struct buffer *out)
{
    write_node(draft, node, (struct place){ 0 }, indent, out);
}
