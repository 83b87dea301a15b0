#include "app/held.h"

#include "app/settings_compare.h"
#include "base/file_digest.h"

#include <stdlib.h>

enum { HELD_NAMES_MAX = 256 }; // among which a name that was meant is looked for

static const unsigned char GONE[SCRIPT_DIGEST];

void held_init(struct held *held)
{
    *held = (struct held){ 0 };
}

static void drop(struct held *held, size_t index)
{
    free(held->versions[index].name);
    free(held->versions[index].path);
    held->count--;
    memmove(&held->versions[index], &held->versions[index + 1], (held->count - index) * sizeof(*held->versions));
}

static void forget_settings(struct held *held)
{
    held->settings_hash = 0;
    settings_release(&held->settings);
}

void held_fini(struct held *held)
{
    forget_settings(held);
    while (held->count > 0) {
        drop(held, held->count - 1);
    }
    free(held->versions);
    held_init(held);
}

static bool is_named(const struct held_version *version, enum script_kind kind, struct text name)
{
    return version->kind == kind && text_equals_c(name, version->name);
}

static struct held_version *find(const struct held *held, enum script_kind kind, struct text name,
                                 const unsigned char *digest)
{
    for (size_t i = 0; i < held->count; i++) {
        struct held_version *version = &held->versions[i];
        if (is_named(version, kind, name) &&
            memcmp(version->digest, digest != NULL ? digest : GONE, SCRIPT_DIGEST) == 0) {
            return version;
        }
    }
    return NULL;
}

/// Of one script only the last few.
static void forget_oldest(struct held *held, enum script_kind kind, struct text name)
{
    size_t count = 0, oldest = held->count;

    for (size_t i = held->count; i > 0; i--) {
        if (is_named(&held->versions[i - 1], kind, name)) {
            oldest = i - 1;
            count++;
        }
    }
    if (count == HELD_DEEP) {
        drop(held, oldest);
    }
}

/// A place for one more with this name; NULL without memory.
static struct held_version *append(struct held *held, enum script_kind kind, struct text name)
{
    if (held->count == held->room) {
        size_t room = held->room == 0 ? 8 : 2 * held->room;
        struct held_version *grown = realloc(held->versions, room * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        held->versions = grown;
        held->room = room;
    }
    char *kept = strndup(name.data, name.length);
    if (kept == NULL) {
        return NULL;
    }
    struct held_version *version = &held->versions[held->count++];
    *version = (struct held_version){ .kind = kind, .name = kept };
    return version;
}

enum status held_add(struct held *held, enum script_kind kind, struct text name, const unsigned char *digest,
                     const struct failure *because)
{
    struct held_version *version = find(held, kind, name, digest);

    if (version == NULL) {
        forget_oldest(held, kind, name);
        version = append(held, kind, name);
    }
    if (version == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(version->digest, digest != NULL ? digest : GONE, SCRIPT_DIGEST);
    version->because = *because;
    return STATUS_OK;
}

enum status held_by_source(struct held *held, enum script_kind kind, struct text name, const unsigned char *digest,
                           const char *path)
{
    struct held_version *version = find(held, kind, name, digest);
    char *kept = version == NULL ? NULL : strdup(path);

    if (kept == NULL) {
        return version == NULL ? STATUS_NOT_FOUND : STATUS_NO_MEMORY;
    }
    free(version->path);
    version->path = kept;
    version->source = file_digest(path);
    return STATUS_OK;
}

static bool has_same_source(const struct held_version *version)
{
    return version->path != NULL && file_digest(version->path) == version->source;
}

void held_add_settings(struct held *held, uint64_t hash, const struct failure *because)
{
    forget_settings(held);
    held->settings_hash = hash;
    held->settings_because = *because;
}

void held_add_settings_values(struct held *held, struct settings *settings, const struct failure *because)
{
    held_add_settings(held, settings->files_hash, because);
    held->settings = settings_acquire(settings);
}

void held_meet_settings(struct held *held, const struct settings *read)
{
    if (held->settings_hash != 0 && held->settings != NULL && settings_is_same(held->settings, read)) {
        held->settings_hash = read->files_hash;
    }
}

bool held_refuses(void *held, enum script_kind kind, struct text name, const unsigned char *digest,
                  struct failure *because)
{
    const struct held_version *version = find(held, kind, name, digest);

    for (size_t i = 0; version == NULL && digest != NULL && i < ((const struct held *)held)->count; i++) {
        const struct held_version *other = &((const struct held *)held)->versions[i];
        version = is_named(other, kind, name) && has_same_source(other) ? other : NULL;
    }
    if (version == NULL) {
        return false;
    }
    *because = version->because;
    return true;
}

bool held_refuses_settings(const struct held *held, uint64_t hash, struct failure *because)
{
    if (held->settings_hash == 0 || held->settings_hash != hash) {
        return false;
    }
    *because = held->settings_because;
    return true;
}

bool held_retry(struct held *held, struct text name)
{
    bool was_held = false;

    for (size_t i = held->count; i > 0; i--) {
        if (text_equals_c(name, held->versions[i - 1].name)) {
            drop(held, i - 1);
            was_held = true;
        }
    }
    if (held->settings_hash != 0 && text_equals_c(name, "settings")) {
        forget_settings(held);
        was_held = true;
    }
    return was_held;
}

const char *held_nearest(const struct held *held, struct text name)
{
    const char *names[HELD_NAMES_MAX];
    size_t count = 0;

    for (; count < held->count && count + 1 < HELD_NAMES_MAX; count++) {
        names[count] = held->versions[count].name;
    }
    if (held->settings_hash != 0) {
        names[count++] = "settings";
    }
    return text_nearest(name, names, count);
}

/// The digest of what runs of a script; NULL: nothing does.
static const unsigned char *running_digest(const struct script_set *now, enum script_kind kind, struct text name)
{
    ptrdiff_t index = kind == SCRIPT_KIND_PRODUCT    ? script_set_find_product(now, name)
                      : kind == SCRIPT_KIND_SUPPLIER ? script_set_find_supplier(now, name)
                                                     : -1;

    if (index < 0) {
        return NULL;
    }
    return kind == SCRIPT_KIND_PRODUCT ? script_set_product_digest(now, (size_t)index)
                                       : script_set_supplier_digest(now, (size_t)index);
}

/// Is the version what lies on the disk still? Of a script whose file is gone it is the last one that lay there.
static bool is_met(const struct held_version *version, const struct script_changes *changes,
                   const struct script_set *now)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct script_change *change = &changes->items[i];
        if (change->kind == SCRIPT_KIND_SCRIPTS && change->fate == SCRIPT_KEPT) {
            return true; // not everything could be read
        }
        if (change->kind == version->kind && text_equals_c(change->name, version->name) &&
            (change->fate == SCRIPT_KEPT || change->fate == SCRIPT_LEFT_OUT)) {
            return memcmp(change->on_disk_digest, version->digest, SCRIPT_DIGEST) == 0 || has_same_source(version);
        }
    }
    bool is_script = version->kind == SCRIPT_KIND_PRODUCT || version->kind == SCRIPT_KIND_SUPPLIER;
    return is_script && running_digest(now, version->kind, text_of(version->name)) == NULL;
}

void held_forget_running(struct held *held, const struct script_set *now, uint64_t settings_hash)
{
    for (size_t i = held->count; i > 0; i--) {
        const struct held_version *version = &held->versions[i - 1];
        const unsigned char *digest = running_digest(now, version->kind, text_of(version->name));
        if (digest != NULL && memcmp(digest, version->digest, SCRIPT_DIGEST) == 0) {
            drop(held, i - 1);
        }
    }
    if (held->settings_hash == settings_hash) {
        forget_settings(held);
    }
}

void held_forget_changed(struct held *held, const struct script_changes *changes, const struct script_set *now,
                         uint64_t settings_hash)
{
    for (size_t i = held->count; i > 0; i--) {
        if (!is_met(&held->versions[i - 1], changes, now)) {
            drop(held, i - 1);
        }
    }
    if (held->settings_hash != settings_hash) {
        forget_settings(held);
    }
}
