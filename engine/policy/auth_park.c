#include "policy/auth_park.h"

void auth_park_init(struct auth_park *park)
{
    *park = (struct auth_park){ .epoch = 1 };
}

uint64_t auth_park_left_us(const struct auth_park *park, uint64_t now_us)
{
    return park->until_us > now_us ? park->until_us - now_us : 0;
}

bool auth_park_ask(struct auth_park *park, uint64_t now_us, struct auth_pass *pass, uint64_t *wait_us)
{
    *wait_us = auth_park_left_us(park, now_us);
    *pass = (struct auth_pass){ .epoch = park->epoch, .is_probe = auth_park_is_parked(park) };
    if (!pass->is_probe) {
        return true;
    }
    if (*wait_us > 0 || park->is_probing) {
        return false;
    }
    park->is_probing = true;
    return true;
}

static uint64_t park_us(uint32_t parks)
{
    uint64_t us = AUTH_PARK_MOST_US;

    if (parks <= 5) { // the sixth would be longer than the longest
        us = (uint64_t)AUTH_PARK_LEAST_US << (parks - 1);
    }
    return us;
}

static void park_again(struct auth_park *park, uint64_t now_us)
{
    park->parks++;
    park->until_us = now_us + park_us(park->parks);
    park->refusals = 0;
    park->is_probing = false;
    park->epoch++;
}

static bool is_refused(struct auth_park *park, bool is_of_probe, uint64_t now_us)
{
    if (auth_park_is_parked(park)) {
        if (is_of_probe) {
            park_again(park, now_us);
        }
        return false;
    }
    park->refusals++;
    if (park->refusals < AUTH_PARK_REFUSALS) {
        return false;
    }
    park_again(park, now_us);
    return true;
}

static bool is_taken(struct auth_park *park)
{
    bool was_parked = auth_park_is_parked(park);

    *park = (struct auth_park){ .epoch = park->epoch + was_parked };
    return was_parked;
}

bool auth_park_tell(struct auth_park *park, const struct auth_pass *pass, enum auth_end end, uint64_t now_us)
{
    if (pass != NULL && pass->epoch != park->epoch) {
        return false;
    }
    bool is_of_probe = pass != NULL ? pass->is_probe : park->is_probing;
    switch (end) {
    case AUTH_TAKEN:
        return is_taken(park);
    case AUTH_REFUSED:
        return is_refused(park, is_of_probe, now_us);
    case AUTH_UNKNOWN:
        break;
    }
    if (pass != NULL && pass->is_probe) {
        park->is_probing = false;
    }
    return false;
}

void auth_park_adopt(struct auth_park *park, uint32_t parks, uint64_t until_us)
{
    *park = (struct auth_park){ .epoch = park->epoch + 1, .parks = parks, .until_us = parks > 0 ? until_us : 0 };
}
