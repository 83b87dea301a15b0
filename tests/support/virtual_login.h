/// Virtual login: the logins of a virtual world's suppliers, fetched in virtual time.
///
/// A login takes as long as its supplier says, is granted or not, and goes on when nobody waits any more; it is no
/// fetch of the search. Its number is the number of the login, and an answer tells which one its request was made with.
///
/// Threads: its world's.
/// Memory:  owned by its world.
#pragma once

#include "policy/login_lease.h"
#include "search/ports.h"

struct virtual_world;
struct virtual_supplier;

enum { VIRTUAL_LOGIN_LIMIT_US = 10000000 };

struct virtual_login {
    struct virtual_world *virtual;
    const struct virtual_supplier *supplier;
    struct login_lease lease;
    struct block *value;
    struct timer timer; // runs while it is fetched
    struct list waiting;
    struct part_end end;
    uint64_t began_us;
    size_t fetched; // logins asked for
};

/// For all suppliers of the world that log in; those that are warm have their first login now.
void virtual_logins_init(struct virtual_world *virtual);
void virtual_logins_fini(struct virtual_world *virtual);
bool virtual_login_is_own(const struct timer *timer);

/// How many wait; how many logins were asked for.
size_t virtual_logins_waiting(const struct virtual_world *virtual);
size_t virtual_logins_fetched(const struct virtual_world *virtual);

// The ports of the same names.
struct login virtual_login_peek(struct world *world, const struct script_account *account);
enum login_state virtual_login_take(struct world *world, const struct script_account *account, uint64_t refused,
                                    struct login *login, struct part_end *end);
enum status virtual_login_start(struct world *world, struct login_wait *wait);
void virtual_login_cancel(struct world *world, struct login_wait *wait);
void virtual_login_refuse(struct world *world, const struct script_account *account, uint64_t number,
                          const struct part_end *end);
