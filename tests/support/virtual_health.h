/// Virtual health: what a virtual world knows of its accounts: breakers as they stand when the play begins, and what is
/// told of each attempt.
///
/// Threads: one.
/// Memory:  owned by its world.
#pragma once

#include "policy/known.h"
#include "search/ports.h"

struct virtual_supplier;
struct virtual_world;

struct virtual_health {
    struct health *known; // NULL: its breaker is closed, and stays so
    uint32_t asked, told; // passes that were given, and told of
    uint32_t lingering;   // parts that go on
    enum health_end last;
    uint64_t pending_us; // as it was told last
    double value;
    uint32_t lates;                        // records of attempts that went on, and of probes
    enum search_record_kind late_kind;     // of the last one
    struct search_record_late late;        // the last one's
    struct search_record_entry late_entry; // likewise, without its texts
    struct auth_park auth;
    uint32_t auth_asked, auth_told;

    struct knowledge *knowledge; // as searches see it; NULL: nothing is known
    uint32_t fits;               // that it is of
    struct worth worth;
    uint32_t noted; // answers of which was told what they added
    double items;   // as it was told last
    bool has_won;
};

void virtual_health_init(struct virtual_world *virtual);
/// The breakers of all accounts are in force from now on, and a guard; `seed` decides their dice.
void virtual_health_watch(struct virtual_world *virtual, uint64_t seed);
/// What was seen of suppliers before the play (`past`) becomes knowledge, by the world's `held_cost`; with `learns`
/// that of all others begins.
void virtual_health_remember(struct virtual_world *virtual);
void virtual_health_fini(struct virtual_world *virtual);

enum breaker_answer virtual_health_ask(struct world *world, const struct script_account *account,
                                       struct breaker_pass *pass, uint64_t *wait_us);
void virtual_health_tell(struct world *world, const struct script_account *account, const struct health_result *result);
bool virtual_is_switched_off(struct world *world, const struct catalogue_supplier *supplier,
                             const struct script_account *account, char *why, size_t size);
struct knowledge *virtual_knowledge(struct world *world, const struct script_account *account);
void virtual_worth_tell(struct world *world, const struct script_account *account, uint64_t kind, double items,
                        bool has_won);
bool virtual_linger_wants(struct world *world, const struct script_account *account, uint32_t parts, bool fills);
void virtual_linger_ended(struct world *world, const struct script_account *account, uint32_t parts);

void virtual_late_ended(struct world *world, struct search_record *record, enum outcome spoiled,
                        const struct failure *trouble);
bool virtual_auth_ask(struct world *world, const struct script_account *account, struct auth_pass *pass,
                      uint64_t *wait_us);
void virtual_auth_tell(struct world *world, const struct script_account *account, const struct auth_pass *pass,
                       enum auth_end end);
/// A login of it was denied.
void virtual_health_deny_login(struct virtual_world *virtual, const struct virtual_supplier *supplier);
/// As its machine says.
enum overload_level virtual_overload(struct world *world);
double virtual_shed_share(struct world *world);
double virtual_worth(struct world *world, const struct script_account *account);

/// Passes that were given, and parts that went on, of which nothing was told.
size_t virtual_health_untold(const struct virtual_world *virtual);
