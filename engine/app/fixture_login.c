#include "app/fixture_login.h"

static uint64_t now_us_of(const struct fixture_login *own)
{
    return own->world->ops->now_us(own->world);
}

/// Tells all who wait; each may make others leave.
static void tell_waiting(struct fixture_login *own)
{
    struct list *first;

    while ((first = list_take_first(&own->waiting)) != NULL) {
        struct login_wait *wait = CONTAINER_OF(first, struct login_wait, node);
        wait->login = fixture_login_peek(own);
        wait->end = own->end;
        wait->on_done(wait);
    }
}

static void on_end(struct login_errand *errand, struct block *value, uint64_t life_us, const struct part_end *end)
{
    struct fixture_login *own = errand->owner;
    uint64_t now_us = now_us_of(own);

    if (value == NULL) {
        login_lease_failed(&own->lease, now_us);
        own->end = *end;
    } else {
        login_lease_made(&own->lease, errand->fetch.started_us, now_us, life_us, 0);
        login_drop(&own->login);
        own->login = (struct login){ .value = value, .number = own->lease.number };
    }
    tell_waiting(own);
}

void fixture_login_open(struct fixture_login *own, struct world *world, const struct catalogue *catalogue,
                        uint64_t arrival_wall_us)
{
    *own = (struct fixture_login){ .world = world, .arrival_wall_us = arrival_wall_us };
    own->arrival_us = now_us_of(own);
    own->errand = (struct login_errand){
        .world = world,
        .catalogue = catalogue,
        .supplier = &catalogue->suppliers[0],
        .account = catalogue->suppliers[0].account,
        .on_end = on_end,
        .owner = own,
    };
    list_init(&own->waiting);
}

void fixture_login_bring(struct fixture_login *own, struct text value)
{
    uint64_t now_us = now_us_of(own);
    struct block *block = block_create(value);

    if (block != NULL && login_lease_begin(&own->lease, now_us)) {
        login_lease_made(&own->lease, now_us, now_us, UINT64_MAX, 0);
        own->login = (struct login){ .value = block, .number = own->lease.number };
    } else {
        block_release(&block);
    }
}

void fixture_login_fini(struct fixture_login *own)
{
    if (own->world != NULL) {
        login_errand_cancel(&own->errand);
        login_drop(&own->login);
        own->world = NULL;
    }
}

struct login fixture_login_peek(const struct fixture_login *own)
{
    return login_lease_is_good(&own->lease, now_us_of(own)) ? login_hold(&own->login) : (struct login){ 0 };
}

enum login_state fixture_login_take(struct fixture_login *own, uint64_t refused, struct login *login,
                                    struct part_end *end)
{
    switch (login_lease_ask(&own->lease, now_us_of(own), refused)) {
    case LEASE_HELD:
        *login = login_hold(&own->login);
        return LOGIN_HERE;
    case LEASE_PAUSED:
        *end = own->end;
        return LOGIN_FAILED;
    case LEASE_WAIT:
        break;
    }
    return LOGIN_ABSENT;
}

enum status fixture_login_start(struct fixture_login *own, struct login_wait *wait)
{
    uint64_t now_us = now_us_of(own);
    uint64_t wall_us = own->arrival_wall_us + (now_us - own->arrival_us);

    if (login_lease_begin(&own->lease, now_us) && !login_errand_start(&own->errand, false, wall_us, &own->end)) {
        login_lease_failed(&own->lease, now_us);
        return STATUS_NO_MEMORY;
    }
    list_init(&wait->node);
    list_append(&own->waiting, &wait->node);
    return STATUS_OK;
}

void fixture_login_refuse(struct fixture_login *own, uint64_t number, const struct part_end *end)
{
    login_lease_refused(&own->lease, now_us_of(own), number);
    own->end = *end;
}
