// Reading is told file by file: what a file's findings are noted under has to be there before they are.

#include "script/check_task.h"
#include "script/script_load.h"
#include "script/script_read.h"

#include <stdio.h>

static struct script_check load_check(struct load *load)
{
    return (struct script_check){ .arena = &load->arena, .report = load_note, .context = load };
}

// ---- seats

/// Is the file one that may only be a shadow while it is not what runs?
static bool is_shadowed(const struct load *load, const struct load_seat *seat)
{
    const struct script_order *order = load->order;

    for (size_t i = 0; seat->kind == SCRIPT_KIND_SUPPLIER && seat->previous != NULL && i < order->shadow_count; i++) {
        if (text_equals(order->shadows[i], seat->name)) {
            return true;
        }
    }
    return false;
}

/// The one that the set knows of that name. A shadow that is to run begins a new life, so it is not looked for then.
static struct script_version *seat_known(const struct load_seat *seat, const struct script_set *known)
{
    struct script_version *shadow = seat->is_shadowed ? script_set_shadow(known, seat->name) : NULL;

    if (shadow != NULL && script_version_equals(shadow, seat->disk)) {
        return shadow;
    }
    struct script_version *version = script_set_version(known, seat->kind, seat->name);
    return version != NULL && script_version_equals(version, seat->disk) ? version : NULL;
}

/// A version that is known already is what is on disk, wherever it is the same.
static void seat_take(struct load *load, struct load_seat *seat, const struct script_file *file)
{
    struct script_set *known[] = { load->order->previous, load->order->candidate };

    seat->disk = script_version_create(seat->kind, file, load->shelf);
    if (seat->disk == NULL) {
        load->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < COUNT_OF(known) && seat->from == NULL; i++) {
        struct script_version *same = known[i] == NULL ? NULL : seat_known(seat, known[i]);
        if (same != NULL) {
            script_version_drop(&seat->disk);
            seat->disk = script_version_hold(same);
            seat->from = known[i];
        }
    }
}

/// What is on disk must not run when it is refused, or needs a module that is broken.
static void seat_judge(struct load *load, struct load_seat *seat)
{
    if (seat->disk == NULL) {
        seat->is_held_back = true;
        return;
    }
    const struct script_module *broken = NULL;
    bool is_apart = load->order->previous != NULL || load->order->needed != NULL;
    if (is_apart && seat->from == NULL) {
        broken = script_shelf_first_broken(load->shelf, seat->disk->file.source);
    }
    if (broken != NULL) {
        load_note(load, &broken->because);
    }
    seat->is_held_back = broken != NULL || load_refuses(load, seat->kind, seat->name, seat->disk->digest);
    seat->is_shadowed = seat->is_shadowed && seat->disk != seat->previous;
}

static void seat_read(struct load *load, struct load_seats *seats, enum script_kind kind,
                      const struct script_file *named)
{
    struct load_seat *seat = &seats->items[seats->count];
    struct script_file file = *named;
    struct script_check check = load_check(load);

    *seat = (struct load_seat){ .kind = kind, .name = file.name, .path = file.path, .is_wanted = true };
    seats->count++;
    if (load->order->previous != NULL) {
        seat->previous = script_set_version(load->order->previous, kind, file.name);
    }
    seat->is_shadowed = is_shadowed(load, seat);
    load->notes = &seat->notes;
    script_read_file(&check, &file);
    if (file.source.data != NULL) {
        seat_take(load, seat, &file);
    }
    seat_judge(load, seat);
}

/// A seat for what runs and is not on disk, before the first whose name is greater: seats stay sorted if they were.
static void seat_insert(struct load *load, struct load_seats *seats, struct script_version *version, bool is_unread)
{
    size_t place = 0;

    while (place < seats->count && text_compare(seats->items[place].name, version->file.name) < 0) {
        place++;
    }
    for (size_t i = seats->count; i > place; i--) {
        seats->items[i] = seats->items[i - 1];
    }
    seats->count++;
    struct load_seat *seat = &seats->items[place];
    *seat = (struct load_seat){
        .kind = version->kind, .name = version->file.name, .path = version->file.path, .previous = version
    };
    load->notes = &seat->notes;
    if (is_unread) {
        seat->is_wanted = true;
        seat->disk = script_version_hold(version);
        seat->from = load->order->previous;
    } else {
        seat->is_held_back = true;
        seat->is_wanted = load_refuses(load, seat->kind, seat->name, NULL);
    }
}

static bool seats_create(struct load *load, struct load_seats *seats, size_t count)
{
    seats->items = arena_alloc_array(&load->arena, count + 1, sizeof *seats->items);
    load->is_out_of_memory = load->is_out_of_memory || seats->items == NULL;
    return seats->items != NULL;
}

// ---- modules

struct shelf_reading {
    struct load *load;
    struct script_shelf *shelf;
    struct script_check *check;
};

static void shelf_on_file(void *context, const struct script_file *named)
{
    const struct shelf_reading *reading = context;
    struct script_file file = *named;
    struct load_notes notes = { .first = NULL };

    reading->load->notes = &notes;
    script_read_file(reading->check, &file);
    struct script_module *module = script_shelf_add(reading->shelf, &file);
    if (module == NULL) {
        reading->load->is_out_of_memory = true;
    } else if (notes.first != NULL) {
        module->is_broken = true;
        module->because = notes.first->failure;
    }
    reading->load->notes = &reading->load->scripts_folder.notes;
}

/// What is wrong with a module is told once for all its users; the first thing stays with it.
static void module_check(struct load *load, struct script_shelf *shelf, struct script_module *module)
{
    struct script_check check = load_check(load);
    const struct check_subject subject = { .kind = CHECK_MODULE, .file = &module->file };
    struct load_notes notes = { .first = NULL };

    load->notes = &notes;
    check.run_us = load_run_us(load);
    load_end_check(load, check_task_run(&check, &subject));
    module->is_broken = notes.first != NULL;
    load->notes = &load->modules;
    for (const struct load_note *note = notes.first; note != NULL; note = note->next) {
        module->because = notes.first->failure;
        load_note(load, &note->failure);
    }
    if (!script_shelf_keep_look_ups(shelf, check.look_ups, check.look_up_count)) {
        load->is_out_of_memory = true;
    }
}

/// One that is the same as before has been checked.
static void shelf_finish(struct load *load, struct script_shelf *shelf)
{
    struct script_set *known[] = { load->order->previous, load->order->candidate };

    for (size_t i = 0; i < COUNT_OF(known) && load->shelf == NULL; i++) {
        if (known[i] != NULL && script_shelf_equals(known[i]->shelf, shelf)) {
            load->shelf = script_shelf_hold(known[i]->shelf);
        }
    }
    bool is_new = load->shelf == NULL;
    if (is_new) {
        load->shelf = script_shelf_hold(shelf);
    }
    if (is_new && script_shelf_close(shelf) != STATUS_OK) {
        load->is_out_of_memory = true;
    }
    for (size_t i = 0; i < script_shelf_count(load->shelf) && !load->is_out_of_memory; i++) {
        struct script_module *module = script_shelf_module(load->shelf, i);
        if (is_new && module->file.source.data != NULL) {
            module_check(load, shelf, module);
        } else if (module->is_broken) {
            load->notes = &load->modules;
            load_note(load, &module->because);
        }
    }
}

static bool read_shelf(struct load *load)
{
    struct script_shelf *shelf = script_shelf_create();
    struct script_check check = load_check(load);
    struct shelf_reading reading = { load, shelf, &check };

    if (shelf == NULL) {
        load->is_out_of_memory = true;
        return false;
    }
    load->notes = &load->scripts_folder.notes;
    bool is_there = script_read_folder(&check, load->order->scripts_dir, shelf_on_file, &reading);
    if (!is_there && load->order->previous != NULL) {
        load->shelf = script_shelf_hold(load->order->previous->shelf);
    } else {
        shelf_finish(load, shelf);
    }
    script_shelf_drop(&shelf);
    return is_there;
}

// ---- airports

/// Airports are data of the scripts; a folder without them has products that need none.
static void read_places(struct load *load)
{
    struct script_set *known[] = { load->order->previous, load->order->candidate };
    const char *path = load->airports.path;

    load->notes = &load->airports.notes;
    script_places_digest(path, load->airports_digest);
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (known[i] != NULL && script_places_is(known[i]->places, path, load->airports_digest)) {
            load->places = script_places_hold(known[i]->places);
            return;
        }
    }
    enum status status = script_places_load(path, load_note, load, &load->places);
    if (status == STATUS_NO_MEMORY) {
        load->is_out_of_memory = true;
    } else if (status == STATUS_INVALID && load->order->previous != NULL) {
        load->places = script_places_hold(load->order->previous->places);
    }
}

// ---- all

struct folder_reading {
    struct load *load;
    struct load_seats *seats;
};

static void products_on_file(void *context, const struct script_file *file)
{
    const struct folder_reading *reading = context;

    seat_read(reading->load, reading->seats, SCRIPT_KIND_PRODUCT, file);
    reading->load->notes = &reading->load->products_folder.notes;
}

static void insert_missing(struct load *load, struct load_seats *seats, struct script_version *const *versions,
                           size_t count, bool is_unread)
{
    for (size_t i = 0; i < count; i++) {
        if (load_find(seats, versions[i]->file.name) == NULL) {
            seat_insert(load, seats, versions[i], is_unread);
        }
    }
}

static void read_products(struct load *load, bool has_scripts)
{
    const struct script_set *previous = load->order->previous;
    size_t running = previous == NULL ? 0 : previous->product_count;
    struct script_check check = load_check(load);
    struct folder_reading reading = { load, &load->products };

    if (!seats_create(load, &load->products, running + SCRIPT_SHELF_MODULES_MAX)) {
        return;
    }
    load->notes = &load->products_folder.notes;
    load->knows_products =
        has_scripts && script_read_folder(&check, load->products_folder.path, products_on_file, &reading);
    if (previous != NULL) {
        insert_missing(load, &load->products, previous->products, running, !load->knows_products);
        load->knows_products = true;
    }
}

static void read_suppliers(struct load *load)
{
    const struct script_order *order = load->order;
    const struct script_set *previous = order->previous;
    size_t running = previous == NULL ? 0 : previous->supplier_count;

    if (!seats_create(load, &load->suppliers, running + order->count)) {
        return;
    }
    for (size_t i = 0; i < order->count && !load->is_out_of_memory; i++) {
        const struct script_file file = { .name = arena_copy(&load->arena, order->sources[i].name),
                                          .path = arena_copy(&load->arena, order->sources[i].file) };
        if (file.name.data == NULL || file.path.data == NULL) {
            load->is_out_of_memory = true;
            return;
        }
        seat_read(load, &load->suppliers, SCRIPT_KIND_SUPPLIER, &file);
    }
    if (previous != NULL) {
        insert_missing(load, &load->suppliers, previous->suppliers, running, false);
    }
}

void load_read(struct load *load)
{
    const char *folder = load->order->scripts_dir;

    load->scripts_folder.name = "scripts";
    load->products_folder.name = "products";
    load->airports.name = "airports";
    snprintf(load->scripts_folder.path, sizeof load->scripts_folder.path, "%s", folder);
    snprintf(load->products_folder.path, sizeof load->products_folder.path, "%s/products", folder);
    snprintf(load->airports.path, sizeof load->airports.path, "%s/data/airports.txt", folder);
    bool has_scripts = read_shelf(load);
    if (!load->is_out_of_memory) {
        read_products(load, has_scripts);
        read_suppliers(load);
        read_places(load);
    }
}
