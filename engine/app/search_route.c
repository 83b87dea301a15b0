#include "app/search_route.h"

#include "app/io_thread.h"
#include "app/problem.h"
#include "app/route_call.h"
#include "app/search_id.h"
#include "app/search_request.h"
#include "app/trace.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A search between its request and the last byte of its reply.
struct search_call {
    struct route_call route;
    struct list node;
    struct io_thread *thread;
    struct http_call *call;
    struct search *search;         // NULL once it has replied
    struct generation *generation; // that it began on; NULL once it has replied: a slow reader keeps none alive
    char search_id[SEARCH_ID_SIZE];
    struct trace trace;
    uint64_t replied_us;
    struct timing_record timing;
    size_t shelf_room;            // what its reply may still put on the shelf of the tokens
    struct search_record *record; // its attribution, once it has replied
    struct search_stream stream;  // format STREAM_NONE: a single reply
};

static void refuse(struct http_call *call, const struct trace *trace, const struct problem *problem)
{
    struct header_pair header = { "traceparent", trace->parent };
    problem_reply(call, problem, &header, 1);
}

static void refuse_busy(struct http_call *call, const struct trace *trace, const char *code, const char *title)
{
    struct header_pair headers[] = { { "traceparent", trace->parent }, { "Retry-After", "1" } };
    struct problem problem;
    problem_init(&problem, 503, code, title);
    problem_reply(call, &problem, headers, COUNT_OF(headers));
}

/// A complete reply without anything cached may be kept for a while by its caller, if the settings say so.
static void print_cache_control(const struct search_call *mine, const struct search_reply *reply, char *out,
                                size_t size)
{
    uint64_t max_age_s = generation_settings(mine->generation)->reply_max_age_us / 1000000;

    if (reply->status == 200 && reply->is_complete && !reply->has_cached && max_age_s > 0) {
        snprintf(out, size, "private, max-age=%llu", (unsigned long long)max_age_s);
    } else {
        snprintf(out, size, "no-store");
    }
}

static void reply_once(struct search_call *mine, const struct search_reply *reply)
{
    char timing[128];
    char cache[48];

    print_cache_control(mine, reply, cache, sizeof cache);
    snprintf(timing, sizeof timing, "total;dur=%.1f, reserve;dur=%.1f, assemble;dur=%.1f", (double)reply->took_us / 1e3,
             (double)reply->reserve_us / 1e3, (double)reply->assemble_us / 1e3);
    struct header_pair headers[] = {
        { "Cache-Control", cache },
        { "Server-Timing", timing },
        { "traceparent", mine->trace.parent },
        { "Search-Complete", reply->is_complete ? "true" : "false" }, // of a search that asked somebody
    };
    struct http_reply http = {
        .status = reply->status,
        .content_type = reply->status == 200 ? "application/json" : "application/problem+json",
        .body = reply->body,
        .headers = headers,
        .header_count = COUNT_OF(headers) - (reply->is_refused ? 1 : 0),
    };
    http_call_reply(mine->call, &http);
}

static void search_route_on_reply(void *owner, const struct search_reply *reply)
{
    struct search_call *mine = owner;

    mine->search = NULL;
    gate_leave(&mine->thread->gate, reply->took_us);
    mine->record = reply->record;
    mine->replied_us = clock_now_us();
    mine->timing.status = reply->status;
    mine->timing.deadline_us = reply->deadline_us; // a rule may have moved it
    mine->timing.reserve_us = (uint32_t)reply->reserve_us;
    mine->timing.timer_late_us = (uint32_t)reply->timer_late_us;
    mine->timing.assemble_us = (uint32_t)reply->assemble_us;
    mine->timing.flags = reply->was_cut_by_budget ? TIMING_CUT_BY_BUDGET : 0;
    if (mine->stream.has_begun) {
        search_stream_end(&mine->stream, block_text(reply->body));
    } else if (reply->body == NULL) {
        refuse_busy(mine->call, &mine->trace, "out_of_memory", "There was no memory for the reply");
    } else {
        reply_once(mine, reply);
    }
    generation_release(&mine->generation);
}

void search_route_end_all(struct io_thread *thread, uint64_t grace_us)
{
    for (struct list *node = thread->calls.next; node != &thread->calls; node = node->next) {
        struct search_call *mine = CONTAINER_OF(node, struct search_call, node);
        if (mine->search != NULL) {
            search_end(&mine->search, grace_us); // its call stays until the reply is sent
        }
    }
}

static void search_route_on_event(void *owner, enum search_event event, struct text json)
{
    struct search_call *mine = owner;
    search_stream_event(&mine->stream, event, json);
}

/// A script that fails must be found in the log, and must not fill it. `script` is the supplier's.
static void complain(struct engine *engine, struct text search_id, struct text supplier, struct text script,
                     enum outcome outcome, struct text detail, const struct failure *trouble)
{
    uint64_t kept_quiet = 0;
    char before[64] = "";

    if (!complaints_admit(&engine->complaints, script, clock_now_us(), &kept_quiet)) {
        return;
    }
    if (kept_quiet > 0) {
        snprintf(before, sizeof before, " kept_quiet=%llu", (unsigned long long)kept_quiet);
    }
    struct text words = detail.length > 0 ? detail : text_of(outcome_row(outcome)->meaning);
    log_line(LOG_WARNING, "script", "supplier `%.*s`: %s: %.*s search=%.*s%s", TEXT_ARGS(supplier),
             outcome_name(outcome), TEXT_ARGS(words), TEXT_ARGS(search_id), before);
    log_failure(LOG_WARNING, "script", trouble);
}

static void search_route_on_script_trouble(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome,
                                           const char *detail, const struct failure *trouble)
{
    const struct search_call *mine = owner;

    complain(mine->thread->engine, text_of(mine->search_id), supplier->name, supplier->script, outcome, text_of(detail),
             trouble);
}

void search_route_on_late(void *context, struct search_record *record, enum outcome spoiled,
                          const struct failure *trouble)
{
    struct io_thread *thread = context;
    const struct search_record_entry *entry = &record->entries[0];

    if (spoiled != OUTCOME_COUNT) {
        complain(thread->engine, record->search_id, entry->name, entry->script, spoiled, entry->detail, trouble);
    }
    engine_attribute(thread->engine, record);
}

static void search_call_free(struct search_call *mine)
{
    generation_release(&mine->generation);
    search_record_destroy(&mine->record);
    search_stream_fini(&mine->stream);
    http_call_set_owner(mine->call, NULL);
    list_remove(&mine->node);
    free(mine);
}

/// Whatever became of it is told once.
static void search_route_attribute(struct search_call *mine)
{
    struct search_record *record = mine->record;

    mine->record = NULL;
    io_thread_attribute(mine->thread, record);
}

static struct search_call *search_call_of(struct route_call *route)
{
    return CONTAINER_OF(route, struct search_call, route);
}

static void search_route_on_gone(struct io_thread *thread, struct route_call *route)
{
    struct search_call *mine = search_call_of(route);

    if (mine->search != NULL) {
        mine->record = search_record_gone(mine->search);
        gate_leave(&thread->gate, clock_now_us() - mine->timing.arrival_us);
    }
    search_cancel(&mine->search);
    search_route_attribute(mine);
    search_call_free(mine);
}

static void search_route_on_sent(struct io_thread *thread, struct route_call *route, uint64_t sent_us, bool was_sent,
                                 bool was_slow)
{
    struct search_call *mine = search_call_of(route);
    struct timing_record *timing = &mine->timing;
    if (was_sent && !was_slow && (timing->flags & TIMING_CUT_BY_BUDGET) != 0) {
        uint64_t written_us = sent_us - mine->replied_us;
        reserve_learn(&thread->reserve, timing->timer_late_us + timing->assemble_us + written_us, sent_us);
    }
    if (was_sent && sent_us > timing->deadline_us) {
        log_line(LOG_WARNING, "search", "reply after its deadline search=%s late_us=%llu client_slow=%d",
                 mine->search_id, (unsigned long long)(sent_us - timing->deadline_us), was_slow);
    }
    timing->sent_us = sent_us;
    timing->flags = (uint16_t)(timing->flags | (was_sent ? TIMING_SENT : 0) | (was_slow ? TIMING_CLIENT_SLOW : 0));
    timing_add(&thread->engine->timing, timing);
    if (mine->record != NULL) {
        mine->record->was_sent = was_sent;
        mine->record->was_client_slow = was_slow;
        mine->record->sent_us = was_sent ? sent_us - timing->arrival_us : 0;
    }
    search_route_attribute(mine);
    search_call_free(mine);
}

static const struct route_call_kind SEARCH_CALL = { search_route_on_gone, search_route_on_sent };

static bool search_route_on_seal(void *owner, const struct search_seal *seal, struct buffer *token)
{
    struct search_call *mine = owner;

    return tokens_seal(&mine->thread->engine->tokens, seal, io_thread_store(mine->thread), clock_wall_us() / 1000,
                       generation_settings(mine->generation)->offer_life_us, &mine->shelf_room, token);
}

static struct search_options make_options(struct search_call *mine, const struct search_request *request)
{
    struct io_thread *thread = mine->thread;
    const struct settings *settings = generation_settings(mine->generation);
    const struct envelope *envelope = &request->envelope;

    return (struct search_options){
        .world = &thread->live.world,
        .catalogue = generation_catalogue(mine->generation),
        .search_id = text_of(mine->search_id),
        .product = envelope->product,
        .caller = request->caller,
        .trace_id = text_of(mine->trace.id),
        .body = http_call_body(mine->call),
        .arrival_us = http_call_arrival_us(mine->call),
        .arrival_wall_us = http_call_arrival_wall_us(mine->call),
        .budget = request->budget,
        .reserve_us = reserve_for(&thread->reserve, request->budget.effective_us),
        .reserve_wish_us = reserve_wish(&thread->reserve),
        .only = envelope->has_suppliers ? envelope->suppliers : NULL,
        .only_count = envelope->supplier_count,
        .sort = envelope->sort,
        .indicative = envelope->indicative,
        .max_items = envelope->max_items > 0 ? envelope->max_items : settings->max_items,
        .max_offers_per_item =
            envelope->max_offers_per_item > 0 ? envelope->max_offers_per_item : settings->max_offers_per_item,
        .whole_or_nothing = envelope->whole_or_nothing,
        .is_test = envelope->is_test,
        .detail = request->detail,
        .on_event = mine->stream.format != STREAM_NONE ? search_route_on_event : NULL,
        .wants_record = true,
        .on_script_trouble = search_route_on_script_trouble,
        .on_reply = search_route_on_reply,
        .on_seal = thread->engine->tokens.is_on ? search_route_on_seal : NULL,
        .owner = mine,
    };
}

/// On this generation, which it holds for itself.
static void search_route_start(struct io_thread *thread, struct http_call *call, const struct search_request *request,
                               struct generation *generation, const struct trace *trace)
{
    struct search_call *mine = calloc(1, sizeof *mine);

    if (mine == NULL) {
        refuse_busy(call, trace, "out_of_memory", "There was no memory for the search");
        return;
    }
    mine->thread = thread;
    mine->call = call;
    mine->shelf_room = HIDDEN_SHELF_OF_REPLY;
    mine->generation = generation;
    mine->trace = *trace;
    search_id_make(mine->search_id, http_call_arrival_wall_us(call));
    search_stream_init(&mine->stream, thread->loop, call, request->format);
    struct search_options options = make_options(mine, request);
    search_stream_head(&mine->stream, mine->trace.parent, options.reserve_us);
    mine->timing.arrival_us = options.arrival_us;
    mine->timing.deadline_us = options.arrival_us + options.budget.effective_us;
    mine->timing.reserve_us = (uint32_t)options.reserve_us;
    if (clock_now_us() >= mine->timing.deadline_us - options.reserve_us) {
        struct problem problem;
        free(mine);
        problem_init(&problem, 504, "too_late", "The body was complete only when the budget was spent");
        refuse(call, trace, &problem);
        return;
    }
    if (search_start(&options, &mine->search) != STATUS_OK) {
        free(mine);
        refuse_busy(call, trace, "overloaded", "The search could not be started");
        return;
    }
    gate_enter(&thread->gate);
    generation_acquire(generation);
    list_append(&thread->calls, &mine->node);
    mine->route = (struct route_call){ &SEARCH_CALL };
    http_call_set_owner(call, &mine->route);
}

void search_route_handle(struct io_thread *thread, struct http_call *call)
{
    const struct http_reply *refusal = search_refusal_ask(thread, call);
    struct search_request request;
    struct problem problem;
    struct trace trace;

    if (refusal != NULL) {
        http_call_reply(call, refusal);
        return;
    }
    trace_of_call(&trace, call);
    struct generation *generation = engine_generation(thread->engine); // one for all that follows
    search_request_init(&request);
    if (search_request_read(&request, thread->engine, generation, call, &problem)) {
        search_route_start(thread, call, &request, generation, &trace);
    } else {
        refuse(call, &trace, &problem);
    }
    search_request_fini(&request);
    generation_release(&generation);
}
