#include "support/stream_world.h"

#include <errno.h>
#include <stdlib.h>

static void step_on_receive(struct message *message)
{
    struct stream_step *step = CONTAINER_OF(message, struct stream_step, message);

    step->run(step);
    sem_post(&step->done);
}

void stream_world_do(struct stream_world *world, struct stream_step *step, void (*run)(struct stream_step *step))
{
    step->message.on_receive = step_on_receive;
    step->world = world;
    step->run = run;
    require(sem_init(&step->done, 0, 0) == 0);
    loop_post(world->loop, &step->message);
    while (sem_wait(&step->done) != 0) {
        require(errno == EINTR);
    }
    sem_destroy(&step->done);
}

void stream_step_begin(struct stream_step *step)
{
    http_call_stream_begin(step->call, step->head, step->limit);
}

static void step_write(struct stream_step *step)
{
    step->result = http_call_stream_write(step->call, step->piece);
}

static void step_end(struct stream_step *step)
{
    http_call_stream_end(step->call);
}

void stream_step_flood(struct stream_step *step)
{
    char *bytes = stream_pattern(STREAM_PIECE);

    step->result = true;
    while (step->result && step->written < STREAM_FLOOD) {
        step->result = http_call_stream_write(step->call, (struct text){ bytes, STREAM_PIECE });
        step->written += STREAM_PIECE;
    }
    step->gone_inside = atomic_load(&step->world->gone);
    free(bytes);
}

void stream_step_fill(struct stream_step *step)
{
    char *bytes = stream_pattern(step->limit);

    step->result = http_call_stream_write(step->call, (struct text){ bytes, step->limit });
    free(bytes);
}

void stream_begin(struct stream_world *world, unsigned i, size_t limit)
{
    struct http_reply head = { .status = 200, .content_type = "text/event-stream" };
    struct stream_step step = { .call = world->calls[i], .head = &head, .limit = limit };

    stream_world_do(world, &step, stream_step_begin);
}

bool stream_write_piece(struct stream_world *world, unsigned i, struct text piece)
{
    struct stream_step step = { .call = world->calls[i], .piece = piece };

    stream_world_do(world, &step, step_write);
    return step.result;
}

void stream_end(struct stream_world *world, unsigned i)
{
    struct stream_step step = { .call = world->calls[i] };

    stream_world_do(world, &step, step_end);
}

char *stream_pattern(size_t length)
{
    char *bytes = malloc(length);

    require(bytes != NULL);
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (char)(unsigned char)i;
    }
    return bytes;
}

static void handle_request(void *context, struct http_call *call)
{
    struct stream_world *world = context;

    if (text_equals_c(http_call_path(call), "/stream")) {
        require(world->count < STREAMS);
        world->calls[world->count++] = call;
    } else {
        struct block *body = block_create(TEXT("whole"));
        struct http_reply reply = { .status = 200, .body = body };
        http_call_reply(call, &reply);
        block_release(&body);
    }
    atomic_fetch_add(&world->requests, 1);
}

static void handle_gone(void *context, struct http_call *call)
{
    struct stream_world *world = context;

    require(http_call_arrival_us(call) > 0); // it can still be read
    atomic_fetch_add(&world->gone, 1);
}

static void handle_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct stream_world *world = context;

    require(sent_us >= http_call_arrival_us(call));
    atomic_fetch_add(was_sent ? &world->sent : &world->broken, 1);
    atomic_fetch_add(&world->slow, was_slow ? 1 : 0);
}

static void *world_run(void *argument)
{
    struct stream_world *world = argument;
    loop_run(world->loop);
    return NULL;
}

int stream_world_setup(void **state)
{
    struct stream_world *world = calloc(1, sizeof(*world));
    struct http_server_options options = { .listen = "127.0.0.1:0" };
    struct http_server_handlers handlers = { handle_request, handle_gone, handle_sent, world, NULL, NULL, NULL };
    struct failure why;

    if (loop_create(&world->loop) != STATUS_OK ||
        http_server_create(world->loop, &options, &handlers, &world->server, &why) != STATUS_OK ||
        pthread_create(&world->thread, NULL, world_run, world) != 0) {
        return 1;
    }
    *state = world;
    return 0;
}

void stream_step_stop(struct stream_step *step)
{
    http_server_destroy(&step->world->server);
    loop_stop(step->world->loop);
}

void stream_world_stop(struct stream_world *world)
{
    struct stream_step step = { .fd = -1 };

    if (world->loop != NULL) {
        stream_world_do(world, &step, stream_step_stop);
        pthread_join(world->thread, NULL);
        loop_destroy(&world->loop);
    }
}

int stream_world_teardown(void **state)
{
    stream_world_stop(*state);
    free(*state);
    return 0;
}

static void step_count_calls(struct stream_step *step)
{
    step->limit = http_server_open_calls(step->world->server);
}

uint32_t stream_world_open_calls(struct stream_world *world)
{
    struct stream_step step = { .fd = -1 };

    stream_world_do(world, &step, step_count_calls);
    return (uint32_t)step.limit;
}
