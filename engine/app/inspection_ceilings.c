// Ceilings that cut nobody, for the search is over before them, and those that cut always, for no fixture is that
// quick.

#include "app/inspection.h"

#include <stdio.h>

enum { SENSELESS_US = 10000 }; // nobody answers so soon; a second that was written as 1 is below it

/// The deadline that every search which the rule is for has at most; 0: nobody can tell.
static uint64_t deadline_of(const struct inspection *inspection, const struct rule *rule)
{
    const struct rule_set *rules = inspection->catalogue->rules;
    uint64_t most_us = 0;

    for (size_t i = 0; i < rules->rule_count; i++) {
        const struct rule *other = &rules->rules[i];
        uint64_t deadline_us = other->values[RULE_DEADLINE];
        most_us = deadline_us > most_us ? deadline_us : most_us;
        // An earlier one may hold for some of its searches, this one for all that are left.
        if (deadline_us != 0 && (other == rule || rule_covers(other, rule))) {
            return most_us;
        }
    }
    return 0;
}

static struct settings_place place_of(const struct rule *rule, char file[256])
{
    struct text path = rule->place;
    uint64_t line = 0;

    while (path.length > 0 && path.data[path.length - 1] != ':') {
        path.length--;
    }
    struct text digits = { rule->place.data + path.length, rule->place.length - path.length };
    if (path.length == 0 || !text_to_u64(digits, &line)) {
        return (struct settings_place){ NULL, 0, 0 };
    }
    (void)snprintf(file, 256, "%.*s", (int)path.length - 1, path.data);
    return (struct settings_place){ file, (uint32_t)line, 0 };
}

static void tell_too_long(const struct inspection *inspection, const struct rule *rule, const char *what,
                          uint64_t ceiling_us)
{
    uint64_t deadline_us = deadline_of(inspection, rule);
    char file[256];

    if (ceiling_us >= inspection->catalogue->deadline_max_us) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE, place_of(rule, file),
                        "make it shorter, or take it out",
                        "this rule's %s is not below deadline.max, so it never cuts anybody", what);
    } else if (deadline_us != 0 && ceiling_us >= deadline_us) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE, place_of(rule, file),
                        "make it shorter, or take it out",
                        "this rule's %s is not below the deadline of %llu ms that its searches have, so it never cuts "
                        "anybody",
                        what, (unsigned long long)deadline_us / 1000);
    }
}

static void tell_too_short(const struct inspection *inspection, struct settings_place place, const char *what,
                           uint64_t ceiling_us, size_t supplier)
{
    const struct catalogue_supplier *named = &inspection->catalogue->suppliers[supplier];
    uint64_t least_us = inspection_seen_of(inspection, supplier)->least_us;

    if (least_us != UINT64_MAX && ceiling_us <= least_us) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE, place,
                        "compare it with `after_ms` of its fixtures, login and steps together",
                        "%s of %llu ms always cuts `%.*s`: the quickest of its fixtures takes %llu ms", what,
                        (unsigned long long)ceiling_us / 1000, TEXT_ARGS(named->name),
                        (unsigned long long)least_us / 1000);
    }
}

static void inspect_rule(const struct inspection *inspection, const struct rule *rule)
{
    static const struct {
        enum rule_setting setting;
        const char *name;
    } KINDS[] = { { RULE_CEILING, "ceiling" }, { RULE_CEILING_MAX, "ceiling_max" } };
    char file[256], what[32];

    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        uint64_t ceiling_us = rule->values[KINDS[i].setting];
        if (ceiling_us == 0) {
            continue;
        }
        tell_too_long(inspection, rule, KINDS[i].name, ceiling_us);
        (void)snprintf(what, sizeof(what), "this rule's %s", KINDS[i].name);
        for (size_t j = 0; j < rule->supplier_count; j++) {
            tell_too_short(inspection, place_of(rule, file), what, ceiling_us, rule->suppliers[j]);
        }
    }
}

/// What the script itself says, in every one of its fixtures.
static void inspect_script(const struct inspection *inspection, size_t index)
{
    uint64_t ceiling_us = inspection->seen[index].ceiling_us;

    if (ceiling_us != UINT64_MAX && ceiling_us >= inspection->catalogue->deadline_max_us) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE,
                        inspection_place(inspection, index, "ceiling"), "let it say less, or take it out",
                        "ceiling says %llu ms or more, not below deadline.max, so it never cuts anybody",
                        (unsigned long long)ceiling_us / 1000);
    } else if (ceiling_us < SENSELESS_US) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE,
                        inspection_place(inspection, index, "ceiling"), "it gives milliseconds: 1200 are 1.2 seconds",
                        "ceiling says %llu ms, shorter than anybody could answer",
                        (unsigned long long)ceiling_us / 1000);
    }
}

static void inspect_supplier(const struct inspection *inspection, size_t index)
{
    const struct catalogue_supplier *supplier = &inspection->catalogue->suppliers[index];
    const struct settings_supplier *settings = inspection_settings_of(inspection, supplier->name);
    struct settings_place place = { NULL, 0, 0 };
    char what[128];

    if (supplier->ceiling_us == 0) {
        return;
    }
    if (settings != NULL) {
        place = (struct settings_place){ settings->file, settings->line, settings->column };
    }
    (void)snprintf(what, sizeof(what), "suppliers.%.*s.ceiling", TEXT_ARGS(supplier->name));
    if (supplier->ceiling_us >= inspection->catalogue->deadline_max_us) {
        inspection_tell(inspection, INSPECTION_WARNING, CODE_CEILING_UNREACHABLE, place,
                        "make it shorter, or take it out", "%s is not below deadline.max, so it never cuts anybody",
                        what);
    }
    tell_too_short(inspection, place, what, supplier->ceiling_us, index);
}

void inspection_run_ceilings(const struct inspection *inspection)
{
    const struct rule_set *rules = inspection->catalogue->rules;

    for (size_t i = 0; rules != NULL && inspection->name_count == 0 && i < rules->rule_count; i++) {
        inspect_rule(inspection, &rules->rules[i]);
    }
    for (size_t i = 0; i < inspection->catalogue->supplier_count; i++) {
        if (inspection_is_about(inspection, inspection->catalogue->suppliers[i].name)) {
            inspect_supplier(inspection, i);
            inspect_script(inspection, i);
        }
    }
}
