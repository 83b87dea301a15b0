/// Login book: the logins of all accounts in this process, and a desk on each loop where searches ask for them.
///
/// However many wait on however many loops, a login is fetched once: by the desk of whoever came first, with a limit of
/// its own, and for all. Its end wakes every desk, which tells those who wait there. A login that is used is renewed
/// before it expires, by a timer or by whoever takes it late in its life; nobody waits for that. Whether one may be
/// fetched at all is policy/login_lease.h's to say.
///
/// Threads: the book from any, under one lock held for a few instructions; a desk on its loop's only.
/// Memory:  the book owns the values; desks are embedded in their loops' worlds; whoever waits embeds his place.
/// Time:    the clock's.
#pragma once

#include "io/loop.h"
#include "model/catalogue.h"
#include "search/ports.h"

#include <stdatomic.h>

struct login_book;
struct login_errand;

/// For the accounts of this catalogue, which must outlive it. After the last desk is closed it may be destroyed.
MUST_CHECK enum status login_book_create(const struct catalogue *catalogue, struct login_book **book);
void login_book_destroy(struct login_book **book);

struct login_counts {
    uint64_t made; // renewals among them
    uint64_t renewed;
    uint64_t failed;
    uint64_t refused; // new ones that the supplier refused to the request they were fetched for
    uint64_t waiting; // now
    uint64_t held;    // accounts that have one now
};
/// The sums over all accounts of a supplier of the catalogue.
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
    struct login_errand *errands; // one for each account that logs in
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
