#include "app/permits.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct permits_account {
    pthread_mutex_t lock;
    struct quota quota;
    uint64_t refused[QUOTA_CONCURRENT + 1]; // by the answer
};

struct permits {
    size_t count;
    struct permits_account accounts[];
};

static size_t permits_room(const struct catalogue *catalogue)
{
    size_t room = 0;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        size_t count = supplier->account_count == 0 ? 1 : supplier->account_count;
        for (size_t j = 0; j < count; j++) {
            room = supplier->account[j].number >= room ? (size_t)supplier->account[j].number + 1 : room;
        }
    }
    return room;
}

enum status permits_create(const struct catalogue *catalogue, struct permits **permits)
{
    size_t room = permits_room(catalogue);

    *permits = calloc(1, sizeof(**permits) + room * sizeof((*permits)->accounts[0]));
    if (*permits == NULL) {
        return STATUS_NO_MEMORY;
    }
    (*permits)->count = room;
    for (size_t i = 0; i < room; i++) {
        require(pthread_mutex_init(&(*permits)->accounts[i].lock, NULL) == 0);
    }
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        size_t count = supplier->account_count == 0 ? 1 : supplier->account_count;
        for (size_t j = 0; j < count; j++) {
            quota_init(&(*permits)->accounts[supplier->account[j].number].quota, supplier->account[j].limits);
        }
    }
    return STATUS_OK;
}

void permits_destroy(struct permits **permits)
{
    if (*permits == NULL) {
        return;
    }
    for (size_t i = 0; i < (*permits)->count; i++) {
        pthread_mutex_destroy(&(*permits)->accounts[i].lock);
    }
    free(*permits);
    *permits = NULL;
}

static struct permits_account *permits_lock(struct permits *permits, const struct script_account *account)
{
    require(account->number < permits->count);
    struct permits_account *found = &permits->accounts[account->number];
    pthread_mutex_lock(&found->lock);
    return found;
}

enum quota_answer permits_begin(struct permits *permits, const struct script_account *account, uint64_t *wait_us)
{
    uint64_t now_us = clock_now_us();
    struct permits_account *found = permits_lock(permits, account);
    enum quota_answer answer = quota_begin(&found->quota, now_us, wait_us);

    found->refused[answer] += answer != QUOTA_FREE;
    pthread_mutex_unlock(&found->lock);
    return answer;
}

void permits_end(struct permits *permits, const struct script_account *account)
{
    struct permits_account *found = permits_lock(permits, account);

    quota_end(&found->quota);
    pthread_mutex_unlock(&found->lock);
}

void permits_block(struct permits *permits, const struct script_account *account, uint64_t wait_us)
{
    uint64_t now_us = clock_now_us();
    struct permits_account *found = permits_lock(permits, account);

    quota_block(&found->quota, now_us, wait_us);
    pthread_mutex_unlock(&found->lock);
}

void permits_look(struct permits *permits, const struct script_account *account, struct permits_view *view)
{
    uint64_t now_us = clock_now_us();
    struct permits_account *found = permits_lock(permits, account);
    const uint64_t *refused = found->refused;

    *view = (struct permits_view){ .limits = found->quota.limits,
                                   .running = found->quota.running,
                                   .blocked_us = quota_blocked_us(&found->quota, now_us),
                                   .refused_by_rate =
                                       refused[QUOTA_PER_SECOND] + refused[QUOTA_PER_MINUTE] + refused[QUOTA_PER_DAY],
                                   .refused_by_block = refused[QUOTA_BLOCKED],
                                   .refused_by_number = refused[QUOTA_CONCURRENT] };
    for (enum quota_window window = QUOTA_SECOND; window < QUOTA_WINDOWS; window++) {
        view->used[window] = quota_used(&found->quota, window, now_us);
    }
    pthread_mutex_unlock(&found->lock);
}
