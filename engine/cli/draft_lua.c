// Values of a pasted call as Lua.

#include "cli/draft.h"

#include <stdio.h>
#include <string.h>

enum { SECRET_PART_MIN = 4, SECRET_NAME_MIN = 16, LINE_MAX = 100, PATH_STEPS = 64 };

// --------------------------------------------------------------------------------------------------------------- texts

static void write_quoted(struct text text, struct buffer *out)
{
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            buffer_printf(out, "\\%c", c);
        } else if (c == '\n') {
            buffer_append_c(out, "\\n");
        } else if (c < ' ' || c == 0x7f) {
            buffer_printf(out, "\\%03u", c);
        } else {
            buffer_append_byte(out, (char)c);
        }
    }
    buffer_append_byte(out, '"');
}

/// The secret whose value begins here, the longest one; NULL: none does.
static const struct draft_secret *secret_at(const struct draft *draft, struct text rest)
{
    const struct draft_secret *found = NULL;

    for (size_t i = 0; i < draft->secret_count; i++) {
        const struct draft_secret *secret = &draft->secrets[i];
        if (secret->value.length >= SECRET_PART_MIN && text_starts_with(rest, secret->value) &&
            (found == NULL || secret->value.length > found->value.length)) {
            found = secret;
        }
    }
    return found;
}

void draft_write_text(const struct draft *draft, struct text text, struct buffer *out)
{
    size_t from = 0;
    const char *separator = "";

    for (size_t i = 0; i < text.length;) {
        const struct draft_secret *secret = secret_at(draft, (struct text){ text.data + i, text.length - i });
        if (secret == NULL) {
            i++;
            continue;
        }
        if (i > from) {
            buffer_append_c(out, separator);
            write_quoted((struct text){ text.data + from, i - from }, out);
            separator = " .. ";
        }
        buffer_printf(out, "%sctx.secret.%.*s", separator, TEXT_ARGS(secret->name));
        separator = " .. ";
        i += secret->value.length;
        from = i;
    }
    if (from < text.length || text.length == 0) {
        buffer_append_c(out, separator);
        write_quoted((struct text){ text.data + from, text.length - from }, out);
    }
}

/// The secret that is exactly this value; absent: none.
static struct text whole_secret(const struct draft *draft, struct text value)
{
    for (size_t i = 0; i < draft->secret_count; i++) {
        if (text_equals(draft->secrets[i].value, value)) {
            return draft->secrets[i].name;
        }
    }
    return (struct text){ 0 };
}

void draft_write_value(struct draft *draft, const struct draft_value *value, struct buffer *out)
{
    if (draft_take_secret(draft, value)) {
        buffer_printf(out, value->is_number ? "tonumber(ctx.secret.%.*s)" : "ctx.secret.%.*s",
                      TEXT_ARGS(whole_secret(draft, value->value)));
        return;
    }
    struct text field = draft_take_field(draft, value);
    if (field.data != NULL) {
        buffer_append_text(out, field);
    } else {
        draft_tell_literal(draft, value);
        if (value->is_number) {
            buffer_append_text(out, value->value);
        } else {
            draft_write_text(draft, value->value, out);
        }
    }
}

/// A name in which a secret stands; short ones are words of names, too.
static bool has_secret(const struct draft *draft, struct text key)
{
    for (size_t i = 0; i < key.length; i++) {
        const struct draft_secret *secret = secret_at(draft, (struct text){ key.data + i, key.length - i });
        if (secret != NULL && secret->value.length >= SECRET_NAME_MIN) {
            return true;
        }
    }
    return false;
}

void draft_write_key(const struct draft *draft, struct text key, struct buffer *out)
{
    static const char *const RESERVED[] = { "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                            "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                            "repeat",   "return", "then", "true", "until",  "while" };
    bool is_plain = key.length > 0 && !(key.data[0] >= '0' && key.data[0] <= '9');

    for (size_t i = 0; i < key.length && is_plain; i++) {
        char c = key.data[i];
        is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    for (size_t i = 0; i < COUNT_OF(RESERVED) && is_plain; i++) {
        is_plain = !text_equals_c(key, RESERVED[i]);
    }
    if (has_secret(draft, key)) {
        buffer_append_byte(out, '[');
        draft_write_text(draft, key, out);
        buffer_append_byte(out, ']');
    } else if (is_plain) {
        buffer_append_text(out, key);
    } else {
        buffer_append_byte(out, '[');
        write_quoted(key, out);
        buffer_append_byte(out, ']');
    }
}

// ---------------------------------------------------------------------------------------------- headers, paths and
// bodies

void draft_write_header(struct draft *draft, const struct pasted_pair *header, struct buffer *out)
{
    struct text value = header->value, rest;
    struct text scheme = text_split(value, ' ', &rest);

    if (!text_equals_c(header->name, "authorization")) {
        draft_write_value(draft, &(struct draft_value){ .where = DRAFT_HEADER, .key = header->name, .value = value },
                          out);
        return;
    }
    struct text name = whole_secret(draft, rest.length > 0 ? rest : value);
    if (rest.length > 0) {
        buffer_printf(out, "\"%.*s \" .. ", TEXT_ARGS(scheme));
    }
    buffer_printf(out, "ctx.secret.%.*s", TEXT_ARGS(name));
}

static void append(const char *separator, struct text literal, const struct draft *draft, struct buffer *out)
{
    if (literal.length > 0) {
        buffer_append_c(out, separator);
        draft_write_text(draft, literal, out);
    }
}

/// What a value of a path or body becomes, when it is not what it is; absent: it stays.
static struct text replacement(struct draft *draft, const struct draft_value *value)
{
    if (!draft_take_secret(draft, value)) {
        return draft_take_field(draft, value);
    }
    char expression[160];
    (void)snprintf(expression, sizeof(expression), "ctx.secret.%.*s", TEXT_ARGS(whole_secret(draft, value->value)));
    return arena_copy(draft->arena, text_of(expression));
}

struct splicing {
    struct draft *draft;
    struct text whole;
    size_t from; // what stands before it is written
    bool has_any;
    struct buffer *out;
};

static void splice(void *context, const struct draft_value *value)
{
    struct splicing *splicing = context;
    struct text expression = replacement(splicing->draft, value);

    if (expression.data == NULL) {
        return;
    }
    size_t at = (size_t)(value->value.data - splicing->whole.data);
    append(splicing->has_any ? " .. " : "", (struct text){ splicing->whole.data + splicing->from, at - splicing->from },
           splicing->draft, splicing->out);
    bool is_behind = splicing->has_any || at > splicing->from;
    buffer_printf(splicing->out, "%s%.*s", is_behind ? " .. " : "", TEXT_ARGS(expression));
    splicing->has_any = true;
    splicing->from = at + value->value.length;
}

static void end_splicing(struct splicing *splicing)
{
    struct text rest = { splicing->whole.data + splicing->from, splicing->whole.length - splicing->from };

    if (splicing->has_any) {
        append(" .. ", rest, splicing->draft, splicing->out);
    } else {
        draft_write_text(splicing->draft, rest, splicing->out);
    }
}

void draft_write_path(struct draft *draft, struct text path, struct buffer *out)
{
    struct splicing splicing = { .draft = draft, .whole = path, .out = out };

    for (struct text rest = path; rest.data != NULL;) {
        struct text segment = text_split(rest, '/', &rest);
        if (segment.length > 0) {
            splice(&splicing, &(struct draft_value){ .where = DRAFT_PATH, .value = segment });
        }
    }
    end_splicing(&splicing);
}

void draft_write_body(struct draft *draft, struct text body, struct buffer *out)
{
    struct splicing splicing = { .draft = draft, .whole = body, .out = out };

    draft_walk_body(body, splice, &splicing);
    end_splicing(&splicing);
}

// ---------------------------------------------------------------------------------------------------------------- JSON

/// Where in the document one is.
struct place {
    struct text parent;
    size_t index;
    const char *slice;
    bool is_traveller;
    bool is_flat; // in one line
};

static void write_node(struct draft *draft, const struct json_node *node, struct place place, uint32_t indent,
                       struct buffer *out);

static void write_indent(uint32_t indent, struct buffer *out)
{
    for (uint32_t i = 0; i < indent; i++) {
        buffer_append_byte(out, ' ');
    }
}

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

/// A list of the slices of a search: each has an origin and a destination.
static bool is_slice_list(const struct draft *draft, const struct json_node *list)
{
    bool is_one = !draft->is_hotels && list->count >= 1 && list->count <= 2;

    for (const struct json_node *item = list->first; item != NULL && is_one; item = item->next) {
        is_one = item->kind == JSON_BEGIN_OBJECT && has_airport(item, TEXT(""), draft_is_origin) &&
                 has_airport(item, TEXT(""), draft_is_destination);
    }
    return is_one;
}

enum traveller { ADULT, CHILD, INFANT, NO_TRAVELLER };

static enum traveller traveller_of(struct text word)
{
    static const struct {
        const char *word;
        enum traveller kind;
    } WORDS[] = { { "adult", ADULT },
                  { "ADULT", ADULT },
                  { "ADT", ADULT },
                  { "child", CHILD },
                  { "CHILD", CHILD },
                  { "CHD", CHILD },
                  { "CNN", CHILD },
                  { "infant", INFANT },
                  { "INF", INFANT },
                  { "INFANT", INFANT },
                  { "infant_without_seat", INFANT } };

    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        if (text_equals_c(word, WORDS[i].word)) {
            return WORDS[i].kind;
        }
    }
    return NO_TRAVELLER;
}

/// The member of an object that says what kind of traveller it is; NULL: none does.
static const struct json_node *traveller_member(const struct json_node *object)
{
    for (const struct json_node *member = object->first; member != NULL; member = member->next) {
        if (member->kind == JSON_STRING && traveller_of(member->text) != NO_TRAVELLER) {
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
    uint64_t counts[NO_TRAVELLER] = { 0 };

    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        counts[traveller_of(traveller_member(item)->text)]++;
    }
    draft->search.adults = counts[ADULT] > 0 ? counts[ADULT] : 1;
    draft->search.children = counts[CHILD];
    draft->search.infants = counts[INFANT] <= counts[ADULT] ? counts[INFANT] : 0;
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
static void write_traveller_type(struct draft *draft, const struct json_node *member, struct buffer *out)
{
    const struct json_node *list = member->parent->parent;
    bool is_short = member->text.length == 3, is_upper = member->text.data[0] < 'a';
    struct text words[NO_TRAVELLER] = { is_short   ? TEXT("ADT")
                                        : is_upper ? TEXT("ADULT")
                                                   : TEXT("adult"),
                                        is_short   ? TEXT("CHD")
                                        : is_upper ? TEXT("CHILD")
                                                   : TEXT("child"),
                                        is_short   ? TEXT("INF")
                                        : is_upper ? TEXT("INFANT")
                                                   : TEXT("infant") };

    for (const struct json_node *item = list->first; item != NULL; item = item->next) {
        const struct json_node *type = traveller_member(item);
        words[traveller_of(type->text)] = type->text;
    }
    draft_tell(draft, &(struct draft_value){ .where = DRAFT_JSON, .key = member->key, .path = path_of(draft, member) },
               "the kind of each traveller");
    buffer_printf(out, "({ adult = \"%.*s\", child = \"%.*s\", infant_lap = \"%.*s\" })[traveller.type]",
                  TEXT_ARGS(words[ADULT]), TEXT_ARGS(words[CHILD]), TEXT_ARGS(words[INFANT]));
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
    struct buffer ignored;

    place.is_flat = false;
    buffer_printf(out, "map(search.query.%s, function(%s)\n", field, variable);
    write_indent(indent + 2, out);
    buffer_append_c(out, "return ");
    write_node(draft, model, place, indent + 2, out);
    buffer_append_byte(out, '\n');
    write_indent(indent, out);
    buffer_append_c(out, "end)");
    buffer_init(&ignored, DRAFT_FILE_MAX);
    place.index = 1; // the others only say what the fixture searches for
    for (const struct json_node *item = list->first->next; item != NULL; item = item->next) {
        write_node(draft, item, place, indent, &ignored);
    }
    buffer_fini(&ignored);
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
        write_map(draft, list, list->first, "slices", "slice", place, indent, out);
        return;
    }
    if (is_traveller_list(draft, list)) {
        count_travellers(draft, list);
        place.is_traveller = true;
        write_map(draft, list, fullest(list), "travellers", "traveller", place, indent, out);
        return;
    }
    buffer_append_c(out, place.is_flat ? "{ " : "{\n");
    for (const struct json_node *item = list->first; item != NULL; item = item->next, index++) {
        if (item->kind == JSON_BEGIN_OBJECT) {
            place.index = index;
        }
        write_indent(place.is_flat ? 0 : indent + 2, out);
        write_node(draft, item, place, indent + 2, out);
        buffer_append_c(out, !place.is_flat ? ",\n" : item->next != NULL ? ", " : " ");
    }
    write_indent(place.is_flat ? 0 : indent, out);
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
        write_indent(place.is_flat ? 0 : indent + 2, out);
        draft_write_key(draft, member->key, out);
        buffer_append_c(out, " = ");
        write_node(draft, member, place, indent + 2, out);
        buffer_append_c(out, !place.is_flat ? ",\n" : member->next != NULL ? ", " : " ");
    }
    write_indent(place.is_flat ? 0 : indent, out);
    buffer_append_byte(out, '}');
}

static void write_scalar(struct draft *draft, const struct json_node *node, struct place place, struct buffer *out)
{
    if (node->kind == JSON_TRUE || node->kind == JSON_FALSE) {
        buffer_append_c(out, node->kind == JSON_TRUE ? "true" : "false");
    } else if (node->kind == JSON_NULL) {
        buffer_append_c(out, "json.null");
    } else if (place.is_traveller && node->kind == JSON_STRING && traveller_of(node->text) != NO_TRAVELLER &&
               node->parent != NULL && traveller_member(node->parent) == node) {
        write_traveller_type(draft, node, out);
    } else if (place.is_traveller && text_equals_c(node->key, "age")) {
        buffer_append_c(out, "traveller.age");
    } else {
        // An element of a list has the key of its list.
        bool is_element = node->key.length == 0 && node->parent != NULL;
        draft_write_value(draft,
                          &(struct draft_value){ .where = DRAFT_JSON,
                                                 .key = is_element ? node->parent->key : node->key,
                                                 .parent = place.parent,
                                                 .path = path_of(draft, node),
                                                 .value = node->text,
                                                 .is_number = node->kind == JSON_NUMBER,
                                                 .index = place.index,
                                                 .slice = place.slice },
                          out);
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
