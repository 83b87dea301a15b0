/// Reload print: the answer of a reload as a page, and what a status says of reloads.
///
/// Threads: one.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "base/json_tree.h"
#include "cli/cli.h"

struct http_response;

/// Prints the answer of `lastcall reload` or `rollback`, or what --json asks for; the exit code that goes with it.
int reload_print(const struct cli_options *options, const struct http_response *response);

/// The field `reload` of the status: the last change, what is stale and why, what a restart would do. The number of
/// things that are stale.
size_t reload_print_status(struct paint *paint, const struct json_node *reload);
