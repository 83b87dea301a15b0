/// Fixture run: one fixture played through the real thing: its product's query, the supplier's script on a worker, the
/// verdicts and the reply of search/, and what came of it held against what was expected.
///
/// Threads: one, beside the workers.
/// Memory:  borrows everything.
#pragma once

#include "app/fixture_world.h"
#include "app/generation.h"
#include "app/tap.h"
#include "script/script_set.h"

/// Whose fixtures they are.
struct fixture_subject {
    const struct settings *settings;
    const struct catalogue *catalogue; // for its script set, tables and rates
    const struct script_supplier *script;
    size_t index; // of the supplier, in the script set
    struct worker_pool *workers;
    // for somebody who looks on, and holds nothing against what is expected; both or none
    struct tap *tap;      // made here, and good after the run
    struct buffer *reply; // of the search
};

/// What the parts of a run share.
struct fixture_play {
    struct fixture *fixture;
    const struct fixture_subject *subject;
    const struct script_account *account;
    struct fixture_world *world;
    uint64_t arrival_us, budget_us;
    struct buffer reply;
    const struct json_node *root; // of the reply
};

/// Findings go where the fixture's go.
void fixture_run(struct fixture *fixture, const struct fixture_subject *subject);

/// The account that a fixture describes: options of the script and its own, its secrets. NULL: a finding says why.
const struct script_account *fixture_account(struct fixture *fixture, const struct fixture_subject *subject);

/// Did the script fail by a bug that `expect` does not name? Then the fixture has it, and nothing else is worth saying.
MUST_CHECK bool fixture_meet_bug(const struct fixture_play *play);

/// Measures what the exchanges of the fixture take, once its search is over.
void fixture_measure(const struct fixture_play *play);
/// Says how that fits: "its exchanges take 1460 ms (60 + 1400), but its ceiling ends at 1200 ms", as a finding at `at`.
/// False: it fits.
bool fixture_find_misfit(const struct fixture_play *play, const struct json_node *at, const struct json_node *report);
/// Notes which of the script's hosts a request goes to.
void fixture_note_host(const struct fixture_play *play, const struct http_request *request);

/// The reply's report on the supplier and its offers, held against `expect`. False: the outcome is wrong, and so is
/// everything that would have come of it.
MUST_CHECK bool fixture_expect(const struct fixture_play *play);

/// What nobody expects of a fixture that must not fail. False: its outcome is wrong, and nothing else is worth saying.
bool fixture_check_is_fine(const struct fixture_play *play, const struct json_node *report);
/// A line about why the outcome is what it is, when the report on the supplier has one.
void fixture_find_detail(struct fixture *fixture, const struct json_node *at, const struct json_node *report);

/// The ceilings and revalidations of a fixture, once its search is over.
void fixture_ask(const struct fixture_play *play);

/// For the watcher of a world: the request held against what its exchange expects.
void fixture_watch(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                   const struct fixture_exchange *exchange, size_t index, const struct http_request *request);
/// Reports the exchanges that nobody asked for.
void fixture_check_sent(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                        size_t sent);

/// A node of a value that stands nowhere in a file; NULL without memory.
const struct json_node *fixture_value(struct fixture *fixture, struct text json);
