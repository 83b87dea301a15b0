// A flight is in the list as long as somebody may join it. What its home loop does with it goes by itself: riders of
// other loops only take themselves off its list, and wake the home loop when nobody is left. What is told to a rider of
// another loop is copied, and travels as a message that the rider, if it is still there, takes on its own loop.

#include "app/revalidate_flights.h"

#include "app/io_thread.h"
#include "base/clock.h"
#include "base/log.h"
#include "telemetry/metrics.h"

#include <stdlib.h>
#include <string.h>

struct flight {
    struct list node;
    uint8_t key[SEAL_DIGEST];
    const struct catalogue *catalogue; // its revalidation holds it
    const struct catalogue_supplier *supplier;
    struct io_thread *home;
    struct revalidation *revalidation; // NULL: it is over
    struct list riders;                // struct revalidate_rider
    uint64_t end_us;
    struct message wake; // nobody rides any more
    bool is_waking;
};

/// An end on its way to a rider of another loop.
struct flight_news {
    struct message message;
    struct revalidate_rider *rider; // NULL: it has left
    bool is_told;                   // there is an end
    struct revalidation_end end;
};

static struct revalidate_flights *flights_of(const struct io_thread *thread)
{
    return &thread->engine->revalidate_flights;
}

static struct world *world_of(struct io_thread *thread)
{
    return &thread->live.world;
}

void revalidate_flights_init(struct revalidate_flights *flights)
{
    pthread_mutex_init(&flights->lock, NULL);
    list_init(&flights->flights);
}

void revalidate_flights_fini(struct revalidate_flights *flights)
{
    require(list_is_empty(&flights->flights));
    pthread_mutex_destroy(&flights->lock);
}

// ---------------------------------------------------------------------------------------------------------------- news

static void news_destroy(struct flight_news *news)
{
    block_release(&news->end.result);
    block_release(&news->end.hidden);
    free(news);
}

static void rider_rest(struct revalidate_rider *rider)
{
    if (timer_is_running(&rider->timer)) {
        world_of(rider->thread)->ops->timer_cancel(world_of(rider->thread), &rider->timer);
    }
}

static void on_news(struct message *message)
{
    struct flight_news *news = CONTAINER_OF(message, struct flight_news, message);
    struct revalidate_rider *rider = news->rider;

    if (rider != NULL) {
        rider->news = NULL;
        rider_rest(rider);
        rider->on_end(rider, news->is_told ? &news->end : NULL);
    }
    news_destroy(news);
}

/// Under the lock: tells a rider of another loop. Without memory it comes to its own end.
static void send_news(struct revalidate_rider *rider, const struct revalidation_end *end)
{
    struct flight_news *news = calloc(1, sizeof *news);

    if (news == NULL) {
        return;
    }
    news->rider = rider;
    news->message.on_receive = on_news;
    if (end != NULL) {
        news->is_told = true;
        news->end = *end;
        news->end.result = block_acquire(end->result);
        news->end.hidden = block_acquire(end->hidden);
        news->end.trouble = NULL; // told where it came to be
    }
    rider->news = news;
    loop_post(rider->thread->loop, &news->message);
}

// -------------------------------------------------------------------------------------------------------------- flight

/// It is out of sight: whoever comes begins another one. Its riders of this loop are in `here`, the others are told.
static void disperse(struct flight *flight, const struct revalidation_end *end, struct list *here)
{
    struct list *node;

    list_init(here);
    pthread_mutex_lock(&flights_of(flight->home)->lock);
    list_remove(&flight->node);
    while ((node = list_take_first(&flight->riders)) != NULL) {
        struct revalidate_rider *rider = CONTAINER_OF(node, struct revalidate_rider, node);
        rider->flight = NULL;
        if (rider->thread == flight->home) {
            list_append(here, node);
        } else {
            send_news(rider, end);
        }
    }
    pthread_mutex_unlock(&flights_of(flight->home)->lock);
}

/// One that waits for its wake is freed there.
static void flight_free(struct flight *flight)
{
    pthread_mutex_lock(&flights_of(flight->home)->lock);
    bool is_waking = flight->is_waking;
    pthread_mutex_unlock(&flights_of(flight->home)->lock);
    if (!is_waking) {
        free(flight);
    }
}

/// It is over, and whoever rides it is told.
static void finish(struct flight *flight, const struct revalidation_end *end)
{
    struct list here, *node;

    disperse(flight, end, &here);
    while ((node = list_take_first(&here)) != NULL) {
        struct revalidate_rider *rider = CONTAINER_OF(node, struct revalidate_rider, node);
        rider_rest(rider);
        rider->on_end(rider, end);
    }
    flight_free(flight);
}

/// Its revalidation is given up; how many requests of it went out.
static uint32_t cancel(struct flight *flight)
{
    uint32_t requests = flight->revalidation != NULL ? revalidation_cancel(&flight->revalidation) : 0;

    metrics_count_requests(flight->home->engine->metrics, flight->supplier->name, requests);
    return requests;
}

static void tell_trouble(const struct flight *flight, const struct revalidation_end *end)
{
    struct complaints *complaints = &flight->home->engine->complaints;
    uint64_t kept_quiet = 0;

    if (end->trouble != NULL && complaints_admit(complaints, flight->supplier->script, clock_now_us(), &kept_quiet)) {
        log_line(LOG_WARNING, "script", "supplier `%.*s`: %s: %s kept_quiet=%llu", TEXT_ARGS(flight->supplier->name),
                 outcome_name(end->end.outcome), end->end.detail, (unsigned long long)kept_quiet);
        log_failure(LOG_WARNING, "script", end->trouble);
    }
}

static void on_end(void *owner, const struct revalidation_end *end)
{
    struct flight *flight = owner;

    flight->revalidation = NULL;
    tell_trouble(flight, end);
    metrics_count_requests(flight->home->engine->metrics, flight->supplier->name, end->requests);
    finish(flight, end);
}

/// On its home loop: its last rider has left, elsewhere; meanwhile it may be over, or have another one.
static void on_wake(struct message *message)
{
    struct flight *flight = CONTAINER_OF(message, struct flight, wake);
    struct revalidate_flights *flights = flights_of(flight->home);

    pthread_mutex_lock(&flights->lock);
    flight->is_waking = false;
    bool is_over = list_is_empty(&flight->node), is_alone = list_is_empty(&flight->riders);
    if (!is_over && is_alone) {
        list_remove(&flight->node);
    }
    pthread_mutex_unlock(&flights->lock);
    if (!is_over && is_alone) {
        (void)cancel(flight);
    }
    if (is_over || is_alone) {
        free(flight);
    }
}

// -------------------------------------------------------------------------------------------------------- join, leave

static void on_timer(struct timer *timer)
{
    struct revalidate_rider *rider = CONTAINER_OF(timer, struct revalidate_rider, timer);
    struct revalidation_end end = { .end = { .outcome = OUTCOME_CUT } };

    end.requests = revalidate_flights_leave(rider);
    rider->on_end(rider, &end);
}

/// Under the lock: the one to join.
static struct flight *find(const struct revalidate_flights *flights, const uint8_t *key,
                           const struct revalidation_options *options, uint64_t now_us)
{
    uint64_t left_us = options->end_us > now_us ? options->end_us - now_us : 0;

    for (struct list *node = flights->flights.next; node != &flights->flights; node = node->next) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        if (flight->catalogue == options->catalogue && memcmp(flight->key, key, SEAL_DIGEST) == 0 &&
            flight->end_us >= now_us + left_us / 2) {
            return flight;
        }
    }
    return NULL;
}

static struct flight *flight_create(struct io_thread *thread, const uint8_t *key,
                                    const struct revalidation_options *options)
{
    struct flight *flight = calloc(1, sizeof *flight);

    if (flight != NULL) {
        memcpy(flight->key, key, SEAL_DIGEST);
        flight->catalogue = options->catalogue;
        flight->supplier = options->supplier;
        flight->home = thread;
        flight->end_us = options->end_us;
        flight->wake.on_receive = on_wake;
        list_init(&flight->node);
        list_init(&flight->riders);
    }
    return flight;
}

/// Under the lock.
static void board(struct flight *flight, struct revalidate_rider *rider)
{
    rider->flight = flight;
    list_append(&flight->riders, &rider->node);
}

/// Begins one, on this loop; nobody sees it before it has begun.
static enum status begin(struct io_thread *thread, const uint8_t *key, const struct revalidation_options *options,
                         struct revalidate_rider *rider)
{
    struct flight *flight = flight_create(thread, key, options);
    struct revalidation_options own = *options;

    if (flight == NULL) {
        return STATUS_NO_MEMORY;
    }
    own.on_end = on_end;
    own.owner = flight;
    enum status status = revalidation_start(&own, &flight->revalidation);
    if (status != STATUS_OK) {
        free(flight);
        return status;
    }
    pthread_mutex_lock(&flights_of(thread)->lock);
    list_append(&flights_of(thread)->flights, &flight->node);
    board(flight, rider);
    pthread_mutex_unlock(&flights_of(thread)->lock);
    return STATUS_OK;
}

enum status revalidate_flights_join(struct io_thread *thread, const uint8_t key[SEAL_DIGEST],
                                    const struct revalidation_options *options, struct revalidate_rider *rider)
{
    struct revalidate_flights *flights = flights_of(thread);
    struct world *world = world_of(thread);

    list_init(&rider->node);
    rider->thread = thread;
    rider->timer.on_due = on_timer;
    pthread_mutex_lock(&flights->lock);
    struct flight *flight = find(flights, key, options, world->ops->now_us(world));
    if (flight != NULL) {
        board(flight, rider);
        rider->has_joined = true;
    }
    pthread_mutex_unlock(&flights->lock);
    if (flight == NULL) {
        return begin(thread, key, options, rider);
    }
    if (world->ops->timer_start(world, &rider->timer, options->end_us) != STATUS_OK) {
        (void)revalidate_flights_leave(rider);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

uint32_t revalidate_flights_leave(struct revalidate_rider *rider)
{
    struct revalidate_flights *flights = flights_of(rider->thread);
    struct flight *mine = NULL;
    uint32_t requests = 0;

    rider_rest(rider);
    pthread_mutex_lock(&flights->lock);
    struct flight *flight = rider->flight;
    list_remove(&rider->node);
    rider->flight = NULL;
    if (rider->news != NULL) {
        rider->news->rider = NULL;
        rider->news = NULL;
    }
    if (flight != NULL && list_is_empty(&flight->riders) && flight->home == rider->thread) {
        list_remove(&flight->node);
        mine = flight;
    } else if (flight != NULL && list_is_empty(&flight->riders) && !flight->is_waking) {
        flight->is_waking = true;
        loop_post(flight->home->loop, &flight->wake);
    }
    pthread_mutex_unlock(&flights->lock);
    if (mine != NULL) {
        requests = cancel(mine);
        flight_free(mine);
    }
    return requests;
}

// ------------------------------------------------------------------------------------------------------------- the end

/// One that was begun on this loop; NULL: there is none.
static struct flight *first_of(struct io_thread *thread)
{
    struct revalidate_flights *flights = flights_of(thread);
    struct flight *found = NULL;

    pthread_mutex_lock(&flights->lock);
    for (struct list *node = flights->flights.next; node != &flights->flights && found == NULL; node = node->next) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        found = flight->home == thread ? flight : NULL;
    }
    pthread_mutex_unlock(&flights->lock);
    return found;
}

bool revalidate_flights_has(struct io_thread *thread)
{
    return first_of(thread) != NULL;
}

void revalidate_flights_end_all(struct io_thread *thread)
{
    struct flight *flight;

    while ((flight = first_of(thread)) != NULL) {
        (void)cancel(flight);
        finish(flight, NULL);
    }
}

void revalidate_flights_close(struct io_thread *thread)
{
    struct flight *flight;

    while ((flight = first_of(thread)) != NULL) {
        struct list here, *node;
        (void)cancel(flight);
        disperse(flight, NULL, &here);
        do { // their calls end by themselves
            node = list_take_first(&here);
        } while (node != NULL);
        flight_free(flight);
    }
}
