/// Schema: a product's offer as data, compiled from its Lua table.
///
///     offer = {
///       { "id", "text", required = true, max = 256 },
///       { "price", { { "total", "money", required = true }, { "currency", "currency", required = true } }, required =
///       true }, { "slices", "list", of = { … }, min = 1, max = 6, item = true },
///     }
///
/// A field is {name, kind, options}; a kind is a word of the table in schema.c or a list of fields (an object). The
/// order is the order of the reply. scripts/README.md explains kinds and options to authors of products.
///
/// Threads: a worker's, or the loader's.
/// Memory:  a Lua userdata with an arena; keys are interned strings that it keeps alive, so equal keys are equal
/// pointers.
#pragma once

#include "model/facet.h"

#include <lua.h>

enum schema_kind {
    SCHEMA_TEXT,
    SCHEMA_INTEGER,
    SCHEMA_FLAG,
    SCHEMA_MONEY,
    SCHEMA_CURRENCY,
    SCHEMA_LOCAL_TIME,
    SCHEMA_UTC_TIME,
    SCHEMA_DATE,
    SCHEMA_ENUM,
    SCHEMA_LIST,
    SCHEMA_OBJECT,
};

enum { SCHEMA_FIELDS_MAX = 64, SCHEMA_DEPTH_MAX = 8, SCHEMA_KEY_ROOM = 48 };

struct schema_field {
    const char *name;     // interned
    struct text key_json; // `,"name":`, with so many zeros behind it that SCHEMA_KEY_ROOM bytes can be read
    enum schema_kind kind;
    bool is_required;
    bool is_item;        // of the root: common to the item, written there
    bool is_key;         // part of the item's identity
    bool is_hidden;      // checked, never written
    bool trims_zeros;    // text: leading zeros are dropped
    bool adds_duration;  // integer: minutes that add up to the offer's duration
    bool is_elapsed;     // integer: the minutes between the first and the last zoned time of its object
    bool ends;           // utc_time: when it is over, so is its object, which is left out
    int at;              // object {local, zone, utc}: the field whose place's clocks it shows; -1: not one
    bool stands_in;      // text of the root: names the item when all of its key fields are absent
    int8_t facet;        // its values (of a list: the greatest length) are counted under this name; -1: are not
    int64_t facet_less;  // list: … less so many
    int64_t min, max;    // integer: range; text: bytes; list: length
    struct text *values; // of an enum
    size_t value_count;
    struct schema_field *element; // of a list
    struct schema_object *object;
};

struct schema_object {
    struct schema_field *fields;
    size_t count;
    int currency;    // the field whose decimals the money of this object has; -1: no money here
    int elapsed;     // the field with its elapsed minutes; -1: none
    int end;         // the field that `ends` it; -1: none
    uint8_t *places; // open hash of name pointers to field + 1
    uint32_t mask;
    int reader; // index of its reader among the schema's
};

struct schema {
    struct arena arena;
    struct schema_object root;
    struct text item_prefix;
    const struct schema_field *id, *price, *total, *currency;
    const struct schema_field *taxes_included, *stand_in, *due_later, *due_amount, *expires_at; // may be NULL
    struct text facets[FACETS_MAX];
    size_t facet_count;
};

/// Keeps Lua's `next` for the readers, before a state loses its globals.
void schema_keep_next(lua_State *L);

/// Compiles the product table at `index` (fields `offer`, `item_prefix`) and pushes the userdata.
/// False: a sentence with the field's path is pushed instead.
bool schema_compile(lua_State *L, int index);

/// Pushes the table of readers of the schema at `index`: each is a Lua function that takes a table and returns how many
/// fields it has, then the object's fields in their order.
void schema_push_readers(lua_State *L, int index);

/// The field of that interned name, or NULL.
static inline const struct schema_field *schema_find(const struct schema_object *object, const char *name)
{
    uint32_t slot = (uint32_t)(((uintptr_t)name * 0x9E3779B97F4A7C15ULL) >> 40) & object->mask;

    while (object->places[slot] != 0) {
        const struct schema_field *field = &object->fields[object->places[slot] - 1];
        if (field->name == name) {
            return field;
        }
        slot = (slot + 1) & object->mask;
    }
    return NULL;
}
