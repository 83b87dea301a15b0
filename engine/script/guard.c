// The signal handler runs on the worker's own thread, so it races with nothing but itself: it compares two counters
// and, when the section still runs that the watchdog meant, sets the hook. A signal that arrives late finds `armed` at
// 0 or at another section and does nothing. The interpreter saves and restores its hooks around protected calls, and
// one that is set in between is lost (seen once in a thousand loops of failing pcalls), so the signal is repeated.

#include "script/guard.h"
#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GUARD_NICE = 10,
    GUARD_GRACE_US = 25000,       // between the signal and giving the worker up
    GUARD_GRACE_CPU_US = 5000,    // that it must have used meanwhile
    GUARD_GRACE_MAX_US = 1000000, // however little it got
    GUARD_AGAIN_US = 5000,        // between two signals meanwhile
    GUARD_LOOK_US = 1000,         // the shortest time between two looks
    GUARD_TRUST_US = 500,         // so long the last reading of the CPU time tells how much it is now
};

static _Thread_local struct guard *volatile guard_here;

static int guard_signal(void)
{
    return SIGRTMIN + 5;
}

static void guard_on_signal(int signal)
{
    int saved = errno;
    struct guard *guard = guard_here;
    (void)signal;

    if (guard != NULL) {
        uint64_t armed = atomic_load_explicit(&guard->armed, memory_order_acquire);
        if (armed != 0 && armed == atomic_load_explicit(&guard->stopped, memory_order_acquire)) {
            sandbox_interrupt(guard->sandbox);
        }
    }
    errno = saved;
}

static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static int guard_install_error;

static void guard_install_once(void)
{
    struct sigaction action = { .sa_handler = guard_on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    guard_install_error = sigaction(guard_signal(), &action, NULL);
}

enum status guard_install(void)
{
    pthread_once(&guard_once, guard_install_once);
    return guard_install_error == 0 ? STATUS_OK : STATUS_IO;
}

void guard_init(struct guard *guard, void (*on_watch)(void *context, uint64_t check_us), void *context)
{
    *guard = (struct guard){ .on_watch = on_watch, .context = context, .check_us = UINT64_MAX };
    pthread_mutex_init(&guard->lock, NULL);
}

void guard_fini(struct guard *guard)
{
    pthread_mutex_destroy(&guard->lock);
}

void guard_attach(struct guard *guard)
{
    sigset_t set;

    pthread_mutex_lock(&guard->lock);
    guard->thread = pthread_self();
    guard->thread_id = (int32_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&guard->lock);
    guard_here = guard;
    sigemptyset(&set);
    sigaddset(&set, guard_signal());
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    setpriority(PRIO_PROCESS, (id_t)guard->thread_id, GUARD_NICE); // a thread of Linux has a nice value of its own
}

void guard_detach(struct guard *guard)
{
    (void)guard;
    guard_here = NULL;
}

uint64_t guard_read_cpu_us(struct guard *guard)
{
    guard->cpu_read_us = clock_thread_cpu_us();
    guard->read_us = clock_now_us();
    return guard->cpu_read_us;
}

/// No less than the thread has used at `now_us`; more by as long as it has waited for the processor since the last
/// reading, which can only make its limit later, and by no more than GUARD_TRUST_US.
static uint64_t guard_cpu_at(struct guard *guard, uint64_t now_us)
{
    uint64_t since_us = now_us - guard->read_us;

    return since_us < GUARD_TRUST_US ? guard->cpu_read_us + since_us : guard_read_cpu_us(guard);
}

void guard_lease(struct guard *guard, struct script_call *call)
{
    pthread_mutex_lock(&guard->lock);
    guard->call = call;
    pthread_mutex_unlock(&guard->lock);
}

bool guard_return(struct guard *guard)
{
    pthread_mutex_lock(&guard->lock);
    bool is_ours = guard->call != NULL;
    guard->call = NULL;
    pthread_mutex_unlock(&guard->lock);
    return is_ours;
}

void guard_enter(struct guard *guard, struct sandbox *sandbox, const struct guard_blame *blame, uint64_t limit_us)
{
    pthread_mutex_lock(&guard->lock);
    guard->is_inside = true;
    guard->blame = *blame;
    guard->section++;
    guard->limit_us = limit_us;
    guard->begun_us = clock_now_us();
    guard->cpu_begun_us = guard_cpu_at(guard, guard->begun_us);
    guard->signalled_us = 0;
    guard->check_us = guard->begun_us + limit_us;
    guard->sandbox = sandbox;
    uint64_t check_us = guard->check_us;
    atomic_store_explicit(&guard->armed, guard->section, memory_order_release);
    pthread_mutex_unlock(&guard->lock);
    guard->on_watch(guard->context, check_us);
}

/// A worker that came back from the idle class frees what it holds at its old priority, so that no lock it takes is
/// held by a thread that never gets the processor. Without the right to do so it goes on as it is.
static void guard_promote(void)
{
    struct sched_param none = { .sched_priority = 0 };
    (void)sched_setscheduler(0, SCHED_OTHER, &none);
}

bool guard_leave(struct guard *guard)
{
    atomic_store_explicit(&guard->armed, 0, memory_order_release);
    sandbox_calm(guard->sandbox);
    pthread_mutex_lock(&guard->lock);
    guard->is_inside = false;
    guard->check_us = UINT64_MAX;
    bool is_lost = guard->is_lost;
    pthread_mutex_unlock(&guard->lock);
    if (is_lost) {
        guard_promote();
    }
    return !is_lost;
}

/// CPU time of the worker's thread; it cannot end while the caller holds the lock and a section runs.
static uint64_t guard_cpu_us(const struct guard *guard)
{
    clockid_t clock;
    struct timespec time;

    if (pthread_getcpuclockid(guard->thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return UINT64_MAX;
    }
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void guard_send(struct guard *guard, uint64_t now_us)
{
    guard->check_us = now_us + GUARD_AGAIN_US;
    pthread_kill(guard->thread, guard_signal());
}

static void guard_stop(struct guard *guard, uint64_t now_us, uint64_t cpu_us)
{
    guard->signalled_us = now_us;
    guard->cpu_signalled_us = cpu_us;
    atomic_store_explicit(&guard->stopped, guard->section, memory_order_release);
    guard_send(guard, now_us);
}

/// Has a script that was told to stop had the time to do so?
static bool guard_is_stuck(const struct guard *guard, uint64_t now_us, uint64_t cpu_us)
{
    uint64_t waited_us = now_us - guard->signalled_us;

    return waited_us >= GUARD_GRACE_MAX_US ||
           (waited_us >= GUARD_GRACE_US && cpu_us - guard->cpu_signalled_us >= GUARD_GRACE_CPU_US);
}

bool guard_check(struct guard *guard, uint64_t now_us, uint64_t *next_us)
{
    *next_us = guard->check_us;
    if (!guard->is_inside || guard->is_lost || now_us < guard->check_us) {
        return false;
    }
    uint64_t cpu_us = guard_cpu_us(guard);
    if (guard->signalled_us == 0) {
        uint64_t used_us = cpu_us > guard->cpu_begun_us ? cpu_us - guard->cpu_begun_us : 0;
        if (used_us >= guard->limit_us) {
            guard_stop(guard, now_us, cpu_us);
        } else {
            uint64_t left_us = guard->limit_us - used_us;
            guard->check_us = now_us + (left_us < GUARD_LOOK_US ? GUARD_LOOK_US : left_us);
        }
        *next_us = guard->check_us;
        return false;
    }
    if (!guard_is_stuck(guard, now_us, cpu_us)) {
        guard_send(guard, now_us);
        *next_us = guard->check_us;
        return false;
    }
    *next_us = UINT64_MAX;
    return true;
}

struct script_call *guard_take_away(struct guard *guard)
{
    struct sched_param none = { .sched_priority = 0 };
    struct script_call *call = guard->call;

    guard->call = NULL;
    guard->is_lost = true;
    guard->check_us = UINT64_MAX;
    (void)sched_setscheduler(guard->thread_id, SCHED_IDLE, &none);
    return call;
}
