/// Fixture suite: every fixture of the suppliers of a generation, each in its turn.
///
/// The fixtures of `suppliers/NAME.lua` are the files `suppliers/NAME.test/*.json`, in the order of their names; what
/// ends in `.body.json` is a body of one. A file that plays several suppliers is tested once, as the supplier of its
/// own name, whether the settings switch that on or not.
///
/// Threads: its caller's, and a worker of its own.
/// Memory:  nothing is left.
#pragma once

#include "app/fixture.h"
#include "app/settings.h"
#include "base/buffer.h"
#include "model/catalogue.h"
#include "script/script_set.h"

enum { FIXTURE_BARE_SHOWN = 8 };

struct fixture_suite {
    const struct settings *settings;
    const struct catalogue *catalogue; // of a generation
    const char *const *names;          // of suppliers; none: all
    size_t name_count;
    bool is_updating;         // writes what came in place of what was expected
    bool is_lenient;          // names without a file and suppliers without fixtures are no findings
    bool allows_bare;         // suppliers without fixtures are no findings
    uint64_t supplier_max_us; // what runs longer is cut with a finding: of one supplier, and of all; 0: never
    uint64_t all_max_us;
    settings_finding report;
    void *context;
    /// After each fixture, before its findings are told; NULL: nobody asks.
    void (*on_fixture)(void *context, const struct script_supplier *script, const struct fixture *fixture);
    /// After the findings of a supplier; NULL: nobody asks.
    void (*on_supplier)(void *context, const struct script_supplier *script, size_t failed);
    // out
    uint64_t began_us;
    size_t suppliers; // that have fixtures
    size_t fixtures, failed, updated;
    size_t unknown; // names that nobody has
    size_t bare;    // suppliers without fixtures
    struct text bare_names[FIXTURE_BARE_SHOWN];
};

/// Runs them; every finding is reported. A bug of the script that ends several fixtures is one, before the others.
void fixture_suite_run(struct fixture_suite *suite);

/// Is it one of the names? Of none everything is.
bool fixture_suite_is_named(const char *const *names, size_t count, struct text name);

/// Appends "; no fixtures for acme, bedstone" when there are suppliers without fixtures.
void fixture_suite_tell_bare(const struct fixture_suite *suite, struct buffer *out);
