// Saved answers are the exchanges of a fixture that stands in no file: its secrets are made up, its options are those
// of the settings.

#include "app/try.h"

#include "app/try_fixture.h"
#include "base/redact.h"

#include <stdio.h>
#include <string.h>

// Limits of scripts are there to keep them off each other; here is nobody else.
enum { BUILD_LIMIT_US = 100000, NORMALISE_LIMIT_US = 1000000, LOGIN_LEAST = 8 };

bool try_run_fixture(struct try_run *run, const struct try_subject *subject, struct fixture *fixture)
{
    const struct worker_pool_options options = { .threads = 1,
                                                 .build_limit_us = BUILD_LIMIT_US,
                                                 .normalise_limit_us = NORMALISE_LIMIT_US,
                                                 .deliver = fixture_world_deliver,
                                                 .watches_fields = true };
    struct worker_pool *workers = NULL;
    struct failure why = { 0 };

    if (worker_pool_create(&options, &workers, &why) != STATUS_OK) {
        fixture_find(fixture, NULL, CODE_START, "", "%s", why.message);
        return false;
    }
    const struct fixture_subject played = { .settings = subject->settings,
                                            .catalogue = subject->catalogue,
                                            .script = subject->script,
                                            .index = subject->script_index,
                                            .workers = workers,
                                            .tap = &run->tap,
                                            .reply = &run->reply };
    run->wall_us = fixture->wall_us;
    fixture_run(fixture, &played);
    worker_pool_destroy(&workers);
    for (size_t i = 0; i < run->tap.count; i++) {
        run->misses += i >= fixture->exchanges.count ? 1 : 0;
    }
    run->unused = fixture->exchanges.count > run->tap.count ? fixture->exchanges.count - run->tap.count : 0;
    struct json_node *root = NULL;
    const char *sentence;
    size_t offset;
    bool is_read = run->reply.length > 0 &&
                   json_tree_read(&run->arena, buffer_text(&run->reply), &root, &offset, &sentence) == STATUS_OK;
    run->root = root;
    return is_read;
}

static void take_failure(void *context, const struct failure *failure)
{
    struct failure *why = context;

    if (why->message[0] == '\0') {
        *why = *failure;
    }
}

/// What its body looks like, for an answer that came without a head.
static size_t sniff(const struct try_answer *answer, struct header headers[2])
{
    struct text body = text_trim(answer->body);
    bool is_packed = body.length > 2 && (unsigned char)body.data[0] == 0x1f && (unsigned char)body.data[1] == 0x8b;
    struct text type = TEXT("text/plain");

    if (is_packed) {
        headers[1] = (struct header){ TEXT("content-encoding"), TEXT("gzip") };
        type = TEXT("application/json");
    } else if (body.length > 0 && (body.data[0] == '{' || body.data[0] == '[')) {
        type = TEXT("application/json");
    } else if (body.length > 5 &&
               (strncasecmp(body.data, "<html", 5) == 0 || strncasecmp(body.data, "<!doc", 5) == 0)) {
        type = TEXT("text/html");
    } else if (body.length > 0 && body.data[0] == '<') {
        type = TEXT("text/xml");
    }
    headers[0] = (struct header){ TEXT("content-type"), type };
    return is_packed ? 2 : 1;
}

static bool fill_exchange(struct fixture *fixture, const struct try_answer *answer, struct fixture_exchange *exchange)
{
    *exchange = (struct fixture_exchange){ .status = answer->status, .after_us = answer->after_us };
    exchange->headers = arena_alloc_array(&fixture->arena, answer->header_count + 2, sizeof(*exchange->headers));
    exchange->body = answer->body;
    if (exchange->headers == NULL) {
        return false;
    }
    bool has_type = false;
    for (size_t i = 0; i < answer->header_count; i++) {
        has_type = has_type || text_equals(answer->headers[i].name, TEXT("content-type"));
    }
    if (!has_type) {
        exchange->header_count = sniff(answer, exchange->headers);
    }
    for (size_t i = 0; i < answer->header_count; i++) {
        exchange->headers[exchange->header_count++] = answer->headers[i];
    }
    return true;
}

/// One that somebody gives may be a real one; a short word is not, and would be hidden in hosts and texts.
static void hide_login(const struct json_node *node)
{
    if (node->kind == JSON_STRING) {
        bool is_made_up = text_starts_with(node->text, TEXT("test"));
        if (node->text.length >= LOGIN_LEAST && !is_made_up) {
            (void)redact_add_passing(node->text);
        }
    }
    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        hide_login(at);
    }
}

/// False: it is no JSON.
static bool take_login(struct try_run *run, struct text login, struct failure *why)
{
    struct json_node *root;
    const char *sentence;
    size_t offset;

    if (login.data == NULL) {
        return true;
    }
    if (json_tree_read(&run->arena, login, &root, &offset, &sentence) != STATUS_OK) {
        failure_set(why, "the login is no JSON: %s", sentence);
        failure_help(why, "a text needs its quotes: --login '\"test-login\"'");
        return false;
    }
    hide_login(root);
    return true;
}

bool try_run_answers(struct try_run *run, const struct try_subject *subject, const struct try_answer *answers,
                     size_t count, struct text login, uint64_t wall_us, struct failure *why)
{
    const struct try_frame frame = { .search = run->search, .login = login, .wall_us = wall_us };
    struct fixture fixture;
    struct buffer json;

    if (!take_login(run, login, why)) {
        return false;
    }
    buffer_init(&json, TRY_SEARCH_MAX * 4);
    try_fixture_write(subject, &frame, &json);
    bool is_read = fixture_read_text(&fixture, "odd-try.json", buffer_text(&json), take_failure, why);
    if (is_read) {
        fixture.exchanges.items = arena_alloc_array(&fixture.arena, count + 1, sizeof(*fixture.exchanges.items));
        is_read = fixture.exchanges.items != NULL;
    }
    for (size_t i = 0; i < count && is_read; i++) {
        is_read = fill_exchange(&fixture, &answers[i], &fixture.exchanges.items[i]);
        fixture.exchanges.count = i + 1;
    }
    bool is_run = is_read && try_run_fixture(run, subject, &fixture);
    if (!is_run && why->message[0] == '\0') {
        failure_set(why, "the answers could not be played: out of memory");
    }
    fixture_fini(&fixture);
    buffer_fini(&json);
    return is_run;
}
