/// Fault: the ways in which a supplier can misbehave, one row each in fault.c.
///
/// Threads: any.
/// Memory:  constants.
#pragma once

#include "base/text.h"

enum fault {
    FAULT_NONE,
    FAULT_REFUSED,
    FAULT_HANG_CONNECT,
    FAULT_NEVER_RESOLVES,
    FAULT_NXDOMAIN,
    FAULT_HANG_ACCEPT,
    FAULT_HANG_TLS,
    FAULT_RESET_ACCEPT,
    FAULT_SILENT_KEPT,
    FAULT_HANG_ANSWER,
    FAULT_HANG_HEADERS,
    FAULT_HANG_BODY,
    FAULT_DRIP,
    FAULT_RESET_HEADERS,
    FAULT_RESET_BODY,
    FAULT_CUT_BODY,
    FAULT_STATUS_429,
    FAULT_STATUS_500,
    FAULT_STATUS_503,
    FAULT_HTML,
    FAULT_EMPTY,
    FAULT_COUNT,
};

/// Where a fault is decided: once for the supplier's door, once for its name, at each accept, or at each answer.
enum fault_place { FAULT_AT_DOOR, FAULT_AT_NAME, FAULT_AT_ACCEPT, FAULT_AT_ANSWER };

struct fault_row {
    const char *name;
    enum fault_place place;
    const char *about;
};

const struct fault_row *fault_row(enum fault fault);

/// False: no fault has this name. "none" is one.
MUST_CHECK bool fault_find(struct text name, enum fault *fault);
