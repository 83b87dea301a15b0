/// Offers, the walk: checks one Lua value against the schema and writes it as JSON in the same pass.
///
/// Threads: a worker's.
/// Memory:  writes into buffers of the state; nothing is kept.
#pragma once

#include "base/buffer.h"
#include "script/schema.h"

enum { WALK_STEPS_MAX = 2 * SCHEMA_DEPTH_MAX + 2, WALK_KEY_MAX = 4096 };

struct walk_step {
    const char *name; // NULL: an index
    int index;
};

struct walk {
    lua_State *L;
    const struct schema *schema;
    int readers; // stack index of the schema's readers
    struct buffer *out;
    // what the row of the offer needs, filled by the way
    int64_t total_micros;
    struct text id; // Lua's, while the offer is on the stack
    char currency[4];
    bool taxes_are_included;
    bool has_duration;
    bool lacks_duration; // a field that adds to it was absent
    uint64_t duration_min;
    uint64_t key_hash; // FNV-1a over the values of key fields
    bool has_key;
    // where it stands, and what is wrong there
    struct walk_step steps[WALK_STEPS_MAX];
    size_t depth;
    char reason[200];
};

/// Begins an offer: forgets what the last one left. `out` and the steps are the caller's.
void walk_begin(struct walk *walk);

/// Spreads the fields of the table at `index` over one stack slot each, above the top, in the order of the schema, and
/// tells their types. The first slot's index, or 0: a finding.
int walk_spread(struct walk *walk, const struct schema_object *object, int index, int8_t types[SCHEMA_FIELDS_MAX]);

/// Checks the value at `index`, which has that type, and appends it to `out`. `decimals` are those of the object's
/// currency.
MUST_CHECK bool walk_value(struct walk *walk, const struct schema_field *field, int index, int type, int decimals);

/// The value in `slot` is absent: true when that is allowed.
MUST_CHECK bool walk_absent(struct walk *walk, const struct schema_field *field);

/// Sets the reason; returns false.
bool walk_failed(struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);

/// A text as JSON, quotes included; bytes that are not UTF-8 become U+FFFD.
void walk_write_text(struct buffer *out, struct text text);

/// The field's name and colon, after `{` or a comma.
void walk_write_key(struct buffer *out, const struct schema_field *field, bool is_first);

/// `[3].slices[1].departs.local: reason`
void walk_describe(const struct walk *walk, char *out, size_t size);
