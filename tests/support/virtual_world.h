/// Virtual world: the ports of search/ with a clock of its own, for tests.
///
/// Suppliers behave as their `struct virtual_supplier` says; time jumps from event to event. What a machine costs
/// (waking late, a turn of the loop, waiting for a script worker, merging, writing) is told by `struct
/// virtual_machine` and drawn from its seed, so that a reply can be late here. It counts what a search must give back
/// and notes the first rule of the ports that a search breaks.
///
/// Threads: one.
/// Memory:  owns its events; behaviours are the test's. It holds a reference of its own to every block and batch that
///          it made, so that at the end it can tell those that were lost.
#pragma once

#include "base/list.h"
#include "model/ceiling_call.h"
#include "search/ports.h"
#include "support/virtual_behaviour.h"
#include "support/virtual_extra.h"
#include "support/virtual_health.h"
#include "support/virtual_store.h"

/// All zero: nothing costs anything, no port refuses.
struct virtual_machine {
    uint64_t seed;
    uint32_t workers;           // script workers; 0: a call never waits for one
    uint64_t late_us;           // the loop wakes up to this late
    uint64_t turn_us;           // each callback keeps it busy for up to this
    uint64_t long_turn_us;      // and some for this; at most one in 32
    uint64_t offer_ns, byte_ns; // merging and writing the reply, for each offer found and each byte
    uint64_t event_byte_ns;     // writing an event of a stream
    uint32_t script_percent;    // script calls take up to this longer
    bool fetch_ends_first;      // a fetch notices its end before the search's timers do
    uint32_t rung;              // of the engine's admission: how overloaded it is
    uint32_t refused_call;      // the ports that refuse, the Nth time from 1 on; 0: never
    uint32_t refused_fetch;
    uint32_t refused_timer;
};

struct virtual_event;
struct virtual_login;

struct virtual_world {
    struct world world;
    uint64_t now_us, began_us;
    struct timer_heap timers;
    double held_cost; // as in struct patience_settings
    bool learns;      // of all its accounts, from what becomes of their attempts; set before the first search
    const struct virtual_supplier *suppliers;
    size_t supplier_count;
    struct virtual_machine machine;
    enum script_verdict product;   // of the start call
    uint64_t start_us;             // what the start call takes
    const struct rule_fact *facts; // of the search, for the catalogue's rules; in the order of their segments
    uint64_t reask_us;             // what a call for ceilings takes
    uint64_t begins_after_us;      // a script call waits this long in the queue
    size_t fetches_running, calls_out, fetches_started;
    size_t calls_asked, calls_submitted, calls_settled;      // settled: came back or given up
    size_t reasks;                                           // calls for ceilings that were submitted
    uint64_t reasked_us;                                     // when the last one was; 0: never
    bool is_reasking;                                        // one is out
    size_t timers_asked, events_running;                     // events: own timers in the heap
    size_t fetches_done, fetches_cancelled, fetches_refused; // of those started
    bool is_start_refused;
    bool is_over; // the test saw the end of the search: nothing may begin any more, but of attempts that linger
    const char *broken_rule; // the first that the search broke; NULL: none

    struct virtual_store store;
    struct virtual_login *logins;  // beside the suppliers
    struct virtual_event *waiting; // calls that no worker has taken
    uint32_t busy_workers;
    uint64_t draws, turns;
    struct quota *quotas;          // of the accounts, beside `suppliers`
    struct virtual_health *health; // likewise
    struct breaker_guard guard;    // of those whose breakers are in force
    uint64_t health_dice;          // 0: what waits, waits as long as it says
    size_t late_requests;          // that the records of attempts that went on, and of probes, tell of
    struct virtual_extra *extra;   // likewise
    struct extra_engine extra_engine;
    bool is_extra_overloaded; // for extra calls alone; all else goes by `machine`
    struct virtual_asked {
        const struct virtual_supplier *supplier;
        uint32_t part, step, times;
    } * asked; // how often each exchange was asked for
    size_t asked_count;
    struct block **blocks; // held to the end
    struct offer_batch **batches;
    size_t block_count, block_capacity, batch_count, batch_capacity;
};

void virtual_world_init(struct virtual_world *virtual, const struct virtual_supplier *suppliers, size_t count);
void virtual_world_fini(struct virtual_world *virtual); // calls and fetches under way end without a callback

/// Notes a rule that the search broke. The first is kept: what follows comes of it.
void virtual_world_blame(struct virtual_world *virtual, const char *rule);
/// For what begins: notes the rule when the search is over.
void virtual_world_check_begin(struct virtual_world *virtual, const char *rule);

/// Lets go of the blocks and batches made so far, for a world that many searches come to.
void virtual_world_forget(struct virtual_world *virtual);

/// When the next event is due; UINT64_MAX: never.
uint64_t virtual_world_next_us(const struct virtual_world *virtual);
/// Fires one event and moves the clock to it. False: nothing is left to happen.
bool virtual_world_step(struct virtual_world *virtual);
/// Steps through everything up to and including `until_us`, then sets the clock to it.
void virtual_world_run(struct virtual_world *virtual, uint64_t until_us);

/// What the reply costs from the moment that on_reply comes; the clock is then where the kernel has its last byte.
void virtual_world_charge_reply(struct virtual_world *virtual, uint64_t offers_found, size_t bytes);
void virtual_world_charge_event(struct virtual_world *virtual, size_t bytes);

/// Timers of the search that still run.
size_t virtual_world_search_timers(const struct virtual_world *virtual);
/// Calls that were handed over and neither came back nor were given up.
size_t virtual_world_search_calls(const struct virtual_world *virtual);
/// Calls for the store that neither came home nor were given up.
size_t virtual_world_store_calls(const struct virtual_world *virtual);
/// Permits of accounts that were not given back.
size_t virtual_world_permits(const struct virtual_world *virtual);
/// Blocks and batches that someone beside the world holds; right once no call is out.
size_t virtual_world_references(const struct virtual_world *virtual);
