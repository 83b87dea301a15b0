#include "model/rule.h"

enum { INTEGER_DIGITS_MAX = 18 };

bool rule_read_integer(struct text text, int64_t *integer)
{
    return text_to_whole(text, INTEGER_DIGITS_MAX, integer);
}

struct rule_fact rule_fact_of(struct text text)
{
    struct rule_fact fact = { .text = text };

    fact.is_integer = text.data != NULL && rule_read_integer(text, &fact.integer);
    return fact;
}

static bool value_fits(const struct rule_value *value, const struct rule_fact *fact)
{
    if (value->text.data != NULL) {
        return fact->text.data != NULL && text_equals(value->text, fact->text);
    }
    return fact->is_integer && value->least <= fact->integer && fact->integer <= value->most;
}

static bool condition_fits(const struct rule_condition *condition, const struct rule_fact *fact)
{
    for (size_t i = 0; i < condition->value_count; i++) {
        if (value_fits(&condition->values[i], fact)) {
            return true;
        }
    }
    return false;
}

bool rule_fits(const struct rule *rule, const struct rule_fact *facts)
{
    for (size_t i = 0; i < rule->condition_count; i++) {
        if (!condition_fits(&rule->conditions[i], &facts[rule->conditions[i].segment])) {
            return false;
        }
    }
    return true;
}

bool rule_is_for(const struct rule *rule, uint32_t supplier)
{
    for (size_t i = 0; i < rule->supplier_count; i++) {
        if (rule->suppliers[i] == supplier) {
            return true;
        }
    }
    return rule->supplier_count == 0;
}

// ------------------------------------------------------------------------------------------------------------ covering

static bool value_covers(const struct rule_value *earlier, const struct rule_value *later)
{
    if (later->text.data != NULL) {
        struct rule_fact fact = rule_fact_of(later->text);
        return value_fits(earlier, &fact);
    }
    return earlier->text.data == NULL && earlier->least <= later->least && later->most <= earlier->most;
}

static bool condition_covers(const struct rule_condition *earlier, const struct rule_condition *later)
{
    for (size_t i = 0; i < later->value_count; i++) {
        bool is_covered = false;
        for (size_t j = 0; j < earlier->value_count && !is_covered; j++) {
            is_covered = value_covers(&earlier->values[j], &later->values[i]);
        }
        if (!is_covered) {
            return false;
        }
    }
    return true;
}

static bool suppliers_cover(const struct rule *earlier, const struct rule *later)
{
    for (size_t i = 0; i < later->supplier_count; i++) {
        if (!rule_is_for(earlier, later->suppliers[i])) {
            return false;
        }
    }
    return later->supplier_count > 0 || earlier->supplier_count == 0;
}

bool rule_covers(const struct rule *earlier, const struct rule *later)
{
    for (size_t i = 0; i < earlier->condition_count; i++) {
        bool is_covered = false;
        for (size_t j = 0; j < later->condition_count && !is_covered; j++) {
            is_covered = earlier->conditions[i].segment == later->conditions[j].segment &&
                         condition_covers(&earlier->conditions[i], &later->conditions[j]);
        }
        if (!is_covered) {
            return false;
        }
    }
    return suppliers_cover(earlier, later);
}

const char *ceiling_from_name(enum ceiling_from from)
{
    static const char *const names[] = {
        [CEILING_FROM_NOBODY] = "nobody", [CEILING_FROM_SCRIPT] = "script",     [CEILING_FROM_SETTINGS] = "settings",
        [CEILING_FROM_RULE] = "rule",     [CEILING_FROM_BUILT_IN] = "built_in", [CEILING_FROM_OVERRIDE] = "override",
    };
    return names[from];
}
