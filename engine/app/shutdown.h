/// Shutdown: how a running engine ends after SIGTERM or SIGINT: step by step, each bounded, and at once when asked
/// again.
///
///   NOTICE  not ready; searches go on as always, for `shutdown.notice`: who sends them sees it and sends no more
///   DRAIN   no new connections, no new searches; open ones go on for `drain` at most, then they end with what they
///           have, as if their deadline had come, and their replies go out
///   STOP    threads end, what is waiting to be written is written: `shutdown.flush` at most
///
/// Threads: the control thread; from STOP on a guard of its own, which can end the process.
/// Memory:  owns nothing.
#pragma once

#include "app/engine.h"

#include <signal.h>

/// What the process exits with when STOP went beyond its bound: something did not end, and may not have been written.
enum { SHUTDOWN_EXIT_STUCK = 6 };

/// NOTICE and DRAIN, after the signal `number`. `signals` are those that the calling thread blocks. A second signal
/// ends open searches now, a third one waits for no reply: when it returns the loops have ended or must be ended with
/// whatever is open.
void shutdown_drain(struct engine *engine, const sigset_t *signals, int number);

/// Begins STOP: from now on a signal ends the process at once with 0, the end of `shutdown.flush` ends it with
/// SHUTDOWN_EXIT_STUCK; until shutdown_is_over.
void shutdown_guard(struct engine *engine, const sigset_t *signals);
void shutdown_guard_for(const sigset_t *signals, uint64_t flush_us); // what the former starts
void shutdown_is_over(void);
