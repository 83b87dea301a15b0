#include "farm/prompter.h"
#include "base/clock.h"
#include "base/frame.h"
#include "base/json_tree.h"
#include "base/json_write.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ARENA_MAX = 1 << 20, JSON_MAX = 64 << 10, READ_AT_ONCE = 256 << 10 };

struct prompter {
    struct watch watch;
    struct farm *farm;
    struct buffer input, output;
    size_t sent; // of the output
    uint64_t questions;
};

// ---- to the prompter

/// Sends what the socket takes.
static void flush(struct prompter *prompter)
{
    struct buffer *output = &prompter->output;

    while (prompter->sent < output->length) {
        ssize_t sent = send(prompter->watch.fd, output->data + prompter->sent, output->length - prompter->sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) {
            prompter->farm->loop.is_stopping |= sent < 0 && errno != EAGAIN && errno != EINTR;
            return;
        }
        prompter->sent += (size_t)sent;
    }
    prompter->sent = 0;
    buffer_clear(output);
}

/// Begins a message; message_end sends it.
static void message_begin(struct json_writer *json, struct buffer *out)
{
    buffer_init(out, JSON_MAX + REQUEST_MAX * 6); // a target may need six bytes for each of its own
    json_writer_init(json, out);
    json_begin_object(json);
}

static void message_end(struct prompter *prompter, struct json_writer *json, struct text bytes)
{
    json_end_object(json);
    // What does not fit is lost, and with it the order of the two: better to end.
    if (json->out->is_full) {
        prompter->farm->loop.is_stopping = true;
    } else {
        frame_append(&prompter->output, buffer_text(json->out), bytes);
        prompter->farm->loop.is_stopping |= prompter->output.is_full;
    }
    buffer_fini(json->out);
    flush(prompter);
}

void prompter_say_ready(struct prompter *prompter)
{
    struct json_writer json;
    struct buffer out;

    message_begin(&json, &out);
    json_field_bool(&json, "ready", true);
    message_end(prompter, &json, TEXT(""));
}

void prompter_say_failed(int fd, const struct failure *why)
{
    struct json_writer json;
    struct buffer out, frame;

    message_begin(&json, &out);
    json_field_c(&json, "failed", why->message[0] != '\0' ? why->message : "out of memory");
    json_field_c(&json, "help", why->help);
    json_end_object(&json);
    buffer_init(&frame, FRAME_MAX);
    frame_append(&frame, buffer_text(&out), TEXT(""));
    (void)!send(fd, frame.data, frame.length, MSG_NOSIGNAL);
    buffer_fini(&frame);
    buffer_fini(&out);
}

static uint32_t door_of(const struct connection *connection)
{
    return connection->supplier->index;
}

void prompter_ask(struct connection *connection, const struct request *request)
{
    struct prompter *prompter = connection->farm->prompter;
    struct json_writer json;
    struct buffer out, bytes;

    free(connection->prompted);
    connection->prompted = NULL;
    connection->question = ++prompter->questions;
    connection->asked_us = clock_now_us();
    message_begin(&json, &out);
    json_field_u64(&json, "request", connection->question);
    json_field_u64(&json, "door", door_of(connection));
    json_field_text(&json, "method", request->method);
    json_field_text(&json, "target", request->target);
    json_field_u64(&json, "head", request->head.length);
    buffer_init(&bytes, (size_t)REQUEST_MAX * 2);
    buffer_append_text(&bytes, request->head);
    buffer_append_text(&bytes, request->body);
    connection_ask(connection);
    message_end(prompter, &json, buffer_text(&bytes));
    buffer_fini(&bytes);
}

static void tell(struct connection *connection, const char *fault, bool has_left)
{
    struct prompter *prompter = connection->farm->prompter;
    struct json_writer json;
    struct buffer out;

    if (prompter == NULL || connection->question == 0) {
        return;
    }
    message_begin(&json, &out);
    json_field_u64(&json, "told", connection->question);
    json_field_u64(&json, "ms", (clock_now_us() - connection->asked_us) / 1000);
    if (fault != NULL) {
        json_field_c(&json, "fault", fault);
    }
    if (has_left) {
        json_field_bool(&json, "left", true);
    }
    connection->question = 0;
    message_end(prompter, &json, TEXT(""));
}

void prompter_tell(struct connection *connection, enum fault fault)
{
    tell(connection, fault == FAULT_NONE ? NULL : fault_row(fault)->name, false);
}

void prompter_tell_left(struct connection *connection)
{
    tell(connection, NULL, true);
}

void prompter_tell_met(struct connection *connection, enum fault fault)
{
    struct prompter *prompter = connection->farm->prompter;
    struct json_writer json;
    struct buffer out;

    if (prompter != NULL) {
        message_begin(&json, &out);
        json_field_c(&json, "met", fault_row(fault)->name);
        json_field_u64(&json, "door", door_of(connection));
        message_end(prompter, &json, TEXT(""));
    }
}

// ---- from the prompter

static struct connection *find_asking(struct farm *farm, uint64_t question)
{
    LIST_FOR_EACH (node, &farm->connections) {
        struct connection *connection = CONTAINER_OF(node, struct connection, node);
        if (connection->question == question && connection->state == CONNECTION_ASKING) {
            return connection;
        }
    }
    return NULL;
}

static bool has_body(uint64_t status)
{
    return status >= 200 && status != 204 && status != 304;
}

/// NULL without memory, or when the message is none.
static struct prompted *prompted_create(const struct connection *connection, uint64_t status, struct text lines,
                                        struct text body)
{
    bool closes = connection->closes || connection->supplier->now.closes;
    struct prompted *made = NULL;
    struct buffer head;

    buffer_init(&head, FRAME_MAX);
    buffer_printf(&head, "HTTP/1.1 %llu \r\n", (unsigned long long)status);
    buffer_append_text(&head, lines);
    if (has_body(status)) {
        buffer_printf(&head, "Content-Length: %zu\r\n", body.length);
    }
    buffer_printf(&head, "%s\r\n", closes ? "Connection: close\r\n" : "");
    body.length = has_body(status) ? body.length : 0;
    if (!head.is_full) {
        made = malloc(sizeof(*made) + head.length + body.length + 1);
    }
    if (made != NULL) {
        char *end = text_put(made->bytes, buffer_text(&head));
        made->head = (struct text){ made->bytes, head.length };
        made->body = (struct text){ end, body.length };
        (void)text_put(end, body);
    }
    buffer_fini(&head);
    return made;
}

/// How long this one takes: the model, around `after_ms` unless the door has a median.
static uint64_t latency_us(struct supplier *supplier, uint64_t after_ms)
{
    double median_ms = supplier->now.median_ms;

    if (median_ms < 0) {
        supplier->now.median_ms = (double)after_ms;
    }
    uint64_t latency = supplier_latency_us(supplier, clock_now_us());
    supplier->now.median_ms = median_ms;
    return latency;
}

/// False: it is no message of a prompter.
static bool take_answer(struct prompter *prompter, const struct json_node *root, struct text bytes)
{
    uint64_t question, status, after_ms, head;

    if (!json_tree_to_u64(json_tree_member(root, "answer"), &question) ||
        !json_tree_to_u64(json_tree_member(root, "status"), &status) || status < 100 || status > 999 ||
        !json_tree_to_u64(json_tree_member(root, "after_ms"), &after_ms) ||
        !json_tree_to_u64(json_tree_member(root, "head"), &head) || head > bytes.length) {
        return false;
    }
    struct connection *connection = find_asking(prompter->farm, question);
    if (connection == NULL) {
        return true; // its caller has left
    }
    connection->prompted = prompted_create(connection, status, (struct text){ bytes.data, (size_t)head },
                                           (struct text){ bytes.data + head, bytes.length - (size_t)head });
    if (connection->prompted == NULL) {
        connection_close(connection);
    } else {
        connection_wait(connection, latency_us(connection->supplier, after_ms) + 1);
    }
    return true;
}

static bool take_message(struct prompter *prompter, const struct frame *frame)
{
    struct arena arena;
    struct json_node *root;
    size_t offset;
    const char *sentence;

    arena_init(&arena, ARENA_MAX);
    bool is_taken = json_tree_read(&arena, frame->json, &root, &offset, &sentence) == STATUS_OK &&
                    take_answer(prompter, root, frame->bytes);
    arena_fini(&arena);
    return is_taken;
}

/// Takes all whole messages. False: nothing sensible can follow.
static bool take_messages(struct prompter *prompter)
{
    struct text rest = buffer_text(&prompter->input);
    enum frame_verdict verdict = FRAME_INCOMPLETE;
    struct frame frame;

    while (rest.length > 0 && (verdict = frame_read(&frame, rest)) == FRAME_WHOLE) {
        if (!take_message(prompter, &frame)) {
            return false;
        }
        rest = (struct text){ rest.data + frame.length, rest.length - frame.length };
    }
    if (rest.length > 0 && rest.length < prompter->input.length) {
        memmove(prompter->input.data, rest.data, rest.length);
    }
    prompter->input.length = rest.length;
    return verdict != FRAME_BROKEN;
}

static void prompter_on_event(struct watch *watch, uint32_t events)
{
    struct prompter *prompter = CONTAINER_OF(watch, struct prompter, watch);
    bool is_open = (events & (EPOLLHUP | EPOLLERR)) == 0;

    while (is_open) {
        if (!buffer_reserve(&prompter->input, READ_AT_ONCE)) {
            is_open = false;
            break;
        }
        ssize_t got = recv(watch->fd, prompter->input.data + prompter->input.length, READ_AT_ONCE, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        is_open = got > 0;
        prompter->input.length += is_open ? (size_t)got : 0;
        is_open = is_open && take_messages(prompter);
    }
    flush(prompter);
    prompter->farm->loop.is_stopping |= !is_open;
}

enum status prompter_create(struct farm *farm, int fd, struct prompter **prompter)
{
    struct prompter *made = calloc(1, sizeof(*made));

    *prompter = made;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->watch = (struct watch){ prompter_on_event, fd };
    made->farm = farm;
    buffer_init(&made->input, (size_t)FRAME_MAX * 2);
    buffer_init(&made->output, (size_t)FRAME_MAX * 2);
    return loop_watch(&farm->loop, &made->watch);
}

void prompter_destroy(struct prompter **prompter)
{
    if (*prompter != NULL) {
        buffer_fini(&(*prompter)->input);
        buffer_fini(&(*prompter)->output);
        free(*prompter);
        *prompter = NULL;
    }
}
