#include "app/permits.h"

#include "app/knowledge_shelf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "model/exchange.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Two locks. `lock` of the permits is for those who move and leave, and covers the list of entries with what is said so
// below; loops never take it. `lock` of an entry is for everybody.

struct permit_entry {
    struct list node;      // under the permits' lock, like the next four
    uint64_t hash;         // of both names
    uint32_t generations;  // that have the account
    bool is_now;           // the newest one has
    struct permits *owner; // never changes, as do the names
    struct text supplier, account;

    pthread_mutex_t lock;
    struct quota quota;
    uint64_t refused[QUOTA_CONCURRENT + 1]; // by the answer
    uint64_t refused_others;
    struct health health;
    struct extra_book extra;
    struct auth_park auth;
    uint64_t credentials; // hash of what they are; 0: not known yet
    uint64_t auth_parks, looks;
    double worth;
    uint64_t linger_learn; // millionths
    uint32_t lingering;    // parts
    uint64_t dice;
    atomic_uint out; // attempts; without the lock, like the next two
    _Atomic uint64_t calls, answered;
    struct knowledge_shelf shelf; // has a lock of its own
    char names[];
};

struct permits {
    pthread_mutex_t lock;
    struct list entries;
    size_t count;
    uint64_t (*now_us)(void);
    pthread_mutex_t guard_lock; // taken under an entry's, for a moment: it is one for all
    struct breaker_guard guard;
    pthread_mutex_t extra_lock; // likewise
    struct extra_engine extra;
};

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

// -------------------------------------------------------------------------------------------------------- of the loops

static struct permit_entry *permits_lock(const struct permits *permits, const struct script_account *account)
{
    struct permit_entry *entry = account->kept->permits;

    require(entry != NULL && entry->owner == permits);
    pthread_mutex_lock(&entry->lock);
    return entry;
}

enum quota_answer permits_begin(struct permits *permits, const struct script_account *account, uint64_t *wait_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    enum quota_answer answer = quota_begin(&found->quota, now_us, wait_us);

    found->refused[answer] += answer != QUOTA_FREE && answer != QUOTA_CONCURRENT;
    pthread_mutex_unlock(&found->lock);
    return answer;
}

void permits_end(struct permits *permits, const struct script_account *account)
{
    struct permit_entry *found = permits_lock(permits, account);

    quota_end(&found->quota);
    pthread_mutex_unlock(&found->lock);
}

void permits_give_up(struct permits *permits, const struct script_account *account)
{
    struct permit_entry *found = permits_lock(permits, account);

    found->refused[QUOTA_CONCURRENT]++;
    pthread_mutex_unlock(&found->lock);
}

void permits_strained(struct permits *permits, const struct script_account *account)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();

    quota_strained(&found->quota, now_us);
    pthread_mutex_unlock(&found->lock);
}

bool permits_ask_auth(struct permits *permits, const struct script_account *account, struct auth_pass *pass,
                      uint64_t *wait_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    bool may_go = auth_park_ask(&found->auth, now_us, pass, wait_us);

    pthread_mutex_unlock(&found->lock);
    return may_go;
}

void permits_tell_auth(struct permits *permits, const struct script_account *account, const struct auth_pass *pass,
                       enum auth_end end)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    bool is_changed = auth_park_tell(&found->auth, pass, end, now_us);
    bool is_parked = auth_park_is_parked(&found->auth);

    found->auth_parks += is_changed && is_parked;
    pthread_mutex_unlock(&found->lock);
    if (is_changed && is_parked) {
        log_line(LOG_WARNING, "auth",
                 "its credentials were refused %d times in a row: it is left alone, and tried out after 1 min, 2, 4 to "
                 "30; new secrets or options end that supplier=%.*s account=%.*s",
                 AUTH_PARK_REFUSALS, TEXT_ARGS(found->supplier), TEXT_ARGS(found->account));
    } else if (is_changed) {
        log_line(LOG_INFO, "auth", "its credentials are taken again supplier=%.*s account=%.*s",
                 TEXT_ARGS(found->supplier), TEXT_ARGS(found->account));
    }
}

double permits_worth(struct permits *permits, const struct script_account *account)
{
    struct permit_entry *found = permits_lock(permits, account);
    double worth = found->worth;

    pthread_mutex_unlock(&found->lock);
    return worth;
}

uint64_t permits_block(struct permits *permits, const struct script_account *account, uint64_t wait_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();

    quota_block(&found->quota, now_us, wait_us);
    extra_book_quota(&found->extra, now_us);
    uint64_t blocked_us = quota_blocked_us(&found->quota, now_us);
    pthread_mutex_unlock(&found->lock);
    return blocked_us;
}

/// xorshift64* (Vigna 2016).
static uint32_t entry_roll(struct permit_entry *entry)
{
    entry->dice ^= entry->dice >> 12;
    entry->dice ^= entry->dice << 25;
    entry->dice ^= entry->dice >> 27;
    return (uint32_t)(entry->dice * UINT64_C(2685821657736338717) >> 32);
}

/// Under the entry's lock: the state that it had before is not the one that it has now.
static void tell_change(const struct permit_entry *entry, enum breaker_state before)
{
    enum breaker_state state = entry->health.breaker.state;

    if (state != before) {
        log_line(state == BREAKER_OPEN ? LOG_WARNING : LOG_INFO, "breaker", "supplier=%.*s account=%.*s state=%s",
                 TEXT_ARGS(entry->supplier), TEXT_ARGS(entry->account), breaker_state_name(state));
    }
}

enum breaker_answer permits_ask(struct permits *permits, const struct script_account *account,
                                struct breaker_pass *pass, uint64_t *wait_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    enum breaker_state before = found->health.breaker.state;
    enum breaker_answer answer = health_ask(&found->health, entry_roll(found), now_us, pass);

    *wait_us = breaker_refuses_us(&found->health.breaker, now_us);
    tell_change(found, before);
    pthread_mutex_unlock(&found->lock);
    return answer;
}

void permits_tell(struct permits *permits, const struct script_account *account, const struct health_result *result)
{
    static const double NEWEST = 0.05; // the share of the last one in what its answers are worth
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    uint32_t fits = found->health.fits;
    struct known *known = NULL;
    enum breaker_state before = found->health.breaker.state;
    enum breaker_verdict verdict = health_learn(&found->health, result, now_us); // it may read a curve anew
    uint32_t dice = entry_roll(found);

    if (result->was_asked) {
        bool is_good = result->end == HEALTH_GOOD && result->value > 0;
        found->worth += NEWEST * ((is_good ? 1 : 0) - found->worth);
        found->looks++;
    }
    pthread_mutex_lock(&permits->guard_lock);
    uint64_t alarm_us = permits->guard.alarm_us;
    (void)health_judge(&found->health, &permits->guard, result->pass, verdict, dice, now_us);
    bool is_alarmed = permits->guard.alarm_us != alarm_us;
    pthread_mutex_unlock(&permits->guard_lock);
    if (result->end == HEALTH_GOOD) {
        extra_book_value(&found->extra, result->value);
    }
    if (found->health.fits != fits) {
        fits = found->health.fits;
        known = knowledge_shelf_make(&found->health.curve); // without memory the former one stays
    }
    tell_change(found, before);
    pthread_mutex_unlock(&found->lock);
    if (known != NULL) {
        knowledge_shelf_put(&found->shelf, known, fits);
    }
    if (is_alarmed) {
        log_line(LOG_ERROR, "breaker",
                 "many suppliers fail at once: that is probably us; the others stay asked for a minute supplier=%.*s",
                 TEXT_ARGS(found->supplier));
    }
}

static struct knowledge_shelf *shelf_of(const struct permits *permits, const struct script_account *account)
{
    struct permit_entry *entry = account->kept->permits;

    require(entry != NULL && entry->owner == permits);
    return &entry->shelf;
}

struct knowledge *permits_knowledge(const struct permits *permits, const struct script_account *account)
{
    return knowledge_shelf_take(shelf_of(permits, account));
}

void permits_note_worth(const struct permits *permits, const struct script_account *account, uint64_t kind,
                        double items, bool has_won)
{
    knowledge_shelf_note(shelf_of(permits, account), kind, items, has_won, clock_now_us());
}

void permits_visit(struct permits *permits, const struct script_account *account, permits_visitor visit, void *context)
{
    uint64_t now_us = clock_now_us();
    struct permit_entry *found = permits_lock(permits, account);
    const struct permits_account view = { &found->extra, &permits->extra, &found->health.latency, &found->health,
                                          &found->quota };

    pthread_mutex_lock(&permits->extra_lock);
    visit(&view, now_us, context);
    pthread_mutex_unlock(&permits->extra_lock);
    pthread_mutex_unlock(&found->lock);
}

void permits_set_overloaded(struct permits *permits, bool is_overloaded)
{
    pthread_mutex_lock(&permits->extra_lock);
    permits->extra.is_overloaded = is_overloaded;
    pthread_mutex_unlock(&permits->extra_lock);
}

/// How many of its parts may linger at once.
static uint32_t linger_most(const struct permit_entry *entry)
{
    uint32_t concurrent = entry->quota.limits.concurrent;

    return concurrent != 0 && concurrent / 4 < PERMITS_LINGER ? concurrent / 4 : PERMITS_LINGER;
}

bool permits_want_linger(struct permits *permits, const struct script_account *account, uint32_t parts)
{
    static const double KNOWN = 500; // samples
    struct permit_entry *found = permits_lock(permits, account);
    double samples = found->health.curve.samples, unknown = samples < KNOWN ? 1 - samples / KNOWN : 0;
    double share = (double)found->linger_learn / 1e6 * (1 + 4 * unknown);
    bool is_wanted = found->lingering + parts <= linger_most(found) && entry_roll(found) < share * 4294967296.0;

    found->lingering += is_wanted ? parts : 0;
    pthread_mutex_unlock(&found->lock);
    return is_wanted;
}

void permits_end_linger(struct permits *permits, const struct script_account *account, uint32_t parts)
{
    struct permit_entry *found = permits_lock(permits, account);

    require(found->lingering >= parts);
    found->lingering -= parts;
    pthread_mutex_unlock(&found->lock);
}

void permits_set_breaker(struct permits *permits, const struct script_account *account, bool is_open)
{
    uint64_t now_us = permits->now_us();
    struct permit_entry *found = permits_lock(permits, account);
    struct breaker *breaker = &found->health.breaker;

    if (is_open && breaker->settings.is_on) {
        breaker_trip(breaker, entry_roll(found), now_us);
    } else if (!is_open) {
        breaker_close(breaker, now_us);
    }
    pthread_mutex_unlock(&found->lock);
}

void permits_note_begun(const struct script_account *account)
{
    atomic_fetch_add(&account->kept->permits->out, 1);
}

void permits_note_ended(const struct script_account *account, enum health_end end)
{
    struct permit_entry *entry = account->kept->permits;

    atomic_fetch_add(&entry->calls, end != HEALTH_OURS);
    atomic_fetch_add(&entry->answered, end == HEALTH_GOOD);
    require(atomic_fetch_sub(&entry->out, 1) > 0);
}

void permits_look(struct permits *permits, const struct script_account *account, struct permits_view *view)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    const uint64_t *refused = found->refused;
    struct latency_curve curve;

    breaker_advance(&found->health.breaker, now_us);
    latency_look(&found->health.latency, now_us, &curve); // what is decided by may be older

    *view = (struct permits_view){ .limits = found->quota.limits,
                                   .running = found->quota.running,
                                   .blocked_us = quota_blocked_us(&found->quota, now_us),
                                   .refused_by_rate =
                                       refused[QUOTA_PER_SECOND] + refused[QUOTA_PER_MINUTE] + refused[QUOTA_PER_DAY],
                                   .refused_by_block = refused[QUOTA_BLOCKED],
                                   .refused_by_number = refused[QUOTA_CONCURRENT],
                                   .refused_others = found->refused_others,
                                   .breaker = found->health.breaker.state,
                                   .breaker_percent = breaker_share_percent(&found->health.breaker),
                                   .breaker_refuses_us = breaker_refuses_us(&found->health.breaker, now_us),
                                   .breaker_trips = found->health.breaker.openings,
                                   .extra = found->extra.counts,
                                   .samples = curve.samples,
                                   .concurrency = concurrency_cap(&found->quota.concurrency, now_us),
                                   .parked_us = auth_park_left_us(&found->auth, now_us),
                                   .is_parked = auth_park_is_parked(&found->auth),
                                   .auth_parks = found->auth_parks,
                                   .looks = found->looks,
                                   .worth = found->worth,
                                   .out = atomic_load(&found->out),
                                   .calls = atomic_load(&found->calls),
                                   .answered = atomic_load(&found->answered) };
    if (!latency_quantile(&curve, 0.5, &view->median_us)) {
        view->median_us = 0;
    }
    if (!latency_quantile(&curve, 0.95, &view->p95_us)) {
        view->p95_us = 0;
    }
    for (enum quota_window window = QUOTA_SECOND; window < QUOTA_WINDOWS; window++) {
        view->used[window] = quota_used(&found->quota, window, now_us);
    }
    pthread_mutex_unlock(&found->lock);
}
