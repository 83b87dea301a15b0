#include "script/script_check.h"
#include "script/script_load.h"

#define LOAD_MEMORY ((size_t)256 << 20)

void load_note(void *context, const struct failure *failure)
{
    struct load *load = context;
    struct load_note *note = arena_alloc(&load->arena, sizeof *note);

    if (note == NULL) {
        load->is_out_of_memory = true;
        return;
    }
    note->failure = *failure;
    if (load->notes->first == NULL) {
        load->notes->first = note;
    } else {
        load->notes->last->next = note;
    }
    load->notes->last = note;
}

uint64_t load_run_us(const struct load *load)
{
    bool is_hurried = load->order->previous != NULL && load->overdue_count >= LOAD_OVERDUE_PATIENCE;
    return is_hurried ? LOAD_HURRIED_US : SCRIPT_CHECK_RUN_US;
}

void load_end_check(struct load *load, enum status status)
{
    load->is_overdue = load->is_overdue || status == STATUS_TIMEOUT;
    load->overdue_count += status == STATUS_TIMEOUT ? 1 : 0;
}

static size_t report_notes(const struct load_notes *notes, script_finding report, void *context)
{
    size_t count = 0;

    for (const struct load_note *note = notes->first; note != NULL; note = note->next) {
        report(context, &note->failure);
        count++;
    }
    return count;
}

/// Those of the seats that nobody waits for go aside, and do not count.
static size_t report_seats(const struct load *load, const struct load_seats *seats, script_finding report,
                           void *context)
{
    size_t count = 0;

    for (size_t i = 0; i < seats->count; i++) {
        bool is_needed = load_needs(load, &seats->items[i]);
        size_t told = report_notes(&seats->items[i].notes, is_needed ? report : load->order->aside, context);
        count += is_needed ? told : 0;
    }
    return count;
}

/// Of modules, each of which is judged by who reaches it.
static size_t report_modules(const struct load *load, script_finding report, void *context)
{
    size_t count = 0;

    for (const struct load_note *note = load->modules.first; note != NULL; note = note->next) {
        bool is_needed = load_needs_module(load, text_of(note->failure.file));
        (is_needed ? report : load->order->aside)(context, &note->failure);
        count += is_needed ? 1 : 0;
    }
    return count;
}

static size_t report_all(const struct load *load, script_finding report, void *context)
{
    size_t count = report_notes(&load->scripts_folder.notes, report, context);

    count += report_modules(load, report, context);
    count += report_notes(&load->products_folder.notes, report, context);
    count += report_notes(&load->airports.notes, report, context);
    count += report_seats(load, &load->products, report, context);
    return count + report_seats(load, &load->suppliers, report, context);
}

static bool has_same_versions(struct script_version *const *some, size_t some_count,
                              struct script_version *const *others, size_t other_count)
{
    bool is_same = some_count == other_count;

    for (size_t i = 0; is_same && i < some_count; i++) {
        is_same = some[i] == others[i];
    }
    return is_same;
}

/// Modules that are broken are no difference, for nothing stands on them.
static bool has_same_modules(const struct script_shelf *now, const struct script_shelf *before)
{
    for (size_t i = 0; now != before && i < script_shelf_count(before); i++) {
        if (script_shelf_find(now, script_shelf_module(before, i)->file.name) == NULL) {
            return false;
        }
    }
    for (size_t i = 0; now != before && i < script_shelf_count(now); i++) {
        const struct script_module *module = script_shelf_module(now, i);
        const struct script_module *other = script_shelf_find(before, module->file.name);
        bool is_same = other != NULL && memcmp(other->digest, module->digest, SCRIPT_DIGEST) == 0;
        if (!module->is_broken && !is_same) {
            return false;
        }
    }
    return true;
}

static bool is_unchanged(const struct script_set *now, const struct script_set *before)
{
    return has_same_versions(now->products, now->product_count, before->products, before->product_count) &&
           has_same_versions(now->suppliers, now->supplier_count, before->suppliers, before->supplier_count) &&
           has_same_versions(now->shadows, now->shadow_count, before->shadows, before->shadow_count) &&
           now->places == before->places && has_same_modules(now->shelf, before->shelf);
}

/// What a load over another set gives: the set, or that other one when nothing differs.
static enum status finish_over(struct load *load, struct script_set **set, struct script_changes *changes)
{
    struct script_set *previous = load->order->previous;

    if (changes != NULL &&
        (!load_tell(load, changes) || script_changes_between(previous, load->set, changes) != STATUS_OK)) {
        return STATUS_NO_MEMORY;
    }
    if (is_unchanged(load->set, previous)) {
        *set = script_set_acquire(previous);
        return STATUS_OK;
    }
    *set = load->set;
    load->set = NULL;
    return STATUS_OK;
}

static enum status finish(struct load *load, script_finding report, void *context, struct script_set **set,
                          struct script_changes *changes)
{
    if (load->is_out_of_memory) {
        return STATUS_NO_MEMORY;
    }
    size_t findings = report_all(load, report, context);
    if (load->order->previous != NULL) {
        return finish_over(load, set, changes);
    }
    if (findings > 0) {
        return load->is_overdue ? STATUS_TIMEOUT : STATUS_INVALID;
    }
    *set = load->set;
    load->set = NULL;
    return STATUS_OK;
}

static void drop_seats(struct load_seats *seats)
{
    for (size_t i = 0; i < seats->count; i++) {
        script_version_drop(&seats->items[i].disk);
        script_version_drop(&seats->items[i].chosen);
        script_version_drop(&seats->items[i].shadow);
    }
}

enum status script_set_load_over(const struct script_order *order, script_finding report, void *context,
                                 struct script_set **set, struct script_changes *changes)
{
    struct load load = { .order = order };

    *set = NULL;
    arena_init(&load.arena, LOAD_MEMORY);
    load_read(&load);
    load_choose(&load);
    enum status status = finish(&load, report, context, set, changes);
    drop_seats(&load.products);
    drop_seats(&load.suppliers);
    script_set_release(&load.set);
    script_shelf_drop(&load.shelf);
    script_places_drop(&load.places);
    arena_fini(&load.arena);
    return status;
}

enum status script_set_load(const char *scripts_dir, const struct script_source *sources, size_t count,
                            script_finding report, void *context, struct script_set **set)
{
    const struct script_order order = { .scripts_dir = scripts_dir, .sources = sources, .count = count };

    return script_set_load_over(&order, report, context, set, NULL);
}
