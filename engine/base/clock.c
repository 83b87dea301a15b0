#include "base/clock.h"

#include "base/check.h"

#include <time.h>

static uint64_t clock_read_us(clockid_t id)
{
    struct timespec now;

    require(clock_gettime(id, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}

uint64_t clock_now_us(void)
{
    uint64_t now_us = clock_read_us(CLOCK_MONOTONIC);

    return now_us != 0 ? now_us : 1; // 0 means "never" to everyone
}

uint64_t clock_wall_us(void)
{
    return clock_read_us(CLOCK_REALTIME);
}

uint64_t clock_thread_cpu_us(void)
{
    return clock_read_us(CLOCK_THREAD_CPUTIME_ID);
}
