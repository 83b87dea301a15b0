#include "app/store_lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HOST_MAX = 256, PORT_MAX = 8 };

struct store_lookup {
    struct message message;
    struct loop *loop;
    void (*on_found)(void *owner, struct addrinfo *found, const char *why);
    void *owner;
    char host[HOST_MAX], port[PORT_MAX];
    struct addrinfo *found;
    int error;
    pthread_mutex_t lock;
    bool is_left; // under the lock
};

static void destroy(struct store_lookup *lookup)
{
    if (lookup->found != NULL) {
        freeaddrinfo(lookup->found);
    }
    pthread_mutex_destroy(&lookup->lock);
    free(lookup);
}

static int find(const char *host, const char *port, int flags, struct addrinfo **found)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };

    return getaddrinfo(host, port, &hints, found);
}

static void on_receive(struct message *message)
{
    struct store_lookup *lookup = CONTAINER_OF(message, struct store_lookup, message);
    struct addrinfo *found = lookup->found;

    pthread_mutex_lock(&lookup->lock); // until its thread has left it
    bool is_left = lookup->is_left;
    pthread_mutex_unlock(&lookup->lock);
    if (!is_left) {
        lookup->found = NULL;
        lookup->on_found(lookup->owner, found, lookup->error != 0 ? gai_strerror(lookup->error) : NULL);
    }
    destroy(lookup);
}

static void *lookup_main(void *argument)
{
    struct store_lookup *lookup = argument;

    lookup->error = find(lookup->host, lookup->port, 0, &lookup->found);
    pthread_mutex_lock(&lookup->lock);
    bool is_left = lookup->is_left;
    if (!is_left) {
        loop_post(lookup->loop, &lookup->message); // under the lock: who leaves may destroy the loop next
    }
    pthread_mutex_unlock(&lookup->lock);
    if (is_left) {
        destroy(lookup);
    }
    return NULL;
}

struct store_lookup *store_lookup_start(struct loop *loop, const char *host, uint16_t port,
                                        void (*on_found)(void *owner, struct addrinfo *found, const char *why),
                                        void *owner)
{
    struct store_lookup *lookup = calloc(1, sizeof *lookup);
    pthread_t thread;

    if (lookup == NULL) {
        return NULL;
    }
    lookup->loop = loop;
    lookup->on_found = on_found;
    lookup->owner = owner;
    lookup->message.on_receive = on_receive;
    list_init(&lookup->message.node);
    snprintf(lookup->host, sizeof lookup->host, "%s", host);
    snprintf(lookup->port, sizeof lookup->port, "%u", (unsigned)port);
    require(pthread_mutex_init(&lookup->lock, NULL) == 0);
    if (pthread_create(&thread, NULL, lookup_main, lookup) != 0) {
        destroy(lookup);
        return NULL;
    }
    pthread_detach(thread);
    return lookup;
}

void store_lookup_leave(struct store_lookup **lookup)
{
    struct store_lookup *left = *lookup;

    *lookup = NULL;
    if (left != NULL) {
        // Posted or not: it is destroyed by whoever has it next.
        pthread_mutex_lock(&left->lock);
        left->is_left = true;
        pthread_mutex_unlock(&left->lock);
    }
}

struct addrinfo *store_lookup_literal(const char *host, uint16_t port)
{
    struct addrinfo *found = NULL;
    char number[PORT_MAX];

    snprintf(number, sizeof number, "%u", (unsigned)port);
    return find(host, number, AI_NUMERICHOST, &found) == 0 ? found : NULL;
}
