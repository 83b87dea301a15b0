// A document becomes a tape, and the tape the tables that its shape declares. The makers of a shape are functions that
// take the values of an object's members and return the table in its final size.

#include "script/bind_shape.h"

#include "script/bind_json.h"
#include "script/bind_support.h"
#include "script/drift.h"
#include "script/reading.h"
#include "script/sandbox.h"
#include "script/shape.h"
#include "script/tape_xml.h"

#include <stdio.h>
#include <string.h>

static const char TAPE_KEYS[TAPE_OF_PLANS + 1]; // registry: the tapes

// ---- the tape ------------------------------------------------------------------------------------------------------

static int tape_collect(lua_State *L)
{
    tape_fini(lua_touserdata(L, 1));
    return 0;
}

struct tape *bind_shape_tape(lua_State *L, enum bind_tape use)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&TAPE_KEYS[use]);
    lua_rawget(L, LUA_REGISTRYINDEX);
    struct tape *tape = lua_touserdata(L, -1);
    if (tape == NULL) {
        tape = lua_newuserdata(L, sizeof *tape);
        tape_init(tape);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, tape_collect);
        lua_setfield(L, -2, "__gc");
        lua_setmetatable(L, -2);
        lua_pushlightuserdata(L, (void *)(uintptr_t)&TAPE_KEYS[use]);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_pop(L, 1);
    return tape;
}

// ---- values --------------------------------------------------------------------------------------------------------

struct making {
    lua_State *L;
    const struct tape *tape;
    struct shape_unread *unread;
    int makers;     // stack index
    int array_mark; // stack index
    bool is_xml;
    // where we are, for what could not be read
    struct {
        struct text name;
        uint32_t index; // of a list's element, from 1; 0: none
    } steps[SHAPE_DEPTH + 4];
    int depth;
};

bool shape_is_decimal(struct text text)
{
    size_t i = text.length > 0 && text.data[0] == '-' ? 1 : 0;
    size_t digits = 0;
    size_t points = 0;

    for (; i < text.length; i++) {
        bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';
        digits += is_digit ? 1 : 0;
        points += text.data[i] == '.' ? 1 : 0;
        if (!is_digit && (text.data[i] != '.' || points > 1 || digits == 0 || i + 1 == text.length)) {
            return false;
        }
    }
    return digits > 0;
}

bool shape_is_flag(struct text text, bool *flag)
{
    *flag = text_equals_c(text, "true") || text_equals_c(text, "1");
    return *flag || text_equals_c(text, "false") || text_equals_c(text, "0");
}

static void describe_place(const struct making *making, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (int i = 0; i < making->depth && length < size; i++) {
        struct text name = making->steps[i].name;
        int added = 0;
        if (making->steps[i].index > 0) {
            added = snprintf(out + length, size - length, "[%u]", making->steps[i].index);
        } else if (name.length > 0) {
            added = snprintf(out + length, size - length, "%s%.*s", length > 0 ? "." : "", TEXT_ARGS(name));
        }
        length += added > 0 ? (size_t)added : 0;
    }
}

/// Pushes nil for a value that is not what was declared.
static void push_unread(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    struct shape_unread *unread = making->unread;
    if (unread->count++ == 0) {
        char place[100];
        describe_place(making, place, sizeof place);
        (void)snprintf(unread->first, sizeof unread->first, "%s: %s expected, got %s", place, shape_expected(declared),
                       tape_kind_name(node));
    }
    lua_pushnil(making->L);
}

static bool push_integer(lua_State *L, struct text text)
{
    int64_t value = 0;

    if (!text_to_whole(text, TEXT_DOUBLE_DIGITS, &value)) {
        return false;
    }
    lua_pushnumber(L, (lua_Number)value);
    return true;
}

static void push_scalar(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = making->L;
    bool is_text = node->kind == TAPE_TEXT;
    bool is_number = node->kind == TAPE_NUMBER;
    bool flag;

    if (node->kind == TAPE_EMPTY && declared->leaf != LEAF_TEXT) {
        lua_pushnil(L); // <Seats/> is no number, but no mistake either
        return;
    }
    switch ((enum shape_leaf)declared->leaf) {
    case LEAF_TEXT:
        if (is_text || is_number || node->kind == TAPE_EMPTY) {
            bind_push_text(L, node->text);
            return;
        }
        break;
    case LEAF_DECIMAL:
        if (is_number || (is_text && shape_is_decimal(node->text))) {
            bind_push_text(L, node->text);
            return;
        }
        break;
    case LEAF_INTEGER:
        if ((is_number || is_text) && push_integer(L, node->text)) {
            return;
        }
        break;
    case LEAF_FLAG:
        if (node->kind == TAPE_TRUE || node->kind == TAPE_FALSE) {
            lua_pushboolean(L, node->kind == TAPE_TRUE);
            return;
        }
        if (making->is_xml && shape_is_flag(node->text, &flag)) {
            lua_pushboolean(L, flag);
            return;
        }
        break;
    case LEAF_RAW:
        if (node->kind == TAPE_RAW) {
            bind_push_text(L, node->text);
            return;
        }
        break;
    case LEAF_NONE:
    case LEAF_MAP:
        break;
    }
    push_unread(making, declared, node);
}

static void push_value(struct making *making, const struct declared *declared, const struct tape_node *node);

static void push_step(struct making *making, const struct declared *declared, const struct tape_node *node,
                      uint32_t index)
{
    making->steps[making->depth].name = declared->name;
    making->steps[making->depth++].index = index;
    push_value(making, declared, node);
    making->depth--;
}

static void push_object(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = making->L;

    luaL_checkstack(L, (int)declared->member_count + 8, "the document is nested too deeply");
    lua_pushlightuserdata(L, (void *)(uintptr_t)declared);
    lua_rawget(L, making->makers);
    bool has_maker = !lua_isnil(L, -1);
    if (!has_maker) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    int base = lua_gettop(L);
    for (uint32_t i = 0; i < declared->member_count; i++) {
        push_step(making, declared->members[i], tape_member(making->tape, node, i), 0);
        if (!has_maker) {
            bind_push_text(L, declared->members[i]->name);
            lua_insert(L, -2);
            lua_rawset(L, base);
        }
    }
    if (has_maker) {
        lua_call(L, (int)declared->member_count, 1);
    }
}

static void push_list(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = making->L;
    const struct tape_node *nodes = making->tape->nodes;
    bool is_table = declared->element->kind != DECLARED_SCALAR && declared->element->kind != DECLARED_RAW;
    int place = 0;

    luaL_checkstack(L, 8, "the document is nested too deeply");
    lua_createtable(L, (int)node->count, 0);
    lua_pushvalue(L, making->array_mark);
    lua_setmetatable(L, -2);
    for (uint32_t at = node->first; at != 0; at = nodes[at].next) {
        push_step(making, declared->element, &nodes[at], (uint32_t)++place);
        if (lua_isnil(L, -1) && is_table) {
            lua_pop(L, 1);
            lua_newtable(L); // keeps the place: a hole would end the list for whoever goes over it
        }
        lua_rawseti(L, -2, place);
    }
}

static void push_map(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = making->L;
    const struct tape_node *nodes = making->tape->nodes;

    luaL_checkstack(L, 8, "the document is nested too deeply");
    lua_createtable(L, 0, (int)node->count);
    for (uint32_t at = node->first; at != 0; at = nodes[at].next) {
        bind_push_text(L, nodes[at].text);
        making->steps[making->depth].name = nodes[at].text;
        making->steps[making->depth++].index = 0;
        push_value(making, declared->element, &nodes[at + 1]);
        making->depth--;
        lua_rawset(L, -3);
    }
}

static void push_value(struct making *making, const struct declared *declared, const struct tape_node *node)
{
    if (node->kind == TAPE_NONE || node->kind == TAPE_NULL) {
        lua_pushnil(making->L);
    } else if (declared->kind == DECLARED_OBJECT && node->kind == TAPE_OBJECT) {
        push_object(making, declared, node);
    } else if (declared->kind == DECLARED_LIST && node->kind == TAPE_LIST) {
        push_list(making, declared, node);
    } else if (declared->kind == DECLARED_MAP && node->kind == TAPE_MAP) {
        push_map(making, declared, node);
    } else {
        push_scalar(making, declared, node);
    }
}

static bool is_stopped(void *context)
{
    return sandbox_is_interrupted(context);
}

/// The tape has been read by the shape on top: pushes its value in place of everything above `top`.
static void push_document(struct making *making, const struct shape *shape, int top)
{
    lua_State *L = making->L;

    lua_getfenv(L, -1);
    making->makers = lua_gettop(L);
    bind_json_push_array_mark(L);
    making->array_mark = lua_gettop(L);
    push_value(making, shape->root, tape_root(making->tape));
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
}

static void note_seen(const struct shape_unread *unread, const struct shape *shape, const struct tape *tape)
{
    if (unread != NULL && unread->seen != NULL) {
        reading_note(unread->seen->reading, shape->root, &shape->names);
        drift_look(unread->seen, shape->root, tape);
    }
}

bool bind_shape_decode(lua_State *L, int index, struct text json, struct shape_unread *unread)
{
    int top = lua_gettop(L);
    struct tape *tape = bind_shape_tape(L, TAPE_OF_SHAPES);
    struct shape *shape = shape_push(L, index, SHAPE_OF_JSON); // stays on the stack

    enum tape_result result = tape_read_json(tape, json, shape->root, is_stopped, L);
    sandbox_stop_here(L);
    if (result != TAPE_OK) {
        lua_settop(L, top);
        if (result == TAPE_BROKEN) {
            lua_pushfstring(L, "not JSON at byte %d: %s", (int)tape->offset + 1, tape->error);
        } else {
            lua_pushliteral(L, "more values than may be kept");
        }
        return false;
    }
    struct making making = { .L = L, .tape = tape, .unread = unread };
    note_seen(unread, shape, tape);
    push_document(&making, shape, top);
    tape_trim(tape);
    return true;
}

enum tape_result bind_shape_read_xml(lua_State *L, struct tape *tape, struct text xml, struct declared *declared,
                                     const struct xml_names *names, bool is_lenient, char sentence[XML_SENTENCE_MAX])
{
    struct tape_xml options = { .names = names, .is_lenient = is_lenient, .heap = &sandbox_of(L)->heap };
    enum tape_result result = tape_read_xml(tape, xml, declared, &options, is_stopped, L);

    (void)snprintf(sentence, XML_SENTENCE_MAX, "%s", options.sentence);
    return result;
}

bool bind_shape_decode_xml(lua_State *L, int index, struct text xml, bool is_lenient, struct shape_unread *unread)
{
    int top = lua_gettop(L);
    char sentence[XML_SENTENCE_MAX];
    struct tape *tape = bind_shape_tape(L, TAPE_OF_SHAPES);
    struct shape *shape = shape_push(L, index, SHAPE_OF_XML);

    enum tape_result result = bind_shape_read_xml(L, tape, xml, shape->root, &shape->names, is_lenient, sentence);
    sandbox_stop_here(L);
    if (result != TAPE_OK) {
        lua_settop(L, top);
        lua_pushstring(L, result == TAPE_BROKEN ? sentence : "more values than may be kept");
        return false;
    }
    struct making making = { .L = L, .tape = tape, .unread = unread, .is_xml = true };
    note_seen(unread, shape, tape);
    push_document(&making, shape, top);
    tape_trim(tape);
    return true;
}
