#include "policy/login_lease.h"

bool login_lease_is_good(const struct login_lease *lease, uint64_t now_us)
{
    return lease->is_held && now_us < lease->expires_us;
}

enum login_lease_answer login_lease_ask(struct login_lease *lease, uint64_t now_us, uint64_t refused)
{
    if (refused != 0 && refused == lease->number) {
        lease->is_held = false;
    }
    if (login_lease_is_good(lease, now_us)) {
        lease->is_used = true;
        return LEASE_HELD;
    }
    return !lease->is_fetching && now_us < lease->not_before_us ? LEASE_PAUSED : LEASE_WAIT;
}

bool login_lease_begin(struct login_lease *lease, uint64_t now_us)
{
    if (lease->is_fetching || now_us < lease->not_before_us) {
        return false;
    }
    lease->is_fetching = true;
    return true;
}

static void pause_for(struct login_lease *lease, uint64_t now_us, uint32_t times)
{
    uint64_t pause_us = LOGIN_PAUSE_MOST_US;

    if (times <= 5) { // the sixth would be longer than the longest
        pause_us = (uint64_t)LOGIN_PAUSE_LEAST_US << (times - 1);
    }
    lease->not_before_us = now_us + pause_us;
}

void login_lease_made(struct login_lease *lease, uint64_t sent_us, uint64_t now_us, uint64_t life_us, uint64_t jitter)
{
    bool was_settled = lease->is_held && now_us >= lease->made_us + LOGIN_SETTLED_US;

    lease->refusals = was_settled ? 0 : lease->refusals;
    lease->failures = 0;
    lease->not_before_us = 0;
    lease->is_fetching = false;
    lease->is_held = true;
    lease->is_used = false;
    lease->number++;
    lease->made_us = now_us;
    if (life_us == UINT64_MAX) {
        lease->renew_us = lease->expires_us = UINT64_MAX;
        return;
    }
    uint64_t percent = LOGIN_RENEW_PERCENT + jitter % (LOGIN_RENEW_JITTER_PERCENT + 1);
    lease->expires_us = sent_us + life_us;
    lease->renew_us = sent_us + life_us / 100 * percent;
}

void login_lease_adopted(struct login_lease *lease, uint64_t now_us, uint64_t life_us, uint64_t age_us, uint64_t jitter)
{
    login_lease_made(lease, now_us, now_us, life_us, jitter);
    lease->made_us = now_us > age_us ? now_us - age_us : 0;
}

void login_lease_failed(struct login_lease *lease, uint64_t now_us)
{
    lease->is_fetching = false;
    lease->failures++;
    pause_for(lease, now_us, lease->failures);
}

void login_lease_defer(struct login_lease *lease, uint64_t until_us)
{
    lease->not_before_us = until_us > lease->not_before_us ? until_us : lease->not_before_us;
}

void login_lease_refused(struct login_lease *lease, uint64_t now_us, uint64_t number)
{
    if (number != lease->number || !lease->is_held) {
        return;
    }
    lease->is_held = false;
    if (now_us >= lease->made_us + LOGIN_SETTLED_US) {
        lease->refusals = 0;
        return;
    }
    lease->refusals++;
    pause_for(lease, now_us, lease->refusals);
}

void login_lease_abandon(struct login_lease *lease)
{
    lease->is_fetching = false;
}

uint64_t login_lease_look_us(const struct login_lease *lease)
{
    if (!lease->is_held || lease->renew_us == UINT64_MAX) {
        return UINT64_MAX;
    }
    return lease->renew_us > lease->not_before_us ? lease->renew_us : lease->not_before_us;
}

bool login_lease_wants_renewal(const struct login_lease *lease, uint64_t now_us)
{
    return login_lease_is_good(lease, now_us) && lease->is_used && now_us >= lease->renew_us;
}
