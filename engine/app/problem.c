#include "app/problem.h"

#include "base/json_write.h"
#include "base/redact.h"

#include <stdarg.h>
#include <stdio.h>

enum { PROBLEM_CEILING = 64 << 10 };

void problem_init(struct problem *problem, uint16_t status, const char *code, const char *title)
{
    problem->status = status;
    problem->code = code;
    problem->title = title;
    problem->error_count = 0;
}

void problem_add(struct problem *problem, const char *pointer, const char *code, const char *detail, ...)
{
    va_list arguments;

    if (problem->error_count == PROBLEM_MAX_ERRORS) {
        return;
    }
    struct problem_error *error = &problem->errors[problem->error_count++];
    snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
    snprintf(error->code, sizeof error->code, "%s", code);
    va_start(arguments, detail);
    (void)redact_vprint(error->detail, sizeof error->detail, detail, arguments); // callers repeat what they know
    va_end(arguments);
}

struct block *problem_body(const struct problem *problem)
{
    struct buffer buffer;
    struct json_writer json;

    buffer_init(&buffer, PROBLEM_CEILING);
    json_writer_init(&json, &buffer);
    json_begin_object(&json);
    json_field_c(&json, "type", "about:blank");
    json_field_c(&json, "title", problem->title);
    json_field_u64(&json, "status", problem->status);
    json_field_c(&json, "code", problem->code);
    if (problem->error_count > 0) {
        json_key(&json, "errors");
        json_begin_array(&json);
        for (size_t i = 0; i < problem->error_count; i++) {
            json_begin_object(&json);
            json_field_c(&json, "pointer", problem->errors[i].pointer);
            json_field_c(&json, "code", problem->errors[i].code);
            json_field_c(&json, "detail", problem->errors[i].detail);
            json_end_object(&json);
        }
        json_end_array(&json);
    }
    json_end_object(&json);
    struct block *body = block_from_buffer(&buffer);
    buffer_fini(&buffer);
    return body;
}

void problem_reply(struct http_call *call, const struct problem *problem, const struct header_pair *headers,
                   size_t header_count)
{
    struct header_pair all[PROBLEM_MAX_HEADERS + 1] = { { "Cache-Control", "no-store" } };
    struct block *body = problem_body(problem);
    struct http_reply reply = {
        .status = problem->status,
        .content_type = "application/problem+json",
        .body = body,
        .headers = all,
        .header_count = header_count + 1,
    };

    require(header_count <= PROBLEM_MAX_HEADERS);
    for (size_t i = 0; i < header_count; i++) {
        all[i + 1] = headers[i];
    }
    http_call_reply(call, &reply);
    block_release(&body);
}
