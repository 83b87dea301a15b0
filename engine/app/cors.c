#include "app/cors.h"

#include <stdio.h>

// What a page may read besides the body, and what it may send. These are lists of the contract, not of the caller's
// wishes: a header that is not named here has no meaning for us.
#define CORS_EXPOSED "Search-Complete, Server-Timing"
#define CORS_ALLOWED "content-type, accept, search-budget-ms, search-caller, traceparent, authorization"

/// "*", or the origin of the request when it is listed; NULL: it may not.
static const char *allowed_origin(const struct settings *settings, struct text origin)
{
    for (size_t i = 0; i < settings->cors_origin_count; i++) {
        if (text_equals_c(settings->cors_origins[i], "*")) {
            return "*";
        }
    }
    for (size_t i = 0; i < settings->cors_origin_count; i++) {
        if (text_equals(settings->cors_origins[i], origin)) {
            return origin.data; // terminated, and there as long as the request
        }
    }
    return NULL;
}

size_t cors_headers(const struct settings *settings, const struct http_call *call,
                    struct header_pair headers[HTTP_SERVER_COMMON_HEADERS])
{
    struct text origin = http_call_header(call, "origin");
    size_t count = 0;

    if (!cors_is_on(settings)) {
        return 0;
    }
    const char *allowed = allowed_origin(settings, origin);
    if (allowed == NULL || allowed[0] != '*') {
        headers[count++] = (struct header_pair){ "Vary", "Origin" }; // a cache must not hand it to another page
    }
    if (allowed != NULL && origin.data != NULL) {
        headers[count++] = (struct header_pair){ "Access-Control-Allow-Origin", allowed };
        headers[count++] = (struct header_pair){ "Access-Control-Expose-Headers", CORS_EXPOSED };
    }
    return count;
}

void cors_reply_options(const struct settings *settings, struct http_call *call, const char *method)
{
    struct text origin = http_call_header(call, "origin");
    bool is_preflight = origin.data != NULL && http_call_header(call, "access-control-request-method").data != NULL;
    bool is_allowed = is_preflight && allowed_origin(settings, origin) != NULL;
    char allow[32];
    char max_age[24];

    snprintf(allow, sizeof allow, "%s, OPTIONS", method);
    snprintf(max_age, sizeof max_age, "%llu", (unsigned long long)(settings->cors_max_age_us / 1000000));
    struct header_pair headers[] = {
        { "Allow", allow },
        { "Access-Control-Allow-Methods", method },
        { "Access-Control-Allow-Headers", CORS_ALLOWED },
        { "Access-Control-Max-Age", max_age },
    };
    struct http_reply reply = { .status = 204, .headers = headers, .header_count = is_allowed ? COUNT_OF(headers) : 1 };
    http_call_reply(call, &reply);
}
