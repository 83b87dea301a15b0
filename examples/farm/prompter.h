/// Prompter: a program beside the farm that says what is answered. The farm keeps what is its own: sockets, TLS, how
/// long an answer takes, and faults.
///
/// `farm --prompted` has the prompter at its standard input, which is a socket. Both talk in frames (base/frame.h):
///
///     farm to prompter   {"ready": true}                          all doors are open
///                        {"failed": "…", "help": "…"}             it cannot start, and ends
///                        {"request": 7, "door": 0, "method": "POST", "target": "/v1?a=b", "head": 120}
///                                                                 its bytes: so many of header lines, then the body
///                        {"told": 7, "ms": 402, "fault": "drip"}  the answer is sent, or a fault plays in its
///                                                                 place; {"told": 7, "ms": 20, "left": true}: the
///                                                                 caller was gone before
///                        {"met": "reset_accept", "door": 0}       a fault that a connection met before any request
///     prompter to farm   {"answer": 7, "status": 200, "after_ms": 402, "head": 60}
///                                                                 its bytes: header lines without the length, the body
///
/// A door whose latency has no median of its own takes `after_ms` as the median. The prompter's end is the farm's end.
///
/// Threads: the loop's.
/// Memory:  owns what it has read and not yet sent; an answer belongs to its connection.
#pragma once

#include "farm/connection.h"

struct prompter;

/// The answer to one request.
struct prompted {
    struct text head; // whole, with the status line and the empty line
    struct text body;
    char bytes[];
};

/// Takes the descriptor and watches it.
MUST_CHECK enum status prompter_create(struct farm *farm, int fd, struct prompter **prompter);
void prompter_destroy(struct prompter **prompter);

/// Says that all doors are open.
void prompter_say_ready(struct prompter *prompter);

/// Says, before there is one, why there will not be a farm; waits until it is said.
void prompter_say_failed(int fd, const struct failure *why);

/// Asks what to answer; the connection waits.
void prompter_ask(struct connection *connection, const struct request *request);

/// Says that a request is answered, or that its caller is gone. Without one that was asked about it says nothing.
void prompter_tell(struct connection *connection, enum fault fault);
void prompter_tell_left(struct connection *connection);

/// Says that a connection met a fault before it asked for anything.
void prompter_tell_met(struct connection *connection, enum fault fault);
