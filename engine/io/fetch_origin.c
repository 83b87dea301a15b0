#include "io/fetch_origin.h"

#include <stdio.h>
#include <stdlib.h>

void origins_init(struct origins *origins, void (*drop_share)(void *share))
{
    *origins = (struct origins){ .drop_share = drop_share };
    for (size_t i = 0; i < ORIGIN_BUCKETS; i++) {
        list_init(&origins->buckets[i]);
    }
    list_init(&origins->ages);
}

static void origin_drop(struct origins *origins, struct origin *origin)
{
    require(origin->users == 0 && origin->running == 0 && origin->sockets == 0);
    list_remove(&origin->bucket_node);
    list_remove(&origin->age_node);
    origins->count--;
    if (origin->share != NULL) {
        origins->drop_share(origin->share);
    }
    free(origin->resolve);
    free(origin);
}

void origins_fini(struct origins *origins)
{
    struct list *node;

    while ((node = list_take_first(&origins->ages)) != NULL) {
        origin_drop(origins, CONTAINER_OF(node, struct origin, age_node));
    }
}

static bool origins_make_room(struct origins *origins)
{
    if (origins->count < ORIGINS_MAX) {
        return true;
    }
    LIST_FOR_EACH (node, &origins->ages) {
        struct origin *origin = CONTAINER_OF(node, struct origin, age_node);
        if (origin->users == 0 && origin->sockets == 0) {
            origin_drop(origins, origin);
            return true;
        }
    }
    return false;
}

static struct origin *origin_create(struct origins *origins, struct list *bucket, struct text key, size_t host_length)
{
    struct origin *origin = origins_make_room(origins) ? calloc(1, sizeof(*origin)) : NULL;

    if (origin == NULL) {
        return NULL;
    }
    snprintf(origin->key, sizeof(origin->key), "%.*s", TEXT_ARGS(key));
    origin->host = (struct text){ origin->key, host_length };
    list_append(bucket, &origin->bucket_node);
    list_append(&origins->ages, &origin->age_node);
    origins->count++;
    return origin;
}

struct origin *origin_acquire(struct origins *origins, struct text host, uint16_t port, uint64_t route)
{
    char key[sizeof(((struct origin *)0)->key)];
    struct origin *found = NULL;
    int length = route == 0 ? snprintf(key, sizeof(key), "%.*s:%u", TEXT_ARGS(host), (unsigned)port)
                            : snprintf(key, sizeof(key), "%.*s:%u#%llu", TEXT_ARGS(host), (unsigned)port,
                                       (unsigned long long)route);

    if (length < 0 || (size_t)length >= sizeof(key)) {
        return NULL;
    }
    for (char *c = key; *c != '\0'; c++) {
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
    struct list *bucket = &origins->buckets[text_hash(text_of(key)) % ORIGIN_BUCKETS];
    LIST_FOR_EACH (node, bucket) {
        struct origin *origin = CONTAINER_OF(node, struct origin, bucket_node);
        if (text_equals_c(text_of(key), origin->key)) {
            found = origin;
            break;
        }
    }
    if (found == NULL) {
        found = origin_create(origins, bucket, text_of(key), host.length);
        if (found != NULL) {
            found->port = port;
            found->route = route;
        }
    }
    if (found != NULL) {
        found->users++;
    }
    return found;
}

void origin_release(struct origins *origins, struct origin **origin)
{
    struct origin *left = *origin;

    *origin = NULL;
    if (left != NULL) {
        require(left->users > 0);
        left->users--;
        list_remove(&left->age_node);
        list_append(&origins->ages, &left->age_node);
    }
}

void origins_sweep(struct origins *origins, origin_wanted is_wanted, void *context,
                   void (*on_unwanted)(void *owner, struct origin *origin), void *owner)
{
    LIST_FOR_EACH (node, &origins->ages) {
        struct origin *origin = CONTAINER_OF(node, struct origin, age_node);
        if (origin->users > 0 || is_wanted(context, origin->host, origin->port, origin->route)) {
            continue;
        }
        on_unwanted(owner, origin);
        if (origin->sockets == 0 && origin->running == 0) {
            origin_drop(origins, origin);
        }
    }
}

bool origin_has_idle(const struct origin *origin)
{
    return origin->sockets > origin->running;
}
