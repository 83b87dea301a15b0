// What runs was checked against the products and airports that run. It is checked again when it would stand on others,
// and when that fails these are to blame: they are kept, not the one that ran well.

#include "script/script_check.h"
#include "script/script_load.h"

#include <stdio.h>
#include <string.h>

struct load_seat *load_find(const struct load_seats *seats, struct text name)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (text_equals(seats->items[i].name, name)) {
            return &seats->items[i];
        }
    }
    return NULL;
}

bool load_refuses(struct load *load, enum script_kind kind, struct text name, const unsigned char *digest)
{
    const struct script_order *order = load->order;
    struct failure because = { .line = 0 };

    if (order->refuses == NULL || !order->refuses(order->refuses_context, kind, name, digest, &because)) {
        return false;
    }
    if (because.message[0] == '\0') {
        failure_set(&because, "%.*s was refused", TEXT_ARGS(name));
    }
    load_note(load, &because);
    return true;
}

/// The version as it can be in the set of this round; NULL: it cannot.
static struct script_version *try_version(struct load *load, struct script_version *version,
                                          const struct script_set *from, uint64_t run_us)
{
    struct script_version *checked;

    if (from != NULL && script_set_vouches(load->set, from, version)) {
        return script_version_hold(version);
    }
    enum status status = script_set_check(load->set, version, load->knows_products, run_us, load_note, load, &checked);
    load_end_check(load, status);
    load->is_out_of_memory = load->is_out_of_memory || status == STATUS_NO_MEMORY;
    return checked;
}

// ---- blame

static void take_blame(struct load *load, struct load_notes *notes, const struct load_seat *victim,
                       const struct load_notes *findings)
{
    load->notes = notes;
    for (const struct load_note *note = findings->first; note != NULL; note = note->next) {
        struct failure failure = note->failure;
        failure_set(&failure, "%.*s does not go with it: %s", TEXT_ARGS(victim->name), note->failure.message);
        load_note(load, &failure);
    }
}

/// The running airports stay. When their file is gone that is the cause, whatever is said of those who need them.
static void blame_airports(struct load *load, const struct load_seat *victim, const struct load_notes *findings)
{
    struct load_notes *notes = &load->airports.notes;

    *notes = (struct load_notes){ .first = NULL };
    load->notes = notes;
    if (load->places == NULL) {
        struct failure gone = { .line = 0 };
        failure_at(&gone, load->airports.path, 0, 0);
        failure_set(&gone, "cannot be read: No such file or directory");
        failure_help(&gone, "`%.*s` needs them: put the file back", TEXT_ARGS(victim->name));
        load_note(load, &gone);
    }
    take_blame(load, notes, victim, findings);
    script_places_drop(&load->places);
    load->places = script_places_hold(load->order->previous->places);
}

/// Holds back the changed product, or else the changed airports, that the running version of a seat does not go with.
/// False: there is nothing to blame.
static bool blame(struct load *load, const struct load_seat *victim, const struct load_notes *findings)
{
    const struct script_set *previous = load->order->previous;

    if (victim->kind == SCRIPT_KIND_SUPPLIER) {
        struct text name = victim->previous->declared.product;
        const struct script_version *before = script_set_version(previous, SCRIPT_KIND_PRODUCT, name);
        const struct script_version *now = script_set_version(load->set, SCRIPT_KIND_PRODUCT, name);
        struct load_seat *seat = load_find(&load->products, name);
        bool has_changed = now == NULL || before == NULL || !script_version_equals(now, before);
        if (seat != NULL && before != NULL && has_changed && !(seat->is_held_back && seat->is_wanted)) {
            seat->is_held_back = true;
            seat->is_wanted = true;
            seat->notes = (struct load_notes){ .first = NULL };
            take_blame(load, &seat->notes, victim, findings);
            return true;
        }
    }
    if (load->places != previous->places) {
        blame_airports(load, victim, findings);
        return true;
    }
    return false;
}

// ---- choice

static bool may_run(struct load *load, const struct load_seat *seat, const struct script_version *version)
{
    struct load_notes unheard = { .first = NULL };
    struct load_notes *notes = load->notes;

    load->notes = &unheard;
    bool may = !load_refuses(load, seat->kind, seat->name, version->digest);
    load->notes = notes;
    return may;
}

/// False: what is on disk is not even tried, for what is noted. Nobody waits for ever for a folder of files that hang,
/// and what was allowed when it was read may not be any more.
static bool may_try(struct load *load, const struct load_seat *seat)
{
    if (load->order->previous != NULL && load->overdue_count >= LOAD_OVERDUE_MAX) {
        struct failure why = { .line = 0 };
        failure_at(&why, seat->path.data, 0, 0);
        failure_set(&why, "not tried: %zu files before it took too long to load", load->overdue_count);
        failure_help(&why, "mend or remove those, and reload once more");
        load_note(load, &why);
        return false;
    }
    return !load_refuses(load, seat->kind, seat->name, seat->disk->digest);
}

/// What is on disk, where it goes with the set of this round: it runs, or is a shadow.
static void choose_disk(struct load *load, struct load_seat *seat, struct script_version **chosen)
{
    bool was_overdue = load->is_overdue;

    seat->notes = (struct load_notes){ .first = NULL };
    load->notes = &seat->notes;
    if (seat->from == NULL && !may_try(load, seat)) {
        seat->is_held_back = true;
        return;
    }
    load->is_overdue = false;
    *chosen = try_version(load, seat->disk, seat->from, load_run_us(load));
    seat->is_held_back = load->is_overdue; // it is not tried a second time
    load->is_overdue = load->is_overdue || was_overdue;
}

/// What runs, when it is refused or when it is not. False: something else is held back now, and the round is over.
static bool choose_previous(struct load *load, struct load_seat *seat, bool is_refused)
{
    struct load_notes findings = { .first = NULL };

    if (seat->previous == NULL || may_run(load, seat, seat->previous) == is_refused) {
        return true;
    }
    load->notes = &findings;
    seat->chosen = try_version(load, seat->previous, load->order->previous, SCRIPT_CHECK_RUN_US);
    if (seat->chosen == NULL && !load->is_out_of_memory) {
        if (blame(load, seat, &findings)) {
            return false;
        }
        seat->notes = seat->notes.first == NULL ? findings : seat->notes;
    }
    return true;
}

static void choose_candidate(struct load *load, struct load_seat *seat)
{
    struct script_set *candidate = load->order->candidate;
    struct load_notes findings = { .first = NULL };
    struct script_version *version = candidate == NULL ? NULL : script_set_version(candidate, seat->kind, seat->name);

    if (version != NULL && version != seat->disk && may_run(load, seat, version)) {
        load->notes = &findings;
        seat->chosen = try_version(load, version, candidate, SCRIPT_CHECK_RUN_US);
    }
}

static bool choose(struct load *load, struct load_seat *seat)
{
    bool is_same = seat->disk != NULL && seat->disk == seat->previous;

    script_version_drop(&seat->chosen);
    script_version_drop(&seat->shadow);
    if (!seat->is_wanted) {
        return true;
    }
    if (!is_same && seat->disk != NULL && !seat->is_held_back) {
        choose_disk(load, seat, seat->is_shadowed ? &seat->shadow : &seat->chosen);
    }
    seat->is_fallback = seat->chosen == NULL && (!is_same || seat->is_held_back);
    if (seat->chosen == NULL && !choose_previous(load, seat, false)) {
        return false;
    }
    if (seat->chosen == NULL) {
        seat->is_fallback = true;
        choose_candidate(load, seat);
    }
    // What runs is refused in favour of another one, never of nothing.
    if (seat->chosen == NULL && !choose_previous(load, seat, true)) {
        return false;
    }
    if (seat->chosen != NULL && seat->disk != NULL && script_version_equals(seat->chosen, seat->disk)) {
        seat->is_fallback = false;
        seat->notes = (struct load_notes){ .first = NULL };
    }
    return !load->is_out_of_memory;
}

/// False: the round is over.
static bool choose_all(struct load *load, struct load_seats *seats)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (!choose(load, &seats->items[i])) {
            return false;
        }
        if (seats->items[i].chosen != NULL) {
            script_set_add(load->set, seats->items[i].chosen);
        }
        if (seats->items[i].chosen == NULL) {
            script_version_drop(&seats->items[i].shadow); // nothing runs that it could be held against
        }
        if (seats->items[i].shadow != NULL && !script_set_add_shadow(load->set, seats->items[i].shadow)) {
            load->is_out_of_memory = true;
            return false;
        }
    }
    return true;
}

static bool choose_round(struct load *load)
{
    script_set_release(&load->set);
    load->set = script_set_create(load->shelf, load->places, load->products.count, load->suppliers.count);
    if (load->set == NULL) {
        load->is_out_of_memory = true;
        return false;
    }
    if (!choose_all(load, &load->products)) {
        return false;
    }
    if (script_set_close_products(load->set) != STATUS_OK) {
        load->is_out_of_memory = true;
        return false;
    }
    if (!choose_all(load, &load->suppliers)) {
        return false;
    }
    load->is_out_of_memory = script_set_close(load->set) != STATUS_OK;
    return !load->is_out_of_memory;
}

void load_choose(struct load *load)
{
    while (!load->is_out_of_memory && !choose_round(load)) {
        // once more, without what was to blame
    }
    if (load->is_out_of_memory) {
        script_set_release(&load->set);
    }
}
