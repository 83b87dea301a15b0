#include "app/try_fit.h"

enum { ARENA_MAX = 64 << 20, DATE_LENGTH = 10 };

/// The slices of an offer: they stand in its item.
static const struct json_node *slices_of(const struct json_node *root, const struct json_node *offer)
{
    const struct json_node *items = json_tree_member(root, "items"), *id = json_tree_member(offer, "item");
    const struct json_node *item = id == NULL ? NULL : json_tree_member_text(items, id->text);

    return json_tree_member(item != NULL ? item : offer, "slices");
}

static bool leaves_on(const struct json_node *slice, struct text date)
{
    const struct json_node *segment = json_tree_element(json_tree_member(slice, "segments"), 0);
    struct text local = json_tree_text(json_tree_member(segment, "departs"), "local");

    return local.length < DATE_LENGTH || date.length != DATE_LENGTH ||
           text_equals((struct text){ local.data, DATE_LENGTH }, date);
}

static bool fits(const struct json_node *slices, const struct json_node *asked)
{
    const struct json_node *slice = slices->first, *wanted = asked->first;

    for (; slice != NULL && wanted != NULL; slice = slice->next, wanted = wanted->next) {
        if (!leaves_on(slice, json_tree_text(wanted, "date"))) {
            return false;
        }
    }
    return true;
}

size_t try_fit_count_other_days(const struct try_run *run)
{
    const struct json_node *offers = json_tree_member(run->root, "offers");
    struct json_node *search = NULL;
    struct arena arena;
    const char *sentence;
    size_t offset, count = 0;

    arena_init(&arena, ARENA_MAX);
    bool is_read = json_tree_read(&arena, run->search, &search, &offset, &sentence) == STATUS_OK;
    const struct json_node *asked = is_read ? json_tree_member(json_tree_member(search, "query"), "slices") : NULL;
    for (const struct json_node *at = offers == NULL || asked == NULL ? NULL : offers->first; at != NULL;
         at = at->next) {
        const struct json_node *slices = slices_of(run->root, at);
        count += slices != NULL && !fits(slices, asked) ? 1 : 0;
    }
    arena_fini(&arena);
    return count;
}
