#include "store/store_redis.h"

#include "store/redis_job.h"

#include <stdio.h>
#include <stdlib.h>

// A job's way:
//
//   submit (any thread) --> [packed aside] --> arrives --> waits in its lane --> is out --> settled --> freed
//
// A call goes home once, from wherever its job is then; a job that is out stays until its replies have come, because
// they come in order. Jobs are counted from submit to their end, so that closing knows when nothing is left.

struct store_redis {
    struct store store;
    struct transport transport;
    struct redis_link link;
    struct redis_terms terms;
    struct arena memory;
    struct list reads, writes; // that wait for room
    size_t written;            // bytes of writes under way
    struct message opening, closing;
    struct timer grace;
    uint64_t grace_us;

    bool is_ending, is_ended; // as its thread knows: `closing` has come, and nothing is left

    atomic_bool is_closing, is_giving_up;
    atomic_uint jobs;
    atomic_size_t keeping;         // bytes
    atomic_uint_least64_t rest_us; // nothing is kept until then; 0: it takes what comes
    atomic_uint_least64_t found, absent, faults, late, kept, dropped, purged, corrupt;
    pthread_mutex_t lock;
    char refusal[REDIS_TROUBLE_MAX]; // under the lock: why it takes nothing; "": it does
};

static uint64_t now(struct store_redis *redis)
{
    return redis->transport.now_us(redis->transport.context);
}

static void count(atomic_uint_least64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static bool is_lookup(const struct store_call *call)
{
    return call->job == STORE_INDEX || call->job == STORE_READ;
}

/// Puts something there that was not.
static bool is_kept(const struct store_call *call)
{
    return call->job == STORE_KEEP || call->job == STORE_NOTE_PUT;
}

// ------------------------------------------------------------------------------------------------------------ going
// home

enum homing { HOME_ASKED, HOME_LATE, HOME_NO_ROOM };

static void count_call(struct store_redis *redis, const struct store_call *call, enum homing how)
{
    uint64_t of_state[3] = { 0 };

    for (size_t i = 0; is_lookup(call) && i < call->entry_count; i++) {
        of_state[call->entries[i].state]++;
    }
    if (call->job == STORE_KEEP) {
        of_state[STORE_FAULT] = call->entries[0].state != STORE_FOUND;
        count(&redis->kept, call->entries[0].state == STORE_FOUND);
    } else if (!is_lookup(call)) {
        of_state[STORE_FAULT] = call->state == STORE_FAULT;
    }
    if (call->job == STORE_KEEP && how == HOME_NO_ROOM) {
        count(&redis->dropped, 1);
        return;
    }
    count(&redis->purged, call->job == STORE_PURGE ? call->count : 0);
    count(&redis->found, of_state[STORE_FOUND]);
    count(&redis->absent, of_state[STORE_ABSENT]);
    count(how == HOME_LATE ? &redis->late : &redis->faults, of_state[STORE_FAULT]);
}

static void go_home(struct store_redis *redis, struct store_call *call, enum homing how)
{
    if (!atomic_load(&call->is_cancelled)) {
        count_call(redis, call, how);
    }
    call->done_us = now(redis);
    store_deliver(&redis->store, call);
}

static void end_if_done(struct store_redis *redis)
{
    if (redis->is_ending && !redis->is_ended && atomic_load(&redis->jobs) == 0) {
        redis->is_ended = true;
        redis->transport.timer_cancel(redis->transport.context, &redis->grace);
        redis_link_stop(&redis->link);
        redis->transport.ended(redis->transport.context);
    }
}

static void drop_job(struct store_redis *redis, struct redis_job *job)
{
    atomic_fetch_sub(&redis->keeping, job->kept_bytes);
    redis_job_destroy(&job);
    atomic_fetch_sub(&redis->jobs, 1);
}

/// Its call is over; the job is, too, unless it is out.
static void settle(struct store_redis *redis, struct redis_job *job, enum homing how)
{
    struct store_call *call = job->call;

    job->call = NULL;
    redis->transport.timer_cancel(redis->transport.context, &job->timer);
    list_remove(&job->node);
    if (call != NULL) {
        go_home(redis, call, how);
    }
    if (!job->is_out) {
        drop_job(redis, job);
    }
}

// ------------------------------------------------------------------------------------------------------------- replies

static bool on_reply(struct redis_order *order, const struct redis_reply *reply);
static void on_lost(struct redis_order *order);

static void let_writes_rest(struct store_redis *redis, struct text why)
{
    pthread_mutex_lock(&redis->lock);
    snprintf(redis->refusal, sizeof redis->refusal, "it takes nothing: %.*s", TEXT_ARGS(why));
    pthread_mutex_unlock(&redis->lock);
    atomic_store(&redis->rest_us, now(redis) + REDIS_WRITE_REST_US);
}

static void end_rest(struct store_redis *redis)
{
    if (atomic_load(&redis->rest_us) == 0) {
        return;
    }
    pthread_mutex_lock(&redis->lock);
    redis->refusal[0] = '\0';
    pthread_mutex_unlock(&redis->lock);
    atomic_store(&redis->rest_us, 0);
}

static struct redis_job *make_job(struct store_redis *redis, struct store_call *call)
{
    struct redis_job *job = redis_job_create(call);

    if (job != NULL) {
        job->store = redis;
        job->order.on_reply = on_reply;
        job->order.on_lost = on_lost;
    }
    return job;
}

/// Makes Redis forget an entry that cannot be read.
static void forget(struct store_redis *redis, const struct redis_job *of, size_t entry)
{
    struct redis_job *job = make_job(redis, NULL);

    count(&redis->corrupt, 1);
    of->call->entries[entry].state = STORE_ABSENT;
    if (job == NULL) {
        return;
    }
    atomic_fetch_add(&redis->jobs, 1);
    if (!redis_job_forget(job, &redis->terms, of, entry)) {
        drop_job(redis, job);
        return;
    }
    list_append(&redis->writes, &job->node);
}

static bool take(struct store_redis *redis, struct redis_job *job, const struct redis_reply *reply)
{
    const struct store_call *call = job->call;

    if (call->end_us != 0 && now(redis) >= call->end_us) {
        settle(redis, job, HOME_LATE);
        return true;
    }
    if (atomic_load(&call->is_cancelled)) {
        return true; // nobody is interested, and its owner has it when its replies are through
    }
    enum redis_taken taken = redis_job_take(job, &redis->terms, reply);
    if (taken == TAKEN_BAD) {
        forget(redis, job, job->replied);
    } else if (taken == TAKEN_REFUSED && is_kept(call)) {
        let_writes_rest(redis, reply->text);
    } else if (taken == TAKEN_WELL && is_kept(call)) {
        end_rest(redis);
    }
    return taken != TAKEN_WRONG;
}

static void enqueue(struct store_redis *redis, struct redis_job *job)
{
    list_append(job->is_write ? &redis->writes : &redis->reads, &job->node);
}

static bool on_reply(struct redis_order *order, const struct redis_reply *reply)
{
    struct redis_job *job = CONTAINER_OF(order, struct redis_job, order);
    struct store_redis *redis = job->store;
    bool is_last = order->replies == 0;
    bool is_sense = job->call == NULL || take(redis, job, reply);

    job->replied++;
    if (!is_last) {
        return is_sense;
    }
    job->is_out = false;
    redis->written -= job->weight;
    job->weight = 0;
    if (job->call != NULL && is_sense && redis_job_goes_on(job)) {
        enqueue(redis, job);
    } else {
        settle(redis, job, HOME_ASKED);
    }
    return is_sense;
}

static void on_lost(struct redis_order *order)
{
    struct redis_job *job = CONTAINER_OF(order, struct redis_job, order);
    struct store_redis *redis = job->store;

    job->is_out = false;
    redis->written -= job->weight;
    settle(redis, job, HOME_ASKED);
}

// ------------------------------------------------------------------------------------------------------------ going
// out

static bool has_room(const struct store_redis *redis, const struct redis_job *job)
{
    const struct redis_link *link = &redis->link;

    if (link->owed > 0 && link->owed + job->order.replies > REDIS_OWED_MAX) {
        return false;
    }
    return !job->is_write || redis->written == 0 || redis->written + job->commands.length <= REDIS_WRITE_WINDOW;
}

static void send_out(struct store_redis *redis, struct redis_job *job)
{
    size_t weight = job->is_write ? job->commands.length : 0;

    list_remove(&job->node);
    if (!redis_link_send(&redis->link, &job->order, buffer_text(&job->commands))) {
        settle(redis, job, HOME_ASKED);
        return;
    }
    job->is_out = true;
    job->weight = weight;
    redis->written += weight;
    buffer_fini(&job->commands);
}

static void pump_lane(struct store_redis *redis, struct list *lane)
{
    while (!list_is_empty(lane) && redis_link_is_up(&redis->link)) {
        struct redis_job *job = CONTAINER_OF(lane->next, struct redis_job, node);
        if (job->call != NULL && atomic_load(&job->call->is_cancelled)) {
            settle(redis, job, HOME_ASKED);
        } else if (has_room(redis, job)) {
            send_out(redis, job);
        } else {
            break;
        }
    }
}

static void fail_lane(struct store_redis *redis, struct list *lane)
{
    while (!list_is_empty(lane)) {
        settle(redis, CONTAINER_OF(lane->next, struct redis_job, node), HOME_ASKED);
    }
}

static void pump(struct store_redis *redis)
{
    if (redis_link_is_up(&redis->link)) {
        pump_lane(redis, &redis->reads);
        pump_lane(redis, &redis->writes);
    } else {
        fail_lane(redis, &redis->reads);
        fail_lane(redis, &redis->writes);
    }
    end_if_done(redis);
}

static void on_change(struct redis_link *link)
{
    pump(CONTAINER_OF(link, struct store_redis, link));
}

static void on_job_due(struct timer *timer)
{
    struct redis_job *job = CONTAINER_OF(timer, struct redis_job, timer);
    struct store_redis *redis = job->store;

    settle(redis, job, HOME_LATE);
    end_if_done(redis);
}

/// It takes nothing, as it said less than a while ago.
static bool rests(struct store_redis *redis, const struct store_call *call)
{
    return is_kept(call) && atomic_load(&redis->rest_us) > now(redis);
}

static bool may_go(struct store_redis *redis, const struct store_call *call)
{
    return redis_link_is_up(&redis->link) && !rests(redis, call) && !atomic_load(&call->is_cancelled) &&
           !atomic_load(&redis->is_giving_up);
}

static uint64_t end_of(struct store_redis *redis, const struct store_call *call)
{
    if (call->end_us != 0) {
        return call->end_us;
    }
    return now(redis) + (call->job == STORE_PURGE ? REDIS_PURGE_US : REDIS_PATIENCE_US);
}

static void on_arrival(struct message *message)
{
    struct redis_job *job = CONTAINER_OF(message, struct redis_job, message);
    struct store_redis *redis = job->store;
    uint64_t end_us = end_of(redis, job->call);
    bool is_late = end_us <= now(redis);

    job->timer.on_due = on_job_due;
    if (is_late || !may_go(redis, job->call) || !redis_job_begin(job, &redis->terms) ||
        redis->transport.timer_start(redis->transport.context, &job->timer, end_us) != STATUS_OK) {
        settle(redis, job, is_late ? HOME_LATE : HOME_ASKED);
    } else {
        if (is_kept(job->call) && atomic_load(&redis->rest_us) != 0) {
            atomic_store(&redis->rest_us, now(redis) + REDIS_WRITE_REST_US); // this one finds out
        }
        enqueue(redis, job);
    }
    pump(redis);
}

static void on_aside(struct message *message)
{
    struct redis_job *job = CONTAINER_OF(message, struct redis_job, message);
    struct store_redis *redis = job->store;

    if (!atomic_load(&redis->is_giving_up) && !atomic_load(&job->call->is_cancelled)) {
        redis_job_keep(job, &redis->terms);
    }
    job->message.on_receive = on_arrival;
    redis->transport.post(redis->transport.context, &job->message);
}

// --------------------------------------------------------------------------------------------------------- from
// outside

static size_t size_of(const struct store_call *call)
{
    size_t size = 0;

    for (size_t i = 0; i < call->part_count; i++) {
        size += call->parts[i].batch->arena.used;
    }
    return size;
}

/// A job for the call; NULL: there is no room.
static struct redis_job *admit(struct store_redis *redis, struct store_call *call)
{
    size_t size = size_of(call);
    size_t keeping = atomic_fetch_add(&redis->keeping, size);
    unsigned jobs = atomic_fetch_add(&redis->jobs, 1);
    bool has_place = jobs < REDIS_JOBS_MAX && (size == 0 || keeping == 0 || keeping + size <= REDIS_KEEP_MAX);
    struct redis_job *job = has_place ? make_job(redis, call) : NULL;

    if (job == NULL) {
        atomic_fetch_sub(&redis->keeping, size);
        atomic_fetch_sub(&redis->jobs, 1);
        return NULL;
    }
    job->kept_bytes = size;
    return job;
}

static void submit(struct store *store, struct store_call *call)
{
    struct store_redis *redis = CONTAINER_OF(store, struct store_redis, store);
    bool is_of_use = !atomic_load(&redis->is_closing) && redis_link_is_up(&redis->link) && !rests(redis, call);

    call->state = STORE_FAULT;
    for (size_t i = 0; i < call->entry_count; i++) {
        call->entries[i].state = STORE_FAULT;
    }
    struct redis_job *job = is_of_use ? admit(redis, call) : NULL;
    if (job == NULL) {
        go_home(redis, call, is_of_use ? HOME_NO_ROOM : HOME_ASKED);
        return;
    }
    if (call->job == STORE_KEEP) {
        job->message.on_receive = on_aside;
        redis->transport.post_aside(redis->transport.context, &job->message);
    } else {
        job->message.on_receive = on_arrival;
        redis->transport.post(redis->transport.context, &job->message);
    }
}

_Static_assert(sizeof(((struct store_report *)0)->trouble) == REDIS_TROUBLE_MAX, "one is copied into the other");

static void report(struct store *store, struct store_report *out)
{
    struct store_redis *redis = CONTAINER_OF(store, struct store_redis, store);

    *out = (struct store_report){
        .is_up = redis_link_is_up(&redis->link),
        .found = atomic_load(&redis->found),
        .absent = atomic_load(&redis->absent),
        .faults = atomic_load(&redis->faults),
        .late = atomic_load(&redis->late),
        .kept = atomic_load(&redis->kept),
        .dropped = atomic_load(&redis->dropped),
        .purged = atomic_load(&redis->purged),
        .corrupt = atomic_load(&redis->corrupt),
    };
    redis_link_trouble(&redis->link, out->trouble);
    if (out->trouble[0] == '\0') {
        pthread_mutex_lock(&redis->lock);
        memcpy(out->trouble, redis->refusal, sizeof out->trouble);
        pthread_mutex_unlock(&redis->lock);
    }
}

static void on_grace_over(struct timer *timer)
{
    struct store_redis *redis = CONTAINER_OF(timer, struct store_redis, grace);

    atomic_store(&redis->is_giving_up, true);
    // Those that are out are lost with the connection, those that wait fail without one; what is packed comes yet.
    redis_link_stop(&redis->link);
    pump(redis);
}

static void on_closing(struct message *message)
{
    struct store_redis *redis = CONTAINER_OF(message, struct store_redis, closing);
    uint64_t end_us = now(redis) + redis->grace_us;

    redis->is_ending = true;
    redis->grace.on_due = on_grace_over;
    if (redis->grace_us == 0 ||
        redis->transport.timer_start(redis->transport.context, &redis->grace, end_us) != STATUS_OK) {
        on_grace_over(&redis->grace);
        return;
    }
    end_if_done(redis);
}

static void destroy(struct store_redis *redis)
{
    redis_link_fini(&redis->link);
    store_press_destroy(&redis->terms.packing);
    store_press_destroy(&redis->terms.unpacking);
    pthread_mutex_destroy(&redis->lock);
    arena_fini(&redis->memory);
    free(redis);
}

static void close_store(struct store **store, uint64_t grace_us)
{
    struct store_redis *redis = CONTAINER_OF(*store, struct store_redis, store);

    *store = NULL;
    redis->grace_us = grace_us;
    atomic_store(&redis->is_closing, true);
    redis->closing.on_receive = on_closing;
    redis->transport.post(redis->transport.context, &redis->closing);
    redis->transport.join(redis->transport.context);
    destroy(redis);
}

static void on_opening(struct message *message)
{
    redis_link_start(&CONTAINER_OF(message, struct store_redis, opening)->link);
}

static bool copy(struct arena *memory, struct text text, struct text *out)
{
    *out = arena_copy(memory, text);
    return out->data != NULL || text.data == NULL;
}

struct store *store_redis_create(const struct store_redis_options *options)
{
    static const struct store_ops OPS = { .submit = submit, .report = report, .close = close_store };
    struct store_redis *redis = calloc(1, sizeof *redis);
    struct redis_login login = { .database = options->database };

    if (redis == NULL) {
        return NULL;
    }
    redis->store = (struct store){ .ops = &OPS, .deliver = options->deliver };
    redis->transport = options->transport;
    arena_init(&redis->memory, 1 << 20);
    list_init(&redis->reads);
    list_init(&redis->writes);
    list_init(&redis->opening.node);
    list_init(&redis->closing.node);
    bool is_copied = copy(&redis->memory, options->user, &login.user) &&
                     copy(&redis->memory, options->password, &login.password) &&
                     copy(&redis->memory, options->prefix, &redis->terms.prefix);
    redis_link_init(&redis->link, &redis->transport, &login, options->seed);
    redis->link.on_change = on_change;
    require(pthread_mutex_init(&redis->lock, NULL) == 0);
    redis->terms.press_above = options->press_above;
    redis->terms.packing = store_press_create();
    redis->terms.unpacking = store_press_create();
    if (!is_copied || redis->terms.packing == NULL || redis->terms.unpacking == NULL) {
        destroy(redis);
        return NULL;
    }
    redis->opening.on_receive = on_opening;
    redis->transport.post(redis->transport.context, &redis->opening);
    return &redis->store;
}
