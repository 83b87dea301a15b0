#include "io/resolver_channel.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"

#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

// c-ares tells which sockets it wants through a callback; sockets[0] is the wake-up. It may answer from within
// ares_getaddrinfo (hosts file), and answers everything that runs when it is destroyed.
//
// There are two of them, because this c-ares (1.18) goes to the next server when one refuses or fails, which is right,
// but then says the same of "all refused the name" and of "nobody listens there". After that word the blunt one asks
// once more, which takes the first server's refusal as the answer.

enum {
    ASK_FIRST_MS = 1000, // the next tries double it: 15 s in all, so that an answer that is 5 s late still counts
    ASK_TRIES = 4,
    CONF_LOOK_MS = 2000,
    SOCKETS_FIRST = 8,
    HOST_SHOWN = 140, // longer ones would crowd the address out of the sentence
};

enum { ARES_PATIENT, ARES_BLUNT, ARES_MANNERS };

struct channel {
    struct channel_options options;
    ares_channel ares[ARES_MANNERS];
    bool is_open;
    int wake_fd;
    struct timespec conf_time;
    uint64_t conf_look_us;
    struct pollfd *sockets;
    size_t socket_count, socket_capacity;
};

// What c-ares hands back with an answer.
struct question {
    struct channel *channel;
    struct lookup *lookup;
    int manner;
};

static bool channel_grow(struct channel *channel)
{
    size_t capacity = channel->socket_capacity != 0 ? 2 * channel->socket_capacity : SOCKETS_FIRST;
    struct pollfd *sockets = realloc(channel->sockets, capacity * sizeof(*sockets));

    if (sockets == NULL) {
        return false;
    }
    channel->sockets = sockets;
    channel->socket_capacity = capacity;
    return true;
}

static void channel_on_socket(void *context, ares_socket_t fd, int is_readable, int is_writable)
{
    struct channel *channel = context;
    size_t i = 1;

    while (i < channel->socket_count && channel->sockets[i].fd != fd) {
        i++;
    }
    if (!is_readable && !is_writable) {
        if (i < channel->socket_count) {
            channel->sockets[i] = channel->sockets[--channel->socket_count];
        }
        return;
    }
    if (i == channel->socket_count) {
        if (i == channel->socket_capacity && !channel_grow(channel)) {
            return; // its answer is missed; the question times out and is asked again
        }
        channel->socket_count++;
    }
    channel->sockets[i] = (struct pollfd){ .fd = fd };
    channel->sockets[i].events = (short)((is_readable ? POLLIN : 0) | (is_writable ? POLLOUT : 0));
}

// ----------------------------------------------------------------------------------------------------------- answers

static enum lookup_answer answer_of_ares(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return LOOKUP_ADDRESSES;
    case ARES_ENODATA:
        return LOOKUP_NO_DATA;
    case ARES_ENOTFOUND:
        return LOOKUP_NO_NAME;
    case ARES_ESERVFAIL:
    case ARES_EREFUSED:
    case ARES_ENOTIMP:
    case ARES_EFORMERR:
    case ARES_EBADNAME:
        return LOOKUP_ERROR;
    default:
        return LOOKUP_SILENCE; // time-outs, refused connections, unreadable answers, no memory
    }
}

static uint32_t ttl_of_ares(const struct ares_addrinfo *result)
{
    int ttl = INT32_MAX;

    for (const struct ares_addrinfo_node *node = result->nodes; node != NULL; node = node->ai_next) {
        ttl = node->ai_ttl < ttl ? node->ai_ttl : ttl;
    }
    for (const struct ares_addrinfo_cname *alias = result->cnames; alias != NULL; alias = alias->next) {
        ttl = alias->ttl < ttl ? alias->ttl : ttl;
    }
    return ttl > 0 ? (uint32_t)ttl : 0; // the hosts file has 0
}

// The allowed addresses as an array of its own. False: no memory.
static bool found_of_ares(const struct channel *channel, const struct ares_addrinfo *result, struct lookup_found *found)
{
    for (const struct ares_addrinfo_node *node = result->nodes; node != NULL; node = node->ai_next) {
        found->seen++;
    }
    found->ttl_s = ttl_of_ares(result);
    found->addresses = calloc(found->seen + 1, sizeof(*found->addresses));
    if (found->addresses == NULL) {
        return false;
    }
    for (const struct ares_addrinfo_node *node = result->nodes; node != NULL; node = node->ai_next) {
        if ((size_t)node->ai_addrlen <= sizeof(*found->addresses) &&
            address_is_allowed(node->ai_addr, channel->options.allowed, channel->options.allowed_count)) {
            memcpy(&found->addresses[found->count++], node->ai_addr, (size_t)node->ai_addrlen);
        }
    }
    return true;
}

// Says which address was not allowed, and where to allow it.
static void write_private(const char *host, const struct ares_addrinfo *result, char *sentence, size_t size)
{
    const struct ares_addrinfo_node *node = result->nodes;
    char address[INET6_ADDRSTRLEN] = "?";
    const void *bytes = node->ai_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr;

    inet_ntop(node->ai_family, bytes, address, sizeof(address));
    const char *shown = strlen(host) <= HOST_SHOWN ? host : "the host";
    snprintf(sentence, size, "%.*s is at %s, a private address; allow it in network.allow_private", HOST_SHOWN, shown,
             address);
}

static void channel_send(struct question *question);

static void channel_settle(struct channel *channel, struct lookup *lookup, const struct lookup_found *found)
{
    channel->options.on_settled(channel->options.context, lookup_settle(lookup, found, clock_now_us()));
}

static void channel_on_answer(void *context, int status, int timeouts, struct ares_addrinfo *result)
{
    struct question *question = context;
    struct channel *channel = question->channel;
    struct lookup *lookup = question->lookup;
    struct lookup_found found = { 0 };
    char private[RESOLVER_DETAIL] = "";
    (void)timeouts;

    if (status == ARES_ECONNREFUSED && question->manner == ARES_PATIENT) {
        question->manner = ARES_BLUNT;
        channel_send(question);
        return;
    }
    free(question);
    if (status == ARES_EDESTRUCTION || status == ARES_ECANCELLED) {
        lookup->is_running = false;
        lookup->next_us = 0; // the next channel asks again at once
        return;
    }
    if (status == ARES_SUCCESS && !found_of_ares(channel, result, &found)) {
        status = ARES_ENOMEM;
    } else if (status == ARES_SUCCESS && found.seen == 0) {
        status = ARES_ENODATA;
    } else if (status == ARES_SUCCESS && found.count == 0) {
        write_private(lookup->name->host, result, private, sizeof(private));
    }
    ares_freeaddrinfo(result);
    found.answer = answer_of_ares(status);
    found.sentence = status != ARES_SUCCESS ? ares_strerror(status) : private;
    channel_settle(channel, lookup, &found);
}

static void channel_send(struct question *question)
{
    const struct lookup *lookup = question->lookup;
    const struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT, .ai_family = lookup->family };

    ares_getaddrinfo(question->channel->ares[question->manner], lookup->name->host, NULL, &hints, channel_on_answer,
                     question);
}

static bool host_is_local(const char *host)
{
    static const char local[] = "localhost";
    size_t length = strlen(host);
    size_t tail = sizeof(local) - 1;

    return length >= tail && strcmp(host + length - tail, local) == 0 &&
           (length == tail || host[length - tail - 1] == '.');
}

void channel_ask(struct channel *channel, struct lookup *lookup)
{
    require(!lookup->is_running);
    if (lookup->family == AF_INET6 && host_is_local(lookup->name->host)) {
        // This c-ares loses memory each time it looks up localhost for IPv6.
        channel_settle(channel, lookup, &(struct lookup_found){ .answer = LOOKUP_NO_DATA, .sentence = "" });
        return;
    }
    struct question *question = channel->is_open ? malloc(sizeof(*question)) : NULL;
    if (question == NULL) {
        return;
    }
    *question = (struct question){ channel, lookup, ARES_PATIENT };
    lookup->is_running = true;
    channel_send(question);
}

// ------------------------------------------------------------------------------------------------------------- turns

static bool channel_open_one(struct channel *channel, int manner)
{
    const struct channel_options *from = &channel->options;
    char lookups[] = "fb"; // the hosts file, then the servers
    struct ares_options options = {
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES, // a host is whole; search domains would find strangers
        .timeout = ASK_FIRST_MS,
        .tries = ASK_TRIES,
        .lookups = lookups,
        .sock_state_cb = channel_on_socket,
        .sock_state_cb_data = channel,
        .udp_port = from->resolv_conf_port,
        .tcp_port = from->resolv_conf_port,
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB |
               ARES_OPT_RESOLVCONF;

    options.flags |= manner == ARES_BLUNT ? ARES_FLAG_NOCHECKRESP : 0;
    mask |= from->resolv_conf_port != 0 ? ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT : 0;
    options.resolvconf_path = strdup(from->resolv_conf); // not declared const; c-ares makes its own copy
    int status =
        options.resolvconf_path != NULL ? ares_init_options(&channel->ares[manner], &options, mask) : ARES_ENOMEM;
    free(options.resolvconf_path);
    if (status != ARES_SUCCESS) {
        return false;
    }
    if (from->servers != NULL && ares_set_servers_ports_csv(channel->ares[manner], from->servers) != ARES_SUCCESS) {
        ares_destroy(channel->ares[manner]);
        return false;
    }
    return true;
}

static bool channel_open(struct channel *channel)
{
    if (!channel_open_one(channel, ARES_PATIENT)) {
        return false;
    }
    if (!channel_open_one(channel, ARES_BLUNT)) {
        ares_destroy(channel->ares[ARES_PATIENT]);
        return false;
    }
    channel->is_open = true;
    return true;
}

// In this order: what the patient one gives up is not handed on to a blunt one that is gone.
static void channel_close(struct channel *channel)
{
    if (channel->is_open) {
        channel->is_open = false;
        ares_destroy(channel->ares[ARES_PATIENT]);
        ares_destroy(channel->ares[ARES_BLUNT]);
    }
}

static void channel_follow_conf(struct channel *channel)
{
    struct stat now;
    uint64_t now_us = clock_now_us();

    if (channel->options.servers == NULL && now_us - channel->conf_look_us >= CONF_LOOK_MS * 1000) {
        channel->conf_look_us = now_us;
        if (stat(channel->options.resolv_conf, &now) == 0 &&
            (now.st_mtim.tv_sec != channel->conf_time.tv_sec || now.st_mtim.tv_nsec != channel->conf_time.tv_nsec)) {
            log_line(LOG_INFO, "resolver", "%s has changed and is read again", channel->options.resolv_conf);
            channel->conf_time = now.st_mtim;
            channel_close(channel);
        }
    }
    if (!channel->is_open && !channel_open(channel)) {
        log_line(LOG_WARNING, "resolver", "cannot set up the name servers; trying again");
    }
}

static int channel_wait_ms(const struct channel *channel, uint64_t until_us)
{
    uint64_t wait_ms = CONF_LOOK_MS;
    uint64_t now_us = clock_now_us();

    for (int manner = 0; channel->is_open && manner < ARES_MANNERS; manner++) {
        struct timeval most = { .tv_sec = CONF_LOOK_MS / 1000 };
        struct timeval least;
        const struct timeval *wait = ares_timeout(channel->ares[manner], &most, &least);
        uint64_t ares_ms = (uint64_t)wait->tv_sec * 1000 + ((uint64_t)wait->tv_usec + 999) / 1000;
        wait_ms = ares_ms < wait_ms ? ares_ms : wait_ms;
    }
    if (until_us != UINT64_MAX) {
        uint64_t until_ms = until_us > now_us ? (until_us - now_us + 999) / 1000 : 1;
        wait_ms = until_ms < wait_ms ? until_ms : wait_ms;
    }
    return (int)wait_ms;
}

// Each takes only sockets of its own.
static void channel_process(struct channel *channel, ares_socket_t readable, ares_socket_t writable)
{
    for (int manner = 0; manner < ARES_MANNERS; manner++) {
        ares_process_fd(channel->ares[manner], readable, writable);
    }
}

static void channel_serve(struct channel *channel)
{
    uint64_t count;

    if ((channel->sockets[0].revents & POLLIN) != 0) {
        while (read(channel->wake_fd, &count, sizeof(count)) < 0 && errno == EINTR) {
        }
    }
    if (!channel->is_open) {
        return;
    }
    // The table changes while c-ares works; what has shifted is seen by the next poll.
    for (size_t i = 1; i < channel->socket_count; i++) {
        short seen = channel->sockets[i].revents;
        ares_socket_t fd = channel->sockets[i].fd;
        if (seen != 0) {
            channel->sockets[i].revents = 0;
            channel_process(channel, (seen & (POLLIN | POLLERR | POLLHUP)) != 0 ? fd : ARES_SOCKET_BAD,
                            (seen & POLLOUT) != 0 ? fd : ARES_SOCKET_BAD);
        }
    }
    channel_process(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD); // time-outs
}

void channel_turn(struct channel *channel, uint64_t until_us)
{
    if (poll(channel->sockets, (nfds_t)channel->socket_count, channel_wait_ms(channel, until_us)) >= 0) {
        channel_serve(channel);
    }
    channel_follow_conf(channel);
}

void channel_wake(struct channel *channel)
{
    uint64_t one = 1;
    ssize_t written;

    do {
        written = write(channel->wake_fd, &one, sizeof(one));
    } while (written < 0 && errno == EINTR);
}

// --------------------------------------------------------------------------------------------------- birth and death

static pthread_once_t ares_once = PTHREAD_ONCE_INIT;
static int ares_once_status;

static void ares_start_once(void)
{
    ares_once_status = ares_library_init(ARES_LIB_INIT_ALL);
}

enum status channel_create(const struct channel_options *options, struct channel **channel, struct failure *why)
{
    struct channel *made = calloc(1, sizeof(*made));
    struct stat now;

    *channel = NULL;
    if (made == NULL || !channel_grow(made)) {
        free(made);
        return STATUS_NO_MEMORY;
    }
    made->options = *options;
    made->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    made->sockets[0] = (struct pollfd){ .fd = made->wake_fd, .events = POLLIN };
    made->socket_count = 1;
    if (made->wake_fd < 0) {
        failure_set(why, "cannot start the resolver: %s", strerror(errno));
        channel_destroy(&made);
        return STATUS_IO;
    }
    if (stat(options->resolv_conf, &now) == 0) {
        made->conf_time = now.st_mtim;
    }
    pthread_once(&ares_once, ares_start_once);
    if (ares_once_status != ARES_SUCCESS || !channel_open(made)) {
        failure_set(why, "cannot set up the name servers \"%s\"",
                    options->servers != NULL ? options->servers : options->resolv_conf);
        failure_help(why, "name them as addresses: \"192.0.2.53\" or \"192.0.2.53:5353\"");
        channel_destroy(&made);
        return STATUS_INVALID;
    }
    *channel = made;
    return STATUS_OK;
}

void channel_destroy(struct channel **channel)
{
    struct channel *gone = *channel;

    *channel = NULL;
    if (gone == NULL) {
        return;
    }
    channel_close(gone);
    if (gone->wake_fd >= 0) {
        close(gone->wake_fd);
    }
    free(gone->sockets);
    free(gone);
}
