#include "app/generation_rules.h"

#include "app/generation_blame.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 256 };

/// The rules on their way: the settings' beside those that are made.
struct rule_maker {
    struct generation_builder *builder;
    const struct catalogue *catalogue;
    const struct script_segment *segments; // of the products
    size_t segment_count;
    struct rule *rules;
};

static void find(struct rule_maker *maker, struct settings_place place, enum code code, const char *nearest,
                 const char *help, const char *message)
{
    char remedy[160];
    snprintf(remedy, sizeof(remedy), nearest != NULL ? "did you mean `%s`?" : "%s", nearest != NULL ? nearest : help);
    generation_find(maker->builder, place.file, place.line, place.column, code, remedy, "%s", message);
}

// --------------------------------------------------------------------------------------------------------------- facts

static bool is_product_condition(const struct settings_condition *condition)
{
    return text_equals_c(condition->segment, "product");
}

// May the rule fit searches of this product, as far as its condition on the product goes?
static bool is_about(const struct settings_rule *rule, struct text product)
{
    for (size_t i = 0; i < rule->condition_count; i++) {
        const struct settings_condition *condition = &rule->conditions[i];
        bool is_named = !is_product_condition(condition);
        for (size_t j = 0; j < condition->word_count && !is_named; j++) {
            is_named = text_equals(condition->words[j], product);
        }
        if (!is_named) {
            return false;
        }
    }
    return true;
}

static bool is_country(struct text word)
{
    return word.length == 2 && word.data[0] >= 'A' && word.data[0] <= 'Z' && word.data[1] >= 'A' && word.data[1] <= 'Z';
}

// What a fact of this kind would have to be to fit the value; NULL: it can be.
static const char *reject_value(const struct script_segment *segment, const struct rule_value *value)
{
    int64_t integer = 0;
    bool is_range = value->text.data == NULL;
    bool is_choice = false;
    switch (segment->kind) {
    case SEGMENT_INTEGER:
        return is_range || rule_read_integer(value->text, &integer) ? NULL : "it is a whole number";
    case SEGMENT_COUNTRY:
        return !is_range && is_country(value->text) ? NULL : "it is a country of two capital letters";
    case SEGMENT_FLAG:
        is_choice = !is_range && (text_equals_c(value->text, "true") || text_equals_c(value->text, "false"));
        return is_choice ? NULL : "it is true or false";
    case SEGMENT_CHOICE:
        for (size_t i = 0; i < segment->value_count && !is_choice; i++) {
            is_choice = !is_range && text_equals(segment->values[i], value->text);
        }
        return is_choice ? NULL : "it is one of a few words";
    case SEGMENT_TEXT:
        break;
    }
    return is_range ? "only whole numbers can be compared" : NULL;
}

// The choices, as many as a line holds; the nearest one is told instead if there is one.
static const char *choices_of(const struct script_segment *segment, struct text word, char *help, size_t size)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    size_t length = 0;
    for (; count < segment->value_count && count < NAMES_MAX; count++) {
        names[count] = segment->values[count].data;
        if (length + segment->values[count].length + sizeof("one of: ") < size) {
            length +=
                (size_t)snprintf(help + length, size - length, "%s%s", count == 0 ? "one of: " : " ", names[count]);
        }
    }
    return text_nearest(word, names, count);
}

// Some product that the rule is about must have such a fact. Numbers become ranges, so that 7 is 7, however written.
static void check_value(struct rule_maker *maker, const struct settings_rule *rule,
                        const struct settings_condition *condition, size_t index)
{
    struct rule_value *value = &condition->values[index];
    const struct script_segment *refusing = NULL;
    const char *why = NULL;
    char message[200];
    char help[120] = "";
    for (size_t i = 0; i < maker->segment_count; i++) {
        const struct script_segment *segment = &maker->segments[i];
        if (!text_equals(segment->name, condition->segment) || !is_about(rule, segment->product)) {
            continue;
        }
        const char *reason = reject_value(segment, value);
        if (reason == NULL) {
            int64_t integer = 0;
            if (segment->kind == SEGMENT_INTEGER && value->text.data != NULL &&
                rule_read_integer(value->text, &integer)) {
                *value = (struct rule_value){ .least = integer, .most = integer };
            }
            return;
        }
        why = reason;
        refusing = segment;
    }
    if (why != NULL) {
        struct text word = condition->words[index];
        snprintf(message, sizeof(message), "`%.*s` is never `%.*s`: %s", TEXT_ARGS(condition->segment),
                 (int)(word.length < 60 ? word.length : 60), word.data, why);
        const char *nearest = choices_of(refusing, word, help, sizeof(help));
        find(maker, condition->place, CODE_RULE_USELESS, nearest, help, message);
    }
}

static bool is_fact_of_rule(const struct rule_maker *maker, const struct settings_rule *rule, struct text name)
{
    for (size_t i = 0; i < maker->segment_count; i++) {
        if (text_equals(maker->segments[i].name, name) &&
            (rule == NULL || is_about(rule, maker->segments[i].product))) {
            return true;
        }
    }
    return false;
}

static void check_products(struct rule_maker *maker, const struct settings_condition *condition)
{
    const struct catalogue *catalogue = maker->catalogue;
    const char *names[NAMES_MAX];
    char message[200];
    for (size_t i = 0; i < condition->word_count; i++) {
        bool is_known = false;
        size_t count = 0;
        for (; count < catalogue->product_count && count < NAMES_MAX; count++) {
            names[count] = catalogue->products[count].data;
            is_known = is_known || text_equals_c(condition->words[i], names[count]);
        }
        if (!is_known) {
            snprintf(message, sizeof(message), "there is no product `%.*s`", TEXT_ARGS(condition->words[i]));
            find(maker, condition->place, CODE_RULE_USELESS, text_nearest(condition->words[i], names, count), "",
                 message);
        }
    }
}

static void check_condition(struct rule_maker *maker, const struct settings_rule *rule,
                            const struct settings_condition *condition)
{
    char message[200];
    if (!is_fact_of_rule(maker, rule, condition->segment)) {
        bool is_fact = is_fact_of_rule(maker, NULL, condition->segment);
        snprintf(message, sizeof(message), "no search%s has a fact `%.*s`", is_fact ? " of that product" : "",
                 TEXT_ARGS(condition->segment));
        find(maker, condition->place, CODE_RULE_USELESS, NULL,
             "this rule fits no search; products name their facts in `segments`", message);
        return;
    }
    for (size_t i = 0; i < condition->word_count; i++) {
        check_value(maker, rule, condition, i);
    }
}

// Without a product that exists nothing can be said about the rest.
static void check_conditions(struct rule_maker *maker, const struct settings_rule *rule)
{
    size_t findings = maker->builder->findings;
    for (size_t i = 0; i < rule->condition_count; i++) {
        if (is_product_condition(&rule->conditions[i])) {
            check_products(maker, &rule->conditions[i]);
        }
    }
    for (size_t i = 0; i < rule->condition_count && maker->builder->findings == findings; i++) {
        if (!is_product_condition(&rule->conditions[i])) {
            check_condition(maker, rule, &rule->conditions[i]);
        }
    }
}

// Those that somebody wrote down; the default list may name facts that other products have.
static void check_segments(struct rule_maker *maker)
{
    const struct settings *settings = maker->builder->settings;
    const char *names[NAMES_MAX];
    char message[160];
    size_t count = 0;
    for (; count < maker->segment_count && count < NAMES_MAX; count++) {
        names[count] = maker->segments[count].name.data;
    }
    for (size_t i = 0; i < settings->segment_count && settings->segments_place.file != NULL; i++) {
        struct text name = settings->segments[i];
        if (!text_equals_c(name, "product") && !is_fact_of_rule(maker, NULL, name)) {
            snprintf(message, sizeof(message), "no product has a fact `%.*s`", TEXT_ARGS(name));
            find(maker, settings->segments_place, CODE_SETTING_VALUE, text_nearest(name, names, count),
                 "products name their facts in `segments`", message);
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- making

static const struct catalogue_supplier *find_supplier(struct rule_maker *maker, const struct settings_rule *rule,
                                                      struct text name)
{
    const struct catalogue *catalogue = maker->catalogue;
    const char *names[NAMES_MAX];
    char message[200];
    size_t count = 0;
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (text_equals(catalogue->suppliers[i].name, name)) {
            return &catalogue->suppliers[i];
        }
        if (count < NAMES_MAX) {
            names[count++] = catalogue->suppliers[i].name.data;
        }
    }
    // One that was left out has a finding of its own, and so it had when the scripts of a rollback ran.
    if (generation_is_left_out(maker->builder, name) || maker->builder->order->fixed != NULL) {
        return NULL;
    }
    snprintf(message, sizeof(message), "there is no supplier `%.*s`", TEXT_ARGS(name));
    generation_suspect_gone(maker->builder, name);
    find(maker, rule->supplier_place, CODE_RULE_USELESS, text_nearest(name, names, count),
         "suppliers are named by their files", message);
    generation_suspect_products(maker->builder);
    return NULL;
}

static enum status take_suppliers(struct rule_maker *maker, const struct settings_rule *rule, struct rule *made)
{
    uint32_t *suppliers = arena_alloc_array(&maker->builder->arena, rule->supplier_count + 1, sizeof(*suppliers));
    char message[200];
    if (suppliers == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < rule->supplier_count; i++) {
        const struct catalogue_supplier *supplier = find_supplier(maker, rule, rule->suppliers[i]);
        if (supplier == NULL) {
            continue;
        }
        suppliers[made->supplier_count++] = (uint32_t)(supplier - maker->catalogue->suppliers);
        if (!is_about(rule, supplier->product)) {
            snprintf(message, sizeof(message), "`%.*s` is never asked by such a search: it sells %.*s",
                     TEXT_ARGS(supplier->name), TEXT_ARGS(supplier->product));
            generation_suspect_supplier(maker->builder, supplier->name);
            find(maker, rule->supplier_place, CODE_RULE_USELESS, NULL, "leave it out, or the condition on the product",
                 message);
            generation_suspect_products(maker->builder);
        }
    }
    made->suppliers = suppliers;
    return STATUS_OK;
}

static uint32_t segment_index(const struct settings *settings, struct text name)
{
    for (size_t i = 0; i < settings->segment_count; i++) {
        if (text_equals(settings->segments[i], name)) {
            return (uint32_t)i;
        }
    }
    require(false); // checked with the settings
    return 0;
}

static enum status take_condition(struct rule_maker *maker, const struct settings_condition *condition,
                                  struct rule_condition *made)
{
    struct arena *arena = &maker->builder->arena;
    struct rule_value *values = arena_alloc_array(arena, condition->word_count, sizeof(*values));
    if (values == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < condition->word_count; i++) {
        values[i] = condition->values[i];
        if (values[i].text.data != NULL) {
            values[i].text = arena_copy(arena, values[i].text);
            if (values[i].text.data == NULL) {
                return STATUS_NO_MEMORY;
            }
        }
    }
    *made = (struct rule_condition){ .segment = segment_index(maker->builder->settings, condition->segment),
                                     .values = values,
                                     .value_count = condition->word_count };
    return STATUS_OK;
}

// A rule whose values may be rewritten: what a number is, products say, and settings outlive them.
static enum status copy_rule(struct arena *arena, const struct settings_rule *rule, struct settings_rule *own)
{
    *own = *rule;
    own->conditions = arena_alloc_array(arena, rule->condition_count + 1, sizeof(*own->conditions));
    for (size_t i = 0; i < rule->condition_count && own->conditions != NULL; i++) {
        struct settings_condition *condition = &own->conditions[i];
        *condition = rule->conditions[i];
        condition->values = arena_alloc_array(arena, condition->word_count + 1, sizeof(*condition->values));
        if (condition->values == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(condition->values, rule->conditions[i].values, condition->word_count * sizeof(*condition->values));
    }
    return own->conditions == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status make_rule(struct rule_maker *maker, const struct settings_rule *given, struct rule *made)
{
    struct arena *arena = &maker->builder->arena;
    struct settings_rule own;
    const struct settings_rule *rule = &own;
    if (copy_rule(arena, given, &own) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    struct rule_condition *conditions = arena_alloc_array(arena, rule->condition_count + 1, sizeof(*conditions));
    char place[256];
    snprintf(place, sizeof(place), "%s:%u", rule->place.file, rule->place.line);
    *made = (struct rule){ .place = arena_copy(arena, text_of(place)), .conditions = conditions };
    memcpy(made->values, rule->values, sizeof(made->values));
    check_conditions(maker, rule);
    enum status status = made->place.data == NULL || conditions == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < rule->condition_count && status == STATUS_OK; i++) {
        status = take_condition(maker, &rule->conditions[i], &conditions[made->condition_count++]);
    }
    return status == STATUS_OK ? take_suppliers(maker, rule, made) : status;
}

// Each setting for itself: the first earlier rule that never lets this one win.
static void check_covered(struct rule_maker *maker, size_t index)
{
    static const char *const names[RULE_SETTING_COUNT] = {
        [RULE_DEADLINE] = "deadline",       [RULE_CEILING] = "ceiling", [RULE_CEILING_SCALE] = "ceiling_scale",
        [RULE_CEILING_MAX] = "ceiling_max", [RULE_WEIGHT] = "weight",   [RULE_DELAY_COST] = "delay_cost"
    };
    const struct settings_rule *rule = &maker->builder->settings->rules[index];
    const struct rule *made = &maker->rules[index];
    char message[256];
    for (size_t setting = 0; setting < RULE_SETTING_COUNT; setting++) {
        for (size_t i = 0; i < index && made->values[setting] != 0; i++) {
            const struct rule *earlier = &maker->rules[i];
            if (earlier->values[setting] != 0 && rule_covers(earlier, made)) {
                snprintf(message, sizeof(message), "this %s never wins: the rule at %.*s fits all that this one fits",
                         names[setting], TEXT_ARGS(earlier->place));
                find(maker, rule->value_places[setting], CODE_RULE_USELESS, NULL,
                     "put this rule before that one, or leave it out", message);
                break;
            }
        }
    }
}

static enum status take_segments(struct rule_maker *maker, struct rule_set *set)
{
    const struct settings *settings = maker->builder->settings;
    struct arena *arena = &maker->builder->arena;
    struct text *segments = arena_alloc_array(arena, settings->segment_count + 1, sizeof(*segments));
    for (size_t i = 0; segments != NULL && i < settings->segment_count; i++) {
        segments[i] = arena_copy(arena, settings->segments[i]);
        if (segments[i].data == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    set->segments = segments;
    set->segment_count = settings->segment_count;
    return segments == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status generation_make_rules(struct generation_builder *builder, struct catalogue *catalogue)
{
    const struct settings *settings = builder->settings;
    struct rule_maker maker = { .builder = builder, .catalogue = catalogue };
    maker.segments = script_set_segments(catalogue->set, &maker.segment_count);
    generation_suspect_products(builder);
    check_segments(&maker);
    if (settings->rule_count == 0 && !settings->patience_finishes_early) { // else it tells kinds of searches apart
        generation_suspect_nobody(builder);
        return STATUS_OK;
    }
    struct rule_set *set = arena_alloc(&builder->arena, sizeof(*set));
    maker.rules = arena_alloc_array(&builder->arena, settings->rule_count + 1, sizeof(*maker.rules));
    enum status status = set == NULL || maker.rules == NULL ? STATUS_NO_MEMORY : take_segments(&maker, set);
    for (size_t i = 0; i < settings->rule_count && status == STATUS_OK; i++) {
        size_t findings = builder->findings;
        status = make_rule(&maker, &settings->rules[i], &maker.rules[i]);
        set->has_deadlines = set->has_deadlines || maker.rules[i].values[RULE_DEADLINE] != 0;
        if (status == STATUS_OK && builder->findings == findings) {
            check_covered(&maker, i);
        }
    }
    generation_suspect_nobody(builder);
    if (status == STATUS_OK) {
        set->rules = maker.rules;
        set->rule_count = settings->rule_count;
        catalogue->rules = set;
    }
    return status;
}
