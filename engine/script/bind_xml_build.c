// An element is a table: its name, then its children; its other fields are attributes, in the order of their names, or
// `attrs`, a list of pairs, where another order matters. Among the children there may be lists of elements, as `map`
// makes them.

#include "script/bind_xml.h"

#include "base/utf8.h"
#include "script/bind_json.h"
#include "script/bind_support.h"
#include "script/freeze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 20000, CHILDREN_MAX = 20000, PATH_SHOWN = 160 };

struct building {
    lua_State *L;
    struct buffer *out;
    size_t count;
    uint32_t depth;
    struct text path[XML_DEPTH_MAX];
};

/// Raises, with the place.
static _Noreturn void build_failed(struct building *building, const char *format, const char *word)
{
    lua_State *L = building->L;
    char path[PATH_SHOWN] = "";
    size_t length = 0;

    for (uint32_t i = 0; i < building->depth && length < sizeof path; i++) {
        int shown = building->path[i].length < 40 ? (int)building->path[i].length : 40;
        int added =
            snprintf(path + length, sizeof path - length, "%s%.*s", i > 0 ? "." : "", shown, building->path[i].data);
        length += added > 0 ? (size_t)added : 0;
    }
    bind_drop_buffer(building->out);
    luaL_where(L, 1);
    lua_pushfstring(L, building->depth > 0 ? "xml: in %s: " : "xml: ", path);
    lua_pushfstring(L, format, word);
    lua_concat(L, 3);
    lua_error(L);
    abort();
}

// ---- characters ----------------------------------------------------------------------------------------------------

/// The code point at `bytes`, whose sequence has `length` bytes and is well-formed.
static uint32_t code_at(const char *bytes, size_t length)
{
    static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code = (unsigned char)bytes[0] & first_bits[length];

    for (size_t i = 1; i < length; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    return code;
}

/// Char of XML 1.0, production 2.
static bool is_character(uint32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' ||
           (code >= 0x20 && code <= 0xfffd && !(code >= 0xd800 && code <= 0xdfff)) || code >= 0x10000;
}

struct range {
    uint32_t first, last;
};

/// NameStartChar of XML 1.0 (fifth edition), production 4, without the colon, then what NameChar adds (4a).
static const struct range NAME_STARTS[] = {
    { 'A', 'Z' },       { '_', '_' },       { 'a', 'z' },       { 0xC0, 0xD6 },     { 0xD8, 0xF6 },
    { 0xF8, 0x2FF },    { 0x370, 0x37D },   { 0x37F, 0x1FFF },  { 0x200C, 0x200D }, { 0x2070, 0x218F },
    { 0x2C00, 0x2FEF }, { 0x3001, 0xD7FF }, { 0xF900, 0xFDCF }, { 0xFDF0, 0xFFFD }, { 0x10000, 0xEFFFF },
};
static const struct range NAME_MORE[] = {
    { '-', '.' }, { '0', '9' }, { 0xB7, 0xB7 }, { 0x300, 0x36F }, { 0x203F, 0x2040 },
};

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/// `local` or `prefix:local`.
static bool is_name(struct text name)
{
    bool is_start = true;
    size_t colons = 0;

    for (size_t i = 0; i < name.length;) {
        size_t length = utf8_length(name.data + i, name.length - i);
        if (length == 0) {
            return false;
        }
        uint32_t code = code_at(name.data + i, length);
        i += length;
        if (code == ':' && !is_start) {
            is_start = true;
            colons++;
            continue;
        }
        if (!is_in(code, NAME_STARTS, COUNT_OF(NAME_STARTS)) &&
            (is_start || !is_in(code, NAME_MORE, COUNT_OF(NAME_MORE)))) {
            return false;
        }
        is_start = false;
    }
    return !is_start && colons <= 1;
}

static const char *escape_of(char c, bool is_attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;";
    case '"':
        return is_attribute ? "&quot;" : NULL;
    case '\n':
        return is_attribute ? "&#10;" : NULL;
    case '\t':
        return is_attribute ? "&#9;" : NULL;
    default:
        return NULL;
    }
}

static void write_escaped(struct building *building, struct text text, bool is_attribute)
{
    struct buffer *out = building->out;

    for (size_t i = 0; i < text.length;) {
        size_t length = utf8_length(text.data + i, text.length - i);
        if (length == 0 || !is_character(code_at(text.data + i, length))) {
            build_failed(building, "%s", "a byte or character that XML cannot have");
        }
        const char *escape = escape_of(text.data[i], is_attribute);
        if (escape != NULL) {
            buffer_append_c(out, escape);
        } else {
            buffer_append(out, text.data + i, length);
        }
        i += length;
    }
}

// ---- elements ------------------------------------------------------------------------------------------------------

/// The scalar at `index`, a text, a number, true or false.
static void write_scalar(struct building *building, int index, bool is_attribute)
{
    lua_State *L = building->L;
    char bytes[BIND_NUMBER_MAX];
    int type = lua_type(L, index);

    if (type == LUA_TSTRING) {
        write_escaped(building, bind_text_at(L, index), is_attribute);
    } else if (type == LUA_TNUMBER) {
        struct text number = bind_json_number(lua_tonumber(L, index), bytes);
        if (number.data == NULL) {
            build_failed(building, "%s", "a number that is none");
        }
        buffer_append_text(building->out, number);
    } else if (type == LUA_TBOOLEAN) {
        buffer_append_c(building->out, lua_toboolean(L, index) ? "true" : "false");
    } else {
        build_failed(building, "a text, a number, true or false expected, got a %s", luaL_typename(L, index));
    }
}

static void write_attribute(struct building *building, struct text name, int index)
{
    if (!is_name(name)) {
        build_failed(building, "`%s` is no name for an attribute", name.data);
    }
    buffer_append_byte(building->out, ' ');
    buffer_append_text(building->out, name);
    buffer_append_c(building->out, "=\"");
    write_scalar(building, index, true);
    buffer_append_byte(building->out, '"');
}

static bool has_name(const struct text *names, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals(names[i], name)) {
            return true;
        }
    }
    return false;
}

/// `attrs`, a list of pairs on top.
static size_t write_pairs(struct building *building, struct text names[XML_ATTRIBUTES_MAX])
{
    lua_State *L = building->L;
    int list = lua_gettop(L);
    size_t count = lua_objlen(L, list);

    if (count > XML_ATTRIBUTES_MAX) {
        build_failed(building, "%s", "more than 256 attributes");
    }
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, list, (int)i + 1);
        if (!freeze_raw(L, lua_gettop(L))) {
            build_failed(building, "%s", "attrs is a list of pairs { name, value }");
        }
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        names[i] = bind_to_text(L, -2); // the pair keeps it
        if (names[i].data == NULL || has_name(names, i, names[i])) {
            build_failed(building, "%s", "attrs is a list of pairs { name, value }, each name once");
        }
        write_attribute(building, names[i], lua_gettop(L));
        lua_settop(L, list);
    }
    return count;
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/// The fields of the table at `table` that have names: first those of `attrs`, then the others.
static void write_attributes(struct building *building, int table)
{
    lua_State *L = building->L;
    struct text names[XML_ATTRIBUTES_MAX];
    size_t pairs = 0;

    lua_getfield(L, table, "attrs");
    bool has_pairs = freeze_raw(L, lua_gettop(L));
    if (has_pairs) {
        pairs = write_pairs(building, names);
    }
    lua_settop(L, table);
    size_t count = pairs;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        struct text name = bind_to_text(L, -2);
        if (name.data == NULL || (has_pairs && text_equals_c(name, "attrs"))) {
            continue;
        }
        if (count == XML_ATTRIBUTES_MAX || has_name(names, pairs, name)) {
            build_failed(building, "`%s` is there twice, or the 257th attribute", name.data);
        }
        names[count++] = name;
    }
    qsort(names + pairs, count - pairs, sizeof names[0], compare_names);
    for (size_t i = pairs; i < count; i++) {
        bind_push_text(L, names[i]);
        lua_rawget(L, table);
        write_attribute(building, names[i], lua_gettop(L));
        lua_pop(L, 1);
    }
}

/// The highest place in the list; holes, nil, are left out.
static int last_place(struct building *building, int table)
{
    lua_State *L = building->L;
    lua_Number last = 0;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TNUMBER) {
            continue;
        }
        lua_Number place = lua_tonumber(L, -2);
        if (!(place >= 1 && place <= CHILDREN_MAX) || place != (lua_Number)(int)place) {
            build_failed(building, "%s", "children stand behind the name, from 2 to 20,000");
        }
        last = place > last ? place : last;
    }
    return (int)last;
}

static void write_element(struct building *building, int index);

/// How many items a list of elements has, or -1: it is an element. A list begins with a table, or is empty; its raw
/// table is pushed.
static int push_list(struct building *building, int index)
{
    lua_State *L = building->L;

    if (!freeze_is_table(L, index) || !freeze_raw(L, index)) {
        return -1;
    }
    int table = lua_gettop(L);
    lua_rawgeti(L, table, 1);
    bool begins_with_table = freeze_is_table(L, table + 1);
    lua_settop(L, table);
    lua_pushnil(L);
    bool is_empty = lua_next(L, table) == 0;
    lua_settop(L, table);
    if (!begins_with_table && !is_empty) {
        return -1;
    }
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            build_failed(building, "a list of elements has no attributes, but `%s` is there", lua_tostring(L, -2));
        }
    }
    return last_place(building, table);
}

static bool is_left_out(lua_State *L, int index)
{
    return lua_isnil(L, index) || (lua_isboolean(L, index) && !lua_toboolean(L, index));
}

/// One child, whose place is `index`; the tag is ended before the first.
static void write_child(struct building *building, int index, bool *is_open)
{
    lua_State *L = building->L;

    if (is_left_out(L, index)) {
        return;
    }
    if (!*is_open) {
        buffer_append_byte(building->out, '>');
        *is_open = true;
    }
    if (freeze_is_table(L, index)) {
        write_element(building, index);
    } else {
        write_scalar(building, index, false);
    }
}

static void write_children(struct building *building, int table)
{
    lua_State *L = building->L;
    int last = last_place(building, table);
    bool is_open = false;

    for (int i = 2; i <= last; i++) {
        lua_rawgeti(L, table, i);
        int child = lua_gettop(L);
        int items = push_list(building, child);
        if (items < 0) {
            write_child(building, child, &is_open);
        }
        int list = lua_gettop(L);
        for (int item = 1; item <= items; item++) {
            lua_rawgeti(L, list, item);
            write_child(building, list + 1, &is_open);
            lua_settop(L, list);
        }
        lua_settop(L, table);
    }
    if (is_open) {
        buffer_append_c(building->out, "</");
        buffer_append_text(building->out, building->path[building->depth - 1]);
        buffer_append_byte(building->out, '>');
    } else {
        buffer_append_c(building->out, "/>");
    }
}

static void write_element(struct building *building, int index)
{
    lua_State *L = building->L;

    luaL_checkstack(L, 12, "the tree is nested too deeply");
    if (!freeze_raw(L, index)) {
        build_failed(building, "an element, { \"Name\", … }, expected, got a %s", luaL_typename(L, index));
    }
    int table = lua_gettop(L);
    if (building->depth == XML_DEPTH_MAX || building->count++ == ELEMENTS_MAX) {
        build_failed(building, "%s", "more than 64 elements within each other, or 20,000 in all");
    }
    lua_rawgeti(L, table, 1);
    struct text name = bind_to_text(L, -1); // the table keeps it
    if (name.data == NULL) {
        build_failed(building, "an element begins with its name, not with a %s", luaL_typename(L, -1));
    }
    lua_pop(L, 1);
    if (!is_name(name)) {
        build_failed(building, "`%s` is no name for an element", name.data);
    }
    building->path[building->depth++] = name;
    buffer_append_byte(building->out, '<');
    buffer_append_text(building->out, name);
    write_attributes(building, table);
    write_children(building, table);
    building->depth--;
    lua_settop(L, table - 1);
}

void bind_xml_write(lua_State *L, int index, struct buffer *out)
{
    struct building building = { .L = L, .out = out };

    write_element(&building, index);
}

int bind_xml_build(lua_State *L)
{
    bind_at_most(L, 2);
    bool is_declared = true;

    if (!freeze_is_table(L, 1)) {
        return bind_expected(L, 1, "an element, { \"Name\", … }");
    }
    if (!lua_isnoneornil(L, 2)) {
        if (!freeze_is_table(L, 2)) {
            return bind_expected(L, 2, "a table like { declaration = false }");
        }
        lua_getfield(L, 2, "declaration");
        is_declared = lua_isnil(L, -1) || lua_toboolean(L, -1);
    }
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);
    if (is_declared) {
        buffer_append_c(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    }
    bind_xml_write(L, 1, out);
    bind_push_result(L, out);
    return 1;
}
