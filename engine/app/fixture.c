#include "app/fixture.h"

#include "base/file.h"
#include "script/calendar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ARENA_MAX = 128 << 20, PATH_SIZE = 4096, AFTER_MAX_MS = 600000 };

void fixture_find(struct fixture *fixture, const struct json_node *node, enum code code, const char *help,
                  const char *format, ...)
{
    struct failure failure = { 0 };
    va_list arguments;

    va_start(arguments, format);
    failure_fill(&failure, code, help, format, arguments);
    va_end(arguments);
    if (node != NULL) {
        struct text bytes = buffer_text(&fixture->bytes);
        struct json_place place = json_place_of(bytes, (size_t)(node->source.data - bytes.data));
        failure_at(&failure, fixture->path.data, place.line, place.column);
    } else {
        failure_at(&failure, fixture->path.data, 0, 0);
    }
    fixture->findings++;
    fixture->report(fixture->context, &failure);
}

/// "there are: about, search, now", as many as have room.
static void list_names(const char *const *names, size_t count, char *out, size_t size)
{
    size_t length = (size_t)snprintf(out, size, "there are: ");

    for (size_t i = 0; i < count && length + strlen(names[i]) + sizeof(", …") < size; i++) {
        length += (size_t)snprintf(out + length, size - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

bool fixture_check_member(struct fixture *fixture, const struct json_node *member, const char *where,
                          const char *const *names, size_t count)
{
    bool is_known = false;
    char help[sizeof(((struct failure *)0)->help)] = "";

    for (size_t i = 0; i < count && !is_known; i++) {
        is_known = text_equals_c(member->key, names[i]);
    }
    const char *nearest = is_known ? NULL : text_nearest(member->key, names, count);
    if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean `%s`?", nearest);
    } else if (!is_known) {
        list_names(names, count, help, sizeof(help));
    }
    bool is_repeated = is_known && json_tree_member_text(member->parent, member->key) != member;
    if (!is_known) {
        fixture_find(fixture, member, CODE_FIXTURE_FIELD, help, "unknown field `%s%.*s`", where,
                     TEXT_ARGS(member->key));
    } else if (is_repeated) {
        fixture_find(fixture, member, CODE_FIXTURE_FIELD, "", "field `%s%.*s` stands twice", where,
                     TEXT_ARGS(member->key));
    }
    return is_known && !is_repeated;
}

void fixture_check_members(struct fixture *fixture, const struct json_node *object, const char *where,
                           const char *const *names, size_t count)
{
    for (const struct json_node *member = object->first; member != NULL; member = member->next) {
        (void)fixture_check_member(fixture, member, where, names, count);
    }
}

// ---- one answer

/// The member, which must be of that kind. NULL: it is not there, or a finding says what it is.
static const struct json_node *take(struct fixture *fixture, const struct json_node *object, const char *name,
                                    enum json_token kind, const char *expected)
{
    const struct json_node *node = json_tree_member(object, name);

    if (node != NULL && node->kind != kind) {
        fixture_find(fixture, node, CODE_FIXTURE_FIELD, "", "`%s`: %s expected, got %s", name, expected,
                     json_tree_kind(node));
        return NULL;
    }
    return node;
}

static bool is_plain_path(struct text path)
{
    struct text rest = path;

    if (path.length == 0 || path.data[0] == '/' || memchr(path.data, '\0', path.length) != NULL) {
        return false;
    }
    while (rest.data != NULL) {
        if (text_equals(text_split(rest, '/', &rest), TEXT(".."))) {
            return false;
        }
    }
    return true;
}

/// The bytes of a file beside the fixture.
static struct text read_body_file(struct fixture *fixture, const struct json_node *node)
{
    char path[PATH_SIZE];
    struct buffer bytes;
    struct text body = { 0 };
    size_t folder = fixture->path.length;

    if (!is_plain_path(node->text)) {
        fixture_find(fixture, node, CODE_FIXTURE_FIELD, "write its name, from the fixture's folder on",
                     "`body_file` is no relative path");
        return body;
    }
    while (folder > 0 && fixture->path.data[folder - 1] != '/') {
        folder--;
    }
    buffer_init(&bytes, FIXTURE_BODY_MAX);
    int length = snprintf(path, sizeof(path), "%.*s%.*s", (int)folder, fixture->path.data, TEXT_ARGS(node->text));
    struct file_facts facts = { .why = "its name is too long" };
    bool is_read = length < (int)sizeof(path) && file_read(path, &bytes, &facts) == STATUS_OK;
    const char *why = facts.why;
    if (is_read && bytes.length > 0) {
        body = arena_copy(&fixture->arena, buffer_text(&bytes));
        why = "there is no memory for it";
    }
    if (!is_read || (bytes.length > 0 && body.data == NULL)) {
        fixture_find(fixture, node, CODE_FIXTURE_UNREADABLE, "", "the body `%.*s` cannot be read: %s",
                     TEXT_ARGS(node->text), why);
    }
    buffer_fini(&bytes);
    return body;
}

static struct text lower_copy(struct fixture *fixture, struct text text)
{
    char *copy = arena_alloc(&fixture->arena, text.length + 1);

    for (size_t i = 0; copy != NULL && i < text.length; i++) {
        copy[i] = text.data[i] >= 'A' && text.data[i] <= 'Z' ? (char)(text.data[i] - 'A' + 'a') : text.data[i];
    }
    return (struct text){ copy, copy == NULL ? 0 : text.length };
}

static void add_header(struct fixture *fixture, struct fixture_exchange *exchange, struct text name,
                       const struct json_node *value)
{
    if (value->kind != JSON_STRING) {
        fixture_find(fixture, value, CODE_FIXTURE_FIELD, "", "header `%.*s`: a text expected, got %s", TEXT_ARGS(name),
                     json_tree_kind(value));
        return;
    }
    exchange->headers[exchange->header_count++] =
        (struct header){ .name = lower_copy(fixture, name), .value = value->text };
}

static void read_headers(struct fixture *fixture, const struct json_node *response, struct fixture_exchange *exchange)
{
    const struct json_node *map = take(fixture, response, "headers", JSON_BEGIN_OBJECT, "an object");
    size_t room = 1; // for the content-type of `json`

    for (const struct json_node *at = map == NULL ? NULL : map->first; at != NULL; at = at->next) {
        room += at->kind == JSON_BEGIN_ARRAY ? at->count : 1;
    }
    exchange->headers = arena_alloc_array(&fixture->arena, room, sizeof(*exchange->headers));
    if (exchange->headers == NULL) {
        fixture_find(fixture, response, CODE_NONE, "", "there is no memory for the headers");
        return;
    }
    for (const struct json_node *at = map == NULL ? NULL : map->first; at != NULL; at = at->next) {
        const struct json_node *value = at->kind == JSON_BEGIN_ARRAY ? at->first : at;
        for (; value != NULL; value = at->kind == JSON_BEGIN_ARRAY ? value->next : NULL) {
            add_header(fixture, exchange, at->key, value);
        }
    }
}

static void read_body(struct fixture *fixture, const struct json_node *response, struct fixture_exchange *exchange)
{
    const struct json_node *file = take(fixture, response, "body_file", JSON_STRING, "a text");
    const struct json_node *body = take(fixture, response, "body", JSON_STRING, "a text");
    const struct json_node *json = json_tree_member(response, "json");
    bool has_type = exchange->headers == NULL;

    if ((file != NULL) + (body != NULL) + (json != NULL) > 1) {
        fixture_find(fixture, response, CODE_FIXTURE_FIELD, "", "give only one of `body_file`, `body` and `json`");
    } else if (file != NULL) {
        exchange->body = read_body_file(fixture, file);
    } else if (body != NULL) {
        exchange->body = body->text;
    } else if (json != NULL) {
        exchange->body = json->source;
    }
    for (size_t i = 0; i < exchange->header_count; i++) {
        has_type = has_type || text_equals(exchange->headers[i].name, TEXT("content-type"));
    }
    if (json != NULL && !has_type) {
        exchange->headers[exchange->header_count++] = (struct header){ TEXT("content-type"), TEXT("application/json") };
    }
}

static void read_response(struct fixture *fixture, const struct json_node *response, struct fixture_exchange *exchange)
{
    static const char *const names[] = { "status", "after_ms", "headers", "body_file", "body", "json" };
    const struct json_node *status = json_tree_member(response, "status");
    const struct json_node *after = json_tree_member(response, "after_ms");
    uint64_t number = 200, after_ms = 0;

    fixture_check_members(fixture, response, "response.", names, COUNT_OF(names));
    if (status != NULL && (!json_tree_to_u64(status, &number) || number < 100 || number > 599)) {
        fixture_find(fixture, status, CODE_FIXTURE_FIELD, "", "`status`: 100 to 599 expected");
        number = 200;
    }
    if (after != NULL && (!json_tree_to_u64(after, &after_ms) || after_ms > AFTER_MAX_MS)) {
        fixture_find(fixture, after, CODE_FIXTURE_FIELD, "", "`after_ms`: 0 to %d expected", AFTER_MAX_MS);
        after_ms = 0;
    }
    exchange->status = (uint16_t)number;
    exchange->after_us = after_ms * 1000;
    read_headers(fixture, response, exchange);
    read_body(fixture, response, exchange);
}

static void read_exchange(struct fixture *fixture, const struct json_node *node, struct fixture_exchange *exchange)
{
    static const char *const names[] = { "about", "expect_request", "response" };
    static const char *const request_names[] = { "method", "url", "headers", "json", "form", "body" };

    exchange->node = node;
    if (node->kind != JSON_BEGIN_OBJECT) {
        fixture_find(fixture, node, CODE_FIXTURE_FIELD, "", "an exchange is {expect_request, response}, not %s",
                     json_tree_kind(node));
        return;
    }
    fixture_check_members(fixture, node, "", names, COUNT_OF(names));
    exchange->expect = take(fixture, node, "expect_request", JSON_BEGIN_OBJECT, "an object");
    if (exchange->expect != NULL) {
        fixture_check_members(fixture, exchange->expect, "expect_request.", request_names, COUNT_OF(request_names));
    }
    const struct json_node *response = take(fixture, node, "response", JSON_BEGIN_OBJECT, "an object");
    if (response != NULL) {
        read_response(fixture, response, exchange);
    } else if (json_tree_member(node, "response") == NULL) {
        fixture_find(fixture, node, CODE_FIXTURE_FIELD, "", "the exchange has no `response`");
    }
}

bool fixture_read_exchanges(struct fixture *fixture, const struct json_node *owner, struct fixture_exchanges *exchanges)
{
    size_t before = fixture->findings;
    const struct json_node *list = take(fixture, owner, "exchanges", JSON_BEGIN_ARRAY, "a list");

    *exchanges = (struct fixture_exchanges){ .node = list == NULL ? owner : list };
    if (list != NULL && list->count > FIXTURE_EXCHANGES_MAX) {
        fixture_find(fixture, list, CODE_FIXTURE_FIELD, "", "more than %d exchanges", FIXTURE_EXCHANGES_MAX);
    } else if (list != NULL) {
        exchanges->items = arena_alloc_array(&fixture->arena, list->count + 1, sizeof(*exchanges->items));
        for (const struct json_node *at = list->first; at != NULL && exchanges->items != NULL; at = at->next) {
            read_exchange(fixture, at, &exchanges->items[exchanges->count++]);
        }
    }
    return fixture->findings == before;
}

// ---- the whole

static void read_now(struct fixture *fixture)
{
    const struct json_node *now = take(fixture, fixture->root, "now", JSON_STRING, "a text");
    struct moment moment;

    if (now == NULL) {
        if (json_tree_member(fixture->root, "now") == NULL) {
            fixture_find(fixture, fixture->root, CODE_FIXTURE_FIELD, "such as \"now\": \"2026-11-29T09:00:00Z\"",
                         "field `now` is missing: the clock of a fixture stands still");
        }
        return;
    }
    if (!calendar_parse(now->text, &moment) || !moment.has_time || !moment.has_offset ||
        calendar_epoch_us(&moment) < 0) {
        fixture_find(fixture, now, CODE_FIXTURE_FIELD, "such as \"2026-11-29T09:00:00Z\"", "`now` is no time in UTC");
        return;
    }
    fixture->wall_us = (uint64_t)calendar_epoch_us(&moment);
}

static void read_name(struct fixture *fixture)
{
    const char *slash = strrchr(fixture->path.data, '/');
    struct text name = text_of(slash == NULL ? fixture->path.data : slash + 1);

    fixture->must_not_fail = text_starts_with(name, TEXT("ok-"));
    if (!fixture->must_not_fail && !text_starts_with(name, TEXT("odd-"))) {
        fixture_find(fixture, NULL, CODE_FIXTURE_NAME,
                     "ok-… for what must not fail, odd-… for errors, empties and oddities",
                     "a fixture's name begins with ok- or odd-");
    }
}

static void read_fields(struct fixture *fixture)
{
    static const char *const names[] = { "about", "search",    "now",    "secrets",  "options",
                                         "login", "exchanges", "expect", "ceilings", "revalidate" };
    const struct json_node *root = fixture->root;

    fixture_check_members(fixture, root, "", names, COUNT_OF(names));
    fixture->search = take(fixture, root, "search", JSON_BEGIN_OBJECT, "an object");
    if (fixture->search == NULL && json_tree_member(root, "search") == NULL) {
        fixture_find(fixture, root, CODE_FIXTURE_FIELD, "it is what a caller posts: {product, query, budget_ms?}",
                     "field `search` is missing");
    }
    fixture->secrets = take(fixture, root, "secrets", JSON_BEGIN_OBJECT, "an object");
    fixture->login = json_tree_member(root, "login");
    fixture->options = take(fixture, root, "options", JSON_BEGIN_OBJECT, "an object");
    fixture->expect = take(fixture, root, "expect", JSON_BEGIN_OBJECT, "an object");
    fixture->ceilings = take(fixture, root, "ceilings", JSON_BEGIN_ARRAY, "a list");
    fixture->revalidate = take(fixture, root, "revalidate", JSON_BEGIN_ARRAY, "a list");
    struct text about = json_tree_text(root, "about"), end = TEXT(FIXTURE_INVENTED);
    fixture->is_invented =
        about.length >= end.length && memcmp(about.data + about.length - end.length, end.data, end.length) == 0;
    read_now(fixture);
    (void)!fixture_read_exchanges(fixture, root, &fixture->exchanges);
}

static void begin(struct fixture *fixture, const char *path, settings_finding report, void *context)
{
    *fixture = (struct fixture){ .report = report, .context = context };
    arena_init(&fixture->arena, ARENA_MAX);
    buffer_init(&fixture->bytes, FIXTURE_FILE_MAX);
    fixture->path = arena_copy(&fixture->arena, text_of(path));
    require(fixture->path.data != NULL);
}

/// The bytes are there.
static bool take_bytes(struct fixture *fixture)
{
    const char *why = "there is no memory for it";
    struct json_node *root;
    size_t offset;
    struct text bytes = buffer_text(&fixture->bytes);
    enum status status = json_tree_read(&fixture->arena, bytes, &root, &offset, &why);
    if (status != STATUS_OK || root->kind != JSON_BEGIN_OBJECT) {
        bool is_grammar = status == STATUS_INVALID;
        const struct json_node at = { .source = { bytes.data + (is_grammar ? offset : 0), 0 } };
        fixture_find(fixture, bytes.data == NULL ? NULL : &at, CODE_FIXTURE_UNREADABLE, "",
                     "the fixture is no JSON object: %s", is_grammar ? why : "an object expected");
        return false;
    }
    fixture->root = root;
    read_name(fixture);
    read_fields(fixture);
    return fixture->findings == 0;
}

bool fixture_read(struct fixture *fixture, const char *path, settings_finding report, void *context)
{
    struct file_facts facts;

    begin(fixture, path, report, context);
    if (file_read(path, &fixture->bytes, &facts) != STATUS_OK) {
        fixture_find(fixture, NULL, CODE_FIXTURE_UNREADABLE, "", "the fixture cannot be read: %s", facts.why);
        return false;
    }
    return take_bytes(fixture);
}

static void ignore_finding(void *context, const struct failure *failure)
{
    (void)context;
    (void)failure;
}

bool fixture_is_invented_at(const char *path)
{
    struct fixture fixture;
    bool is_invented = fixture_read(&fixture, path, ignore_finding, NULL) && fixture.is_invented;

    fixture_fini(&fixture);
    return is_invented;
}

bool fixture_read_text(struct fixture *fixture, const char *path, struct text json, settings_finding report,
                       void *context)
{
    begin(fixture, path, report, context);
    buffer_append_text(&fixture->bytes, json);
    return take_bytes(fixture);
}

void fixture_fini(struct fixture *fixture)
{
    arena_fini(&fixture->arena);
    buffer_fini(&fixture->bytes);
}
