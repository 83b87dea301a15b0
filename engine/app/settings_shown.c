#include "app/settings_shown.h"

#include <string.h>

enum { SHOWN_ARENA = 64 << 20 };

static struct settings_shown_node *find_below(struct settings_shown_node *above, struct text key)
{
    for (struct settings_shown_node *node = above->first; node != NULL; node = node->next) {
        if (text_equals(node->key, key)) {
            return node;
        }
    }
    return NULL;
}

/// The node at `path`, made where it is missing; NULL without memory.
static struct settings_shown_node *node_at(struct settings_shown *shown, const struct setting_path *path)
{
    struct settings_shown_node *at = &shown->root;

    for (size_t i = 0; i < path->count; i++) {
        struct settings_shown_node *below = find_below(at, path->parts[i]);
        if (below == NULL) {
            below = arena_alloc(&shown->arena, sizeof(*below));
            struct text key = arena_copy(&shown->arena, path->parts[i]);
            if (below == NULL || key.data == NULL) {
                shown->is_out_of_memory = true;
                return NULL;
            }
            below->key = key;
            *(at->last == NULL ? &at->first : &at->last->next) = below;
            at->last = below;
        }
        at = below;
    }
    return at;
}

static const char *keep_name(struct settings_shown *shown, const char *name)
{
    struct text kept = arena_copy(&shown->arena, text_of(name));
    shown->is_out_of_memory = shown->is_out_of_memory || kept.data == NULL;
    return kept.data;
}

/// With everything below it; the depth is that of a tree, which has a limit. NULL without memory.
static struct settings_node *copy_node(struct settings_shown *shown, const struct settings_node *node)
{
    struct settings_node *copy = arena_alloc(&shown->arena, sizeof(*copy));

    if (copy == NULL) {
        shown->is_out_of_memory = true;
        return NULL;
    }
    *copy = *node;
    copy->first = copy->last = copy->next = NULL;
    copy->value = node->value.length == 0 ? node->value : arena_copy(&shown->arena, node->value);
    copy->key = node->key.length == 0 ? node->key : arena_copy(&shown->arena, node->key);
    for (const struct settings_node *below = node->first; below != NULL; below = below->next) {
        struct settings_node *kept = copy_node(shown, below);
        if (kept == NULL) {
            return NULL;
        }
        settings_node_append(copy, kept);
    }
    return copy;
}

static struct settings_said *say(struct settings_shown *shown, enum settings_source source, const char *file,
                                 uint32_t line, const struct settings_node *value)
{
    struct settings_said *said = arena_alloc(&shown->arena, sizeof(*said));
    struct settings_node *copy = copy_node(shown, value);

    if (said == NULL || copy == NULL) {
        shown->is_out_of_memory = true;
        return NULL;
    }
    *said = (struct settings_said){ source, file == NULL ? NULL : keep_name(shown, file), line, copy, NULL };
    return said;
}

/// "a, b" as a list; a variable writes it so.
static const struct settings_node *as_list(struct settings_shown *shown, const struct settings_node *node)
{
    struct settings_node *list =
        settings_node_create(&shown->arena, SETTINGS_LIST, node->file, node->line, node->column);

    for (struct text rest = text_trim(node->value); list != NULL && rest.length > 0 && rest.data != NULL;) {
        struct settings_node *item = settings_node_create(&shown->arena, SETTINGS_SCALAR, node->file, 0, 0);
        if (item == NULL) {
            list = NULL;
            break;
        }
        item->value = text_trim(text_split(rest, ',', &rest));
        item->is_environment = true;
        settings_node_append(list, item);
    }
    shown->is_out_of_memory = shown->is_out_of_memory || list == NULL;
    return list == NULL ? node : list;
}

static bool is_list(const struct setting *row)
{
    return row != NULL && row->count_offset != 0 && row->kind != SETTING_PAIR && row->kind != SETTING_SECRET;
}

/// The row's default, when it has one; NULL: it has none.
static struct settings_said *built_in(struct settings_shown *shown, const struct setting *row)
{
    struct settings_node node = { .kind = SETTINGS_SCALAR, .is_environment = true };

    if (row == NULL || row->preset == NULL) {
        return NULL;
    }
    node.value = text_of(row->preset);
    return say(shown, SETTINGS_BUILT_IN, NULL, 0, is_list(row) ? as_list(shown, &node) : &node);
}

void settings_shown_init(struct settings_shown *shown)
{
    *shown = (struct settings_shown){ 0 };
    arena_init(&shown->arena, SHOWN_ARENA);
    for (size_t i = 0; i < SETTINGS_COUNT && !shown->is_out_of_memory; i++) {
        struct setting_path path = { .count = 0 };
        if (SETTINGS[i].owner != SETTING_OF_ENGINE || SETTINGS[i].preset == NULL) {
            continue;
        }
        for (struct text rest = text_of(SETTINGS[i].key); rest.data != NULL;) {
            path.parts[path.count++] = text_split(rest, '.', &rest);
        }
        struct settings_shown_node *node = node_at(shown, &path);
        if (node != NULL) {
            node->said = built_in(shown, &SETTINGS[i]);
        }
    }
}

void settings_shown_fini(struct settings_shown *shown)
{
    arena_fini(&shown->arena);
}

void settings_shown_enter(struct settings_shown *shown, const struct setting_path *path)
{
    (void)node_at(shown, path);
}

void settings_shown_add(struct settings_shown *shown, const struct setting_path *path, const struct settings_node *node)
{
    const struct setting *row = NULL;
    struct settings_shown_node *at = node_at(shown, path);

    if (at == NULL) {
        return;
    }
    bool is_row = setting_find(path, &row) == SETTING_ROW;
    bool splits = is_row && is_list(row) && node->kind == SETTINGS_SCALAR && node->is_environment;
    struct settings_said *said = say(shown, node->is_environment ? SETTINGS_ENVIRONMENT : SETTINGS_FILE, node->file,
                                     node->line, splits ? as_list(shown, node) : node);
    if (said != NULL) {
        said->before = at->said != NULL ? at->said : built_in(shown, is_row ? row : NULL);
        at->said = said;
    }
}

void settings_shown_add_script(struct settings_shown *shown, const struct setting_path *path, const char *file,
                               struct text value, bool is_plain)
{
    struct settings_node node = { .kind = SETTINGS_SCALAR, .value = value, .is_plain = is_plain };
    struct settings_shown_node *at = node_at(shown, path);
    struct settings_said *said = at == NULL ? NULL : say(shown, SETTINGS_SCRIPT, file, 0, &node);

    if (said == NULL) {
        return;
    }
    struct settings_said **place = &at->said; // behind all but what is built in
    while (*place != NULL && (*place)->source != SETTINGS_BUILT_IN) {
        place = &(*place)->before;
    }
    said->before = *place;
    *place = said;
}
