#include "app/store_thread.h"

#include "app/store_socket.h"
#include "base/clock.h"
#include "store/store_redis.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ASIDE_NICE = 19, PRESS_ABOVE = 2 << 10 };

struct store_thread {
    struct loop *loop, *aside;
    struct store_socket socket;
    pthread_t threads[2];
    size_t thread_count;
};

static void *store_main(void *argument)
{
    loop_run(((struct store_thread *)argument)->loop);
    return NULL;
}

static void *aside_main(void *argument)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), ASIDE_NICE);
    loop_run(((struct store_thread *)argument)->aside);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------- transport

static void post(void *context, struct message *message)
{
    loop_post(((struct store_thread *)context)->loop, message);
}

static void post_aside(void *context, struct message *message)
{
    loop_post(((struct store_thread *)context)->aside, message);
}

static uint64_t now_us(void *context)
{
    (void)context;
    return clock_now_us();
}

static enum status timer_start(void *context, struct timer *timer, uint64_t at_us)
{
    return loop_timer_start(((struct store_thread *)context)->loop, timer, at_us);
}

static void timer_cancel(void *context, struct timer *timer)
{
    loop_timer_cancel(((struct store_thread *)context)->loop, timer);
}

static void connect_socket(void *context, struct transport_peer *peer)
{
    store_socket_connect(&((struct store_thread *)context)->socket, peer);
}

static bool write_socket(void *context, struct text bytes)
{
    return store_socket_write(&((struct store_thread *)context)->socket, bytes);
}

static void close_socket(void *context)
{
    store_socket_close(&((struct store_thread *)context)->socket);
}

static void ended(void *context)
{
    struct store_thread *thread = context;

    store_socket_fini(&thread->socket);
    loop_stop(thread->loop);
    loop_stop(thread->aside);
}

static void join(void *context)
{
    struct store_thread *thread = context;

    for (size_t i = 0; i < thread->thread_count; i++) {
        pthread_join(thread->threads[i], NULL);
    }
    loop_destroy(&thread->loop);
    loop_destroy(&thread->aside);
    free(thread);
}

// ------------------------------------------------------------------------------------------------------------ opening

static bool start_threads(struct store_thread *thread)
{
    static void *(*const MAINS[])(void *) = { store_main, aside_main };
    static const char *const NAMES[] = { "store", "store pack" };

    for (size_t i = 0; i < COUNT_OF(MAINS); i++) {
        if (pthread_create(&thread->threads[i], NULL, MAINS[i], thread) != 0) {
            return false;
        }
        pthread_setname_np(thread->threads[i], NAMES[i]);
        thread->thread_count++;
    }
    return true;
}

// Nothing has been posted yet: there is no store.
static void give_up(struct store_thread *thread)
{
    if (thread->loop != NULL) {
        loop_stop(thread->loop);
    }
    if (thread->aside != NULL) {
        loop_stop(thread->aside);
    }
    for (size_t i = 0; i < thread->thread_count; i++) {
        pthread_join(thread->threads[i], NULL);
    }
    store_socket_fini(&thread->socket);
    loop_destroy(&thread->loop);
    loop_destroy(&thread->aside);
    free(thread);
}

static struct store *make_store(struct store_thread *thread, const struct store_thread_options *options)
{
    struct transport transport = {
        .context = thread,
        .post = post,
        .post_aside = post_aside,
        .now_us = now_us,
        .timer_start = timer_start,
        .timer_cancel = timer_cancel,
        .connect = connect_socket,
        .write = write_socket,
        .close = close_socket,
        .ended = ended,
        .join = join,
    };
    struct store_redis_options redis = {
        .user = options->user,
        .password = options->password,
        .database = options->url.database,
        .prefix = options->prefix.data != NULL ? options->prefix : TEXT("lastcall"),
        .press_above = options->press_above != 0 ? options->press_above : PRESS_ABOVE,
        .seed = options->seed != 0 ? options->seed : clock_wall_us() ^ (uint64_t)getpid() << 32,
        .transport = transport,
        .deliver = options->deliver,
    };
    return store_redis_create(&redis);
}

enum status store_thread_open(const struct store_thread_options *options, struct store **store, struct failure *why)
{
    struct store_thread *thread = calloc(1, sizeof *thread);

    *store = NULL;
    failure_set(why, "no memory for the store's thread");
    if (thread == NULL) {
        return STATUS_NO_MEMORY;
    }
    thread->socket.fd = -1;
    list_init(&thread->socket.soon.node);
    enum status status = STATUS_NO_MEMORY;
    if (loop_create(&thread->loop) == STATUS_OK && loop_create(&thread->aside) == STATUS_OK &&
        store_socket_init(&thread->socket, thread->loop, &options->url)) {
        status = start_threads(thread) ? STATUS_OK : STATUS_IO;
    }
    if (status == STATUS_OK) {
        *store = make_store(thread, options);
        status = *store != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        if (status == STATUS_IO) {
            failure_set(why, "no thread for the store");
        }
        give_up(thread);
    }
    return status;
}
