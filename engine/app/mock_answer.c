// Answers: of the exchange that fits, or a 404 that tells what came nearest.

#include "app/mock_match.h"

#include "base/json_write.h"
#include "base/redact.h"

#include <string.h>

enum { SCRATCH_MAX = 256 << 20, HEAD_MAX = 1 << 20, BODY_MAX = 1 << 20, WORDS_MAX = 700 };

/// Headers that whoever sends the answer decides about.
static bool is_of_transport(struct text name)
{
    static const char *const names[] = { "content-length", "transfer-encoding", "connection", "keep-alive" };
    bool is_one = false;

    for (size_t i = 0; i < COUNT_OF(names) && !is_one; i++) {
        is_one = text_equals_nocase(name, text_of(names[i]));
    }
    return is_one;
}

static bool is_plain(struct text line)
{
    bool is_fine = true;

    for (size_t i = 0; i < line.length && is_fine; i++) {
        is_fine = (unsigned char)line.data[i] >= ' ' || line.data[i] == '\t';
    }
    return is_fine;
}

static struct text write_head(struct mock *mock, const struct fixture_exchange *exchange)
{
    struct buffer out;

    buffer_init(&out, HEAD_MAX);
    for (size_t i = 0; i < exchange->header_count; i++) {
        const struct header *header = &exchange->headers[i];
        if (!is_of_transport(header->name) && is_plain(header->name) && is_plain(header->value)) {
            buffer_printf(&out, "%.*s: %.*s\r\n", TEXT_ARGS(header->name), TEXT_ARGS(header->value));
        }
    }
    struct text head = out.length == 0 ? TEXT("") : arena_copy(&mock->scratch, buffer_text(&out));
    buffer_fini(&out);
    return head;
}

// ---- differences in words

struct teller {
    struct mock_listener listener;
    struct mock *mock;
    struct mock_reply *reply;
};

static void tell(struct mock_listener *listener, struct text words)
{
    struct teller *teller = CONTAINER_OF(listener, struct teller, listener);
    struct mock_reply *reply = teller->reply;
    bool is_bare = words.length == 0 || memchr(words.data, ':', words.length) == NULL;
    char place[WORDS_MAX];

    reply->differences++;
    if (reply->told_count < MOCK_DIFFERENCES_MAX) {
        size_t length = redact_print(place, sizeof(place), "%.*s%s", TEXT_ARGS(words), is_bare ? " differs" : "");
        reply->told[reply->told_count++] = arena_copy(&teller->mock->scratch, (struct text){ place, length });
    }
}

static void tell_differences(struct mock *mock, size_t door, const struct mock_choice *choice,
                             const struct http_request *request, struct mock_reply *reply)
{
    struct teller teller = { .listener = { tell }, .mock = mock, .reply = reply };
    struct http_request here = *request;

    here.url = mock_url_of(&mock->scratch, choice->play, mock->doors[door].supplier, door, request->url);
    mock_tell_differences(choice->play, choice->exchange, &here, &teller.listener);
}

// ---- nothing fits

static void write_request_of(const struct mock_choice *choice, struct json_writer *json)
{
    const struct json_node *expect = choice->play->exchanges.items[choice->exchange].expect;
    struct text method = json_tree_text(expect, "method"), url = json_tree_text(expect, "url");
    char place[WORDS_MAX];
    size_t length = redact_print(place, sizeof(place), "%.*s %.*s", TEXT_ARGS(method), TEXT_ARGS(url));

    json_field_text(json, "request", (struct text){ place, length });
}

static void write_nearest(const struct mock_choice *choice, const struct mock_reply *reply, struct json_writer *json)
{
    char place[64];
    struct buffer name;

    buffer_init(&name, sizeof(place));
    buffer_printf(&name, "%sexchanges[%zu]", reply->where, reply->exchange);
    json_key(json, "nearest");
    json_begin_object(json);
    json_field_text(json, "fixture", reply->fixture);
    json_field_text(json, "exchange", buffer_text(&name));
    buffer_fini(&name);
    write_request_of(choice, json);
    json_key(json, "differences");
    json_begin_array(json);
    for (size_t i = 0; i < reply->told_count; i++) {
        json_text(json, reply->told[i]);
    }
    json_end_array(json);
    json_end_object(json);
}

static void refuse(struct mock *mock, size_t door, const struct mock_choice *choice, const struct http_request *request,
                   struct mock_reply *reply)
{
    char place[WORDS_MAX];
    struct json_writer json;
    struct buffer out;
    size_t length =
        redact_print(place, sizeof(place), "no exchange of the fixtures of `%.*s` fits %.*s %.*s",
                     TEXT_ARGS(mock_door_supplier(mock, door)), TEXT_ARGS(request->method), TEXT_ARGS(request->url));

    buffer_init(&out, BODY_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    json_key(&json, "error");
    json_begin_object(&json);
    json_field_c(&json, "code", "no_exchange");
    json_field_text(&json, "message", (struct text){ place, length });
    if (choice->play != NULL) {
        write_nearest(choice, reply, &json);
    }
    json_end_object(&json);
    json_end_object(&json);
    reply->status = 404;
    reply->head = TEXT("content-type: application/json\r\n");
    reply->body = arena_copy(&mock->scratch, buffer_text(&out));
    buffer_fini(&out);
}

void mock_answer(struct mock *mock, size_t door, const struct http_request *request, bool is_strict,
                 struct mock_reply *reply)
{
    arena_fini(&mock->scratch);
    arena_init(&mock->scratch, SCRATCH_MAX);
    *reply = (struct mock_reply){ .where = "" };
    struct mock_choice choice = mock_choose(mock, mock->doors[door].supplier, door, request, is_strict);
    if (choice.play != NULL) {
        reply->fixture = choice.play->fixture->path;
        reply->where = choice.play->where;
        reply->exchange = choice.exchange;
        tell_differences(mock, door, &choice, request, reply);
    }
    reply->is_found = choice.play != NULL && choice.can_answer;
    if (choice.play == NULL || !choice.can_answer) {
        refuse(mock, door, &choice, request, reply);
        return;
    }
    const struct fixture_exchange *exchange = &choice.play->exchanges.items[choice.exchange];
    reply->status = exchange->status;
    reply->after_ms = exchange->after_us / 1000;
    reply->head = write_head(mock, exchange);
    reply->body = exchange->body;
}
