#include "support/virtual_supplier.h"

#include "model/ask_call.h"
#include "model/request_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A request names its behaviour by number, and the login that it was made with: "http://s/NUMBER/PART/STEP/LOGIN". The
// body of the answer repeats step and login.

enum { URL_MAX = 64 };

static const struct virtual_supplier *supplier_find(const struct virtual_world *virtual, struct text name)
{
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        if (text_equals_c(name, virtual->suppliers[i].name)) {
            return &virtual->suppliers[i];
        }
    }
    require(false);
    return NULL;
}

size_t virtual_supplier_index(const struct virtual_world *virtual, const struct script_account *account)
{
    return (size_t)(supplier_find(virtual, account->name) - virtual->suppliers);
}

/// What happens at one exchange: the supplier's own fields where it has no steps.
static struct virtual_step step_of(const struct virtual_supplier *supplier, uint32_t part, uint32_t step)
{
    for (size_t i = 0; i < supplier->step_count; i++) {
        if (supplier->steps[i].part == part && supplier->steps[i].step == step) {
            return supplier->steps[i];
        }
    }
    require(supplier->step_count == 0);
    return (struct virtual_step){
        .part = part,
        .step = step,
        .result = supplier->result,
        .after_us = supplier->after_us,
        .hangs = supplier->hangs,
        .normalise = supplier->normalise,
        .offers = supplier->offers,
        .refused_logins = supplier->refused_logins,
    };
}

static char *write_number(char *at, size_t number)
{
    char digits[24];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static struct http_request *request_make(const struct virtual_world *virtual, const struct virtual_supplier *supplier,
                                         uint32_t part, uint32_t step, uint64_t login)
{
    static const char BEGIN[] = "http://s/";
    char url[URL_MAX];
    char *at = url;

    memcpy(at, BEGIN, sizeof(BEGIN) - 1);
    at = write_number(at + sizeof(BEGIN) - 1, (size_t)(supplier - virtual->suppliers));
    *at++ = '/';
    at = write_number(at, part);
    *at++ = '/';
    at = write_number(at, step);
    *at++ = '/';
    at = write_number(at, login);
    struct http_request values = { .method = TEXT("GET"), .url = { url, (size_t)(at - url) } };
    struct http_request *request = http_request_create(&values);
    require(request != NULL);
    request->signed_us = supplier->signs && step == 1 ? virtual->now_us : 0;
    return request;
}

/// Of all parts, chained.
static struct http_request *request_make_all(const struct virtual_world *virtual,
                                             const struct virtual_supplier *supplier, uint64_t login)
{
    struct http_request *requests = NULL;
    struct http_request **end = &requests;

    for (uint32_t part = 1; part <= (supplier->parts != 0 ? supplier->parts : 1); part++) {
        *end = request_make(virtual, supplier, part, 1, login);
        end = &(*end)->next;
    }
    return requests;
}

static uint32_t read_number(struct text *rest)
{
    uint64_t number = 0;
    require(text_to_u64(text_split(*rest, '/', rest), &number));
    return (uint32_t)number;
}

const struct virtual_supplier *virtual_supplier_of(const struct virtual_world *virtual,
                                                   const struct http_request *request, struct virtual_step *step)
{
    struct text rest = { request->url.data + 9, request->url.length - 9 };
    uint32_t number = read_number(&rest);
    uint32_t part = read_number(&rest);
    require(number < virtual->supplier_count);
    const struct virtual_supplier *supplier = &virtual->suppliers[number];
    *step = step_of(supplier, part, read_number(&rest));
    return supplier;
}

// Everything that is counted is held to the end.

static bool has_room(size_t count, size_t *capacity, void **items)
{
    if (count < *capacity) {
        return true;
    }
    *capacity = *capacity == 0 ? 32 : 2 * *capacity;
    *items = realloc(*items, *capacity * sizeof(void *));
    return *items != NULL;
}

static struct block *make_block(struct virtual_world *virtual, struct text text)
{
    void *items = virtual->blocks;
    struct block *block = block_create(text);
    require(block != NULL && has_room(virtual->block_count, &virtual->block_capacity, &items));
    virtual->blocks = items;
    virtual->blocks[virtual->block_count++] = block_acquire(block);
    return block;
}

void virtual_supplier_note(struct virtual_world *virtual, struct offer_batch *batch)
{
    void *items = virtual->batches;
    require(has_room(virtual->batch_count, &virtual->batch_capacity, &items));
    virtual->batches = items;
    virtual->batches[virtual->batch_count++] = offer_batch_acquire(batch);
}

void virtual_supplier_respond(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                              const struct virtual_step *step, uint32_t number, struct fetch *fetch)
{
    char body[URL_MAX];
    char *at = body;

    fetch->response = http_response_create();
    require(fetch->response != NULL);
    uint16_t status = step->status != 0 ? step->status : supplier->status;
    fetch->response->status = status != 0 ? status : 200;
    struct text rest = { fetch->request->url.data + 9, fetch->request->url.length - 9 };
    (void)read_number(&rest);
    (void)read_number(&rest);
    memcpy(at, rest.data, rest.length);
    at += rest.length;
    *at++ = '/';
    at = write_number(at, number);
    fetch->response->body = make_block(virtual, (struct text){ body, (size_t)(at - body) });
    if (step->says_wait) {
        fetch->response->headers = calloc(1, sizeof(*fetch->response->headers));
        require(fetch->response->headers != NULL);
        fetch->response->headers[0] = (struct header){ TEXT("retry-after"), TEXT("1") };
        fetch->response->header_count = 1;
    }
}

void virtual_step_take_number(struct virtual_step *step, uint32_t number)
{
    const struct virtual_second *second = &step->second;

    if (number < 2 || !second->is_given) {
        return;
    }
    step->result = second->result;
    step->status = second->status;
    step->phase = second->phase;
    step->after_us = second->after_us;
    step->connect_us = second->connect_us;
    step->hangs = second->hangs;
    step->normalise = second->normalise;
    step->offers = second->offers;
    step->says_wait = false;
}

/// What its ceiling reads of the progress: all that its conditions ask for, else the time.
static uint32_t reads_of(const struct virtual_supplier *supplier)
{
    uint32_t reads = 0;

    for (size_t i = 0; i < supplier->again_count; i++) {
        const struct virtual_ceiling *again = &supplier->again[i];
        reads |= again->after_us > 0 ? PROGRESS_TIME : 0;
        reads |= again->offers > 0 ? PROGRESS_OFFERS : 0;
        reads |= again->answered > 0 ? PROGRESS_ANSWERED : 0;
    }
    return supplier->again_count > 0 && reads == 0 ? PROGRESS_TIME : reads;
}

static void answer_ceiling(const struct virtual_supplier *supplier, const struct search_progress *progress,
                           struct ceiling_ask *ask)
{
    bool fails = false;

    ask->script_us = supplier->ceiling_us;
    for (size_t i = 0; i < supplier->again_count; i++) {
        const struct virtual_ceiling *again = &supplier->again[i];
        if (progress->elapsed_us >= again->after_us && progress->offers >= again->offers &&
            progress->answered >= again->answered) {
            ask->script_us = again->ceiling_us;
            fails = again->fails;
        }
    }
    ask->verdict = fails ? SCRIPT_ERROR : SCRIPT_OK;
    ask->reads = reads_of(supplier);
    snprintf(ask->message, sizeof(ask->message), "%s", fails ? "x.lua:1: oops" : "");
}

static void virtual_supplier_ceilings(struct virtual_world *virtual, struct ceiling_call *ceilings)
{
    struct search_progress progress = ceilings->progress;

    progress.elapsed_us = virtual->now_us - ceilings->times.arrival_us;
    progress.remaining_us = ceilings->times.end_us > virtual->now_us ? ceilings->times.end_us - virtual->now_us : 0;
    for (size_t i = 0; i < ceilings->ask_count; i++) {
        require(ceilings->asks[i].supplier < virtual->supplier_count);
        answer_ceiling(&virtual->suppliers[ceilings->asks[i].supplier], &progress, &ceilings->asks[i]);
    }
}

static void fill_candidate(struct virtual_world *virtual, const struct start_call *start,
                           struct start_candidate *candidate)
{
    const struct virtual_supplier *supplier = supplier_find(virtual, candidate->account->name);

    if (!start_candidate_choose(candidate, TEXT(""))) {
        candidate->verdict = SCRIPT_SKIPPED;
        candidate->message = TEXT("no account");
        return;
    }
    if (candidate->is_dark && !start->asks_dark) {
        return;
    }
    candidate->verdict = supplier->start;
    candidate->message = text_of(supplier->because != NULL ? supplier->because : "because");
    candidate->ceiling = start_candidate_ceiling(start, candidate, supplier->ceiling_us);
    candidate->progress_reads = ceiling_terms_ask_script(&candidate->terms) ? reads_of(supplier) : 0;
    if (supplier->start != SCRIPT_OK) {
        return;
    }
    if (!supplier->logs_in) {
        candidate->request = request_make_all(virtual, supplier, 0);
        return;
    }
    if (candidate->login->value != NULL) {
        candidate->request = request_make_all(virtual, supplier, candidate->login->number);
    }
}

static void virtual_supplier_start(struct virtual_world *virtual, struct start_call *start)
{
    if (start->facts != NULL) { // the product has spoken in an earlier call
        for (size_t i = 0; i < start->candidate_count; i++) {
            fill_candidate(virtual, start, &start->candidates[i]);
        }
        return;
    }
    start->product_verdict = virtual->product;
    if (virtual->product == SCRIPT_FAIL_UNEXPECTED) {
        start->errors = make_block(virtual, TEXT("[{\"pointer\":\"/query\",\"code\":\"bad\",\"detail\":\"no\"}]"));
    }
    if (virtual->product != SCRIPT_OK) {
        snprintf(start->message, sizeof(start->message), "the product failed");
        return;
    }
    start->facts = make_block(virtual, TEXT("{}"));
    memcpy(start->currency, "EUR", 4);
    if (virtual->store.given.is_on && virtual->store.given.key != NULL) {
        start->key = make_block(virtual, text_of(virtual->store.given.key));
    }
    if (start->rules != NULL) {
        start_call_take_facts(start, virtual->facts);
    }
    for (size_t i = 0; i < start->candidate_count; i++) {
        fill_candidate(virtual, start, &start->candidates[i]);
    }
}

/// PREFIX, the separator unless 0, NUMBER.
static struct text write_name(char *at, const char *prefix, char separator, uint32_t number)
{
    size_t length = strlen(prefix);

    memcpy(at, prefix, length);
    char *end = at + length;
    if (separator != 0) {
        *end++ = separator;
    }
    end = write_number(end, number);
    return (struct text){ at, (size_t)(end - at) };
}

static void fill_offer(struct arena *arena, const struct virtual_supplier *supplier, uint32_t number,
                       struct offer *offer)
{
    const char *items = supplier->item_prefix != NULL ? supplier->item_prefix : supplier->name;
    size_t room = 2 * (strlen(items) + strlen(supplier->name)) + 96;
    char *at = arena_alloc(arena, room);

    require(at != NULL);
    *offer = (struct offer){ .flag = supplier->flag,
                             .total_micros = supplier->cheapest_micros + (int64_t)number * OFFER_MICROS,
                             .duration_min = supplier->minutes != 0 ? supplier->minutes : UINT32_MAX };
    memcpy(offer->currency, "EUR", 4);
    offer->item = write_name(at, items, 0, number);
    offer->item_json = supplier->item_json.data != NULL ? supplier->item_json
                       : supplier->is_odd               ? TEXT("{\"odd\":true}")
                                                        : TEXT("{}");
    at += offer->item.length;
    struct text full = write_name(at, supplier->name, ':', number);
    size_t prefix = strlen(supplier->name) + 1;
    offer->id = (struct text){ full.data + prefix, full.length - prefix };
    at += full.length;
    static const char *const WORDS[] = { "{\"id\":\"", "\",\"item\":\"", "\"}" };
    const struct text pieces[] = { text_of(WORDS[0]), full, text_of(WORDS[1]), offer->item, text_of(WORDS[2]) };
    offer->json.data = at;
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        memcpy(at, pieces[i].data, pieces[i].length);
        at += pieces[i].length;
    }
    offer->json.length = (size_t)(at - offer->json.data);
    offer->head_length = (uint32_t)offer->json.length - 1;
}

/// Each offer has two values: the house that sells it, and a kind, which is the last digit of its number.
static void mark_offer(struct offer_batch *batch, const struct virtual_supplier *supplier, uint32_t number,
                       struct offer *offer)
{
    uint16_t *marks = arena_alloc_array(&batch->arena, 2, sizeof(*marks));
    char digit = (char)('0' + number % 10);
    ptrdiff_t house = facet_table_find(&batch->facets, &batch->arena, 0, text_of(supplier->name), true);
    ptrdiff_t kind = facet_table_find(&batch->facets, &batch->arena, 1, (struct text){ &digit, 1 }, false);

    require(marks != NULL && house >= 0 && kind >= 0);
    marks[0] = (uint16_t)house;
    marks[1] = (uint16_t)kind;
    offer->marks = marks;
    offer->mark_count = 2;
    for (size_t i = 0; i < 2; i++) {
        facet_value_count(&batch->facets.values[marks[i]], offer_comparable_micros(offer));
    }
}

struct offer_batch *virtual_supplier_offers(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                                            const struct virtual_step *step)
{
    struct offer_batch *batch = offer_batch_create(1 << 20);

    require(batch != NULL);
    virtual_supplier_note(virtual, batch);
    batch->offers = arena_alloc_array(&batch->arena, step->offers, sizeof(*batch->offers));
    require(batch->offers != NULL);
    const struct text facets[] = { TEXT("house"), TEXT("kind") };
    require(facet_table_open(&batch->facets, &batch->arena, facets, COUNT_OF(facets)));
    batch->decimals = 2;
    for (uint32_t i = step->first_id; i < step->first_id + step->offers; i++) {
        struct offer *offer = &batch->offers[batch->count++];
        fill_offer(&batch->arena, supplier, i, offer);
        mark_offer(batch, supplier, i, offer);
    }
    facet_table_close(&batch->facets);
    batch->dropped = step->dropped;
    if (step->dropped > 0) {
        snprintf(batch->dropped_first, sizeof(batch->dropped_first), "offers[0]: no total");
    }
    offer_batch_sort(batch);
    return batch;
}

static void fill_words(struct normalise_call *normalise, const struct virtual_step *step)
{
    bool says_when = normalise->verdict == SCRIPT_FAIL_QUOTA || normalise->verdict == SCRIPT_FAIL_BUSY ||
                     step->status == 429 || step->status == 503; // as scripts and headers do
    normalise->retry_after_ms = says_when ? step->retry_after_ms : 0;
    normalise->is_told_empty = step->is_told_empty;
    normalise->is_quota_used = step->is_quota_used;
    normalise->quota_wait_ms = step->is_quota_used ? step->retry_after_ms : 0;
    normalise->warning_count = step->warnings;
    if (step->warnings > 0) {
        snprintf(normalise->warning, sizeof(normalise->warning), "a warning");
    }
    if (step->code != NULL) {
        snprintf(normalise->code, sizeof(normalise->code), "%s", step->code);
    }
    if (step->message != NULL) {
        snprintf(normalise->message, sizeof(normalise->message), "%s", step->message);
    }
}

static void virtual_supplier_normalise(struct virtual_world *virtual, struct normalise_call *normalise)
{
    const struct virtual_supplier *supplier = supplier_find(virtual, normalise->account->name);
    struct virtual_step step = step_of(supplier, normalise->part, normalise->step);

    struct text rest = block_text(normalise->response->body);
    if (read_number(&rest) != normalise->step) {
        virtual_world_blame(virtual, "an answer to another step was normalised");
    }
    uint32_t login = read_number(&rest);
    virtual_step_take_number(&step, read_number(&rest));
    normalise->verdict = step.normalise;
    normalise->merge = step.merge;
    normalise->is_incomplete = step.is_incomplete;
    fill_words(normalise, &step);
    if (supplier->logs_in && login <= step.refused_logins) {
        normalise->verdict = SCRIPT_FAIL_LOGIN;
        return;
    }
    if (step.normalise == SCRIPT_OK) {
        normalise->offers = virtual_supplier_offers(virtual, supplier, &step);
    }
    if (step.has_next) {
        char state[24];
        // The state travels: each step's is the number of the step that left it.
        struct text was = block_text(normalise->state);
        uint64_t left_by = 0;
        require(normalise->step == 1 ? was.data == NULL : text_to_u64(was, &left_by));
        require(left_by == normalise->step - 1);
        *write_number(state, normalise->step) = '\0';
        normalise->next = (struct next_step){
            .request = request_make(virtual, supplier, normalise->part, normalise->step + 1, normalise->login.number),
            .after_us = step.next_after_us,
            .state = make_block(virtual, text_of(state)),
        };
    }
}

static void virtual_supplier_rebuild(struct virtual_world *virtual, struct request_call *request)
{
    const struct virtual_supplier *supplier = supplier_find(virtual, request->account->name);

    request->verdict = supplier->rebuilt;
    if (supplier->rebuilt != SCRIPT_OK) {
        return;
    }
    if (request->job == REQUEST_BUILD) {
        request->request = request_make_all(virtual, supplier, request->login.number);
    } else {
        request->request->signed_us = virtual->now_us;
    }
}

/// Another step, or another part, which gets what this one leaves.
static void ask_on(struct virtual_world *virtual, const struct virtual_supplier *supplier, struct ask_call *ask,
                   const struct virtual_step *step)
{
    char state[24];
    struct text was = block_text(ask->state);
    uint64_t left_by = 0;

    // The state travels: each one's is the number of the step that left it, a hundred more for each part.
    bool is_first = ask->part == 1 && ask->step == 1;
    require(is_first ? was.data == NULL : text_to_u64(was, &left_by));
    require(ask->step == 1 || left_by == ask->part * 100 + ask->step - 1);
    require(is_first || ask->step > 1 || left_by / 100 == ask->part - 1);
    *write_number(state, ask->part * 100 + ask->step) = '\0';
    ask->next.state = make_block(virtual, text_of(state));
    ask->next.after_us = step->next_after_us;
    if (step->has_next) {
        ask->next.request = request_make(virtual, supplier, ask->part, ask->step + 1, ask->login.number);
    }
}

/// The halves of a revalidation: its requests are those of the first exchanges, its answers are read as theirs are.
static void virtual_supplier_ask(struct virtual_world *virtual, struct ask_call *ask)
{
    const struct virtual_supplier *supplier = supplier_find(virtual, ask->account->name);

    require(ask->what != ASK_CEILING);
    if (ask->what == ASK_REVALIDATE_REQUEST) {
        ask->verdict = supplier->rebuilt;
        ask->request = supplier->rebuilt == SCRIPT_OK ? request_make_all(virtual, supplier, ask->login.number) : NULL;
        return;
    }
    struct virtual_step step = step_of(supplier, ask->part, ask->step);
    struct text rest = block_text(ask->response->body);
    if (read_number(&rest) != ask->step) {
        virtual_world_blame(virtual, "an answer to another step was read");
    }
    bool is_refused = supplier->logs_in && read_number(&rest) <= step.refused_logins;
    ask->verdict = is_refused ? SCRIPT_FAIL_LOGIN : step.normalise;
    ask->retry_after_ms = step.retry_after_ms;
    if (ask->verdict == SCRIPT_OK && (step.has_next || ask->part < ask->parts)) {
        ask_on(virtual, supplier, ask, &step);
    } else if (ask->verdict == SCRIPT_OK) {
        ask->result = make_block(virtual, TEXT("{\"status\":\"confirmed\"}"));
    }
}

void virtual_supplier_run(struct virtual_world *virtual, struct script_call *call)
{
    switch (call->kind) {
    case SCRIPT_CALL_START:
        virtual_supplier_start(virtual, CONTAINER_OF(call, struct start_call, call));
        break;
    case SCRIPT_CALL_NORMALISE:
        virtual_supplier_normalise(virtual, CONTAINER_OF(call, struct normalise_call, call));
        break;
    case SCRIPT_CALL_REQUEST:
        virtual_supplier_rebuild(virtual, CONTAINER_OF(call, struct request_call, call));
        break;
    case SCRIPT_CALL_CEILING:
        virtual_supplier_ceilings(virtual, CONTAINER_OF(call, struct ceiling_call, call));
        break;
    case SCRIPT_CALL_ASK:
        virtual_supplier_ask(virtual, CONTAINER_OF(call, struct ask_call, call));
        break;
    case SCRIPT_CALL_LOGIN:
        require(false); // a virtual login is no script call
    }
}

uint64_t virtual_supplier_script_us(const struct virtual_world *virtual, struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_START) {
        return virtual->start_us;
    }
    if (call->kind == SCRIPT_CALL_REQUEST) {
        return supplier_find(virtual, CONTAINER_OF(call, struct request_call, call)->account->name)->rebuild_us;
    }
    if (call->kind == SCRIPT_CALL_CEILING) {
        return virtual->reask_us;
    }
    if (call->kind == SCRIPT_CALL_ASK) {
        const struct ask_call *ask = CONTAINER_OF(call, struct ask_call, call);
        const struct virtual_supplier *asked = supplier_find(virtual, ask->account->name);
        return ask->what == ASK_REVALIDATE_REQUEST ? asked->rebuild_us : asked->normalise_us;
    }
    struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);
    const struct virtual_supplier *supplier = supplier_find(virtual, normalise->account->name);
    struct virtual_step step = step_of(supplier, normalise->part, normalise->step);
    return step.normalise_us != 0 ? step.normalise_us : supplier->normalise_us;
}

void virtual_supplier_drop(struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_NORMALISE) {
        CONTAINER_OF(call, struct normalise_call, call)->verdict = SCRIPT_DROPPED;
        return;
    }
    if (call->kind == SCRIPT_CALL_REQUEST) {
        CONTAINER_OF(call, struct request_call, call)->verdict = SCRIPT_DROPPED;
        return;
    }
    if (call->kind == SCRIPT_CALL_CEILING || call->kind == SCRIPT_CALL_ASK) {
        return; // its questions were born so
    }
    struct start_call *start = CONTAINER_OF(call, struct start_call, call);
    start->product_verdict = SCRIPT_DROPPED;
    for (size_t i = 0; i < start->candidate_count; i++) {
        start->candidates[i].verdict = SCRIPT_DROPPED;
    }
}
