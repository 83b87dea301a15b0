/// Play: what a supplier does with a request: refuse it, wait, answer, or misbehave.
///
/// Threads: the loop's.
/// Memory:  none of its own.
#pragma once

#include "farm/connection.h"

/// A whole request arrived. Afterwards the connection waits, hangs, or has been answered.
void play_request(struct connection *connection, const struct request *request);

/// The latency has passed: answers, or plays the fault.
void play_answer(struct connection *connection);

/// Prepares the templates, forgets the searches that could be polled, makes `output` large enough for any answer.
MUST_CHECK enum status play_prepare(struct farm *farm);
