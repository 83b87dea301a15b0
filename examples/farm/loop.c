#include "farm/loop.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 256 };

enum status loop_init(struct loop *loop)
{
    timer_heap_init(&loop->timers);
    loop->is_stopping = false;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return loop->epoll_fd >= 0 ? STATUS_OK : STATUS_IO;
}

void loop_fini(struct loop *loop)
{
    close(loop->epoll_fd);
    timer_heap_fini(&loop->timers);
}

enum status loop_watch(struct loop *loop, struct watch *watch)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = { .ptr = watch } };
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? STATUS_OK : STATUS_IO;
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

static int loop_wait(struct loop *loop, struct epoll_event *events)
{
    uint64_t next_us = timer_heap_next_us(&loop->timers);

    if (next_us == UINT64_MAX) {
        return epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, -1);
    }
    uint64_t now_us = clock_now_us();
    uint64_t left_us = next_us > now_us ? next_us - now_us : 0;
    struct timespec left = { .tv_sec = (time_t)(left_us / 1000000), .tv_nsec = (long)(left_us % 1000000) * 1000 };
    int count = epoll_pwait2(loop->epoll_fd, events, EVENTS_AT_ONCE, &left, NULL);
    if (count < 0 && errno == ENOSYS) {
        uint64_t left_ms = (left_us + 999) / 1000;
        count = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, left_ms > 60000 ? 60000 : (int)left_ms);
    }
    return count;
}

void loop_run(struct loop *loop)
{
    struct epoll_event events[EVENTS_AT_ONCE];

    while (!loop->is_stopping) {
        int count = loop_wait(loop, events);
        require(count >= 0 || errno == EINTR);
        for (int i = 0; i < count; i++) {
            struct watch *watch = events[i].data.ptr;
            watch->on_event(watch, events[i].events);
        }
        while (timer_heap_fire(&loop->timers, clock_now_us())) {
        }
    }
}
