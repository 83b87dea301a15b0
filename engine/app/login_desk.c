#include "app/login_book.h"

#include "app/login_entry.h"
#include "app/login_errand.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/ground.h"
#include "search/say.h"

#include <stdlib.h>

/// What a desk has for an entry once it has fetched a login for it: the errand, and the timer of its renewal. It stays
/// until the entry is old.
struct desk_errand {
    struct list node;          // among the desk's
    struct login_entry *entry; // held
    struct login_errand errand;
    struct login_share share; // before it: has another engine the login?
    struct ground *ground;    // of its account, meanwhile
    bool is_renewal;
};

static bool desk_is_under_way(const struct desk_errand *mine)
{
    return mine->errand.state != ERRAND_IDLE || mine->share.state != SHARE_IDLE;
}

/// Nobody is told.
static void desk_give_up(struct desk_errand *mine)
{
    login_share_cancel(&mine->share);
    ground_drop(&mine->ground);
    if (mine->errand.state != ERRAND_IDLE) {
        login_errand_cancel(&mine->errand);
    }
}

// ------------------------------------------------------------------------------------------------------- wake-ups

static void desk_wake(struct login_desk *desk)
{
    if (!atomic_exchange(&desk->is_posted, true)) {
        loop_post(desk->loop, &desk->message);
    }
}

void login_book_wake_all(struct login_book *book)
{
    LIST_FOR_EACH (node, &book->desks) {
        desk_wake(CONTAINER_OF(node, struct login_desk, node));
    }
}

static void set_failure(struct login_entry *entry, struct part_end *end, uint64_t now_us)
{
    uint64_t not_before_us = entry->lease.not_before_us;

    *end = entry->end;
    if (end->outcome == OUTCOME_ANSWERED) { // it was never filled: the login was over before it could be used
        *end = (struct part_end){ .outcome = OUTCOME_FAILED, .phase = PHASE_LOGIN };
        say(end->detail, sizeof(end->detail), TEXT("the login expired before it could be used"));
    }
    // From now on: what the supplier said of it was then.
    end->retry_after_ms = not_before_us > now_us ? (not_before_us - now_us + 999) / 1000 : 0;
}

/// Is there anything to tell him? Fills in what. Under the lock.
static bool wait_is_over_locked(struct login_entry *entry, struct login_wait *wait, uint64_t now_us)
{
    if (login_lease_is_good(&entry->lease, now_us) && entry->lease.number != wait->refused) {
        entry->lease.is_used = true;
        wait->login = login_hold(&entry->login);
    } else if (entry->rounds > wait->rounds || !entry->lease.is_fetching) {
        set_failure(entry, &wait->end, now_us);
    } else {
        return false;
    }
    entry->waiting--;
    return true;
}

static bool wait_is_over(struct login_book *book, struct login_wait *wait, uint64_t now_us)
{
    pthread_mutex_lock(&book->lock);
    bool is_over = wait_is_over_locked(login_entry_of(book, wait->account), wait, now_us);
    pthread_mutex_unlock(&book->lock);
    return is_over;
}

// --------------------------------------------------------------------------------------------------------- errands

static void desk_drop(struct desk_errand *mine)
{
    struct login_book *book = mine->entry->book;

    require(!desk_is_under_way(mine));
    list_remove(&mine->node);
    pthread_mutex_lock(&book->lock);
    mine->entry->holds--; // the book frees it when a catalogue moves next
    pthread_mutex_unlock(&book->lock);
    free(mine);
}

static void desk_disarm(struct login_desk *desk, struct login_errand *errand)
{
    if (timer_is_running(&errand->renewal)) {
        loop_timer_cancel(desk->loop, &errand->renewal);
    }
}

/// Old entries are not renewed, and what is under way for them ends unless somebody waits for it.
static void desk_sweep(struct login_desk *desk)
{
    LIST_FOR_EACH (node, &desk->errands) {
        struct desk_errand *mine = CONTAINER_OF(node, struct desk_errand, node);
        struct login_entry *entry = mine->entry;
        bool is_under_way = desk_is_under_way(mine);
        pthread_mutex_lock(&desk->book->lock);
        bool is_old = entry->newest == NULL;
        bool is_over = is_old && (!is_under_way || entry->waiting == 0);
        if (is_over && is_under_way) {
            login_lease_abandon(&entry->lease); // with the same lock: who comes now fetches anew
        }
        pthread_mutex_unlock(&desk->book->lock);
        if (is_old) {
            desk_disarm(desk, &mine->errand);
        }
        if (is_over && is_under_way) {
            desk_give_up(mine);
        }
        if (is_over) {
            desk_drop(mine);
        }
    }
}

static void desk_on_message(struct message *message)
{
    struct login_desk *desk = CONTAINER_OF(message, struct login_desk, message);
    struct login_book *book = desk->book;
    struct list *first;

    atomic_store(&desk->is_posted, false);
    if (book == NULL) {
        return; // posted before it was closed
    }
    uint64_t now_us = clock_now_us();
    LIST_FOR_EACH (node, &desk->waiting) {
        if (wait_is_over(book, CONTAINER_OF(node, struct login_wait, node), now_us)) {
            list_remove(node);
            list_append(&desk->due, node);
        }
    }
    while ((first = list_take_first(&desk->due)) != NULL) { // each may make others leave
        struct login_wait *wait = CONTAINER_OF(first, struct login_wait, node);
        wait->impl = NULL;
        wait->on_done(wait);
        loop_breathe(desk->loop);
    }
    desk_sweep(desk);
}

// -------------------------------------------------------------------------------------------------------- fetching

static void desk_arm(struct login_desk *desk, struct desk_errand *mine, uint64_t at_us)
{
    struct login_errand *errand = &mine->errand;
    const struct login_entry *entry = mine->entry;

    desk_disarm(desk, errand);
    if (at_us != UINT64_MAX && loop_timer_start(desk->loop, &errand->renewal, at_us) != STATUS_OK) {
        log_line(LOG_WARNING, "login", "no memory for a timer: the login of `%.*s` is renewed when it is used",
                 TEXT_ARGS(entry->supplier));
    }
}

/// For how long none is fetched now; us.
static uint64_t book_note_failure(struct login_book *book, struct login_entry *entry, const struct part_end *end,
                                  const struct failure *trouble)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    login_lease_failed(&entry->lease, now_us);
    login_lease_defer(&entry->lease, now_us + end->retry_after_ms * 1000);
    entry->end = *end;
    entry->failed++;
    entry->rounds++;
    uint64_t pause_us = entry->lease.not_before_us - now_us;
    login_book_wake_all(book);
    pthread_mutex_unlock(&book->lock);
    log_line(LOG_WARNING, "login", "supplier `%.*s` account `%.*s`: %s: %s pause_ms=%llu", TEXT_ARGS(entry->supplier),
             TEXT_ARGS(entry->account), outcome_name(end->outcome),
             end->detail[0] != '\0' ? end->detail : outcome_row(end->outcome)->meaning,
             (unsigned long long)clock_us_to_ms(pause_us));
    log_failure(LOG_WARNING, "login", trouble);
    return pause_us;
}

static void book_note_login(struct login_book *book, struct login_entry *entry, struct login_errand *errand,
                            struct block *value, uint64_t life_us, const uint8_t shared[LOGIN_SHARE_ID])
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    login_lease_made(&entry->lease, errand->fetch.started_us, now_us, life_us, now_us);
    login_drop(&entry->login);
    entry->login = (struct login){ .value = value, .number = entry->lease.number };
    entry->end = (struct part_end){ .outcome = OUTCOME_ANSWERED };
    memcpy(entry->shared, shared, LOGIN_SHARE_ID);
    entry->made++;
    entry->renewed += errand->is_renewal ? 1 : 0;
    entry->rounds++;
    uint64_t number = entry->lease.number;
    login_book_wake_all(book);
    pthread_mutex_unlock(&book->lock);
    log_line(LOG_INFO, "login", "supplier `%.*s` account `%.*s` logged in number=%llu took_ms=%llu%s",
             TEXT_ARGS(entry->supplier), TEXT_ARGS(entry->account), (unsigned long long)number,
             (unsigned long long)clock_us_to_ms(now_us - errand->began_us), errand->is_renewal ? " renewal" : "");
}

static void book_note_adopted(struct login_book *book, struct login_entry *entry, struct shared_login *found)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    login_lease_adopted(&entry->lease, now_us, found->life_us, found->age_us, now_us);
    login_drop(&entry->login);
    entry->login = (struct login){ .value = found->value, .number = entry->lease.number };
    entry->end = (struct part_end){ .outcome = OUTCOME_ANSWERED };
    memcpy(entry->shared, found->id, LOGIN_SHARE_ID);
    entry->adopted++;
    entry->rounds++;
    uint64_t number = entry->lease.number;
    login_book_wake_all(book);
    pthread_mutex_unlock(&book->lock);
    log_line(LOG_INFO, "login", "supplier `%.*s` account `%.*s` uses the login of another engine number=%llu",
             TEXT_ARGS(entry->supplier), TEXT_ARGS(entry->account), (unsigned long long)number);
}

/// When it is to be looked at again.
static void desk_arm_next(struct login_desk *desk, struct desk_errand *mine)
{
    struct login_book *book = desk->book;
    const struct login_entry *entry = mine->entry;

    pthread_mutex_lock(&book->lock);
    uint64_t look_us = entry->newest != NULL ? login_lease_look_us(&entry->lease) : UINT64_MAX;
    pthread_mutex_unlock(&book->lock);
    desk_arm(desk, mine, look_us);
}

static void desk_on_end(struct login_errand *errand, struct block *value, uint64_t life_us, const struct part_end *end)
{
    struct login_desk *desk = errand->owner;
    struct login_book *book = desk->book;
    struct desk_errand *mine = CONTAINER_OF(errand, struct desk_errand, errand);
    struct login_entry *entry = mine->entry;

    if (value == NULL) {
        login_share_failed(&mine->share, book_note_failure(book, entry, end, errand->trouble));
        if (end->rejection == REJECTION_AUTH && desk->world->ops->auth_tell != NULL) {
            desk->world->ops->auth_tell(desk->world, errand->account, NULL, AUTH_REFUSED); // once, whoever waited
        }
    } else {
        uint8_t shared[LOGIN_SHARE_ID] = { 0 };
        if (book->ring != NULL) {
            login_share_leave(&mine->share, block_text(value), life_us, shared);
        }
        book_note_login(book, entry, errand, value, life_us, shared);
    }
    desk_arm_next(desk, mine);
}

static void desk_on_share(struct login_share *share, struct shared_login *found);

static void desk_on_renewal(struct timer *timer);

/// The desk's errand for the entry, a new one if need be; NULL: no memory.
static struct desk_errand *desk_errand_of(struct login_desk *desk, struct login_entry *entry)
{
    LIST_FOR_EACH (node, &desk->errands) {
        struct desk_errand *mine = CONTAINER_OF(node, struct desk_errand, node);
        if (mine->entry == entry) {
            return mine;
        }
    }
    struct desk_errand *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    made->entry = entry;
    made->errand = (struct login_errand){ .world = desk->world, .on_end = desk_on_end, .owner = desk };
    made->errand.renewal.on_due = desk_on_renewal;
    login_share_init(&made->share, desk->world, desk->book->ring, desk_on_share);
    pthread_mutex_lock(&desk->book->lock);
    entry->holds++;
    pthread_mutex_unlock(&desk->book->lock);
    list_append(&desk->errands, &made->node);
    return made;
}

static void desk_fetch_itself(struct login_desk *desk, struct desk_errand *mine)
{
    struct part_end end = { .outcome = OUTCOME_SHED, .phase = PHASE_LOGIN };

    if (!login_errand_start(&mine->errand, mine->is_renewal, clock_wall_us(), &end)) {
        login_share_failed(&mine->share, book_note_failure(desk->book, mine->entry, &end, NULL));
    }
}

static void desk_on_share(struct login_share *share, struct shared_login *found)
{
    struct desk_errand *mine = CONTAINER_OF(share, struct desk_errand, share);
    struct login_desk *desk = mine->errand.owner;

    if (found != NULL) {
        book_note_adopted(desk->book, mine->entry, found);
        desk_arm_next(desk, mine);
    } else {
        desk_fetch_itself(desk, mine);
    }
    ground_drop(&mine->ground);
}

/// The lease says that it is being fetched. The account is of any generation that has the entry, and the caller holds
/// its ground.
static void desk_fetch(struct login_desk *desk, struct login_entry *entry, const struct script_account *account,
                       bool is_renewal)
{
    struct desk_errand *mine = desk_errand_of(desk, entry);
    struct part_end end = { .outcome = OUTCOME_SHED, .phase = PHASE_LOGIN };
    uint8_t spent[LOGIN_SHARE_ID];

    if (mine == NULL) {
        (void)book_note_failure(desk->book, entry, &end, NULL);
        return;
    }
    mine->errand.catalogue = account->kept->catalogue;
    mine->errand.supplier = account->kept->supplier;
    mine->errand.account = account;
    mine->is_renewal = is_renewal;
    if (desk->book->ring == NULL) {
        desk_fetch_itself(desk, mine);
        return;
    }
    pthread_mutex_lock(&desk->book->lock);
    memcpy(spent, entry->shared, LOGIN_SHARE_ID);
    pthread_mutex_unlock(&desk->book->lock);
    mine->ground = ground_hold(account->kept->catalogue->ground);
    if (!login_share_start(&mine->share, entry->supplier, account, spent)) {
        desk_fetch_itself(desk, mine);
        ground_drop(&mine->ground);
    }
}

/// Whoever is not asked needs no login; one is fetched when he is asked again.
static bool desk_is_switched_off(const struct login_desk *desk, const struct script_account *account)
{
    const struct world_ops *ops = desk->world->ops;

    return ops->is_switched_off != NULL && ops->is_switched_off(desk->world, account->kept->supplier, account, NULL, 0);
}

static void desk_on_renewal(struct timer *timer)
{
    struct login_errand *errand = CONTAINER_OF(timer, struct login_errand, renewal);
    struct login_desk *desk = errand->owner;
    struct login_entry *entry = CONTAINER_OF(errand, struct desk_errand, errand)->entry;
    uint64_t now_us = clock_now_us();
    struct ground *ground = NULL;

    pthread_mutex_lock(&desk->book->lock);
    const struct script_account *account = entry->newest; // there is a hold on its generation: the engine's own
    bool is_due = account != NULL && !desk_is_switched_off(desk, account) &&
                  login_lease_wants_renewal(&entry->lease, now_us) && login_lease_begin(&entry->lease, now_us);
    if (is_due) {
        ground = ground_hold(account->kept->catalogue->ground);
    }
    pthread_mutex_unlock(&desk->book->lock);
    if (is_due) {
        desk_fetch(desk, entry, account, true);
    }
    ground_drop(&ground);
}

// ----------------------------------------------------------------------------------------------------------- desks

enum status login_desk_open(struct login_desk *desk, struct login_book *book, struct world *world, struct loop *loop)
{
    *desk = (struct login_desk){ .world = world, .loop = loop };
    list_init(&desk->node);
    list_init(&desk->waiting);
    list_init(&desk->due);
    list_init(&desk->errands);
    list_init(&desk->message.node);
    desk->message.on_receive = desk_on_message;
    desk->book = book;
    pthread_mutex_lock(&book->lock);
    list_append(&book->desks, &desk->node);
    pthread_mutex_unlock(&book->lock);
    return STATUS_OK;
}

void login_desk_close(struct login_desk *desk)
{
    struct login_book *book = desk->book;

    if (book == NULL) {
        return;
    }
    require(list_is_empty(&desk->waiting));
    pthread_mutex_lock(&book->lock);
    list_remove(&desk->node);
    pthread_mutex_unlock(&book->lock);
    LIST_FOR_EACH (node, &desk->errands) {
        struct desk_errand *mine = CONTAINER_OF(node, struct desk_errand, node);
        desk_disarm(desk, &mine->errand);
        if (desk_is_under_way(mine)) {
            desk_give_up(mine);
            pthread_mutex_lock(&book->lock);
            login_lease_abandon(&mine->entry->lease);
            mine->entry->end = (struct part_end){ .outcome = OUTCOME_SHED, .phase = PHASE_LOGIN };
            login_book_wake_all(book); // who waits for it at another desk is told that it does not come
            pthread_mutex_unlock(&book->lock);
        }
        desk_drop(mine);
    }
    desk->book = NULL;
}

// ----------------------------------------------------------------------------------------------------------- ports

struct login login_desk_peek(struct login_desk *desk, const struct script_account *account)
{
    struct login_book *book = desk->book;
    const struct login_entry *entry = login_entry_of(book, account);
    struct login login = { 0 };

    pthread_mutex_lock(&book->lock);
    if (login_lease_is_good(&entry->lease, clock_now_us())) {
        login = login_hold(&entry->login);
    }
    pthread_mutex_unlock(&book->lock);
    return login;
}

enum login_state login_desk_take(struct login_desk *desk, const struct script_account *account, uint64_t refused,
                                 struct login *login, struct part_end *end)
{
    struct login_book *book = desk->book;
    struct login_entry *entry = login_entry_of(book, account);
    uint64_t now_us = clock_now_us();
    bool is_due = false;

    pthread_mutex_lock(&book->lock);
    enum login_lease_answer answer = login_lease_ask(&entry->lease, now_us, refused);
    if (answer == LEASE_HELD) {
        *login = login_hold(&entry->login);
        is_due = entry->newest != NULL && login_lease_wants_renewal(&entry->lease, now_us) &&
                 login_lease_begin(&entry->lease, now_us);
    } else if (answer == LEASE_PAUSED) {
        set_failure(entry, end, now_us);
    }
    pthread_mutex_unlock(&book->lock);
    if (is_due) {
        desk_fetch(desk, entry, account, true);
    }
    return answer == LEASE_HELD ? LOGIN_HERE : answer == LEASE_WAIT ? LOGIN_ABSENT : LOGIN_FAILED;
}

enum status login_desk_start(struct login_desk *desk, struct login_wait *wait)
{
    struct login_book *book = desk->book;
    struct login_entry *entry = login_entry_of(book, wait->account);
    uint64_t now_us = clock_now_us();

    list_init(&wait->node);
    pthread_mutex_lock(&book->lock);
    bool is_here = login_lease_is_good(&entry->lease, now_us) && entry->lease.number != wait->refused;
    bool is_first = !is_here && login_lease_begin(&entry->lease, now_us);
    bool is_fetching = entry->lease.is_fetching;
    wait->rounds = entry->rounds;
    wait->impl = desk;
    entry->waiting++;
    list_append(&desk->waiting, &wait->node);
    pthread_mutex_unlock(&book->lock);
    if (is_first) {
        desk_fetch(desk, entry, wait->account, false);
    }
    if (is_here || !is_fetching) {
        desk_wake(desk); // it came, or failed, since he asked
    }
    return STATUS_OK;
}

void login_desk_cancel(struct login_desk *desk, struct login_wait *wait)
{
    struct login_book *book = desk->book;

    if (!list_is_empty(&wait->node)) {
        list_remove(&wait->node);
    }
    if (wait->login.value != NULL || wait->end.outcome != OUTCOME_ANSWERED) {
        login_drop(&wait->login); // he was about to be told, and is not counted any more
        return;
    }
    pthread_mutex_lock(&book->lock);
    login_entry_of(book, wait->account)->waiting--;
    pthread_mutex_unlock(&book->lock);
}

void login_desk_refuse(struct login_desk *desk, const struct script_account *account, uint64_t number,
                       const struct part_end *end)
{
    struct login_book *book = desk->book;
    struct login_entry *entry = login_entry_of(book, account);

    pthread_mutex_lock(&book->lock);
    bool is_new = number == entry->lease.number && entry->lease.is_held;
    login_lease_refused(&entry->lease, clock_now_us(), number);
    if (is_new) {
        entry->end = *end;
        entry->refused++;
    }
    pthread_mutex_unlock(&book->lock);
    if (is_new) {
        log_line(LOG_WARNING, "login", "supplier `%.*s` account `%.*s`: a new login was refused: %s",
                 TEXT_ARGS(entry->supplier), TEXT_ARGS(entry->account), end->detail);
    }
}
