// One generation over another: attempts until nobody is blamed any more, and whether anything came of it.

#include "app/generation_blame.h"
#include "app/settings_compare.h"
#include "model/data_set.h"
#include "script/rates.h"

#include <string.h>

// Each attempt puts at least one more script back, and two are enough as a rule: products, then suppliers.
enum { ATTEMPTS_MAX = 8 };

// ---- is it the same?

static bool is_same_text(struct text a, struct text b)
{
    return a.data == NULL || b.data == NULL ? a.data == b.data : text_equals(a, b);
}

static bool is_same_route(const struct fetch_route *a, const struct fetch_route *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return is_same_text(a->certificate, b->certificate) && is_same_text(a->key, b->key) &&
           is_same_text(a->proxy, b->proxy);
}

// What does not come from settings and scripts: secrets and certificates are files and variables of their own.
static bool is_same_account(const struct script_account *a, const struct script_account *b)
{
    return text_equals(a->name, b->name) && text_equals(a->context, b->context) && is_same_route(a->route, b->route);
}

bool generation_is_same_supplier(const struct catalogue_supplier *a, const struct catalogue_supplier *b)
{
    bool is_same = text_equals(a->name, b->name) && a->is_enabled == b->is_enabled &&
                   is_same_text(a->because, b->because) && a->account_count == b->account_count;
    for (size_t i = 0; i < a->account_count && is_same; i++) {
        is_same = is_same_account(&a->account[i], &b->account[i]);
    }
    return is_same;
}

static bool is_same_generation(const struct generation *built, const struct generation *previous)
{
    const struct catalogue *a = generation_catalogue(built), *b = generation_catalogue(previous);
    bool is_same = a->set == b->set && a->data == b->data && a->rates == b->rates &&
                   a->supplier_count == b->supplier_count &&
                   settings_is_same(generation_settings(built), generation_settings(previous));
    for (size_t i = 0; i < a->supplier_count && is_same; i++) {
        is_same = generation_is_same_supplier(&a->suppliers[i], &b->suppliers[i]);
    }
    return is_same;
}

// ---- attempts

static enum status attempt_all(const struct generation_order *order, struct generation_blames *blames,
                               settings_finding report, void *context, struct generation **generation,
                               struct script_changes *changes)
{
    struct generation_order next = *order;
    struct script_set *candidate = order->candidate == NULL ? NULL : script_set_acquire(order->candidate);
    enum status status = STATUS_INVALID;

    for (size_t i = 0; i < ATTEMPTS_MAX; i++) {
        next.candidate = candidate;
        status = generation_build_once(&next, blames, report, context, changes, generation);
        if (status != STATUS_OK || blames->count == blames->heeded) {
            break;
        }
        // What was checked already need not be checked again.
        struct script_set *checked = script_set_acquire(generation_catalogue(*generation)->set);
        if (candidate != NULL) {
            script_set_release(&candidate);
        }
        candidate = checked;
        generation_release(generation);
        script_changes_fini(changes);
        script_changes_init(changes);
        status = STATUS_INVALID;
    }
    if (candidate != NULL) {
        script_set_release(&candidate);
    }
    return status;
}

enum status generation_build_over(const struct generation_order *order, settings_finding report, void *context,
                                  struct generation **generation, struct script_changes *changes)
{
    const struct generation *previous = order->previous;
    struct generation_blames blames;
    struct script_changes told;
    *generation = NULL;
    if (previous != NULL && settings_find_torn(generation_settings(previous), order->settings, report, context) > 0) {
        return STATUS_INVALID;
    }
    generation_blames_init(&blames, previous == NULL ? NULL : generation_catalogue(previous)->set);
    blames.refuses = order->refuses;
    blames.refuses_context = order->refuses_context;
    script_changes_init(&told);
    enum status status = attempt_all(order, &blames, report, context, generation, &told);
    generation_blames_fini(&blames);
    if (changes != NULL) {
        script_changes_fini(changes);
        *changes = told;
    } else {
        script_changes_fini(&told);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (previous != NULL && is_same_generation(*generation, previous)) {
        generation_release(generation);
        *generation = generation_acquire(order->previous);
    } else {
        generation_take_number(*generation);
    }
    return STATUS_OK;
}

enum status generation_build(struct settings *settings, settings_finding report, void *context,
                             struct generation **generation)
{
    const struct generation_order order = { .settings = settings };
    return generation_build_over(&order, report, context, generation, NULL);
}
