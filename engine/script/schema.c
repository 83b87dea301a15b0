#include "script/schema.h"

#include "script/bind_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ARENA_MAX = 1 << 20,
    TEXT_MAX_DEFAULT = 500,
    LIST_MAX_DEFAULT = 100,
    INTEGER_MAX_DEFAULT = 1000000000,
    READER_MAX = 8 << 10
};

static const char *const KIND_NAMES[] = {
    [SCHEMA_TEXT] = "text",         [SCHEMA_INTEGER] = "integer",   [SCHEMA_FLAG] = "flag",
    [SCHEMA_MONEY] = "money",       [SCHEMA_CURRENCY] = "currency", [SCHEMA_LOCAL_TIME] = "local_time",
    [SCHEMA_UTC_TIME] = "utc_time", [SCHEMA_DATE] = "date",         [SCHEMA_ENUM] = "enum",
    [SCHEMA_LIST] = "list",
};

static const char *const OPTION_NAMES[] = { "required",   "item", "key",     "hidden", "trim_zeros", "adds_duration",
                                            "min",        "max",  "values",  "of",     "stands_in",  "facet",
                                            "facet_less", "at",   "elapsed", "ends" };

static const char END_WRONG[] = "a utc_time `ends` an object that is not required, of no item and of no list";

static const char SCHEMA_KEY; // its address names the metatable in the registry
static const char NEXT_KEY;   // … and Lua's `next`

struct compiler {
    lua_State *L;
    struct schema *schema;
    int names;   // stack index of the table that keeps names alive, and the readers
    int readers; // how many there are
    uint32_t depth;
    char path[160];
};

static bool compile_object(struct compiler *compiler, int list, struct schema_object *object);
static bool compile_kind(struct compiler *compiler, int kind_index, int options, struct schema_field *field);

static bool compile_failed(struct compiler *compiler, const char *sentence)
{
    lua_pushfstring(compiler->L, "offer%s%s: %s", compiler->path[0] != '\0' ? " field " : "", compiler->path, sentence);
    return false;
}

static bool no_memory(struct compiler *compiler)
{
    return compile_failed(compiler, "the declaration is too large");
}

// The interned string at the top of the stack stays alive with the schema; it is popped.
static const char *keep_name(struct compiler *compiler)
{
    lua_State *L = compiler->L;
    const char *name = lua_tostring(L, -1);

    lua_pushboolean(L, 1);
    lua_rawset(L, compiler->names);
    return name;
}

static bool read_flag(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    bool value = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return value;
}

static bool read_bound(struct compiler *compiler, int table, const char *name, int64_t *bound)
{
    lua_State *L = compiler->L;

    lua_pushstring(L, name);
    lua_rawget(L, table);
    if (!lua_isnil(L, -1)) {
        double value = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
        if (!(fabs(value) < 1e15) || value != floor(value)) {
            return compile_failed(compiler, lua_pushfstring(L, "`%s` must be a whole number", name));
        }
        *bound = (int64_t)value;
    }
    lua_pop(L, 1);
    return true;
}

static bool check_options(struct compiler *compiler, int table)
{
    lua_State *L = compiler->L;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TNUMBER && (lua_tonumber(L, -2) == 1 || lua_tonumber(L, -2) == 2)) {
            continue;
        }
        struct text option = bind_to_text(L, -2);
        bool is_known = false;
        for (size_t i = 0; i < COUNT_OF(OPTION_NAMES); i++) {
            is_known = is_known || text_equals_c(option, OPTION_NAMES[i]);
        }
        if (!is_known) {
            const char *nearest =
                option.data != NULL ? text_nearest(option, OPTION_NAMES, COUNT_OF(OPTION_NAMES)) : NULL;
            return compile_failed(
                compiler, lua_pushfstring(L, "unknown option `%s`%s%s%s", option.data != NULL ? option.data : "?",
                                          nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "",
                                          nearest != NULL ? "`?" : ""));
        }
    }
    return true;
}

static bool compile_values(struct compiler *compiler, int options, struct schema_field *field)
{
    lua_State *L = compiler->L;

    lua_getfield(L, options, "values");
    if (!bind_unwrap(L, -1) || lua_objlen(L, -1) == 0) {
        return compile_failed(compiler, "`values` must list what an enum may be");
    }
    field->value_count = lua_objlen(L, -1);
    field->values = arena_alloc_array(&compiler->schema->arena, field->value_count, sizeof *field->values);
    if (field->values == NULL) {
        return no_memory(compiler);
    }
    for (size_t i = 0; i < field->value_count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        if (lua_type(L, -1) != LUA_TSTRING) {
            return compile_failed(compiler, "`values` must be texts");
        }
        field->values[i] = arena_copy(&compiler->schema->arena, bind_to_text(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return true;
}

static void set_bounds(struct schema_field *field)
{
    bool is_text = field->kind == SCHEMA_TEXT;

    field->min = is_text && field->is_required ? 1 : 0;
    field->max = is_text ? TEXT_MAX_DEFAULT : field->kind == SCHEMA_LIST ? LIST_MAX_DEFAULT : INTEGER_MAX_DEFAULT;
}

static bool has_end(const struct schema_field *field)
{
    return field->kind == SCHEMA_OBJECT && field->object->end >= 0;
}

static bool compile_element(struct compiler *compiler, int options, struct schema_field *field)
{
    lua_State *L = compiler->L;

    field->element = arena_alloc(&compiler->schema->arena, sizeof *field->element);
    if (field->element == NULL) {
        return no_memory(compiler);
    }
    lua_getfield(L, options, "of");
    if (lua_isnil(L, -1)) {
        return compile_failed(compiler, "`of` must tell what the list is of");
    }
    lua_newtable(L); // an element has no options of its own
    field->element->is_required = true;
    field->element->facet = -1;
    field->element->at = -1;
    bool is_ok = compile_kind(compiler, lua_gettop(L) - 1, lua_gettop(L), field->element);
    if (is_ok && has_end(field->element)) {
        return compile_failed(compiler, END_WRONG);
    }
    if (is_ok) {
        set_bounds(field->element);
        lua_pop(L, 2);
    }
    return is_ok;
}

// The kind at `kind_index`: a word, or the fields of an object.
static bool compile_kind(struct compiler *compiler, int kind_index, int options, struct schema_field *field)
{
    lua_State *L = compiler->L;

    if (bind_unwrap(L, kind_index)) {
        field->kind = SCHEMA_OBJECT;
        field->object = arena_alloc(&compiler->schema->arena, sizeof *field->object);
        return field->object != NULL ? compile_object(compiler, kind_index, field->object) : no_memory(compiler);
    }
    struct text word = bind_to_text(L, kind_index);
    for (size_t i = 0; i < COUNT_OF(KIND_NAMES); i++) {
        if (!text_equals_c(word, KIND_NAMES[i])) {
            continue;
        }
        field->kind = (enum schema_kind)i;
        if (field->kind == SCHEMA_ENUM) {
            return compile_values(compiler, options, field);
        }
        return field->kind != SCHEMA_LIST || compile_element(compiler, options, field);
    }
    const char *nearest = word.data != NULL ? text_nearest(word, KIND_NAMES, COUNT_OF(KIND_NAMES)) : NULL;
    return compile_failed(compiler, lua_pushfstring(L, "unknown kind `%s`%s%s%s", word.data != NULL ? word.data : "?",
                                                    nearest != NULL ? "; did you mean `" : "",
                                                    nearest != NULL ? nearest : "", nearest != NULL ? "`?" : ""));
}

static bool name_is_plain(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') {
            return false;
        }
    }
    return name.length > 0 && name.length <= 40;
}

// The number of the facet of that name, a new one if need be; -1: there are too many.
static int8_t facet_number(struct schema *schema, struct text name)
{
    for (size_t i = 0; i < schema->facet_count; i++) {
        if (text_equals(schema->facets[i], name)) {
            return (int8_t)i;
        }
    }
    if (schema->facet_count == FACETS_MAX) {
        return -1;
    }
    schema->facets[schema->facet_count] = arena_copy(&schema->arena, name);
    return (int8_t)schema->facet_count++;
}

static bool facet_suits(const struct schema_field *field)
{
    switch (field->kind) {
    case SCHEMA_TEXT:
        return field->max <= FACET_VALUE_BYTES_MAX;
    case SCHEMA_INTEGER:
    case SCHEMA_ENUM:
    case SCHEMA_LIST:
        return true;
    default:
        return false;
    }
}

static bool compile_facet(struct compiler *compiler, int table, struct schema_field *field)
{
    lua_State *L = compiler->L;

    field->facet = -1;
    lua_getfield(L, table, "facet");
    struct text name = bind_to_text(L, -1);
    if (!lua_isnil(L, -1)) {
        if (!name_is_plain(name)) {
            return compile_failed(compiler, "`facet` is a name of small letters, digits and _");
        }
        if (!facet_suits(field)) {
            return compile_failed(compiler, "a facet is made of text of at most 64 bytes, integers, enums and lists");
        }
        field->facet = facet_number(compiler->schema, name);
        if (field->facet < 0) {
            return compile_failed(compiler, "a product has at most 8 facets");
        }
    }
    lua_pop(L, 1);
    return read_bound(compiler, table, "facet_less", &field->facet_less);
}

// {name, kind, options} at the top of the stack.
static bool compile_field(struct compiler *compiler, int table, struct schema_field *field)
{
    lua_State *L = compiler->L;
    char key[SCHEMA_KEY_ROOM] = "";

    lua_rawgeti(L, table, 1);
    struct text name = bind_to_text(L, -1);
    if (!name_is_plain(name)) {
        return compile_failed(compiler, "a field starts with its name: small letters, digits and _");
    }
    size_t before = strlen(compiler->path);
    (void)snprintf(compiler->path + before, sizeof compiler->path - before, "%s%s", before > 0 ? "." : "", name.data);
    (void)snprintf(key, sizeof key, ",\"%s\":", name.data);
    field->key_json = arena_copy(&compiler->schema->arena, (struct text){ key, sizeof key });
    field->key_json.length = strlen(key);
    field->name = keep_name(compiler);
    field->is_required = read_flag(L, table, "required");
    field->is_item = read_flag(L, table, "item");
    field->is_key = read_flag(L, table, "key");
    field->is_hidden = read_flag(L, table, "hidden");
    field->trims_zeros = read_flag(L, table, "trim_zeros");
    field->adds_duration = read_flag(L, table, "adds_duration");
    field->stands_in = read_flag(L, table, "stands_in");
    field->is_elapsed = read_flag(L, table, "elapsed");
    field->ends = read_flag(L, table, "ends");
    field->at = -1;
    lua_rawgeti(L, table, 2);
    if (!check_options(compiler, table) || !compile_kind(compiler, lua_gettop(L), table, field)) {
        return false;
    }
    set_bounds(field);
    if (!read_bound(compiler, table, "min", &field->min) || !read_bound(compiler, table, "max", &field->max) ||
        !compile_facet(compiler, table, field)) {
        return false;
    }
    if ((field->ends && field->kind != SCHEMA_UTC_TIME) || (has_end(field) && (field->is_required || field->is_item))) {
        return compile_failed(compiler, END_WRONG);
    }
    lua_pop(L, 1);
    compiler->path[before] = '\0';
    return field->key_json.data != NULL || no_memory(compiler);
}

static bool index_names(struct compiler *compiler, struct schema_object *object)
{
    uint32_t size = 8;

    while (size < object->count * 4) {
        size *= 2;
    }
    object->mask = size - 1;
    object->places = arena_alloc(&compiler->schema->arena, size);
    if (object->places == NULL) {
        return no_memory(compiler);
    }
    for (size_t i = 0; i < object->count; i++) {
        const char *name = object->fields[i].name;
        if (schema_find(object, name) != NULL) {
            return compile_failed(compiler, lua_pushfstring(compiler->L, "field `%s` is declared twice", name));
        }
        uint32_t slot = (uint32_t)(((uintptr_t)name * 0x9E3779B97F4A7C15ULL) >> 40) & object->mask;
        while (object->places[slot] != 0) {
            slot = (slot + 1) & object->mask;
        }
        object->places[slot] = (uint8_t)(i + 1);
    }
    return true;
}

static bool find_currency(struct compiler *compiler, struct schema_object *object)
{
    bool has_money = false;

    object->currency = -1;
    for (size_t i = 0; i < object->count; i++) {
        has_money = has_money || object->fields[i].kind == SCHEMA_MONEY;
        if (object->fields[i].kind == SCHEMA_CURRENCY && object->currency < 0) {
            object->currency = (int)i;
        }
    }
    if (has_money && object->currency < 0) {
        return compile_failed(compiler, "money needs a field of kind `currency` beside it");
    }
    return true;
}

static bool is_zoned(const struct schema_object *object)
{
    return object->count == 3 && strcmp(object->fields[0].name, "local") == 0 &&
           object->fields[0].kind == SCHEMA_LOCAL_TIME && object->fields[0].is_required &&
           strcmp(object->fields[1].name, "zone") == 0 && object->fields[1].kind == SCHEMA_TEXT &&
           strcmp(object->fields[2].name, "utc") == 0 && object->fields[2].kind == SCHEMA_UTC_TIME;
}

// `at` of the fields, which is the name of another one, and which of them is `elapsed`.
static bool find_times(struct compiler *compiler, int list, struct schema_object *object)
{
    lua_State *L = compiler->L;

    object->elapsed = -1;
    object->end = -1;
    for (size_t i = 0; i < object->count; i++) {
        struct schema_field *field = &object->fields[i];
        lua_rawgeti(L, list, (int)i + 1);
        (void)bind_unwrap(L, -1);
        lua_getfield(L, -1, "at");
        struct text at = bind_to_text(L, -1);
        for (size_t j = 0; j < object->count && at.data != NULL; j++) {
            field->at = text_equals_c(at, object->fields[j].name) ? (int)j : field->at;
        }
        bool is_asked = !lua_isnil(L, -1);
        lua_pop(L, 2);
        if (is_asked && (field->at < 0 || object->fields[field->at].kind != SCHEMA_TEXT ||
                         field->kind != SCHEMA_OBJECT || !is_zoned(field->object))) {
            return compile_failed(compiler,
                                  "`at` names a text beside it, and stands at an object of local (local_time, "
                                  "required), zone (text) and utc (utc_time)");
        }
        if (field->is_elapsed && (field->kind != SCHEMA_INTEGER || object->elapsed >= 0)) {
            return compile_failed(compiler, "one integer of an object may be `elapsed`");
        }
        object->elapsed = field->is_elapsed ? (int)i : object->elapsed;
        object->end = field->ends ? (int)i : object->end;
    }
    return true;
}

void schema_keep_next(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&NEXT_KEY);
    lua_getfield(L, LUA_GLOBALSINDEX, "next");
    lua_rawset(L, LUA_REGISTRYINDEX);
}

static void push_next(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&NEXT_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) { // a state with plain globals
        lua_pop(L, 1);
        lua_getfield(L, LUA_GLOBALSINDEX, "next");
    }
}

// The interpreter reads the fields of a table in a fraction of the time that lua_next and its like take for it, so each
// object has a function for that. Names are made of small letters, digits and _, so they need no escapes.
static bool make_reader(struct compiler *compiler, struct schema_object *object)
{
    lua_State *L = compiler->L;
    struct buffer *code = bind_push_buffer(L, READER_MAX);

    buffer_append_c(code, "local next = ... return function(t) local n = 0 for _ in next, t do n = n + 1 end return n");
    for (size_t i = 0; i < object->count; i++) {
        buffer_printf(code, ",t[\"%s\"]", object->fields[i].name);
    }
    buffer_append_c(code, " end");
    if (code->is_full || luaL_loadbuffer(L, code->data, code->length, "=the check of offers") != 0) {
        return no_memory(compiler);
    }
    buffer_fini(code);
    push_next(L);
    lua_call(L, 1, 1);
    object->reader = ++compiler->readers;
    lua_rawseti(L, compiler->names, object->reader);
    lua_pop(L, 1);
    return true;
}

void schema_push_readers(lua_State *L, int index)
{
    lua_getfenv(L, index);
}

static bool compile_object(struct compiler *compiler, int list, struct schema_object *object)
{
    lua_State *L = compiler->L;

    object->count = lua_objlen(L, list);
    if (object->count == 0 || object->count > SCHEMA_FIELDS_MAX) {
        return compile_failed(compiler, "a list of 1 to 64 fields expected");
    }
    if (++compiler->depth > SCHEMA_DEPTH_MAX) {
        return compile_failed(compiler, "nested deeper than 8 levels");
    }
    luaL_checkstack(L, 20, "offer declaration");
    object->fields = arena_alloc_array(&compiler->schema->arena, object->count, sizeof *object->fields);
    if (object->fields == NULL) {
        return no_memory(compiler);
    }
    for (size_t i = 0; i < object->count; i++) {
        lua_rawgeti(L, list, (int)i + 1);
        if (!bind_unwrap(L, -1)) {
            return compile_failed(compiler, "a field is a table {name, kind, options}");
        }
        if (!compile_field(compiler, lua_gettop(L), &object->fields[i])) {
            return false;
        }
        lua_pop(L, 1);
    }
    compiler->depth--;
    return index_names(compiler, object) && find_currency(compiler, object) && find_times(compiler, list, object) &&
           make_reader(compiler, object);
}

// ---- what the core itself reads of an offer ------------------------------------------------------------------------

static const struct schema_field *find_role(const struct schema_object *object, const char *name, enum schema_kind kind)
{
    for (size_t i = 0; object != NULL && i < object->count; i++) {
        if (strcmp(object->fields[i].name, name) == 0 && object->fields[i].kind == kind) {
            return &object->fields[i];
        }
    }
    return NULL;
}

// `due_later` of the price stands after the currency, so that the walk knows it when it adds up.
static bool find_optional_roles(struct compiler *compiler, const struct schema_object *price)
{
    struct schema *schema = compiler->schema;

    schema->taxes_included = find_role(price, "taxes_included", SCHEMA_ENUM);
    schema->due_later = find_role(price, "due_later", SCHEMA_LIST);
    for (size_t i = 0; i < schema->root.count; i++) {
        const struct schema_field *field = &schema->root.fields[i];
        if (field->stands_in && (field->kind != SCHEMA_TEXT || field->is_item || schema->stand_in != NULL)) {
            return compile_failed(compiler, "one text that is not the item's `stands_in` for it");
        }
        schema->stand_in = field->stands_in ? field : schema->stand_in;
    }
    if (schema->due_later == NULL) {
        return true;
    }
    const struct schema_object *due = schema->due_later->element->object;
    schema->due_amount = find_role(due, "amount", SCHEMA_MONEY);
    if (schema->due_amount == NULL || schema->due_later < schema->currency) {
        return compile_failed(compiler, "`price.due_later` is a list of objects with `amount` (money) and stands after "
                                        "`price.currency`");
    }
    return true;
}

static bool find_roles(struct compiler *compiler)
{
    struct schema *schema = compiler->schema;

    schema->id = find_role(&schema->root, "id", SCHEMA_TEXT);
    schema->price = find_role(&schema->root, "price", SCHEMA_OBJECT);
    schema->expires_at = find_role(&schema->root, "expires_at", SCHEMA_UTC_TIME);
    const struct schema_object *price = schema->price != NULL ? schema->price->object : NULL;
    schema->total = find_role(price, "total", SCHEMA_MONEY);
    schema->currency = find_role(price, "currency", SCHEMA_CURRENCY);
    if (schema->root.end >= 0) {
        return compile_failed(compiler, END_WRONG);
    }
    if (schema->id == NULL || !schema->id->is_required || schema->price == NULL || !schema->price->is_required ||
        schema->total == NULL || !schema->total->is_required || schema->currency == NULL ||
        !schema->currency->is_required) {
        return compile_failed(compiler, "`id` (text), `price.total` (money) and `price.currency` (currency) must be "
                                        "declared and required");
    }
    return find_optional_roles(compiler, price);
}

static int schema_collect(lua_State *L)
{
    struct schema *schema = lua_touserdata(L, 1);

    arena_fini(&schema->arena);
    return 0;
}

static struct schema *push_schema(lua_State *L)
{
    struct schema *schema = lua_newuserdata(L, sizeof *schema);

    *schema = (struct schema){ .id = NULL };
    arena_init(&schema->arena, ARENA_MAX);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&SCHEMA_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, schema_collect);
        lua_setfield(L, -2, "__gc");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&SCHEMA_KEY);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_setmetatable(L, -2);
    return schema;
}

bool schema_compile(lua_State *L, int index)
{
    struct compiler compiler = { .L = L };
    int top = lua_gettop(L);

    lua_pushvalue(L, index);
    compiler.schema = push_schema(L);
    lua_newtable(L);
    compiler.names = top + 3;
    bool is_ok = bind_unwrap(L, top + 1);
    if (!is_ok) {
        lua_pushliteral(L, "a product is a table");
    } else {
        lua_getfield(L, top + 1, "item_prefix");
        compiler.schema->item_prefix = arena_copy(&compiler.schema->arena, bind_to_text(L, -1));
        lua_getfield(L, top + 1, "offer");
        is_ok = bind_unwrap(L, -1)
                    ? compile_object(&compiler, lua_gettop(L), &compiler.schema->root) && find_roles(&compiler)
                    : compile_failed(&compiler, "a list of fields expected");
    }
    if (is_ok) {
        lua_pushvalue(L, compiler.names);
        lua_setfenv(L, top + 2);
        lua_settop(L, top + 2);
        lua_replace(L, top + 1);
        return true;
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return false;
}
