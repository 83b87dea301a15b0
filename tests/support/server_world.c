#include "support/server_world.h"

#include "base/clock.h"
#include "support/caller.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct later {
    struct timer timer;
    struct http_call *call;
    struct server_world *world;
};

static void reply_with(struct http_call *call, uint16_t status, struct block *body)
{
    struct header_pair extra = { "X-Test", "yes" };
    struct http_reply reply = {
        .status = status, .content_type = "text/plain", .body = body, .headers = &extra, .header_count = 1
    };
    http_call_reply(call, &reply);
}

static void reply_text(struct http_call *call, struct text text)
{
    struct block *body = block_create(text);
    reply_with(call, 200, body);
    block_release(&body);
}

static void later_on_due(struct timer *timer)
{
    struct later *later = CONTAINER_OF(timer, struct later, timer);
    http_call_set_owner(later->call, NULL);
    reply_text(later->call, TEXT("later"));
    free(later);
}

static void handle_request(void *context, struct http_call *call)
{
    struct server_world *world = context;
    struct text path = http_call_path(call);

    atomic_fetch_add(&world->requests, 1);
    uint64_t arrival_us = http_call_arrival_us(call);
    if (arrival_us > clock_now_us() || http_call_arrival_wall_us(call) > clock_wall_us()) {
        atomic_store(&world->arrival_is_plausible, false);
    }
    if (text_equals_c(path, "/later")) {
        struct later *later = calloc(1, sizeof(*later));
        later->timer.on_due = later_on_due;
        later->call = call;
        later->world = world;
        http_call_set_owner(call, later);
        require(loop_timer_start(world->loop, &later->timer, clock_now_us() + 30000) == STATUS_OK);
    } else if (text_equals_c(path, "/hold")) {
        require(world->held_count < HELD_MAX);
        world->held[world->held_count++] = call;
    } else if (text_equals_c(path, "/big")) {
        reply_with(call, 200, world->big);
    } else if (text_equals_c(path, "/middle")) {
        reply_with(call, 200, world->middle);
    } else if (text_equals_c(path, "/header")) {
        struct text query = http_call_query(call, "q");
        char line[128];
        int length = snprintf(line, sizeof(line), "%.*s|%.*s|%.*s|%s", TEXT_ARGS(http_call_method(call)),
                              TEXT_ARGS(http_call_header(call, "search-CALLER")), TEXT_ARGS(query),
                              http_call_query(call, "none").data == NULL ? "absent" : "there");
        reply_text(call, (struct text){ line, (size_t)length });
    } else if (text_equals_c(path, "/many")) {
        char line[128];
        int length = snprintf(line, sizeof(line), "%.*s|%.*s|%s", TEXT_ARGS(http_call_header_nth(call, "X-Many", 0)),
                              TEXT_ARGS(http_call_header_nth(call, "x-many", 1)),
                              http_call_header_nth(call, "x-many", 2).data == NULL ? "absent" : "there");
        reply_text(call, (struct text){ line, (size_t)length });
    } else if (text_equals_c(path, "/broken")) {
        struct header_pair split = { "X-Split", "a\r\nInjected: yes" };
        struct http_reply reply = { .status = 200, .headers = &split, .header_count = 1 };
        http_call_reply(call, &reply);
    } else if (text_starts_with(path, TEXT("/status/"))) {
        reply_with(call, (uint16_t)strtoul(path.data + strlen("/status/"), NULL, 10), http_call_body(call));
    } else {
        reply_with(call, 200, http_call_body(call));
    }
}

static void handle_gone(void *context, struct http_call *call)
{
    struct server_world *world = context;
    struct later *later = http_call_owner(call);

    if (later != NULL) {
        loop_timer_cancel(world->loop, &later->timer);
        free(later);
    }
    for (unsigned i = 0; i < world->held_count; i++) {
        if (world->held[i] == call) {
            world->held[i] = world->held[--world->held_count];
        }
    }
    atomic_fetch_add(&world->gone, 1);
}

static void handle_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct server_world *world = context;

    if (sent_us < http_call_arrival_us(call)) {
        atomic_store(&world->arrival_is_plausible, false);
    }
    atomic_fetch_add(was_sent ? &world->sent : &world->broken, 1);
    atomic_store(&world->last_status, http_call_status(call));
    if (was_slow) {
        atomic_fetch_add(&world->slow, 1);
    }
}

static void handle_malformed(void *context, uint16_t status)
{
    struct server_world *world = context;

    world->malformed_status = status;
    world->malformed++;
}

static size_t common_headers(void *context, const struct http_call *call,
                             struct header_pair headers[HTTP_SERVER_COMMON_HEADERS])
{
    (void)context;
    headers[0] = (struct header_pair){ "X-Path", http_call_path(call).length > 1 ? "some" : "root" };
    return 1;
}

static const struct http_reply *turn_away(void *context, const struct http_call *call)
{
    static const struct header_pair LATER = { "Retry-After", "1" };
    static const struct http_reply FULL = { .status = 503, .headers = &LATER, .header_count = 1 };

    (void)context;
    return text_equals_c(http_call_path(call), "/full") ? &FULL : NULL;
}

static void on_stop(struct message *message)
{
    struct server_world *world = CONTAINER_OF(message, struct server_world, stop);
    http_server_destroy(&world->server);
    loop_stop(world->loop);
}

static void on_quiesce(struct message *message)
{
    struct server_world *world = CONTAINER_OF(message, struct server_world, quiesce);
    http_server_stop_listening(world->server);
    atomic_store(&world->open_calls, http_server_open_calls(world->server));
    atomic_store(&world->quiesced, true);
}

static void on_release(struct message *message)
{
    struct server_world *world = CONTAINER_OF(message, struct server_world, release);
    while (world->held_count > 0) {
        reply_text(world->held[--world->held_count], TEXT("released"));
    }
}

static void *world_run(void *argument)
{
    struct server_world *world = argument;
    loop_run(world->loop);
    return NULL;
}

static struct block *block_of(size_t length, char byte)
{
    char *bytes = malloc(length);
    memset(bytes, byte, length);
    struct block *block = block_create((struct text){ bytes, length });
    free(bytes);
    return block;
}

static int setup_with(void **state, uint32_t idle_timeout_s, uint32_t max_connections)
{
    struct server_world *world = calloc(1, sizeof(*world));
    struct http_server_options options = { .listen = "127.0.0.1:0",
                                           .body_cap = 64 * 1024,
                                           .idle_timeout_s = idle_timeout_s,
                                           .max_connections = max_connections };
    struct http_server_handlers handlers = { handle_request, handle_gone,      handle_sent, world,
                                             common_headers, handle_malformed, turn_away };
    struct failure why;

    world->big = block_of(BIG, 'b');
    world->middle = block_of(MIDDLE, 'm');
    world->arrival_is_plausible = true;
    world->stop.on_receive = on_stop;
    world->quiesce.on_receive = on_quiesce;
    world->release.on_receive = on_release;
    if (loop_create(&world->loop) != STATUS_OK ||
        http_server_create(world->loop, &options, &handlers, &world->server, &why) != STATUS_OK ||
        pthread_create(&world->thread, NULL, world_run, world) != 0) {
        return 1;
    }
    *state = world;
    return 0;
}

int server_world_setup(void **state)
{
    return setup_with(state, 0, 0);
}

int server_world_setup_impatient(void **state)
{
    return setup_with(state, 1, 0);
}

int server_world_setup_narrow(void **state)
{
    return setup_with(state, 1, 1);
}

void server_world_stop(struct server_world *world)
{
    if (world->loop != NULL) {
        loop_post(world->loop, &world->stop);
        pthread_join(world->thread, NULL);
        loop_destroy(&world->loop);
    }
}

int server_world_teardown(void **state)
{
    struct server_world *world = *state;

    server_world_stop(world);
    block_release(&world->big);
    block_release(&world->middle);
    free(world);
    return 0;
}

void server_world_await(atomic_uint *counter, unsigned least)
{
    for (int i = 0; i < CALLER_PATIENCE_MS && atomic_load(counter) < least; i++) {
        usleep(1000);
    }
    assert_true(atomic_load(counter) >= least);
}

int server_world_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

void await_descriptors(int expected)
{
    for (int i = 0; i < CALLER_PATIENCE_MS && server_world_descriptors() > expected; i++) {
        usleep(1000);
    }
    assert_int_equal(server_world_descriptors(), expected);
}

const struct http_server_handlers server_world_handlers = { handle_request, handle_gone, handle_sent, NULL,
                                                            NULL,           NULL,        NULL };
