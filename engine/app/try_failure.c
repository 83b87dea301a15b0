// One failure for the whole run: the first thing to look at.

#include "app/try.h"

#include "base/redact.h"
#include "model/exchange_note.h"

#include <stdio.h>
#include <string.h>

static const char *const FINE[] = { "answered", "empty", "skipped" };

/// What went out and came back.
static void note_exchange(struct failure *why, const struct tap_exchange *exchange)
{
    const struct fetch *fetch = &exchange->fetch;

    exchange_note_request(why, exchange->request);
    if (exchange->response != NULL) {
        exchange_note_response(why, exchange->response,
                               fetch->done_us > fetch->started_us ? fetch->done_us - fetch->started_us : 0,
                               exchange->saved_to[0] == '\0' ? NULL : exchange->saved_to);
    } else {
        exchange_note_fetch(why, fetch);
    }
}

static const struct tap_exchange *last_exchange(const struct try_run *run)
{
    return run->tap.count == 0 ? NULL : tap_at(&run->tap, run->tap.count - 1);
}

static bool is_one_of(struct text outcome, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(outcome, names[i])) {
            return true;
        }
    }
    return false;
}

/// The notes of a failure that has none yet, about the last thing that was asked.
static void finish(const struct try_run *run, struct failure *why)
{
    const struct tap_exchange *exchange = last_exchange(run);

    if (exchange != NULL && why->notes[0] == '\0') {
        note_exchange(why, exchange);
    }
}

static void tell_redirect_of(const struct http_response *response, struct failure *why)
{
    if (response->status < 300 || response->status > 399) {
        return;
    }
    failure_code(why, CODE_HTTP_STATUS);
    failure_set(why, "the answer is a redirect (%u), which is not followed", response->status);
    failure_help(why, "ask where its `location` leads, if that is the supplier's; see the headers above");
}

/// An answer that sends us elsewhere is no document: that it cannot be read is nobody's news.
static void tell_redirect(const struct tap_exchange *exchange, struct failure *why)
{
    const struct http_response *response = exchange == NULL ? NULL : exchange->response;

    if (why->code == CODE_UNPARSABLE && response != NULL) {
        tell_redirect_of(response, why);
    }
}

static bool fill_trouble(const struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    if (run->tap.trouble.code == CODE_NONE) {
        return false;
    }
    *why = run->tap.trouble;
    if (why->file[0] == '\0') {
        failure_at(why, subject->script->file.data, why->line, why->column);
    }
    bool has_exchange = strstr(why->notes, "request ") != NULL;
    if (run->tap.trouble_of != NULL && !has_exchange) {
        note_exchange(why, run->tap.trouble_of);
    }
    tell_redirect(run->tap.trouble_of != NULL ? run->tap.trouble_of : last_exchange(run), why);
    return true;
}

/// Offers that were dropped: the first of them, at the script that made it.
static bool fill_dropped(const struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    const struct json_node *report = try_report(run);
    uint64_t dropped = 0;

    if (!json_tree_to_u64(json_tree_member(report, "offers_dropped"), &dropped)) {
        return false;
    }
    struct text first = json_tree_text(report, "first_dropped");
    char words[400];
    (void)redact_copy(words, sizeof(words), first);
    failure_code(why, CODE_OFFER_DROPPED);
    failure_at(why, subject->script->file.data, 0, 0);
    failure_set(why, "%llu offer%s dropped, the first: %s", (unsigned long long)dropped,
                dropped == 1 ? " was" : "s were", words);
    failure_help(why, "the path is in the list that normalise gave, counted from 1");
    finish(run, why);
    return true;
}

bool try_is_untold(const struct try_run *run)
{
    const struct tap_exchange *exchange = last_exchange(run);

    return exchange != NULL && tap_is_untold(exchange) && !is_one_of(try_outcome(run), FINE, COUNT_OF(FINE));
}

static bool fill_untold(const struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    const struct tap_exchange *exchange = last_exchange(run);

    if (!try_is_untold(run)) {
        return false;
    }
    unsigned status = exchange->response->status;
    failure_code(why, CODE_HTTP_STATUS);
    failure_at(why, subject->script->file.data, 0, 0);
    failure_set(why, "HTTP %u, of which the script says nothing: the outcome is %.*s", status,
                TEXT_ARGS(try_outcome(run)));
    failure_help(why,
                 "look at the body; `when = { [%u] = fail.… }` of a plan, or `response.status`, tells what it means",
                 status);
    tell_redirect_of(exchange->response, why);
    finish(run, why);
    return true;
}

/// What the product's script says of the search.
static bool fill_refusal(const struct try_run *run, struct failure *why)
{
    const struct json_node *first = json_tree_element(json_tree_member(run->root, "errors"), 0);
    struct text detail = json_tree_text(first == NULL ? run->root : first, "detail");
    struct text pointer = json_tree_text(first, "pointer");
    char words[400], place[200];

    if (run->root == NULL) {
        return false;
    }
    (void)redact_copy(words, sizeof(words), detail);
    (void)redact_copy(place, sizeof(place), pointer);
    failure_code(why, CODE_SEARCH_INVALID);
    failure_set(why, "the product's script refuses the search%s%s%s%s", place[0] == '\0' ? "" : ": ", place,
                words[0] == '\0' ? "" : ": ", words);
    failure_help(why, run->is_live ? "mend the search; over a saved answer (--body) the clock is that of its dates"
                                   : "mend the search: the pointer leads to the member of it");
    return true;
}

/// A request that no saved answer is left for.
static bool fill_miss(const struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    if (run->misses == 0 || run->misses > run->tap.count) {
        return false;
    }
    const struct tap_exchange *missing = tap_at(&run->tap, run->tap.count - run->misses);
    failure_code(why, CODE_EXCHANGE_COUNT);
    failure_at(why, subject->script->file.data, 0, 0);
    failure_set(why, "no --body is left for request %zu", missing->number);
    failure_help(why, "give one more --body FILE: they are answers to the requests, in the order of sending");
    exchange_note_request(why, missing->request);
    return true;
}

/// With saved answers a login that cannot be read may have got the answer of a search.
static void help_login(const struct try_run *run, struct failure *why)
{
    const struct tap_exchange *of = run->tap.trouble_of;
    char help[sizeof(why->help)];

    if (run->is_live || of == NULL || !of->is_login) {
        return;
    }
    (void)snprintf(help, sizeof(help), "%s", why->help);
    failure_help(
        why, "the first --body answers the login; --login '\"test-login\"' stands for one that is there already%s%s",
        help[0] == '\0' ? "" : "; ", help);
}

bool try_is_mistake(const struct try_run *run)
{
    static const char *const MISTAKES[] = { "script_error", "script_timeout", "script_memory", "unparsable" };

    return run->misses > 0 || is_one_of(try_outcome(run), MISTAKES, COUNT_OF(MISTAKES));
}

bool try_failure(const struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    static const char *const SCRIPTS[] = { "script_error", "script_timeout", "script_memory", "unparsable",
                                           "too_large" };
    struct text outcome = try_outcome(run);
    char words[400];

    *why = (struct failure){ .code = CODE_NONE };
    if (outcome.data == NULL) {
        return fill_refusal(run, why);
    }
    if (fill_trouble(run, subject, why)) {
        help_login(run, why);
        return true;
    }
    if (fill_miss(run, subject, why) || fill_dropped(run, subject, why)) {
        return true;
    }
    if (is_one_of(outcome, FINE, COUNT_OF(FINE))) {
        return false;
    }
    if (fill_untold(run, subject, why)) {
        return true;
    }
    bool is_script = is_one_of(outcome, SCRIPTS, COUNT_OF(SCRIPTS));
    (void)redact_copy(words, sizeof(words), json_tree_text(try_report(run), "detail"));
    if (is_script) {
        bool is_dropped = strncmp(words, "no valid offer", strlen("no valid offer")) == 0;
        failure_code(why, text_equals(outcome, TEXT("too_large")) ? CODE_BODY_TOO_LARGE
                          : is_dropped                            ? CODE_OFFER_DROPPED
                                                                  : CODE_UNPARSABLE);
        failure_at(why, subject->script->file.data, 0, 0);
    } else {
        failure_code(why, run->is_live ? CODE_CALL_FAILED : CODE_REFUSED);
    }
    if (text_equals(outcome, TEXT("too_large"))) {
        failure_help(why, "raise `limits.body` of the script, or ask for fewer offers");
    }
    failure_set(why, "the outcome is %.*s%s%s", TEXT_ARGS(outcome), words[0] == '\0' ? "" : ": ", words);
    finish(run, why);
    return true;
}
