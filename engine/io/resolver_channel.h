/// Channel: the way to the name servers (c-ares) of the resolver's thread: sockets, time-outs, re-read configuration.
///
/// Threads: the resolver's own, except channel_wake.
/// Memory:  owns its sockets; look-ups belong to their names and must not go while they run.
#pragma once

#include "io/resolver_name.h"

struct channel;

struct channel_options {
    const char *servers; // comma separated; NULL: those of resolv.conf
    const char *resolv_conf;
    uint16_t resolv_conf_port;           // 0: 53
    const struct address_range *allowed; // borrowed
    size_t allowed_count;
    /// A look-up has been settled; its entry has changed or not. May come from inside channel_ask.
    void (*on_settled)(void *context, bool is_changed);
    void *context;
};

MUST_CHECK enum status channel_create(const struct channel_options *options, struct channel **channel,
                                      struct failure *why);
/// Running look-ups are given up; they may be asked anew.
void channel_destroy(struct channel **channel);

/// Starts a look-up that does not run. Without memory it stays where it is.
void channel_ask(struct channel *channel, struct lookup *lookup);

/// Waits for servers, for channel_wake or until `until_us`, and serves what has come. Opens the channel anew when
/// resolv.conf has changed.
void channel_turn(struct channel *channel, uint64_t until_us);
void channel_wake(struct channel *channel); // any thread
