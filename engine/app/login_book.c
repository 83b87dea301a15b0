#include "app/login_book.h"

#include "app/login_errand.h"
#include "base/clock.h"
#include "base/log.h"
#include "policy/login_lease.h"
#include "search/say.h"

#include <pthread.h>
#include <stdlib.h>

/// One account's login; under the book's lock but for what never changes.
struct login_entry {
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
    struct login_lease lease;
    struct login login;
    uint64_t rounds;     // fetches that have ended
    struct part_end end; // of the last that failed, or of the last login that was refused at once
    uint64_t made, renewed, failed, refused, waiting;
};

struct login_book {
    const struct catalogue *catalogue;
    pthread_mutex_t lock;
    struct list desks;
    struct login_entry *entries;
    size_t entry_count;
};

static struct login_entry *entry_of(const struct login_book *book, const struct script_account *account)
{
    require(account->login > 0 && account->login <= book->entry_count);
    return &book->entries[account->login - 1];
}

static struct login_errand *errand_of(const struct login_desk *desk, const struct login_entry *entry)
{
    return &desk->errands[entry - desk->book->entries];
}

static size_t accounts_of(const struct catalogue_supplier *supplier)
{
    return supplier->account_count > 0 ? supplier->account_count : 1;
}

enum status login_book_create(const struct catalogue *catalogue, struct login_book **book)
{
    struct login_book *made = calloc(1, sizeof(*made));

    *book = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->entries = calloc(catalogue->login_count + 1, sizeof(*made->entries));
    if (made->entries == NULL) {
        free(made);
        return STATUS_NO_MEMORY;
    }
    made->catalogue = catalogue;
    made->entry_count = catalogue->login_count;
    pthread_mutex_init(&made->lock, NULL);
    list_init(&made->desks);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < accounts_of(supplier); j++) {
            if (supplier->account[j].login > 0) {
                struct login_entry *entry = entry_of(made, &supplier->account[j]);
                entry->supplier = supplier;
                entry->account = &supplier->account[j];
            }
        }
    }
    *book = made;
    return STATUS_OK;
}

void login_book_destroy(struct login_book **book)
{
    struct login_book *gone = *book;

    *book = NULL;
    if (gone == NULL) {
        return;
    }
    for (size_t i = 0; i < gone->entry_count; i++) {
        login_drop(&gone->entries[i].login);
    }
    pthread_mutex_destroy(&gone->lock);
    free(gone->entries);
    free(gone);
}

struct login_counts login_book_counts(struct login_book *book, const struct catalogue_supplier *supplier)
{
    struct login_counts counts = { 0 };
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    for (size_t i = 0; i < accounts_of(supplier); i++) {
        if (supplier->account[i].login == 0) {
            continue;
        }
        const struct login_entry *entry = entry_of(book, &supplier->account[i]);
        counts.made += entry->made;
        counts.renewed += entry->renewed;
        counts.failed += entry->failed;
        counts.refused += entry->refused;
        counts.waiting += entry->waiting;
        counts.held += login_lease_is_good(&entry->lease, now_us) ? 1 : 0;
    }
    pthread_mutex_unlock(&book->lock);
    return counts;
}

// ------------------------------------------------------------------------------------------------------- wake-ups

static void desk_wake(struct login_desk *desk)
{
    if (!atomic_exchange(&desk->is_posted, true)) {
        loop_post(desk->loop, &desk->message);
    }
}

/// A fetch has ended: whoever waits, on whichever loop, looks what it brought. Under the lock, so that no desk closes.
static void book_wake_all(struct login_book *book)
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
    if (end->retry_after_ms == 0 && not_before_us > now_us) {
        end->retry_after_ms = clock_us_to_ms(not_before_us - now_us);
    }
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
    bool is_over = wait_is_over_locked(entry_of(book, wait->account), wait, now_us);
    pthread_mutex_unlock(&book->lock);
    return is_over;
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
}

// -------------------------------------------------------------------------------------------------------- fetching

static void desk_arm(struct login_desk *desk, struct login_errand *errand, uint64_t at_us)
{
    if (timer_is_running(&errand->renewal)) {
        loop_timer_cancel(desk->loop, &errand->renewal);
    }
    if (at_us != UINT64_MAX && loop_timer_start(desk->loop, &errand->renewal, at_us) != STATUS_OK) {
        log_line(LOG_WARNING, "login", "no memory for a timer: the login of `%.*s` is renewed when it is used",
                 TEXT_ARGS(errand->supplier->name));
    }
}

static void book_note_failure(struct login_book *book, struct login_entry *entry, const struct part_end *end)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    login_lease_failed(&entry->lease, now_us);
    entry->end = *end;
    entry->failed++;
    entry->rounds++;
    uint64_t pause_ms = clock_us_to_ms(entry->lease.not_before_us - now_us);
    book_wake_all(book);
    pthread_mutex_unlock(&book->lock);
    log_line(LOG_WARNING, "login", "supplier `%.*s` account `%.*s`: %s: %s pause_ms=%llu",
             TEXT_ARGS(entry->supplier->name), TEXT_ARGS(entry->account->name), outcome_name(end->outcome),
             end->detail[0] != '\0' ? end->detail : outcome_row(end->outcome)->meaning, (unsigned long long)pause_ms);
}

static void book_note_login(struct login_book *book, struct login_entry *entry, struct login_errand *errand,
                            struct block *value, uint64_t life_us)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&book->lock);
    login_lease_made(&entry->lease, errand->fetch.started_us, now_us, life_us, now_us);
    login_drop(&entry->login);
    entry->login = (struct login){ .value = value, .number = entry->lease.number };
    entry->end = (struct part_end){ .outcome = OUTCOME_ANSWERED };
    entry->made++;
    entry->renewed += errand->is_renewal ? 1 : 0;
    entry->rounds++;
    uint64_t number = entry->lease.number;
    book_wake_all(book);
    pthread_mutex_unlock(&book->lock);
    log_line(LOG_INFO, "login", "supplier `%.*s` account `%.*s` logged in number=%llu took_ms=%llu%s",
             TEXT_ARGS(entry->supplier->name), TEXT_ARGS(entry->account->name), (unsigned long long)number,
             (unsigned long long)clock_us_to_ms(now_us - errand->began_us), errand->is_renewal ? " renewal" : "");
}

static void desk_on_end(struct login_errand *errand, struct block *value, uint64_t life_us, const struct part_end *end)
{
    struct login_desk *desk = errand->owner;
    struct login_book *book = desk->book;
    struct login_entry *entry = entry_of(book, errand->account);

    if (value == NULL) {
        book_note_failure(book, entry, end);
    } else {
        book_note_login(book, entry, errand, value, life_us);
    }
    pthread_mutex_lock(&book->lock);
    uint64_t look_us = login_lease_look_us(&entry->lease);
    pthread_mutex_unlock(&book->lock);
    desk_arm(desk, errand, look_us);
}

/// The lease says that it is being fetched.
static void desk_fetch(struct login_desk *desk, struct login_entry *entry, bool is_renewal)
{
    struct part_end end;

    if (!login_errand_start(errand_of(desk, entry), is_renewal, clock_wall_us(), &end)) {
        book_note_failure(desk->book, entry, &end);
    }
}

static void desk_on_renewal(struct timer *timer)
{
    struct login_errand *errand = CONTAINER_OF(timer, struct login_errand, renewal);
    struct login_desk *desk = errand->owner;
    struct login_entry *entry = entry_of(desk->book, errand->account);
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&desk->book->lock);
    bool is_due = login_lease_wants_renewal(&entry->lease, now_us) && login_lease_begin(&entry->lease, now_us);
    pthread_mutex_unlock(&desk->book->lock);
    if (is_due) {
        desk_fetch(desk, entry, true);
    }
}

// ----------------------------------------------------------------------------------------------------------- desks

enum status login_desk_open(struct login_desk *desk, struct login_book *book, struct world *world, struct loop *loop)
{
    *desk = (struct login_desk){ .world = world, .loop = loop };
    list_init(&desk->node);
    list_init(&desk->waiting);
    list_init(&desk->due);
    list_init(&desk->message.node);
    desk->message.on_receive = desk_on_message;
    desk->errands = calloc(book->entry_count + 1, sizeof(*desk->errands));
    if (desk->errands == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < book->entry_count; i++) {
        desk->errands[i] = (struct login_errand){
            .world = world,
            .catalogue = book->catalogue,
            .supplier = book->entries[i].supplier,
            .account = book->entries[i].account,
            .on_end = desk_on_end,
            .owner = desk,
        };
        desk->errands[i].renewal.on_due = desk_on_renewal;
    }
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
    for (size_t i = 0; i < book->entry_count; i++) {
        struct login_errand *errand = &desk->errands[i];
        if (timer_is_running(&errand->renewal)) {
            loop_timer_cancel(desk->loop, &errand->renewal);
        }
        if (errand->state != ERRAND_IDLE) {
            login_errand_cancel(errand);
            pthread_mutex_lock(&book->lock);
            login_lease_abandon(&book->entries[i].lease);
            pthread_mutex_unlock(&book->lock);
        }
    }
    pthread_mutex_lock(&book->lock);
    list_remove(&desk->node);
    pthread_mutex_unlock(&book->lock);
    desk->book = NULL;
    free(desk->errands);
    desk->errands = NULL;
}

// ----------------------------------------------------------------------------------------------------------- ports

struct login login_desk_peek(struct login_desk *desk, const struct script_account *account)
{
    struct login_book *book = desk->book;
    const struct login_entry *entry = entry_of(book, account);
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
    struct login_entry *entry = entry_of(book, account);
    uint64_t now_us = clock_now_us();
    bool is_due = false;

    pthread_mutex_lock(&book->lock);
    enum login_lease_answer answer = login_lease_ask(&entry->lease, now_us, refused);
    if (answer == LEASE_HELD) {
        *login = login_hold(&entry->login);
        is_due = login_lease_wants_renewal(&entry->lease, now_us) && login_lease_begin(&entry->lease, now_us);
    } else if (answer == LEASE_PAUSED) {
        set_failure(entry, end, now_us);
    }
    pthread_mutex_unlock(&book->lock);
    if (is_due) {
        desk_fetch(desk, entry, true);
    }
    return answer == LEASE_HELD ? LOGIN_HERE : answer == LEASE_WAIT ? LOGIN_ABSENT : LOGIN_FAILED;
}

enum status login_desk_start(struct login_desk *desk, struct login_wait *wait)
{
    struct login_book *book = desk->book;
    struct login_entry *entry = entry_of(book, wait->account);
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
        desk_fetch(desk, entry, false);
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
    entry_of(book, wait->account)->waiting--;
    pthread_mutex_unlock(&book->lock);
}

void login_desk_refuse(struct login_desk *desk, const struct script_account *account, uint64_t number,
                       const struct part_end *end)
{
    struct login_book *book = desk->book;
    struct login_entry *entry = entry_of(book, account);

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
                 TEXT_ARGS(entry->supplier->name), TEXT_ARGS(entry->account->name), end->detail);
    }
}
