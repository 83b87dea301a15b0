/// Connection: one accepted connection of a supplier or of the admin endpoint, from handshake to close.
///
/// It reads a request, waits as long as the supplier's latency says, answers, and plays the faults on the way.
///
/// Threads: the loop's.
/// Memory:  pooled; what was not taken by the kernel or is not yet whole is kept in memory of its own.
#pragma once

#include "farm/farm.h"
#include "farm/hotels.h"
#include "farm/recording.h"
#include "farm/shape_rates.h"
#include "farm/shape_xml.h"
#include "farm/step.h"

enum connection_state {
    CONNECTION_DELAYED, // before it shakes hands
    CONNECTION_HANDSHAKING,
    CONNECTION_READING,
    CONNECTION_ASKING,  // the prompter what to answer
    CONNECTION_WAITING, // for its latency to pass
    CONNECTION_SENDING, // the kernel's buffer is full
    CONNECTION_DRIPPING,
    CONNECTION_RESETTING, // what was sent may still travel
    CONNECTION_HANGING,   // until the peer leaves
    CONNECTION_CLOSED,
};

enum { CONNECTION_MARK_MAX = 64 };

struct connection {
    struct watch watch;
    struct timer timer;
    struct list node;
    struct farm *farm;
    struct supplier *supplier; // NULL: admin
    struct tls_session *tls;
    enum connection_state state;
    bool has_unread; // the kernel may hold bytes that were not read yet
    bool has_peer_left;
    bool closes;        // after the next answer
    bool has_continued; // the request in hand was told "100 Continue"
    bool turns_silent;  // after the first exchange
    uint32_t exchanges;
    struct step step;               // what was asked
    bool is_login;                  // a login was asked for
    char mark[CONNECTION_MARK_MAX]; // the header line that gives the request's mark back; empty: it had none
    struct hotels_query hotels;
    struct rates_query rates;
    struct shape_xml xml;
    const struct recorded_answer *recorded; // NULL: the answer is made
    struct prompted *prompted;              // what the prompter answered; owned
    uint64_t question, asked_us;            // what the prompter was asked last and was not told the end of; 0: none
    char *input;                            // the start of a request
    size_t input_length, input_capacity;
    char *output; // what still has to be sent
    size_t output_length, output_sent;
};

/// Takes the descriptor; plays what is played at accept. Without memory the descriptor is closed.
void connection_accept(struct farm *farm, int fd, struct supplier *supplier, bool is_tls);
void connection_close(struct connection *connection);

/// Sends all of `head` and `body`, now or as the peer reads; then the connection reads on, or closes.
void connection_send(struct connection *connection, struct text head, struct text body);

/// Sends what the kernel takes at once of `bytes`, and no more.
void connection_send_now(struct connection *connection, struct text bytes);
void connection_reset(struct connection *connection); // RST
void connection_hang(struct connection *connection);

/// Waits for the prompter.
void connection_ask(struct connection *connection);

/// Waits for `latency_us`, then play_answer() goes on.
void connection_wait(struct connection *connection, uint64_t latency_us);

/// RST after a moment in which what was sent arrives.
void connection_reset_soon(struct connection *connection);

/// Sends `bytes` one by one, each 0.4 s.
void connection_drip(struct connection *connection, struct text bytes);

/// Closes the kept connections of a supplier on which nothing is going on, so that the next request needs a new one.
void connection_drop_idle(struct farm *farm, const struct supplier *supplier);

/// Frees all connections; at the end of the farm.
void connection_close_all(struct farm *farm);
