#include "farm/fault.h"

static const struct fault_row rows[FAULT_COUNT] = {
    [FAULT_NONE] = { "none", FAULT_AT_ANSWER, "behaves", FAULT_NEEDS_NOTHING },
    [FAULT_REFUSED] = { "refused", FAULT_AT_DOOR, "no listener: connects are refused", FAULT_NEEDS_NOTHING },
    [FAULT_HANG_CONNECT] = { "hang_connect", FAULT_AT_DOOR, "a full accept queue: connects hang", FAULT_NEEDS_NOTHING },
    [FAULT_NEVER_RESOLVES] = { "never_resolves", FAULT_AT_NAME, "the name server keeps silent about the name",
                               FAULT_NEEDS_NOTHING },
    [FAULT_NXDOMAIN] = { "nxdomain", FAULT_AT_NAME, "the name server says that there is no such name",
                         FAULT_NEEDS_NOTHING },
    [FAULT_NAME_WRONG] = { "name_wrong", FAULT_AT_NAME,
                           "the name server tells an address that is not the supplier's: 127.0.0.1",
                           FAULT_NEEDS_NOTHING },
    [FAULT_NAME_GARBLED] = { "name_garbled", FAULT_AT_NAME, "the name server announces a record that is not there",
                             FAULT_NEEDS_NOTHING },
    [FAULT_NAME_SERVFAIL] = { "name_servfail", FAULT_AT_NAME, "the name server says that it failed",
                              FAULT_NEEDS_NOTHING },
    [FAULT_HANG_ACCEPT] = { "hang_accept", FAULT_AT_ACCEPT, "accepts, then silence", FAULT_NEEDS_NOTHING },
    [FAULT_HANG_TLS] = { "hang_tls", FAULT_AT_ACCEPT, "accepts, but never shakes hands", FAULT_NEEDS_TLS },
    [FAULT_SLOW_TLS] = { "slow_tls", FAULT_AT_ACCEPT, "shakes hands 0.4 s after it has accepted", FAULT_NEEDS_TLS },
    [FAULT_CERT_UNKNOWN] = { "cert_unknown", FAULT_AT_ACCEPT, "shows a certificate of an authority that nobody trusts",
                             FAULT_NEEDS_TLS },
    [FAULT_CERT_NAME] = { "cert_name", FAULT_AT_ACCEPT, "shows a certificate for another name", FAULT_NEEDS_TLS },
    [FAULT_CERT_EXPIRED] = { "cert_expired", FAULT_AT_ACCEPT, "shows a certificate that ended an hour ago",
                             FAULT_NEEDS_TLS },
    [FAULT_RESET_ACCEPT] = { "reset_accept", FAULT_AT_ACCEPT, "resets as soon as it has accepted",
                             FAULT_NEEDS_NOTHING },
    [FAULT_SILENT_KEPT] = { "silent_kept", FAULT_AT_ACCEPT, "one exchange, then the kept connection is silent",
                            FAULT_NEEDS_NOTHING },
    [FAULT_HANG_ANSWER] = { "hang_answer", FAULT_AT_ANSWER, "reads the request, then silence", FAULT_NEEDS_NOTHING },
    [FAULT_HANG_HEADERS] = { "hang_headers", FAULT_AT_ANSWER, "sends the headers, then silence", FAULT_NEEDS_NOTHING },
    [FAULT_HANG_BODY] = { "hang_body", FAULT_AT_ANSWER, "sends half of the body, then silence", FAULT_NEEDS_NOTHING },
    [FAULT_DRIP] = { "drip", FAULT_AT_ANSWER, "sends the body one byte each 0.4 s", FAULT_NEEDS_NOTHING },
    [FAULT_RESET_HEADERS] = { "reset_headers", FAULT_AT_ANSWER, "resets after the headers", FAULT_NEEDS_NOTHING },
    [FAULT_RESET_BODY] = { "reset_body", FAULT_AT_ANSWER, "resets in the middle of the body", FAULT_NEEDS_NOTHING },
    [FAULT_CUT_BODY] = { "cut_body", FAULT_AT_ANSWER, "closes in the middle of the body", FAULT_NEEDS_NOTHING },
    [FAULT_STATUS_429] = { "status_429", FAULT_AT_ANSWER, "429 with Retry-After", FAULT_NEEDS_NOTHING },
    [FAULT_STATUS_500] = { "status_500", FAULT_AT_ANSWER, "500 with a JSON error", FAULT_NEEDS_NOTHING },
    [FAULT_STATUS_503] = { "status_503", FAULT_AT_ANSWER, "503 with a JSON error", FAULT_NEEDS_NOTHING },
    [FAULT_SOURCE_DOWN] = { "source_down", FAULT_AT_ANSWER, "502 from the third of the sources", FAULT_NEEDS_SOURCES },
    [FAULT_RENAME_FIELD] = { "rename_field", FAULT_AT_ANSWER, "the member `field` of every object has another name",
                             FAULT_NEEDS_FIELD },
    [FAULT_DROP_FIELD] = { "drop_field", FAULT_AT_ANSWER, "the member `field` of every object is left out",
                           FAULT_NEEDS_FIELD },
    [FAULT_HTML] = { "html", FAULT_AT_ANSWER, "200 with an HTML page", FAULT_NEEDS_NOTHING },
    [FAULT_EMPTY] = { "empty", FAULT_AT_ANSWER, "200 with an empty body", FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_CUT_LENGTH] = { "gzip_cut_length", FAULT_AT_ANSWER, "half of a gzip stream, with its length",
                                FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_CUT_CHUNKED] = { "gzip_cut_chunked", FAULT_AT_ANSWER, "half of a gzip stream, in chunks that end well",
                                 FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_CUT_CLOSE] = { "gzip_cut_close", FAULT_AT_ANSWER, "half of a gzip stream, ended by closing",
                               FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_CUT_RECORD] = { "gzip_cut_record", FAULT_AT_ANSWER,
                                "a gzip stream that gives the whole text but has no end", FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_PLAIN] = { "gzip_plain", FAULT_AT_ANSWER, "says gzip, is plain text", FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_MEMBERS] = { "gzip_members", FAULT_AT_ANSWER, "two gzip members, as the standard allows",
                             FAULT_NEEDS_NOTHING },
    [FAULT_GZIP_BOMB] = { "gzip_bomb", FAULT_AT_ANSWER, "200 KB of gzip that become 200 MB", FAULT_NEEDS_NOTHING },
    [FAULT_JSON_CUT_CLOSE] = { "json_cut_close", FAULT_AT_ANSWER, "half of the JSON, ended by closing",
                               FAULT_NEEDS_NOTHING },
    [FAULT_CHUNKED_NO_END] = { "chunked_no_end", FAULT_AT_ANSWER, "chunks without the last one, then closes",
                               FAULT_NEEDS_NOTHING },
    [FAULT_CHUNKED_BROKEN] = { "chunked_broken", FAULT_AT_ANSWER, "a chunk whose size is no number",
                               FAULT_NEEDS_NOTHING },
    [FAULT_LENGTH_LONG] = { "length_long", FAULT_AT_ANSWER, "Content-Length is 100 bytes too long, then closes",
                            FAULT_NEEDS_NOTHING },
    [FAULT_LENGTH_SHORT] = { "length_short", FAULT_AT_ANSWER, "Content-Length is 100 bytes too short",
                             FAULT_NEEDS_NOTHING },
    [FAULT_STATUS_204_BODY] = { "status_204_body", FAULT_AT_ANSWER, "204 with a body", FAULT_NEEDS_NOTHING },
    [FAULT_HEAD_HUGE] = { "head_huge", FAULT_AT_ANSWER, "256 KB of headers", FAULT_NEEDS_NOTHING },
    [FAULT_HEAD_LINE_HUGE] = { "head_line_huge", FAULT_AT_ANSWER, "a header of 256 KB", FAULT_NEEDS_NOTHING },
    [FAULT_INFORMATIONAL] = { "informational", FAULT_AT_ANSWER, "twenty times 103 before the answer",
                              FAULT_NEEDS_NOTHING },
    [FAULT_INFORMATIONAL_FLOOD] = { "informational_flood", FAULT_AT_ANSWER, "ten thousand times 103 before the answer",
                                    FAULT_NEEDS_NOTHING },
    [FAULT_NO_STATUS_LINE] = { "no_status_line", FAULT_AT_ANSWER, "a body without any head, then closes",
                               FAULT_NEEDS_NOTHING },
    [FAULT_REDIRECT_HOST] = { "redirect_host", FAULT_AT_ANSWER, "302 to another supplier", FAULT_NEEDS_NOTHING },
    [FAULT_REDIRECT_FILE] = { "redirect_file", FAULT_AT_ANSWER, "302 to a file of the machine", FAULT_NEEDS_NOTHING },
    [FAULT_BOM] = { "bom", FAULT_AT_ANSWER, "a byte order mark before the UTF-8", FAULT_NEEDS_NOTHING },
    [FAULT_UTF16] = { "utf16", FAULT_AT_ANSWER, "UTF-16 with its mark, declared", FAULT_NEEDS_NOTHING },
    [FAULT_CP1252] = { "cp1252", FAULT_AT_ANSWER, "windows-1252, declared", FAULT_NEEDS_NOTHING },
    [FAULT_CHARSET_LIE] = { "charset_lie", FAULT_AT_ANSWER, "windows-1252 that says it is UTF-8", FAULT_NEEDS_NOTHING },
    [FAULT_LOGIN_HANG] = { "login_hang", FAULT_AT_LOGIN, "reads the login, then silence", FAULT_NEEDS_LOGIN },
    [FAULT_LOGIN_500] = { "login_500", FAULT_AT_LOGIN, "500 for a login", FAULT_NEEDS_LOGIN },
    [FAULT_LOGIN_DENIED] = { "login_denied", FAULT_AT_LOGIN, "401 for a login with the right secret",
                             FAULT_NEEDS_LOGIN },
};

const struct fault_row *fault_row(enum fault fault)
{
    require(fault < FAULT_COUNT);
    return &rows[fault];
}

const char *fault_place_name(enum fault_place place)
{
    static const char *const names[] = {
        [FAULT_AT_DOOR] = "door",     [FAULT_AT_NAME] = "name",   [FAULT_AT_ACCEPT] = "accept",
        [FAULT_AT_ANSWER] = "answer", [FAULT_AT_LOGIN] = "login",
    };
    return names[place];
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
