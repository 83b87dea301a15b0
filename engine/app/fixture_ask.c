// What a fixture asks of a supplier beside its search: ceilings at some moment of it, and revalidations of its offers.

#include "app/fixture_match.h"
#include "app/fixture_run.h"

#include "base/json_write.h"
#include "model/ask_call.h"
#include "search/verdict.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 96, INPUT_MAX = 1 << 20 };

/// Where in its revalidation a call stands.
struct turn {
    uint32_t part, parts, step;
    struct block *state; // NULL: none
};

/// An ask call, run; NULL: a finding says that there was no memory. Whoever gets it destroys it.
static struct ask_call *ask(const struct fixture_play *play, const struct turn *turn, enum ask_what what,
                            struct text input, struct http_response *response)
{
    struct block *block = block_create(input);
    struct ask_call *call = block == NULL ? NULL : ask_call_create(what, play->world->facts, block, response);

    block_release(&block);
    if (call == NULL) {
        http_response_destroy(&response);
    } else {
        catalogue_carry(play->subject->catalogue, &call->call);
        call->account = play->account;
        if (play->account->login != 0) {
            call->login = fixture_login_peek(&play->world->login);
        }
        call->times =
            (struct script_times){ play->arrival_us, play->arrival_us + play->budget_us, play->fixture->wall_us };
        call->allocation_end_us = call->times.end_us;
        call->part = turn->part;
        call->parts = turn->parts;
        call->step = turn->step;
        call->state = block_acquire(turn->state);
        if (fixture_world_call(play->world, &call->call)) {
            return call;
        }
        script_call_destroy(&call->call);
    }
    fixture_find(play->fixture, NULL, CODE_NONE, "", "the script could not be asked: out of memory");
    return NULL;
}

// ---- ceilings

/// What is known at the beginning of a search, but for what the fixture says.
static void write_progress(const struct fixture_play *play, const struct json_node *given, struct buffer *out)
{
    static const char *const names[] = { "elapsed_ms", "remaining_ms", "offers", "answered", "eligible" };
    uint64_t elapsed_ms = 0;
    uint64_t values[COUNT_OF(names)] = { 0, play->budget_us / 1000, 0, 0, 1 };
    struct json_writer json;

    if (json_tree_to_u64(json_tree_member(given, "elapsed_ms"), &elapsed_ms)) {
        values[1] = values[1] > elapsed_ms ? values[1] - elapsed_ms : 0;
    }
    json_writer_init(&json, out);
    json_begin_object(&json);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (json_tree_member(given, names[i]) == NULL) {
            json_field_u64(&json, names[i], values[i]);
        }
    }
    for (const struct json_node *at = given == NULL ? NULL : given->first; at != NULL; at = at->next) {
        json_key_text(&json, at->key);
        json_raw(&json, at->source);
    }
    json_end_object(&json);
}

static void check_ceiling(const struct fixture_play *play, const struct json_node *entry, size_t index)
{
    static const char *const names[] = { "about", "progress", "expect_ms" };
    static const char *const progress_names[] = { "elapsed_ms", "remaining_ms", "offers",
                                                  "answered",   "eligible",     "cheapest" };
    struct fixture *fixture = play->fixture;
    const struct json_node *expected = json_tree_member(entry, "expect_ms");
    struct buffer input;
    char path[PATH_SIZE], got[32];

    if (entry->kind != JSON_BEGIN_OBJECT || expected == NULL) {
        fixture_find(fixture, entry, CODE_FIXTURE_FIELD, "", "a ceiling is {progress, expect_ms}");
        return;
    }
    (void)snprintf(path, sizeof(path), "ceilings[%zu].", index);
    fixture_check_members(fixture, entry, path, names, COUNT_OF(names));
    const struct json_node *progress = json_tree_member(entry, "progress");
    if (progress != NULL) {
        fixture_check_members(fixture, progress, "progress.", progress_names, COUNT_OF(progress_names));
    }
    buffer_init(&input, INPUT_MAX);
    write_progress(play, json_tree_member(entry, "progress"), &input);
    struct ask_call *call = ask(play, &(struct turn){ 1, 1, 1, NULL }, ASK_CEILING, buffer_text(&input), NULL);
    buffer_fini(&input);
    if (call == NULL) {
        return;
    }
    if (call->verdict != SCRIPT_OK) {
        fixture_find(fixture, entry, CODE_CEILING_DIFFERS, "", "ceilings[%zu]: %s: %s", index,
                     script_verdict_name(call->verdict), call->message);
    } else {
        (void)snprintf(got, sizeof(got), call->ceiling_us == 0 ? "null" : "%.10g", (double)call->ceiling_us / 1000);
        (void)snprintf(path, sizeof(path), "ceilings[%zu].expect_ms", index);
        fixture->differs = CODE_CEILING_DIFFERS;
        fixture_match(fixture, path, expected, fixture_value(fixture, text_of(got)), MATCH_WHOLE);
    }
    script_call_destroy(&call->call);
}

// ---- revalidations

/// The offer of the reply that an entry means, by its place or its id; NULL: a finding says why.
static const struct json_node *offer_of(const struct fixture_play *play, const struct json_node *which)
{
    const struct json_node *offers = json_tree_member(play->root, "offers");
    struct text supplier = play->subject->script->name;
    uint64_t index;

    if (json_tree_to_u64(which, &index)) {
        const struct json_node *offer = json_tree_element(offers, (size_t)index);
        if (offer == NULL) {
            fixture_find(play->fixture, which, CODE_FIXTURE_FIELD, "", "the search gave no offer %llu",
                         (unsigned long long)index);
        }
        return offer;
    }
    for (const struct json_node *at = offers == NULL ? NULL : offers->first; at != NULL; at = at->next) {
        const struct json_node *id = json_tree_member(at, "id");
        if (id != NULL && which->kind == JSON_STRING && id->text.length > supplier.length &&
            text_equals(which->text,
                        (struct text){ id->text.data + supplier.length + 1, id->text.length - supplier.length - 1 })) {
            return at;
        }
    }
    fixture_find(play->fixture, which, CODE_FIXTURE_FIELD, "its id, its place in the reply from 0 on, or an object",
                 "the search gave no such offer");
    return NULL;
}

/// The script's own id: that of the reply without the supplier.
static void write_own_id(const struct fixture_play *play, const struct json_node *id, struct json_writer *json)
{
    size_t head = play->subject->script->name.length + 1;

    json_field_text(json, "id", (struct text){ id->text.data + head, id->text.length - head });
}

/// What a token carries of an offer: its id, price, when it was seen, the query, and what the script left in `ref` and
/// `handoff`. False: a finding says why there is none.
static bool write_offer(const struct fixture_play *play, const struct json_node *entry, struct buffer *out)
{
    static const char *const kept[] = { "price", "observed_at" };
    static const char *const names[] = { "id", "price", "observed_at", "ref", "handoff" };
    const struct json_node *which = json_tree_member(entry, "offer");
    const struct json_node *ref = json_tree_member(entry, "ref");
    const struct json_node *query =
        json_tree_member(fixture_value(play->fixture, block_text(play->world->facts)), "query");
    bool is_given = which != NULL && which->kind == JSON_BEGIN_OBJECT;
    const struct json_node *offer = which == NULL || is_given ? which : offer_of(play, which);
    struct json_writer json;

    if (which != NULL && offer == NULL) {
        return false;
    }
    json_writer_init(&json, out);
    json_begin_object(&json);
    if (is_given) {
        fixture_check_members(play->fixture, offer, "offer.", names, COUNT_OF(names));
        for (const struct json_node *at = offer->first; at != NULL; at = at->next) {
            json_key_text(&json, at->key);
            json_raw(&json, at->source);
        }
    } else if (offer != NULL) {
        write_own_id(play, json_tree_member(offer, "id"), &json);
        for (size_t i = 0; i < COUNT_OF(kept); i++) {
            const struct json_node *member = json_tree_member(offer, kept[i]);
            if (member != NULL) {
                json_key(&json, kept[i]);
                json_raw(&json, member->source);
            }
        }
    }
    if (ref != NULL) {
        json_key(&json, "ref");
        json_raw(&json, ref->source);
    }
    if (query != NULL) {
        json_key(&json, "query");
        json_raw(&json, query->source);
    }
    json_end_object(&json);
    return true;
}

/// What came of it: the script's result, or an outcome with its words.
static const struct json_node *result_of(const struct fixture_play *play, const struct ask_call *call)
{
    struct json_writer json;
    struct buffer out;

    if (call->verdict == SCRIPT_OK) {
        return fixture_value(play->fixture, block_text(call->result));
    }
    buffer_init(&out, INPUT_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    json_field_c(&json, "outcome", outcome_name(verdict_outcome(call->verdict)));
    if (verdict_rejection(call->verdict) != REJECTION_NONE) {
        json_field_c(&json, "kind", rejection_name(verdict_rejection(call->verdict)));
    }
    if (call->code[0] != '\0') {
        json_field_c(&json, "code", call->code);
    }
    json_field_c(&json, "detail", call->message);
    json_end_object(&json);
    const struct json_node *node = fixture_value(play->fixture, buffer_text(&out));
    buffer_fini(&out);
    return node;
}

static void match_result(const struct fixture_play *play, const struct json_node *expected, size_t index,
                         const struct ask_call *call)
{
    const struct json_node *got = result_of(play, call);
    size_t before = play->fixture->findings;
    char path[PATH_SIZE];

    bool was_status = json_tree_member(expected, "status") != NULL;
    if (play->fixture->is_updating && got != NULL && was_status != (json_tree_member(got, "status") != NULL)) {
        fixture_edit(play->fixture, expected, got->source); // not member by member: an outcome has others
        return;
    }
    (void)snprintf(path, sizeof(path), "revalidate[%zu].expect", index);
    play->fixture->differs = CODE_OUTCOME_DIFFERS;
    fixture_match(play->fixture, path, expected, got, MATCH_NAMED);
    if (play->fixture->findings > before && call->verdict != SCRIPT_OK) {
        fixture_find(play->fixture, expected, CODE_OUTCOME_DIFFERS, "", "because: %s", call->message);
    }
}

/// What a call that was run asks for next, in `request` and in `others`. False: nothing, it was the last.
static bool take_next(struct turn *turn, struct ask_call *call, struct http_request **request,
                      struct http_request **others, uint64_t *after_us)
{
    http_request_destroy(request);
    block_release(&turn->state);
    if (call->verdict != SCRIPT_OK || call->result != NULL) {
        return false;
    }
    turn->state = call->next.state;
    call->next.state = NULL;
    *after_us = call->next.after_us;
    *request = call->next.request != NULL ? call->next.request : *others;
    if (call->next.request == NULL && *others != NULL) {
        *others = (*others)->next;
        (*request)->next = NULL;
        turn->part++;
        turn->step = 0;
    }
    call->next.request = NULL;
    turn->step++;
    return *request != NULL;
}

/// Sends its requests one by one, and has their answers read.
static void exchange_all(const struct fixture_play *play, const struct json_node *entry, size_t index,
                         const struct fixture_exchanges *exchanges, struct text offer, struct http_request **others)
{
    struct turn turn = { 1, 0, 1, NULL };
    struct http_request *request = *others;
    char where[PATH_SIZE];
    uint64_t after_us = 0;
    size_t sent = 0;

    for (const struct http_request *at = request; at != NULL; at = at->next) {
        turn.parts++;
    }
    *others = request->next;
    request->next = NULL;
    (void)snprintf(where, sizeof(where), "revalidate[%zu].", index);
    while (request != NULL) {
        const struct fixture_exchange *exchange = sent < exchanges->count ? &exchanges->items[sent] : NULL;
        play->world->now_us += after_us;
        fixture_watch(play->fixture, where, exchanges, exchange, sent, request);
        sent++;
        if (exchange == NULL) {
            break;
        }
        play->world->now_us += exchange->after_us;
        struct ask_call *call = ask(play, &turn, ASK_REVALIDATE_READ, offer, fixture_world_response(exchange));
        if (call == NULL) {
            break;
        }
        if (!take_next(&turn, call, &request, others, &after_us)) {
            match_result(play, json_tree_member(entry, "expect"), index, call);
        }
        script_call_destroy(&call->call);
    }
    fixture_check_sent(play->fixture, where, exchanges, sent);
    http_request_destroy(&request);
    block_release(&turn.state);
}

static void revalidate(const struct fixture_play *play, const struct json_node *entry, size_t index,
                       const struct fixture_exchanges *exchanges, struct text offer)
{
    struct ask_call *call = ask(play, &(struct turn){ 1, 1, 1, NULL }, ASK_REVALIDATE_REQUEST, offer, NULL);
    char where[PATH_SIZE];

    if (call == NULL) {
        return;
    }
    if (call->verdict == SCRIPT_OK && call->request != NULL) {
        exchange_all(play, entry, index, exchanges, offer, &call->request);
    } else {
        (void)snprintf(where, sizeof(where), "revalidate[%zu].", index);
        match_result(play, json_tree_member(entry, "expect"), index, call);
        fixture_check_sent(play->fixture, where, exchanges, 0);
    }
    script_call_destroy(&call->call);
}

static void check_revalidation(const struct fixture_play *play, const struct json_node *entry, size_t index)
{
    static const char *const names[] = { "about", "offer", "ref", "exchanges", "expect" };
    static const char *const expected_names[] = { "status",  "offer", "now",  "expires_at", "handoff",
                                                  "outcome", "kind",  "code", "detail" };
    struct fixture *fixture = play->fixture;
    const struct json_node *expected = json_tree_member(entry, "expect");
    struct fixture_exchanges exchanges;
    struct buffer offer;
    char where[PATH_SIZE];

    if (entry->kind != JSON_BEGIN_OBJECT || expected == NULL || expected->kind != JSON_BEGIN_OBJECT ||
        expected->count == 0) {
        fixture_find(fixture, entry, CODE_FIXTURE_FIELD, "such as \"expect\": { \"status\": \"confirmed\" }",
                     "a revalidation is {offer or ref, exchanges, expect}");
        return;
    }
    (void)snprintf(where, sizeof(where), "revalidate[%zu].", index);
    fixture_check_members(fixture, entry, where, names, COUNT_OF(names));
    fixture_check_members(fixture, expected, "expect.", expected_names, COUNT_OF(expected_names));
    if (!fixture_read_exchanges(fixture, entry, &exchanges)) {
        return;
    }
    buffer_init(&offer, INPUT_MAX);
    if (write_offer(play, entry, &offer)) {
        revalidate(play, entry, index, &exchanges, buffer_text(&offer));
    }
    buffer_fini(&offer);
}

void fixture_ask(const struct fixture_play *play)
{
    const struct json_node *ceilings = play->fixture->ceilings, *revalidations = play->fixture->revalidate;
    size_t index = 0;

    for (const struct json_node *at = ceilings == NULL ? NULL : ceilings->first; at != NULL; at = at->next) {
        check_ceiling(play, at, index++);
    }
    index = 0;
    for (const struct json_node *at = revalidations == NULL ? NULL : revalidations->first; at != NULL; at = at->next) {
        check_revalidation(play, at, index++);
    }
}
