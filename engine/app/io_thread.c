#include "app/io_thread.h"

#include "app/revalidate_route.h"
#include "app/routes.h"
#include "app/search_route.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/promptness.h"
#include "search/linger.h"
#include "telemetry/metrics.h"

#include <sys/resource.h>

enum { DRAIN_POLL_US = 5000, FETCH_CONNECTIONS = 4096, FETCH_CONNECTIONS_LEAST = 64 };

static void io_thread_on_book(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, book_message);

    atomic_store(&thread->is_book_posted, false);
    if (thread->engine->resolver == NULL) {
        return; // posted by a resolver that is gone, received while all of it ends
    }
    fetch_pool_set_book(thread->fetches, resolver_book(thread->engine->resolver));
}

void io_thread_book_changed(struct io_thread *thread)
{
    if (!atomic_exchange(&thread->is_book_posted, true)) {
        loop_post(thread->loop, &thread->book_message);
    }
}

/// Cheap: a loop compares many.
static bool may_be_host(struct text allowed, struct text host)
{
    size_t bracket = allowed.length > 0 && allowed.data[0] == '[' ? 1 : 0;

    return allowed.length >= host.length + bracket && host.length > 0 &&
           ((unsigned)allowed.data[bracket] | 0x20U) == ((unsigned)host.data[0] | 0x20U);
}

static bool is_host_of(const struct script_account *account, struct text host, uint16_t port)
{
    for (size_t i = 0; i < account->host_count; i++) {
        struct text own;
        uint16_t own_port;
        if (may_be_host(account->hosts[i], host) && host_split(account->hosts[i], &own, &own_port) &&
            (own_port == 0 || own_port == port) && text_equals_nocase(own, host)) {
            return true;
        }
    }
    return false;
}

/// May searches that begin now ask there, on that route?
static bool is_asked(void *context, struct text host, uint16_t port, uint64_t route)
{
    const struct catalogue *catalogue = context;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; supplier->is_enabled && j < supplier->account_count; j++) {
            const struct script_account *account = &supplier->account[j];
            uint64_t own = account->route == NULL ? 0 : account->route->id;
            if (own == route && is_host_of(account, host, port)) {
                return true;
            }
        }
    }
    return false;
}

static void io_thread_on_sweep(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, sweep_message);

    atomic_store(&thread->is_sweep_posted, false);
    struct generation *generation = engine_generation(thread->engine);
    if (generation != NULL) {
        fetch_pool_sweep(thread->fetches, is_asked, (void *)(uintptr_t)generation_catalogue(generation));
        generation_release(&generation);
    }
}

void io_thread_sweep(struct io_thread *thread)
{
    if (!atomic_exchange(&thread->is_sweep_posted, true)) {
        loop_post(thread->loop, &thread->sweep_message);
    }
}

static void io_thread_on_make_room(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, room_message);

    atomic_store(&thread->is_room_posted, false);
    struct generation *generation = engine_generation(thread->engine);
    if (generation != NULL) {
        linger_drop_former(&thread->live.world, generation_catalogue(generation));
        generation_release(&generation);
    }
}

static void io_thread_on_switched_off(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, switch_message);

    atomic_store(&thread->is_switch_posted, false);
    linger_drop_switched_off(&thread->live.world);
}

void io_thread_switched_off(struct io_thread *thread)
{
    if (!atomic_exchange(&thread->is_switch_posted, true)) {
        loop_post(thread->loop, &thread->switch_message);
    }
}

void io_thread_make_room(struct io_thread *thread)
{
    if (!atomic_exchange(&thread->is_room_posted, true)) {
        loop_post(thread->loop, &thread->room_message);
    }
}

static void io_thread_sample(struct io_thread *thread)
{
    struct metrics *metrics = thread->engine->metrics;
    size_t index = (size_t)(thread - thread->engine->threads);
    struct fetch_pool_counts fetches;
    struct loop_stats loop;

    fetch_pool_counts(thread->fetches, &fetches);
    loop_stats(thread->loop, &loop);
    metrics_set(metrics, METRIC_FETCHES, index, fetches.started);
    metrics_set(metrics, METRIC_FETCHES_CANCELLED, index, fetches.cancelled);
    metrics_set(metrics, METRIC_FETCH_CONNECTS, index, fetches.connects);
    metrics_set(metrics, METRIC_FETCH_REUSED, index, fetches.reused);
    metrics_set(metrics, METRIC_FETCHES_RUNNING, index, fetches.running);
    metrics_set(metrics, METRIC_FETCHES_WAITING, index, fetches.waiting);
    metrics_set(metrics, METRIC_LOOP_TURNS, index, loop.turns);
    metrics_set(metrics, METRIC_LOOP_MESSAGES, index, loop.messages);
    metrics_set(metrics, METRIC_LOOP_TIMERS, index, loop.timers_fired);
    metrics_set(metrics, METRIC_LOOP_TIMER_LATE, index, loop.timer_late_max_us);
}

void io_thread_attribute(struct io_thread *thread, struct search_record *record)
{
    io_thread_sample(thread);
    engine_attribute(thread->engine, record);
}

/// While draining: nothing open any more means done.
static void io_thread_on_drain_poll(struct timer *timer)
{
    struct io_thread *thread = CONTAINER_OF(timer, struct io_thread, drain_poll);

    bool is_done = http_server_open_calls(thread->server) == 0 && !revalidate_flights_has(thread);

    if (is_done || loop_timer_start(thread->loop, timer, clock_now_us() + DRAIN_POLL_US) != STATUS_OK) {
        loop_stop(thread->loop);
    }
}

/// Open searches end with what they have. What is not sent by the end of the grace is cut, like requests that have not
/// arrived whole.
static void io_thread_end_now(struct io_thread *thread)
{
    thread->has_ended_searches = true;
    search_route_end_all(thread, IO_THREAD_GRACE_US);
    revalidate_route_end_all(thread);
    if (loop_timer_start(thread->loop, &thread->drain_timer, clock_now_us() + IO_THREAD_GRACE_US) != STATUS_OK) {
        loop_stop(thread->loop);
        return;
    }
    io_thread_on_drain_poll(&thread->drain_poll);
}

/// `drain_us` is over, or the grace after it.
static void io_thread_on_drain_end(struct timer *timer)
{
    struct io_thread *thread = CONTAINER_OF(timer, struct io_thread, drain_timer);
    unsigned open = http_server_open_calls(thread->server);

    if (!thread->has_ended_searches) {
        log_line(LOG_WARNING, "engine", "draining took too long, open searches end with what they have open=%u", open);
        io_thread_end_now(thread);
        return;
    }
    log_line(LOG_WARNING, "engine", "open requests are cut open=%u", open);
    loop_stop(thread->loop);
}

static void io_thread_on_end(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, end_message);

    if (thread->server != NULL && !thread->has_ended_searches) { // it may be received while all of it ends
        http_server_stop_listening(thread->server);
        io_thread_end_now(thread);
    }
}

void io_thread_end_searches(struct io_thread *thread)
{
    loop_post(thread->loop, &thread->end_message);
}

static void io_thread_on_drain(struct message *message)
{
    struct io_thread *thread = CONTAINER_OF(message, struct io_thread, drain_message);

    if (thread->server == NULL) {
        return;
    }
    struct generation *generation = engine_generation(thread->engine);
    uint64_t end_us = clock_now_us() + generation_settings(generation)->drain_us;

    generation_release(&generation);
    thread->live.world.is_ending = true;
    http_server_stop_listening(thread->server);
    if (loop_timer_start(thread->loop, &thread->drain_timer, end_us) != STATUS_OK) {
        loop_stop(thread->loop);
        return;
    }
    io_thread_on_drain_poll(&thread->drain_poll);
}

void io_thread_drain(struct io_thread *thread)
{
    loop_post(thread->loop, &thread->drain_message);
}

void io_thread_stop(struct io_thread *thread)
{
    loop_stop(thread->loop);
}

static void *io_thread_main(void *argument)
{
    struct io_thread *thread = argument;

    (void)promptness_ask();
    loop_run(thread->loop);
    return NULL;
}

/// Connections to suppliers that are kept, those in use among them. When there are more, each fetch that ends closes
/// one, and the next one pays for a handshake: so as many as searches may need at once, within half of the descriptors.
static uint32_t fetch_connections(const struct settings *settings)
{
    struct rlimit limit;
    rlim_t share = FETCH_CONNECTIONS;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        share = limit.rlim_cur / 2 / settings->io_threads;
    }
    if (share < FETCH_CONNECTIONS_LEAST) {
        return FETCH_CONNECTIONS_LEAST;
    }
    return share < FETCH_CONNECTIONS ? (uint32_t)share : FETCH_CONNECTIONS;
}

static enum status io_thread_open(struct io_thread *thread, struct failure *why)
{
    const struct settings *settings = thread->engine->settings;
    struct fetch_pool_options fetch_options = {
        .ca_file = settings->ca_file.data,
        .allowed = settings->allow_private,
        .allowed_count = settings->allow_private_count,
        .max_connections = fetch_connections(settings),
    };
    struct http_server_options server_options = {
        .listen = settings->listen.data,
        .body_cap = settings->max_body,
        .share_port = settings->io_threads > 1,
    };

    enum status status = loop_create(&thread->loop);
    if (status != STATUS_OK) {
        failure_set(why, "the event loop could not be made: %s", status_name(status));
        return status;
    }
    status = fetch_pool_create(thread->loop, &fetch_options, &thread->fetches, why);
    if (status != STATUS_OK) {
        return status;
    }
    live_world_init(&thread->live, thread->loop, thread->fetches, thread->engine->workers, thread->engine->permits);
    thread->live.store = thread->engine->store;
    gate_init(&thread->gate, thread->loop, (unsigned)(thread - thread->engine->threads));
    thread->live.gate = &thread->gate;
    search_refusal_init(&thread->refusal);
    thread->live.shadows.shadows = thread->engine->shadows;
    thread->live.on_late = search_route_on_late;
    thread->live.late_owner = thread;
    thread->live.switches = thread->engine->switches;
    status = login_desk_open(&thread->live.logins, thread->engine->logins, &thread->live.world, thread->loop);
    if (status != STATUS_OK) {
        failure_set(why, "out of memory");
        return status;
    }
    fetch_pool_set_book(thread->fetches, resolver_book(thread->engine->resolver));
    struct http_server_handlers handlers = routes_handlers(thread);
    return http_server_create(thread->loop, &server_options, &handlers, &thread->server, why);
}

enum status io_thread_start(struct io_thread *thread, struct engine *engine, struct failure *why)
{
    *thread = (struct io_thread){ .engine = engine };
    thread->drain_timer.on_due = io_thread_on_drain_end;
    thread->drain_poll.on_due = io_thread_on_drain_poll;
    thread->book_message.on_receive = io_thread_on_book;
    thread->sweep_message.on_receive = io_thread_on_sweep;
    thread->room_message.on_receive = io_thread_on_make_room;
    thread->switch_message.on_receive = io_thread_on_switched_off;
    thread->drain_message.on_receive = io_thread_on_drain;
    thread->end_message.on_receive = io_thread_on_end;
    list_init(&thread->calls);
    list_init(&thread->revalidations);
    list_init(&thread->book_message.node);
    list_init(&thread->sweep_message.node);
    list_init(&thread->room_message.node);
    list_init(&thread->switch_message.node);
    list_init(&thread->drain_message.node);
    list_init(&thread->end_message.node);
    reserve_init(&thread->reserve);

    enum status status = io_thread_open(thread, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (pthread_create(&thread->thread, NULL, io_thread_main, thread) != 0) {
        failure_set(why, "a loop thread could not be started");
        return STATUS_IO;
    }
    thread->is_running = true;
    pthread_setname_np(thread->thread, "loop");
    return STATUS_OK;
}

void io_thread_join(struct io_thread *thread)
{
    if (thread->is_running) {
        pthread_join(thread->thread, NULL);
        thread->is_running = false;
    }
}

void io_thread_close(struct io_thread *thread)
{
    if (thread->server != NULL) {
        http_server_destroy(&thread->server); // open searches are cancelled through on_gone
    }
    revalidate_flights_close(thread);
    linger_stop(&thread->live.world);
    login_desk_close(&thread->live.logins);
    shadow_desk_close(&thread->live.shadows);
}

void io_thread_fini(struct io_thread *thread)
{
    if (thread->loop != NULL) {
        loop_stop(thread->loop);
        loop_run(thread->loop); // one pass: messages already posted are received
    }
    gate_fini(&thread->gate);
    search_refusal_fini(&thread->refusal);
    if (thread->loop != NULL) {
        loop_timer_cancel(thread->loop, &thread->drain_timer);
        loop_timer_cancel(thread->loop, &thread->drain_poll);
    }
    if (thread->fetches != NULL) {
        fetch_pool_destroy(&thread->fetches);
    }
    if (thread->loop != NULL) {
        loop_destroy(&thread->loop);
    }
}
