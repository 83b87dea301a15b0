#include "store/redis_wire.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

// The parser asks the functions below for each object of a reply, and tells in its task which array it belongs to. They
// count what a reply takes; the parser's own buffer, which holds what is not yet whole, is measured after each look.

enum { NESTING_MAX = 2 }; // SCAN's reply is an array within an array

struct redis_wire {
    redisReader *reader;
    size_t taken; // by the objects of the reply that is being read
};

// ----------------------------------------------------------------------------------------------------------- commands

bool redis_command(struct buffer *out, const struct text *arguments, size_t count)
{
    const char *bytes[REDIS_ARGUMENTS_MAX];
    size_t lengths[REDIS_ARGUMENTS_MAX];
    char *command = NULL;

    require(count <= REDIS_ARGUMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = arguments[i].length > 0 ? arguments[i].data : "";
        lengths[i] = arguments[i].length;
    }
    int length = redisFormatCommandArgv(&command, (int)count, bytes, lengths);
    if (length < 0) {
        out->is_full = true;
        return false;
    }
    bool is_added = buffer_append(out, command, (size_t)length);
    redisFreeCommand(command);
    return is_added;
}

// ------------------------------------------------------------------------------------------------------------ replies

void redis_reply_destroy(struct redis_reply **reply)
{
    struct redis_reply *gone = *reply;

    *reply = NULL;
    if (gone == NULL) {
        return;
    }
    for (size_t i = 0; i < gone->count; i++) {
        redis_reply_destroy(&gone->elements[i]);
    }
    free(gone->elements);
    free(gone);
}

static void free_object(void *object)
{
    struct redis_reply *reply = object;

    redis_reply_destroy(&reply);
}

static size_t nesting_of(const redisReadTask *task)
{
    size_t depth = 0;

    for (const redisReadTask *above = task->parent; above != NULL; above = above->parent) {
        depth++;
    }
    return depth;
}

// NULL, which the parser takes for want of memory: the reply grows too large.
static struct redis_reply *make(const redisReadTask *task, enum redis_kind kind, size_t more)
{
    struct redis_wire *wire = task->privdata;
    size_t size = sizeof(struct redis_reply) + more;

    if (more > REDIS_REPLY_MAX || size > REDIS_REPLY_MAX - wire->taken) {
        return NULL;
    }
    struct redis_reply *reply = malloc(size);
    if (reply == NULL) {
        return NULL;
    }
    wire->taken += size;
    *reply = (struct redis_reply){ .kind = kind };
    if (task->parent != NULL) {
        struct redis_reply *array = task->parent->obj;
        array->elements[task->idx] = reply;
    }
    return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t length)
{
    enum redis_kind kind = task->type == REDIS_REPLY_ERROR    ? REDIS_ERROR
                           : task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
                                                              : REDIS_BULK;
    struct redis_reply *reply = make(task, kind, length);

    if (reply != NULL) {
        char *copy = (char *)(reply + 1);
        if (length > 0) {
            memcpy(copy, bytes, length);
        }
        reply->text = (struct text){ copy, length };
    }
    return reply;
}

static void *make_array(const redisReadTask *task, int count)
{
    if (count < 0 || count > REDIS_ARRAY_MAX || nesting_of(task) >= NESTING_MAX) {
        return NULL;
    }
    struct redis_reply **elements = calloc((size_t)count + 1, sizeof(struct redis_reply *));
    if (elements == NULL) {
        return NULL;
    }
    struct redis_reply *reply = make(task, REDIS_ARRAY, 0);
    if (reply == NULL) {
        free(elements);
        return NULL;
    }
    ((struct redis_wire *)task->privdata)->taken += (size_t)count * sizeof(struct redis_reply *);
    reply->elements = elements;
    reply->count = (size_t)count;
    return reply;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    struct redis_reply *reply = make(task, REDIS_INTEGER, 0);

    if (reply != NULL) {
        reply->integer = value;
    }
    return reply;
}

static void *make_nil(const redisReadTask *task)
{
    return make(task, REDIS_NIL, 0);
}

struct redis_wire *redis_wire_create(void)
{
    static redisReplyObjectFunctions functions = { .createString = make_string,
                                                   .createArray = make_array,
                                                   .createInteger = make_integer,
                                                   .createNil = make_nil,
                                                   .freeObject = free_object };
    struct redis_wire *wire = calloc(1, sizeof *wire);

    if (wire == NULL) {
        return NULL;
    }
    wire->reader = redisReaderCreateWithFunctions(&functions);
    if (wire->reader == NULL) {
        free(wire);
        return NULL;
    }
    wire->reader->privdata = wire;
    return wire;
}

void redis_wire_destroy(struct redis_wire **wire)
{
    struct redis_wire *gone = *wire;

    *wire = NULL;
    if (gone != NULL) {
        redisReaderFree(gone->reader);
        free(gone);
    }
}

bool redis_wire_feed(struct redis_wire *wire, struct text bytes)
{
    return redisReaderFeed(wire->reader, bytes.data, bytes.length) == REDIS_OK;
}

bool redis_wire_next(struct redis_wire *wire, struct redis_reply **reply, char *why, size_t size)
{
    void *object = NULL;

    *reply = NULL;
    if (redisReaderGetReply(wire->reader, &object) != REDIS_OK) {
        bool is_large = wire->reader->err == REDIS_ERR_OOM;
        snprintf(why, size, "%s", is_large ? "a reply is too large" : "it does not speak the protocol of Redis");
        return false;
    }
    if (object != NULL) {
        wire->taken = 0;
        *reply = object;
        return true;
    }
    if (wire->reader->len - wire->reader->pos > REDIS_REPLY_MAX) {
        snprintf(why, size, "a reply is too large");
        return false;
    }
    return true;
}
