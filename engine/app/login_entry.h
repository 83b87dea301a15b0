/// Login entry: one account's login within the book, with what is counted of it. For login_book.c and login_desk.c.
///
/// An entry is of the names of a supplier and an account, and of what a login was fetched with: the account's context
/// (options and secrets) and its route. So an account whose secret has changed gets another one, while the searches of
/// the generation before it go on with theirs. One that the newest generation does not have is *old*: it is not renewed
/// any more, and its errands end as soon as nobody waits for them.
///
/// Threads: any, under the book's lock, but for what never changes.
/// Memory:  counted by the generations that have it and by the desks' errands; freed by the book when none is left.
#pragma once

#include "app/login_book.h"
#include "app/login_share.h"
#include "policy/login_lease.h"

#include <pthread.h>

struct login_entry {
    struct login_book *book; // never changes, as do the names and what it was fetched with
    struct list node;        // among the book's entries; under the book's `moving`
    uint64_t hash;
    struct text supplier, account, context;
    uint64_t route;

    const struct script_account *newest; // of the newest generation; NULL: it is old
    const struct script_account *found;  // while a catalogue moves in
    unsigned holds;
    struct login_lease lease;
    struct login login;
    uint64_t rounds;     // fetches that have ended
    struct part_end end; // of the last that failed, or of the last login that was refused at once
    uint64_t made, adopted, renewed, failed, refused, waiting;
    uint8_t shared[LOGIN_SHARE_ID]; // what its login is known by to other engines; 0: to none
};

struct login_book {
    pthread_mutex_t moving; // one catalogue at a time; taken before `lock`, never by a loop
    struct list entries;
    size_t entry_count;
    const struct token_ring *ring; // never changes; NULL: each engine logs in for itself

    pthread_mutex_t lock;
    struct list desks;
};

/// A fetch has ended, or entries are old: every desk looks what there is for those who wait there, and what of its
/// errands goes on. Under the lock, so that no desk closes.
void login_book_wake_all(struct login_book *book);

/// The account's. Its catalogue was moved in.
static inline struct login_entry *login_entry_of(const struct login_book *book, const struct script_account *account)
{
    struct login_entry *entry = account->kept->login;

    require(entry != NULL && entry->book == book);
    return entry;
}
