#include "support/virtual_login.h"

#include "support/virtual_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

static struct virtual_login *login_of(const struct virtual_world *virtual, const struct script_account *account)
{
    require(account->login > 0 && account->login <= virtual->supplier_count);
    return &virtual->logins[account->login - 1];
}

static void login_make(struct virtual_login *login, uint64_t sent_us)
{
    const struct virtual_supplier *supplier = login->supplier;
    uint64_t life_us = supplier->login_life_us != 0 ? supplier->login_life_us : UINT64_MAX;

    login_lease_made(&login->lease, sent_us, login->virtual->now_us, life_us, 0);
    block_release(&login->value);
    login->value = block_create(TEXT("\"a login\""));
    require(login->value != NULL);
}

static void login_fail(struct virtual_login *login, bool is_late)
{
    const struct virtual_supplier *supplier = login->supplier;

    login_lease_failed(&login->lease, login->virtual->now_us);
    login->end =
        (struct part_end){ .outcome = is_late ? OUTCOME_FAILED : supplier->login_outcome, .phase = PHASE_LOGIN };
    login->end.rejection = login->end.outcome == OUTCOME_REJECTED ? REJECTION_AUTH : REJECTION_NONE;
    snprintf(login->end.detail, sizeof(login->end.detail), "no login");
    if (login->end.rejection == REJECTION_AUTH) {
        virtual_health_deny_login(login->virtual, supplier);
    }
}

static struct login login_give(const struct virtual_login *login)
{
    return (struct login){ .value = block_acquire(login->value), .number = login->lease.number };
}

/// Tells one who waits; he may make others leave.
static void login_tell(struct virtual_login *login)
{
    struct list *first;

    while ((first = list_take_first(&login->waiting)) != NULL) {
        struct login_wait *wait = CONTAINER_OF(first, struct login_wait, node);
        bool is_good = login_lease_is_good(&login->lease, login->virtual->now_us);
        if (is_good) {
            login->lease.is_used = true;
            wait->login = login_give(login);
        } else {
            wait->end = login->end;
        }
        wait->on_done(wait);
    }
}

static void login_on_due(struct timer *timer)
{
    struct virtual_login *login = CONTAINER_OF(timer, struct virtual_login, timer);
    bool is_late = login->supplier->login_hangs;

    login->virtual->events_running--;
    if (is_late || login->supplier->login_outcome != OUTCOME_ANSWERED) {
        login_fail(login, is_late);
    } else {
        login_make(login, login->began_us);
    }
    login_tell(login);
}

bool virtual_login_is_own(const struct timer *timer)
{
    return timer->on_due == login_on_due;
}

void virtual_logins_init(struct virtual_world *virtual)
{
    virtual->logins = calloc(virtual->supplier_count + 1, sizeof(*virtual->logins));
    require(virtual->logins != NULL);
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        struct virtual_login *login = &virtual->logins[i];
        login->virtual = virtual;
        login->supplier = &virtual->suppliers[i];
        login->timer.on_due = login_on_due;
        list_init(&login->waiting);
        if (login->supplier->has_login) {
            login_make(login, virtual->now_us);
        }
    }
}

void virtual_logins_fini(struct virtual_world *virtual)
{
    for (size_t i = 0; virtual->logins != NULL && i < virtual->supplier_count; i++) {
        block_release(&virtual->logins[i].value);
    }
    free(virtual->logins);
    virtual->logins = NULL;
}

size_t virtual_logins_waiting(const struct virtual_world *virtual)
{
    size_t count = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        LIST_FOR_EACH (node, &virtual->logins[i].waiting) {
            count++;
        }
    }
    return count;
}

size_t virtual_logins_fetched(const struct virtual_world *virtual)
{
    size_t count = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        count += virtual->logins[i].fetched;
    }
    return count;
}

// --------------------------------------------------------------------------------------------------------------- ports

struct login virtual_login_peek(struct world *world, const struct script_account *account)
{
    const struct virtual_world *virtual = virtual_of(world);
    const struct virtual_login *login = login_of(virtual, account);

    return login_lease_is_good(&login->lease, virtual->now_us) ? login_give(login) : (struct login){ 0 };
}

enum login_state virtual_login_take(struct world *world, const struct script_account *account, uint64_t refused,
                                    struct login *login, struct part_end *end)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_login *own = login_of(virtual, account);

    switch (login_lease_ask(&own->lease, virtual->now_us, refused)) {
    case LEASE_HELD:
        *login = login_give(own);
        return LOGIN_HERE;
    case LEASE_PAUSED:
        *end = own->end;
        return LOGIN_FAILED;
    case LEASE_WAIT:
        break;
    }
    return LOGIN_ABSENT;
}

enum status virtual_login_start(struct world *world, struct login_wait *wait)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_login *own = login_of(virtual, wait->account);

    virtual_world_check_begin(virtual, "a login was waited for after the end of the search");
    list_init(&wait->node);
    list_append(&own->waiting, &wait->node);
    if (login_lease_begin(&own->lease, virtual->now_us)) {
        uint64_t takes_us = own->supplier->login_hangs ? VIRTUAL_LOGIN_LIMIT_US : own->supplier->login_after_us;
        own->fetched++;
        own->began_us = virtual->now_us;
        virtual->events_running++;
        require(timer_heap_start(&virtual->timers, &own->timer, virtual->now_us + takes_us) == STATUS_OK);
    }
    return STATUS_OK;
}

void virtual_login_cancel(struct world *world, struct login_wait *wait)
{
    (void)world;
    list_remove(&wait->node);
}

void virtual_login_refuse(struct world *world, const struct script_account *account, uint64_t number,
                          const struct part_end *end)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_login *own = login_of(virtual, account);

    login_lease_refused(&own->lease, virtual->now_us, number);
    own->end = *end;
}
