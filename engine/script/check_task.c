// The task belongs to its side thread until that is done, then to the loader; to the thread for good when it was given
// up.

#include "script/check_task.h"
#include "script/bind.h"
#include "script/check_stuck.h"

#include "script/side_thread.h"

#include <stdlib.h>
#include <string.h>

enum {
    TASK_MEMORY = 16 << 20, // for what a file declares and what was found
};

struct task_finding {
    struct task_finding *next;
    struct failure failure;
};

struct check_task {
    struct side_thread side;
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
    side_thread_fini(&task->side);
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

    if (task == NULL) {
        return NULL;
    }
    side_thread_init(&task->side);
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

static void task_check(void *context)
{
    struct check_task *task = context;

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

static void task_on_return(void *context)
{
    task_destroy(context);
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
        script_check_report(check, task->file, 0, CODE_MEMORY, NULL, "has more wrong with it than memory can hold");
    }
    if (task->version != NULL) {
        task_hand_over(task);
    }
    task_destroy(task);
    return is_overdue ? STATUS_TIMEOUT : STATUS_OK;
}

static enum status task_run(struct script_check *check, const struct check_subject *subject)
{
    struct check_task *task = task_create(check, subject);
    const struct side_work work = { .run = task_check, .on_return = task_on_return, .context = task };

    if (task == NULL || side_thread_start(&task->side, &work) != STATUS_OK) {
        script_check_report(check, subject->file, 0, CODE_MEMORY, NULL,
                            "there was no memory, or no thread, to load it");
        if (task != NULL) {
            task_destroy(task);
        }
        return STATUS_OK;
    }
    if (side_thread_await(&task->side, script_check_limit_us(check))) {
        return task_finish(task, check);
    }
    script_check_report(check, subject->file, 0, CODE_TIMEOUT,
                        "this is a bug of the engine: no function that scripts may call should take long",
                        "gets stuck inside a function of C while it is loaded");
    return STATUS_TIMEOUT;
}

/// Of the file and of all that it is held against.
static void task_digest(const struct check_subject *subject, unsigned char digest[SCRIPT_DIGEST])
{
    size_t count = subject->kind == CHECK_SUPPLIER && subject->set != NULL ? script_set_product_count(subject->set) : 0;

    script_shelf_digest(subject->file->shelf, subject->file->source, digest);
    for (size_t i = 0; i < count; i++) {
        unsigned char sum[2 * SCRIPT_DIGEST];
        memcpy(sum, digest, SCRIPT_DIGEST);
        memcpy(sum + SCRIPT_DIGEST, script_set_product_digest(subject->set, i), SCRIPT_DIGEST);
        bind_crypto_sha256((struct text){ (const char *)sum, sizeof sum }, digest);
    }
}

/// Passes findings on and keeps the last one.
struct task_ear {
    script_finding report;
    void *context;
    struct failure last;
};

static void task_hear(void *context, const struct failure *failure)
{
    struct task_ear *ear = context;

    ear->last = *failure;
    ear->report(ear->context, failure);
}

enum status check_task_run(struct script_check *check, const struct check_subject *subject)
{
    struct task_ear ear = { .report = check->report, .context = check->context };
    unsigned char digest[SCRIPT_DIGEST];

    task_digest(subject, digest);
    if (check_stuck_find(subject->file->path, digest, &ear.last)) {
        check->findings++;
        check->report(check->context, &ear.last);
        return STATUS_OK;
    }
    check->report = task_hear;
    check->context = &ear;
    enum status status = task_run(check, subject);
    check->report = ear.report;
    check->context = ear.context;
    if (status == STATUS_TIMEOUT && script_check_limit_us(check) >= SCRIPT_CHECK_RUN_US) { // else it may be only slow
        check_stuck_note(subject->file->path, digest, &ear.last);
    }
    return status;
}
