// Whose files are shadows: set, promoted, dropped; and what the reports follow. A shadow that is to run is built anew
// from the disk like any changed file, with its fixtures and its trial; only that it must be the very version whose
// report somebody has read.

#include "app/reload_internal.h"
#include "app/shadow.h"
#include "base/log.h"
#include "model/catalogue.h"

#include <stdlib.h>
#include <string.h>

enum { SHADOWS_JSON_MAX = 4 << 20 };

// ---------------------------------------------------------------------------------------------------------- the names

static ptrdiff_t find(const struct reload_shadows *shadows, struct text name)
{
    for (size_t i = 0; i < shadows->count; i++) {
        if (text_equals(shadows->names[i], name)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/// False: no memory, or no room.
static bool add(struct reload_shadows *shadows, struct text name)
{
    char *kept = shadows->count < SHADOWS_MAX ? strndup(name.data, name.length) : NULL;

    if (kept == NULL) {
        return false;
    }
    shadows->has_digest[shadows->count] = false;
    shadows->kept[shadows->count] = kept;
    shadows->names[shadows->count++] = text_of(kept);
    return true;
}

static void drop(struct reload_shadows *shadows, size_t index)
{
    free(shadows->kept[index]);
    shadows->count--;
    shadows->kept[index] = shadows->kept[shadows->count];
    shadows->names[index] = shadows->names[shadows->count];
    shadows->has_digest[index] = shadows->has_digest[shadows->count];
    memcpy(shadows->digests[index], shadows->digests[shadows->count], SCRIPT_DIGEST);
}

void reload_shadows_fini(struct reload_shadows *shadows)
{
    while (shadows->count > 0) {
        drop(shadows, shadows->count - 1);
    }
}

static void note(struct reload_making *making, struct text name, const char *what)
{
    struct failure sentence = { 0 };

    failure_set(&sentence, "%.*s: %s", TEXT_ARGS(name), what);
    events_note(&making->reload->events, EVENT_SHADOW, making->answer->generation, name, &sentence);
}

// ----------------------------------------------------------------------------------------------------------- following

/// Takes what the disk had for this name; a new version of it is an event.
static void take_digest(struct reload_making *making, size_t index)
{
    struct reload_shadows *shadows = &making->reload->shadows;
    bool had_digest = shadows->has_digest[index];

    shadows->has_digest[index] = false;
    for (size_t i = 0; i < making->changes.count; i++) {
        const struct script_change *change = &making->changes.items[i];
        bool is_it = change->kind == SCRIPT_KIND_SUPPLIER && text_equals(change->name, shadows->names[index]) &&
                     (change->fate == SCRIPT_SHADOW || change->fate == SCRIPT_KEPT) && change->on_disk.data != NULL;
        if (!is_it) {
            continue;
        }
        bool is_new = !had_digest || memcmp(shadows->digests[index], change->on_disk_digest, SCRIPT_DIGEST) != 0;
        memcpy(shadows->digests[index], change->on_disk_digest, SCRIPT_DIGEST);
        shadows->has_digest[index] = true;
        if (is_new && change->fate == SCRIPT_SHADOW) {
            struct failure sentence = { 0 };
            failure_set(&sentence, "%.*s reads the answers to %.*s as its shadow", TEXT_ARGS(change->on_disk),
                        TEXT_ARGS(change->running));
            events_note(&making->reload->events, EVENT_SHADOW, making->answer->generation, change->name, &sentence);
        }
    }
}

static void tell_shadows(struct reload_making *making)
{
    struct buffer out;
    struct json_writer json;

    if (making->reload->shadows.count == 0) {
        return;
    }
    buffer_init(&out, SHADOWS_JSON_MAX);
    json_writer_init(&json, &out);
    shadows_write(making->reload->engine->shadows, making->answer->source == RELOAD_COMMAND, &json);
    if (!out.is_full) {
        reload_answer_set_shadows(making->answer, buffer_text(&out));
    }
    buffer_fini(&out);
}

void reload_follow_shadows(struct reload_making *making, bool was_read)
{
    struct reload_shadows *shadows = &making->reload->shadows;
    const struct catalogue *now = generation_catalogue(making->built);

    if (making->reload->engine->shadows == NULL) {
        return;
    }
    for (size_t i = shadows->count; i > 0; i--) {
        if (script_set_find_supplier(now->set, shadows->names[i - 1]) < 0) {
            note(making, shadows->names[i - 1], "its shadow ends, for the supplier is gone");
            drop(shadows, i - 1);
        } else if (was_read) {
            take_digest(making, i - 1);
        }
    }
    if (shadows_follow(making->reload->engine->shadows, shadows->names, shadows->count, now,
                       was_read ? &making->changes : NULL) != STATUS_OK) {
        log_line(LOG_ERROR, "reload", "no memory for the report of a shadow");
    }
    tell_shadows(making);
}

void reload_end_shadows(struct reload_making *making)
{
    struct reload_shadows *shadows = &making->reload->shadows;

    for (size_t i = 0; i < shadows->count; i++) {
        note(making, shadows->names[i], "its shadow ends with the rollback");
    }
    reload_shadows_fini(shadows);
    reload_follow_shadows(making, false);
}

// ------------------------------------------------------------------------------------------------------------- changes

bool reload_is_not_promoted(const struct reload_making *making, enum script_kind kind, struct text name,
                            const unsigned char *digest, struct failure *because)
{
    const struct reload_shadows *shadows = &making->reload->shadows;
    const struct script_set *running = generation_catalogue(making->running)->set;

    if (shadows->promoted == NULL || digest == NULL || kind != SCRIPT_KIND_SUPPLIER ||
        !text_equals(name, shadows->promotes) || memcmp(digest, shadows->promoted, SCRIPT_DIGEST) == 0) {
        return false;
    }
    ptrdiff_t runs = script_set_find_supplier(running, name);
    if (runs >= 0 && memcmp(digest, script_set_supplier_digest(running, (size_t)runs), SCRIPT_DIGEST) == 0) {
        return false;
    }
    failure_set(because, "the file of `%.*s` is not the shadow any more that was to be promoted", TEXT_ARGS(name));
    failure_help(because, "it is the shadow from the next reload on: look at its report, then promote it");
    return true;
}

static void refuse(struct reload_answer *answer, const char *help, const char *format, struct text name)
{
    struct failure failure = { 0 };

    answer->outcome = RELOAD_REFUSED;
    failure_set(&failure, format, TEXT_ARGS(name));
    failure_help(&failure, "%s", help);
    reload_answer_add_finding(answer, &failure);
}

/// The digest of what runs, or of its shadow; NULL: there is none.
static const unsigned char *digest_of(const struct generation *generation, struct text name, bool is_shadow)
{
    const struct script_set *set = generation_catalogue(generation)->set;
    ptrdiff_t index = is_shadow ? script_set_find_shadow(set, name) : script_set_find_supplier(set, name);

    return index < 0 ? NULL : script_set_supplier_digest(set, (size_t)index);
}

static void set(struct reload *reload, const struct generation *running, struct text name, struct reload_answer *answer)
{
    bool was_set = find(&reload->shadows, name) >= 0;

    if (digest_of(running, name, false) == NULL) {
        refuse(answer, "`lastcall status` lists the suppliers", "there is no supplier `%.*s` that runs", name);
    } else if (!was_set && !add(&reload->shadows, name)) {
        refuse(answer, "drop or promote another one", "there is no room for a shadow of `%.*s`", name);
    } else {
        (void)held_retry(&reload->held, name);
        reload_from_disk(reload, answer);
        if (answer->outcome == RELOAD_REFUSED && !was_set) {
            drop(&reload->shadows, (size_t)find(&reload->shadows, name));
        }
    }
}

/// Has what is to run now become what runs?
static bool runs(struct reload *reload, struct text name, const unsigned char *digest)
{
    struct generation *now = engine_generation(reload->engine);
    const unsigned char *found = digest_of(now, name, false);
    bool is_it = found != NULL && memcmp(found, digest, SCRIPT_DIGEST) == 0;

    generation_release(&now);
    return is_it;
}

static void promote(struct reload *reload, const struct generation *running, size_t index, struct text name,
                    struct reload_answer *answer)
{
    const unsigned char *digest = digest_of(running, name, true);

    if (digest == NULL) {
        refuse(answer, "`lastcall status` says why", "the shadow of `%.*s` is not loaded", name);
        return;
    }
    drop(&reload->shadows, index);
    reload->shadows.promoted = digest;
    reload->shadows.promotes = name;
    reload_from_disk(reload, answer);
    reload->shadows.promoted = NULL;
    if (!runs(reload, name, digest)) { // its row, or the refusal, says why
        (void)add(&reload->shadows, name);
    }
}

static void drop_shadow(struct reload *reload, size_t index, struct text name, struct reload_answer *answer)
{
    struct failure because = { 0 };
    bool is_held = true;

    failure_set(&because, "the shadow of `%.*s` was dropped", TEXT_ARGS(name));
    failure_help(&because, "it runs when its file changes, or with `lastcall reload --retry %.*s`", TEXT_ARGS(name));
    if (reload->shadows.has_digest[index]) {
        is_held =
            held_add(&reload->held, SCRIPT_KIND_SUPPLIER, name, reload->shadows.digests[index], &because) == STATUS_OK;
    }
    if (!is_held) {
        refuse(answer, "try again", "out of memory: the shadow of `%.*s` stays", name);
        return;
    }
    drop(&reload->shadows, index);
    reload_from_disk(reload, answer);
    if (answer->outcome == RELOAD_REFUSED) {
        (void)add(&reload->shadows, name);
        (void)held_retry(&reload->held, name);
    }
}

void reload_change_shadow(struct reload *reload, enum reload_shadow change, struct text name,
                          struct reload_answer *answer)
{
    struct generation *running = engine_generation(reload->engine);
    ptrdiff_t index = find(&reload->shadows, name);

    answer->generation = answer->previous = generation_number(running);
    if (change == RELOAD_SHADOW_SET) {
        set(reload, running, name, answer);
    } else if (index < 0) {
        refuse(answer, "`lastcall reload --shadow NAME` makes its file one", "`%.*s` has no shadow", name);
    } else if (change == RELOAD_SHADOW_PROMOTE) {
        promote(reload, running, (size_t)index, name, answer);
    } else {
        drop_shadow(reload, (size_t)index, name, answer);
    }
    generation_release(&running);
}
