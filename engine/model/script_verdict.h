/// Script verdict: how a function of a script ended.
///
/// Threads: any; constants.
#pragma once

/// How a script function ended.
enum script_verdict {
    SCRIPT_OK,
    SCRIPT_SKIPPED,    // `skip` gave a reason (message)
    SCRIPT_EMPTY,      // normalise: a well-formed nothing
    SCRIPT_FAIL_QUOTA, // typed failures of contract.md section 4
    SCRIPT_FAIL_BUSY,
    SCRIPT_FAIL_LOGIN,
    SCRIPT_FAIL_AUTH,
    SCRIPT_FAIL_SUPPLIER,
    SCRIPT_FAIL_UNEXPECTED,
    SCRIPT_UNPARSABLE, // the body could not be inflated or decoded, or held no valid offer
    SCRIPT_TOO_LARGE,  // body or result over a cap
    SCRIPT_ERROR,      // a plain error, a contract breach, a quarantined script
    SCRIPT_TIMEOUT,
    SCRIPT_MEMORY,
    SCRIPT_DROPPED, // could not finish in its time: never begun
};

const char *script_verdict_name(enum script_verdict verdict);
