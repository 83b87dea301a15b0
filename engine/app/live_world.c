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
    if (live->gate != NULL) {
        gate_note_call(live->gate, call);
    }
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
        if (live->gate != NULL) {
            gate_note_out(live->gate, call);
        }
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

/// A call of the store is back on its loop.
static void live_on_store_back(struct message *message)
{
    struct store_call *call = CONTAINER_OF(message, struct store_call, message);

    if (atomic_load(&call->is_cancelled)) {
        store_call_destroy(&call);
        return;
    }
    call->on_done(call);
}

static void live_store_deliver(struct store_home *home, struct store_call *call)
{
    struct live_world *live = CONTAINER_OF(home, struct live_world, home);
    loop_post(live->loop, &call->message);
}

static void live_store_submit(struct world *world, struct store_call *call)
{
    struct live_world *live = live_of(world);

    call->home = &live->home;
    call->message.on_receive = live_on_store_back;
    if (live->store != NULL) {
        store_submit(live->store, call);
    } else if (call->on_done != NULL) {
        live_store_deliver(&live->home, call); // its states say that there is a fault
    } else {
        store_call_destroy(&call);
    }
}

static void live_store_cancel(struct world *world, struct store_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static enum quota_answer live_permit_begin(struct world *world, const struct script_account *account, uint64_t *wait_us)
{
    return permits_begin(live_of(world)->permits, account, wait_us);
}

static enum quota_answer live_permit_begin_kept(struct world *world, const struct script_account *account,
                                                uint64_t *wait_us)
{
    return permits_begin_kept(live_of(world)->permits, account, wait_us);
}

static void live_permit_end(struct world *world, const struct script_account *account)
{
    permits_end(live_of(world)->permits, account);
}

static uint64_t live_account_block(struct world *world, const struct script_account *account, uint64_t wait_us)
{
    return permits_block(live_of(world)->permits, account, wait_us);
}

static bool live_is_switched_off(struct world *world, const struct catalogue_supplier *supplier,
                                 const struct script_account *account, char *why, size_t size)
{
    struct switch_item found;
    struct text name = account != NULL ? account->name : (struct text){ 0 };

    if (switches_are_none(live_of(world)->switches)) {
        return false;
    }
    uint64_t now_us = clock_now_us();
    if (!switches_find(live_of(world)->switches, SWITCH_ABOUT_ASKING, supplier->name, name, now_us, &found)) {
        return false;
    }
    if (why != NULL) {
        switch_print(&found, now_us, clock_wall_us(), why, size);
    }
    return true;
}

static uint64_t live_ceiling_override(struct world *world, const struct catalogue_supplier *supplier)
{
    struct switch_item found;

    if (switches_are_none(live_of(world)->switches) ||
        !switches_find(live_of(world)->switches, SWITCH_ABOUT_CEILING, supplier->name, (struct text){ 0 },
                       clock_now_us(), &found)) {
        return 0;
    }
    return found.ceiling_us;
}

/// An operator holds it open or closed? What passes so teaches the breaker nothing: its epoch is none.
static bool live_breaker_is_held(struct live_world *live, const struct script_account *account,
                                 enum breaker_answer *answer, struct breaker_pass *pass, uint64_t *wait_us)
{
    struct text supplier = account->kept->supplier->name;
    struct switch_item found;

    if (switches_are_none(live->switches)) {
        return false;
    }
    uint64_t now_us = clock_now_us();
    if (!switches_find(live->switches, SWITCH_ABOUT_BREAKER, supplier, account->name, now_us, &found)) {
        return false;
    }
    bool is_open = found.kind == SWITCH_BREAKER_OPEN;
    *answer = is_open ? BREAKER_REFUSE : BREAKER_PASS;
    *pass = (struct breaker_pass){ 0 };
    *wait_us = is_open ? found.until_us - now_us : 0;
    return true;
}

static void live_permit_given_up(struct world *world, const struct script_account *account)
{
    permits_give_up(live_of(world)->permits, account);
}

static void live_account_strained(struct world *world, const struct script_account *account)
{
    permits_strained(live_of(world)->permits, account);
}

static bool live_auth_ask(struct world *world, const struct script_account *account, struct auth_pass *pass,
                          uint64_t *wait_us)
{
    return permits_ask_auth(live_of(world)->permits, account, pass, wait_us);
}

static void live_auth_tell(struct world *world, const struct script_account *account, const struct auth_pass *pass,
                           enum auth_end end)
{
    permits_tell_auth(live_of(world)->permits, account, pass, end);
}

static enum overload_level live_overload(struct world *world)
{
    const struct gate *gate = live_of(world)->gate;
    return gate != NULL ? gate_level(gate) : OVERLOAD_NONE;
}

static double live_shed_share(struct world *world)
{
    const struct gate *gate = live_of(world)->gate;
    return gate != NULL ? gate_shed_share(gate) : 0;
}

static double live_worth(struct world *world, const struct script_account *account)
{
    return permits_worth(live_of(world)->permits, account);
}

static enum breaker_answer live_health_ask(struct world *world, const struct script_account *account,
                                           struct breaker_pass *pass, uint64_t *wait_us)
{
    struct live_world *live = live_of(world);
    enum breaker_answer answer = BREAKER_PASS;

    if (!live_breaker_is_held(live, account, &answer, pass, wait_us)) {
        answer = permits_ask(live->permits, account, pass, wait_us);
    }
    if (answer == BREAKER_PASS) {
        permits_note_begun(account);
    }
    return answer;
}

static void live_health_tell(struct world *world, const struct script_account *account,
                             const struct health_result *result)
{
    if (result->pass.probe == 0) {
        permits_note_ended(account, result->end);
    }
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

static bool live_linger_wants(struct world *world, const struct script_account *account, uint32_t parts, bool fills)
{
    return world_overload(world) == OVERLOAD_NONE &&
           !live_is_switched_off(world, account->kept->supplier, account, NULL, 0) &&
           permits_want_linger(live_of(world)->permits, account, parts, fills);
}

static void live_linger_ended(struct world *world, const struct script_account *account, uint32_t parts)
{
    permits_end_linger(live_of(world)->permits, account, parts);
}

static void live_late_ended(struct world *world, struct search_record *record, enum outcome spoiled,
                            const struct failure *trouble)
{
    struct live_world *live = live_of(world);

    if (live->on_late == NULL) {
        search_record_destroy(&record);
        return;
    }
    live->on_late(live->late_owner, record, spoiled, trouble);
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
        .permit_begin_kept = live_permit_begin_kept,
        .permit_end = live_permit_end,
        .account_block = live_account_block,
        .is_switched_off = live_is_switched_off,
        .ceiling_override = live_ceiling_override,
        .permit_given_up = live_permit_given_up,
        .account_strained = live_account_strained,
        .auth_ask = live_auth_ask,
        .auth_tell = live_auth_tell,
        .overload = live_overload,
        .shed_share = live_shed_share,
        .worth = live_worth,
        .health_ask = live_health_ask,
        .health_tell = live_health_tell,
        .knowledge = live_knowledge,
        .worth_tell = live_worth_tell,
        .linger_wants = live_linger_wants,
        .linger_ended = live_linger_ended,
        .late_ended = live_late_ended,
        .extra_call = live_extra_call,
        .extra_connected = live_extra_connected,
        .extra_ask = live_extra_ask,
        .extra_tell = live_extra_tell,
        .login_peek = live_login_peek,
        .login_take = live_login_take,
        .login_start = live_login_start,
        .login_cancel = live_login_cancel,
        .login_refuse = live_login_refuse,
        .store_submit = live_store_submit,
        .store_cancel = live_store_cancel,
    };
    *live = (struct live_world){
        .world = { .ops = &OPS },
        .loop = loop,
        .fetches = fetches,
        .workers = workers,
        .permits = permits,
        .home = { .deliver = live_store_deliver },
    };
    shadow_desk_init(&live->shadows, &live->world);
}
