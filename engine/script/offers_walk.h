/// Offers, the walk: checks one Lua value against the schema and writes it as JSON in the same pass.
///
/// Threads: a worker's.
/// Memory:  writes into buffers of the state; nothing is kept.
#pragma once

#include "base/buffer.h"
#include "base/places.h"
#include "script/calendar.h"
#include "script/conversion.h"
#include "script/schema.h"
#include "script/value.h"

enum { WALK_STEPS_MAX = 2 * SCHEMA_DEPTH_MAX + 2, WALK_KEY_MAX = 4096 };

// One object of the offer while it is walked; lives on the C stack.
struct walk_scope {
    const struct schema_object *object;
    const struct value *values; // of its fields
    struct walk_scope *outer;
    // how its money is shown
    bool is_converted;
    struct conversion conversion;
    bool is_shown_beside;  // the supplier's amount stands beside it
    int64_t amount_micros; // the first one, as the supplier has it
    bool has_amount;
    // the times in it
    bool has_times;
    int64_t first_s, last_s;
    size_t elapsed_at;    // where its elapsed minutes are written …
    size_t elapsed_width; // … and over how many bytes
    int32_t told_min;     // what the script says of them; -1: nothing
};

struct walk_step {
    const char *name; // NULL: an index
    int index;
};

struct plan_row;

struct walk {
    lua_State *L;
    const struct schema *schema;
    int readers;          // stack index of the schema's readers
    struct plan_row *row; // what planned values are read from; NULL: there are none
    struct buffer *out;
    // what the row of the offer needs, filled by the way
    int64_t total_micros; // as the supplier has it
    int64_t shown_micros; // in the currency that is shown
    struct text id;       // borrowed, while the offer is in hand
    char currency[4];
    bool taxes_are_included;
    bool taxes_are_excluded;
    bool due_is_ours;         // the amount due later in hand is in the price's currency
    int64_t due_micros;       // … their sum
    int64_t due_shown_micros; // what is due later as it is shown, as far as it is shown in the total's currency
    uint32_t due_count;       // so many amounts, each rounded on its own
    bool has_duration;
    bool lacks_duration; // a field that adds to it was absent
    uint64_t duration_min;
    uint64_t key_hash; // over the values of key fields
    bool has_key;
    // its facet values, each once
    struct facet_table *facets;
    struct arena *arena; // of the values
    uint16_t marks[FACET_MARKS_MAX];
    size_t mark_count;
    int64_t longest[FACETS_MAX]; // of the lists that are facets; -1: none was there
    int32_t recent[FACETS_MAX];  // the value seen last; -1: none
    // money and time
    struct walk_scope *scope;  // the object in hand
    bool is_in_price;          // within the field `price`
    bool is_hidden;            // within a field of the root that is never shown: its bytes stay as they are
    bool is_converted;         // the total is shown in the search's currency
    const struct rates *rates; // NULL: nothing is converted
    struct text target;        // the search's currency
    int target_decimals;
    const struct places *places; // NULL: none are known
    size_t corrected;            // elapsed minutes that did not agree with the times, of the whole answer
    char corrected_first[160];
    struct calendar_days days; // of its times
    // objects that were over when the answer came
    char now[CALENDAR_TEXT_MAX]; // when that was; "": unknown
    bool is_over;                // the object in hand is one
    size_t ended;                // so many, of the whole answer
    char ended_first[160];
    // where it stands, and what is wrong there
    struct walk_step steps[WALK_STEPS_MAX];
    size_t depth;
    char reason[200];
};

/// Begins an offer: forgets what the last one left. `out` and the steps are the caller's.
void walk_begin(struct walk *walk);

/// The Lua value at `index`, which has that type.
struct value walk_lua_value(lua_State *L, int index, int type);

/// Reads the fields of a table or planned object, in the order of the schema. What they borrow stays on the Lua stack.
/// False: a finding.
MUST_CHECK bool walk_spread(struct walk *walk, const struct schema_object *object, const struct value *source,
                            struct value values[SCHEMA_FIELDS_MAX]);

/// The text of one field of a table or planned object, without checking anything; absent when it is none.
struct text walk_peek(struct walk *walk, const struct schema_object *object, const struct value *source, size_t field);

/// Checks the value and appends it to `out`. `decimals` are those of the object's currency.
MUST_CHECK bool walk_value(struct walk *walk, const struct schema_field *field, const struct value *value,
                           int decimals);

/// The field is absent: true when that is allowed.
MUST_CHECK bool walk_absent(struct walk *walk, const struct schema_field *field);

/// The offer has this value of a facet.
MUST_CHECK bool walk_mark(struct walk *walk, int8_t facet, struct text value, bool is_text);

/// Behind a field that was written: takes it back when it is never shown or its object was over. True: it was.
bool walk_take_back(struct walk *walk, const struct schema_field *field, size_t start);

/// A leaf that was checked and is written: it counts where it is a key or a facet.
MUST_CHECK bool walk_note_leaf(struct walk *walk, const struct schema_field *field, struct text text);

/// At the end of an offer: the lengths of lists become values.
MUST_CHECK bool walk_mark_lists(struct walk *walk);

/// The head of a value that a reason shows; without secrets, which are taken out while they are whole.
struct walk_quote {
    char text[41];
};
struct walk_quote walk_quote(struct text text);

/// Sets the reason; returns false.
bool walk_failed(struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);

/// The digits of a number, at the end of `room`.
enum { DIGITS_MAX = 20 };
struct text walk_digits(uint64_t number, char room[DIGITS_MAX]);

/// Without leading zeros, where the field wants that.
struct text walk_trimmed(const struct schema_field *field, struct text text);

/// A text of a supplier as a reply may show it: without controls, tabs and ends of lines aside, and without what turns
/// the direction of writing. It lives as long as the batch where anything was taken out; absent: the
/// batch is full.
struct text walk_stripped(struct walk *walk, struct text text);

/// A text as JSON, quotes included; bytes that are not UTF-8 become U+FFFD.
void walk_write_text(struct buffer *out, struct text text);

/// The field's name and colon, after `{` or a comma.
void walk_write_key(struct buffer *out, const struct schema_field *field, bool is_first);

/// Both for a text that needs no escapes, in one go. False: nothing was written; walk_write_key and walk_write_text do.
MUST_CHECK bool walk_write_plain(struct buffer *out, const struct schema_field *field, struct text text, bool is_first);

/// The price's currency, as the supplier has it; empty until it is known.
static inline struct text walk_price_currency(const struct walk *walk)
{
    return (struct text){ walk->currency, walk->currency[0] != '\0' ? 3 : 0 };
}

/// Lets go what the Lua stack holds above `top`, which is mostly nothing.
static inline void walk_let_go(const struct walk *walk, int top)
{
    if (lua_gettop(walk->L) > top) {
        lua_settop(walk->L, top);
    }
}

/// `[3].slices[1].departs.local: reason`
void walk_describe(const struct walk *walk, char *out, size_t size);
