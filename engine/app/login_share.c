#include "app/login_share.h"

#include "base/clock.h"
#include "base/log.h"
#include "token/hidden_note.h"

#include <stdio.h>

//   IDLE --start--> LOOKING --found--------------------------------------------> IDLE: use it
//                    |  ^  \--no answer---------------------------------------> IDLE: fetch it
//                    |  +----its time------ PAUSING <----somebody has it---+
//                    +--nothing there--> CLAIMING --------------------------+--mine, or too long--> IDLE: fetch it
enum { LOGIN_MAX = 64 << 10, VERSION = 1, FRONT = 1 + LOGIN_SHARE_ID + 8 + 8 };

static uint64_t share_now_us(const struct login_share *share)
{
    return share->world->ops->now_us(share->world);
}

static void disarm(struct login_share *share)
{
    if (timer_is_running(&share->timer)) {
        share->world->ops->timer_cancel(share->world, &share->timer);
    }
}

/// What is under way is given up.
static void leave_state(struct login_share *share)
{
    disarm(share);
    if (share->call != NULL) {
        share->world->ops->store_cancel(share->world, share->call);
        share->call = NULL;
    }
    share->state = SHARE_IDLE;
}

static void end(struct login_share *share, struct shared_login *found)
{
    leave_state(share);
    share->on_end(share, found);
}

static void on_call(struct store_call *call);

/// Without an owner nobody hears of it. False: no memory.
static bool submit(struct login_share *share, enum store_job job, const char *name, struct block *value,
                   uint64_t life_ms, bool has_owner)
{
    struct store_call *call = store_call_create_note(job, text_of(name), value);
    uint64_t now_us = share_now_us(share);

    if (call == NULL) {
        return false;
    }
    call->now_ms = clock_wall_us() / 1000;
    call->life_ms = life_ms;
    call->end_us = has_owner ? now_us + LOGIN_SHARE_STORE_US : 0;
    call->wants_absent = has_owner && job == STORE_NOTE_PUT;
    call->owner = has_owner ? share : NULL;
    call->on_done = has_owner ? on_call : NULL;
    share->call = has_owner ? call : share->call;
    share->world->ops->store_submit(share->world, call);
    return true;
}

/// False: it goes no further, fetch it.
static bool go(struct login_share *share, enum login_share_state state, uint64_t wait_us)
{
    share->state = state;
    return share->world->ops->timer_start(share->world, &share->timer, share_now_us(share) + wait_us) == STATUS_OK;
}

static bool look(struct login_share *share)
{
    return go(share, SHARE_LOOKING, LOGIN_SHARE_STORE_US) &&
           submit(share, STORE_NOTE_GET, share->login_name, NULL, 0, true);
}

static bool claim(struct login_share *share)
{
    struct block *value = block_create(TEXT("1"));
    bool is_out = value != NULL && go(share, SHARE_CLAIMING, LOGIN_SHARE_STORE_US) &&
                  submit(share, STORE_NOTE_PUT, share->claim_name, value, LOGIN_SHARE_CLAIM_MS, true);

    block_release(&value);
    return is_out;
}

// ------------------------------------------------------------------------------------------------------ what is left

static void put_number(struct buffer *out, uint64_t number)
{
    for (size_t i = 0; i < 8; i++) {
        buffer_append_byte(out, (char)(number >> (8 * i) & 255));
    }
}

static uint64_t take_number(const char *bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < 8; i++) {
        number |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    }
    return number;
}

/// False: it is none, or not one that may still be used.
static bool read_login(const struct login_share *share, struct text plain, struct shared_login *found)
{
    uint64_t now_ms = clock_wall_us() / 1000;

    if (plain.length <= FRONT || plain.data[0] != VERSION ||
        memcmp(plain.data + 1, share->spent, LOGIN_SHARE_ID) == 0) {
        return false;
    }
    uint64_t made_ms = take_number(plain.data + 1 + LOGIN_SHARE_ID);
    uint64_t expires_ms = take_number(plain.data + 1 + LOGIN_SHARE_ID + 8); // 0: nobody knows
    if (expires_ms != 0 && expires_ms < now_ms + LOGIN_SHARE_LEAST_US / 1000) {
        return false;
    }
    memcpy(found->id, plain.data + 1, LOGIN_SHARE_ID);
    found->life_us = expires_ms == 0 ? UINT64_MAX : (expires_ms - now_ms) * 1000;
    found->age_us = now_ms > made_ms ? (now_ms - made_ms) * 1000 : 0;
    found->value = block_create((struct text){ plain.data + FRONT, plain.length - FRONT });
    return found->value != NULL;
}

static bool open_note(const struct login_share *share, const struct block *note, struct shared_login *found)
{
    struct buffer plain;

    buffer_init(&plain, LOGIN_MAX);
    enum token_fault fault = hidden_note_read(share->ring, text_of(share->login_name), block_text(note), &plain);
    bool is_good = fault == TOKEN_GENUINE && read_login(share, buffer_text(&plain), found);
    seal_forget(plain.data, plain.length);
    buffer_fini(&plain);
    if (fault != TOKEN_GENUINE) {
        log_line(LOG_WARNING, "login", "what another engine left as %s is of no use: %s", share->login_name,
                 token_fault_code(fault));
    }
    return is_good;
}

void login_share_leave(struct login_share *share, struct text value, uint64_t life_us, uint8_t id[LOGIN_SHARE_ID])
{
    uint64_t now_ms = clock_wall_us() / 1000;
    uint64_t expires_ms = life_us == UINT64_MAX ? 0 : now_ms + life_us / 1000;
    struct buffer plain, sealed;

    memset(id, 0, LOGIN_SHARE_ID);
    if (life_us < LOGIN_SHARE_LEAST_US || seal_random(id, LOGIN_SHARE_ID) != STATUS_OK) {
        login_share_failed(share, 0);
        return;
    }
    buffer_init(&plain, LOGIN_MAX);
    buffer_init(&sealed, LOGIN_MAX + HIDDEN_NOTE_MORE);
    buffer_append_byte(&plain, VERSION);
    buffer_append(&plain, id, LOGIN_SHARE_ID);
    put_number(&plain, now_ms);
    put_number(&plain, expires_ms);
    buffer_append_text(&plain, value);
    bool is_sealed = !plain.is_full && hidden_note_write(share->ring, text_of(share->login_name), buffer_text(&plain),
                                                         &sealed) == STATUS_OK;
    struct block *note = is_sealed ? block_from_buffer(&sealed) : NULL;
    if (note != NULL) {
        (void)submit(share, STORE_NOTE_PUT, share->login_name, note,
                     life_us == UINT64_MAX ? LOGIN_SHARE_ENDLESS_MS : life_us / 1000, false);
    }
    login_share_failed(share, 0);
    block_release(&note);
    seal_forget(plain.data, plain.length);
    buffer_fini(&plain);
    buffer_fini(&sealed);
}

void login_share_failed(struct login_share *share, uint64_t pause_us)
{
    struct block *value = pause_us > 0 ? block_create(TEXT("0")) : NULL;

    if (share->holds_claim) {
        (void)submit(share, value != NULL ? STORE_NOTE_PUT : STORE_NOTE_DELETE, share->claim_name, value,
                     (pause_us + 999) / 1000, false);
    }
    share->holds_claim = false;
    block_release(&value);
}

// ---------------------------------------------------------------------------------------------------------- its steps

static bool pause_or_fetch(struct login_share *share)
{
    return share_now_us(share) < share->until_us && go(share, SHARE_PAUSING, LOGIN_SHARE_ROUND_US);
}

static void on_call(struct store_call *call)
{
    struct login_share *share = call->owner;
    enum login_share_state state = share->state;
    struct shared_login found;
    bool goes_on = false;

    share->call = NULL;
    disarm(share);
    if (state == SHARE_LOOKING && call->state == STORE_FOUND && call->value != NULL &&
        open_note(share, call->value, &found)) {
        store_call_destroy(&call);
        end(share, &found);
        return;
    }
    if (call->state != STORE_FAULT && state == SHARE_LOOKING) {
        goes_on = claim(share);
    } else if (call->state != STORE_FAULT) {
        share->holds_claim = call->state == STORE_FOUND;
        goes_on = !share->holds_claim && pause_or_fetch(share);
    }
    store_call_destroy(&call);
    if (!goes_on) {
        end(share, NULL);
    }
}

/// The store took too long, or the pause is over.
static void on_due(struct timer *timer)
{
    struct login_share *share = CONTAINER_OF(timer, struct login_share, timer);

    if (share->state != SHARE_PAUSING || !look(share)) {
        end(share, NULL);
    }
}

void login_share_init(struct login_share *share, struct world *world, const struct token_ring *ring,
                      void (*on_end)(struct login_share *share, struct shared_login *found))
{
    *share = (struct login_share){ .world = world, .ring = ring, .on_end = on_end };
    share->timer.on_due = on_due;
}

bool login_share_start(struct login_share *share, struct text supplier, const struct script_account *account,
                       const uint8_t spent[LOGIN_SHARE_ID])
{
    char mark[ACCOUNT_MARK_SIZE];

    if (share->ring == NULL || share->world->ops->store_submit == NULL ||
        !account_mark(share->ring, supplier, account, mark)) {
        return false;
    }
    (void)snprintf(share->login_name, sizeof(share->login_name), "login:%.*s:%.*s:%s", TEXT_ARGS(supplier),
                   TEXT_ARGS(account->name), mark);
    (void)snprintf(share->claim_name, sizeof(share->claim_name), "claim:%.*s:%.*s:%s", TEXT_ARGS(supplier),
                   TEXT_ARGS(account->name), mark);
    memcpy(share->spent, spent, LOGIN_SHARE_ID);
    share->holds_claim = false;
    share->until_us = share_now_us(share) + LOGIN_SHARE_WAIT_US;
    if (!look(share)) {
        leave_state(share);
        return false;
    }
    return true;
}

void login_share_cancel(struct login_share *share)
{
    leave_state(share);
    login_share_failed(share, 0);
}
