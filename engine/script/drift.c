// A tree of declared paths is the same in each Lua state, so it is known by a fingerprint over its names in their
// order, and its counters are found by the place of a path in it.

#include "script/drift.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS_AGE = 1000, DEPTH_MAX = 60, NAME_MAX_BYTES = 120 };

struct drift_tree {
    uint64_t fingerprint;
    uint32_t count;
    struct drift_path paths[];
};

// ---- trees ---------------------------------------------------------------------------------------------------------

/// Members are paths; elements of lists and maps are on the way only.
struct numbering {
    uint32_t count;
    uint64_t fingerprint;
    struct drift_tree *tree; // NULL: only numbers are given
    bool has_main;           // the tree says itself what leads to its offers
};

static bool is_container(const struct declared *node)
{
    if (node->kind == DECLARED_LIST || node->kind == DECLARED_MAP) {
        return true;
    }
    for (uint32_t i = 0; node->kind == DECLARED_OBJECT && i < node->member_count; i++) {
        if (is_container(node->members[i])) {
            return true;
        }
    }
    return false;
}

static void number_node(struct numbering *numbering, struct declared *node)
{
    bool is_member = node->parent != NULL && node->parent->kind == DECLARED_OBJECT;

    numbering->has_main = numbering->has_main || node->is_main;
    if (is_member && numbering->count < DRIFT_PATHS_MAX) {
        node->number = ++numbering->count;
        numbering->fingerprint =
            (numbering->fingerprint ^ text_hash(node->name) ^ node->kind ^ (node->is_main ? 64 : 0)) * 0x100000001b3U;
        if (numbering->tree != NULL) {
            struct drift_path *path = &numbering->tree->paths[node->number - 1];
            char name[NAME_MAX_BYTES];
            declared_path(node, name, sizeof name);
            path->name = strdup(name);
            path->is_main = numbering->has_main ? node->is_main : is_container(node);
        }
    }
    for (uint32_t i = 0; node->kind == DECLARED_OBJECT && i < node->member_count; i++) {
        number_node(numbering, node->members[i]);
    }
    if (node->element != NULL && node->kind != DECLARED_OBJECT) {
        numbering->fingerprint = (numbering->fingerprint ^ node->kind) * 0x100000001b3U;
        number_node(numbering, node->element);
    }
}

static void tree_free(struct drift_tree *tree)
{
    for (uint32_t i = 0; tree != NULL && i < tree->count; i++) {
        free(tree->paths[i].name);
    }
    free(tree);
}

static struct drift_tree *tree_create(struct declared *root, const struct numbering *known)
{
    struct drift_tree *tree = calloc(1, sizeof *tree + known->count * sizeof tree->paths[0]);

    if (tree == NULL) {
        return NULL;
    }
    struct numbering naming = { .tree = tree, .has_main = known->has_main };
    tree->fingerprint = known->fingerprint;
    tree->count = known->count;
    number_node(&naming, root);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->paths[i].name == NULL) {
            tree_free(tree);
            return NULL;
        }
    }
    return tree;
}

/// NULL: there are too many, or there is no memory.
static struct drift_tree *find_tree(struct drift *drift, struct declared *root)
{
    if (root->fingerprint == 0) {
        struct numbering numbering = { .count = 0 };
        number_node(&numbering, root);
        root->fingerprint = numbering.fingerprint | 1;
    }
    for (size_t i = 0; i < DRIFT_TREES_MAX; i++) {
        struct drift_tree *tree = atomic_load(&drift->trees[i]);
        if (tree == NULL) {
            struct numbering numbering = { .count = 0 };
            number_node(&numbering, root);
            numbering.fingerprint |= 1;
            struct drift_tree *made = tree_create(root, &numbering);
            if (made == NULL || atomic_compare_exchange_strong(&drift->trees[i], &tree, made)) {
                return made;
            }
            tree_free(made); // another thread was first, with this tree or another one
        }
        if (tree->fingerprint == root->fingerprint) {
            return tree;
        }
    }
    return NULL;
}

// ---- one answer ----------------------------------------------------------------------------------------------------

struct look {
    struct drift_looked *looked;
    const struct tape *tape;
    int depth;
};

static void look_at(struct look *look, const struct declared *declared, const struct tape_node *node);

static void look_at_members(struct look *look, const struct declared *object, const struct tape_node *node)
{
    for (uint32_t i = 0; i < object->member_count; i++) {
        const struct declared *member = object->members[i];
        const struct tape_node *value = tape_member(look->tape, node, i);
        bool has = value->kind != TAPE_NONE && value->kind != TAPE_NULL;
        if (member->number != 0) {
            look->looked->could[member->number - 1]++;
            look->looked->had[member->number - 1] += has ? 1 : 0;
        }
        if (has && member->kind != DECLARED_SCALAR) {
            look_at(look, member, value);
        }
    }
}

static void look_at(struct look *look, const struct declared *declared, const struct tape_node *node)
{
    bool is_map = declared->kind == DECLARED_MAP && node->kind == TAPE_MAP;
    bool is_list = declared->kind == DECLARED_LIST && node->kind == TAPE_LIST;
    uint32_t count = 0;

    if (++look->depth <= DEPTH_MAX) {
        if (declared->kind == DECLARED_OBJECT && node->kind == TAPE_OBJECT) {
            look_at_members(look, declared, node);
        }
        uint32_t at = is_map || is_list ? node->first : 0;
        for (; at != 0 && count < DRIFT_ELEMENTS_MAX && declared->element->kind != DECLARED_SCALAR; count++) {
            look_at(look, declared->element, &look->tape->nodes[at + (is_map ? 1 : 0)]);
            at = look->tape->nodes[at].next;
        }
    }
    look->depth--;
}

void drift_look(struct drift_seen *seen, struct declared *root, const struct tape *tape)
{
    struct drift_tree *tree = seen->drift != NULL ? find_tree(seen->drift, root) : NULL;
    uint32_t at = 0;

    while (at < seen->count && seen->looked[at].tree != tree) {
        at++;
    }
    if (tree == NULL || at == DRIFT_LOOKED_MAX) {
        return;
    }
    struct look look = { .looked = &seen->looked[at], .tape = tape };
    seen->count = at == seen->count ? at + 1 : seen->count; // a document read twice counts once
    memset(look.looked, 0, sizeof *look.looked);
    look.looked->tree = tree;
    look_at(&look, root, tape_root(tape));
    for (uint32_t i = 0; i < tree->count; i++) {
        if (look.looked->had[i] > 0 && !atomic_load_explicit(&tree->paths[i].was_there, memory_order_relaxed)) {
            atomic_store_explicit(&tree->paths[i].was_there, true, memory_order_relaxed);
        }
    }
}

// ---- all answers ---------------------------------------------------------------------------------------------------

static uint64_t get(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void add(_Atomic uint64_t *number, uint64_t more)
{
    atomic_fetch_add_explicit(number, more, memory_order_relaxed);
}

/// What is long ago counts less.
static void age(struct drift_path *path)
{
    if (get(&path->answers) >= ANSWERS_AGE) {
        atomic_store(&path->answers, get(&path->answers) / 2);
        atomic_store(&path->could, get(&path->could) / 2);
        atomic_store(&path->had, get(&path->had) / 2);
    }
}

static bool is_expected(const struct drift_path *path)
{
    return get(&path->answers) >= DRIFT_ANSWERS && get(&path->had) * 100 >= get(&path->could) * DRIFT_SHARE;
}

/// Counts one answer that could have the path `could` times and has it `had` times. Is it drifting?
static bool settle(struct drift_path *path, const struct drift_answer *answer, uint32_t could, uint32_t had,
                   uint32_t run_max)
{
    if (had > 0 || (!is_expected(path) && !atomic_load(&path->is_drifting))) {
        add(&path->could, could + atomic_exchange(&path->lacked, 0));
        add(&path->had, had);
        add(&path->answers, 1);
        atomic_store(&path->run, 0);
        age(path);
        if (atomic_exchange(&path->is_drifting, false)) {
            log_line(LOG_INFO, "drift", "%.*s: %s appears again", TEXT_ARGS(answer->supplier), path->name);
        }
        return false;
    }
    uint32_t run = atomic_fetch_add(&path->run, 1) + 1;
    add(&path->lacked, could);
    if (run == 1) {
        atomic_store(&path->since_wall_us, answer->wall_us);
    }
    if (run >= run_max && !atomic_exchange(&path->is_drifting, true)) {
        log_line(LOG_WARNING, "drift", "%.*s: %s has stopped appearing: not in the last %u answers",
                 TEXT_ARGS(answer->supplier), path->name, run);
    }
    return atomic_load(&path->is_drifting);
}

static void note_drifting(struct drift_answer *answer, const struct drift_path *path)
{
    if (answer->count++ == 0 || (path->is_main && !answer->lacks_main)) {
        (void)snprintf(answer->first, sizeof answer->first, "drift: %s has stopped appearing", path->name);
    }
    answer->lacks_main = answer->lacks_main || path->is_main;
}

void drift_settle(const struct drift_seen *seen, struct drift_answer *answer)
{
    struct drift *drift = seen->drift;

    answer->count = 0;
    answer->lacks_main = false;
    answer->first[0] = '\0';
    for (uint32_t at = 0; at < seen->count; at++) {
        const struct drift_looked *looked = &seen->looked[at];
        for (uint32_t i = 0; i < looked->tree->count; i++) {
            struct drift_path *path = &looked->tree->paths[i];
            if (looked->could[i] > 0 && (!answer->is_empty || path->is_main) &&
                settle(path, answer, looked->could[i], looked->had[i], DRIFT_RUN)) {
                note_drifting(answer, path);
            }
        }
    }
    if (drift != NULL && answer->has_outcome &&
        settle(&drift->offers, answer, 1, answer->is_empty ? 0 : 1, DRIFT_EMPTY_RUN)) {
        note_drifting(answer, &drift->offers);
    }
    if (drift != NULL && answer->count > 0) {
        add(&drift->answers, 1);
    }
}

// ---- the whole -----------------------------------------------------------------------------------------------------

void drift_init(struct drift *drift)
{
    static char offers[] = "any offer";
    drift->offers.name = offers;
}

void drift_fini(struct drift *drift)
{
    for (size_t i = 0; i < DRIFT_TREES_MAX; i++) {
        tree_free(atomic_load(&drift->trees[i]));
        atomic_store(&drift->trees[i], NULL);
    }
}

uint64_t drift_answers(const struct drift *drift)
{
    return get(&drift->answers);
}

static void list_path(const struct drift_path *path, drift_on_path on_path, void *context)
{
    if (atomic_load(&path->is_drifting)) {
        on_path(context, path->name, get(&path->since_wall_us));
    }
}

void drift_list(const struct drift *drift, drift_on_path on_path, void *context)
{
    for (size_t i = 0; i < DRIFT_TREES_MAX; i++) {
        const struct drift_tree *tree = atomic_load(&drift->trees[i]);
        for (uint32_t k = 0; tree != NULL && k < tree->count; k++) {
            list_path(&tree->paths[k], on_path, context);
        }
    }
    list_path(&drift->offers, on_path, context);
}

void drift_list_unseen(const struct drift *drift, drift_on_path on_path, void *context)
{
    for (size_t i = 0; i < DRIFT_TREES_MAX; i++) {
        const struct drift_tree *tree = atomic_load(&drift->trees[i]);
        for (uint32_t k = 0; tree != NULL && k < tree->count; k++) {
            const struct drift_path *path = &tree->paths[k];
            if (get(&path->could) > 0 && !atomic_load_explicit(&path->was_there, memory_order_relaxed)) {
                on_path(context, path->name, 0);
            }
        }
    }
}
