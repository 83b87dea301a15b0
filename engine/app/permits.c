#include "app/permits_entry.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/exchange.h"

#include <stdlib.h>
#include <string.h>

static uint64_t entry_hash(struct text supplier, struct text account)
{
    return text_hash(supplier) * 31 + text_hash(account);
}

static struct permit_entry *permits_find(struct permits *permits, struct text supplier, struct text account)
{
    uint64_t hash = entry_hash(supplier, account);

    LIST_FOR_EACH (node, &permits->entries) {
        struct permit_entry *entry = CONTAINER_OF(node, struct permit_entry, node);
        if (entry->hash == hash && text_equals(entry->supplier, supplier) && text_equals(entry->account, account)) {
            return entry;
        }
    }
    return NULL;
}

/// One without limits; NULL without memory.
static struct permit_entry *permits_add(struct permits *permits, struct text supplier, struct text account)
{
    struct permit_entry *entry = calloc(1, sizeof(*entry) + supplier.length + account.length + 1);

    if (entry == NULL) {
        return NULL;
    }
    if (supplier.length > 0) {
        memcpy(entry->names, supplier.data, supplier.length);
    }
    if (account.length > 0) {
        memcpy(entry->names + supplier.length, account.data, account.length);
    }
    entry->supplier = (struct text){ entry->names, supplier.length };
    entry->account = (struct text){ entry->names + supplier.length, account.length };
    entry->hash = entry_hash(supplier, account);
    entry->owner = permits;
    require(pthread_mutex_init(&entry->lock, NULL) == 0);
    health_init(&entry->health, (struct breaker_settings){ .is_on = false }, permits->now_us());
    extra_book_init(&entry->extra);
    entry->health.breaker.supplier = text_hash(supplier) | 1;
    entry->dice = entry->hash | 1;
    knowledge_shelf_init(&entry->shelf);
    auth_park_init(&entry->auth);
    entry->worth = 1; // who is new is worth a try
    list_append(&permits->entries, &entry->node);
    permits->count++;
    return entry;
}

static void permits_drop(struct permits *permits, struct permit_entry *entry)
{
    list_remove(&entry->node);
    permits->count--;
    knowledge_shelf_fini(&entry->shelf);
    pthread_mutex_destroy(&entry->lock);
    free(entry);
}

/// What was refused to an account that is in use no more counts on with another one of its supplier, if there is any.
static void permits_bequeath(struct permits *permits, struct permit_entry *gone)
{
    LIST_FOR_EACH (node, &permits->entries) {
        struct permit_entry *heir = CONTAINER_OF(node, struct permit_entry, node);
        if (!heir->is_now || !text_equals(heir->supplier, gone->supplier)) {
            continue;
        }
        pthread_mutex_lock(&gone->lock);
        uint64_t sum = gone->refused_others;
        for (size_t i = 0; i < COUNT_OF(gone->refused); i++) {
            sum += gone->refused[i];
            gone->refused[i] = 0;
        }
        gone->refused_others = 0;
        pthread_mutex_unlock(&gone->lock);
        pthread_mutex_lock(&heir->lock);
        heir->refused_others += sum;
        pthread_mutex_unlock(&heir->lock);
        return;
    }
}

// ---------------------------------------------------------------------------------------------------- move and leave

static void leave_account(struct permits *permits, const struct script_account *account)
{
    struct permit_entry *entry = account->kept->permits;

    if (entry == NULL) {
        return;
    }
    account->kept->permits = NULL;
    if (--entry->generations > 0) {
        return;
    }
    require(entry->quota.running == 0);
    entry->is_now = false;
    permits_bequeath(permits, entry);
    permits_drop(permits, entry);
}

static void leave_all(struct permits *permits, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            leave_account(permits, &supplier->account[j]);
        }
    }
}

/// False: no memory.
static bool enter_all(struct permits *permits, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            const struct script_account *account = &supplier->account[j];
            struct permit_entry *entry = permits_find(permits, supplier->name, account->name);
            entry = entry != NULL ? entry : permits_add(permits, supplier->name, account->name);
            if (entry == NULL) {
                return false;
            }
            require(account->kept->permits == NULL);
            account->kept->permits = entry;
            account->kept->catalogue = catalogue;
            account->kept->supplier = supplier;
            entry->generations++;
        }
    }
    return true;
}

/// Of what a supplier sees of the account. Others than before are not parked.
static void take_credentials(struct permit_entry *entry, const struct script_account *account)
{
    uint64_t route = account->route != NULL ? account->route->id : 0;
    uint64_t credentials = (text_hash(account->context) * 31 + route) | 1;
    bool is_freed = entry->credentials != credentials && auth_park_is_parked(&entry->auth);

    if (entry->credentials != credentials) {
        uint32_t epoch = entry->auth.epoch;
        auth_park_init(&entry->auth);
        entry->auth.epoch = epoch + 1; // what was sent with those of before says nothing of these
    }
    entry->credentials = credentials;
    if (is_freed) {
        log_line(LOG_INFO, "auth", "its options or secrets have changed: it is asked again supplier=%.*s account=%.*s",
                 TEXT_ARGS(entry->supplier), TEXT_ARGS(entry->account));
    }
}

static void put_in_force(struct permits *permits, const struct catalogue *catalogue)
{
    LIST_FOR_EACH (node, &permits->entries) {
        CONTAINER_OF(node, struct permit_entry, node)->is_now = false;
    }
    uint32_t asked = 0;
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        asked += supplier->is_enabled;
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            struct permit_entry *entry = supplier->account[j].kept->permits;
            entry->is_now = true;
            pthread_mutex_lock(&entry->lock);
            quota_set_limits(&entry->quota, supplier->account[j].limits);
            take_credentials(entry, &supplier->account[j]);
            entry->linger_learn = catalogue->linger_learn;
            health_set(&entry->health, catalogue->breaker, permits->now_us());
            pthread_mutex_unlock(&entry->lock);
            knowledge_shelf_set(&entry->shelf, catalogue->patience.held_cost);
        }
    }
    pthread_mutex_lock(&permits->guard_lock);
    permits->guard.suppliers = asked;
    pthread_mutex_unlock(&permits->guard_lock);
    pthread_mutex_lock(&permits->extra_lock);
    extra_engine_set(&permits->extra, catalogue->extra);
    pthread_mutex_unlock(&permits->extra_lock);
    LIST_FOR_EACH (node, &permits->entries) {
        struct permit_entry *entry = CONTAINER_OF(node, struct permit_entry, node);
        if (!entry->is_now) {
            permits_bequeath(permits, entry);
        }
    }
}

enum status permits_move(struct permits *permits, const struct catalogue *now)
{
    pthread_mutex_lock(&permits->lock);
    bool is_in = enter_all(permits, now);
    if (is_in) {
        put_in_force(permits, now);
    } else {
        leave_all(permits, now);
    }
    pthread_mutex_unlock(&permits->lock);
    return is_in ? STATUS_OK : STATUS_NO_MEMORY;
}

void permits_leave(struct permits *permits, const struct catalogue *gone)
{
    pthread_mutex_lock(&permits->lock);
    leave_all(permits, gone);
    pthread_mutex_unlock(&permits->lock);
}

size_t permits_count(struct permits *permits)
{
    pthread_mutex_lock(&permits->lock);
    size_t count = permits->count;
    pthread_mutex_unlock(&permits->lock);
    return count;
}

enum status permits_create(const struct catalogue *catalogue, struct permits **permits)
{
    struct permits *made = calloc(1, sizeof(*made));

    *permits = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    require(pthread_mutex_init(&made->lock, NULL) == 0);
    require(pthread_mutex_init(&made->guard_lock, NULL) == 0);
    require(pthread_mutex_init(&made->extra_lock, NULL) == 0);
    extra_engine_init(&made->extra);
    list_init(&made->entries);
    made->now_us = clock_now_us;
    enum status status = catalogue == NULL ? STATUS_OK : permits_move(made, catalogue);
    if (status != STATUS_OK) {
        permits_destroy(&made);
        return status;
    }
    *permits = made;
    return STATUS_OK;
}

void permits_set_clock(struct permits *permits, uint64_t (*now_us)(void))
{
    permits->now_us = now_us;
}

void permits_listen(struct permits *permits, const struct permits_listener *listener)
{
    permits->listener = listener;
}

void permits_destroy(struct permits **permits)
{
    struct permits *gone = *permits;

    *permits = NULL;
    if (gone == NULL) {
        return;
    }
    LIST_FOR_EACH (node, &gone->entries) {
        permits_drop(gone, CONTAINER_OF(node, struct permit_entry, node));
    }
    pthread_mutex_destroy(&gone->guard_lock);
    pthread_mutex_destroy(&gone->extra_lock);
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}
