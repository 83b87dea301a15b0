#include "store/redis_link.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

//   DOWN --pause over--> CONNECTING --connected--> GREETING --all is well--> UP
//    ^                       |                        |                      |
//    +-----------------------+------------------------+----------------------+   closed, refused, silent, no sense
//   any --> ENDED on stop
//
// Only link_enter assigns the state. One timer serves all of them.

enum { ATTEMPT_DOUBLINGS = 7, GREETING_MAX = 4096 };

static const char *const LOST_BY[] = { "LOADING", "MASTERDOWN", "NOAUTH", "WRONGPASS", "MOVED", "CLUSTERDOWN" };

static uint64_t now(const struct redis_link *link)
{
    return link->transport->now_us(link->transport->context);
}

static void set_timer(struct redis_link *link, uint64_t at_us)
{
    // The heap has room for what was in it before, and this timer always comes back to it.
    if (link->transport->timer_start(link->transport->context, &link->timer, at_us) != STATUS_OK) {
        log_line(LOG_ERROR, "store", "no memory for a timer: the store stays as it is until the next restart");
    }
}

static void set_trouble(struct redis_link *link, const char *trouble)
{
    char line[REDIS_TROUBLE_MAX];
    char shown[LOG_VALUE_MAX];

    snprintf(line, sizeof line, "%s", trouble);
    pthread_mutex_lock(&link->lock);
    bool is_news = strcmp(line, link->trouble) != 0;
    memcpy(link->trouble, line, sizeof line);
    pthread_mutex_unlock(&link->lock);
    if (is_news && line[0] != '\0') {
        log_line(LOG_WARNING, "store", "the store is down, searches go on without it why=%s",
                 log_value(text_of(line), shown));
    }
}

void redis_link_trouble(struct redis_link *link, char out[REDIS_TROUBLE_MAX])
{
    pthread_mutex_lock(&link->lock);
    memcpy(out, link->trouble, REDIS_TROUBLE_MAX);
    pthread_mutex_unlock(&link->lock);
}

// Half of the pause is fixed, half is chance: engines that lost the same store do not come back at once.
static uint64_t pause_us(struct redis_link *link)
{
    unsigned doublings = link->failures < ATTEMPT_DOUBLINGS ? link->failures : ATTEMPT_DOUBLINGS;
    uint64_t most_us = (uint64_t)REDIS_PAUSE_US << doublings;

    most_us = most_us < REDIS_PAUSE_MAX_US ? most_us : REDIS_PAUSE_MAX_US;
    link->seed = link->seed * 6364136223846793005U + 1442695040888963407U;
    return most_us / 2 + (link->seed >> 33) % (most_us / 2);
}

static void link_enter(struct redis_link *link, enum redis_link_state state)
{
    link->state = state;
    atomic_store(&link->is_up, state == LINK_UP);
    switch (state) {
    case LINK_DOWN:
        set_timer(link, now(link) + pause_us(link));
        break;
    case LINK_CONNECTING:
        set_timer(link, now(link) + REDIS_CONNECT_US);
        break;
    case LINK_UP:
        link->up_us = now(link);
        link->transport->timer_cancel(link->transport->context, &link->timer);
        break;
    case LINK_ENDED:
        link->transport->timer_cancel(link->transport->context, &link->timer);
        break;
    case LINK_GREETING:
        break; // within the time of the attempt
    }
}

static void lose_orders(struct redis_link *link)
{
    struct list lost;

    list_init(&lost);
    while (!list_is_empty(&link->orders)) {
        list_append(&lost, list_take_first(&link->orders));
    }
    link->owed = 0;
    while (!list_is_empty(&lost)) {
        struct redis_order *order = CONTAINER_OF(list_take_first(&lost), struct redis_order, node);
        order->on_lost(order);
    }
}

static void hang_up(struct redis_link *link)
{
    link->transport->close(link->transport->context);
    redis_wire_destroy(&link->wire);
}

static void link_fail(struct redis_link *link, const char *why)
{
    bool has_held = link->state == LINK_UP && now(link) - link->up_us >= REDIS_STEADY_US;

    link->failures = has_held ? 0 : link->failures + 1;
    hang_up(link);
    link_enter(link, LINK_DOWN);
    set_trouble(link, why);
    lose_orders(link);
    link->on_change(link);
}

// ----------------------------------------------------------------------------------------------------------- greeting

static bool on_greeting(struct redis_order *order, const struct redis_reply *reply)
{
    struct redis_link *link = CONTAINER_OF(order, struct redis_link, greeting);
    char why[REDIS_TROUBLE_MAX];

    if (reply->kind == REDIS_ERROR) {
        bool is_login = link->login.password.length > 0 && link->greeted == 0;
        struct text said = reply->text;
        if (is_login &&
            memmem(said.data, said.length, link->login.password.data, link->login.password.length) != NULL) {
            said = TEXT("(in words that hold the password)");
        }
        snprintf(why, sizeof why, "%s: %.*s",
                 is_login ? "it refuses user or password (store.user, store.password_env)" : "it refuses us",
                 TEXT_ARGS(said));
        link_fail(link, why);
        return true;
    }
    link->greeted++;
    if (order->replies == 0) {
        link_enter(link, LINK_UP);
        set_trouble(link, "");
        log_line(LOG_INFO, "store", "the store is up");
        link->on_change(link);
    }
    return true;
}

static void on_greeting_lost(struct redis_order *order)
{
    (void)order; // link_fail has said all
}

static bool put_greeting(struct redis_link *link, struct buffer *out)
{
    const struct redis_login *login = &link->login;
    char number[16];

    link->greeting.replies = 2;
    if (login->password.length > 0) {
        struct text with_user[] = { TEXT("AUTH"), login->user, login->password };
        struct text without[] = { TEXT("AUTH"), login->password };
        redis_command(out, login->user.length > 0 ? with_user : without, login->user.length > 0 ? 3 : 2);
        link->greeting.replies++;
    }
    snprintf(number, sizeof number, "%u", login->database);
    redis_command(out, (struct text[]){ TEXT("SELECT"), text_of(number) }, 2);
    redis_command(out, (struct text[]){ TEXT("PING") }, 1); // says LOADING, as SELECT does not
    return !out->is_full;
}

static void on_connected(struct transport_peer *peer)
{
    struct redis_link *link = CONTAINER_OF(peer, struct redis_link, peer);
    struct buffer out;

    link_enter(link, LINK_GREETING);
    link->greeted = 0;
    link->wire = redis_wire_create();
    buffer_init(&out, GREETING_MAX);
    bool is_sent = link->wire != NULL && put_greeting(link, &out) &&
                   link->transport->write(link->transport->context, buffer_text(&out));
    buffer_fini(&out);
    if (!is_sent) {
        link_fail(link, "no memory for its greeting");
        return;
    }
    list_append(&link->orders, &link->greeting.node);
    link->owed = link->greeting.replies;
}

// ------------------------------------------------------------------------------------------------------------ replies

/// An error after which nothing of this connection makes sense; absent: it is none.
static bool is_the_end(const struct redis_reply *reply)
{
    for (size_t i = 0; reply->kind == REDIS_ERROR && i < COUNT_OF(LOST_BY); i++) {
        if (text_starts_with(reply->text, text_of(LOST_BY[i]))) {
            return true;
        }
    }
    return false;
}

static void take_reply(struct redis_link *link, const struct redis_reply *reply)
{
    char why[REDIS_TROUBLE_MAX];

    if (list_is_empty(&link->orders)) {
        link_fail(link, "it says what nobody asked");
        return;
    }
    struct redis_order *order = CONTAINER_OF(link->orders.next, struct redis_order, node);
    bool is_greeting = order == &link->greeting;
    link->owed--;
    order->replies--;
    if (order->replies == 0) {
        list_remove(&order->node);
    }
    if (!order->on_reply(order, reply)) {
        link_fail(link, "it answers something else than what was asked");
    } else if (!is_greeting && is_the_end(reply)) {
        snprintf(why, sizeof why, "it says %.*s", TEXT_ARGS(reply->text));
        link_fail(link, why);
    }
}

static void on_bytes(struct transport_peer *peer, struct text bytes)
{
    struct redis_link *link = CONTAINER_OF(peer, struct redis_link, peer);
    char why[REDIS_TROUBLE_MAX];

    link->heard_us = now(link);
    link->is_doubted = false;
    if (!redis_wire_feed(link->wire, bytes)) {
        link_fail(link, "no memory for its replies");
        return;
    }
    while (link->wire != NULL) {
        struct redis_reply *reply = NULL;
        if (!redis_wire_next(link->wire, &reply, why, sizeof why)) {
            link_fail(link, why);
            return;
        }
        if (reply == NULL) {
            break;
        }
        take_reply(link, reply);
        redis_reply_destroy(&reply);
    }
    if (link->state == LINK_UP) {
        link->on_change(link);
    }
}

static void on_closed(struct transport_peer *peer, const char *why)
{
    link_fail(CONTAINER_OF(peer, struct redis_link, peer), why);
}

// ----------------------------------------------------------------------------------------------------------- from
// above

static void on_silence(struct redis_link *link)
{
    if (link->owed == 0) {
        return;
    }
    if (now(link) < link->heard_us + REDIS_SILENCE_US) {
        set_timer(link, link->heard_us + REDIS_SILENCE_US);
    } else if (!link->is_doubted) {
        link->is_doubted = true; // bytes may lie here unread, because this thread did not get to run
        set_timer(link, now(link) + REDIS_DOUBT_US);
    } else {
        link_fail(link, "it says nothing any more");
    }
}

static void on_timer(struct timer *timer)
{
    struct redis_link *link = CONTAINER_OF(timer, struct redis_link, timer);

    switch (link->state) {
    case LINK_DOWN:
        link_enter(link, LINK_CONNECTING);
        link->transport->connect(link->transport->context, &link->peer);
        break;
    case LINK_CONNECTING:
        link_fail(link, "it does not take the connection");
        break;
    case LINK_GREETING:
        link_fail(link, "it took the connection and says nothing");
        break;
    case LINK_UP:
        on_silence(link);
        break;
    case LINK_ENDED:
        break;
    }
}

bool redis_link_send(struct redis_link *link, struct redis_order *order, struct text commands)
{
    require(link->state == LINK_UP && order->replies > 0);
    if (!link->transport->write(link->transport->context, commands)) {
        return false;
    }
    if (link->owed == 0) {
        link->heard_us = now(link);
        link->is_doubted = false;
    }
    list_append(&link->orders, &order->node);
    link->owed += order->replies;
    if (!timer_is_running(&link->timer)) {
        set_timer(link, link->heard_us + REDIS_SILENCE_US);
    }
    return true;
}

void redis_link_init(struct redis_link *link, const struct transport *transport, const struct redis_login *login,
                     uint64_t seed)
{
    *link = (struct redis_link){ .transport = transport, .login = *login, .seed = seed };
    link->peer = (struct transport_peer){ on_connected, on_bytes, on_closed };
    link->greeting.on_reply = on_greeting;
    link->greeting.on_lost = on_greeting_lost;
    link->timer.on_due = on_timer;
    list_init(&link->orders);
    list_init(&link->greeting.node);
    require(pthread_mutex_init(&link->lock, NULL) == 0);
    snprintf(link->trouble, sizeof link->trouble, "not connected yet");
}

void redis_link_fini(struct redis_link *link)
{
    pthread_mutex_destroy(&link->lock);
}

void redis_link_start(struct redis_link *link)
{
    link_enter(link, LINK_CONNECTING);
    link->transport->connect(link->transport->context, &link->peer);
}

void redis_link_stop(struct redis_link *link)
{
    if (link->state == LINK_ENDED) {
        return;
    }
    hang_up(link);
    link_enter(link, LINK_ENDED);
    lose_orders(link);
}
