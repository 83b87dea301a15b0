/// Rule: what an operator wants of a kind of search, for its deadline and the ceilings of its suppliers, as plain data.
///
/// A rule has conditions on facts of the search, by name: which facts there are is the products' affair, which of them
/// rules may ask for (the segments) the settings'. Of the rules that fit a search, the first that has a setting gives
/// it; each setting is looked for by itself.
///
/// Threads: immutable once published.
/// Memory:  owned by its generation.
#pragma once

#include "base/text.h"

enum {
    RULE_SEGMENTS_MAX = 16,
    RULE_SEGMENT_SIZE = 64, // of a segment's name, terminator included
    RULE_FACT_SIZE = 48,    // a longer fact, terminator included, fits no condition
};

/// What a rule can set; 0: it does not.
enum rule_setting {
    RULE_DEADLINE,      // µs; of the whole search
    RULE_CEILING,       // µs after arrival
    RULE_CEILING_SCALE, // millionths of the ceiling
    RULE_CEILING_MAX,   // µs
    RULE_WEIGHT,        // millionths: times what its answer adds
    RULE_DELAY_COST,    // millionths of an offer a second; of the whole search
    RULE_SETTING_COUNT,
};

/// One of the values that a condition allows: this text, or a number from `least` to `most`.
struct rule_value {
    struct text text; // absent: the range
    int64_t least, most;
};

/// Fits when the fact is one of the values; a fact that the search does not have is none.
struct rule_condition {
    uint32_t segment; // index in the set's segments
    const struct rule_value *values;
    size_t value_count;
};

struct rule {
    struct text place; // "lastcall.yaml:41", shown where it won
    const struct rule_condition *conditions;
    size_t condition_count;
    const uint32_t *suppliers; // indexes in the catalogue; none: every supplier
    size_t supplier_count;
    uint64_t values[RULE_SETTING_COUNT];
};

struct rule_set {
    const struct text *segments;
    size_t segment_count; // at most RULE_SEGMENTS_MAX
    const struct rule *rules;
    size_t rule_count;
    bool has_deadlines; // some rule sets one
};

/// A fact of one search.
struct rule_fact {
    struct text text; // absent: the search does not have it
    bool is_integer;
    int64_t integer;
};

/// The fact that this text says; "7" is a number, too.
struct rule_fact rule_fact_of(struct text text);

/// Reads a whole decimal number with an optional sign, as facts and conditions are written. False: it is none.
MUST_CHECK bool rule_read_integer(struct text text, int64_t *integer);

/// `facts` stand in the order of the set's segments.
MUST_CHECK bool rule_fits(const struct rule *rule, const struct rule_fact *facts);
MUST_CHECK bool rule_is_for(const struct rule *rule, uint32_t supplier);

/// Does every search and supplier that `later` is for belong to `earlier`, too? Never true when it is not so; a later
/// one that only several earlier ones together cover is not seen.
MUST_CHECK bool rule_covers(const struct rule *earlier, const struct rule *later);

/// Where the number of a ceiling comes from.
enum ceiling_from {
    CEILING_FROM_NOBODY,
    CEILING_FROM_SCRIPT,
    CEILING_FROM_SETTINGS,
    CEILING_FROM_RULE,
    CEILING_FROM_BUILT_IN, // read from what is known of the supplier
    CEILING_FROM_OVERRIDE, // an operator's word, for a time
};
const char *ceiling_from_name(enum ceiling_from from);

/// What bears on the ceiling of one supplier within one search, but for its script.
struct ceiling_terms {
    uint64_t override_us;     // an operator's word, which wins; 0: none
    uint64_t settings_us;     // of the supplier's own settings; 0: none
    const struct rule *rule;  // the first with RULE_CEILING; NULL: none
    const struct rule *scale; // with RULE_CEILING_SCALE
    const struct rule *max;   // with RULE_CEILING_MAX
    const struct rule *weight;
    uint64_t built_in_us; // what stands in when nobody says anything; 0: nothing does
};

/// A script is asked only when nobody else says how long.
static inline bool ceiling_terms_ask_script(const struct ceiling_terms *terms)
{
    return terms->override_us == 0 && terms->rule == NULL && terms->settings_us == 0;
}

enum { CEILING_RULES_MAX = 2 };

/// The ceiling in force.
struct ceiling {
    uint64_t us; // UINT64_MAX: none
    enum ceiling_from from;
    const struct rule *rules[CEILING_RULES_MAX]; // that made it what it is, in the order of their effect; NULL: no more
};
