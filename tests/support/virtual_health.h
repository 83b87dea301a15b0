/// Virtual health: what a virtual world knows of its accounts: breakers as they stand when the play begins, and what is
/// told of each attempt.
///
/// Threads: one.
/// Memory:  owned by its world.
#pragma once

#include "policy/known.h"
#include "search/ports.h"

struct virtual_world;

struct virtual_health {
    struct health *known; // NULL: its breaker is closed, and stays so
    uint32_t asked, told; // passes that were given, and told of
    uint32_t lingering;   // parts that go on
    enum health_end last;
    uint64_t pending_us; // as it was told last
    double value;

    struct knowledge *knowledge; // as searches see it; NULL: nothing is known
    uint32_t fits;               // that it is of
    struct worth worth;
    uint32_t noted; // answers of which was told what they added
    double items;   // as it was told last
    bool has_won;
};

void virtual_health_init(struct virtual_world *virtual);
/// What was seen of suppliers before the play (`past`) becomes knowledge, by the world's `held_cost`; with `learns`
/// that of all others begins.
void virtual_health_remember(struct virtual_world *virtual);
void virtual_health_fini(struct virtual_world *virtual);

enum breaker_answer virtual_health_ask(struct world *world, const struct script_account *account,
                                       struct breaker_pass *pass, uint64_t *wait_us);
void virtual_health_tell(struct world *world, const struct script_account *account, const struct health_result *result);
struct knowledge *virtual_knowledge(struct world *world, const struct script_account *account);
void virtual_worth_tell(struct world *world, const struct script_account *account, uint64_t kind, double items,
                        bool has_won);
bool virtual_linger_wants(struct world *world, const struct script_account *account, uint32_t parts);
void virtual_linger_ended(struct world *world, const struct script_account *account, uint32_t parts);

/// Passes that were given, and parts that went on, of which nothing was told.
size_t virtual_health_untold(const struct virtual_world *virtual);
