/// Stream world: an HTTP server on a loop and thread of its own, whose streams a test writes step by step.
///
/// GET /stream waits for the test; any other path is answered at once with "whole".
///
/// Threads: the counters may be read by the test while the server runs; a step runs on the loop's thread.
/// Memory:  one world a test, made and freed by the cmocka set-up and tear-down functions.
#pragma once

#include "io/http_server.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum {
    STREAMS = 100,
    STREAM_LIMIT = 64 * 1024,
    STREAM_PIECE = 32 * 1024,
    STREAM_BACKLOG = 12 * 1024 * 1024, // more than the kernel takes
    STREAM_FLOOD = 64 * 1024 * 1024,
};

struct stream_world {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    atomic_uint requests, gone, sent, broken, slow;
    struct http_call *calls[STREAMS]; // in the order of their coming, there once `requests` counts them
    unsigned count;
};

/// Something to be done on the loop's thread while the test waits.
struct stream_step {
    struct message message;
    sem_t done;
    struct stream_world *world;
    void (*run)(struct stream_step *step);
    struct http_call *call;
    const struct http_reply *head;
    struct text piece;
    size_t limit, written;
    int fd;
    bool result;
    unsigned gone_inside; // how many had been told when it returned
};

int stream_world_setup(void **state);
int stream_world_teardown(void **state);
void stream_world_stop(struct stream_world *world); // destroys the server and ends its loop; once
uint32_t stream_world_open_calls(struct stream_world *world);

void stream_world_do(struct stream_world *world, struct stream_step *step, void (*run)(struct stream_step *step));
void stream_step_begin(struct stream_step *step); // with `head` and `limit`
void stream_step_flood(struct stream_step *step); // pieces of the pattern until one is refused
void stream_step_fill(struct stream_step *step);  // one piece of `limit` bytes of the pattern
void stream_step_stop(struct stream_step *step);

/// With a plain head.
void stream_begin(struct stream_world *world, unsigned i, size_t limit);
bool stream_write_piece(struct stream_world *world, unsigned i, struct text piece);
void stream_end(struct stream_world *world, unsigned i);

/// Bytes that count up; free with free().
char *stream_pattern(size_t length);
