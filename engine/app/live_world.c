#include "app/live_world.h"

#include "app/permits_extra.h"
#include "base/clock.h"

static struct live_world *live_of(struct world *world)
{
    return CONTAINER_OF(world, struct live_world, world);
}

static uint64_t live_now_us(struct world *world)
{
    (void)world;
    return clock_now_us();
}

static enum status live_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    return loop_timer_start(live_of(world)->loop, timer, at_us);
}

static void live_timer_cancel(struct world *world, struct timer *timer)
{
    loop_timer_cancel(live_of(world)->loop, timer);
}

static enum status live_fetch_start(struct world *world, struct fetch *fetch)
{
    return fetch_start(live_of(world)->fetches, fetch);
}

static void live_fetch_cancel(struct world *world, struct fetch *fetch)
{
    fetch_cancel(live_of(world)->fetches, fetch);
}

static enum phase live_fetch_phase(struct world *world, struct fetch *fetch)
{
    (void)world;
    return fetch_phase(fetch);
}

/// A call is back on its loop: to its owner, or to its grave when the owner has left.
static void live_on_call_back(struct message *message)
{
    struct script_call *call = CONTAINER_OF(message, struct script_call, message);
    struct live_world *live = call->home;

    live->calls_out--;
    if (atomic_load(&call->is_cancelled)) {
        script_call_destroy(call);
        return;
    }
    call->on_done(call);
}

void live_world_deliver(void *home, struct script_call *call)
{
    struct live_world *live = home;
    loop_post(live->loop, &call->message);
}

static enum status live_script_submit(struct world *world, struct script_call *call)
{
    struct live_world *live = live_of(world);
    call->home = live;
    call->message.on_receive = live_on_call_back;

    enum status status = worker_pool_submit(live->workers, call);
    if (status == STATUS_OK) {
        live->calls_out++;
    }
    return status;
}

static void live_script_cancel(struct world *world, struct script_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static bool live_script_has_begun(struct world *world, const struct script_call *call)
{
    (void)world;
    return call->begun_us != 0;
}

static enum quota_answer live_permit_begin(struct world *world, const struct script_account *account, uint64_t *wait_us)
{
    return permits_begin(live_of(world)->permits, account, wait_us);
}

static void live_permit_end(struct world *world, const struct script_account *account)
{
    permits_end(live_of(world)->permits, account);
}

static uint64_t live_account_block(struct world *world, const struct script_account *account, uint64_t wait_us)
{
    return permits_block(live_of(world)->permits, account, wait_us);
}

static enum breaker_answer live_health_ask(struct world *world, const struct script_account *account,
                                           struct breaker_pass *pass, uint64_t *wait_us)
{
    return permits_ask(live_of(world)->permits, account, pass, wait_us);
}

static void live_health_tell(struct world *world, const struct script_account *account,
                             const struct health_result *result)
{
    permits_tell(live_of(world)->permits, account, result);
}

static struct knowledge *live_knowledge(struct world *world, const struct script_account *account)
{
    return permits_knowledge(live_of(world)->permits, account);
}

static void live_worth_tell(struct world *world, const struct script_account *account, uint64_t kind, double items,
                            bool has_won)
{
    permits_note_worth(live_of(world)->permits, account, kind, items, has_won);
}

static bool live_linger_wants(struct world *world, const struct script_account *account, uint32_t parts)
{
    return permits_want_linger(live_of(world)->permits, account, parts);
}

static void live_linger_ended(struct world *world, const struct script_account *account, uint32_t parts)
{
    permits_end_linger(live_of(world)->permits, account, parts);
}

static struct extra_times live_extra_call(struct world *world, const struct script_account *account,
                                          const struct extra_call *call)
{
    return permits_extra_call(live_of(world)->permits, account, call);
}

static void live_extra_connected(struct world *world, const struct script_account *account, uint64_t us)
{
    permits_extra_connected(live_of(world)->permits, account, us);
}

static enum extra_answer live_extra_ask(struct world *world, const struct script_account *account,
                                        const struct extra_question *question)
{
    return permits_extra_ask(live_of(world)->permits, account, question);
}

static void live_extra_tell(struct world *world, const struct script_account *account,
                            const struct extra_result *result)
{
    permits_extra_tell(live_of(world)->permits, account, result);
}

static struct login live_login_peek(struct world *world, const struct script_account *account)
{
    return login_desk_peek(&live_of(world)->logins, account);
}

static enum login_state live_login_take(struct world *world, const struct script_account *account, uint64_t refused,
                                        struct login *login, struct part_end *end)
{
    return login_desk_take(&live_of(world)->logins, account, refused, login, end);
}

static enum status live_login_start(struct world *world, struct login_wait *wait)
{
    return login_desk_start(&live_of(world)->logins, wait);
}

static void live_login_cancel(struct world *world, struct login_wait *wait)
{
    login_desk_cancel(&live_of(world)->logins, wait);
}

static void live_login_refuse(struct world *world, const struct script_account *account, uint64_t number,
                              const struct part_end *end)
{
    login_desk_refuse(&live_of(world)->logins, account, number, end);
}

static void live_shadow(struct world *world, const struct script_account *account,
                        const struct normalise_call *normalise)
{
    shadow_desk_take(&live_of(world)->shadows, account, normalise);
}

void live_world_init(struct live_world *live, struct loop *loop, struct fetch_pool *fetches,
                     struct worker_pool *workers, struct permits *permits)
{
    static const struct world_ops OPS = {
        .now_us = live_now_us,
        .timer_start = live_timer_start,
        .timer_cancel = live_timer_cancel,
        .fetch_start = live_fetch_start,
        .fetch_cancel = live_fetch_cancel,
        .fetch_phase = live_fetch_phase,
        .script_submit = live_script_submit,
        .script_cancel = live_script_cancel,
        .script_has_begun = live_script_has_begun,
        .shadow = live_shadow,
        .permit_begin = live_permit_begin,
        .permit_end = live_permit_end,
        .account_block = live_account_block,
        .health_ask = live_health_ask,
        .health_tell = live_health_tell,
        .knowledge = live_knowledge,
        .worth_tell = live_worth_tell,
        .linger_wants = live_linger_wants,
        .linger_ended = live_linger_ended,
        .extra_call = live_extra_call,
        .extra_connected = live_extra_connected,
        .extra_ask = live_extra_ask,
        .extra_tell = live_extra_tell,
        .login_peek = live_login_peek,
        .login_take = live_login_take,
        .login_start = live_login_start,
        .login_cancel = live_login_cancel,
        .login_refuse = live_login_refuse,
    };
    *live = (struct live_world){
        .world = { .ops = &OPS },
        .loop = loop,
        .fetches = fetches,
        .workers = workers,
        .permits = permits,
    };
    shadow_desk_init(&live->shadows, &live->world);
}
