#include "app/settings_apply.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char PREFIX[] = "LASTCALL__";

static int compare_variables(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Takes "SECTION" from "SECTION__KEY"; the rest is absent at the end.
static struct text split_part(struct text *rest)
{
    struct text part = *rest;
    const char *cut = part.length == 0 ? NULL : memmem(part.data, part.length, "__", 2);
    if (cut == NULL) {
        *rest = (struct text){ 0 };
        return part;
    }
    part.length = (size_t)(cut - part.data);
    *rest = (struct text){ cut + 2, rest->length - part.length - 2 };
    return part;
}

// Keys are lower case, except that of a secret, which the script chose. Capitals only: anything else stays as it is
// and is then unknown.
static struct text key_of(struct arena *arena, struct text part, bool is_secret)
{
    bool has_small = false;
    for (size_t i = 0; i < part.length; i++) {
        has_small = has_small || (part.data[i] >= 'a' && part.data[i] <= 'z');
    }
    struct text key = arena_copy(arena, part);
    char *bytes = (char *)key.data;
    for (size_t i = 0; i < key.length && bytes != NULL && !is_secret; i++) {
        if (bytes[i] >= 'A' && bytes[i] <= 'Z') {
            bytes[i] = (char)(bytes[i] - 'A' + 'a');
        } else if (has_small && bytes[i] >= 'a' && bytes[i] <= 'z') {
            bytes[i] = (char)(bytes[i] - 'a' + 'A');
        }
    }
    return key;
}

// Each variable is a document of its own: maps with one entry, the value at the bottom. NULL without memory.
static struct settings_node *tree_of(struct arena *arena, const char *name, struct text path, struct text value)
{
    struct settings_node *root = settings_node_create(arena, SETTINGS_MAP, name, 0, 0);
    struct settings_node *above = root;
    bool is_secret = false;
    for (size_t depth = 1; above != NULL && path.data != NULL && depth < SETTINGS_DEPTH_MAX; depth++) {
        // What the script named may hold "__" itself: it is the sixth part, and the last.
        struct text part = depth == 6 ? path : split_part(&path);
        if (depth == 6) {
            path = (struct text){ 0 };
        }
        struct settings_node *node =
            settings_node_create(arena, path.data == NULL ? SETTINGS_SCALAR : SETTINGS_MAP, name, 0, 0);
        if (node == NULL || (node->key = key_of(arena, part, is_secret)).data == NULL) {
            return NULL;
        }
        node->is_environment = true;
        node->value = path.data == NULL ? value : (struct text){ 0 };
        is_secret = depth == 5 && text_equals_c(node->key, "secrets");
        settings_node_append(above, node);
        above = node;
    }
    return above == NULL ? NULL : root;
}

static void apply_variable(struct settings_reader *reader, struct arena *scratch, const char *variable)
{
    const char *equals = strchr(variable, '=');
    struct text all = { variable, (size_t)(equals - variable) };
    // The name stands in findings and in the settings, so it is kept with them.
    struct text name = arena_copy(&reader->settings->arena, all);
    struct text path = { name.data + sizeof(PREFIX) - 1, name.length - (sizeof(PREFIX) - 1) };
    struct settings_node *root = name.data == NULL ? NULL : tree_of(scratch, name.data, path, text_of(equals + 1));
    if (root == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    settings_apply(reader, root);
}

void settings_apply_environment(struct settings_reader *reader, struct arena *scratch)
{
    size_t count = 0;
    size_t filled = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        count += strncmp(*variable, PREFIX, sizeof(PREFIX) - 1) == 0 ? 1 : 0;
    }
    if (count == 0) {
        return;
    }
    const char **variables = arena_alloc_array(scratch, count, sizeof(*variables));
    if (variables == NULL) {
        reader->is_out_of_memory = true;
        return;
    }
    for (char **variable = environ; *variable != NULL && filled < count; variable++) {
        if (strncmp(*variable, PREFIX, sizeof(PREFIX) - 1) == 0 && strchr(*variable, '=') != NULL) {
            variables[filled++] = *variable;
        }
    }
    qsort(variables, filled, sizeof(*variables), compare_variables);
    for (size_t i = 0; i < filled && !reader->is_out_of_memory; i++) {
        apply_variable(reader, scratch, variables[i]);
    }
}
