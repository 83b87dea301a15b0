// The task belongs to the thread and to the loader, in turn: to the thread until it is done, then to the loader; to the
// thread for good when it was given up. `lock` guards that turn, nothing else of the task is shared meanwhile.

#include "script/check_task.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    TASK_STACK = 32 << 20,  // address space, touched only by deep recursion through C functions of Lua
    TASK_MEMORY = 16 << 20, // for what a file declares and what was found
    TASK_GRACE_US = 500000, // of CPU time, that the checker's own limit gets to act
    TASK_LOOK_US = 20000,   // the shortest time between two looks
};

struct task_finding {
    struct task_finding *next;
    struct failure failure;
};

struct check_task {
    pthread_mutex_t lock;
    pthread_cond_t done;
    pthread_t thread;
    int32_t thread_id; // the kernel's; 0: not yet running
    bool is_done;
    bool is_given_up;
    // the thread's own
    struct arena arena;
    struct script_set *set;
    struct script_version *version;
    struct script_shelf *shelf;
    struct script_check check;
    const struct script_file *file;
    enum check_kind kind;
    struct script_supplier supplier;
    struct task_finding *first, **end;
    bool has_lost_one; // there was no memory for a finding
};

static void task_destroy(struct check_task *task)
{
    arena_fini(&task->arena);
    script_set_drop(&task->set);
    script_version_drop(&task->version);
    script_shelf_drop(&task->shelf);
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->done);
    free(task);
}

static void task_keep(void *context, const struct failure *failure)
{
    struct check_task *task = context;
    struct task_finding *finding = arena_alloc(&task->arena, sizeof(*finding));

    if (finding == NULL) {
        task->has_lost_one = true;
        return;
    }
    finding->failure = *failure;
    *task->end = finding;
    task->end = &finding->next;
}

/// All that the thread reads lives as long as it runs.
static void task_hold(struct check_task *task, const struct check_subject *subject)
{
    task->file = subject->file;
    task->kind = subject->kind;
    task->shelf = script_shelf_hold(subject->file->shelf);
    task->set = subject->set == NULL ? NULL : script_set_hold(subject->set);
    if (subject->version != NULL) {
        task->version = script_version_hold(subject->version);
        task->supplier = subject->version->declared;
    }
}

static struct check_task *task_create(const struct script_check *check, const struct check_subject *subject)
{
    struct check_task *task = calloc(1, sizeof(*task));
    pthread_condattr_t attributes;

    if (task == NULL) {
        return NULL;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&task->lock, NULL);
    pthread_cond_init(&task->done, &attributes);
    pthread_condattr_destroy(&attributes);
    arena_init(&task->arena, TASK_MEMORY);
    task_hold(task, subject);
    task->check = *check;
    task->check.arena = &task->arena;
    task->check.report = task_keep;
    task->check.context = task;
    task->check.findings = 0;
    task->check.look_ups = NULL;
    task->check.look_up_count = 0;
    task->check.segments = NULL;
    task->check.segment_count = 0;
    task->end = &task->first;
    return task;
}

static void task_check(struct check_task *task)
{
    switch (task->kind) {
    case CHECK_MODULE:
        script_check_module(&task->check, task->file);
        break;
    case CHECK_PRODUCT:
        script_check_product(&task->check, task->file);
        break;
    case CHECK_SUPPLIER:
        script_check_supplier(&task->check, task->file, &task->supplier);
        break;
    }
}

static void *task_main(void *context)
{
    struct check_task *task = context;

    pthread_mutex_lock(&task->lock);
    task->thread_id = (int32_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&task->lock);
    task_check(task);
    pthread_mutex_lock(&task->lock);
    task->is_done = true;
    bool is_given_up = task->is_given_up;
    pthread_cond_signal(&task->done);
    pthread_mutex_unlock(&task->lock);
    if (is_given_up) {
        task_destroy(task);
    }
    return NULL;
}

static enum status task_start(struct check_task *task)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0) {
        return STATUS_NO_MEMORY;
    }
    pthread_attr_setstacksize(&attributes, TASK_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for other threads
    int error = pthread_create(&task->thread, &attributes, task_main, task);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0 ? STATUS_OK : STATUS_IO;
}

/// CPU time of the thread, which cannot end while the lock is held and it is not done.
static uint64_t task_cpu_us(const struct check_task *task)
{
    clockid_t clock;
    struct timespec time;

    if (pthread_getcpuclockid(task->thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void task_wait_until(struct check_task *task, uint64_t until_us)
{
    const struct timespec until = { .tv_sec = (time_t)(until_us / 1000000),
                                    .tv_nsec = (long)(until_us % 1000000) * 1000 };
    pthread_cond_timedwait(&task->done, &task->lock, &until);
}

/// Waits until the thread is done. False: it was given up, and the task is its own now.
static bool task_await(struct check_task *task)
{
    const uint64_t limit_us = SCRIPT_CHECK_RUN_US + TASK_GRACE_US;
    struct sched_param none = { .sched_priority = 0 };
    uint64_t used_us = 0;

    pthread_mutex_lock(&task->lock);
    while (!task->is_done && used_us < limit_us) {
        uint64_t left_us = limit_us - used_us;
        task_wait_until(task, clock_now_us() + (left_us < TASK_LOOK_US ? TASK_LOOK_US : left_us));
        used_us = task->is_done ? 0 : task_cpu_us(task);
    }
    bool is_done = task->is_done;
    if (!is_done) {
        task->is_given_up = true;
        (void)sched_setscheduler(task->thread_id, SCHED_IDLE, &none);
        pthread_detach(task->thread);
    }
    pthread_mutex_unlock(&task->lock);
    if (is_done) {
        pthread_join(task->thread, NULL);
    }
    return is_done;
}

/// What the file declares stays in the task's memory, which may be moved.
static void task_hand_over(struct check_task *task)
{
    struct script_version *version = task->version;

    version->declared = task->supplier;
    if (version->declared.display_name.data == NULL) {
        version->declared.display_name = version->declared.name;
    }
    version->look_ups = task->check.look_ups;
    version->look_up_count = task->check.look_up_count;
    version->segments = task->check.segments;
    version->segment_count = task->check.segment_count;
    version->memory = task->arena;
    arena_init(&task->arena, 0);
}

static enum status task_finish(struct check_task *task, struct script_check *check)
{
    bool is_overdue = task->check.is_overdue;

    for (const struct task_finding *finding = task->first; finding != NULL; finding = finding->next) {
        check->findings++;
        check->report(check->context, &finding->failure);
    }
    for (size_t i = 0; task->version == NULL && i < task->check.look_up_count; i++) {
        task->has_lost_one = !script_check_keep_look_up(check, &task->check.look_ups[i]) || task->has_lost_one;
    }
    if (task->has_lost_one) {
        script_check_report(check, task->file, 0, NULL, "has more wrong with it than memory can hold");
    }
    if (task->version != NULL) {
        task_hand_over(task);
    }
    task_destroy(task);
    return is_overdue ? STATUS_TIMEOUT : STATUS_OK;
}

enum status check_task_run(struct script_check *check, const struct check_subject *subject)
{
    struct check_task *task = task_create(check, subject);

    if (task == NULL || task_start(task) != STATUS_OK) {
        script_check_report(check, subject->file, 0, NULL, "there was no memory, or no thread, to load it");
        if (task != NULL) {
            task_destroy(task);
        }
        return STATUS_OK;
    }
    if (task_await(task)) {
        return task_finish(task, check);
    }
    script_check_report(check, subject->file, 0,
                        "this is a bug of the engine: no function that scripts may call should take long",
                        "gets stuck inside a function of C while it is loaded");
    return STATUS_TIMEOUT;
}
