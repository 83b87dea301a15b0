#include "farm/fault.h"

static const struct fault_row rows[FAULT_COUNT] = {
    [FAULT_NONE] = { "none", FAULT_AT_ANSWER, "behaves" },
    [FAULT_REFUSED] = { "refused", FAULT_AT_DOOR, "no listener: connects are refused" },
    [FAULT_HANG_CONNECT] = { "hang_connect", FAULT_AT_DOOR, "a full accept queue: connects hang" },
    [FAULT_NEVER_RESOLVES] = { "never_resolves", FAULT_AT_NAME, "the name server keeps silent about the name" },
    [FAULT_NXDOMAIN] = { "nxdomain", FAULT_AT_NAME, "the name server says that there is no such name" },
    [FAULT_HANG_ACCEPT] = { "hang_accept", FAULT_AT_ACCEPT, "accepts, then silence" },
    [FAULT_HANG_TLS] = { "hang_tls", FAULT_AT_ACCEPT, "accepts, but never shakes hands (TLS only)" },
    [FAULT_RESET_ACCEPT] = { "reset_accept", FAULT_AT_ACCEPT, "resets as soon as it has accepted" },
    [FAULT_SILENT_KEPT] = { "silent_kept", FAULT_AT_ACCEPT, "one exchange, then the kept connection is silent" },
    [FAULT_HANG_ANSWER] = { "hang_answer", FAULT_AT_ANSWER, "reads the request, then silence" },
    [FAULT_HANG_HEADERS] = { "hang_headers", FAULT_AT_ANSWER, "sends the headers, then silence" },
    [FAULT_HANG_BODY] = { "hang_body", FAULT_AT_ANSWER, "sends half of the body, then silence" },
    [FAULT_DRIP] = { "drip", FAULT_AT_ANSWER, "sends the body one byte each 0.4 s" },
    [FAULT_RESET_HEADERS] = { "reset_headers", FAULT_AT_ANSWER, "resets after the headers" },
    [FAULT_RESET_BODY] = { "reset_body", FAULT_AT_ANSWER, "resets in the middle of the body" },
    [FAULT_CUT_BODY] = { "cut_body", FAULT_AT_ANSWER, "closes in the middle of the body" },
    [FAULT_STATUS_429] = { "status_429", FAULT_AT_ANSWER, "429 with Retry-After" },
    [FAULT_STATUS_500] = { "status_500", FAULT_AT_ANSWER, "500 with a JSON error" },
    [FAULT_STATUS_503] = { "status_503", FAULT_AT_ANSWER, "503 with a JSON error" },
    [FAULT_HTML] = { "html", FAULT_AT_ANSWER, "200 with an HTML page" },
    [FAULT_EMPTY] = { "empty", FAULT_AT_ANSWER, "200 with an empty body" },
};

const struct fault_row *fault_row(enum fault fault)
{
    require(fault < FAULT_COUNT);
    return &rows[fault];
}

bool fault_find(struct text name, enum fault *fault)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (text_equals_c(name, rows[i].name)) {
            *fault = (enum fault)i;
            return true;
        }
    }
    return false;
}
