// A rule is a map in a list: its number stands in the path where other sections have a name. Words of conditions are
// read once all settings are there, for a later file may replace the rules.

#include "app/settings_apply.h"

#include <stdio.h>
#include <string.h>

enum { RULES_MAX = 500 };

static struct settings_place place_of(const struct settings_node *node)
{
    return (struct settings_place){ node->file, node->line, node->column };
}

static void find_at(struct settings_reader *reader, struct settings_place place, const char *message, const char *help)
{
    settings_find(reader, place.file, place.line, place.column, CODE_SETTING_VALUE, message, help);
}

// ------------------------------------------------------------------------------------------------------------- reading

static struct settings_rule *add_rule(struct settings_reader *reader, const struct settings_node *item)
{
    struct settings *settings = reader->settings;
    struct settings_rule *grown =
        settings_grow(&settings->arena, settings->rules, settings->rule_count, sizeof(*grown));
    if (grown == NULL) {
        reader->is_out_of_memory = true;
        return NULL;
    }
    settings->rules = grown;
    grown[settings->rule_count] = (struct settings_rule){ .place = place_of(item) };
    return &grown[settings->rule_count++];
}

static void apply_rule(struct settings_reader *reader, const struct settings_node *item, size_t number)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%zu", number);
    if (item->kind != SETTINGS_MAP) {
        find_at(reader, place_of(item), "a rule is a map of what it is for and what it sets",
                "write it like - { when: { device: mobile }, deadline: 1500ms }");
        return;
    }
    reader->rule = add_rule(reader, item);
    if (reader->rule != NULL) {
        reader->path.parts[reader->path.count++] = text_of(digits);
        settings_apply_below(reader, item);
        reader->path.count--;
    }
    reader->rule = NULL;
}

void settings_apply_rules(struct settings_reader *reader, const struct settings_node *list)
{
    size_t number = 0;
    if (list->is_environment || (list->kind != SETTINGS_LIST && !settings_node_is_nothing(list))) {
        find_at(reader, place_of(list), "`rules` is a list of maps",
                list->is_environment ? "write them into a file; a variable cannot hold them"
                                     : "write each like - { when: { device: mobile }, deadline: 1500ms }");
        return;
    }
    reader->settings->rules = NULL;
    reader->settings->rule_count = 0;
    for (const struct settings_node *item = list->first; item != NULL && !reader->is_out_of_memory; item = item->next) {
        if (number == RULES_MAX) {
            find_at(reader, place_of(item), "there are more than 500 rules", "every search looks at all of them");
            return;
        }
        apply_rule(reader, item, ++number);
    }
}

void *settings_rule_base(struct settings_reader *reader, const struct setting *row, const struct settings_node *entry)
{
    struct settings_rule *rule = reader->rule;
    struct arena *arena = &reader->settings->arena;
    if (row->owner == SETTING_OF_CONDITION) {
        struct settings_condition *grown =
            settings_grow(arena, rule->conditions, rule->condition_count, sizeof(*grown));
        struct text segment = arena_copy(arena, entry->key);
        if (grown == NULL || segment.data == NULL) {
            return NULL;
        }
        rule->conditions = grown;
        grown[rule->condition_count] = (struct settings_condition){ .segment = segment, .place = place_of(entry) };
        return &grown[rule->condition_count++];
    }
    if (row->kind == SETTING_LIST) {
        rule->supplier_place = place_of(entry);
    } else {
        size_t setting = (row->offset - offsetof(struct settings_rule, values)) / sizeof(rule->values[0]);
        require(setting < RULE_SETTING_COUNT);
        rule->value_places[setting] = place_of(entry);
    }
    return rule;
}

// ---------------------------------------------------------------------------------------------------------- conditions

static void find_word(struct settings_reader *reader, const struct settings_condition *condition, size_t index,
                      const char *sentence, const char *help)
{
    char message[256];
    struct text word = condition->words[index];
    snprintf(message, sizeof(message), "`%.*s` of `%.*s` %s", (int)(word.length < 60 ? word.length : 60), word.data,
             TEXT_ARGS(condition->segment), sentence);
    find_at(reader, condition->place, message, help);
}

// "<7", "<=7", ">7", ">=7", "7..13". False: it is written like one of these and is none.
static bool read_range(struct text word, bool *is_range, struct rule_value *value)
{
    const char *dots = memmem(word.data, word.length, "..", 2);
    *value = (struct rule_value){ .least = INT64_MIN, .most = INT64_MAX };
    *is_range = word.data[0] == '<' || word.data[0] == '>' || dots != NULL;
    if (!*is_range) {
        return true;
    }
    if (dots != NULL) {
        struct text first = text_trim((struct text){ word.data, (size_t)(dots - word.data) });
        struct text last = text_trim((struct text){ dots + 2, (size_t)(word.data + word.length - dots - 2) });
        return rule_read_integer(first, &value->least) && rule_read_integer(last, &value->most);
    }
    bool is_less = word.data[0] == '<';
    bool has_equal = word.length > 1 && word.data[1] == '=';
    size_t skipped = has_equal ? 2 : 1;
    int64_t bound = 0;
    if (!rule_read_integer(text_trim((struct text){ word.data + skipped, word.length - skipped }), &bound)) {
        return false;
    }
    if (is_less) {
        value->most = has_equal ? bound : bound - 1;
    } else {
        value->least = has_equal ? bound : bound + 1;
    }
    return true;
}

static void finish_word(struct settings_reader *reader, const struct settings_condition *condition, size_t index)
{
    struct rule_value *value = &condition->values[index];
    struct text word = condition->words[index];
    bool is_range = false;
    if (!read_range(word, &is_range, value)) {
        find_word(reader, condition, index, "is no comparison of whole numbers",
                  "compare like \"<7\", \"<=7\", \">30\", \">=30\" or \"7..13\"");
    } else if (is_range && value->least > value->most) {
        find_word(reader, condition, index, "can never be: its end is before its beginning", "");
    } else if (!is_range) {
        *value = (struct rule_value){ .text = word };
    }
    if (word.length >= RULE_FACT_SIZE) {
        find_word(reader, condition, index, "is longer than 47 bytes", "");
    }
    for (size_t i = 0; i < index; i++) {
        if (text_equals(condition->words[i], word)) {
            find_word(reader, condition, index, "stands there twice", "");
            return;
        }
    }
}

static void finish_condition(struct settings_reader *reader, struct settings_condition *condition)
{
    const struct settings *settings = reader->settings;
    const char *names[RULE_SEGMENTS_MAX];
    char message[160];
    char help[160] = "name it in `segments`";
    bool is_known = false;
    for (size_t i = 0; i < settings->segment_count; i++) {
        names[i] = settings->segments[i].data;
        is_known = is_known || text_equals(settings->segments[i], condition->segment);
    }
    if (!is_known) {
        const char *nearest = text_nearest(condition->segment, names, settings->segment_count);
        snprintf(message, sizeof(message), "`%.*s` is not a segment", TEXT_ARGS(condition->segment));
        if (nearest != NULL) {
            snprintf(help, sizeof(help), "did you mean `%s`?", nearest);
        }
        find_at(reader, condition->place, message, help);
    }
    condition->values = arena_alloc_array(&reader->settings->arena, condition->word_count, sizeof(*condition->values));
    if (condition->values == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < condition->word_count; i++) {
        finish_word(reader, condition, i);
    }
}

// --------------------------------------------------------------------------------------------------------------- rules

static void check_values(struct settings_reader *reader, const struct settings_rule *rule)
{
    const struct settings *settings = reader->settings;
    uint64_t deadline_us = rule->values[RULE_DEADLINE];
    uint64_t max_us = rule->values[RULE_CEILING_MAX];
    bool sets_any = false;
    for (size_t i = 0; i < RULE_SETTING_COUNT; i++) {
        sets_any = sets_any || rule->values[i] != 0;
    }
    if (!sets_any) {
        find_at(reader, rule->place, "this rule sets nothing",
                "give it a deadline, ceiling, ceiling_scale, ceiling_max, weight or delay_cost");
    }
    if (deadline_us != 0 && rule->supplier_count > 0) {
        find_at(reader, rule->supplier_place, "a deadline is the whole search's, not a supplier's",
                "write two rules, or a `ceiling` instead");
    }
    if (rule->values[RULE_DELAY_COST] != 0 && rule->supplier_count > 0) {
        find_at(reader, rule->supplier_place, "a delay_cost is the whole search's, not a supplier's",
                "write two rules, or a `weight` instead");
    }
    if (deadline_us != 0 && (deadline_us < settings->deadline_min_us || deadline_us > settings->deadline_max_us)) {
        find_at(reader, rule->value_places[RULE_DEADLINE], "this deadline is not from deadline.min to deadline.max",
                "searches keep to that range, whatever rules say");
    }
    if (max_us != 0 && rule->values[RULE_CEILING] > max_us) {
        find_at(reader, rule->value_places[RULE_CEILING], "this ceiling is above the ceiling_max of the same rule",
                "leave one of them out");
    }
}

void settings_finish_rules(struct settings_reader *reader)
{
    struct settings *settings = reader->settings;
    if (settings->segment_count > RULE_SEGMENTS_MAX) {
        find_at(reader, settings->segments_place, "`segments` has more than 16 names", "");
        return;
    }
    for (size_t i = 0; i < settings->rule_count && !reader->is_out_of_memory; i++) {
        struct settings_rule *rule = &settings->rules[i];
        check_values(reader, rule);
        for (size_t j = 0; j < rule->condition_count; j++) {
            finish_condition(reader, &rule->conditions[j]);
        }
    }
}
