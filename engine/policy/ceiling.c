#include "policy/ceiling.h"

#define MILLION UINT64_C(1000000)

enum { LEAST_SCALED_US = 1000 };

static void note_rule(struct ceiling *ceiling, const struct rule *rule)
{
    size_t count = 0;

    while (count < CEILING_RULES_MAX && ceiling->rules[count] != NULL) {
        if (ceiling->rules[count++] == rule) { // one rule may give the number and scale it
            return;
        }
    }
    require(count < CEILING_RULES_MAX);
    ceiling->rules[count] = rule;
}

static struct ceiling ceiling_base(const struct ceiling_terms *terms, uint64_t script_us)
{
    struct ceiling ceiling = { .us = UINT64_MAX, .from = CEILING_FROM_NOBODY };

    if (terms->override_us != 0) {
        ceiling.us = terms->override_us;
        ceiling.from = CEILING_FROM_OVERRIDE;
    } else if (terms->rule != NULL) {
        ceiling.us = terms->rule->values[RULE_CEILING];
        ceiling.from = CEILING_FROM_RULE;
        note_rule(&ceiling, terms->rule);
    } else if (terms->settings_us != 0) {
        ceiling.us = terms->settings_us;
        ceiling.from = CEILING_FROM_SETTINGS;
    } else if (script_us != 0) {
        ceiling.us = script_us;
        ceiling.from = CEILING_FROM_SCRIPT;
    } else if (terms->built_in_us != 0) {
        ceiling.us = terms->built_in_us;
        ceiling.from = CEILING_FROM_BUILT_IN;
    }
    return ceiling;
}

/// In two halves, so that no ceiling is too long to be multiplied.
static uint64_t scale_us(uint64_t us, uint64_t millionths)
{
    uint64_t scaled_us = us / MILLION * millionths + us % MILLION * millionths / MILLION;
    uint64_t least_us = us < LEAST_SCALED_US ? us : LEAST_SCALED_US;

    return scaled_us < least_us ? least_us : scaled_us;
}

struct ceiling ceiling_in_force(const struct ceiling_terms *terms, uint64_t script_us)
{
    struct ceiling ceiling = ceiling_base(terms, script_us);

    if (terms->scale != NULL && ceiling.from != CEILING_FROM_NOBODY) {
        ceiling.us = scale_us(ceiling.us, terms->scale->values[RULE_CEILING_SCALE]);
        note_rule(&ceiling, terms->scale);
    }
    if (terms->max != NULL && terms->max->values[RULE_CEILING_MAX] < ceiling.us) {
        // The number is the limit's now; who else had a hand in it does not matter.
        ceiling = (struct ceiling){ .us = terms->max->values[RULE_CEILING_MAX], .from = CEILING_FROM_RULE };
        note_rule(&ceiling, terms->max);
    }
    return ceiling;
}
