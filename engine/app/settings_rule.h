/// Settings rule: one entry of `rules` as it was read, with the places of its parts for errors.
///
/// Threads: immutable once read.
/// Memory:  in the settings' arena.
#pragma once

#include "base/text.h"
#include "model/rule.h"

struct settings_place {
    const char *file; // NULL: nowhere
    uint32_t line, column;
};

/// A fact that a rule asks for, with the values that fit.
struct settings_condition {
    struct text segment;
    struct text *words; // as written: "mobile", "<7", "7..13"
    size_t word_count;
    struct rule_value *values; // beside the words: what they mean
    struct settings_place place;
};

struct settings_rule {
    struct settings_condition *conditions;
    size_t condition_count;
    struct text *suppliers; // none: every supplier
    size_t supplier_count;
    uint64_t values[RULE_SETTING_COUNT];
    struct settings_place place, supplier_place;
    struct settings_place value_places[RULE_SETTING_COUNT];
};
