/// Redis link: the one connection to Redis: it is opened, introduces itself, carries commands and brings their replies
/// in order, and is opened anew after a while when it was lost.
///
/// While it is down there is nothing to wait for: who asks is told at once. One attempt at a time finds out whether it
/// can be up again, after a pause that grows from a tenth of a second to ten seconds and is different on each engine;
/// one connection that has held for a while makes it short again. A peer that says nothing while it owes a reply has
/// lost it.
///
/// Threads: the store's own, but for redis_link_is_up and redis_link_trouble.
/// Memory:  embedded; borrows the transport.
#pragma once

#include "base/buffer.h"
#include "store/redis_wire.h"
#include "store/transport.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    REDIS_SILENCE_US = 1000000, // without a byte while a reply is owed
    REDIS_DOUBT_US = 100000,    // and a look whether we were it who did not listen
    REDIS_CONNECT_US = 2000000, // until it has introduced itself
    REDIS_PAUSE_US = 100000,    // before the second attempt; twice as long each time
    REDIS_PAUSE_MAX_US = 10000000,
    REDIS_STEADY_US = 5000000, // it has held
    REDIS_TROUBLE_MAX = 160,
};

struct redis_login {
    struct text user, password; // absent: none
    uint32_t database;
};

/// What was sent in one piece and has replies to come, in order.
struct redis_order {
    struct list node;
    uint32_t replies; // still to come
    /// False: this is no reply to what was asked; the connection is given up. The order is no longer the link's when
    /// none is still to come.
    bool (*on_reply)(struct redis_order *order, const struct redis_reply *reply);
    void (*on_lost)(struct redis_order *order); // the rest will not come; the order is no longer the link's
};

enum redis_link_state { LINK_DOWN, LINK_CONNECTING, LINK_GREETING, LINK_UP, LINK_ENDED };

struct redis_link {
    struct transport_peer peer;
    const struct transport *transport;
    struct redis_login login;
    void (*on_change)(struct redis_link *link); // it is up, or no longer, or replies have made room
    enum redis_link_state state;
    atomic_bool is_up;
    struct redis_wire *wire;
    struct redis_order greeting;
    uint32_t greeted;   // replies to it
    struct list orders; // in the order of their replies
    uint32_t owed;      // replies
    struct timer timer; // next attempt, end of the attempt, or silence
    uint64_t heard_us;
    bool is_doubted; // nothing was heard for long
    uint64_t up_us;  // since when
    unsigned failures;
    uint64_t seed;
    pthread_mutex_t lock;
    char trouble[REDIS_TROUBLE_MAX]; // under the lock
};

void redis_link_init(struct redis_link *link, const struct transport *transport, const struct redis_login *login,
                     uint64_t seed);
void redis_link_fini(struct redis_link *link); // after redis_link_stop
void redis_link_start(struct redis_link *link);
void redis_link_stop(struct redis_link *link); // all orders are lost; on_change does not come any more

/// Sends commands that have order->replies replies. False, without memory: nothing was sent and the order stays with
/// its owner. Only while it is up.
MUST_CHECK bool redis_link_send(struct redis_link *link, struct redis_order *order, struct text commands);

static inline bool redis_link_is_up(struct redis_link *link)
{
    return atomic_load(&link->is_up);
}
/// Why it is not up; "": it is.
void redis_link_trouble(struct redis_link *link, char out[REDIS_TROUBLE_MAX]);
