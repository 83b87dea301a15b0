#include "app/generation_blame.h"

#include "app/settings_apply.h"

#include <stdio.h>
#include <string.h>

enum { ARENA_MAX = 256 * 1024 * 1024 };

void generation_blames_init(struct generation_blames *blames, const struct script_set *running)
{
    *blames = (struct generation_blames){ .running = running };
    arena_init(&blames->arena, ARENA_MAX);
}

void generation_blames_fini(struct generation_blames *blames)
{
    arena_fini(&blames->arena);
}

// ---- the list

static const struct generation_blame *blame_of(const struct generation_blames *blames, enum script_kind kind,
                                               struct text name, const unsigned char *digest)
{
    for (size_t i = 0; i < blames->count; i++) {
        const struct generation_blame *blame = &blames->items[i];
        bool is_it = blame->kind == kind && text_equals(blame->name, name) && blame->is_gone == (digest == NULL);
        if (is_it && (blame->is_gone || memcmp(blame->digest, digest, SCRIPT_DIGEST) == 0)) {
            return blame;
        }
    }
    return NULL;
}

static void add(struct generation_blames *blames, enum script_kind kind, struct text name, const unsigned char *digest,
                const struct failure *failure)
{
    if (blame_of(blames, kind, name, digest) != NULL) {
        return;
    }
    struct generation_blame *grown = settings_grow(&blames->arena, blames->items, blames->count, sizeof(*grown));
    struct text kept = arena_copy(&blames->arena, name);
    if (grown == NULL || kept.data == NULL) {
        blames->is_out_of_memory = true;
        return;
    }
    blames->items = grown;
    struct generation_blame *blame = &grown[blames->count++];
    *blame = (struct generation_blame){ .kind = kind, .name = kept, .is_gone = digest == NULL, .because = *failure };
    if (digest != NULL) {
        memcpy(blame->digest, digest, SCRIPT_DIGEST);
    }
}

bool generation_refuses(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                        struct failure *because)
{
    const struct generation_blames *blames = context;
    const struct generation_blame *blame = blame_of(blames, kind, name, digest);

    if (blame != NULL) {
        *because = blame->because;
        return true;
    }
    return blames->refuses != NULL && blames->refuses(blames->refuses_context, kind, name, digest, because);
}

// A file that plays many suppliers is checked for each of them, and again in each attempt.
bool generation_is_news(struct generation_blames *blames, const struct failure *failure)
{
    char all[sizeof(*failure)];
    snprintf(all, sizeof(all), "%s:%u:%u:%s", failure->file, failure->line, failure->column, failure->message);
    uint64_t hash = text_hash(text_of(all));

    for (size_t i = 0; i < blames->reported_count; i++) {
        if (blames->reported[i] == hash) {
            return false;
        }
    }
    uint64_t *grown = settings_grow(&blames->arena, blames->reported, blames->reported_count, sizeof(hash));
    if (grown != NULL) {
        blames->reported = grown;
        grown[blames->reported_count++] = hash;
    }
    return true;
}

// ---- suspects

void generation_suspect_supplier(struct generation_builder *builder, struct text name)
{
    builder->suspect = (struct generation_suspect){ SUSPECT_SUPPLIER, name };
}

void generation_suspect_shadow(struct generation_builder *builder, struct text name)
{
    builder->suspect = (struct generation_suspect){ SUSPECT_SHADOW, name };
}

void generation_suspect_gone(struct generation_builder *builder, struct text name)
{
    builder->suspect = (struct generation_suspect){ SUSPECT_GONE, name };
}

void generation_suspect_product(struct generation_builder *builder, struct text name)
{
    builder->suspect = (struct generation_suspect){ SUSPECT_PRODUCT, name };
}

void generation_suspect_products(struct generation_builder *builder)
{
    builder->suspect = (struct generation_suspect){ .kind = SUSPECT_PRODUCTS };
}

void generation_suspect_nobody(struct generation_builder *builder)
{
    builder->suspect = (struct generation_suspect){ .kind = SUSPECT_NOBODY };
}

// A rule about what was left out is nobody's who is needed.
bool generation_is_beside(const struct generation_builder *builder)
{
    const struct generation_order *order = builder->order;
    bool is_one = builder->suspect.kind == SUSPECT_SUPPLIER || builder->suspect.kind == SUSPECT_SHADOW ||
                  builder->suspect.kind == SUSPECT_GONE;
    bool is_needed = false;

    if (order == NULL || order->needed == NULL) {
        return false;
    }
    for (size_t i = 0; i < order->needed_count && is_one; i++) {
        is_needed = is_needed || text_equals(order->needed[i], builder->suspect.name);
    }
    return is_one ? !is_needed : builder->suspect.kind == SUSPECT_PRODUCTS && builder->aside_count > 0;
}

static bool blame_supplier(struct generation_builder *builder, struct text name, const struct failure *failure)
{
    const struct script_set *running = builder->blames->running;
    ptrdiff_t now = script_set_find_supplier(builder->set, name);
    ptrdiff_t before = script_set_find_supplier(running, name);

    if (now < 0) {
        return false;
    }
    const unsigned char *digest = script_set_supplier_digest(builder->set, (size_t)now);
    if (before >= 0 && memcmp(script_set_supplier_digest(running, (size_t)before), digest, SCRIPT_DIGEST) == 0) {
        return false;
    }
    add(builder->blames, SCRIPT_KIND_SUPPLIER, name, digest, failure);
    return true;
}

static bool blame_shadow(struct generation_builder *builder, struct text name, const struct failure *failure)
{
    ptrdiff_t shadow = script_set_find_shadow(builder->set, name);

    if (shadow < 0) {
        return false;
    }
    add(builder->blames, SCRIPT_KIND_SUPPLIER, name, script_set_supplier_digest(builder->set, (size_t)shadow), failure);
    return true;
}

static bool blame_product(struct generation_builder *builder, struct text name, const struct failure *failure)
{
    const struct script_set *running = builder->blames->running;
    ptrdiff_t now = script_set_find_product(builder->set, name);
    ptrdiff_t before = script_set_find_product(running, name);

    if (now < 0) {
        return false;
    }
    const unsigned char *digest = script_set_product_digest(builder->set, (size_t)now);
    if (before >= 0 && memcmp(script_set_product_digest(running, (size_t)before), digest, SCRIPT_DIGEST) == 0) {
        return false;
    }
    add(builder->blames, SCRIPT_KIND_PRODUCT, name, digest, failure);
    return true;
}

static bool blame_products(struct generation_builder *builder, const struct failure *failure)
{
    bool is_any = false;

    for (size_t i = 0; i < script_set_product_count(builder->set); i++) {
        is_any = blame_product(builder, script_set_product(builder->set, i), failure) || is_any;
    }
    return is_any;
}

static bool blame_gone(struct generation_builder *builder, struct text name, const struct failure *failure)
{
    if (script_set_find_supplier(builder->blames->running, name) < 0) {
        return false;
    }
    add(builder->blames, SCRIPT_KIND_SUPPLIER, name, NULL, failure);
    return true;
}

// A rollback's versions are wanted as they are.
static bool can_blame(const struct generation_builder *builder)
{
    return builder->blames != NULL && builder->blames->running != NULL && builder->order->fixed == NULL;
}

bool generation_blame(struct generation_builder *builder, const struct failure *failure)
{
    if (!can_blame(builder)) {
        return false;
    }
    switch (builder->suspect.kind) {
    case SUSPECT_GONE:
        return blame_gone(builder, builder->suspect.name, failure);
    case SUSPECT_SHADOW:
        return blame_shadow(builder, builder->suspect.name, failure);
    case SUSPECT_SUPPLIER:
        return blame_supplier(builder, builder->suspect.name, failure);
    case SUSPECT_PRODUCT:
        return blame_product(builder, builder->suspect.name, failure);
    case SUSPECT_PRODUCTS:
        return blame_products(builder, failure);
    case SUSPECT_NOBODY:
        break;
    }
    return false;
}

// ---- changes

bool generation_is_left_out(const struct generation_builder *builder, struct text supplier)
{
    for (size_t i = 0; builder->changes != NULL && i < builder->changes->count; i++) {
        const struct script_change *change = &builder->changes->items[i];
        if (change->kind == SCRIPT_KIND_SUPPLIER && change->fate == SCRIPT_LEFT_OUT &&
            text_equals(change->name, supplier)) {
            return true;
        }
    }
    return false;
}

void generation_tell_change(struct generation_builder *builder, enum script_kind kind, struct text name,
                            struct text file, enum script_fate fate, const struct failure *because)
{
    struct script_change change = { .kind = kind, .name = name, .file = file, .fate = fate };

    if (builder->changes == NULL || builder->previous == NULL) {
        return;
    }
    if (because != NULL) {
        change.because = *because;
    }
    builder->blames->is_out_of_memory =
        !script_changes_add(builder->changes, &change) || builder->blames->is_out_of_memory;
}
