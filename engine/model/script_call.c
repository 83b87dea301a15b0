#include "model/script_call.h"

#include "model/ask_call.h"
#include "model/ceiling_call.h"
#include "model/ground.h"
#include "model/request_call.h"

#include <stdlib.h>
#include <string.h>

enum { START_MEMORY_CEILING = 8 * 1024 * 1024 };

void script_call_init(struct script_call *call, enum script_call_kind kind)
{
    list_init(&call->message.node);
    call->kind = kind;
    atomic_init(&call->is_cancelled, false);
}

static bool start_call_fill(struct start_call *start, struct text product, struct text search_id,
                            size_t candidate_count)
{
    start->product = arena_copy(&start->memory, product);
    start->search_id = arena_copy(&start->memory, search_id);
    start->candidates = arena_alloc_array(&start->memory, candidate_count, sizeof(*start->candidates));
    start->candidate_count = candidate_count;
    start->eligible = (uint32_t)candidate_count;
    if (start->candidates == NULL) {
        start->candidate_count = 0;
        return false;
    }
    for (size_t i = 0; i < candidate_count; i++) {
        start->candidates[i].verdict = SCRIPT_DROPPED;
        start->candidates[i].ceiling.us = UINT64_MAX;
    }
    return (product.data == NULL) == (start->product.data == NULL) &&
           (search_id.data == NULL) == (start->search_id.data == NULL);
}

struct start_call *start_call_create(struct text product, struct text search_id, struct block *body,
                                     size_t candidate_count)
{
    struct start_call *start = calloc(1, sizeof(*start));

    if (start == NULL) {
        return NULL;
    }
    script_call_init(&start->call, SCRIPT_CALL_START);
    arena_init(&start->memory, START_MEMORY_CEILING);
    start->product_verdict = SCRIPT_DROPPED;
    start->body = block_acquire(body);
    if (!start_call_fill(start, product, search_id, candidate_count)) {
        script_call_destroy(&start->call);
        return NULL;
    }
    return start;
}

static bool is_account_of(const struct script_account *account, struct text market, bool is_of_test)
{
    bool is_for_it = account->market_count == 0;

    if (account->mode == MODE_TEST && !is_of_test) {
        return false;
    }

    for (size_t i = 0; i < account->market_count && !is_for_it; i++) {
        is_for_it = text_equals(account->markets[i], market);
    }
    return is_for_it;
}

bool start_candidate_choose(struct start_candidate *candidate, struct text market)
{
    const struct script_account *account = candidate->account;

    for (size_t i = 0; i == 0 || i < candidate->account_count; i++) {
        if (is_account_of(&account[i], market, candidate->is_of_test)) {
            candidate->account = &account[i];
            candidate->login =
                candidate->login == NULL && candidate->logins != NULL ? &candidate->logins[i] : candidate->login;
            if (candidate->knowledges != NULL && i < candidate->knowledge_count) {
                candidate->knowledge = candidate->knowledges[i];
                candidate->knowledges[i] = candidate->knowledges[0];
                candidate->knowledges[0] = candidate->knowledge; // where it is found when it is asked again
                candidate->terms.built_in_us = candidate->knowledge != NULL ? candidate->knowledge->ceiling_us : 0;
            }
            candidate->is_dark = account[i].mode == MODE_DARK;
            candidate->account_count = 1; // when it is asked again, it stays with this one
            return true;
        }
    }
    candidate->has_no_account = true;
    return false;
}

/// The candidates that a rule is for take from it what no rule before has set.
static void take_ceilings(struct start_call *call, const struct rule *rule)
{
    for (size_t i = 0; i < call->candidate_count; i++) {
        struct start_candidate *candidate = &call->candidates[i];
        struct ceiling_terms *terms = &candidate->terms;
        const struct rule **slots[RULE_SETTING_COUNT] = {
            [RULE_CEILING] = &terms->rule,
            [RULE_CEILING_SCALE] = &terms->scale,
            [RULE_CEILING_MAX] = &terms->max,
            [RULE_WEIGHT] = &terms->weight,
        };
        bool is_for_it = rule_is_for(rule, candidate->supplier);
        for (enum rule_setting setting = RULE_CEILING; is_for_it && setting < RULE_SETTING_COUNT; setting++) {
            if (rule->values[setting] != 0 && slots[setting] != NULL && *slots[setting] == NULL) {
                *slots[setting] = rule;
            }
        }
    }
}

/// Numbers count by their magnitude: searches 40 and 45 days ahead are of one kind.
static uint64_t kind_of(const struct rule_set *rules, const struct rule_fact *facts)
{
    uint64_t kind = 1;

    for (size_t i = 0; i < rules->segment_count; i++) {
        uint64_t fact = 0;
        if (facts[i].is_integer) {
            uint64_t size = (uint64_t)(facts[i].integer < 0 ? 0 : facts[i].integer);
            fact = 1;
            for (; size > 0; size >>= 1) {
                fact++;
            }
        } else if (facts[i].text.data != NULL) {
            fact = text_hash(facts[i].text);
        }
        kind = (kind ^ fact) * UINT64_C(0x9e3779b97f4a7c15);
        kind ^= kind >> 29;
    }
    return kind | 1;
}

void start_call_take_facts(struct start_call *call, const struct rule_fact *facts)
{
    const struct rule_set *rules = call->rules;

    call->kind = kind_of(rules, facts);

    for (size_t i = 0; i < rules->rule_count; i++) {
        const struct rule *rule = &rules->rules[i];
        if (!rule_fits(rule, facts)) {
            continue;
        }
        if (call->deadline_rule == NULL && rule->values[RULE_DEADLINE] != 0) {
            call->deadline_rule = rule;
            call->times.end_us = call->rule_ends_us != NULL ? call->rule_ends_us[i] : call->times.end_us;
        }
        if (call->delay_cost_rule == NULL && rule->values[RULE_DELAY_COST] != 0) {
            call->delay_cost_rule = rule;
        }
        take_ceilings(call, rule);
    }
}

struct ceiling start_candidate_ceiling(const struct start_call *call, const struct start_candidate *candidate,
                                       uint64_t script_us)
{
    if (call->ceiling_of != NULL) {
        return call->ceiling_of(&candidate->terms, script_us);
    }
    if (script_us != 0) {
        return (struct ceiling){ .us = script_us, .from = CEILING_FROM_SCRIPT };
    }
    return (struct ceiling){ .us = UINT64_MAX, .from = CEILING_FROM_NOBODY };
}

uint64_t start_ceiling_us(const struct ceiling *ceiling, uint64_t elapsed_us)
{
    return ceiling->from == CEILING_FROM_BUILT_IN ? ceiling->us + elapsed_us : ceiling->us;
}

struct normalise_call *normalise_call_create(struct text search_id, struct block *facts, struct http_response *response)
{
    struct normalise_call *normalise = calloc(1, sizeof(*normalise));

    if (normalise == NULL) {
        return NULL;
    }
    require(search_id.length < sizeof(normalise->search_id_bytes));
    script_call_init(&normalise->call, SCRIPT_CALL_NORMALISE);
    if (search_id.length != 0) {
        memcpy(normalise->search_id_bytes, search_id.data, search_id.length);
    }
    normalise->search_id = (struct text){ normalise->search_id_bytes, search_id.length };
    normalise->facts = block_acquire(facts);
    normalise->response = response;
    normalise->verdict = SCRIPT_DROPPED;
    normalise->part = normalise->parts = normalise->step = 1;
    return normalise;
}

static void start_call_destroy(struct start_call *start)
{
    for (size_t i = 0; i < start->candidate_count; i++) {
        http_request_destroy(&start->candidates[i].request);
        free(start->candidates[i].trouble);
        for (size_t j = 0; j < start->candidates[i].login_count; j++) {
            login_drop(&start->candidates[i].logins[j]);
        }
        for (size_t j = 0; j < start->candidates[i].knowledge_count; j++) {
            knowledge_drop(&start->candidates[i].knowledges[j]);
        }
    }
    block_release(&start->body);
    block_release(&start->errors);
    block_release(&start->facts);
    block_release(&start->client_facts);
    block_release(&start->key);
    arena_fini(&start->memory);
    free(start);
}

static void normalise_call_destroy(struct normalise_call *normalise)
{
    block_release(&normalise->facts);
    block_release(&normalise->reads);
    block_release(&normalise->drops);
    http_response_destroy(&normalise->response);
    offer_batch_release(&normalise->offers);
    block_release(&normalise->state);
    http_request_destroy(&normalise->next.request);
    block_release(&normalise->next.state);
    login_drop(&normalise->login);
    free(normalise);
}

const struct script_account *script_call_account(const struct script_call *call)
{
    switch (call->kind) {
    case SCRIPT_CALL_REQUEST:
        return CONTAINER_OF(call, const struct request_call, call)->account;
    case SCRIPT_CALL_LOGIN:
        return CONTAINER_OF(call, const struct login_call, call)->account;
    case SCRIPT_CALL_ASK:
        return CONTAINER_OF(call, const struct ask_call, call)->account;
    case SCRIPT_CALL_NORMALISE:
    case SCRIPT_CALL_CEILING:
    case SCRIPT_CALL_START:
        break;
    }
    require(call->kind == SCRIPT_CALL_NORMALISE); // START and CEILING have many
    return CONTAINER_OF(call, const struct normalise_call, call)->account;
}

void script_call_destroy(struct script_call *call)
{
    if (call == NULL) {
        return;
    }
    free(call->trouble);
    struct ground *ground = call->ground; // the last to go: the parts of a call may point into it
    switch (call->kind) {
    case SCRIPT_CALL_START:
        start_call_destroy(CONTAINER_OF(call, struct start_call, call));
        break;
    case SCRIPT_CALL_NORMALISE:
        normalise_call_destroy(CONTAINER_OF(call, struct normalise_call, call));
        break;
    case SCRIPT_CALL_REQUEST:
        request_call_destroy(CONTAINER_OF(call, struct request_call, call));
        break;
    case SCRIPT_CALL_LOGIN:
        login_call_destroy(CONTAINER_OF(call, struct login_call, call));
        break;
    case SCRIPT_CALL_ASK:
        ask_call_destroy(CONTAINER_OF(call, struct ask_call, call));
        break;
    case SCRIPT_CALL_CEILING:
        ceiling_call_destroy(CONTAINER_OF(call, struct ceiling_call, call));
        break;
    }
    ground_drop(&ground);
}

const char *script_verdict_name(enum script_verdict verdict)
{
    switch (verdict) {
    case SCRIPT_OK:
        return "ok";
    case SCRIPT_SKIPPED:
        return "skipped";
    case SCRIPT_EMPTY:
        return "empty";
    case SCRIPT_FAIL_QUOTA:
        return "fail_quota";
    case SCRIPT_FAIL_BUSY:
        return "fail_busy";
    case SCRIPT_FAIL_LOGIN:
        return "fail_login";
    case SCRIPT_FAIL_AUTH:
        return "fail_auth";
    case SCRIPT_FAIL_SUPPLIER:
        return "fail_supplier";
    case SCRIPT_FAIL_UNEXPECTED:
        return "fail_unexpected";
    case SCRIPT_UNPARSABLE:
        return "unparsable";
    case SCRIPT_TOO_LARGE:
        return "too_large";
    case SCRIPT_ERROR:
        return "error";
    case SCRIPT_TIMEOUT:
        return "timeout";
    case SCRIPT_MEMORY:
        return "memory";
    case SCRIPT_DROPPED:
        return "dropped";
    }
    return "unknown";
}
