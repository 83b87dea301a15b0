/// JSON reader: a strict pull reader over bytes in memory (RFC 8259, UTF-8 only, nothing after the document).
///
/// Each call of json_next gives one token; values point into the input, so nothing is copied until a string with
/// escapes is asked for. Refused: duplicate keys are the caller's affair, everything else outside the grammar is
/// JSON_ERROR with an offset. A byte-order mark, lone surrogates and bytes that are no UTF-8 are errors.
///
/// Threads: one owner.
/// Memory:  owns nothing; json_unescape writes into the caller's buffer.
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

enum json_token {
    JSON_BEGIN_OBJECT,
    JSON_END_OBJECT,
    JSON_BEGIN_ARRAY,
    JSON_END_ARRAY,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_END,   // the document is complete and nothing but white space followed
    JSON_ERROR, // `error` and `offset` tell; every further call gives JSON_ERROR again
};

enum { JSON_MAX_DEPTH = 64 };

struct json_reader {
    struct text input;
    size_t offset;     // of the next byte, or of the error
    struct text value; // KEY and STRING: between the quotes, still escaped; NUMBER: the literal
    bool has_escapes;  // KEY and STRING: value holds backslashes
    const char *error; // what was wrong, a constant sentence
    uint32_t depth;
    uint32_t state;
    uint64_t is_object; // one bit a level
};

void json_reader_init(struct json_reader *reader, struct text input);
enum json_token json_next(struct json_reader *reader);

/// A key as it mostly stands in a document, `,"name":`; the name must be well-formed UTF-8 that needs no escapes, and
/// stands within. Absent without memory.
struct text json_spell_key(struct arena *arena, struct text name);
static inline struct text json_spelt_name(struct text spelt)
{
    return (struct text){ spelt.data + 2, spelt.length - 4 };
}

/// Takes the next token when it is exactly the key that is spelt so; cheaper than reading a key to compare it. False:
/// it is something else, and nothing has been taken.
MUST_CHECK bool json_take_key(struct json_reader *reader, struct text spelt);

/// A run over plain members of an object, one behind the other: values that are strings of plain ASCII or whole
/// numbers. The reader stands still until json_run_end. `json_run_take`: STRING or NUMBER, with what lies between the
/// quotes, or the literal; END: the member is not called so or is something else, and nothing has been taken.
struct json_run {
    const char *at; // NULL: no member can stand here
    const char *end;
    bool is_first; // of its object
};
struct json_run json_run_begin(const struct json_reader *reader);
MUST_CHECK enum json_token json_run_take(struct json_run *run, struct text spelt, struct text *value);
void json_run_end(const struct json_run *run, struct json_reader *reader);

/// Skips the value that starts with `first` (just returned by json_next) to its end; of a key, the key and its value.
/// False: JSON_ERROR met.
MUST_CHECK bool json_skip(struct json_reader *reader, enum json_token first);

/// The current KEY or STRING without escapes: the input itself when it has none, else a copy appended to `scratch`.
/// The copy is valid until `scratch` grows again; absent when it did not fit.
struct text json_unescape(const struct json_reader *reader, struct buffer *scratch);

/// True when the whole input is one strict document; else `offset` and `sentence` tell why not.
MUST_CHECK bool json_is_valid(struct text input, size_t *offset, const char **sentence);
