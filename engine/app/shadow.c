// A report is found by name and digests under the registry's lock, which is held for a few comparisons; a pair holds
// its report, so one that ended takes what is still on its way and tells it to nobody.

#include "app/shadow.h"

#include "app/shadow_report.h"
#include "base/redact.h"
#include "model/catalogue.h"
#include "model/ground.h"
#include "script/script_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shadows {
    pthread_mutex_t lock;
    struct list reports;  // struct shadow_report; those that hold
    struct list returned; // struct shadow_pair
    void (*wake)(void *context);
    void *wake_context;
};

/// One answer, as both have read it.
struct shadow_pair {
    struct list node;
    struct shadows *shadows;
    struct shadow_desk *desk;
    struct shadow_report *report; // held
    struct normalise_call *call;  // while it waits
    char search_id[SHADOW_SEARCH_ID];
    struct shadow_side live, shadow;
};

enum status shadows_create(struct shadows **shadows)
{
    *shadows = calloc(1, sizeof(**shadows));
    if (*shadows == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_init(&(*shadows)->lock, NULL);
    list_init(&(*shadows)->reports);
    list_init(&(*shadows)->returned);
    return STATUS_OK;
}

void shadows_wake(struct shadows *shadows, void (*wake)(void *context), void *context)
{
    pthread_mutex_lock(&shadows->lock);
    shadows->wake = wake;
    shadows->wake_context = context;
    pthread_mutex_unlock(&shadows->lock);
}

// --------------------------------------------------------------------------------------------------------------- holds

static void report_drop(struct shadows *shadows, struct shadow_report **report)
{
    struct shadow_report *dropped = *report;

    *report = NULL;
    pthread_mutex_lock(&shadows->lock);
    bool is_last = --dropped->holds == 0;
    pthread_mutex_unlock(&shadows->lock);
    if (is_last) {
        shadow_report_destroy(&dropped);
    }
}

/// The report of this very version, held; NULL: there is none.
static struct shadow_report *report_find(struct shadows *shadows, const unsigned char *digest, struct text name)
{
    struct shadow_report *found = NULL;

    pthread_mutex_lock(&shadows->lock);
    LIST_FOR_EACH (node, &shadows->reports) {
        struct shadow_report *report = CONTAINER_OF(node, struct shadow_report, node);
        if (report->state == SHADOW_RUNS && text_equals_c(name, report->name) &&
            memcmp(report->shadow_digest, digest, SCRIPT_DIGEST) == 0) {
            found = report;
            found->holds++;
            break;
        }
    }
    pthread_mutex_unlock(&shadows->lock);
    return found;
}

static void pair_destroy(struct shadow_pair *pair)
{
    if (pair->call != NULL) {
        script_call_destroy(&pair->call->call);
    }
    shadow_side_fini(&pair->live);
    shadow_side_fini(&pair->shadow);
    report_drop(pair->shadows, &pair->report);
    free(pair);
}

static void pair_skip(struct shadow_pair *pair)
{
    struct shadow_desk *desk = pair->desk;

    atomic_fetch_add(&pair->report->skipped, 1);
    pair_destroy(pair);
    atomic_fetch_sub(&desk->under_way, 1);
}

void shadows_destroy(struct shadows **shadows)
{
    struct shadows *gone = *shadows;

    *shadows = NULL;
    if (gone == NULL) {
        return;
    }
    for (struct list *node = list_take_first(&gone->returned); node != NULL; node = list_take_first(&gone->returned)) {
        pair_destroy(CONTAINER_OF(node, struct shadow_pair, node));
    }
    for (struct list *node = list_take_first(&gone->reports); node != NULL; node = list_take_first(&gone->reports)) {
        struct shadow_report *report = CONTAINER_OF(node, struct shadow_report, node);
        report_drop(gone, &report);
    }
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}

// ---------------------------------------------------------------------------------------------------------- on the
// loop

static void on_back(struct script_call *call);

/// The next one that waits goes to the workers, when none is there.
static void desk_ask(struct shadow_desk *desk)
{
    while (!desk->is_asking && !list_is_empty(&desk->waiting)) {
        struct shadow_pair *pair = CONTAINER_OF(list_take_first(&desk->waiting), struct shadow_pair, node);
        pair->call->call.on_done = on_back;
        desk->is_asking = desk->world->ops->script_submit(desk->world, &pair->call->call) == STATUS_OK;
        if (desk->is_asking) {
            pair->call = NULL;
        } else {
            pair_skip(pair);
        }
    }
}

static void on_back(struct script_call *call)
{
    struct shadow_pair *pair = call->owner;
    struct shadow_desk *desk = pair->desk;
    const struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);
    struct shadows *shadows = pair->shadows;
    bool is_kept = normalise->verdict != SCRIPT_DROPPED && shadow_side_take(&pair->shadow, normalise) == STATUS_OK;

    script_call_destroy(call);
    desk->is_asking = false;
    desk_ask(desk);
    if (!is_kept) {
        pair_skip(pair);
        return;
    }
    pthread_mutex_lock(&shadows->lock);
    list_append(&shadows->returned, &pair->node);
    if (shadows->wake != NULL) {
        shadows->wake(shadows->wake_context);
    }
    pthread_mutex_unlock(&shadows->lock);
}

/// The same call once more, with the shadow's account; NULL without memory.
static struct normalise_call *call_again(const struct normalise_call *live, const struct script_account *account)
{
    struct http_response *response = http_response_copy(live->response);
    struct normalise_call *call =
        response == NULL ? NULL : normalise_call_create(live->search_id, live->facts, response);

    if (call == NULL) {
        if (response != NULL) {
            http_response_destroy(&response);
        }
        return NULL;
    }
    call->call.ground = ground_hold(live->call.ground);
    call->call.set = live->call.set;
    call->call.data = live->call.data;
    call->call.rates = live->call.rates;
    call->call.now_us = live->call.now_us != 0 ? live->call.now_us : atomic_load(&live->call.begun_us);
    call->call.seed = live->call.seed;
    call->call.is_last = true;
    call->account = account;
    call->times = live->times;
    call->allocation_end_us = live->allocation_end_us;
    call->took_us = live->took_us;
    call->body_cap = live->body_cap;
    call->part = live->part;
    call->parts = live->parts;
    call->step = live->step;
    call->state = block_acquire(live->state);
    call->login = login_hold(&live->login);
    return call;
}

/// NULL without memory; takes the hold on the report in any case.
static struct shadow_pair *pair_create(struct shadow_desk *desk, struct shadow_report *report,
                                       const struct normalise_call *live)
{
    struct shadow_pair *pair = calloc(1, sizeof(*pair));

    if (pair == NULL) {
        atomic_fetch_add(&report->skipped, 1);
        report_drop(desk->shadows, &report);
        return NULL;
    }
    list_init(&pair->node);
    pair->shadows = desk->shadows;
    pair->desk = desk;
    pair->report = report;
    (void)snprintf(pair->search_id, sizeof(pair->search_id), "%.*s", TEXT_ARGS(live->search_id));
    atomic_fetch_add(&desk->under_way, 1);
    return pair;
}

void shadow_desk_take(struct shadow_desk *desk, const struct script_account *account,
                      const struct normalise_call *normalise)
{
    const struct script_set *set = normalise->call.set;
    struct shadow_report *report = desk->shadows == NULL
                                       ? NULL
                                       : report_find(desk->shadows, script_set_supplier_digest(set, account->supplier),
                                                     script_set_supplier(set, account->supplier)->name);

    if (report == NULL) {
        return;
    }
    if (atomic_load(&desk->under_way) >= SHADOW_MOST || atomic_load(&report->out_of_memory) >= SHADOW_MEMORY_MOST) {
        atomic_fetch_add(&report->skipped, 1);
        report_drop(desk->shadows, &report);
        return;
    }
    struct shadow_pair *pair = pair_create(desk, report, normalise);
    if (pair == NULL) {
        return;
    }
    struct normalise_call *call =
        shadow_side_take(&pair->live, normalise) == STATUS_OK ? call_again(normalise, account) : NULL;
    if (call == NULL) {
        pair_skip(pair);
        return;
    }
    pair->call = call;
    call->call.owner = pair;
    call->call.deadline_us = desk->world->ops->now_us(desk->world) + SHADOW_PATIENCE_US;
    list_append(&desk->waiting, &pair->node);
    desk_ask(desk);
}

void shadow_desk_init(struct shadow_desk *desk, struct world *world)
{
    *desk = (struct shadow_desk){ .world = world };
    list_init(&desk->waiting);
}

void shadow_desk_close(struct shadow_desk *desk)
{
    if (desk->world == NULL) {
        return;
    }
    for (struct list *node = list_take_first(&desk->waiting); node != NULL; node = list_take_first(&desk->waiting)) {
        pair_skip(CONTAINER_OF(node, struct shadow_pair, node));
    }
    desk->shadows = NULL; // what is under way goes by its own
}

// ------------------------------------------------------------------------------------------------------ on the
// builder's

size_t shadows_compare(struct shadows *shadows)
{
    size_t count = 0;

    for (;;) {
        pthread_mutex_lock(&shadows->lock);
        struct list *node = list_take_first(&shadows->returned);
        pthread_mutex_unlock(&shadows->lock);
        if (node == NULL) {
            return count;
        }
        struct shadow_pair *pair = CONTAINER_OF(node, struct shadow_pair, node);
        struct shadow_desk *desk = pair->desk;
        shadow_report_take(pair->report, pair->search_id, &pair->live, &pair->shadow);
        pair_destroy(pair);
        atomic_fetch_sub(&desk->under_way, 1);
        count++;
    }
}

static const struct catalogue_supplier *find_supplier(const struct catalogue *catalogue, struct text name)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (text_equals(catalogue->suppliers[i].name, name)) {
            return &catalogue->suppliers[i];
        }
    }
    return NULL;
}

static void explain(struct shadow_report *report, struct text name, const struct script_changes *changes)
{
    for (size_t i = 0; changes != NULL && i < changes->count; i++) {
        const struct script_change *change = &changes->items[i];
        if (change->kind == SCRIPT_KIND_SUPPLIER && change->fate == SCRIPT_KEPT && text_equals(change->name, name)) {
            char words[1024];
            failure_print(&change->because, words, sizeof(words));
            (void)redact_copy(report->because, sizeof(report->because), text_of(words));
            (void)snprintf(report->shadow, sizeof(report->shadow), "%.*s", TEXT_ARGS(change->on_disk));
            report->state = SHADOW_BROKEN;
        }
    }
}

/// What the report of a supplier is to be now; NULL without memory.
static struct shadow_report *report_make(struct text name, const struct catalogue *now,
                                         const struct script_changes *changes)
{
    const struct catalogue_supplier *supplier = find_supplier(now, name);
    struct shadow_report *report = shadow_report_create(name);

    if (report == NULL || supplier == NULL) {
        return report;
    }
    size_t live = (size_t)script_set_find_supplier(now->set, name);
    (void)snprintf(report->live, sizeof(report->live), "%.*s", TEXT_ARGS(supplier->script));
    memcpy(report->live_digest, script_set_supplier_digest(now->set, live), SCRIPT_DIGEST);
    if (supplier->shadow == NULL) {
        explain(report, name, changes);
        return report;
    }
    size_t shadow = supplier->shadow->supplier;
    (void)snprintf(report->shadow, sizeof(report->shadow), "%.*s",
                   TEXT_ARGS(script_set_supplier(now->set, shadow)->label));
    memcpy(report->shadow_digest, script_set_supplier_digest(now->set, shadow), SCRIPT_DIGEST);
    report->state = SHADOW_RUNS;
    return report;
}

/// Takes the one out that is of the same versions, or, when nothing was read, of the same supplier.
static struct shadow_report *take_same(struct list *reports, const struct shadow_report *made, bool was_read)
{
    LIST_FOR_EACH (node, reports) {
        struct shadow_report *report = CONTAINER_OF(node, struct shadow_report, node);
        bool is_same = report->state == made->state && strcmp(report->because, made->because) == 0 &&
                       memcmp(report->live_digest, made->live_digest, SCRIPT_DIGEST) == 0 &&
                       memcmp(report->shadow_digest, made->shadow_digest, SCRIPT_DIGEST) == 0;
        bool is_broken_still = !was_read && report->state == SHADOW_BROKEN && made->state == SHADOW_WAITS;
        if (strcmp(report->name, made->name) == 0 && (is_same || is_broken_still)) {
            list_remove(node);
            return report;
        }
    }
    return NULL;
}

enum status shadows_follow(struct shadows *shadows, const struct text *names, size_t count, const struct catalogue *now,
                           const struct script_changes *changes)
{
    enum status status = STATUS_OK;
    struct list fresh, ended;

    list_init(&fresh);
    list_init(&ended);
    for (size_t i = 0; i < count; i++) {
        struct shadow_report *report = report_make(names[i], now, changes);
        if (report == NULL) {
            status = STATUS_NO_MEMORY;
        } else {
            list_append(&fresh, &report->node);
        }
    }
    pthread_mutex_lock(&shadows->lock);
    for (struct list *node = list_take_first(&shadows->reports); node != NULL;
         node = list_take_first(&shadows->reports)) {
        list_append(&ended, node);
    }
    for (struct list *node = list_take_first(&fresh); node != NULL; node = list_take_first(&fresh)) {
        struct shadow_report *made = CONTAINER_OF(node, struct shadow_report, node);
        struct shadow_report *same = take_same(&ended, made, changes != NULL);
        list_append(&shadows->reports, same != NULL ? &same->node : &made->node);
        if (same != NULL) {
            shadow_report_destroy(&made);
        }
    }
    pthread_mutex_unlock(&shadows->lock);
    for (struct list *node = list_take_first(&ended); node != NULL; node = list_take_first(&ended)) {
        struct shadow_report *report = CONTAINER_OF(node, struct shadow_report, node);
        report_drop(shadows, &report);
    }
    return status;
}

void shadows_write(struct shadows *shadows, bool has_differences, struct json_writer *json)
{
    struct shadow_report *report = NULL;

    json_begin_array(json);
    for (size_t index = 0;; index++) {
        size_t at = 0;
        pthread_mutex_lock(&shadows->lock);
        LIST_FOR_EACH (node, &shadows->reports) {
            if (at++ == index) {
                report = CONTAINER_OF(node, struct shadow_report, node);
                report->holds++;
                break;
            }
        }
        pthread_mutex_unlock(&shadows->lock);
        if (report == NULL) {
            break;
        }
        shadow_report_write(report, has_differences, json);
        report_drop(shadows, &report);
    }
    json_end_array(json);
}
