/// Fixture login: the login of a fixture's account, fetched over the exchanges of the fixture.
///
/// The first request that needs a login has it fetched: its exchange comes before that request's own. A refused one is
/// fetched again, once, as in the engine.
///
/// Threads: its world's.
/// Memory:  embedded in its world; holds its login until fixture_login_fini.
#pragma once

#include "app/login_errand.h"
#include "policy/login_lease.h"

struct fixture_login {
    struct world *world; // NULL: the account has no login
    struct login_errand errand;
    struct login_lease lease;
    struct login login;
    struct list waiting;
    struct part_end end;
    uint64_t arrival_us, arrival_wall_us;
};

/// For the catalogue's one supplier; a search of it arrives now. The catalogue must outlive the world's run.
void fixture_login_open(struct fixture_login *own, struct world *world, const struct catalogue *catalogue,
                        uint64_t arrival_wall_us);
/// There is one already, that does not expire: its JSON.
void fixture_login_bring(struct fixture_login *own, struct text value);
/// Without fixture_login_open it does nothing.
void fixture_login_fini(struct fixture_login *own);

// The ports of the same names (search/ports.h).
struct login fixture_login_peek(const struct fixture_login *own);
enum login_state fixture_login_take(struct fixture_login *own, uint64_t refused, struct login *login,
                                    struct part_end *end);
enum status fixture_login_start(struct fixture_login *own, struct login_wait *wait);
void fixture_login_refuse(struct fixture_login *own, uint64_t number, const struct part_end *end);
