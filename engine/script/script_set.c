// A set lives as long as an owner or a holder does. All owners together hold it once; the last one to release gives
// that hold back and thereby retires the set.

#include "script/script_set.h"
#include "script/script_set_parts.h"

#include <stdlib.h>

struct script_set *script_set_acquire(struct script_set *set)
{
    atomic_fetch_add(&set->owners, 1);
    return set;
}

void script_set_release(struct script_set **set)
{
    if (*set == NULL) {
        return;
    }
    if (atomic_fetch_sub(&(*set)->owners, 1) == 1) {
        script_set_drop(set);
    }
    *set = NULL;
}

struct script_set *script_set_hold(struct script_set *set)
{
    atomic_fetch_add(&set->holds, 1);
    return set;
}

void script_set_drop(struct script_set **set)
{
    struct script_set *dropped = *set;

    *set = NULL;
    if (dropped == NULL || atomic_fetch_sub(&dropped->holds, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < dropped->product_count; i++) {
        script_version_drop(&dropped->products[i]);
    }
    for (size_t i = 0; i < dropped->supplier_count; i++) {
        script_version_drop(&dropped->suppliers[i]);
    }
    for (size_t i = 0; i < dropped->shadow_count; i++) {
        script_version_drop(&dropped->shadows[i]);
    }
    script_shelf_drop(&dropped->shelf);
    script_places_drop(&dropped->places);
    arena_fini(&dropped->arena);
    free(dropped);
}

const struct places *script_set_places(const struct script_set *set)
{
    return set->places == NULL ? NULL : set->places->places;
}

bool script_set_is_retired(const struct script_set *set)
{
    return atomic_load(&set->owners) == 0;
}

size_t script_set_supplier_count(const struct script_set *set)
{
    return set->supplier_count;
}

const struct script_version *script_set_supplier_version(const struct script_set *set, size_t index)
{
    require(index < set->supplier_count + set->shadow_count);
    return index < set->supplier_count ? set->suppliers[index] : set->shadows[index - set->supplier_count];
}

const struct script_version *script_set_product_version(const struct script_set *set, size_t index)
{
    require(index < set->product_count);
    return set->products[index];
}

const struct script_supplier *script_set_supplier(const struct script_set *set, size_t index)
{
    return &script_set_supplier_version(set, index)->declared;
}

size_t script_set_product_count(const struct script_set *set)
{
    return set->product_count;
}

struct text script_set_product(const struct script_set *set, size_t index)
{
    return script_set_product_version(set, index)->file.name;
}

const unsigned char *script_set_supplier_digest(const struct script_set *set, size_t index)
{
    return script_set_supplier_version(set, index)->digest;
}

const unsigned char *script_set_product_digest(const struct script_set *set, size_t index)
{
    return script_set_product_version(set, index)->digest;
}

const struct script_shelf *script_set_shelf(const struct script_set *set)
{
    return set->shelf;
}

const struct script_look_up *script_set_look_ups(const struct script_set *set, size_t *count)
{
    *count = set->look_up_count;
    return set->look_ups;
}

const struct script_segment *script_set_segments(const struct script_set *set, size_t *count)
{
    *count = set->segment_count;
    return set->segments;
}

const struct script_file *script_set_supplier_file(const struct script_set *set, size_t index)
{
    return &script_set_supplier_version(set, index)->file;
}

const struct script_file *script_set_product_file(const struct script_set *set, size_t index)
{
    return &script_set_product_version(set, index)->file;
}

static ptrdiff_t set_find(struct script_version *const *versions, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals(versions[i]->file.name, name)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

ptrdiff_t script_set_find_product(const struct script_set *set, struct text name)
{
    return set_find(set->products, set->product_count, name);
}

ptrdiff_t script_set_find_supplier(const struct script_set *set, struct text name)
{
    return set_find(set->suppliers, set->supplier_count, name);
}

size_t script_set_shadow_count(const struct script_set *set)
{
    return set->shadow_count;
}

ptrdiff_t script_set_find_shadow(const struct script_set *set, struct text name)
{
    ptrdiff_t index = set_find(set->shadows, set->shadow_count, name);

    return index < 0 ? -1 : (ptrdiff_t)set->supplier_count + index;
}

struct text script_set_payer(const struct script_set *set, size_t index)
{
    return index < set->supplier_count ? script_set_supplier(set, index)->name
                                       : set->shadow_payers[index - set->supplier_count];
}

// ---- what is counted of a script

static struct script_life *set_life(const struct script_set *set, struct script_id script)
{
    return script.is_product ? script_set_product_version(set, script.index)->life
                             : script_set_supplier_version(set, script.index)->life;
}

struct drift *script_set_drift(const struct script_set *set, size_t supplier)
{
    return &script_set_supplier_version(set, supplier)->life->drift;
}

bool script_set_quarantine(struct script_set *set, struct script_id script)
{
    return script_life_quarantine(set_life(set, script), "");
}

bool script_set_note_timeout(struct script_set *set, struct script_id script, const char *place, uint64_t now_us)
{
    struct script_life *life = set_life(set, script);
    bool is_often = script_life_note_timeout(life, now_us);

    return is_often && !script.is_product && script_life_quarantine(life, place);
}

bool script_set_is_quarantined(const struct script_set *set, struct script_id script)
{
    return atomic_load(&set_life(set, script)->is_quarantined);
}

bool script_set_tell_quarantine(const struct script_set *set, struct script_id script, char *sentence, size_t size)
{
    return script_life_tell_quarantine(set_life(set, script), sentence, size);
}

void script_set_note_limit(struct script_set *set, struct script_id script, enum script_limit limit, uint64_t times)
{
    atomic_fetch_add(&set_life(set, script)->limits[limit], times);
}

uint64_t script_set_limit_count(const struct script_set *set, struct script_id script, enum script_limit limit)
{
    return atomic_load(&set_life(set, script)->limits[limit]);
}

uint32_t script_set_log_lines_left(const struct script_set *set, struct script_id script, uint64_t now_us)
{
    return script_life_log_lines_left(set_life(set, script), now_us);
}

void script_set_note_log_lines(struct script_set *set, struct script_id script, uint64_t now_us, uint32_t lines)
{
    script_life_note_log_lines(set_life(set, script), now_us, lines);
}

void script_set_note_trial(struct script_set *set, struct script_id script, enum script_verdict verdict,
                           const char *message)
{
    script_life_note_trial(set_life(set, script), verdict, message);
}

void script_set_trial(const struct script_set *set, struct script_id script, struct script_trial *trial)
{
    script_life_trial(set_life(set, script), trial);
}

static const struct script_file *find_shown(const struct script_set *set, struct text shown)
{
    for (size_t i = 0; i < set->supplier_count + set->shadow_count; i++) {
        const struct script_file *file = script_set_supplier_file(set, i);
        if (script_file_is(file, shown)) {
            return file;
        }
    }
    for (size_t i = 0; i < set->product_count; i++) {
        const struct script_file *file = script_set_product_file(set, i);
        if (script_file_is(file, shown)) {
            return file;
        }
    }
    return script_shelf_shown(set->shelf, shown);
}

bool script_set_find_source(void *set, struct text shown, struct text *path, struct text *source)
{
    const struct script_file *file = find_shown(set, shown);

    if (file == NULL || file->source.data == NULL) {
        return false;
    }
    *path = file->path;
    *source = file->source;
    return true;
}
