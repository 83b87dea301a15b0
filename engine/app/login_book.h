/// Login book: the logins of all accounts in this process, and a desk on each loop where searches ask for them.
///
/// However many wait on however many loops, a login is fetched once: by the desk of whoever came first, with a limit of
/// its own, and for all. Its end wakes every desk, which tells those who wait there. A login that is used is renewed
/// before it expires, by a timer or by whoever takes it late in its life; nobody waits for that. Whether one may be
/// fetched at all is policy/login_lease.h's to say.
///
/// A login outlives the generation that fetched it: the next one uses it for the account of the same supplier, name,
/// options, secrets and route. Where one of these has changed it begins anew, and searches that began before go on with
/// the old login. Of a supplier that is gone no login is renewed, and what is being fetched ends unless a search that
/// began before waits for it.
///
/// Threads: the book from any, under one lock held for a few instructions; a desk on its loop's only; move and leave
///          from one at a time.
/// Memory:  the book owns the values; desks are embedded in their loops' worlds; whoever waits embeds his place.
/// Time:    the clock's.
#pragma once

#include "io/loop.h"
#include "model/catalogue.h"
#include "search/ports.h"
#include "token/token_ring.h"

#include <stdatomic.h>

struct login_book;

/// With the accounts of the catalogue moved in; NULL: none yet. After the last desk is closed it may be destroyed;
/// accounts that are still in have nothing here any more.
MUST_CHECK enum status login_book_create(const struct catalogue *catalogue, struct login_book **book);
void login_book_destroy(struct login_book **book);

/// A catalogue comes into use, and is the newest: its accounts get their entries (`account->kept`). The newest one's
/// ground is held until the next one has moved in. STATUS_NO_MEMORY: nothing has changed.
MUST_CHECK enum status login_book_move(struct login_book *book, const struct catalogue *now);
/// A catalogue that was moved in is out of use: no search of it asks or waits any more.
void login_book_leave(struct login_book *book, const struct catalogue *gone);
/// How many logins, of accounts as they are or were, it keeps room for.
size_t login_book_count(struct login_book *book);

/// From now on engines with the same store, settings and keys fetch one login for all of them (app/login_share.h).
/// Before the desks are opened; the ring is borrowed.
void login_book_share(struct login_book *book, const struct token_ring *ring);

struct login_counts {
    uint64_t made;    // renewals among them
    uint64_t adopted; // of those that another engine fetched
    uint64_t renewed;
    uint64_t failed;
    uint64_t refused; // new ones that the supplier refused to the request they were fetched for
    uint64_t waiting; // now
    uint64_t held;    // accounts that have one now
};
/// The sums over all accounts of a supplier of a catalogue that was moved in, and over those that it had before.
struct login_counts login_book_counts(struct login_book *book, const struct catalogue_supplier *supplier);

struct login_desk {
    struct login_book *book; // NULL: the desk is closed
    struct world *world;
    struct loop *loop;
    struct list node;    // among the book's desks
    struct list waiting; // struct login_wait
    struct list due;     // those of them that are about to be told
    struct message message;
    atomic_bool is_posted;
    struct list errands; // one for each account that it has fetched a login for
};

MUST_CHECK enum status login_desk_open(struct login_desk *desk, struct login_book *book, struct world *world,
                                       struct loop *loop);
/// What it fetches is given up. Nobody waits any more.
void login_desk_close(struct login_desk *desk);

// The ports of the same names (search/ports.h).
struct login login_desk_peek(struct login_desk *desk, const struct script_account *account);
enum login_state login_desk_take(struct login_desk *desk, const struct script_account *account, uint64_t refused,
                                 struct login *login, struct part_end *end);
enum status login_desk_start(struct login_desk *desk, struct login_wait *wait);
void login_desk_cancel(struct login_desk *desk, struct login_wait *wait);
void login_desk_refuse(struct login_desk *desk, const struct script_account *account, uint64_t number,
                       const struct part_end *end);
