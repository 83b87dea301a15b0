// NORMALISE: the body is inflated and made UTF-8, the script maps it, the product's schema takes the offers. Whether an
// empty answer with a bad status is a failure is not decided here: the search knows the status.

#include "base/clock.h"
#include "base/log.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/drift.h"
#include "script/drop_words.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/plan.h"
#include "script/rates.h"
#include "script/reading.h"
#include "script/run_body.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

enum { NORMALISE_BATCH_MAX = 16 << 20, NORMALISE_NOTES_MAX = 1 << 20 };

/// Context of the sections: copies and references, nothing of the call's own memory.
struct normalise_work {
    struct run_work work;
    struct run_response view;
    struct run_context context;
    const struct normalise_call *call; // only outside of sections
    struct block *facts;
    struct block *body;
    struct buffer plain; // what was inflated, unless the body was plain
    size_t supplier;
    size_t product;
    struct block *state;
    struct block *login; // NULL: none
    struct rates *rates; // NULL: nothing is converted
    struct drift_seen seen;
    struct reading reading; // what is noted for an author, when the call wants it
    struct buffer drops;
    bool wants_notes;
    // out
    struct offer_batch *batch;
    struct run_details details;
    bool is_empty;
    enum status taken;
};

static int normalise_call_prepare(lua_State *L)
{
    struct normalise_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    state_trim_accounts(L, state);
    state_push_search(L, state, work->facts);
    state_learn_account(L, state, work->call->account);
    run_response_make(L, &work->view, work->call->response);
    offers_set_observed(L, run_wall_us(work->work.run, work->call->times));
    offers_set_rates(L, work->rates);
    return 0;
}

/// What was not as its shape says is a warning; the script got nil.
static void normalise_warn_unread(struct normalise_work *work)
{
    const struct shape_unread *unread = &work->view.unread;

    if (unread->count > 0 && work->details.warning_count == 0) {
        snprintf(work->details.warning, sizeof work->details.warning, "%s", unread->first);
    }
    work->details.warning_count += unread->count;
}

/// For an author who looks on: whatever an `only` of a plan was asked, it said nil.
static void normalise_warn_silent(struct normalise_work *work)
{
    const struct plan_drop_only *silent = plan_drop_silent(&work->view.drop);

    if (silent == NULL) {
        return;
    }
    if (work->details.warning_count == 0) {
        snprintf(work->details.warning, sizeof work->details.warning,
                 "`%.80s` gave nil for %s%zu element%s, which are left out: is a `return` missing? (false says that it "
                 "is meant so)",
                 silent->place, silent->asked == 1 ? "its " : "all ", silent->asked, silent->asked == 1 ? "" : "s");
    }
    work->details.warning_count++;
}

/// What `normalise` gave when it is not a plan's: at 5, details at 6, `normalise` itself at 3, the search at 4.
static int normalise_take(lua_State *L, struct normalise_work *work, const struct script_supplier *supplier)
{
    if (lua_type(L, 5) == LUA_TSTRING && text_equals_c(bind_text_at(L, 5), "empty")) {
        work->view.is_told_empty = true;
        work->is_empty = true;
        return 0;
    }
    if (lua_isnil(L, 5)) {
        if (lua_isnil(L, 6)) { // a forgotten `return` is no well-formed nothing
            return run_breach(L, 3, "normalise returned nothing; an empty list says that there is nothing for sale");
        }
        work->is_empty = true;
        return 0;
    }
    if (!freeze_raw(L, 5)) {
        return run_breach(L, 3, "normalise must return a list of offers or a failure, not a %s", luaL_typename(L, 5));
    }
    size_t items = 0;
    for (lua_pushnil(L); lua_next(L, 7) != 0; lua_pop(L, 1)) {
        items++;
    }
    if (items != lua_objlen(L, 7)) {
        return run_breach(L, 3, "normalise must return a list of offers, not a map; a list has no holes");
    }
    bool has_items = items > 0;
    work->is_empty = !has_items;
    if (has_items) {
        work->taken = offers_take(L, 7, 4, supplier->product.data, supplier->name, work->batch);
    }
    return 0;
}

static int normalise_call_script(lua_State *L)
{
    struct normalise_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;
    const struct script_supplier *supplier = script_set_supplier(state->set, work->supplier);

    lua_settop(L, 0);
    state_push_product(L, state, work->product);
    state_push_supplier(L, state, work->supplier);
    lua_getfield(L, 2, "normalise"); // 3: for errors
    if (!lua_isfunction(L, 3)) {
        return luaL_error(L, "the supplier has no function normalise");
    }
    state_push_search(L, state, work->facts); // 4: for the schema
    lua_pushvalue(L, 3);
    run_response_push(L);
    lua_pushvalue(L, 4);
    run_push_context(L, state, &work->context);
    lua_call(L, 3, 2); // 5: offers, 6: details
    run_check_failure(L, 5);
    const struct state_account *account = state_find_account(L, state, work->context.serial);
    if (account == NULL) {
        return luaL_error(L, "the account is not known to this worker");
    }
    run_take_details(L, 6, 3, account, &work->details);
    normalise_warn_unread(work);
    normalise_warn_silent(work);
    if (plan_is_marker(L, 5)) {
        if (!work->view.is_planned) {
            return run_breach(L, 3, "normalise returned what a plan gave in an earlier call");
        }
        work->taken = work->view.taken;
        work->is_empty = work->taken == STATUS_OK && work->batch->count == 0 && work->batch->dropped == 0;
        return 0;
    }
    if (work->view.is_planned) {
        return run_breach(L, 3, "normalise called a plan and must return what it gave");
    }
    return normalise_take(L, work, supplier);
}

static void normalise_say(struct normalise_call *call, enum script_verdict verdict, const char *message)
{
    call->verdict = verdict;
    snprintf(call->message, sizeof call->message, "%s", message);
}

/// The plain bytes as UTF-8, or a verdict.
static bool normalise_open(struct normalise_work *work, struct normalise_call *call)
{
    uint64_t cap = call->body_cap;
    const char *why = "";

    if (cap == 0) {
        cap = script_set_supplier(work->work.run->state->set, work->supplier)->body_cap;
    }
    enum script_verdict verdict =
        run_body_open(&work->view, call->response, block_text(work->body), cap, &work->plain, &why);
    if (verdict != SCRIPT_OK) {
        normalise_say(call, verdict, why);
    }
    return verdict == SCRIPT_OK;
}

static enum run_end normalise_once(struct normalise_work *work)
{
    struct run *run = work->work.run;
    struct guard_blame blame = { .script = { .index = work->supplier } };

    offer_batch_release(&work->batch);
    run_details_fini(&work->details);
    work->seen.drift = script_set_drift(run->state->set, work->supplier);
    work->seen.count = 0;
    work->seen.reading = work->wants_notes ? &work->reading : NULL;
    reading_clear(&work->reading);
    buffer_clear(&work->drops);
    work->view.unread.count = 0;
    work->view.unread.seen = &work->seen;
    work->batch = offer_batch_create(NORMALISE_BATCH_MAX);
    work->view.batch = work->batch;
    work->view.supplier = script_set_supplier(run->state->set, work->supplier);
    work->view.is_planned = false;
    work->view.is_told_empty = false;
    work->view.drop.why.code = CODE_NONE;
    work->view.drop.only_count = 0;
    work->is_empty = false;
    work->taken = STATUS_OK;
    if (work->batch == NULL) {
        run->failure = (struct run_failure){ .verdict = SCRIPT_MEMORY, .message = "there is no memory for the offers" };
        return RUN_FAILED;
    }
    work->batch->drops = work->wants_notes ? &work->drops : NULL;
    enum run_end end = run_section(run, NULL, 0, normalise_call_prepare, &work->work);
    if (end != RUN_DONE) {
        return end;
    }
    return run_section(run, &blame, run->normalise_limit_us, normalise_call_script, &work->work);
}

/// The time of day, as the search's arrival and the time since tell it.
static uint64_t normalise_wall_us(const struct normalise_work *work)
{
    return work->context.wall_us + work->context.elapsed_us;
}

static void normalise_take_details(struct normalise_work *work, struct normalise_call *call)
{
    call->merge = work->details.merge;
    call->is_incomplete = work->details.is_incomplete;
    call->next = work->details.next;
    call->is_quota_used = work->details.is_quota_used;
    call->quota_wait_ms = wait_left_ms(work->details.quota_reset, normalise_wall_us(work));
    call->warning_count = work->details.warning_count;
    memcpy(call->warning, work->details.warning, sizeof call->warning);
    char warning[sizeof call->warning];
    if (charset_warn(&work->view.reading, warning, sizeof warning)) {
        call->warning_count++;
        memcpy(call->warning, warning, sizeof call->warning); // it explains the script's own
    }
    work->details.next = (struct next_step){ 0 };
    if (work->batch != NULL && work->batch->corrected > 0) { // told where the script's own warnings are
        if (call->warning_count == 0) {
            snprintf(call->warning, sizeof call->warning, "%s", work->batch->corrected_first);
        }
        call->warning_count += (uint32_t)work->batch->corrected;
    }
}

/// The first dropped offer of a plan, as a person is told of it. Of a list there is nothing to add to the sentence.
static void normalise_tell_drop(struct normalise_work *work, const char *sentence)
{
    struct run *run = work->work.run;
    struct failure *why = &run->trouble;
    const struct script_file *file = script_set_supplier_file(run->state->set, work->supplier);

    if (work->view.drop.why.code == CODE_NONE) {
        return;
    }
    *why = work->view.drop.why;
    if (why->file[0] == '\0') {
        snprintf(why->file, sizeof why->file, "%.*s", TEXT_ARGS(file->path));
    }
    failure_set(why, "%s", sentence);
    if (why->help[0] == '\0') {
        const char *first = work->batch->dropped_first;
        const struct drop_words *known = drop_words_find(text_of(first));
        failure_help(why, "%s",
                     known != NULL
                         ? known->help
                         : "mend the path of the leaf, or what the function gives; null and absent are the same");
    }
}

/// The script has run to its end; what it gave decides.
static void normalise_commit(struct normalise_work *work, struct normalise_call *call)
{
    struct offer_batch *batch = work->batch;

    if (work->is_empty) {
        normalise_say(call, SCRIPT_EMPTY, "");
        call->is_told_empty = work->view.is_told_empty;
        normalise_take_details(work, call);
    } else if (work->taken == STATUS_FULL) {
        script_set_note_limit(work->work.run->state->set, (struct script_id){ .index = work->supplier },
                              SCRIPT_LIMIT_RESULT, 1);
        normalise_say(call, SCRIPT_TOO_LARGE, "the offers are larger than 16 MiB");
    } else if (work->taken == STATUS_NO_MEMORY) {
        normalise_say(call, SCRIPT_MEMORY, "there is no memory for the offers");
    } else if (work->taken != STATUS_OK) {
        normalise_say(call, SCRIPT_ERROR, "the offers could not be taken");
    } else if (batch->count == 0) {
        call->verdict = SCRIPT_UNPARSABLE;
        snprintf(call->message, sizeof call->message, "no valid offer among %zu: %.200s", batch->dropped,
                 batch->dropped_first);
        normalise_tell_drop(work, call->message);
    } else {
        char sentence[sizeof batch->dropped_first + 64];
        call->verdict = SCRIPT_OK;
        if (work->wants_notes && batch->dropped > 0) {
            snprintf(sentence, sizeof sentence, "%zu offer%s dropped, the first: %s", batch->dropped,
                     batch->dropped == 1 ? " was" : "s were", batch->dropped_first);
            normalise_tell_drop(work, sentence);
        }
        normalise_take_details(work, call);
        batch->drops = NULL; // it is this call's
        call->offers = batch;
        work->batch = NULL;
    }
}

static void normalise_fail(struct normalise_work *work, struct normalise_call *call)
{
    struct run *run = work->work.run;

    run_count_failure(run);
    const struct failure *refused = &work->view.drop.why;
    if (refused->code == CODE_UNPARSABLE && run->trouble.code == CODE_UNPARSABLE && refused->line != 0) {
        struct failure told = *refused; // a plan has no place of its own in the stack
        failure_set(&told, "%s", run->trouble.message);
        run->trouble = told;
    }
    normalise_say(call, run->failure.verdict, run->failure.message);
    snprintf(call->code, sizeof call->code, "%s", run->failure.code);
    call->retry_after_ms = wait_left_ms(run->failure.wait, normalise_wall_us(work));
}

/// How long to leave the supplier alone says its own header, when its script did not.
static void normalise_take_retry_after(struct normalise_work *work, struct normalise_call *call)
{
    if (call->retry_after_ms == 0) {
        call->retry_after_ms = run_response_retry_after_ms(call->response, call->verdict, normalise_wall_us(work));
    }
}

/// Does the answer say something about the paths that it lacks? A typed failure has a document of its own.
static bool tells_of_paths(const struct normalise_call *call)
{
    bool is_fine = call->response->status >= 200 && call->response->status <= 299 && !call->is_told_empty;
    return is_fine && (call->verdict == SCRIPT_OK || call->verdict == SCRIPT_EMPTY ||
                       call->verdict == SCRIPT_UNPARSABLE || call->verdict == SCRIPT_FAIL_UNEXPECTED);
}

/// What has stopped appearing is a warning, or the reason why there are no offers.
static void normalise_settle_drift(struct normalise_work *work, struct normalise_call *call)
{
    bool is_empty = call->verdict == SCRIPT_EMPTY;
    struct drift_answer answer = { .supplier = work->view.supplier->name,
                                   .wall_us = call->times.arrival_wall_us,
                                   .is_empty = is_empty,
                                   .has_outcome =
                                       (call->verdict == SCRIPT_OK || is_empty) && call->next.request == NULL };

    if (!tells_of_paths(call)) {
        return;
    }
    drift_settle(&work->seen, &answer);
    if (answer.count == 0) {
        return;
    }
    if (is_empty && answer.lacks_main) {
        normalise_say(call, SCRIPT_UNPARSABLE, answer.first);
    } else if (call->verdict == SCRIPT_UNPARSABLE || call->verdict == SCRIPT_FAIL_UNEXPECTED) {
        size_t length = strlen(call->message);
        snprintf(call->message + length, sizeof call->message - length, "; %s", answer.first);
    } else {
        snprintf(call->warning, sizeof call->warning, "%s", answer.first);
        call->warning_count += answer.count;
    }
}

/// For an author who looks on; without memory he sees less.
static void normalise_give_notes(struct normalise_work *work, struct normalise_call *call)
{
    struct text reads = reading_text(&work->reading), drops = buffer_text(&work->drops);

    call->reads = reads.length > 0 ? block_create(reads) : NULL;
    call->drops = drops.length > 0 ? block_create(drops) : NULL;
}

static enum run_end normalise_run(struct normalise_work *work, struct normalise_call *call)
{
    struct run *run = work->work.run;
    ptrdiff_t product;

    if (script_set_tell_quarantine(run->state->set, (struct script_id){ .index = work->supplier }, call->message,
                                   sizeof call->message)) {
        call->verdict = SCRIPT_ERROR;
        return RUN_FAILED;
    }
    product = script_set_find_product(run->state->set, script_set_supplier(run->state->set, work->supplier)->product);
    require(product >= 0); // checked when the set was loaded
    work->product = (size_t)product;
    if (!normalise_open(work, call)) {
        return RUN_FAILED;
    }
    enum run_end end = normalise_once(work);
    if (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY) {
        end = normalise_once(work);
    }
    if (end == RUN_FAILED) {
        normalise_fail(work, call);
    } else if (end == RUN_DONE) {
        normalise_commit(work, call);
    }
    if (end == RUN_DONE || end == RUN_FAILED) {
        normalise_take_retry_after(work, call);
        normalise_settle_drift(work, call);
        normalise_give_notes(work, call);
    }
    return end;
}

/// The rates to convert by: none, when they were too old when the search arrived.
static struct rates *normalise_rates(const struct normalise_call *call)
{
    struct rates *rates = call->call.rates;
    uint64_t wall_us = call->times.arrival_wall_us;

    if (rates == NULL || !rates_is_stale(rates, wall_us)) {
        return rates_acquire(rates);
    }
    if (rates_first_warning(rates)) {
        log_line(LOG_WARNING, "fx", "the rates %.*s of %.*s are out of date: no price is converted",
                 TEXT_ARGS(rates_id(rates)), TEXT_ARGS(rates_as_of(rates)));
    }
    return NULL;
}

bool run_normalise(struct run *run, struct normalise_call *call)
{
    uint64_t now_us = run_now_us(run);
    struct normalise_work work = {
        .work = { .run = run },
        .view = { .run = run, .status = call->response->status },
        .context = { .serial = call->account->serial,
                     .wall_us = call->times.arrival_wall_us,
                     .elapsed_us = run_time_left(now_us, call->times.arrival_us),
                     .remaining_us = run_time_left(call->allocation_end_us, now_us),
                     .part = call->part,
                     .parts = call->parts,
                     .step = call->step,
                     .attempt = call->attempt,
                     .is_hedge = call->is_hedge,
                     .state = block_text(call->state),
                     .login = block_text(call->login.value) },
        .call = call,
        .facts = block_acquire(call->facts),
        .body = block_acquire(call->response->body),
        .state = block_acquire(call->state),
        .login = block_acquire(call->login.value),
        .rates = normalise_rates(call),
        .supplier = call->account->supplier,
        .wants_notes = call->wants_notes,
    };

    buffer_init(&work.plain, 0);
    buffer_init(&work.view.converted, 0);
    buffer_init(&work.drops, NORMALISE_NOTES_MAX);
    reading_init(&work.reading);
    enum run_end end = normalise_run(&work, call);
    if (end != RUN_LOST) {
        run_note_trial(run, work.supplier, call->verdict, call->message);
    }
    run_response_forget(run->state);
    buffer_fini(&work.plain);
    buffer_fini(&work.view.converted);
    buffer_fini(&work.drops);
    reading_fini(&work.reading);
    offer_batch_release(&work.batch);
    run_details_fini(&work.details);
    block_release(&work.facts);
    block_release(&work.body);
    block_release(&work.state);
    block_release(&work.login);
    rates_release(&work.rates);
    return end != RUN_LOST;
}
