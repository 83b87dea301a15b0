// What the loops ask and tell of one account, under its lock.

#include "app/permits_entry.h"

#include "base/log.h"

static struct permit_entry *permits_lock(const struct permits *permits, const struct script_account *account)
{
    struct permit_entry *entry = account->kept->permits;

    require(entry != NULL && entry->owner == permits);
    pthread_mutex_lock(&entry->lock);
    return entry;
}

static enum quota_answer begin(struct permits *permits, const struct script_account *account,
                               enum quota_answer (*ask)(struct quota *quota, uint64_t now_us, uint64_t *wait_us),
                               uint64_t *wait_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();
    enum quota_answer answer = ask(&found->quota, now_us, wait_us);

    found->refused[answer] += answer != QUOTA_FREE && answer != QUOTA_CONCURRENT;
    pthread_mutex_unlock(&found->lock);
    return answer;
}

enum quota_answer permits_begin(struct permits *permits, const struct script_account *account, uint64_t *wait_us)
{
    return begin(permits, account, quota_begin, wait_us);
}

enum quota_answer permits_begin_kept(struct permits *permits, const struct script_account *account, uint64_t *wait_us)
{
    return begin(permits, account, quota_begin_kept, wait_us);
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
    uint32_t before = found->auth.parks;
    bool is_changed = auth_park_tell(&found->auth, pass, end, now_us);
    bool is_parked = auth_park_is_parked(&found->auth);
    uint32_t parks = found->auth.parks;
    uint64_t left_us = auth_park_left_us(&found->auth, now_us);

    found->auth_parks += is_changed && is_parked;
    pthread_mutex_unlock(&found->lock);
    if (permits->listener != NULL && parks != before) {
        permits->listener->on_auth(permits->listener->context, account, parks, left_us);
    }
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
    if (permits->listener != NULL && blocked_us > 0) {
        permits->listener->on_blocked(permits->listener->context, account, blocked_us);
    }
    return blocked_us;
}

void permits_adopt_block(struct permits *permits, const struct script_account *account, uint64_t for_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    uint64_t now_us = permits->now_us();

    quota_block(&found->quota, now_us, for_us);
    extra_book_quota(&found->extra, now_us);
    pthread_mutex_unlock(&found->lock);
}

void permits_adopt_auth(struct permits *permits, const struct script_account *account, uint32_t parks, uint64_t for_us)
{
    struct permit_entry *found = permits_lock(permits, account);
    bool was_parked = auth_park_is_parked(&found->auth);

    auth_park_adopt(&found->auth, parks, permits->now_us() + for_us);
    found->auth_parks += parks > 0 && !was_parked;
    pthread_mutex_unlock(&found->lock);
    if (was_parked != (parks > 0)) {
        log_line(LOG_INFO, "auth", "another engine says that its credentials are %s supplier=%.*s account=%.*s",
                 parks > 0 ? "refused: it is left alone" : "taken again", TEXT_ARGS(found->supplier),
                 TEXT_ARGS(found->account));
    }
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
    knowledge_shelf_note(shelf_of(permits, account), kind, items, has_won, permits->now_us());
}

void permits_visit(struct permits *permits, const struct script_account *account, permits_visitor visit, void *context)
{
    uint64_t now_us = permits->now_us();
    struct permit_entry *found = permits_lock(permits, account);
    const struct permits_account view = { &found->extra, &permits->extra, &found->health.latency, &found->health,
                                          &found->quota };

    pthread_mutex_lock(&permits->extra_lock);
    visit(&view, now_us, context);
    pthread_mutex_unlock(&permits->extra_lock);
    pthread_mutex_unlock(&found->lock);
}

/// How many of its parts may linger at once.
static uint32_t linger_most(const struct permit_entry *entry)
{
    uint32_t concurrent = entry->quota.limits.concurrent;

    return concurrent != 0 && concurrent / 4 < PERMITS_LINGER ? concurrent / 4 : PERMITS_LINGER;
}

bool permits_want_linger(struct permits *permits, const struct script_account *account, uint32_t parts, bool fills)
{
    static const double KNOWN = 500; // samples
    struct permit_entry *found = permits_lock(permits, account);
    double samples = found->health.curve.samples, unknown = samples < KNOWN ? 1 - samples / KNOWN : 0;
    double share = (double)found->linger_learn / 1e6 * (1 + 4 * unknown);
    bool is_wanted =
        found->lingering + parts <= linger_most(found) && (fills || entry_roll(found) < share * 4294967296.0);

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
