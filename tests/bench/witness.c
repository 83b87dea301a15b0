#include "bench/witness.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { PERIOD_US = 1000, STALL_US = 100, MAX_STALLS = 1 << 16 };

static struct {
    pthread_t thread;
    int timer;
    atomic_bool is_stopping;
    bool is_running;
    struct witness_stall stalls[MAX_STALLS];
    size_t count;
    uint64_t worst_us;
} witness;

static void witness_note(uint64_t planned_us, uint64_t actual_us)
{
    uint64_t late_us = actual_us - planned_us;
    if (late_us > witness.worst_us) {
        witness.worst_us = late_us;
    }
    if (late_us >= STALL_US && witness.count < MAX_STALLS) {
        witness.stalls[witness.count++] = (struct witness_stall){ planned_us, actual_us };
    }
}

static void *witness_main(void *argument)
{
    uint64_t planned_us = clock_now_us() + PERIOD_US;
    (void)argument;

    while (!atomic_load(&witness.is_stopping)) {
        struct itimerspec spec = {
            .it_value = { (time_t)(planned_us / 1000000), (long)(planned_us % 1000000) * 1000 },
        };
        uint64_t ticks;
        timerfd_settime(witness.timer, TFD_TIMER_ABSTIME, &spec, NULL);
        if (read(witness.timer, &ticks, sizeof ticks) != sizeof ticks) {
            continue;
        }
        uint64_t actual_us = clock_now_us();
        if (actual_us > planned_us) {
            witness_note(planned_us, actual_us);
        }
        planned_us += PERIOD_US;
        if (planned_us < actual_us) {
            planned_us = actual_us + PERIOD_US;
        }
    }
    return NULL;
}

bool witness_start(int cpu)
{
    struct sched_param priority = { .sched_priority = 50 };
    cpu_set_t cpus;

    witness.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (witness.timer < 0 || pthread_create(&witness.thread, NULL, witness_main, NULL) != 0) {
        return false;
    }
    witness.is_running = true;
    CPU_ZERO(&cpus);
    CPU_SET((unsigned)cpu, &cpus);
    pthread_setaffinity_np(witness.thread, sizeof cpus, &cpus);
    if (pthread_setschedparam(witness.thread, SCHED_FIFO, &priority) != 0) {
        witness_stop();
        witness.count = 0;
        return false;
    }
    return true;
}

void witness_stop(void)
{
    if (witness.is_running) {
        atomic_store(&witness.is_stopping, true);
        pthread_join(witness.thread, NULL);
        close(witness.timer);
        witness.is_running = false;
    }
}

bool witness_excuses(uint64_t from_us, uint64_t to_us, uint64_t late_us)
{
    for (size_t i = 0; i < witness.count; i++) {
        const struct witness_stall *stall = &witness.stalls[i];
        bool overlaps = stall->actual_us >= from_us && stall->planned_us <= to_us;
        if (overlaps && stall->actual_us - stall->planned_us >= late_us) {
            return true;
        }
    }
    return false;
}

size_t witness_stall_count(void)
{
    return witness.count;
}

uint64_t witness_worst_us(void)
{
    return witness.worst_us;
}
