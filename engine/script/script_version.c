#include "script/script_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_MEMORY = 4 << 20 }; // for the file's texts

static atomic_size_t live;

struct text script_label(struct text name, const unsigned char digest[SCRIPT_DIGEST], char label[SCRIPT_LABEL_SIZE])
{
    snprintf(label, SCRIPT_LABEL_SIZE, "%.*s@%02x%02x", TEXT_ARGS(name), digest[0], digest[1]);
    return text_of(label);
}

static struct script_version *version_create(enum script_kind kind, const struct script_file *file,
                                             struct script_shelf *shelf, struct script_life *life)
{
    struct script_version *version = calloc(1, sizeof *version);
    char label[SCRIPT_LABEL_SIZE];

    if (version == NULL) {
        script_life_drop(&life);
        return NULL;
    }
    atomic_fetch_add(&live, 1);
    atomic_init(&version->holds, 1);
    arena_init(&version->arena, VERSION_MEMORY);
    arena_init(&version->memory, 0);
    version->kind = kind;
    version->life = life;
    version->file = (struct script_file){ .name = arena_copy(&version->arena, file->name),
                                          .path = arena_copy(&version->arena, file->path),
                                          .source = arena_copy(&version->arena, file->source),
                                          .shelf = script_shelf_hold(shelf) };
    script_shelf_digest(shelf, file->source, version->digest);
    version->label = arena_copy(&version->arena, script_label(file->name, version->digest, label));
    version->declared =
        (struct script_supplier){ .name = version->file.name, .file = version->file.path, .label = version->label };
    if (life == NULL || version->file.name.data == NULL || version->file.path.data == NULL ||
        version->file.source.data == NULL || version->label.data == NULL) {
        script_version_drop(&version);
    }
    return version;
}

struct script_version *script_version_create(enum script_kind kind, const struct script_file *file,
                                             struct script_shelf *shelf)
{
    return version_create(kind, file, shelf, script_life_create());
}

struct script_version *script_version_again(const struct script_version *version)
{
    return version_create(version->kind, &version->file, version->file.shelf, script_life_hold(version->life));
}

struct script_version *script_version_apart(struct script_version *version)
{
    struct script_version *apart = calloc(1, sizeof *apart);

    if (apart == NULL) {
        return NULL;
    }
    atomic_fetch_add(&live, 1);
    atomic_init(&apart->holds, 1);
    apart->kind = version->kind;
    apart->file = version->file;
    apart->file.shelf = script_shelf_hold(version->file.shelf);
    memcpy(apart->digest, version->digest, sizeof apart->digest);
    apart->label = version->label;
    apart->declared = version->declared;
    apart->look_ups = version->look_ups;
    apart->look_up_count = version->look_up_count;
    apart->segments = version->segments;
    apart->segment_count = version->segment_count;
    apart->life = script_life_create();
    arena_init(&apart->arena, 0);
    arena_init(&apart->memory, 0);
    apart->origin = script_version_hold(version);
    if (apart->life == NULL) {
        script_version_drop(&apart);
    }
    return apart;
}

struct script_version *script_version_hold(struct script_version *version)
{
    atomic_fetch_add(&version->holds, 1);
    return version;
}

void script_version_drop(struct script_version **version)
{
    struct script_version *dropped = *version;

    *version = NULL;
    if (dropped == NULL || atomic_fetch_sub(&dropped->holds, 1) != 1) {
        return;
    }
    script_version_drop(&dropped->origin);
    script_life_drop(&dropped->life);
    script_shelf_drop(&dropped->file.shelf);
    arena_fini(&dropped->memory);
    arena_fini(&dropped->arena);
    free(dropped);
    atomic_fetch_sub(&live, 1);
}

bool script_version_equals(const struct script_version *one, const struct script_version *other)
{
    return one->kind == other->kind && text_equals(one->file.name, other->file.name) &&
           text_equals(one->file.path, other->file.path) && memcmp(one->digest, other->digest, sizeof one->digest) == 0;
}

size_t script_version_count_live(void)
{
    return atomic_load(&live);
}
