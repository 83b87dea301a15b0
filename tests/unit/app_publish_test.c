// Generations that change under a running engine: real loops, workers and sockets; each generation's scripts have a
// mark of their own, put it into every request and every state, and raise an error when they meet another's.

#include "app/complaints.h"
#include "app/engine.h"
#include "app/io_thread.h"
#include "app/login_book.h"
#include "app/permits.h"

#include "base/clock.h"
#include "support/caller.h"
#include "support/peer.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"
#include "unit/app_settings_support.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <time.h>

enum {
    LOOPS = 2,
    CALLERS = 2,
    LEAVERS = 1,
    PUBLISHED = 40,
    SUPPLIERS = 2,
    HEAD_BYTES = 16 * 1024,
    PATIENCE_MS = 60000
};

static const char *const names[SUPPLIERS] = { "alpha", "bravo" };

struct town {
    char folder[64];
    struct peer *peer;
    struct settings *settings;
    struct engine engine;
    pthread_t freer;
    sem_t woken;
    atomic_bool is_over;  // for the callers
    atomic_bool is_freed; // for the one who frees
    atomic_uint replies, left;
    atomic_bool is_wrong; // some reply was
};

/// A pause between looks at a condition.
static void nap(void)
{
    const struct timespec pause = { .tv_nsec = 1000 * 1000 };
    nanosleep(&pause, NULL);
}

// ------------------------------------------------------------------------------------------------------------- scripts

// Of alpha: four steps. Of bravo: the same behind a login that expires and is renewed all the time.
static const char script[] = "local mark, base = '%u', 'http://127.0.0.1:%u/'\n"
                             "return {\n"
                             "  name = '%s', product = 'flights', owner = 'flights@example.com',\n"
                             "  hosts = { '127.0.0.1:%u' },\n"
                             "  %s\n"
                             "  build_request = function()\n"
                             "    return { method = 'GET', url = base .. mark .. '/1' }\n"
                             "  end,\n"
                             "  normalise = function(response, _, ctx)\n"
                             "    local said = 'GET /' .. mark .. '/' .. ctx.step .. ' HTTP/1.1'\n"
                             "    if response:text() ~= said or (ctx.step > 1 and ctx.state.mark ~= mark) then\n"
                             "      error('mixed: ' .. response:text() .. ' met ' .. mark)\n"
                             "    end\n"
                             "    if ctx.step == 4 then return {} end\n"
                             "    local request = { method = 'GET', url = base .. mark .. '/' .. (ctx.step + 1) }\n"
                             "    return {}, { next = { after_ms = 10, request = request, state = { mark = mark } } }\n"
                             "  end,\n"
                             "}\n";
static const char login[] = "login = {\n"
                            "    build_request = function() return { method = 'GET', url = base .. 'login' } end,\n"
                            "    read = function() return { value = 'a session', expires_in_s = 3 } end,\n"
                            "  },\n";

static const char product[] = "return {\n"
                              "  name = \"flights\",\n"
                              "  query = function() return { currency = \"EUR\" } end,\n"
                              "  offer = {\n"
                              "    { \"id\", \"text\", required = true, max = 64 },\n"
                              "    { \"price\", { { \"total\", \"money\", required = true },\n"
                              "      { \"currency\", \"currency\", required = true } }, required = true },\n"
                              "    { \"flight\", \"text\", item = true, max = 16 },\n"
                              "  },\n"
                              "}\n";

static void write_product(const struct town *town)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/set", town->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/set/products", town->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/set/products/flights.lua", town->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(product, file);
    assert_int_equal(fclose(file), 0);
}

static void write_scripts(const struct town *town, unsigned mark)
{
    unsigned port = peer_port(town->peer);
    char path[128];

    for (size_t i = 0; i < SUPPLIERS; i++) {
        snprintf(path, sizeof(path), "%s/%s.lua", town->folder, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, script, mark, port, names[i], port, i == 0 ? "" : login);
        assert_int_equal(fclose(file), 0);
    }
}

static void remove_scripts(const struct town *town)
{
    char path[128];

    for (size_t i = 0; i < SUPPLIERS; i++) {
        snprintf(path, sizeof(path), "%s/%s.lua", town->folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/set/products/flights.lua", town->folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/set/products", town->folder);
    rmdir(path);
    snprintf(path, sizeof(path), "%s/set", town->folder);
    rmdir(path);
    rmdir(town->folder);
}

/// Answers with the first line of each request.
static void serve(struct peer_stream *stream)
{
    char head[HEAD_BYTES];
    char answer[HEAD_BYTES + 64];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        *strstr(head, "\r\n") = '\0';
        snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(head), head);
        if (!stream_send(stream, answer)) {
            return;
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- engine

static void town_wake(void *context)
{
    struct town *town = context;
    sem_post(&town->woken);
}

static void town_leave(void *context, const struct generation *generation)
{
    struct town *town = context;
    engine_leave(&town->engine, generation);
}

static void *free_generations(void *argument)
{
    struct town *town = argument;

    while (!atomic_load(&town->is_freed)) {
        while (sem_wait(&town->woken) != 0) {
        }
        (void)generations_free_ended(&town->engine.generations);
    }
    return NULL;
}

/// As a reload does: settings of its own for each generation.
static struct settings *read_settings(const struct town *town)
{
    static const char rest[] = "listen: '127.0.0.1:0'\n"
                               "network: { allow_private: [127.0.0.1/32] }\n"
                               "deadline: { max: 10s }\n"
                               "callers: [web]\n"
                               "cors: { origins: ['https://shop.example'] }\n";
    struct settings *settings = NULL;
    struct findings findings = { 0 };
    char document[1024];
    const char *documents = document;

    snprintf(document, sizeof(document), "suppliers_dir: %s\nscripts_dir: %s/set\nio_threads: %d\n%s", town->folder,
             town->folder, LOOPS, rest);
    assert_int_equal(read_documents(&documents, 1, &findings, &settings), STATUS_OK);
    return settings;
}

static struct generation *build(const struct town *town, unsigned mark)
{
    struct settings *settings = read_settings(town);
    struct findings findings = { 0 };
    struct generation *generation = NULL;

    write_scripts(town, mark);
    enum status status = generation_build(settings, on_finding, &findings, &generation);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", findings.items[0].file, findings.items[0].message);
    }
    settings_release(&settings);
    return generation;
}

static void town_start_threads(struct town *town)
{
    struct engine *engine = &town->engine;
    struct failure why = { 0 };

    engine->threads = calloc(LOOPS, sizeof(*engine->threads));
    assert_non_null(engine->threads);
    for (size_t i = 0; i < LOOPS; i++) {
        if (io_thread_start(&engine->threads[i], engine, &why) != STATUS_OK) {
            fail_msg("%s", why.message);
        }
        engine->thread_count++;
        atomic_store(&engine->threads_live, i + 1);
    }
}

/// An engine that is whole but for its control thread and its admin listener.
static void town_open(struct town *town)
{
    const struct generations_hooks hooks = { .wake = town_wake, .leave = town_leave, .context = town };
    struct worker_pool_options workers = { .threads = 2, .deliver = live_world_deliver };
    const struct resolver_options resolver = { .allowed_count = 0 };
    const struct attribution_options attribution = { .path = NULL };
    const struct text suppliers[SUPPLIERS] = { TEXT("alpha"), TEXT("bravo") };
    const struct metrics_options metrics = {
        .suppliers = suppliers, .supplier_count = SUPPLIERS, .thread_count = LOOPS, .version = "1.2.3"
    };
    const struct peer_options peer = { .serve = serve };
    struct engine *engine = &town->engine;
    struct failure why = { 0 };

    *town = (struct town){ .folder = "/tmp/app_publish_test.XXXXXX" };
    assert_non_null(mkdtemp(town->folder));
    town->peer = peer_start(&peer);
    write_product(town);
    town->settings = read_settings(town);
    engine->settings = town->settings;
    engine->is_loopback = true;
    assert_int_equal(sem_init(&town->woken, 0, 0), 0);
    generations_init(&engine->generations, &hooks);
    assert_int_equal(pthread_create(&town->freer, NULL, free_generations, town), 0);
    struct generation *first = build(town, 0);
    engine_moves_init(&engine->moves);
    complaints_init(&engine->complaints);
    revalidate_flights_init(&engine->revalidate_flights);
    assert_int_equal(permits_create(NULL, &engine->permits), STATUS_OK);
    assert_int_equal(login_book_create(NULL, &engine->logins), STATUS_OK);
    assert_int_equal(metrics_create(&metrics, &engine->metrics), STATUS_OK);
    assert_int_equal(attribution_create(&attribution, &engine->attribution, &why), STATUS_OK);
    assert_int_equal(worker_pool_create(&workers, &engine->workers, &why), STATUS_OK);
    assert_int_equal(resolver_create(&resolver, &engine->resolver, &why), STATUS_OK);
    assert_int_equal(engine_publish(engine, first), STATUS_OK);
    town_start_threads(town);
}

/// As the engine stops: its control thread, which frees generations, does nothing else by then.
static void town_close(struct town *town)
{
    struct engine *engine = &town->engine;

    atomic_store(&town->is_freed, true);
    sem_post(&town->woken);
    pthread_join(town->freer, NULL);
    for (size_t i = 0; i < LOOPS; i++) {
        io_thread_stop(&engine->threads[i]);
        io_thread_join(&engine->threads[i]);
    }
    resolver_destroy(&engine->resolver);
    for (size_t i = 0; i < LOOPS; i++) {
        io_thread_close(&engine->threads[i]);
    }
    worker_pool_destroy(&engine->workers);
    for (size_t i = 0; i < LOOPS; i++) {
        io_thread_fini(&engine->threads[i]);
    }
    free(engine->threads);
    engine_moves_fini(&engine->moves);
    login_book_destroy(&engine->logins);
    attribution_destroy(&engine->attribution);
    metrics_destroy(&engine->metrics);
    complaints_fini(&engine->complaints);
    permits_destroy(&engine->permits);
    revalidate_flights_fini(&engine->revalidate_flights);
    generations_fini(&engine->generations);
    sem_destroy(&town->woken);
    settings_release(&town->settings);
    peer_stop(&town->peer);
    remove_scripts(town);
}

// ------------------------------------------------------------------------------------------------------------- callers

struct town_caller {
    struct town *town;
    pthread_t thread;
    uint16_t port;
    uint32_t first, last; // generations that replies named
    char wrong[512];      // the first reply that was not as it has to be
};

static const char request[] = "POST /v1/search HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                              "Origin: https://shop.example\r\nSearch-Caller: web\r\n"
                              "Content-Length: 50\r\n\r\n"
                              "{\"product\":\"flights\",\"query\":{},\"budget_ms\":10000}";

static bool is_as_it_has_to_be(struct town_caller *caller, int status, const char *body)
{
    const char *generation = strstr(body, "\"generation\":");
    uint32_t number = generation == NULL ? 0 : (uint32_t)strtoul(generation + strlen("\"generation\":"), NULL, 10);

    if (status != 200 || strstr(body, "mixed") != NULL || strstr(body, "\"complete\":true") == NULL ||
        number < caller->last) {
        return false;
    }
    caller->first = caller->first == 0 ? number : caller->first;
    caller->last = number;
    return true;
}

/// One search after the other.
static void *call(void *argument)
{
    struct town_caller *caller = argument;
    static _Thread_local char body[64 * 1024];
    int fd = caller_connect(caller->port);
    size_t length = 0;

    while (!atomic_load(&caller->town->is_over) && caller->wrong[0] == '\0') {
        caller_send(fd, request);
        int status = caller_read(fd, body, sizeof(body) - 1, &length);
        body[length] = '\0';
        if (!is_as_it_has_to_be(caller, status, body)) {
            snprintf(caller->wrong, sizeof(caller->wrong), "%d %.480s", status, body);
            atomic_store(&caller->town->is_wrong, true);
        }
        atomic_fetch_add(&caller->town->replies, 1);
    }
    close(fd);
    return NULL;
}

/// Searches whose caller leaves at once: their calls come back to nobody.
static void *leave(void *argument)
{
    struct town_caller *caller = argument;

    while (!atomic_load(&caller->town->is_over)) {
        int fd = caller_connect(caller->port);
        caller_send(fd, request);
        nap();
        nap();
        caller_reset(fd);
        atomic_fetch_add(&caller->town->left, 1);
    }
    return NULL;
}

/// What is kept over generations has lost nothing on the way: all that was begun has ended.
static void assert_nothing_is_under_way(struct town *town)
{
    struct engine *engine = &town->engine;
    struct generation *generation = engine_generation(engine);
    const struct catalogue *catalogue = generation_catalogue(generation);

    assert_int_equal(permits_count(engine->permits), SUPPLIERS);
    assert_int_equal(login_book_count(engine->logins), 1);
    for (size_t i = 0; i < SUPPLIERS; i++) {
        struct permits_view view = { .running = 1 };
        for (int look = 0; look < PATIENCE_MS && view.running > 0; look++) {
            nap(); // a renewal, or what was left at once
            permits_look(engine->permits, catalogue->suppliers[i].account, &view);
        }
        assert_int_equal(view.running, 0);
        assert_in_range(view.used[QUOTA_DAY], 2 * PUBLISHED / 4, UINT32_MAX); // those of generations that are gone, too
    }
    struct login_counts counts = { .waiting = 1 };
    for (int look = 0; look < PATIENCE_MS && counts.waiting > 0; look++) {
        nap();
        counts = login_book_counts(engine->logins, &catalogue->suppliers[1]);
    }
    assert_in_range(counts.made, 1, UINT32_MAX);
    assert_int_equal(counts.waiting, 0);
    generation_release(&generation);
}

static void searches_go_on_while_generations_are_published(void **state)
{
    struct town *town = malloc(sizeof(*town));
    struct town_caller callers[CALLERS + LEAVERS] = { 0 };
    (void)state;

    assert_non_null(town);
    town_open(town);
    for (size_t i = 0; i < CALLERS + LEAVERS; i++) {
        callers[i].town = town;
        callers[i].port = http_server_port(town->engine.threads[i % LOOPS].server);
        assert_int_equal(pthread_create(&callers[i].thread, NULL, i < CALLERS ? call : leave, &callers[i]), 0);
    }
    for (unsigned mark = 1; mark <= PUBLISHED; mark++) {
        unsigned replies = atomic_load(&town->replies);
        assert_true(engine_await_room(&town->engine));
        assert_int_equal(engine_publish(&town->engine, build(town, mark)), STATUS_OK);
        assert_in_range(engine_generations_live(&town->engine), 1, GENERATIONS_MAX);
        while (mark % 4 == 0 && atomic_load(&town->replies) == replies &&
               !atomic_load(&town->is_wrong)) { // else callers might see none of it
            nap();
        }
    }
    struct generation *last = engine_generation(&town->engine);
    atomic_store(&town->is_over, true);
    for (size_t i = 0; i < CALLERS + LEAVERS; i++) {
        pthread_join(callers[i].thread, NULL);
        if (callers[i].wrong[0] != '\0') {
            fail_msg("%s", callers[i].wrong);
        }
    }
    assert_in_range(callers[0].last, callers[0].first + 1, generation_number(last));
    assert_in_range(atomic_load(&town->left), 1, UINT_MAX);
    generation_release(&last);
    for (int i = 0; i < PATIENCE_MS && engine_generations_live(&town->engine) > 1; i++) {
        nap(); // the last calls come back
    }
    assert_int_equal(engine_generations_live(&town->engine), 1);
    assert_nothing_is_under_way(town);
    town_close(town);
    free(town);
}

static void an_engine_that_ends_in_the_middle_of_searches_of_old_generations_leaves_nothing(void **state)
{
    struct town *town = malloc(sizeof(*town));
    (void)state;

    assert_non_null(town);
    town_open(town);
    for (unsigned mark = 1; mark < GENERATIONS_MAX; mark++) {
        int fd = caller_connect(http_server_port(town->engine.threads[0].server));
        unsigned before = peer_requests(town->peer);
        caller_send(fd, request);
        while (peer_requests(town->peer) == before) {
            nap();
        }
        assert_int_equal(engine_publish(&town->engine, build(town, mark)), STATUS_OK);
        close(fd);
    }
    town_close(town); // the leak checks tell
    free(town);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_go_on_while_generations_are_published),
        cmocka_unit_test(an_engine_that_ends_in_the_middle_of_searches_of_old_generations_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
