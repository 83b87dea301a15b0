/// CORS: which pages may call from a browser, as the settings `cors` say. Without origins there it says nothing at all.
///
/// Threads: any.
/// Memory:  owns nothing; what it returns points into the request, never into the settings.
#pragma once

#include "app/settings.h"
#include "io/http_server.h"

static inline bool cors_is_on(const struct settings *settings)
{
    return settings->cors_origin_count > 0;
}

/// Fills in what every reply to this request carries, and returns how many headers it is.
size_t cors_headers(const struct settings *settings, const struct http_call *call,
                    struct header_pair headers[HTTP_SERVER_COMMON_HEADERS]);

/// Answers the OPTIONS of a path that takes `method`.
void cors_reply_options(const struct settings *settings, struct http_call *call, const char *method);
