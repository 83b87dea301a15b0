// What is kept is told whatever else happened to it: a file that went back to an older version is one of these too.

#include "script/script_load.h"

#include <stdio.h>
#include <string.h>

static bool tell_seat(const struct load_seat *seat, struct script_changes *changes)
{
    struct script_change change = { .kind = seat->kind, .name = seat->name, .file = seat->path };

    if (!seat->is_wanted || !seat->is_fallback) {
        return true;
    }
    change.fate = seat->shadow != NULL ? SCRIPT_SHADOW : seat->chosen != NULL ? SCRIPT_KEPT : SCRIPT_LEFT_OUT;
    if (seat->previous != NULL) {
        change.before = seat->previous->label;
    }
    if (seat->chosen != NULL) {
        change.running = seat->chosen->label;
    }
    if (seat->disk != NULL) {
        change.on_disk = seat->disk->label;
        memcpy(change.on_disk_digest, seat->disk->digest, SCRIPT_DIGEST);
    }
    if (seat->notes.first != NULL) {
        change.because = seat->notes.first->failure;
    }
    return script_changes_add(changes, &change);
}

static bool tell_seats(const struct load_seats *seats, struct script_changes *changes)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (!tell_seat(&seats->items[i], changes)) {
            return false;
        }
    }
    return true;
}

/// The module of that name which a version of the set reaches on its own shelf; NULL: nobody runs one.
static const struct script_module *find_running(const struct script_set *set, struct text name)
{
    size_t count = set->product_count + set->supplier_count;

    for (size_t i = 0; i < count; i++) {
        const struct script_version *version =
            i < set->product_count ? set->products[i] : set->suppliers[i - set->product_count];
        const struct script_module *module = script_shelf_reached(version->file.shelf, version->file.source, name);
        if (module != NULL && !module->is_broken) {
            return module;
        }
    }
    return NULL;
}

static bool tell_broken_module(const struct load *load, const struct script_module *module,
                               struct script_changes *changes)
{
    const struct script_module *running = find_running(load->set, module->file.name);
    char labels[2][SCRIPT_LABEL_SIZE];
    struct script_change change = { .kind = SCRIPT_KIND_SCRIPTS,
                                    .name = module->file.name,
                                    .file = module->file.path,
                                    .fate = running != NULL ? SCRIPT_KEPT : SCRIPT_LEFT_OUT,
                                    .because = module->because };

    if (running != NULL) {
        change.running = script_label(running->file.name, running->digest, labels[0]);
        change.before = change.running;
    }
    if (module->file.source.data != NULL) {
        change.on_disk = script_label(module->file.name, module->digest, labels[1]);
        memcpy(change.on_disk_digest, module->digest, SCRIPT_DIGEST);
    }
    return script_changes_add(changes, &change);
}

static bool tell_thing(const struct load_thing *thing, struct script_change change, struct script_changes *changes)
{
    if (thing->notes.first == NULL) {
        return true;
    }
    change.kind = SCRIPT_KIND_SCRIPTS;
    change.name = text_of(thing->name);
    change.file = text_of(thing->path);
    change.fate = SCRIPT_KEPT;
    change.because = thing->notes.first->failure;
    return script_changes_add(changes, &change);
}

static bool tell_airports(const struct load *load, struct script_changes *changes)
{
    static const unsigned char NOTHING[SCRIPT_DIGEST];
    const struct script_places *running = load->order->previous->places;
    const struct text name = text_of(load->airports.name);
    struct script_change change = { .fate = SCRIPT_KEPT };
    char labels[2][SCRIPT_LABEL_SIZE];

    if (running != NULL) {
        change.running = script_label(name, running->digest, labels[0]);
        change.before = change.running;
    }
    if (memcmp(load->airports_digest, NOTHING, SCRIPT_DIGEST) != 0) {
        change.on_disk = script_label(name, load->airports_digest, labels[1]);
        memcpy(change.on_disk_digest, load->airports_digest, SCRIPT_DIGEST);
    }
    return tell_thing(&load->airports, change, changes);
}

bool load_tell(const struct load *load, struct script_changes *changes)
{
    const struct script_change nothing = { .fate = SCRIPT_KEPT };
    bool is_told = tell_thing(&load->scripts_folder, nothing, changes) &&
                   tell_thing(&load->products_folder, nothing, changes) && tell_airports(load, changes);
    for (size_t i = 0; is_told && i < script_shelf_count(load->shelf); i++) {
        const struct script_module *module = script_shelf_module(load->shelf, i);
        is_told = !module->is_broken || tell_broken_module(load, module, changes);
    }
    return is_told && tell_seats(&load->products, changes) && tell_seats(&load->suppliers, changes);
}
