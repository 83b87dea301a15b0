/// Mock run: requests that the farm asks about are answered by the mock, and each is told when it is over.
///
/// Threads: one.
/// Memory:  owns what it has to tell later.
#pragma once

#include "app/mock.h"
#include "cli/cli.h"
#include "cli/farm_child.h"

struct mock_pending;

struct mock_run {
    const struct cli_options *options;
    struct mock *mock;
    struct farm_child *farm;
    struct mock_pending *pending; // answered, and not yet told
    size_t told, unfound;         // requests that are over; those that nothing fitted
};

/// Answers and tells until a signal, or until as many requests are over as `--once` says; an exit code.
int mock_run(struct mock_run *run, int signal_fd);

/// Waits until all doors are open. False: `*why` says what is in the way.
MUST_CHECK bool mock_run_await_ready(struct farm_child *farm, struct failure *why);
