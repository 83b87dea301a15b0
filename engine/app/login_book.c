#include "app/login_book.h"

#include "app/login_entry.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static uint64_t route_of(const struct script_account *account)
{
    return account->route == NULL ? 0 : account->route->id;
}

static uint64_t entry_hash(struct text supplier, const struct script_account *account)
{
    return (text_hash(supplier) * 31 + text_hash(account->name)) * 31 + text_hash(account->context);
}

static bool entry_is(const struct login_entry *entry, struct text supplier, const struct script_account *account)
{
    return text_equals(entry->supplier, supplier) && text_equals(entry->account, account->name) &&
           text_equals(entry->context, account->context) && entry->route == route_of(account);
}

static struct login_entry *book_find(struct login_book *book, struct text supplier,
                                     const struct script_account *account)
{
    uint64_t hash = entry_hash(supplier, account);

    LIST_FOR_EACH (node, &book->entries) {
        struct login_entry *entry = CONTAINER_OF(node, struct login_entry, node);
        if (entry->hash == hash && entry_is(entry, supplier, account)) {
            return entry;
        }
    }
    return NULL;
}

static struct text take_room(char **room, struct text from)
{
    struct text copy = { *room, from.length };

    if (from.length > 0) {
        memcpy(*room, from.data, from.length);
    }
    *room += from.length;
    return copy;
}

/// NULL without memory.
static struct login_entry *book_add(struct login_book *book, struct text supplier, const struct script_account *account)
{
    size_t bytes = supplier.length + account->name.length + account->context.length;
    struct login_entry *entry = calloc(1, sizeof(*entry) + bytes + 1);

    if (entry == NULL) {
        return NULL;
    }
    char *room = (char *)(entry + 1);
    entry->book = book;
    entry->supplier = take_room(&room, supplier);
    entry->account = take_room(&room, account->name);
    entry->context = take_room(&room, account->context);
    entry->route = route_of(account);
    entry->hash = entry_hash(supplier, account);
    list_append(&book->entries, &entry->node);
    book->entry_count++;
    return entry;
}

static void book_drop(struct login_book *book, struct login_entry *entry)
{
    list_remove(&entry->node);
    book->entry_count--;
    login_drop(&entry->login);
    explicit_bzero((char *)(uintptr_t)entry->context.data, entry->context.length); // secrets
    free(entry);
}

// --------------------------------------------------------------------------------------------------- move and leave

/// What was counted of an entry that is old counts on with another one of its supplier, if there is any, so that the
/// supplier's sums do not fall. Under both locks.
static void book_bequeath(struct login_book *book, struct login_entry *old)
{
    LIST_FOR_EACH (node, &book->entries) {
        struct login_entry *heir = CONTAINER_OF(node, struct login_entry, node);
        if (heir->newest == NULL || !text_equals(heir->supplier, old->supplier)) {
            continue;
        }
        heir->made += old->made;
        heir->renewed += old->renewed;
        heir->failed += old->failed;
        heir->refused += old->refused;
        heir->adopted += old->adopted;
        old->made = old->renewed = old->failed = old->refused = old->adopted = 0;
        return;
    }
}

/// Frees what neither a generation nor an errand holds.
static void book_collect(struct login_book *book)
{
    LIST_FOR_EACH (node, &book->entries) {
        struct login_entry *entry = CONTAINER_OF(node, struct login_entry, node);
        pthread_mutex_lock(&book->lock);
        bool is_gone = entry->holds == 0;
        if (is_gone) {
            book_bequeath(book, entry);
        }
        pthread_mutex_unlock(&book->lock);
        if (is_gone) {
            require(entry->waiting == 0);
            book_drop(book, entry);
        }
    }
}

static void leave_all(struct login_book *book, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            struct account_kept *kept = supplier->account[j].kept;
            if (supplier->account[j].login == 0 || kept->login == NULL) {
                continue;
            }
            pthread_mutex_lock(&book->lock);
            if (kept->login->newest == &supplier->account[j]) {
                kept->login->newest = NULL;
            }
            kept->login->holds--;
            pthread_mutex_unlock(&book->lock);
            kept->login = NULL;
        }
    }
    book_collect(book);
}

/// False: no memory.
static bool enter_all(struct login_book *book, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            const struct script_account *account = &supplier->account[j];
            if (account->login == 0) {
                continue;
            }
            struct login_entry *entry = book_find(book, supplier->name, account);
            entry = entry != NULL ? entry : book_add(book, supplier->name, account);
            if (entry == NULL) {
                return false;
            }
            require(account->kept->login == NULL);
            account->kept->login = entry;
            account->kept->catalogue = catalogue;
            account->kept->supplier = supplier;
            pthread_mutex_lock(&book->lock);
            entry->holds++;
            pthread_mutex_unlock(&book->lock);
        }
    }
    return true;
}

static void mark_found(struct login_book *book, const struct catalogue *catalogue)
{
    LIST_FOR_EACH (node, &book->entries) {
        CONTAINER_OF(node, struct login_entry, node)->found = NULL;
    }
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            if (supplier->account[j].login > 0) {
                supplier->account[j].kept->login->found = &supplier->account[j];
            }
        }
    }
}

/// The entries of the catalogue are the ones to renew from now on, the others are old. The lock is held for one entry
/// at a time: this thread may be slow, and loops wait for the lock.
static void put_in_force(struct login_book *book, const struct catalogue *catalogue)
{
    bool is_any_old = false;

    mark_found(book, catalogue);
    for (int round = 0; round < 2; round++) { // heirs first
        LIST_FOR_EACH (node, &book->entries) {
            struct login_entry *entry = CONTAINER_OF(node, struct login_entry, node);
            bool is_old = entry->found == NULL;
            if (is_old != (round == 1)) {
                continue;
            }
            pthread_mutex_lock(&book->lock);
            entry->newest = entry->found;
            if (is_old) {
                book_bequeath(book, entry);
            }
            pthread_mutex_unlock(&book->lock);
            is_any_old = is_any_old || is_old;
        }
    }
    if (is_any_old) {
        pthread_mutex_lock(&book->lock);
        login_book_wake_all(book);
        pthread_mutex_unlock(&book->lock);
    }
}

enum status login_book_move(struct login_book *book, const struct catalogue *now)
{
    pthread_mutex_lock(&book->moving);
    bool is_in = enter_all(book, now);
    if (is_in) {
        put_in_force(book, now);
        book_collect(book);
    } else {
        leave_all(book, now);
    }
    pthread_mutex_unlock(&book->moving);
    return is_in ? STATUS_OK : STATUS_NO_MEMORY;
}

void login_book_leave(struct login_book *book, const struct catalogue *gone)
{
    pthread_mutex_lock(&book->moving);
    leave_all(book, gone);
    pthread_mutex_unlock(&book->moving);
}

size_t login_book_count(struct login_book *book)
{
    pthread_mutex_lock(&book->moving);
    book_collect(book);
    size_t count = book->entry_count;
    pthread_mutex_unlock(&book->moving);
    return count;
}

// -------------------------------------------------------------------------------------------------- birth and death

enum status login_book_create(const struct catalogue *catalogue, struct login_book **book)
{
    struct login_book *made = calloc(1, sizeof(*made));

    *book = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_init(&made->moving, NULL);
    pthread_mutex_init(&made->lock, NULL);
    list_init(&made->entries);
    list_init(&made->desks);
    enum status status = catalogue == NULL ? STATUS_OK : login_book_move(made, catalogue);
    if (status != STATUS_OK) {
        login_book_destroy(&made);
        return status;
    }
    *book = made;
    return STATUS_OK;
}

void login_book_share(struct login_book *book, const struct token_ring *ring)
{
    book->ring = ring;
}

void login_book_destroy(struct login_book **book)
{
    struct login_book *gone = *book;

    *book = NULL;
    if (gone == NULL) {
        return;
    }
    require(list_is_empty(&gone->desks));
    LIST_FOR_EACH (node, &gone->entries) {
        book_drop(gone, CONTAINER_OF(node, struct login_entry, node));
    }
    pthread_mutex_destroy(&gone->lock);
    pthread_mutex_destroy(&gone->moving);
    free(gone);
}

struct login_counts login_book_counts(struct login_book *book, const struct catalogue_supplier *supplier)
{
    struct login_counts counts = { 0 };
    uint64_t now_us = clock_now_us();

    for (size_t i = 0; i < catalogue_account_count(supplier); i++) {
        if (supplier->account[i].login == 0) {
            continue;
        }
        const struct login_entry *entry = login_entry_of(book, &supplier->account[i]);
        pthread_mutex_lock(&book->lock);
        counts.made += entry->made;
        counts.adopted += entry->adopted;
        counts.renewed += entry->renewed;
        counts.failed += entry->failed;
        counts.refused += entry->refused;
        counts.waiting += entry->waiting;
        counts.held += login_lease_is_good(&entry->lease, now_us) ? 1 : 0;
        pthread_mutex_unlock(&book->lock);
    }
    return counts;
}
