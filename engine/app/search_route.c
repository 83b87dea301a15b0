#include "app/search_route.h"

#include "app/envelope.h"
#include "app/io_thread.h"
#include "app/search_id.h"
#include "app/search_stream.h"
#include "base/clock.h"
#include "base/log.h"
#include "search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 80 };

/// A search between its request and the last byte of its reply.
struct search_call {
    struct list node;
    struct io_thread *thread;
    struct http_call *call;
    struct search *search; // NULL once it has replied
    char search_id[SEARCH_ID_SIZE];
    uint64_t replied_us;
    struct timing_record timing;
    struct search_record *record; // its attribution, once it has replied
    struct search_stream stream;  // format STREAM_NONE: a single reply
};

static void refuse_busy(struct http_call *call, const char *code, const char *title)
{
    struct header_pair header = { "Retry-After", "1" };
    struct problem problem;
    problem_init(&problem, 503, code, title);
    routes_reply_problem(call, &problem, &header);
}

static void search_route_on_reply(void *owner, const struct search_reply *reply)
{
    struct search_call *mine = owner;
    char timing[128];

    mine->search = NULL;
    mine->record = reply->record;
    mine->replied_us = clock_now_us();
    mine->timing.status = reply->status;
    mine->timing.timer_late_us = (uint32_t)reply->timer_late_us;
    mine->timing.assemble_us = (uint32_t)reply->assemble_us;
    mine->timing.flags = reply->was_cut_by_budget ? TIMING_CUT_BY_BUDGET : 0;
    if (mine->stream.has_begun) {
        search_stream_end(&mine->stream, block_text(reply->body));
        return;
    }
    if (reply->body == NULL) {
        refuse_busy(mine->call, "out_of_memory", "There was no memory for the reply");
        return;
    }
    snprintf(timing, sizeof timing, "total;dur=%.1f, reserve;dur=%.1f, assemble;dur=%.1f", (double)reply->took_us / 1e3,
             (double)reply->reserve_us / 1e3, (double)reply->assemble_us / 1e3);
    struct header_pair headers[] = {
        { "Cache-Control", "no-store" },
        { "Server-Timing", timing },
        { "Search-Complete", reply->is_complete ? "true" : "false" },
    };
    struct http_reply http = {
        .status = reply->status,
        .content_type = reply->status == 200 ? "application/json" : "application/problem+json",
        .body = reply->body,
        .headers = headers,
        .header_count = reply->status == 200 || reply->status == 504 ? 3 : 1,
    };
    http_call_reply(mine->call, &http);
}

static void search_route_on_event(void *owner, enum search_event event, struct text json)
{
    struct search_call *mine = owner;
    search_stream_event(&mine->stream, event, json);
}

/// A script that fails must be found in the log, and must not fill it.
static void search_route_on_script_trouble(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome,
                                           const char *detail)
{
    const struct search_call *mine = owner;
    struct engine *engine = mine->thread->engine;
    size_t index = (size_t)(supplier - generation_catalogue(engine->generation)->suppliers);
    uint64_t kept_quiet = 0;
    char before[64] = "";

    if (!complaints_admit(&engine->complaints, index, clock_now_us(), &kept_quiet)) {
        return;
    }
    if (kept_quiet > 0) {
        snprintf(before, sizeof before, " kept_quiet=%llu", (unsigned long long)kept_quiet);
    }
    log_line(LOG_WARNING, "script", "supplier `%.*s`: %s: %s search=%s%s", TEXT_ARGS(supplier->name),
             outcome_name(outcome), detail[0] != '\0' ? detail : outcome_row(outcome)->meaning, mine->search_id,
             before);
}

static void search_call_free(struct search_call *mine)
{
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

void search_route_on_gone(void *context, struct http_call *call)
{
    struct search_call *mine = http_call_owner(call);
    (void)context;

    if (mine != NULL) {
        if (mine->search != NULL) {
            mine->record = search_record_gone(mine->search);
        }
        search_cancel(&mine->search);
        search_route_attribute(mine);
        search_call_free(mine);
    }
}

void search_route_on_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct io_thread *thread = context;
    struct search_call *mine = http_call_owner(call);

    if (mine == NULL) {
        return;
    }
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

/// "there is no supplier `sO2`; did you mean `s02`?"
static void refuse_name(struct problem *problem, const char *pointer, const char *kind, struct text name,
                        const struct catalogue *catalogue)
{
    bool is_product = strcmp(kind, "product") == 0;
    size_t count = is_product ? catalogue->product_count : catalogue->supplier_count;
    const char **names = calloc(count + 1, sizeof *names);
    const char *nearest = NULL;
    char code[32];

    for (size_t i = 0; names != NULL && i < count; i++) {
        names[i] = is_product ? catalogue->products[i].data : catalogue->suppliers[i].name.data;
    }
    if (names != NULL) {
        nearest = text_nearest(name, names, count);
    }
    snprintf(code, sizeof code, "unknown_%s", kind);
    problem_add(problem, pointer, code, "there is no %s \"%.*s\"%s%s%s", kind,
                (int)(name.length < NAME_SHOWN ? name.length : NAME_SHOWN), name.data,
                nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                nearest != NULL ? "\"?" : "");
    free(names);
}

/// Every name must exist, be it for this product or not: a typo must not silently ask fewer suppliers.
static bool check_names(const struct catalogue *catalogue, const struct envelope *envelope, struct problem *problem)
{
    bool has_product = false;

    for (size_t i = 0; i < catalogue->product_count; i++) {
        has_product = has_product || text_equals(catalogue->products[i], envelope->product);
    }
    if (!has_product) {
        refuse_name(problem, "/product", "product", envelope->product, catalogue);
    }
    for (size_t i = 0; i < envelope->supplier_count; i++) {
        bool is_known = false;
        for (size_t j = 0; j < catalogue->supplier_count && !is_known; j++) {
            is_known = text_equals(catalogue->suppliers[j].name, envelope->suppliers[i]);
        }
        if (!is_known) {
            char pointer[32];
            snprintf(pointer, sizeof pointer, "/suppliers/%zu", i);
            refuse_name(problem, pointer, "supplier", envelope->suppliers[i], catalogue);
        }
    }
    return problem->error_count == 0;
}

static bool is_json(struct http_call *call)
{
    struct text rest;
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));
    return text_equals_nocase(type, TEXT("application/json"));
}

/// Reads and checks the whole request but for the query itself. False: `problem` says why not.
static bool read_request(struct io_thread *thread, struct http_call *call, struct envelope *envelope,
                         struct problem *problem)
{
    struct text header = http_call_header(call, "search-budget-ms");

    if (!is_json(call)) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        problem_add(problem, "", "unsupported_media_type", "send the header content-type: application/json");
        return false;
    }
    if (!envelope_read(envelope, block_text(http_call_body(call)), problem) ||
        !check_names(generation_catalogue(thread->engine->generation), envelope, problem)) {
        return false;
    }
    if (envelope->whole_or_nothing && stream_format_of(http_call_header(call, "accept")) != STREAM_NONE) {
        problem_add(problem, "/partial", "not_with_a_stream", "a stream is partial by its nature: leave partial out");
        return false;
    }
    if (header.data != NULL) {
        uint64_t budget_ms;
        if (!envelope_read_budget(header, &budget_ms, problem)) {
            return false;
        }
        if (envelope->budget_ms == 0 || budget_ms < envelope->budget_ms) {
            envelope->budget_ms = budget_ms;
        }
    }
    return true;
}

static struct search_options make_options(struct search_call *mine, const struct envelope *envelope)
{
    struct io_thread *thread = mine->thread;
    const struct settings *settings = thread->engine->settings;
    const struct catalogue *catalogue = generation_catalogue(thread->engine->generation);
    uint64_t wished_us = envelope->budget_ms > 0 ? envelope->budget_ms * 1000 : catalogue->deadline_default_us;
    struct budget budget = budget_clamp(wished_us, catalogue->deadline_min_us, catalogue->deadline_max_us);

    return (struct search_options){
        .world = &thread->live.world,
        .catalogue = catalogue,
        .search_id = text_of(mine->search_id),
        .product = envelope->product,
        .body = http_call_body(mine->call),
        .arrival_us = http_call_arrival_us(mine->call),
        .arrival_wall_us = http_call_arrival_wall_us(mine->call),
        .budget = budget,
        .reserve_us = reserve_for(&thread->reserve, budget.effective_us),
        .only = envelope->has_suppliers ? envelope->suppliers : NULL,
        .only_count = envelope->supplier_count,
        .sort = envelope->sort,
        .max_items = envelope->max_items > 0 ? envelope->max_items : settings->max_items,
        .max_offers_per_item =
            envelope->max_offers_per_item > 0 ? envelope->max_offers_per_item : settings->max_offers_per_item,
        .whole_or_nothing = envelope->whole_or_nothing,
        .on_event = mine->stream.format != STREAM_NONE ? search_route_on_event : NULL,
        .wants_record = true,
        .on_script_trouble = search_route_on_script_trouble,
        .on_reply = search_route_on_reply,
        .owner = mine,
    };
}

static void search_route_start(struct io_thread *thread, struct http_call *call, const struct envelope *envelope)
{
    struct search_call *mine = calloc(1, sizeof *mine);

    if (mine == NULL) {
        refuse_busy(call, "out_of_memory", "There was no memory for the search");
        return;
    }
    mine->thread = thread;
    mine->call = call;
    search_stream_init(&mine->stream, thread->loop, call, stream_format_of(http_call_header(call, "accept")));
    search_id_make(mine->search_id, http_call_arrival_wall_us(call));
    struct search_options options = make_options(mine, envelope);
    mine->timing.arrival_us = options.arrival_us;
    mine->timing.deadline_us = options.arrival_us + options.budget.effective_us;
    mine->timing.reserve_us = (uint32_t)options.reserve_us;
    if (clock_now_us() >= mine->timing.deadline_us - options.reserve_us) {
        struct problem problem;
        free(mine);
        problem_init(&problem, 504, "too_late", "The body was complete only when the budget was spent");
        routes_reply_problem(call, &problem, NULL);
        return;
    }
    if (search_start(&options, &mine->search) != STATUS_OK) {
        free(mine);
        refuse_busy(call, "overloaded", "The search could not be started");
        return;
    }
    list_append(&thread->calls, &mine->node);
    http_call_set_owner(call, mine);
}

void search_route_handle(struct io_thread *thread, struct http_call *call)
{
    struct envelope envelope;
    struct problem problem;

    if (atomic_load(&thread->engine->is_draining)) {
        refuse_busy(call, "draining", "This engine is about to stop");
        return;
    }
    envelope_init(&envelope);
    if (read_request(thread, call, &envelope, &problem)) {
        search_route_start(thread, call, &envelope);
    } else {
        routes_reply_problem(call, &problem, NULL);
    }
    envelope_fini(&envelope);
}
