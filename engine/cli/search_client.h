/// Search client: sends one search, or one question of an operator, to an engine and waits for the reply.
///
/// Threads: the calling one, which it blocks; a name in the URL is resolved on a thread of its own.
/// Memory:  the reply is the caller's.
#pragma once

#include "model/exchange.h"

struct search_client_options {
    const char *url; // "http://127.0.0.1:8080"; a path is kept in front of "/v1/search"
    struct text body;
    uint64_t budget_ms; // 0: what the body says
};

/// A GET of the admin listener, or with a body a POST.
struct search_client_question {
    const char *url;      // "http://127.0.0.1:8081"
    const char *path;     // "/admin/v1/status"
    const char *token;    // NULL: none
    struct text body;     // JSON; absent: none
    uint64_t patience_ms; // 0: SEARCH_CLIENT_PATIENCE_MS
};

enum { SEARCH_CLIENT_REPLY_CAP = 64 * 1024 * 1024, SEARCH_CLIENT_PATIENCE_MS = 30000 };

/// STATUS_OK: a whole HTTP response, whatever its status. STATUS_INVALID: the URL is none. STATUS_IO: nobody answered.
MUST_CHECK enum status search_client_post(const struct search_client_options *options, struct http_response **response,
                                          struct failure *why);
MUST_CHECK enum status search_client_ask(const struct search_client_question *question, struct http_response **response,
                                         struct failure *why);
