#include "script/cpu_share.h"

#include <stdlib.h>
#include <string.h>

enum { US_PER_SECOND = 1000000 };

struct cpu_account {
    struct cpu_window window;
    struct cpu_usage usage;
    char name[];
};

// A slot is of the second that leaves its number as the remainder; those between the newest one and now are stale.
static bool window_is_stale(const struct cpu_window *window, uint64_t second)
{
    return second >= window->newest_s + CPU_SHARE_SECONDS;
}

static void window_move(struct cpu_window *window, uint64_t second)
{
    if (window_is_stale(window, second)) {
        memset(window->used_us, 0, sizeof(window->used_us));
        window->newest_s = second;
    }
    while (window->newest_s < second) {
        window->newest_s++;
        window->used_us[window->newest_s % CPU_SHARE_SECONDS] = 0;
    }
}

void cpu_window_add(struct cpu_window *window, uint64_t now_us, uint64_t cpu_us)
{
    window_move(window, now_us / US_PER_SECOND);
    window->used_us[window->newest_s % CPU_SHARE_SECONDS] += cpu_us;
}

uint64_t cpu_window_sum(const struct cpu_window *window, uint64_t now_us)
{
    struct cpu_window moved = *window;
    uint64_t sum = 0;

    window_move(&moved, now_us / US_PER_SECOND);
    for (size_t i = 0; i < CPU_SHARE_SECONDS; i++) {
        sum += moved.used_us[i];
    }
    return sum;
}

void cpu_share_init(struct cpu_share *share, uint32_t threads)
{
    uint64_t capacity_us = (uint64_t)threads * CPU_SHARE_SECONDS * US_PER_SECOND;

    *share = (struct cpu_share){ .least_us = capacity_us * CPU_SHARE_IDLE_PERCENT / 100, .crowded = CPU_SHARE_NAMES };
    text_map_init(&share->by_name);
}

void cpu_share_fini(struct cpu_share *share)
{
    for (size_t i = 0; i < share->by_name.count; i++) {
        free(share->accounts[i]);
    }
    text_map_fini(&share->by_name);
    free(share->accounts);
    share->accounts = NULL;
}

static struct cpu_account *share_find(const struct cpu_share *share, struct text supplier)
{
    const struct text_map_slot *slot = supplier.data == NULL ? NULL : text_map_find(&share->by_name, supplier);

    return slot == NULL ? NULL : share->accounts[slot->number];
}

static bool share_has_room(struct cpu_share *share)
{
    if (share->by_name.count < share->capacity) {
        return true;
    }
    size_t capacity = share->capacity == 0 ? 64 : share->capacity * 2;
    struct cpu_account **grown = realloc(share->accounts, capacity * sizeof(struct cpu_account *));
    if (grown == NULL) {
        return false;
    }
    share->accounts = grown;
    share->capacity = capacity;
    return true;
}

/// The supplier's account, a new one if need be; NULL: no memory.
static struct cpu_account *share_account(struct cpu_share *share, struct text supplier)
{
    struct cpu_account *account = share_find(share, supplier);
    size_t count = share->by_name.count;

    if (account != NULL || supplier.data == NULL || !share_has_room(share)) {
        return account;
    }
    account = calloc(1, sizeof(*account) + supplier.length + 1);
    if (account == NULL) {
        return NULL;
    }
    memcpy(account->name, supplier.data, supplier.length);
    struct text_map_slot *slot = text_map_insert(&share->by_name, (struct text){ account->name, supplier.length });
    if (slot == NULL) {
        free(account);
        return NULL;
    }
    slot->number = (uint32_t)count;
    share->accounts[count] = account;
    return account;
}

static bool account_is_idle(const struct cpu_account *account, uint64_t now_us)
{
    return cpu_window_sum(&account->window, now_us) == 0;
}

/// Without memory all stay.
static void share_forget_idle(struct cpu_share *share, uint64_t now_us)
{
    struct text_map kept;
    size_t count = 0;

    text_map_init(&kept);
    if (!text_map_reserve(&kept, share->by_name.count)) {
        return;
    }
    for (size_t i = 0; i < share->by_name.count; i++) {
        struct cpu_account *account = share->accounts[i];
        struct text_map_slot *slot =
            account_is_idle(account, now_us) ? NULL : text_map_insert(&kept, text_of(account->name));
        if (slot == NULL) {
            free(account);
        } else {
            slot->number = (uint32_t)count;
            share->accounts[count++] = account;
        }
    }
    text_map_fini(&share->by_name);
    share->by_name = kept;
    share->crowded = count * 2 > CPU_SHARE_NAMES ? count * 2 : CPU_SHARE_NAMES; // all the busy ones, and then some
}

void cpu_share_charge(struct cpu_share *share, struct text supplier, uint64_t cpu_us, uint64_t now_us)
{
    if (share->by_name.count >= share->crowded && share_find(share, supplier) == NULL) {
        share_forget_idle(share, now_us);
    }
    struct cpu_account *account = share_account(share, supplier);

    cpu_window_add(&share->all, now_us, cpu_us);
    if (account != NULL) {
        cpu_window_add(&account->window, now_us, cpu_us);
        account->usage.cpu_us += cpu_us;
    }
}

bool cpu_share_is_over(const struct cpu_share *share, struct text supplier, uint64_t now_us)
{
    const struct cpu_account *account = share_find(share, supplier);

    if (account == NULL) {
        return false;
    }
    uint64_t all_us = cpu_window_sum(&share->all, now_us);
    all_us = all_us < share->least_us ? share->least_us : all_us;
    return cpu_window_sum(&account->window, now_us) * 100 > all_us * CPU_SHARE_PERCENT;
}

void cpu_share_note_put_back(struct cpu_share *share, struct text supplier)
{
    struct cpu_account *account = share_account(share, supplier);

    if (account != NULL) {
        account->usage.put_back++;
    }
}

struct cpu_usage cpu_share_usage(const struct cpu_share *share, struct text supplier)
{
    const struct cpu_account *account = share_find(share, supplier);

    return account == NULL ? (struct cpu_usage){ 0 } : account->usage;
}
