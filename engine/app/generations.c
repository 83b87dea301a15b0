#include "app/generations.h"

#include "base/clock.h"

#include <time.h>

void generations_init(struct generations *generations, const struct generations_hooks *hooks)
{
    pthread_condattr_t attributes;

    *generations = (struct generations){ .hooks = *hooks };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&generations->lock, NULL);
    pthread_cond_init(&generations->room, &attributes);
    pthread_condattr_destroy(&attributes);
    list_init(&generations->ended);
}

void generations_fini(struct generations *generations)
{
    generations->hooks.wake = NULL; // we free what ends here ourselves
    generation_release(&generations->current);
    (void)generations_free_ended(generations);
    require(generations->live == 0); // else somebody would yet come to put his on our list
    pthread_cond_destroy(&generations->room);
    pthread_mutex_destroy(&generations->lock);
}

/// The last hold of a published generation is gone; on whichever thread dropped it.
static void generations_on_end(void *context, struct generation *generation)
{
    struct generations *generations = context;
    const struct generations_hooks hooks = generations->hooks;

    pthread_mutex_lock(&generations->lock);
    list_append(&generations->ended, generation_node(generation));
    pthread_mutex_unlock(&generations->lock);
    if (hooks.wake != NULL) {
        hooks.wake(hooks.context);
    }
}

void generations_publish(struct generations *generations, struct generation *generation)
{
    generation_give_end(generation, generations_on_end, generations);
    pthread_mutex_lock(&generations->lock);
    struct generation *before = generations->current;
    generations->current = generation;
    generations->live++;
    pthread_mutex_unlock(&generations->lock);
    generation_release(&before); // not under the lock: it may be the last hold
}

struct generation *generations_current(struct generations *generations)
{
    pthread_mutex_lock(&generations->lock);
    struct generation *current = generation_acquire(generations->current);
    pthread_mutex_unlock(&generations->lock);
    return current;
}

size_t generations_live(struct generations *generations)
{
    pthread_mutex_lock(&generations->lock);
    size_t live = generations->live;
    pthread_mutex_unlock(&generations->lock);
    return live;
}

bool generations_await_room(struct generations *generations, uint64_t until_us)
{
    const struct timespec until = { .tv_sec = (time_t)(until_us / 1000000),
                                    .tv_nsec = (long)(until_us % 1000000) * 1000 };

    pthread_mutex_lock(&generations->lock);
    while (generations->live >= GENERATIONS_MAX && !generations->is_closed && clock_now_us() < until_us) {
        pthread_cond_timedwait(&generations->room, &generations->lock, &until);
    }
    bool has_room = generations->live < GENERATIONS_MAX && !generations->is_closed;
    pthread_mutex_unlock(&generations->lock);
    return has_room;
}

void generations_close(struct generations *generations)
{
    pthread_mutex_lock(&generations->lock);
    generations->is_closed = true;
    pthread_cond_broadcast(&generations->room);
    pthread_mutex_unlock(&generations->lock);
}

static struct generation *take_ended(struct generations *generations)
{
    pthread_mutex_lock(&generations->lock);
    struct list *node = list_take_first(&generations->ended);
    pthread_mutex_unlock(&generations->lock);
    return node == NULL ? NULL : generation_of_node(node);
}

size_t generations_free_ended(struct generations *generations)
{
    const struct generations_hooks *hooks = &generations->hooks;
    struct generation *ended;
    size_t freed = 0;

    while ((ended = take_ended(generations)) != NULL) {
        if (hooks->leave != NULL) {
            hooks->leave(hooks->context, ended);
        }
        generation_destroy(&ended);
        pthread_mutex_lock(&generations->lock);
        generations->live--;
        pthread_cond_broadcast(&generations->room);
        pthread_mutex_unlock(&generations->lock);
        freed++;
    }
    return freed;
}
