#include "cli/mock_run.h"

#include "base/json_tree.h"
#include "base/json_write.h"
#include "base/redact.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ARENA_MAX = 4 << 20, HEADERS_MAX = 256, LINE_MAX = 1 << 20, WORDS_SIZE = 600, METHOD_SIZE = 24 };

/// A request whose answer is on its way.
struct mock_pending {
    struct mock_pending *next;
    uint64_t number;
    struct text supplier, fixture; // views of the mock
    const char *where;
    size_t exchange, differences;
    bool is_found;
    uint16_t status;
    char method[METHOD_SIZE];
    char target[WORDS_SIZE]; // without secrets
    char *told;              // lines, of the differences
};

// ---- what is told

/// "ok-return" of "suppliers/acme.test/ok-return.json".
static struct text stem_of(struct text path)
{
    size_t from = path.length, tail = sizeof(".json") - 1;

    while (from > 0 && path.data[from - 1] != '/') {
        from--;
    }
    size_t length = path.length - from;
    return (struct text){ path.data + from, length > tail ? length - tail : length };
}

static void write_told(struct json_writer *json, const struct mock_pending *pending)
{
    struct text rest = text_of(pending->told);

    json_key(json, "told");
    json_begin_array(json);
    while (rest.length > 0) {
        json_text(json, text_split(rest, '\n', &rest));
    }
    json_end_array(json);
}

/// What became of it: {told, ms, fault?, left?} of the farm.
static void write_json(const struct mock_pending *pending, const struct json_node *end, uint64_t ms, struct buffer *out)
{
    struct json_writer json;
    struct text fault = json_tree_text(end, "fault");

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_c(&json, "event", "request");
    json_field_text(&json, "supplier", pending->supplier);
    json_field_c(&json, "method", pending->method);
    json_field_c(&json, "target", pending->target);
    json_field_bool(&json, "found", pending->is_found);
    if (pending->fixture.data != NULL) {
        char place[64];
        (void)snprintf(place, sizeof(place), "%sexchanges[%zu]", pending->where, pending->exchange);
        json_field_text(&json, pending->is_found ? "fixture" : "nearest_fixture", pending->fixture);
        json_field_c(&json, pending->is_found ? "exchange" : "nearest_exchange", place);
        json_field_u64(&json, "differences", pending->differences);
        write_told(&json, pending);
    }
    json_field_u64(&json, "status", pending->status);
    json_field_u64(&json, "ms", ms);
    if (fault.data != NULL) {
        json_field_text(&json, "fault", fault);
    }
    if (json_tree_member(end, "left") != NULL) {
        json_field_bool(&json, "left", true);
    }
    json_end_object(&json);
    buffer_append_byte(out, '\n');
}

static void write_line(const struct mock_pending *pending, const struct json_node *end, uint64_t ms, struct buffer *out)
{
    struct text fault = json_tree_text(end, "fault"), rest = text_of(pending->told);
    struct text stem = stem_of(pending->fixture);

    buffer_printf(out, "%.*s  ", TEXT_ARGS(pending->supplier));
    if (pending->is_found) {
        buffer_printf(out, "%.*s %sexchanges[%zu]", TEXT_ARGS(stem), pending->where, pending->exchange);
    } else {
        buffer_append_c(out, "nothing fits");
    }
    buffer_printf(out, "  %s %s  ", pending->method, pending->target);
    if (fault.data != NULL) {
        buffer_printf(out, "%.*s in place of ", TEXT_ARGS(fault));
    }
    buffer_printf(out, "%u  %llu ms%s\n", pending->status, (unsigned long long)ms,
                  json_tree_member(end, "left") != NULL ? "  the caller left before" : "");
    if (!pending->is_found && stem.length > 0) {
        buffer_printf(out, "   = nearest is %.*s %sexchanges[%zu]\n", TEXT_ARGS(pending->fixture), pending->where,
                      pending->exchange);
    }
    while (rest.length > 0) {
        struct text line = text_split(rest, '\n', &rest);
        buffer_printf(out, "   = %.*s\n", TEXT_ARGS(line));
    }
}

/// Bytes of strangers that a terminal would obey become `?`; JSON has none.
static void print(struct buffer *out)
{
    for (size_t i = 0; i < out->length; i++) {
        unsigned char byte = (unsigned char)out->data[i];
        out->data[i] = (byte < ' ' && byte != '\n') || byte == 0x7f ? '?' : out->data[i];
    }
    cli_flush(stdout, out);
}

// ---- requests

static char *join_told(const struct mock_reply *reply)
{
    struct buffer out;

    buffer_init(&out, LINE_MAX);
    for (size_t i = 0; i < reply->told_count; i++) {
        buffer_printf(&out, "%.*s\n", TEXT_ARGS(reply->told[i]));
    }
    if (reply->differences > reply->told_count) {
        buffer_printf(&out, "and %zu more\n", reply->differences - reply->told_count);
    }
    char *joined = buffer_take(&out);
    return joined;
}

static bool keep_pending(struct mock_run *run, uint64_t number, size_t door, const struct http_request *request,
                         const struct mock_reply *reply)
{
    struct mock_pending *pending = calloc(1, sizeof(*pending));

    if (pending == NULL) {
        return false;
    }
    *pending = (struct mock_pending){ .next = run->pending,
                                      .number = number,
                                      .supplier = mock_door_supplier(run->mock, door),
                                      .fixture = reply->fixture,
                                      .where = reply->where,
                                      .exchange = reply->exchange,
                                      .differences = reply->differences,
                                      .is_found = reply->is_found,
                                      .status = reply->status,
                                      .told = join_told(reply) };
    (void)snprintf(pending->method, sizeof(pending->method), "%.*s", TEXT_ARGS(request->method));
    redact_print(pending->target, sizeof(pending->target), "%.*s", TEXT_ARGS(request->url));
    run->pending = pending;
    return true;
}

static void read_headers(struct text lines, struct http_request *request)
{
    while (lines.length > 0 && request->header_count < HEADERS_MAX) {
        struct text value;
        struct text name = text_split(text_split(lines, '\n', &lines), ':', &value);
        if (value.data != NULL) {
            request->headers[request->header_count++] = (struct header){ text_trim(name), text_trim(value) };
        }
    }
}

/// {request, door, method, target, head}: the mock says what is answered. False: it is no message of a farm, or it is
/// gone.
static bool take_request(struct mock_run *run, const struct json_node *root, struct text bytes)
{
    struct header headers[HEADERS_MAX];
    struct http_request request = { .method = json_tree_text(root, "method"),
                                    .url = json_tree_text(root, "target"),
                                    .headers = headers };
    struct mock_reply reply;
    struct json_writer json;
    struct buffer out, answer;
    uint64_t number, door, head;

    if (!json_tree_to_u64(json_tree_member(root, "request"), &number) ||
        !json_tree_to_u64(json_tree_member(root, "door"), &door) || door >= mock_door_count(run->mock) ||
        !json_tree_to_u64(json_tree_member(root, "head"), &head) || head > bytes.length) {
        return false;
    }
    read_headers((struct text){ bytes.data, (size_t)head }, &request);
    if (bytes.length > head) {
        request.body = (struct text){ bytes.data + head, bytes.length - (size_t)head };
    }
    mock_answer(run->mock, (size_t)door, &request, run->options->is_strict, &reply);
    buffer_init(&out, ARENA_MAX);
    buffer_init(&answer, FRAME_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    json_field_u64(&json, "answer", number);
    json_field_u64(&json, "status", reply.status);
    json_field_u64(&json, "after_ms", reply.after_ms);
    json_field_u64(&json, "head", reply.head.length);
    json_end_object(&json);
    buffer_append_text(&answer, reply.head);
    buffer_append_text(&answer, reply.body);
    bool is_sent = keep_pending(run, number, (size_t)door, &request, &reply) && !answer.is_full &&
                   farm_child_send(run->farm, buffer_text(&out), buffer_text(&answer));
    buffer_fini(&answer);
    buffer_fini(&out);
    return is_sent;
}

static void pending_free(struct mock_pending *pending)
{
    free(pending->told);
    free(pending);
}

static void take_told(struct mock_run *run, const struct json_node *root)
{
    struct mock_pending **at = &run->pending;
    uint64_t number = 0, ms = 0;
    struct buffer out;

    (void)!json_tree_to_u64(json_tree_member(root, "told"), &number);
    (void)!json_tree_to_u64(json_tree_member(root, "ms"), &ms);
    while (*at != NULL && (*at)->number != number) {
        at = &(*at)->next;
    }
    struct mock_pending *pending = *at;
    if (pending == NULL) {
        return;
    }
    *at = pending->next;
    buffer_init(&out, LINE_MAX);
    if (run->options->is_json) {
        write_json(pending, root, ms, &out);
    } else {
        write_line(pending, root, ms, &out);
    }
    print(&out);
    buffer_fini(&out);
    run->unfound += pending->is_found ? 0 : 1;
    pending_free(pending);
    run->told++;
}

static void take_met(struct mock_run *run, const struct json_node *root)
{
    struct text fault = json_tree_text(root, "met");
    struct json_writer json;
    struct buffer out;
    uint64_t door = 0;

    if (!json_tree_to_u64(json_tree_member(root, "door"), &door) || door >= mock_door_count(run->mock)) {
        return;
    }
    struct text supplier = mock_door_supplier(run->mock, (size_t)door);
    buffer_init(&out, LINE_MAX);
    if (run->options->is_json) {
        json_writer_init(&json, &out);
        json_begin_object(&json);
        json_field_c(&json, "event", "fault");
        json_field_text(&json, "supplier", supplier);
        json_field_text(&json, "fault", fault);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        buffer_printf(&out, "%.*s  %.*s, met by a connection\n", TEXT_ARGS(supplier), TEXT_ARGS(fault));
    }
    print(&out);
    buffer_fini(&out);
}

// ---- messages

/// False: the two do not understand each other, or the farm is gone.
static bool take_message(struct mock_run *run, const struct frame *frame)
{
    struct arena arena;
    struct json_node *root;
    const char *sentence;
    size_t offset;
    bool is_fine = false;

    arena_init(&arena, ARENA_MAX);
    if (json_tree_read(&arena, frame->json, &root, &offset, &sentence) == STATUS_OK) {
        is_fine = true;
        if (json_tree_member(root, "request") != NULL) {
            is_fine = take_request(run, root, frame->bytes);
        } else if (json_tree_member(root, "told") != NULL) {
            take_told(run, root);
        } else if (json_tree_member(root, "met") != NULL) {
            take_met(run, root);
        }
    }
    arena_fini(&arena);
    return is_fine;
}

static bool is_over(const struct mock_run *run)
{
    return (run->options->once > 0 && run->told >= run->options->once) || ferror(stdout) != 0;
}

static void tell_end(const struct mock_run *run)
{
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, LINE_MAX);
    if (run->options->is_json) {
        json_writer_init(&json, &out);
        json_begin_object(&json);
        json_field_c(&json, "event", "end");
        json_field_u64(&json, "requests", run->told);
        json_field_u64(&json, "not_found", run->unfound);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        buffer_printf(&out, "mock: %zu request%s, %zu that nothing fitted\n", run->told, run->told == 1 ? "" : "s",
                      run->unfound);
    }
    print(&out);
    buffer_fini(&out);
}

int mock_run(struct mock_run *run, int signal_fd)
{
    struct pollfd watched[2] = { { .fd = signal_fd, .events = POLLIN }, { .fd = run->farm->fd, .events = POLLIN } };
    bool is_open = true, is_broken = false;
    struct frame frame;

    while (is_open && !is_over(run)) {
        (void)poll(watched, 2, -1);
        if ((watched[0].revents & POLLIN) != 0) {
            struct signalfd_siginfo signal;
            (void)!read(signal_fd, &signal, sizeof(signal)); // taken: it would come again once it is not blocked
            break;
        }
        is_open = watched[1].revents == 0 || farm_child_read(run->farm);
        while (is_open && !is_over(run) && farm_child_next(run->farm, &frame, &is_broken)) {
            is_open = take_message(run, &frame);
        }
        is_open = is_open && !is_broken;
    }
    while (run->pending != NULL) {
        struct mock_pending *pending = run->pending;
        run->pending = pending->next;
        pending_free(pending);
    }
    tell_end(run);
    return is_open ? CLI_OK : CLI_BUG;
}

bool mock_run_await_ready(struct farm_child *farm, struct failure *why)
{
    struct pollfd watched = { .fd = farm->fd, .events = POLLIN };
    bool is_broken = false, is_ready = false, is_open = true;
    struct frame frame;
    struct arena arena;
    struct json_node *root;
    const char *sentence;
    size_t offset;

    while (is_open && !farm_child_next(farm, &frame, &is_broken) && !is_broken) {
        (void)poll(&watched, 1, -1);
        is_open = farm_child_read(farm);
    }
    arena_init(&arena, ARENA_MAX);
    if (!is_open || is_broken || json_tree_read(&arena, frame.json, &root, &offset, &sentence) != STATUS_OK) {
        failure_set(why, "the farm program ended before it was ready");
        failure_help(why, "it may be one of another version: build the target `farm` anew");
    } else if (json_tree_member(root, "failed") != NULL) {
        failure_set(why, "%.*s", TEXT_ARGS(json_tree_text(root, "failed")));
        failure_help(why, "%.*s", TEXT_ARGS(json_tree_text(root, "help")));
    } else {
        is_ready = json_tree_member(root, "ready") != NULL;
    }
    arena_fini(&arena);
    return is_ready;
}
