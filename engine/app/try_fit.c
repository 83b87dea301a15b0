#include "app/try_fit.h"

#include "script/calendar.h"

#include <stdio.h>
#include <string.h>

enum { ARENA_MAX = 64 << 20, DATE_LENGTH = 10 };

/// The slices of an offer: they stand in its item.
static const struct json_node *slices_of(const struct json_node *root, const struct json_node *offer)
{
    const struct json_node *items = json_tree_member(root, "items"), *id = json_tree_member(offer, "item");
    const struct json_node *item = id == NULL ? NULL : json_tree_member_text(items, id->text);

    return json_tree_member(item != NULL ? item : offer, "slices");
}

/// The day of "2030-11-01T08:00"; false: it is none.
static bool day_of(struct text text, int64_t *day)
{
    uint64_t year, month, date;

    if (text.length < DATE_LENGTH || !text_to_u64((struct text){ text.data, 4 }, &year) ||
        !text_to_u64((struct text){ text.data + 5, 2 }, &month) ||
        !text_to_u64((struct text){ text.data + 8, 2 }, &date)) {
        return false;
    }
    *day = calendar_days((uint32_t)year, (uint32_t)month, (uint32_t)date);
    return true;
}

static const struct json_node *first_segment(const struct json_node *slice)
{
    return json_tree_element(json_tree_member(slice, "segments"), 0);
}

static const struct json_node *last_segment(const struct json_node *slice)
{
    const struct json_node *segment = first_segment(slice);

    while (segment != NULL && segment->next != NULL) {
        segment = segment->next;
    }
    return segment;
}

static bool leaves_on_time(const struct json_node *slice, const struct json_node *asked)
{
    const struct json_node *flex = json_tree_member(asked, "flex_days");
    uint64_t room = 0;
    int64_t day, wanted;

    if (flex != NULL && !text_to_u64(flex->text, &room)) {
        room = 0; // the product has looked at it
    }
    if (!day_of(json_tree_text(json_tree_member(first_segment(slice), "departs"), "local"), &day) ||
        !day_of(json_tree_text(asked, "date"), &wanted)) {
        return true;
    }
    return day - wanted <= (int64_t)room && wanted - day <= (int64_t)room;
}

static bool leaves_too_early(const struct json_node *slice)
{
    const struct json_node *next = slice->next;
    struct text arrives = json_tree_text(json_tree_member(last_segment(slice), "arrives"), "utc");
    struct text departs =
        next != NULL ? json_tree_text(json_tree_member(first_segment(next), "departs"), "utc") : (struct text){ 0 };

    return arrives.length > 0 && departs.length > 0 && text_compare(departs, arrives) < 0;
}

static bool goes_elsewhere(struct try_fit *fit, const struct json_node *slice, const struct json_node *asked)
{
    struct text from = json_tree_text(first_segment(slice), "origin");
    struct text to = json_tree_text(last_segment(slice), "destination");
    struct text wanted_from = json_tree_text(asked, "origin"), wanted_to = json_tree_text(asked, "destination");

    if (from.length == 0 || to.length == 0 || (text_equals(from, wanted_from) && text_equals(to, wanted_to))) {
        return false;
    }
    if (fit->first_places[0] == '\0') {
        (void)snprintf(fit->first_places, sizeof(fit->first_places), "%.*s-%.*s where %.*s-%.*s was asked",
                       TEXT_ARGS(from), TEXT_ARGS(to), TEXT_ARGS(wanted_from), TEXT_ARGS(wanted_to));
    }
    return true;
}

static void note_offer(struct try_fit *fit, const struct json_node *slices, const struct json_node *asked)
{
    const struct json_node *slice = slices->first, *wanted = asked->first;
    bool is_other_day = false, is_other_order = false, is_other_place = false;

    if (slices->count != asked->count) {
        fit->first_count = fit->other_counts++ == 0 ? slices->count : fit->first_count;
    }
    for (; slice != NULL; slice = slice->next) {
        is_other_order = is_other_order || leaves_too_early(slice);
        if (wanted != NULL) {
            is_other_day = is_other_day || !leaves_on_time(slice, wanted);
            is_other_place = goes_elsewhere(fit, slice, wanted) || is_other_place;
            wanted = wanted->next;
        }
    }
    fit->other_days += is_other_day ? 1 : 0;
    fit->other_orders += is_other_order ? 1 : 0;
    fit->other_places += is_other_place ? 1 : 0;
}

void try_fit_read(struct try_fit *fit, const struct try_run *run)
{
    const struct json_node *offers = json_tree_member(run->root, "offers");
    struct json_node *search = NULL;
    struct arena arena;
    const char *sentence;
    size_t offset;

    *fit = (struct try_fit){ 0 };
    arena_init(&arena, ARENA_MAX);
    bool is_read = json_tree_read(&arena, run->search, &search, &offset, &sentence) == STATUS_OK;
    const struct json_node *asked = is_read ? json_tree_member(json_tree_member(search, "query"), "slices") : NULL;
    fit->asked_count = asked != NULL ? asked->count : 0;
    for (const struct json_node *at = offers == NULL || asked == NULL ? NULL : offers->first; at != NULL;
         at = at->next) {
        const struct json_node *slices = slices_of(run->root, at);
        fit->offers++;
        if (slices != NULL) {
            note_offer(fit, slices, asked);
        }
    }
    arena_fini(&arena);
}

void try_fit_say(const struct try_fit *fit, void (*say)(void *context, const char *sentence), void *context)
{
    char sentence[TRY_FIT_SENTENCE_MAX];

    if (fit->other_counts > 0) {
        (void)snprintf(sentence, sizeof(sentence),
                       "%zu of %zu offers have another number of slices than the search, %zu: the first has %zu",
                       fit->other_counts, fit->offers, fit->asked_count, fit->first_count);
        say(context, sentence);
    }
    if (fit->other_days > 0) {
        (void)snprintf(sentence, sizeof(sentence), "%zu of %zu offers leave on another day than was asked",
                       fit->other_days, fit->offers);
        say(context, sentence);
    }
    if (fit->other_orders > 0) {
        (void)snprintf(sentence, sizeof(sentence),
                       "%zu of %zu offers have a slice that leaves before the one before it has arrived",
                       fit->other_orders, fit->offers);
        say(context, sentence);
    }
    if (fit->other_places > 0) {
        (void)snprintf(sentence, sizeof(sentence),
                       "%zu of %zu offers go from or to other places, the first %s (fine for an airport of that city)",
                       fit->other_places, fit->offers, fit->first_places);
        say(context, sentence);
    }
}
