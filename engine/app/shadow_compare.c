#include "app/shadow_compare.h"

#include "base/json_tree.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARE_POINTER_MAX = 4096, COMPARE_ARENA = 64 << 20 };

enum status shadow_side_take(struct shadow_side *side, const struct normalise_call *normalise)
{
    *side = (struct shadow_side){ .verdict = normalise->verdict,
                                  .merge = normalise->merge,
                                  .is_incomplete = normalise->is_incomplete,
                                  .after_us = normalise->next.after_us };
    (void)snprintf(side->message, sizeof(side->message), "%s", normalise->message);
    (void)snprintf(side->code, sizeof(side->code), "%s", normalise->code);
    if (normalise->next.request != NULL) {
        side->next = http_request_create(normalise->next.request);
        if (side->next == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    side->offers = offer_batch_acquire(normalise->offers);
    return STATUS_OK;
}

void shadow_side_fini(struct shadow_side *side)
{
    http_request_destroy(&side->next);
    offer_batch_release(&side->offers);
}

struct comparison {
    shadow_on_difference report;
    void *context;
    size_t differences;
    struct text offer;
    struct buffer pointer;
    struct arena arena; // of the two offers in hand
};

static void tell(struct comparison *comparison, struct text live, struct text shadow)
{
    const struct shadow_difference difference = {
        .offer = comparison->offer,
        .pointer = comparison->pointer.length > 0 ? buffer_text(&comparison->pointer) : TEXT(""),
        .live = live,
        .shadow = shadow,
    };
    comparison->differences++;
    comparison->report(comparison->context, &difference);
}

// ------------------------------------------------------------------------------------------------ the answer as a
// whole

static void compare_field(struct comparison *comparison, const char *name, struct text live, struct text shadow)
{
    bool is_same = live.data == NULL || shadow.data == NULL ? live.data == shadow.data : text_equals(live, shadow);

    if (!is_same) {
        buffer_clear(&comparison->pointer);
        json_pointer_append(&comparison->pointer, text_of(name));
        tell(comparison, live, shadow);
    }
}

/// A refusal to have found anything is the script's own word; an error is told by its words, too.
static void compare_outcome(struct comparison *comparison, const struct shadow_side *live,
                            const struct shadow_side *shadow)
{
    static const char *const merges[] = { [MERGE_ADD] = "add", [MERGE_REPLACE] = "replace", [MERGE_KEEP] = "keep" };

    compare_field(comparison, "outcome", text_of(script_verdict_name(live->verdict)),
                  text_of(script_verdict_name(shadow->verdict)));
    compare_field(comparison, "message", text_of(live->message), text_of(shadow->message));
    compare_field(comparison, "code", text_of(live->code), text_of(shadow->code));
    compare_field(comparison, "merge", text_of(merges[live->merge]), text_of(merges[shadow->merge]));
    compare_field(comparison, "complete", live->is_incomplete ? TEXT("false") : TEXT("true"),
                  shadow->is_incomplete ? TEXT("false") : TEXT("true"));
}

static void compare_next(struct comparison *comparison, const struct shadow_side *live,
                         const struct shadow_side *shadow)
{
    const struct http_request *none = &(const struct http_request){ 0 };
    const struct http_request *one = live->next != NULL ? live->next : none;
    const struct http_request *other = shadow->next != NULL ? shadow->next : none;
    char pauses[2][32];

    compare_field(comparison, "next_method", one->method, other->method);
    compare_field(comparison, "next_url", one->url, other->url);
    (void)snprintf(pauses[0], sizeof(pauses[0]), "%llu", (unsigned long long)(live->after_us / 1000));
    (void)snprintf(pauses[1], sizeof(pauses[1]), "%llu", (unsigned long long)(shadow->after_us / 1000));
    compare_field(comparison, "next_after_ms", live->next != NULL ? text_of(pauses[0]) : (struct text){ 0 },
                  shadow->next != NULL ? text_of(pauses[1]) : (struct text){ 0 });
}

// -------------------------------------------------------------------------------------------------------------- offers

/// What a value is told as: a text without its quotes, unless that would hide what differs.
static struct text words_of(const struct json_node *node, const struct json_node *other)
{
    if (node == NULL) {
        return (struct text){ 0 };
    }
    bool is_plain = node->kind == JSON_STRING && (other == NULL || other->kind == JSON_STRING);
    return is_plain ? node->text : node->source;
}

static void compare_nodes(struct comparison *comparison, const struct json_node *live, const struct json_node *shadow);

static void compare_member(struct comparison *comparison, struct text key, const struct json_node *live,
                           const struct json_node *shadow)
{
    size_t length = comparison->pointer.length;

    json_pointer_append(&comparison->pointer, key);
    compare_nodes(comparison, live, shadow);
    comparison->pointer.length = length;
}

static void compare_objects(struct comparison *comparison, const struct json_node *live, const struct json_node *shadow)
{
    for (const struct json_node *member = live->first; member != NULL; member = member->next) {
        compare_member(comparison, member->key, member, json_tree_member_text(shadow, member->key));
    }
    for (const struct json_node *member = shadow->first; member != NULL; member = member->next) {
        if (json_tree_member_text(live, member->key) == NULL) {
            compare_member(comparison, member->key, NULL, member);
        }
    }
}

static void compare_lists(struct comparison *comparison, const struct json_node *live, const struct json_node *shadow)
{
    const struct json_node *left = live->first, *right = shadow->first;
    char index[24];

    for (size_t i = 0; left != NULL || right != NULL; i++) {
        (void)snprintf(index, sizeof(index), "%zu", i);
        compare_member(comparison, text_of(index), left, right);
        left = left != NULL ? left->next : NULL;
        right = right != NULL ? right->next : NULL;
    }
}

/// As deep as an offer is, which its reader bounds.
static void compare_nodes(struct comparison *comparison, const struct json_node *live, const struct json_node *shadow)
{
    bool is_pair = live != NULL && shadow != NULL && live->kind == shadow->kind;

    if (is_pair && live->kind == JSON_BEGIN_OBJECT) {
        compare_objects(comparison, live, shadow);
    } else if (is_pair && live->kind == JSON_BEGIN_ARRAY) {
        compare_lists(comparison, live, shadow);
    } else if (!is_pair || !json_tree_equals(live, shadow)) {
        if (!text_equals_c(buffer_text(&comparison->pointer), "/observed_at")) {
            tell(comparison, words_of(live, shadow), words_of(shadow, live));
        }
    }
}

static struct json_node *read_offer(struct comparison *comparison, struct text json)
{
    struct json_node *root = NULL;
    const char *sentence;
    size_t offset;

    if (json.length == 0 || json_tree_read(&comparison->arena, json, &root, &offset, &sentence) != STATUS_OK) {
        return NULL;
    }
    return root;
}

static bool is_same_text(struct text a, struct text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static void compare_document(struct comparison *comparison, const char *prefix, struct text live, struct text shadow)
{
    if (is_same_text(live, shadow)) {
        return;
    }
    arena_fini(&comparison->arena);
    arena_init(&comparison->arena, COMPARE_ARENA);
    buffer_clear(&comparison->pointer);
    buffer_append_c(&comparison->pointer, prefix);
    compare_nodes(comparison, read_offer(comparison, live), read_offer(comparison, shadow));
    buffer_clear(&comparison->pointer);
}

static void compare_offer(struct comparison *comparison, const struct offer *live, const struct offer *shadow)
{
    buffer_clear(&comparison->pointer);
    if (live == NULL) {
        tell(comparison, (struct text){ 0 }, shadow->json);
    } else if (shadow == NULL) {
        tell(comparison, live->json, (struct text){ 0 });
    } else {
        compare_document(comparison, "", live->json, shadow->json);
        compare_document(comparison, "/item", live->item_json, shadow->item_json);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const struct offer *const *one = a, *const *other = b;
    return text_compare((*one)->id, (*other)->id);
}

/// The offers of a batch by their ids; NULL without memory.
static const struct offer **sort_by_id(const struct offer_batch *batch)
{
    size_t count = batch == NULL ? 0 : batch->count;
    const struct offer **sorted = calloc(count + 1, sizeof(void *));

    for (size_t i = 0; sorted != NULL && i < count; i++) {
        sorted[i] = &batch->offers[i];
    }
    if (sorted != NULL && count > 1) {
        qsort(sorted, count, sizeof(void *), compare_ids);
    }
    return sorted;
}

static void compare_sorted(struct comparison *comparison, const struct offer **live, const struct offer **shadow)
{
    while (*live != NULL || *shadow != NULL) {
        int order = *live == NULL ? 1 : *shadow == NULL ? -1 : text_compare((*live)->id, (*shadow)->id);
        comparison->offer = order <= 0 ? (*live)->id : (*shadow)->id;
        compare_offer(comparison, order <= 0 ? *live : NULL, order >= 0 ? *shadow : NULL);
        live += order <= 0;
        shadow += order >= 0;
    }
}

enum status shadow_compare(const struct shadow_side *live, const struct shadow_side *shadow,
                           shadow_on_difference report, void *context, size_t *differences)
{
    struct comparison comparison = { .report = report, .context = context };
    const struct offer **one = sort_by_id(live->offers);
    const struct offer **other = sort_by_id(shadow->offers);
    bool has_memory = one != NULL && other != NULL;

    if (has_memory) {
        buffer_init(&comparison.pointer, COMPARE_POINTER_MAX);
        arena_init(&comparison.arena, COMPARE_ARENA);
        compare_outcome(&comparison, live, shadow);
        compare_next(&comparison, live, shadow);
        compare_sorted(&comparison, one, other);
        arena_fini(&comparison.arena);
        buffer_fini(&comparison.pointer);
    }
    free(one);
    free(other);
    *differences = comparison.differences;
    return has_memory ? STATUS_OK : STATUS_NO_MEMORY;
}
