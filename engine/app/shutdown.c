#include "app/shutdown.h"

#include "app/io_thread.h"
#include "app/reload.h"
#include "app/settings_value.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

//   NOTICE --its time--> DRAIN --all answered----------------------------> STOP --all down--> exit 0
//     |                    |                                                |
//     |                    +--its time--> searches end --all sent, grace--> +--another one--> exit 0 at once
//     +---second signal----+------------> with what    --another one------> +--its time-----> exit 6 at once
//                                         they have

enum { NAP_US = 10000, GUARD_NAP_US = 50000, LAST_LINE_US = 200000, LOOP_LATE_US = 2000000, NOTICE_AUTO_US = 5000000 };

struct notice {
    uint64_t us;
    const char *because;
};

/// Nobody beyond this machine reaches a loopback listener, so probably nobody keeps a list of engines either. Else
/// there is a balancer: five seconds are two checks of one that looks each 2 s, and one second for it to act.
static struct notice notice_of(const struct settings *settings)
{
    if (settings->notice_us != SETTINGS_AUTO) {
        return (struct notice){ settings->notice_us, "set" };
    }
    if (value_is_loopback(settings->listen)) {
        return (struct notice){ 0, "auto, none for `listen` is loopback" };
    }
    return (struct notice){ NOTICE_AUTO_US, "auto" };
}

/// Waits for at most `wait_us`. True: another signal says that it must end now.
static bool is_told_again(struct engine *engine, const sigset_t *signals, uint64_t wait_us)
{
    struct timespec wait = { .tv_sec = (time_t)(wait_us / 1000000), .tv_nsec = (long)(wait_us % 1000000) * 1000 };
    int number = sigtimedwait(signals, NULL, &wait);

    if (number < 0 || engine_takes_signal(engine, number)) {
        return false;
    }
    return true;
}

/// False: it is cut short.
static bool give_notice(struct engine *engine, const sigset_t *signals, uint64_t notice_us)
{
    uint64_t end_us = clock_now_us() + notice_us;

    for (uint64_t now_us = clock_now_us(); now_us < end_us; now_us = clock_now_us()) {
        if (is_told_again(engine, signals, end_us - now_us)) {
            return false;
        }
    }
    return true;
}

/// The loops end by themselves, each when its requests are answered or cut. False: it is cut short.
static bool await_loops(struct engine *engine, const sigset_t *signals, uint64_t within_us)
{
    uint64_t end_us = clock_now_us() + within_us + LOOP_LATE_US;

    for (size_t i = 0; i < engine->thread_count; i++) {
        while (engine->threads[i].is_running && pthread_tryjoin_np(engine->threads[i].thread, NULL) != 0) {
            if (is_told_again(engine, signals, NAP_US)) {
                return false;
            }
            if (clock_now_us() >= end_us) {
                log_line(LOG_ERROR, "engine", "a loop does not end by itself");
                return true;
            }
        }
        engine->threads[i].is_running = false;
    }
    return true;
}

/// False: a second signal came.
static bool drain(struct engine *engine, const sigset_t *signals, uint64_t drain_us)
{
    for (size_t i = 0; i < engine->thread_count; i++) {
        io_thread_drain(&engine->threads[i]);
    }
    return await_loops(engine, signals, drain_us + IO_THREAD_GRACE_US);
}

static void end_now(struct engine *engine, const sigset_t *signals)
{
    log_line(LOG_WARNING, "engine", "second signal: open searches end with what they have");
    for (size_t i = 0; i < engine->thread_count; i++) {
        if (engine->threads[i].is_running) {
            io_thread_end_searches(&engine->threads[i]);
        }
    }
    if (!await_loops(engine, signals, IO_THREAD_GRACE_US)) {
        log_line(LOG_WARNING, "engine", "third signal: open requests are cut");
    }
}

void shutdown_drain(struct engine *engine, const sigset_t *signals, int number)
{
    struct generation *generation = engine_generation(engine);
    struct notice notice = notice_of(generation_settings(generation));
    uint64_t drain_us = generation_settings(generation)->drain_us;

    generation_release(&generation);
    log_line(LOG_INFO, "engine", "draining signal=%s notice_ms=%llu (%s) drain_ms=%llu", strsignal(number),
             (unsigned long long)clock_us_to_ms(notice.us), notice.because,
             (unsigned long long)clock_us_to_ms(drain_us));
    atomic_store(&engine->is_draining, true);
    generations_close(&engine->generations); // nobody waits to publish one more
    worker_pool_hurry(engine->workers);      // nor for its states
    reload_drain(engine->reload);
    bool is_hurried = !give_notice(engine, signals, notice.us);
    atomic_store(&engine->refuses_searches, true);
    if (is_hurried || !drain(engine, signals, drain_us)) {
        end_now(engine, signals);
    }
}

// --------------------------------------------------------------------------------------------------------------- guard

static struct {
    sigset_t signals;
    uint64_t end_us;
    atomic_bool is_over;
} guard;

/// Nothing that may hang is waited for any more, not even the log.
static _Noreturn void leave(int code)
{
    const struct timespec moment = { .tv_nsec = LAST_LINE_US * 1000 };

    (void)nanosleep(&moment, NULL);
    _exit(code);
}

static void *guard_main(void *unused)
{
    const struct timespec nap = { .tv_nsec = GUARD_NAP_US * 1000 };

    (void)unused;
    while (!atomic_load(&guard.is_over)) {
        int number = sigtimedwait(&guard.signals, NULL, &nap);
        if (atomic_load(&guard.is_over)) {
            break;
        }
        if (number == SIGTERM || number == SIGINT) {
            log_line(LOG_WARNING, "engine", "another signal: what is not written yet is given up");
            leave(0);
        }
        if (clock_now_us() >= guard.end_us) {
            log_line(LOG_ERROR, "engine",
                     "stopping takes longer than `shutdown.flush`: what is not written yet is given up");
            leave(SHUTDOWN_EXIT_STUCK);
        }
    }
    return NULL;
}

void shutdown_guard_for(const sigset_t *signals, uint64_t flush_us)
{
    pthread_t thread;

    guard.signals = *signals;
    guard.end_us = clock_now_us() + flush_us;
    int error = pthread_create(&thread, NULL, guard_main, NULL);
    if (error != 0) {
        log_line(LOG_WARNING, "engine", "nobody watches over the end: %s", strerror(error));
        return;
    }
    pthread_setname_np(thread, "guard");
    pthread_detach(thread); // whoever waited for it would wait for its nap
}

void shutdown_guard(struct engine *engine, const sigset_t *signals)
{
    struct generation *generation = engine_generation(engine);

    shutdown_guard_for(signals, generation_settings(generation)->flush_us);
    generation_release(&generation);
}

void shutdown_is_over(void)
{
    atomic_store(&guard.is_over, true);
}
