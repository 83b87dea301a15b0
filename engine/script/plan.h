/// Plan: the mapping of an answer to offers, stated as data and run in C.
///
///     normalise = plan {
///       each  = "hotels[].rooms[].rates[]",
///       offer = {
///         id    = "rateKey",
///         price = { total = money(up(2).currency, "total"), taxes_included = const "yes" },
///         hotel = { room = up(1).name, board = map("board", { RO = "room_only", BB = "breakfast" }) },
///         legs  = { each = "legs[]", of = ref("segments", "key"), from = "origin", to = { "to", string.upper } },
///       },
///       when  = { [404] = "empty", [429] = fail.quota, ["hotels:absent"] = fail.unexpected "hotels" },
///     }
///
/// A text is a path from the element in hand; `up(n)` begins n levels of `[]` further out. `{}` stands for the values
/// of a map with free keys as `[]` does for the elements of a list, and alone both are the key or number of the one in
/// hand. `of = ref(list, key, path)` means that elements name others, which are in a list or map of the document: it is
/// one more level; `ref(list, key, path).field` is a leaf of what is named. Where names count within each slice, key
/// and path are lists of paths; a list may begin at `up(n)`, too, or be one of lists. A function behind paths or terms
/// is given their values, one that stands alone the element as a table. `only` beside `each` says which elements are
/// meant (plan_only.h). The plan declares what it reads, so a document
/// is kept as a tape and nothing becomes a Lua value but what a function of the plan asks for.
///
/// `from = "xml"` reads XML by the same paths (tape_xml.h); `xmlns` says what their prefixes mean (xml_names.h).
///
/// Threads: those of the lua_State.
/// Memory:  a Lua userdata with an arena; its environment keeps the functions and tables of the script alive.
#pragma once

#include "script/tape.h"
#include "script/xml_names.h"

#include <lua.h>

enum { PLAN_LEVELS_MAX = 32, PLAN_FIELDS_MAX = 64, PLAN_WHENS_MAX = 32 };
enum { PLAN_STEPS_MAX = 16, PLAN_KEYS_MAX = 4, PLAN_LISTS_MAX = 3 };

/// One step of a path: a member's place, or an element's number.
struct plan_step {
    uint16_t place;
    int16_t index; // from 1, or from the end: -1; 0: it is a member
};

/// From the element of a level to a node.
struct plan_path {
    uint32_t level; // 0: the document
    uint32_t count;
    struct plan_step *steps;
    struct declared *declared; // what it names
    struct text text;          // as the script wrote it, for errors
    bool is_key;               // the key of the level's element in its map, or its number in its list
    bool is_member;            // one step to a member, as most are; its place is here too
    uint16_t place;
};

/// The members of an object that PLAN_TIME puts together.
enum { PLAN_YEAR, PLAN_MONTH, PLAN_DAY, PLAN_HOUR, PLAN_MINUTE, PLAN_TIME_PARTS };

enum plan_op {
    PLAN_PATH,
    PLAN_VALUES, // for a function only: what `inner` names of each element of the list or map at `path`; of lists in
                 // them, at `between`, of all their elements
    PLAN_REF,    // parts[0], a path from what the reference of the level `level` names
    PLAN_ASKED,  // a value of the search; `value` is its path
    PLAN_TIME,   // clock time of the `fields` year to minute
    PLAN_CONST,  // text, number or flag
    PLAN_MONEY,  // parts[0]: amount; parts[1]: currency; parts[2]: how many of its digits are decimals, or NULL
    PLAN_MAP,    // parts[0]: the key; `value` is what an unknown one gives
    PLAN_CALL,   // a function of the row, at `function` in the environment; or of `fields`, when there are any; `value`
                 // is its place: `offer.price.total`
    PLAN_OBJECT, // fields
    PLAN_LIST,   // elements of the level `level`; fields of each, or parts[0] when it is a list of leaves
};

struct plan_constant {
    enum tape_kind kind; // TEXT, NUMBER, TRUE, FALSE; NONE: nothing
    struct text text;
};

struct plan_entry {
    struct text key;
    struct plan_constant value;
};

/// A leaf and the field of the schema that it is for.
struct plan_bound {
    const struct plan_node *leaf;
    uint32_t level;  // of a path: its own
    uint16_t place;  // … and that of its member
    uint8_t field;   // the number of the field in its object
    bool is_member;  // the leaf is a path of one step to a member, and wants text, as most are
    bool wants_text; // see plan_value
    bool is_certain; // a required object: it is there, and what it lacks has a path of its own
};

struct plan_node {
    enum plan_op op;
    struct text name; // of the field
    struct plan_path path, inner;
    struct plan_path between[PLAN_LISTS_MAX]; // from an element of one list to the next list
    size_t between_count;
    struct plan_constant value;
    struct plan_node *parts[3];
    struct plan_entry *entries; // of a map, sorted by key
    size_t entry_count;
    int function;
    uint32_t level;         // of a list: the level of its elements; of a function: the level of its row
    uint32_t outer;         // of a list: the level that it begins at
    uint32_t first_level;   // … and the first one further in
    struct plan_only *only; // of a list: which of its elements are meant; NULL: all (plan_only.h)
    struct plan_node **fields;
    size_t field_count;
    const void *bound;           // the schema object that `by_field` and `bounds` belong to
    struct plan_node **by_field; // one for each field of that object; NULL: absent
    struct plan_bound *bounds;   // those that are there, in the order of the object
    size_t bound_count;
    struct plan_memo *memo; // of a function: what it said; NULL: nothing yet
};

/// A level of `[]` or `{}`: the list or map, from the element of the level before. Or a reference: the one element of a
/// list or map of the document whose `key` is what `reference` says.
struct plan_level {
    uint32_t outer; // the level that `list` begins at, or `reference`
    struct plan_path list;
    struct declared *element;
    bool is_map;
    bool is_self; // `each = "."`: the element further out, once
    bool is_reference;
    struct plan_path key, reference;
    struct plan_keys *keys; // … of one that is found in another way than by these two; NULL: it is not
};

/// A reference by several keys, or into lists that are not one list of the document.
struct plan_keys {
    uint32_t level, depth; // of the elements that are looked through; how many levels further in than `base` that is
    uint32_t base;         // the level that their list begins at
    uint32_t count;
    struct plan_path key[PLAN_KEYS_MAX], reference[PLAN_KEYS_MAX];
};

/// In the order in which they are asked: what an answer says wins over what it lacks.
enum plan_test { PLAN_STATUS, PLAN_EQUALS, PLAN_PRESENT, PLAN_ABSENT };

/// What to do when the answer has that status, or a path is there or not, or has that value.
struct plan_when {
    enum plan_test test;
    uint16_t status;
    struct plan_path path;
    struct text value; // EQUALS: its literal
    bool is_empty;     // "empty"; else the failure, or the function that makes it, at `action` in the environment
    int action;
};

struct plan {
    struct arena arena;
    struct text file; // where it was made; absent: that is not known
    uint32_t line;
    bool is_xml, is_lenient;
    struct xml_names names; // of XML: what prefixes of paths mean
    struct declared *root;
    struct plan_level levels[PLAN_LEVELS_MAX];
    uint32_t level_count; // [0] is the document
    uint32_t offer_level;
    struct plan_only *only; // which of its elements are offers; NULL: all
    struct plan_node *offer;
    struct plan_when whens[PLAN_WHENS_MAX];
    size_t when_count;
    int kept;         // values in the environment
    uint64_t answers; // that it was run over
};

/// Pushes a table of the globals plan, up, const, ref and asked. `plan{…}` gives a function (response, search, ctx),
/// which takes the offers and returns a marker; a supplier's `normalise` may be that function, or call it and return
/// what it gave.
void bind_plan(lua_State *L);

/// The value at `index` is that marker.
bool plan_is_marker(lua_State *L, int index);

/// money(currency, amount, decimals?) as a term of a plan.
int plan_money(lua_State *L);

/// map(path, table, otherwise?) as a term of a plan.
int plan_map(lua_State *L);

/// time(path) as a term of a plan.
int plan_time(lua_State *L);

/// Pushes the plan compiled from the table at `index`; raises when it is none, with its place.
void plan_make(lua_State *L, int index);

/// The plan at `index`, or the one whose function is there; NULL: neither.
struct plan *plan_at(lua_State *L, int index);

/// The plan that was made as number `number` in this state, from 1 on; NULL: it is gone, or there were not so many.
const struct plan *plan_made(lua_State *L, int number);
/// How many were made.
int plan_count_made(lua_State *L);
