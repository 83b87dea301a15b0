#include "app/engine.h"

#include "app/admin.h"
#include "app/bearer.h"
#include "app/io_thread.h"
#include "app/login_errand.h"
#include "app/nodes.h"
#include "app/permits.h"
#include "app/reload.h"
#include "app/settings_value.h"
#include "app/shadow.h"
#include "app/shutdown.h"
#include "app/store_desk.h"
#include "app/switch_desk.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/identity.h"
#include "model/data_set.h"
#include "script/rates.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MALLOC_KEEP_BYTES = 64 << 20, DESCRIPTORS_AHEAD = 16384 };
enum { SIGNAL_FREE = SIGUSR2 };    // to the control thread: nobody stands on some generation any more
enum { LINGER_US = 5000000 };      // what a script call or a reply may take that its search has left behind
enum { STORE_GRACE_US = 1000000 }; // for what is to be kept yet
enum { ROOM_ROUND_US = 200000 };   // until those that linger are told to end once more

bool engine_is_ready(struct engine *engine, const char **because)
{
    if (atomic_load(&engine->is_draining)) {
        *because = "draining\n";
        return false;
    }
    if (atomic_load(&engine->is_starting)) {
        *because = "starting\n"; // the public listener is there before the operators' one
        return false;
    }
    if (!resolver_is_settled(engine->resolver)) {
        *because = "names are still being looked up\n";
        return false;
    }
    if (!worker_pool_is_healthy(engine->workers)) {
        *because = "too many script threads are lost\n";
        return false;
    }
    return true;
}

// --------------------------------------------------------------------------------------------------------- generations

struct generation *engine_generation(struct engine *engine)
{
    return generations_current(&engine->generations);
}

size_t engine_generations_live(struct engine *engine)
{
    return generations_live(&engine->generations);
}

/// How long anything of this generation may last.
static uint64_t longest_us(const struct generation *generation)
{
    return generation_settings(generation)->deadline_max_us + LOGIN_LIMIT_US + LINGER_US;
}

/// The one before: what began on it goes on under its own settings.
static void note_end_of_former(struct engine *engine)
{
    struct generation *former = engine_generation(engine);

    if (former != NULL) {
        uint64_t end_us = clock_now_us() + longest_us(former);
        engine->former_end_us = end_us > engine->former_end_us ? end_us : engine->former_end_us;
    }
    generation_release(&former);
}

enum status engine_publish(struct engine *engine, struct generation *generation)
{
    engine_moves_lock(&engine->moves);
    enum status status = engine_move(engine, generation);
    if (status == STATUS_OK) {
        note_end_of_former(engine);
        generations_publish(&engine->generations, generation);
    }
    engine_moves_unlock(&engine->moves);
    if (status != STATUS_OK) {
        generation_release(&generation);
    }
    return status;
}

/// What goes on for nobody ends, where it holds a former generation.
static void engine_make_room(struct engine *engine)
{
    size_t threads = engine_generations_live(engine) < GENERATIONS_MAX ? 0 : atomic_load(&engine->threads_live);

    for (size_t i = 0; i < threads; i++) {
        io_thread_make_room(&engine->threads[i]);
    }
}

bool engine_await_room(struct engine *engine)
{
    bool has_room = false, is_closed = false;
    uint64_t until_us = 0;

    // Only former ones are waited for: two of the three that live. Their last searches may leave something that goes
    // on, hence the rounds.
    do {
        uint64_t round_us = clock_now_us() + ROOM_ROUND_US;
        until_us = round_us < engine->former_end_us ? round_us : engine->former_end_us;
        engine_make_room(engine);
        has_room = generations_await_room(&engine->generations, until_us);
        is_closed = !has_room && clock_now_us() < until_us;
    } while (!has_room && !is_closed && until_us < engine->former_end_us);
    return has_room;
}

/// Any thread.
static void engine_wake_control(void *context)
{
    const struct engine *engine = context;
    (void)pthread_kill(engine->control, SIGNAL_FREE);
}

static void engine_on_leave(void *context, const struct generation *generation)
{
    engine_leave(context, generation);
}

static void engine_free_generations(struct engine *engine)
{
    size_t freed = generations_free_ended(&engine->generations);

    if (freed > 0) {
        worker_pool_bury_aside(engine->workers);
        log_line(LOG_DEBUG, "engine", "generations freed=%zu live=%zu", freed, engine_generations_live(engine));
    }
}

// ---------------------------------------------------------------------------------------------------------- start,
// stop

static void engine_on_book(void *context)
{
    struct engine *engine = context;
    size_t count = atomic_load(&engine->threads_live);

    for (size_t i = 0; i < count; i++) {
        io_thread_book_changed(&engine->threads[i]);
    }
}

/// Every descriptor that the system grants us: a fan-out of 40 uses them fast.
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// The kernel doubles a process's table of descriptors when it is full, and for that a thread that opens a socket waits
/// 10 ms and more (Linux, fs/file.c, expand_fdtable). One high number makes it large now; it never shrinks.
static void grow_descriptor_table(void)
{
    struct rlimit limit;
    rlim_t most = DESCRIPTORS_AHEAD;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < most) {
        most = limit.rlim_cur;
    }
    int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (opened < 0) {
        return; // it grows when it must
    }
    int high = fcntl(opened, F_DUPFD_CLOEXEC, (int)most - 1);
    if (high >= 0) {
        close(high);
    }
    close(opened);
}

/// One worker for each processor that this process may use, but the loop's where there are more than two.
static uint32_t script_threads(const struct settings *settings)
{
    cpu_set_t usable;
    int count = sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 2;

    if (settings->script_threads > 0) {
        return settings->script_threads;
    }
    return count > 2 ? (uint32_t)count - 1 : (uint32_t)count;
}

static enum status start_resolver(struct engine *engine, struct failure *why)
{
    const struct settings *settings = engine->settings;
    struct resolver_options options = {
        .servers = settings->dns_servers,
        .server_count = settings->dns_server_count,
        .allowed = settings->allow_private,
        .allowed_count = settings->allow_private_count,
        .on_change = engine_on_book,
        .context = engine,
    };
    return resolver_create(&options, &engine->resolver, why);
}

static enum status start_workers(struct engine *engine, struct failure *why)
{
    const struct settings *settings = engine->settings;
    struct worker_pool_options options = {
        .threads = script_threads(settings),
        .build_limit_us = settings->script_build_us,
        .normalise_limit_us = settings->script_normalise_us,
        .memory_growth = settings->script_memory,
        .buries_aside = true,
        .deliver = live_world_deliver,
    };
    enum status status = worker_pool_create(&options, &engine->workers, why);
    if (status == STATUS_OK) { // the first searches load nothing
        (void)worker_pool_prepare(engine->workers, generation_catalogue(engine->generations.current)->set, NULL);
    }
    return status;
}

static enum status start_metrics(struct engine *engine)
{
    struct metrics_options options = { .thread_count = engine->settings->io_threads, .version = LASTCALL_VERSION };

    return metrics_create(&options, &engine->metrics);
}

static enum status start_telemetry(struct engine *engine, struct failure *why)
{
    struct attribution_options options = { .path = engine->settings->attribution_file.data };

    engine->started_us = clock_now_us();
    engine->started_wall_us = clock_wall_us();
    if (start_metrics(engine) != STATUS_OK) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    return attribution_create(&options, &engine->attribution, why);
}

void engine_attribute(struct engine *engine, struct search_record *record)
{
    if (record != NULL) {
        metrics_count_search(engine->metrics, record);
        attribution_submit(engine->attribution, record);
    }
}

static enum status start_replies(struct engine *engine, struct failure *why)
{
    const struct settings *settings = engine->settings;

    engine->is_loopback = value_is_loopback(settings->listen);
    enum status status =
        bearer_read("reply.token_env", settings->reply_token_env, settings->secrets_dir, &engine->reply_token, why);
    return status == STATUS_OK ? tokens_open(&engine->tokens, settings, why) : status;
}

static enum status start_threads(struct engine *engine, struct failure *why)
{
    const struct settings *settings = engine->settings;
    size_t count = settings->io_threads;

    engine->threads = calloc(count, sizeof *engine->threads);
    if (engine->threads == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    enum status trusted = identity_check_authorities("network.ca_file", settings->ca_file.data, why);
    if (trusted != STATUS_OK) {
        return trusted;
    }
    for (size_t i = 0; i < count; i++) {
        enum status status = io_thread_start(&engine->threads[i], engine, why);
        engine->thread_count++;
        if (status != STATUS_OK) {
            return status;
        }
        atomic_store(&engine->threads_live, i + 1);
    }
    engine_on_book(engine); // a book published before the threads were counted
    return STATUS_OK;
}

/// What has no secret is off; the engine serves without it.
static void engine_on_missing_secret(void *context, const struct failure *missing)
{
    (void)context;
    log_line(LOG_WARNING, "engine", "%s: it is off; %s", missing->message, missing->help);
}

static void engine_tell_tables(const struct engine *engine)
{
    const struct data_set *data = generation_catalogue(engine->generations.current)->data;

    for (size_t i = 0; i < data_set_count(data); i++) {
        struct data_table_stats stats = data_table_stats(data_set_table(data, i));
        log_line(LOG_INFO, "engine", "table name=%.*s rows=%zu keys=%zu bytes=%zu", TEXT_ARGS(data_set_name(data, i)),
                 stats.rows, stats.keys, stats.bytes);
    }
}

static void engine_tell_rates(const struct engine *engine)
{
    const struct rates *rates = generation_catalogue(engine->generations.current)->rates;

    if (rates != NULL) {
        log_line(LOG_INFO, "engine", "rates id=%.*s as_of=%.*s base=%.*s currencies=%zu", TEXT_ARGS(rates_id(rates)),
                 TEXT_ARGS(rates_as_of(rates)), TEXT_ARGS(rates_base(rates)), rates_count(rates));
    }
}

void engine_let_signals_wait(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGNAL_FREE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/// The signals that the control thread waits for; every other thread inherits the block.
static void block_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGUSR1);
    sigaddset(signals, SIGNAL_FREE);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is a write that fails
}

/// What is kept beside generations; what operators have said of suppliers is known before the first search.
static enum status start_kept(struct engine *engine, struct failure *why)
{
    enum status status = permits_create(NULL, &engine->permits);

    if (status == STATUS_OK) {
        status = login_book_create(NULL, &engine->logins);
    }
    if (status == STATUS_OK) {
        status = shadows_create(&engine->shadows);
    }
    if (status == STATUS_OK) {
        status = switches_create(&engine->switches);
    }
    if (status != STATUS_OK) {
        failure_set(why, "out of memory");
        return status;
    }
    status = store_desk_open(engine->settings, &engine->store, why);
    engine->store_is_shared = store_desk_backend(engine->settings) == STORE_BACKEND_REDIS;
    return status == STATUS_OK ? switch_desk_create(engine, &engine->switch_desk, why) : status;
}

static enum status engine_start(struct engine *engine, sigset_t *signals, settings_finding report, void *context,
                                struct failure *why)
{
    struct generation *first = NULL;
    atomic_store(&engine->is_starting, true); // until the operators' listener is there, too
    enum status status = generation_build(engine->settings, report, context, &first);
    if (status != STATUS_OK) {
        failure_set(why, "the suppliers could not be loaded");
        failure_help(why, "`lastcall check` shows every finding");
        return status;
    }
    (void)generation_missing_secrets(first, engine_on_missing_secret, NULL);
    generations_publish(&engine->generations,
                        first); // alone here: until the threads run, it can be read without a hold
    engine_tell_tables(engine);
    engine_tell_rates(engine);
    complaints_init(&engine->complaints);
    engine_moves_init(&engine->moves);
    status = start_kept(engine, why);
    if (status != STATUS_OK) {
        return status;
    }
    block_signals(signals); // only now: a file that never ends its loading must not make us deaf to SIGTERM
    if (engine->settings->timing_file.data != NULL) {
        status = timing_open(&engine->timing, engine->settings->timing_file.data, why);
    }
    if (status == STATUS_OK) {
        status = start_replies(engine, why);
    }
    if (status == STATUS_OK) {
        status = start_telemetry(engine, why);
    }
    if (status == STATUS_OK) {
        status = start_workers(engine, why);
    }
    if (status == STATUS_OK) {
        status = start_resolver(engine, why);
    }
    if (status == STATUS_OK) {
        status = engine_move(engine, engine->generations.current); // nobody else is here yet
    }
    if (status == STATUS_OK) {
        status = nodes_open(engine, &engine->nodes, why);
    }
    if (status == STATUS_OK) {
        status = start_threads(engine, why);
    }
    if (status == STATUS_OK) {
        status = reload_start(engine, &engine->reload, why);
    }
    if (status == STATUS_OK) {
        status = switch_desk_start(engine->switch_desk, why);
    }
    if (status == STATUS_OK) {
        status = nodes_start(engine->nodes, why);
    }
    if (status == STATUS_OK) {
        status = admin_start(engine, &engine->admin, why);
    }
    atomic_store(&engine->is_starting, false);
    return status;
}

static void engine_stop(struct engine *engine)
{
    if (engine->reload != NULL) {
        reload_stop(engine->reload); // what waits is answered through the admin's loop
    }
    switch_desk_stop(engine->switch_desk); // likewise
    nodes_stop(engine->nodes);             // what operators said last is told
    admin_stop(&engine->admin);            // it reads all that follows
    switch_desk_destroy(&engine->switch_desk);
    reload_destroy(&engine->reload);
    for (size_t i = 0; i < engine->thread_count; i++) {
        if (engine->threads[i].is_running) {
            io_thread_stop(&engine->threads[i]);
        }
        io_thread_join(&engine->threads[i]);
    }
    if (engine->resolver != NULL) {
        resolver_destroy(&engine->resolver); // its thread posts to the loops
    }
    for (size_t i = 0; i < engine->thread_count; i++) {
        io_thread_close(&engine->threads[i]);
    }
    if (engine->workers != NULL) {
        worker_pool_destroy(&engine->workers); // gives its calls back to the loops
    }
    if (engine->store != NULL) {
        engine->store->ops->close(&engine->store, STORE_GRACE_US); // likewise
    }
    nodes_close(&engine->nodes);
    for (size_t i = 0; i < engine->thread_count; i++) {
        io_thread_fini(&engine->threads[i]);
    }
    free(engine->threads);
    shadows_destroy(&engine->shadows);
    engine_moves_fini(&engine->moves);
    login_book_destroy(&engine->logins);
    attribution_destroy(&engine->attribution); // what the last searches left is written
    metrics_destroy(&engine->metrics);
    timing_close(&engine->timing);
    complaints_fini(&engine->complaints);
    permits_destroy(&engine->permits);
    switches_destroy(&engine->switches);
    bearer_free(&engine->reply_token);
    tokens_close(&engine->tokens);
    revalidate_flights_fini(&engine->revalidate_flights);
    generations_fini(&engine->generations);
}

bool engine_takes_signal(struct engine *engine, int number)
{
    switch (number) {
    case SIGHUP:
        reload_ask(engine->reload, RELOAD_SIGNAL);
        return true;
    case SIGUSR1:
        attribution_reopen(engine->attribution);
        return true;
    case SIGNAL_FREE:
        engine_free_generations(engine);
        return true;
    default:
        return false;
    }
}

/// Until a signal that ends it, which is the result.
static int engine_serve(struct engine *engine, const sigset_t *signals)
{
    int number = 0;

    do {
        sigwait(signals, &number);
    } while (engine_takes_signal(engine, number));
    return number;
}

/// The listener is for people: where to ask.
static void engine_tell_admin(const struct engine *engine)
{
    if (engine->admin != NULL) {
        log_line(LOG_INFO, "engine", "admin listening address=%s port=%u", engine->settings->admin_listen.data,
                 admin_port(engine->admin));
    }
}

enum status engine_run(struct settings *settings, settings_finding report, void *context, struct failure *why)
{
    struct engine engine = { .settings = settings, .control = pthread_self() };
    sigset_t signals;

    mallopt(M_TRIM_THRESHOLD, MALLOC_KEEP_BYTES);
    mallopt(M_MMAP_THRESHOLD, MALLOC_KEEP_BYTES);
    raise_descriptors();
    grow_descriptor_table();
    const struct generations_hooks hooks = { .wake = engine_wake_control,
                                             .leave = engine_on_leave,
                                             .context = &engine };
    generations_init(&engine.generations, &hooks);
    revalidate_flights_init(&engine.revalidate_flights);

    enum status status = engine_start(&engine, &signals, report, context, why);
    if (status == STATUS_OK) {
        struct generation *generation = engine_generation(&engine);
        log_line(LOG_INFO, "engine", "listening address=%s port=%u suppliers=%zu generation=%u", settings->listen.data,
                 http_server_port(engine.threads[0].server), generation_catalogue(generation)->supplier_count,
                 generation_number(generation));
        generation_release(&generation);
        engine_tell_admin(&engine);
        shutdown_drain(&engine, &signals, engine_serve(&engine, &signals));
        shutdown_guard(&engine, &signals);
    }
    engine_stop(&engine);
    if (status == STATUS_OK) {
        log_line(LOG_INFO, "engine", "stopped");
    }
    return status;
}
