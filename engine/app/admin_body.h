/// Admin body: the JSON object that a change is asked for with, read against a table of its fields.
///
/// Threads: the admin's.
/// Memory:  texts live in the caller's arena.
#pragma once

#include "app/problem.h"
#include "base/json_tree.h"
#include "io/http_server.h"

/// One field; `read` says what it should have been when it is something else, a sentence that lives on.
struct admin_field {
    const char *name;
    const char *(*read)(void *context, const struct json_node *value);
};

enum { ADMIN_WORDS_MAX = 400 };

/// Reads all fields that the body has; without a body none. False: `problem` tells what is wrong, each with a pointer.
MUST_CHECK bool admin_body_read(struct http_call *call, struct arena *arena, const struct admin_field *fields,
                                size_t count, void *context, struct problem *problem);

/// A text of at most ADMIN_WORDS_MAX bytes; NULL, or what it should have been.
const char *admin_body_words(const struct json_node *value, struct text *words);
