/// Fault: the ways in which a supplier can misbehave, one row each in fault.c.
///
/// Threads: any.
/// Memory:  constants.
#pragma once

#include "base/text.h"

enum fault {
    FAULT_NONE,
    // the door, the name
    FAULT_REFUSED,
    FAULT_HANG_CONNECT,
    FAULT_NEVER_RESOLVES,
    FAULT_NXDOMAIN,
    FAULT_NAME_WRONG,
    FAULT_NAME_GARBLED,
    FAULT_NAME_SERVFAIL,
    // at accept
    FAULT_HANG_ACCEPT,
    FAULT_HANG_TLS,
    FAULT_SLOW_TLS,
    FAULT_CERT_UNKNOWN,
    FAULT_CERT_NAME,
    FAULT_CERT_EXPIRED,
    FAULT_RESET_ACCEPT,
    FAULT_SILENT_KEPT,
    // silence, and ends in the middle
    FAULT_HANG_ANSWER,
    FAULT_HANG_HEADERS,
    FAULT_HANG_BODY,
    FAULT_DRIP,
    FAULT_RESET_HEADERS,
    FAULT_RESET_BODY,
    FAULT_CUT_BODY,
    // other answers
    FAULT_STATUS_429,
    FAULT_STATUS_500,
    FAULT_STATUS_503,
    FAULT_SOURCE_DOWN,
    FAULT_RENAME_FIELD,
    FAULT_DROP_FIELD,
    FAULT_HTML,
    FAULT_EMPTY,
    // answers whose bytes are wrong: garble.c
    FAULT_GZIP_CUT_LENGTH,
    FAULT_GZIP_CUT_CHUNKED,
    FAULT_GZIP_CUT_CLOSE,
    FAULT_GZIP_CUT_RECORD,
    FAULT_GZIP_PLAIN,
    FAULT_GZIP_MEMBERS,
    FAULT_GZIP_BOMB,
    FAULT_JSON_CUT_CLOSE,
    FAULT_CHUNKED_NO_END,
    FAULT_CHUNKED_BROKEN,
    FAULT_LENGTH_LONG,
    FAULT_LENGTH_SHORT,
    FAULT_STATUS_204_BODY,
    FAULT_HEAD_HUGE,
    FAULT_HEAD_LINE_HUGE,
    FAULT_INFORMATIONAL,
    FAULT_INFORMATIONAL_FLOOD,
    FAULT_NO_STATUS_LINE,
    FAULT_REDIRECT_HOST,
    FAULT_REDIRECT_FILE,
    FAULT_BOM,
    FAULT_UTF16,
    FAULT_CP1252,
    FAULT_CHARSET_LIE,
    // of a login
    FAULT_LOGIN_HANG,
    FAULT_LOGIN_500,
    FAULT_LOGIN_DENIED,
    FAULT_COUNT,
};

/// Where a fault is decided: once for the supplier's door, once for its name, at each accept, at each answer, or at
/// each login.
enum fault_place { FAULT_AT_DOOR, FAULT_AT_NAME, FAULT_AT_ACCEPT, FAULT_AT_ANSWER, FAULT_AT_LOGIN };

/// What a supplier must have in order to play it.
enum fault_need { FAULT_NEEDS_NOTHING, FAULT_NEEDS_TLS, FAULT_NEEDS_SOURCES, FAULT_NEEDS_LOGIN, FAULT_NEEDS_FIELD };

struct fault_row {
    const char *name;
    enum fault_place place;
    const char *about;
    enum fault_need need;
};

const struct fault_row *fault_row(enum fault fault);
const char *fault_place_name(enum fault_place place);

/// False: no fault has this name. "none" is one.
MUST_CHECK bool fault_find(struct text name, enum fault *fault);
