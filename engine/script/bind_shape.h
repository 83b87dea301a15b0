/// Shapes: what a script declares that it reads of a document, and the tables made of just that.
///
///     local shape = { currency = text, offers = { { id = text, price = decimal, legs = map_of { minutes = integer } }
///     } } local body = response:json(shape)
///
/// Tables mirror the document, a list of one element is "a list of", `map_of` a map with free keys. The leaves are the
/// globals text, decimal, integer, flag and raw. A shape is compiled when it is first used.
///
/// Threads: those of the lua_State.
/// Memory:  Lua's; two tapes per state.
#pragma once

#include "script/tape.h"
#include "script/xml_names.h"

#include <lua.h>

/// Pushes a table of the globals: text, decimal, integer, flag, raw, map_of.
void bind_shape(lua_State *L);

struct drift_seen;

/// Values that were there but were not what the shape says; they are nil to the script.
struct shape_unread {
    uint32_t count;
    char first[160];         // "offers[2].price: decimal expected, got true"
    struct drift_seen *seen; // where it is noted which declared paths a document has; NULL: nowhere
};

/// Decodes by the shape at `index` (a plain table, leaf or map_of) and pushes the value. False: the document is no
/// JSON, a sentence is pushed instead. Raises when the shape is none.
bool bind_shape_decode(lua_State *L, int index, struct text json, struct shape_unread *unread);

/// The same for XML. `is_lenient`: as xml_reader.h says.
bool bind_shape_decode_xml(lua_State *L, int index, struct text xml, bool is_lenient, struct shape_unread *unread);

/// Reads XML into a tape, with the memory of the state. BROKEN: the sentence tells why.
MUST_CHECK enum tape_result bind_shape_read_xml(lua_State *L, struct tape *tape, struct text xml,
                                                struct declared *declared, const struct xml_names *names,
                                                bool is_lenient, char sentence[XML_SENTENCE_MAX]);

/// A state has two tapes: a function of a plan may read a document by a shape while the plan reads its own.
enum bind_tape { TAPE_OF_SHAPES = 1, TAPE_OF_PLANS };

/// The state's tape of that use; valid as long as the state.
struct tape *bind_shape_tape(lua_State *L, enum bind_tape use);

/// A finite decimal literal (digits, at most one point, a minus), as in JSON but without an exponent.
bool shape_is_decimal(struct text text);

/// true, false, 1 or 0, as XML spells flags?
bool shape_is_flag(struct text text, bool *flag);
