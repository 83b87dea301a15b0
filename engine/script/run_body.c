#include "script/run_body.h"

#include "script/inflate.h"

static enum script_verdict body_inflate(struct run_response *view, const struct http_response *response,
                                        struct text body, uint64_t cap, struct buffer *plain, const char **why)
{
    struct text encoding = http_response_header(response, "content-encoding");

    if (body.length > cap) {
        *why = "the body is larger than the cap";
        return SCRIPT_TOO_LARGE;
    }
    if (body.length == 0) {
        return SCRIPT_OK; // nothing to inflate; what that means is the script's to say
    }
    switch (inflate_body(encoding.data == NULL ? TEXT("") : encoding, body, plain, &view->body)) {
    case INFLATE_OK:
        return SCRIPT_OK;
    case INFLATE_CORRUPT:
        *why = "the compressed body is corrupt or cut";
        return SCRIPT_UNPARSABLE;
    case INFLATE_TOO_LARGE:
        *why = "the body is larger than the cap once it is inflated";
        return SCRIPT_TOO_LARGE;
    case INFLATE_UNKNOWN_ENCODING:
        *why = "the body has a content-encoding that was not asked for";
        return SCRIPT_UNPARSABLE;
    }
    return SCRIPT_UNPARSABLE;
}

enum script_verdict run_body_open(struct run_response *view, const struct http_response *response, struct text body,
                                  uint64_t cap, struct buffer *plain, const char **why)
{
    buffer_init(plain, (size_t)cap);
    enum script_verdict verdict = body_inflate(view, response, body, cap, plain, why);
    if (verdict != SCRIPT_OK) {
        return verdict;
    }
    view->reading = charset_begin(http_response_header(response, "content-type"), view->body);
    buffer_init(&view->converted, plain->ceiling);
    if (!charset_open(&view->reading, view->body, &view->converted, &view->body)) {
        *why = "the body is larger than the cap once it is UTF-8";
        return SCRIPT_TOO_LARGE;
    }
    return SCRIPT_OK;
}
