#include "scenario/stage.h"

#include "base/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char INDICATIVE[] = "\"price_status\":\"indicative\"";

static size_t supplier_of(const struct stage *stage, struct text name)
{
    for (size_t i = 0; i < stage->play->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &stage->catalogue_suppliers[i];
        if (text_equals(supplier->name, name) || text_equals(supplier->display_name, name)) {
            return i;
        }
    }
    return PLAY_SUPPLIERS_MAX;
}

static bool is_dark(const struct play_supplier *supplier)
{
    return supplier->mode == MODE_DARK || (supplier->mode == MODE_LIVE && supplier->account_mode == MODE_DARK);
}

// -------------------------------------------------------------------------------------------------------------- events

/// What follows `needle` up to `end`, as the name of a supplier.
static size_t supplier_after(const struct stage *stage, struct text json, const char *needle, char end)
{
    const char *found = memmem(json.data, json.length, needle, strlen(needle));
    if (found == NULL) {
        return PLAY_SUPPLIERS_MAX;
    }
    const char *begin = found + strlen(needle);
    const char *stop = memchr(begin, end, (size_t)(json.data + json.length - begin));
    require(stop != NULL);
    return supplier_of(stage, (struct text){ begin, (size_t)(stop - begin) });
}

/// What a stranger is told of suppliers is their names and four words.
static void check_public(struct stage *stage, struct text json)
{
    static const char *const secrets[] = { "bound",  "phase",    "ceiling",  "account", "script",
                                           "detail", "reason\"", "budget\"", "cut\"",   "allocated",
                                           "began",  "http_st",  "parts",    "partial", "last_known" };

    for (size_t i = 0; i < COUNT_OF(secrets) && stage->play->is_public; i++) {
        if (memmem(json.data, json.length, secrets[i], strlen(secrets[i])) != NULL) {
            play_blame(stage->result, "a stranger is told: %.*s", TEXT_ARGS(json));
            return;
        }
    }
}

void stage_check_event(struct stage *stage, enum search_event event, struct text json)
{
    struct play_result *result = stage->result;

    if (result->replies > 0 || stage->has_left) {
        play_blame(result, "an event came after the end of the search");
    }
    if ((event == SEARCH_EVENT_SEARCH) != (result->event_count == 0)) {
        play_blame(result, "the event search does not come first, and once");
    }
    if (event == SEARCH_EVENT_SEARCH || event == SEARCH_EVENT_SUPPLIER) {
        check_public(stage, json);
    }
    if (event == SEARCH_EVENT_SUPPLIER) {
        size_t index = supplier_after(stage, json, "\"supplier\":{\"name\":\"", '"');
        if (index == PLAY_SUPPLIERS_MAX) {
            play_blame(result, "an outcome of an unknown supplier was told");
        } else if (stage->outcomes_told[index]++ > 0) {
            play_blame(result, "the outcome of %s was told twice", stage->behaviours[index].name);
        } else if (stage->play->suppliers[index].mode == MODE_DARK) {
            play_blame(result, "the outcome of %s was told, which is dark", stage->behaviours[index].name);
        }
    } else if (event == SEARCH_EVENT_OFFERS) {
        size_t index = supplier_after(stage, json, "{\"id\":\"", ':');
        bool is_indicative = memmem(json.data, json.length, INDICATIVE, strlen(INDICATIVE)) != NULL;
        if (is_indicative && !stage->play->last_known.is_on) {
            play_blame(result, "something is indicative, and there is no store");
        } else if (!is_indicative && index != PLAY_SUPPLIERS_MAX && stage->outcomes_told[index] > 0) {
            play_blame(result, "%s brought offers after its outcome", stage->behaviours[index].name);
        } else if (index != PLAY_SUPPLIERS_MAX && is_dark(&stage->play->suppliers[index])) {
            play_blame(result, "%s brought offers, which is dark", stage->behaviours[index].name);
        }
    }
}

static void check_stream(struct stage *stage, size_t asked)
{
    size_t told = 0;

    for (size_t i = 0; i < stage->play->supplier_count; i++) {
        told += stage->outcomes_told[i];
    }
    if (stage->result->event_count > 0 && told != asked) {
        play_blame(stage->result, "a stream told %zu outcomes of %zu suppliers", told, asked);
    }
}

// ------------------------------------------------------------------------------------------------------------- entries

static bool is_from_time(enum outcome outcome)
{
    return outcome == OUTCOME_CUT || outcome == OUTCOME_TOO_LATE || outcome == OUTCOME_FINISHED_EARLY;
}

/// A port may refuse anybody's part.
static bool is_from_refusal(const struct virtual_machine *machine, enum outcome outcome)
{
    return (machine->refused_call != 0 && outcome == OUTCOME_SHED) ||
           (machine->refused_fetch + machine->refused_timer != 0 && outcome == OUTCOME_FAILED);
}

static void check_entry(struct stage *stage, const struct search_record_entry *entry)
{
    struct play_result *result = stage->result;
    const struct virtual_machine *machine = &stage->play->machine;
    size_t index = supplier_of(stage, entry->name);
    require(index != PLAY_SUPPLIERS_MAX);
    const struct play_supplier *supplier = &stage->play->suppliers[index];
    const char *outcome = outcome_name(entry->outcome);

    if (entry->outcome != OUTCOME_CACHED && (entry->outcome == OUTCOME_ANSWERED) != (entry->offers > 0)) {
        play_blame(result, "%s is %s with %u offers", supplier->behaviour.name, outcome, entry->offers);
    }
    if (entry->outcome == OUTCOME_CUT && (entry->bound == BOUND_NONE || entry->phase == PHASE_NONE)) {
        play_blame(result, "%s is cut without bound or phase", supplier->behaviour.name);
    }
    if (entry->bound == BOUND_CEILING && entry->ceiling_us == UINT64_MAX) {
        play_blame(result, "%s was bound by a ceiling that it has not", supplier->behaviour.name);
    }
    if (is_dark(supplier) || supplier->mode == MODE_TEST || supplier->account_mode == MODE_TEST) {
        return; // whether it was asked at all is for plays to say
    }
    if (entry->outcome == OUTCOME_FINISHED_EARLY &&
        (!stage->play->patience.finishes_early || stage->play->whole_or_nothing ||
         supplier->behaviour.past.calls < 20)) {
        play_blame(result, "%s is finished_early, and nothing allows it", supplier->behaviour.name);
    }
    if (supplier->expected != OUTCOME_COUNT && entry->outcome != supplier->expected &&
        (supplier->is_in_time || !is_from_time(entry->outcome)) && !is_from_refusal(machine, entry->outcome)) {
        play_blame(result, "%s is %s, not %s", supplier->behaviour.name, outcome, outcome_name(supplier->expected));
    }
    bool may_be_off = supplier->behaviour.off != NULL && supplier->behaviour.off_after_us > 0;
    bool is_off = supplier->is_disabled || supplier->behaviour.off != NULL;
    if (!may_be_off && is_off != (entry->outcome == OUTCOME_DISABLED)) {
        play_blame(result, "%s is %s", supplier->behaviour.name, outcome);
    }
}

/// What stands in does so for an outcome that allows it, out of what was there and is not too old.
static void check_last_known(struct stage *stage, const struct search_record_entry *entry)
{
    const struct play *play = stage->play;
    const struct play_supplier *supplier = &play->suppliers[supplier_of(stage, entry->name)];
    const struct virtual_stored *stored = &supplier->stored;
    const struct last_known_terms *terms = &supplier->last_known;
    bool may_fill = outcome_row(entry->outcome)->last_known_may_fill;

    if (!entry->has_last_known) {
        return;
    }
    if (entry->outcome == OUTCOME_CACHED ? terms->fresh_for_ms <= entry->last_age_ms : !may_fill) {
        play_blame(stage->result, "something stands in for %s, which is %s", supplier->behaviour.name,
                   outcome_name(entry->outcome));
    }
    if (!play->store.is_on || play->store.key == NULL || !stored->is_there || stored->is_of_other || play->is_test) {
        play_blame(stage->result, "what stands in for %s was not there", supplier->behaviour.name);
    }
    uint64_t max_age_ms = terms->max_age_ms != 0 ? terms->max_age_ms : play->last_known.max_age_ms;
    if (entry->last_age_ms != stored->age_ms || entry->last_age_ms > max_age_ms || stored->age_ms >= stored->life_ms) {
        play_blame(stage->result, "what stands in for %s is too old", supplier->behaviour.name);
    }
    if (entry->outcome != OUTCOME_CACHED &&
        (play->whole_or_nothing || play->indicative == INDICATIVE_NONE || entry->last_offers == 0)) {
        play_blame(stage->result, "%s is indicative, and nobody wants it", supplier->behaviour.name);
    }
}

struct sums {
    size_t groups[GROUP_NOT_ELIGIBLE + 1];
    size_t eligible, partial, indicative;
    uint64_t offers;
};

static void check_number(struct stage *stage, const char *name, size_t expected)
{
    const char *coverage = strstr(stage->result->body, "\"coverage\":{");
    char needle[48];

    snprintf(needle, sizeof(needle), "\"%s\":", name);
    const char *found = coverage != NULL ? strstr(coverage, needle) : NULL;
    if (found == NULL || strtoull(found + strlen(needle), NULL, 10) != expected) {
        play_blame(stage->result, "the coverage's %s is not %zu", name, expected);
    }
}

static void check_sums(struct stage *stage, const struct sums *sums)
{
    struct play_result *result = stage->result;
    size_t present = sums->groups[GROUP_ANSWERED] + sums->groups[GROUP_EMPTY] + sums->groups[GROUP_CACHED];
    bool is_whole = sums->eligible > 0 && sums->groups[GROUP_MISSING] + sums->indicative == 0 && sums->partial == 0;
    bool is_fine = sums->eligible == 0 || present + sums->indicative > 0;

    check_number(stage, "eligible", sums->eligible);
    check_number(stage, "answered", sums->groups[GROUP_ANSWERED]);
    check_number(stage, "empty", sums->groups[GROUP_EMPTY]);
    check_number(stage, "missing", sums->groups[GROUP_MISSING]);
    if (stage->play->last_known.is_on && !stage->play->is_test) {
        check_number(stage, "cached", sums->groups[GROUP_CACHED]);
        check_number(stage, "indicative", sums->indicative);
    }
    if (sums->groups[GROUP_MISSING] + sums->indicative + present != sums->eligible) {
        play_blame(result, "the sums of the coverage do not add up");
    }
    check_number(stage, "percent", sums->eligible > 0 ? 100 * present / sums->eligible : 0);
    check_number(stage, "offers_found", sums->offers);
    check_number(stage, "offers_returned", result->record->offers_returned);
    if (result->is_complete != is_whole || result->record->is_complete != is_whole) {
        play_blame(result, "the reply says complete: %s", result->is_complete ? "true" : "false");
    }
    if (stage->play->whole_or_nothing && sums->eligible > 0 && !is_whole) {
        is_fine = false;
    }
    if (result->status != (is_fine ? 200 : 504)) {
        play_blame(result, "the status is %u", result->status);
    }
}

/// From the coverage on, up to the offers: those are the suppliers' own words.
static void check_public_reply(struct stage *stage)
{
    const char *begin = strstr(stage->result->body, "\"coverage\":{");
    const char *items = begin != NULL ? strstr(begin, "\"items\":") : NULL;
    const char *end = items != NULL || begin == NULL ? items : begin + strlen(begin);

    if (begin != NULL) {
        check_public(stage, (struct text){ begin, (size_t)(end - begin) });
    }
}

/// A dark one stands in the record and nowhere in the reply; true: it is one.
static bool check_dark(struct stage *stage, const struct search_record_entry *entry)
{
    struct play_result *result = stage->result;
    const struct play_supplier *supplier = &stage->play->suppliers[supplier_of(stage, entry->name)];
    bool is_expected = is_dark(supplier) && (supplier->mode == MODE_DARK || entry->mode == MODE_DARK);
    char needle[80];

    if (entry->mode == MODE_DARK && !is_dark(supplier)) {
        play_blame(result, "%s is dark in the record", supplier->behaviour.name);
    }
    if (!is_expected) {
        return false;
    }
    snprintf(needle, sizeof(needle), "\"%s:", supplier->behaviour.name);
    if (strstr(result->body, needle) != NULL) {
        play_blame(result, "the reply has offers of %s, which is dark", supplier->behaviour.name);
    }
    snprintf(needle, sizeof(needle), "{\"name\":\"%s\"", supplier->behaviour.name);
    if (supplier->display == NULL && strstr(result->body, needle) != NULL) {
        play_blame(result, "the reply names %s, which is dark", supplier->behaviour.name);
    }
    return true;
}

/// Each supplier that was wanted has one entry, in the record and in the reply.
static void check_entries(struct stage *stage)
{
    const struct play *play = stage->play;
    struct play_result *result = stage->result;
    struct sums sums = { 0 };
    uint8_t seen[PLAY_SUPPLIERS_MAX] = { 0 };
    size_t wanted = 0;
    size_t hidden = 0;

    for (size_t i = 0; i < result->record->entry_count; i++) {
        const struct search_record_entry *entry = &result->record->entries[i];
        enum outcome_group group = outcome_row(entry->outcome)->group;
        check_entry(stage, entry);
        seen[supplier_of(stage, entry->name)]++;
        if (check_dark(stage, entry)) {
            hidden++;
            continue;
        }
        sums.groups[group] += !(group == GROUP_MISSING && entry->has_last_known);
        sums.indicative += group == GROUP_MISSING && entry->has_last_known;
        check_last_known(stage, entry);
        sums.eligible += group != GROUP_NOT_ELIGIBLE;
        sums.partial += group != GROUP_NOT_ELIGIBLE && group != GROUP_MISSING && entry->is_partial;
        sums.offers += entry->offers + (group == GROUP_MISSING ? entry->last_offers : 0);
    }
    for (size_t i = 0; i < play->supplier_count; i++) {
        const struct play_supplier *supplier = &play->suppliers[i];
        bool is_hidden = supplier->mode == MODE_TEST && !play->is_test;
        bool is_wanted = play->has_choice ? !supplier->is_left_out : !is_hidden;
        wanted += is_wanted;
        if (seen[i] != (is_wanted ? 1 : 0)) {
            play_blame(result, "%s has %u outcomes", play->suppliers[i].behaviour.name, seen[i]);
        }
    }
    check_sums(stage, &sums);
    check_public_reply(stage);
    check_stream(stage, wanted - hidden);
}

// ----------------------------------------------------------------------------------------------------------------- end

static void check_reply(struct stage *stage)
{
    struct play_result *result = stage->result;
    const char *sentence = "";
    size_t offset = 0;

    if (result->sent_us > result->deadline_us) {
        play_blame(result, "the reply is late: sent after %llu us, the deadline was %llu us",
                   (unsigned long long)result->sent_us, (unsigned long long)result->deadline_us);
    }
    if (!json_is_valid(text_of(result->body), &offset, &sentence)) {
        play_blame(result, "the reply is no JSON at byte %zu: %s", offset, sentence);
        return;
    }
    if (result->record == NULL) {
        play_blame(result, "the reply has no record");
    } else if (stage->play->is_public && result->status == 500 && strstr(result->body, "\"detail\":") != NULL) {
        play_blame(result, "a stranger is told of our scripts: %s", result->body);
    } else if (!result->is_refused) {
        check_entries(stage);
    } else if (result->requests > 0 || (result->status != 422 && result->status != 500)) {
        play_blame(result, "a refused search has status %u and %zu requests", result->status, result->requests);
    }
}

static void check_left(struct stage *stage)
{
    struct play_result *result = stage->result;

    require(result->record != NULL);
    for (size_t i = 0; i < result->record->entry_count; i++) {
        if (result->record->status != 0) {
            play_blame(result, "the record of a caller who left has a status");
        }
    }
}

void stage_check(struct stage *stage)
{
    struct play_result *result = stage->result;
    const struct virtual_world *virtual = &stage->virtual;

    if (virtual->broken_rule != NULL) {
        play_blame(result, "%s", virtual->broken_rule);
    }
    if (result->fetches + result->timers + result->calls > 0) {
        play_blame(result, "after the end there are %zu fetches, %zu timers, %zu script calls", result->fetches,
                   result->timers, result->calls);
    } else if (result->store_calls > 0) {
        play_blame(result, "after the end %zu calls for the store are out", result->store_calls);
    } else if (result->permits > 0) {
        play_blame(result, "%zu permits were not given back", result->permits);
    } else if (result->waits > 0) {
        play_blame(result, "after the end %zu wait for a login", result->waits);
    } else if (result->untold > 0) {
        play_blame(result, "of %zu attempts nobody was told what became of them", result->untold);
    } else if (result->extra_untold > 0) {
        play_blame(result, "of %zu extra calls nobody was told what became of them", result->extra_untold);
    } else if (result->references > 0) {
        play_blame(result, "%zu references were lost", result->references);
    }
    if (virtual->fetches_done + virtual->fetches_cancelled + virtual->fetches_running + virtual->fetches_refused !=
        virtual->fetches_started) {
        play_blame(result, "fetches were started and neither done nor cancelled");
    }
    if (!result->was_started) {
        if (stage->play->machine.refused_call != 1 && stage->play->machine.refused_timer != 1) {
            play_blame(result, "the search was not started");
        }
    } else if (stage->has_left) {
        check_left(stage);
    } else if (result->replies == 1) {
        check_reply(stage);
    }
}
