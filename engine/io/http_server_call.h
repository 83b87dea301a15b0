/// HTTP server call: what the files of the server know of a request and of each other.
///
/// Only http_server.c talks to libmicrohttpd; the rest goes through the functions below.
///
/// Threads: its loop's.
/// Memory:  a call lives until its end has been told and its connection has let go of it.
#pragma once

#include "base/list.h"
#include "io/http_server.h"
#include "io/http_server_body.h"
#include "io/http_server_patience.h"
#include "io/http_server_stream.h"

#include <stdarg.h>

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

//   RECEIVING --> ARRIVED --> WAITING --> ANSWERED --> DONE     reply sent, or the connection broke
//       |            |         |   |         ^
//       |            |         |   +--> STREAMING --> CUT       too slow, or it broke: the user is to be told
//       |            |         |                       |
//       |            |         +------> GONE <---------+        the caller left; it was told to the user
//       |            +----------------> GONE                    nobody knew of it yet
//       +--> REFUSED --> DONE                                   too large, turned away: answered at once
//
// From ARRIVED to ANSWERED, CUT or GONE its socket is watched. The connection is suspended until the answer, and in a
// stream whenever there is nothing to send.
enum call_state {
    CALL_RECEIVING,
    CALL_ARRIVED,
    CALL_WAITING,
    CALL_STREAMING,
    CALL_ANSWERED,
    CALL_REFUSED,
    CALL_CUT,
    CALL_GONE,
    CALL_DONE
};

struct http_call {
    struct list node;  // in `calls` until it is DONE
    struct list event; // in `events` when there is something to tell: ARRIVED, CUT or DONE
    struct http_server *server;
    struct MHD_Connection *connection; // NULL: it has let go of this call
    struct loop_watch *watch;
    int fd; // valid while there is a connection, from ARRIVED on
    enum call_state state;
    struct http_server_body incoming;
    struct http_server_stream stream;
    struct block *body;
    struct MHD_Response *response;
    uint16_t status;
    uint64_t queued_turn;
    uint64_t arrival_us, arrival_wall_us, sent_us;
    bool was_sent, was_slow;
    void *owner;
    struct text method, path; // in `bytes`
    char bytes[];
};

struct http_server {
    struct loop *loop;
    struct http_server_handlers handlers;
    struct MHD_Daemon *daemon;
    struct loop_watch *watch;
    struct timer timer;         // libmicrohttpd's next timeout
    struct timer deliver_timer; // events that came outside of a turn
    struct list calls, events;
    struct http_server_patience patience;
    uint64_t body_cap, idle_timeout_us;
    struct timer rest_timer; // the end of a rest
    uint32_t connections;    // that are open
    uint32_t vain_turns;     // in a row
    bool has_begun;          // a connection, in this turn
    bool has_lost;           // a connection, in this pass
    uint64_t turn;
    uint32_t pass, open_calls;
    uint16_t port;
    bool is_running;    // inside libmicrohttpd
    bool is_delivering; // inside the user's code
    bool is_listening;
};

/// Makes sure that a turn comes by `at_us`. An earlier one that is already planned will do: it plans anew.
void http_server_plan(struct http_server *server, uint64_t at_us);
/// After a turn that the listener asked for. When it could take nobody in again and again, for want of descriptors, it
/// is left alone for a while: it would ask on and on.
void http_server_rest_if_vain(struct http_server *server);
void http_server_on_rested(struct timer *timer);

/// A call in `calls`, RECEIVING; NULL without memory.
struct http_call *http_server_call_create(struct http_server *server, struct MHD_Connection *connection,
                                          const char *method, const char *path);
void http_server_call_destroy(struct http_call *call); // its response is libmicrohttpd's by now
void http_server_unwatch(struct http_call *call);

/// The last byte is out or nothing more will be: on_sent is due.
void http_server_finish(struct http_call *call);

/// Ends a stream and its connection with a reset, at once in the next run; on_gone is due.
void http_server_cut(struct http_call *call);

/// No answer will come: tells the user, if he knows of the call, and lets the connection go.
void http_server_give_up(struct http_call *call);
/// What befalls the socket of a call (its owner) while it is watched.
void http_server_on_socket(void *owner, int fd, unsigned events);

/// Hands head or reply to libmicrohttpd and runs it. The state tells whether it is a stream.
void http_server_answer(struct http_call *call, const struct http_reply *reply);
void http_server_resume(struct http_call *call);

/// Hands out what happened to calls, from outside of libmicrohttpd.
void http_server_deliver(struct http_server *server);
/// The end of a call whose end has been told.
void http_server_forget(struct http_call *call);

/// One turn of libmicrohttpd, never from inside of one. Nothing is told to the user before it is over.
void http_server_run(struct http_server *server);

/// The logger of libmicrohttpd; the closure is the server.
void http_server_on_words(void *closure, const char *format, va_list arguments) PRINTF_LIKE(2, 0);
