#include "io/resolver_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TTL_SHARE_PERCENT = 80,
    REFRESH_MIN_S = 5,
    REFRESH_MAX_S = 600,
    NO_DATA_S = 60,        // a negative answer's own life is not told by c-ares
    FAILURE_MIN_MS = 1000, // doubles with each failure in a row
    FAILURE_MAX_MS = 60000,
    SILENCE_MIN_MS = 500, // a silent server has already cost its own time-outs
    SILENCE_MAX_MS = 5000,
};

static const uint64_t SECOND_US = 1000000;

struct name *name_create(struct text host)
{
    static const int families[NAME_LOOKUPS] = { AF_INET, AF_INET6 };
    struct name *name = calloc(1, sizeof(*name));

    require(host.length != 0 && host.length <= NAME_MAX_LENGTH);
    if (name == NULL) {
        return NULL;
    }
    memcpy(name->host, host.data, host.length);
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        name->lookups[i].name = name;
        name->lookups[i].family = families[i];
    }
    return name;
}

void name_destroy(struct name **name)
{
    struct name *gone = *name;

    *name = NULL;
    if (gone == NULL) {
        return;
    }
    require(!name_is_running(gone));
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        free(gone->lookups[i].addresses);
    }
    free(gone);
}

bool name_is_running(const struct name *name)
{
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        if (name->lookups[i].is_running) {
            return true;
        }
    }
    return false;
}

size_t name_address_count(const struct name *name)
{
    size_t count = 0;

    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        count += name->lookups[i].address_count;
    }
    return count;
}

// Servers rotate their answers: the same set in another order is no change.
static bool lookup_has_same(const struct lookup *lookup, const struct sockaddr_storage *addresses, size_t count)
{
    if (lookup->address_count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < count && !is_known; k++) {
            is_known = memcmp(&lookup->addresses[k], &addresses[i], sizeof(addresses[i])) == 0;
        }
        if (!is_known) {
            return false;
        }
    }
    return true;
}

static uint64_t lookup_backoff_us(uint32_t failures, uint64_t min_ms, uint64_t max_ms)
{
    uint64_t wait_ms = min_ms;

    for (uint32_t i = 1; i < failures && wait_ms < max_ms; i++) {
        wait_ms *= 2;
    }
    return (wait_ms < max_ms ? wait_ms : max_ms) * 1000;
}

static uint64_t lookup_wait_us(const struct lookup *lookup, enum lookup_answer answer, uint32_t ttl_s)
{
    uint64_t refresh_s;

    switch (answer) {
    case LOOKUP_ADDRESSES:
        refresh_s = (uint64_t)ttl_s * TTL_SHARE_PERCENT / 100;
        refresh_s = refresh_s > REFRESH_MIN_S ? refresh_s : REFRESH_MIN_S;
        return (refresh_s < REFRESH_MAX_S ? refresh_s : REFRESH_MAX_S) * SECOND_US;
    case LOOKUP_NO_DATA:
        // Until the name has an address somewhere it is asked for as often as an unknown one.
        if (name_address_count(lookup->name) != 0) {
            return NO_DATA_S * SECOND_US;
        }
        return lookup_backoff_us(lookup->failures, FAILURE_MIN_MS, FAILURE_MAX_MS);
    case LOOKUP_SILENCE:
        return lookup_backoff_us(lookup->failures, SILENCE_MIN_MS, SILENCE_MAX_MS);
    case LOOKUP_NO_NAME:
    case LOOKUP_ERROR:
    default:
        return lookup_backoff_us(lookup->failures, FAILURE_MIN_MS, FAILURE_MAX_MS);
    }
}

static bool name_is_forbidden(const struct name *name)
{
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        if (name->lookups[i].is_forbidden) {
            return true;
        }
    }
    return false;
}

static enum name_state name_state(const struct name *name)
{
    bool is_missing = false;
    bool is_all_answered = true;

    if (name_address_count(name) != 0) {
        return NAME_KNOWN;
    }
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        const struct lookup *lookup = &name->lookups[i];
        is_missing = is_missing || (lookup->is_answered && lookup->answer == LOOKUP_NO_NAME);
        is_all_answered = is_all_answered && lookup->is_answered;
    }
    if (name_is_forbidden(name)) {
        return NAME_FORBIDDEN;
    }
    return is_missing || is_all_answered ? NAME_FAILED : NAME_PENDING;
}

// An answer with no addresses of this family takes the old ones away only when the name has others: a name that has
// lost all of them is a refresh that failed.
static bool lookup_keeps_addresses(const struct lookup *lookup, enum lookup_answer answer)
{
    return answer != LOOKUP_NO_DATA || lookup->address_count == name_address_count(lookup->name);
}

static void lookup_replace(struct lookup *lookup, struct sockaddr_storage *addresses, size_t count)
{
    free(lookup->addresses);
    lookup->addresses = addresses;
    lookup->address_count = count;
}

bool lookup_settle(struct lookup *lookup, const struct lookup_found *found, uint64_t now_us)
{
    struct name *name = lookup->name;
    enum name_state before = name_state(name);
    bool is_changed = false;

    lookup->is_running = false;
    lookup->failures = found->answer == LOOKUP_ADDRESSES ? 0 : lookup->failures + 1;
    if (found->answer == LOOKUP_ADDRESSES) {
        is_changed = !lookup_has_same(lookup, found->addresses, found->count);
        lookup_replace(lookup, found->addresses, found->count);
        name->resolved_us = now_us;
    } else {
        free(found->addresses);
        if (!lookup_keeps_addresses(lookup, found->answer)) {
            is_changed = lookup->address_count != 0;
            lookup_replace(lookup, NULL, 0);
        }
    }
    if (found->answer != LOOKUP_SILENCE) {
        lookup->is_answered = true;
        lookup->answer = found->answer;
        lookup->is_forbidden = found->answer == LOOKUP_ADDRESSES && found->count == 0;
    }
    lookup->next_us = now_us + lookup_wait_us(lookup, found->answer, found->ttl_s);
    // "No IPv6 here" must not hide which IPv4 address was not allowed.
    if (!name_is_forbidden(name) || (found->answer == LOOKUP_ADDRESSES && found->count == 0)) {
        snprintf(name->detail, sizeof(name->detail), "%s", found->sentence);
    }
    return is_changed || before != name_state(name);
}

void name_to_entry(const struct name *name, struct address_entry *entry, struct sockaddr_storage *addresses)
{
    *entry = (struct address_entry){ .host = text_of(name->host), .state = name_state(name), .addresses = addresses };
    for (size_t i = 0; i < NAME_LOOKUPS; i++) {
        const struct lookup *lookup = &name->lookups[i];
        if (lookup->address_count != 0) {
            memcpy(addresses + entry->address_count, lookup->addresses,
                   lookup->address_count * sizeof(*lookup->addresses));
            entry->address_count += lookup->address_count;
        }
    }
    entry->resolved_us = name->resolved_us;
    if (entry->state != NAME_KNOWN) {
        memcpy(entry->detail, name->detail, sizeof(entry->detail));
    }
}
