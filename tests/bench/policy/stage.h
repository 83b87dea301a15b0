/// Stage: the world in which a row plays a trace: the ports of search/ in virtual time, for many searches at once.
///
/// tests/support/virtual_world is made for one search whose every block is held and counted; here thousands overlap,
/// share what is known of suppliers, and meet what the trace says. What an engine costs is fixed: waking late, each
/// turn of the loop, script workers that are waited for, merging and writing. What is known of an account is weighed
/// by policy/health as app/permits does, in virtual time.
///
/// Threads: one.
/// Memory:  owns its events; trace and row are borrowed.
#pragma once

#include "bench/policy/row.h"
#include "policy/extra_book.h"
#include "policy/worth.h"
#include "search/search.h"

struct stage_event;

/// One supplier as this row has come to know it.
struct stage_account {
    struct health health;
    uint64_t dice;
    uint32_t lingering;
    uint64_t refused_at_us; // the last time; 0: never
    struct worth worth;
    struct knowledge *knowledge; // as it was read last; NULL: never
    uint32_t fits;
    struct extra_book extra;
};

/// What it took, of searches after the warm-up; and of all of them.
struct stage_sums {
    double connection_us; // each request from its start to its end, whoever waited for it
    uint64_t requests, extra;
    uint64_t refused; // attempts, by breakers
    uint64_t retries, hedges;
};

/// One search while it runs, and what came of it.
struct stage_search {
    struct stage *stage;
    size_t number;
    struct search *search; // NULL: it is over, or has not begun
    struct timer arrival;
    uint32_t back; // answers that were read, whatever they said
    bool is_ending;
    // of its reply
    bool has_replied;
    uint64_t took_us; // from its arrival until the last byte was with the kernel
    uint64_t answered;
    double completeness;
    uint32_t early; // suppliers that were not waited for although they were still out
};

struct stage {
    struct world world;
    struct world_ops ops;
    const struct trace *trace;
    const struct row *row;
    uint64_t now_us;
    struct timer_heap timers;
    struct catalogue catalogue;
    struct catalogue_supplier suppliers[POPULATION_SUPPLIERS_MAX];
    struct script_account accounts[POPULATION_SUPPLIERS_MAX];
    struct extra_terms terms[POPULATION_SUPPLIERS_MAX];
    struct stage_account known[POPULATION_SUPPLIERS_MAX];
    struct extra_engine extra;
    struct breaker_guard guard;
    struct block *body;
    uint64_t *workers_us; // when each is free
    struct stage_search *searches;
    size_t replied, events;
    uint8_t *calls;     // by search and supplier: so many were sent
    uint64_t *first_us; // likewise: what the first call met, as it was drawn; 0: none was sent
    struct stage_event *spare;
    struct stage_search *ending; // its share has answered
    struct stage_sums sums;
};

/// Plays the whole trace; the results stand in `searches`. STATUS_NO_MEMORY.
MUST_CHECK enum status stage_play(const struct trace *trace, const struct row *row, const struct history *history,
                                  struct stage **stage);
/// Lets what goes on for nobody come to its end; then the sums are whole.
void stage_end(struct stage *stage);
void stage_destroy(struct stage **stage);

/// How long after the dead supplier was back some search was still refused it; 0: none was.
uint64_t stage_recovery_us(const struct stage *stage);
/// For how long searches still came after it was back; 0: none did, so nothing is known of that.
uint64_t stage_watched_us(const struct stage *stage);
