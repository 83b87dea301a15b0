#include "scenario/play.h"

#include "policy/traffic.h"
#include "scenario/stage.h"
#include "search/linger.h"
#include "support/virtual_login.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIOLATIONS_MAX = 1 << 20 };

void play_init(struct play *play)
{
    play->supplier_count = 0;
    play->step_count = 0;
    play->moment_count = 0;
    play->segment_count = 0;
    play->extra = (struct extra_settings){ .is_on = false };
    play->is_overloaded = false;
    play->last_known = (struct last_known_settings){ .is_on = false };
    play->store = (struct virtual_store_given){ .is_on = false };
    play->indicative = INDICATIVE_AT_END;
    play->rule_count = 0;
    play->reserve_wish_us = 0;
    play->has_default_budget = false;
    play->budget_us = 2000000;
    play->reserve_us = 10000;
    play->max_items = 200;
    play->max_offers_per_item = 5;
    play->whole_or_nothing = false;
    play->has_choice = false;
    play->is_public = false;
    play->is_test = false;
    play->leaves_us = UINT64_MAX;
    play->machine = (struct virtual_machine){ 0 };
    play->start_us = 1000;
    play->queue_us = 0;
    play->reask_us = 100;
    play->product = SCRIPT_OK;
    play->patience = (struct patience_settings){ .least_gain = 1e-3 };
}

struct play_supplier *play_add_supplier(struct play *play, const char *name)
{
    require(play->supplier_count < PLAY_SUPPLIERS_MAX);
    struct play_supplier *supplier = &play->suppliers[play->supplier_count++];
    *supplier = (struct play_supplier){
        .behaviour = { .name = name, .cheapest_micros = 100 * (int64_t)OFFER_MICROS },
        .expected = OUTCOME_COUNT,
        .traffic = TRAFFIC_ALL,
    };
    return supplier;
}

struct virtual_step *play_add_step(struct play *play, uint32_t part, uint32_t step)
{
    require(play->supplier_count > 0 && play->step_count < PLAY_STEPS_MAX);
    struct virtual_supplier *behaviour = &play->suppliers[play->supplier_count - 1].behaviour;
    struct virtual_step *added = &play->steps[play->step_count++];

    *added = (struct virtual_step){ .part = part, .step = step };
    if (behaviour->steps == NULL) {
        behaviour->steps = added;
    }
    behaviour->step_count++;
    behaviour->parts = part > behaviour->parts ? part : behaviour->parts;
    return added;
}

void play_blame(struct play_result *result, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    buffer_printf(&result->violations, "%s\n", sentence);
}

// -------------------------------------------------------------------------------------------------------------- caller

static void stage_on_reply(void *owner, const struct search_reply *reply)
{
    struct stage *stage = owner;
    struct play_result *result = stage->result;
    struct text body = block_text(reply->body);

    result->replies++;
    if (result->replies > 1) {
        play_blame(result, "the search replied %u times", result->replies);
        return;
    }
    if (stage->has_left) {
        play_blame(result, "a reply came after the caller had left");
    }
    result->replied_us = stage->virtual.now_us - stage->arrival_us;
    virtual_world_charge_reply(&stage->virtual, reply->offers_found, body.length);
    stage->search = NULL;
    stage->virtual.is_over = true;
    result->status = reply->status;
    result->is_complete = reply->is_complete;
    result->was_cut_by_budget = reply->was_cut_by_budget;
    result->is_refused = reply->is_refused;
    result->sent_us = stage->virtual.now_us - stage->arrival_us;
    result->deadline_us = reply->deadline_us - stage->arrival_us;
    result->body = strndup(body.data != NULL ? body.data : "", body.length);
    result->record = reply->record;
    require(result->body != NULL);
}

static void stage_on_event(void *owner, enum search_event event, struct text json)
{
    struct stage *stage = owner;
    struct play_result *result = stage->result;

    virtual_world_charge_event(&stage->virtual, json.length);
    stage_check_event(stage, event, json);
    fold_take(&stage->fold, event, json);
    result->events = realloc(result->events, (result->event_count + 1) * sizeof(*result->events));
    require(result->events != NULL);
    result->events[result->event_count++] = (struct play_event){
        .event = event,
        .at_us = stage->virtual.now_us - stage->arrival_us,
        .json = stage->fold.kept[stage->fold.kept_count - 1],
    };
}

static void stage_on_trouble(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome,
                             const char *detail, const struct failure *trouble)
{
    struct stage *stage = owner;
    (void)trouble;
    (void)supplier;

    if (outcome_row(outcome)->breaker != BREAKER_SCRIPT || detail == NULL) {
        play_blame(stage->result, "%s is no trouble of a script", outcome_name(outcome));
    }
    stage->result->troubles++;
}

static void stage_leave(struct stage *stage)
{
    stage->has_left = true;
    stage->result->record = search_record_gone(stage->search);
    search_cancel(&stage->search);
    stage->virtual.is_over = true;
}

// --------------------------------------------------------------------------------------------------------------- stage

/// The rules with their suppliers as numbers.
static void stage_fill_rules(struct stage *stage)
{
    const struct play *play = stage->play;

    stage->rule_set = (struct rule_set){ .segments = play->segments,
                                         .segment_count = play->segment_count,
                                         .rules = stage->rules,
                                         .rule_count = play->rule_count };
    for (size_t i = 0; i < play->rule_count; i++) {
        const struct play_rule *given = &play->rules[i];
        stage->rules[i] = given->rule;
        stage->rules[i].suppliers = stage->rule_suppliers[i];
        stage->rules[i].supplier_count = given->supplier_count;
        stage->rule_set.has_deadlines |= given->rule.values[RULE_DEADLINE] != 0;
        for (size_t j = 0; j < given->supplier_count; j++) {
            uint32_t number = 0;
            while (strcmp(play->suppliers[number].behaviour.name, given->suppliers[j]) != 0) {
                number++;
                require(number < play->supplier_count);
            }
            stage->rule_suppliers[i][j] = number;
        }
    }
}

/// The stage has a hold of its own to the end.
static void stage_on_ground_end(struct ground *ground)
{
    (void)ground;
    require(false);
}

static void stage_fill_store(struct stage *stage)
{
    const struct play *play = stage->play;

    stage->virtual.store.given = play->store;
    for (size_t i = 0; i < play->supplier_count; i++) {
        if (play->store.is_on && play->suppliers[i].stored.is_there) {
            virtual_store_fill(&stage->virtual, i, &play->suppliers[i].stored, PLAY_ARRIVAL_S * UINT64_C(1000));
        }
    }
}

static void stage_fill(struct stage *stage)
{
    const struct play *play = stage->play;

    for (size_t i = 0; i < play->supplier_count; i++) {
        const struct play_supplier *supplier = &play->suppliers[i];
        struct text name = text_of(supplier->behaviour.name);
        stage->behaviours[i] = supplier->behaviour;
        stage->behaviours[i].again = supplier->again;
        stage->behaviours[i].again_count = supplier->again_count;
        stage->accounts[i] = (struct script_account){
            .serial = i + 1,
            .name = name,
            .supplier = (uint32_t)i,
            .login = supplier->behaviour.logs_in ? (uint32_t)i + 1 : 0,
            .mode = supplier->mode != MODE_LIVE ? supplier->mode : supplier->account_mode,
        };
        stage->catalogue_suppliers[i] = (struct catalogue_supplier){
            .name = name,
            .display_name = text_of(supplier->display),
            .product = TEXT("flights"),
            .script = TEXT("x@1"),
            .is_enabled = !supplier->is_disabled,
            .signs = supplier->behaviour.signs,
            .extra = &stage->behaviours[i].terms,
            .because = text_of(supplier->behaviour.because),
            .body_cap = 1 << 20,
            .ceiling_us = supplier->rule_us,
            .weight = supplier->weight,
            .mode = supplier->mode,
            .traffic = supplier->traffic,
            .last_known = supplier->last_known,
            .account = &stage->accounts[i],
        };
    }
    virtual_world_init(&stage->virtual, stage->behaviours, play->supplier_count);
    virtual_extra_begin(&stage->virtual, play->extra, play->is_overloaded);
    stage->virtual.machine = play->machine;
    stage->virtual.product = play->product;
    stage->virtual.start_us = play->start_us;
    stage->virtual.begins_after_us = play->queue_us;
    stage->virtual.reask_us = play->reask_us;
    stage->virtual.held_cost = play->patience.held_cost;
    stage_fill_store(stage);
    virtual_health_remember(&stage->virtual);
    stage_fill_rules(stage);
    stage->virtual.facts = play->facts;
    ground_init(&stage->ground, stage_on_ground_end);
    stage->catalogue = (struct catalogue){
        .generation = 1,
        .ground = &stage->ground,
        .rules = play->rule_count > 0 ? &stage->rule_set : NULL,
        .suppliers = stage->catalogue_suppliers,
        .supplier_count = play->supplier_count,
        .linger_us = PLAY_LINGER_US,
        .patience = play->patience,
        .last_known = play->last_known,
        .extra = play->extra,
    };
}

static enum status stage_search(struct stage *stage)
{
    const struct play *play = stage->play;
    size_t chosen = 0;

    for (size_t i = 0; i < play->supplier_count; i++) {
        if (!play->suppliers[i].is_left_out) {
            stage->chosen[chosen++] = stage->catalogue_suppliers[i].name;
        }
    }
    struct search_options options = {
        .world = &stage->virtual.world,
        .catalogue = &stage->catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = stage->body,
        .arrival_us = stage->arrival_us,
        .arrival_wall_us = PLAY_ARRIVAL_S * UINT64_C(1000000),
        .budget = { .requested_us = play->budget_us,
                    .effective_us = play->budget_us,
                    .from = play->has_default_budget ? BUDGET_FROM_DEFAULT : BUDGET_FROM_CALLER },
        .reserve_us = play->reserve_us,
        .reserve_wish_us = play->reserve_wish_us,
        .only = play->has_choice ? stage->chosen : NULL,
        .only_count = play->has_choice ? chosen : 0,
        .sort = play->sort,
        .indicative = play->indicative,
        .max_items = play->max_items,
        .max_offers_per_item = play->max_offers_per_item,
        .whole_or_nothing = play->whole_or_nothing,
        .is_test = play->is_test,
        .wants_record = true,
        .detail = play->is_public ? REPLY_PUBLIC : REPLY_FULL,
        .on_event = stage->result->is_stream ? stage_on_event : NULL,
        .on_script_trouble = stage_on_trouble,
        .on_reply = stage_on_reply,
        .owner = stage,
    };
    return search_start(&options, &stage->search);
}

/// Keeps the states that were wanted before the next event; true: the caller left.
static bool stage_pass(struct stage *stage, size_t *moment)
{
    const struct play *play = stage->play;
    uint64_t next_us = virtual_world_next_us(&stage->virtual);

    while (*moment < play->moment_count && stage->arrival_us + play->moments_us[*moment] < next_us) {
        stage->result->moments[(*moment)++] = search_record_gone(stage->search);
    }
    if (play->leaves_us == UINT64_MAX || stage->arrival_us + play->leaves_us >= next_us) {
        return false;
    }
    stage_leave(stage);
    return true;
}

static void stage_play(struct stage *stage)
{
    size_t moment = 0;

    while (stage->result->replies == 0 && !stage_pass(stage, &moment)) {
        if (!virtual_world_step(&stage->virtual)) {
            play_blame(stage->result, "the search never ended");
            return;
        }
    }
}

/// What the store has in the end; then it forgets, so that what is lost can be told.
static void stage_count_store(struct stage *stage)
{
    struct virtual_world *virtual = &stage->virtual;
    struct play_result *result = stage->result;

    result->keeps = virtual->store.kept;
    result->reads = virtual->store.reads;
    for (size_t i = 0; i < stage->play->supplier_count; i++) {
        result->kept[i].is_there = virtual_store_find(virtual, i, &result->kept[i].head);
    }
    virtual_store_forget(virtual);
}

/// What is still out when the search is over, then what is lost when all script calls are back.
static void stage_count(struct stage *stage)
{
    struct play_result *result = stage->result;
    struct virtual_world *virtual = &stage->virtual;

    while (virtual->world.over != NULL && virtual_world_step(virtual)) {
    }
    if (virtual->world.over != NULL) {
        play_blame(result, "an attempt lingers for ever");
        linger_stop(&virtual->world);
    } else if (virtual->world.lingering > 0) {
        play_blame(result, "%u attempts that linger are still counted", virtual->world.lingering);
    }
    result->untold = virtual_health_untold(virtual);
    result->extra_untold = virtual_extra_untold(virtual);
    for (size_t i = 0; i < stage->play->supplier_count; i++) {
        const struct virtual_extra *extra = &virtual->extra[i];
        struct play_extra *kept = &result->extra[i];
        memcpy(kept->granted, extra->granted, sizeof(kept->granted));
        memcpy(kept->told, extra->told, sizeof(kept->told));
        kept->loser_us = extra->loser_us;
        kept->refused = extra->refused;
    }
    memcpy(result->health, virtual->health, stage->play->supplier_count * sizeof(*result->health));
    for (size_t i = 0; i < stage->play->supplier_count; i++) {
        result->health[i].known = NULL; // the world's
        result->health[i].knowledge = NULL;
    }
    result->requests = virtual->fetches_started;
    result->reasks = virtual->reasks;
    result->fetches = virtual->fetches_running;
    result->permits = virtual_world_permits(virtual);
    result->timers = virtual_world_search_timers(virtual);
    result->calls = virtual_world_search_calls(virtual);
    result->logins = virtual_logins_fetched(virtual);
    result->waits = virtual_logins_waiting(virtual);
    result->store_calls = virtual_world_store_calls(virtual);
    if (result->fetches + result->timers + result->calls + result->waits + result->store_calls == 0) {
        while (virtual_world_step(virtual)) {
        }
    }
    stage_count_store(stage);
    result->references = virtual_world_references(virtual) + block_is_shared(stage->body);
    result->references += atomic_load(&stage->ground.holds) - 1;
}

static void stage_fini(struct stage *stage)
{
    virtual_world_fini(&stage->virtual);
    block_release(&stage->body);
    for (size_t i = 0; i < stage->result->event_count; i++) {
        stage->fold.kept[i] = NULL; // the result's now
    }
    fold_fini(&stage->fold);
}

void play_run(const struct play *play, bool is_stream, struct play_result *result)
{
    static struct stage kept; // large, and used by one play at a time
    struct stage *stage = &kept;

    *result = (struct play_result){ .is_stream = is_stream };
    buffer_init(&result->violations, VIOLATIONS_MAX);
    stage->play = play;
    stage->result = result;
    stage->search = NULL;
    stage->has_left = false;
    stage->body = block_create(TEXT("{}"));
    require(stage->body != NULL);
    memset(stage->outcomes_told, 0, sizeof(stage->outcomes_told));
    fold_init(&stage->fold);
    stage_fill(stage);
    stage->arrival_us = stage->virtual.now_us;
    result->was_started = stage_search(stage) == STATUS_OK;
    if (result->was_started) {
        stage_play(stage);
    }
    stage_count(stage);
    stage_check(stage);
    if (result->event_count > 0 && result->status == 200 && result->replies == 1) {
        result->fold = fold_result(&stage->fold, text_of(result->body));
    }
    stage_fini(stage);
}

void play_result_fini(struct play_result *result)
{
    for (size_t i = 0; i < result->event_count; i++) {
        free(result->events[i].json);
    }
    for (size_t i = 0; i < PLAY_MOMENTS_MAX; i++) {
        search_record_destroy(&result->moments[i]);
    }
    free(result->events);
    free(result->body);
    free(result->fold);
    search_record_destroy(&result->record);
    buffer_fini(&result->violations);
}

/// The part of a reply that tells of coverage and suppliers.
static struct text summary_of(const char *body)
{
    const char *begin = strstr(body, "\"coverage\":");
    const char *end = begin != NULL ? strstr(begin, "],\"items\":") : NULL;

    end = begin != NULL && end == NULL ? strstr(begin, "],\"order\":") : end;
    end = begin != NULL && end == NULL ? begin + strlen(begin) - 1 : end;
    return (struct text){ begin, begin != NULL ? (size_t)(end - begin) : 0 };
}

/// Without what stands in, which is decided at the end. The caller frees it.
static char *without_last_known(struct text json)
{
    static const char MEMBER[] = ",\"last_known\":{";
    char *copy = strndup(json.data != NULL ? json.data : "", json.length);

    require(copy != NULL);
    for (char *at = strstr(copy, MEMBER); at != NULL; at = strstr(at, MEMBER)) {
        const char *end = strchr(at, '}') + 1;
        memmove(at, end, strlen(end) + 1);
    }
    return copy;
}

/// Each final outcome that was told is the one of the reply, byte for byte.
static void compare_suppliers(const struct play_result *single, struct play_result *stream)
{
    char *summary = without_last_known(summary_of(single->body));

    for (size_t i = 0; i < stream->event_count; i++) {
        const char *begin = strstr(stream->events[i].json, "\"supplier\":{");
        const char *end = begin != NULL ? strstr(begin, ",\"coverage\":") : NULL;
        if (stream->events[i].event != SEARCH_EVENT_SUPPLIER || end == NULL) {
            continue;
        }
        begin += strlen("\"supplier\":");
        char *told = without_last_known((struct text){ begin, (size_t)(end - begin) });
        if (strstr(summary, told) == NULL) {
            play_blame(stream, "a supplier was told as %s, and so the reply does not", told);
        }
        free(told);
    }
    free(summary);
}

void play_compare(const struct play_result *single, struct play_result *stream)
{
    if (single->replies != stream->replies || single->status != stream->status) {
        play_blame(stream, "a stream ends with %u, the single reply with %u", stream->status, single->status);
        return;
    }
    if (single->replied_us != stream->replied_us || single->is_complete != stream->is_complete) {
        play_blame(stream, "a stream differs from the single reply in its time or completeness");
    }
    if (single->replies == 1 && stream->event_count > 0 &&
        !text_equals(summary_of(single->body), summary_of(stream->body))) {
        play_blame(stream, "coverage and suppliers of the stream's end are not those of the single reply");
    }
    if (single->replies == 1) {
        compare_suppliers(single, stream);
    }
    if (stream->fold == NULL || single->body == NULL) {
        return;
    }
    const char *offers = strstr(single->body, "\"items\":");
    size_t length = strlen(stream->fold);
    if (offers == NULL || strlen(offers) != length + 1 || memcmp(offers, stream->fold, length) != 0) {
        play_blame(stream, "the fold of the events is not the single reply");
    }
}
