/// Admin wait: a request of the admin listener that another thread answers later.
///
/// Threads: the admin's; done from any.
/// Memory:  embedded in what its owner keeps until `on_receive` of the message; a caller who leaves loses his answer
///          only.
#pragma once

#include "io/http_server.h"
#include "io/loop.h"

struct admin_wait {
    struct message message; // to the admin's loop; its on_receive answers
    struct loop *loop;
    struct http_call *call; // NULL: the caller left
};

/// From here on the request is suspended.
void admin_wait_begin(struct admin_wait *wait, struct loop *loop, struct http_call *call,
                      void (*on_receive)(struct message *message));
/// Any thread: there is an answer.
void admin_wait_done(struct admin_wait *wait);
/// In on_receive, or when nobody will answer: the request, to reply to; NULL: its caller left.
struct http_call *admin_wait_end(struct admin_wait *wait);

/// The caller of a request left: he is not answered any more.
void admin_wait_on_gone(struct http_call *call);

/// Answers that every change has.
void admin_refuse_draining(struct http_call *call);
void admin_refuse_memory(struct http_call *call);
/// Takes the bytes of `out`, which are JSON.
void admin_reply_json(struct http_call *call, uint16_t status, struct buffer *out);
