/// Problem: what the API says when it cannot do what was asked (application/problem+json, RFC 9457).
///
/// Threads: any.
/// Memory:  a plain value with room for a handful of errors; texts that do not fit are cut.
#pragma once

#include "base/block.h"
#include "base/status.h"
#include "io/http_server.h"

enum { PROBLEM_MAX_ERRORS = 8, PROBLEM_MAX_HEADERS = 3 };

struct problem_error {
    char pointer[128]; // RFC 6901; "" is the whole document
    char code[32];     // stable
    char detail[256];
};

struct problem {
    uint16_t status;
    const char *code;  // a constant
    const char *title; // a constant
    struct problem_error errors[PROBLEM_MAX_ERRORS];
    size_t error_count;
};

void problem_init(struct problem *problem, uint16_t status, const char *code, const char *title);
void problem_add(struct problem *problem, const char *pointer, const char *code, const char *detail, ...)
    PRINTF_LIKE(4, 5);

/// The finished body; NULL without memory.
MUST_CHECK struct block *problem_body(const struct problem *problem);

/// Answers the request with it, with at most PROBLEM_MAX_HEADERS headers more, and nobody may keep it.
void problem_reply(struct http_call *call, const struct problem *problem, const struct header_pair *headers,
                   size_t header_count);
