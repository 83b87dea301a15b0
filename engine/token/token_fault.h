/// Token fault: why a token is refused. THE table of its codes.
///
/// Threads: any.
/// Memory:  constant.
#pragma once

enum token_fault {
    TOKEN_GENUINE,
    TOKEN_MALFORMED,   // not a token: cut, of another alphabet, of another kind
    TOKEN_UNKNOWN_KEY, // well-formed, but by a key that is not in the ring
    TOKEN_TAMPERED,    // by a key of the ring, but something of it was changed
    TOKEN_EXPIRED,     // genuine, but its time is over
    TOKEN_UNREADABLE,  // memory or libcrypto refused; nothing is known of it
    TOKEN_FAULTS,
};

/// "token_expired"; of TOKEN_GENUINE NULL.
const char *token_fault_code(enum token_fault fault);
/// A sentence for a developer.
const char *token_fault_sentence(enum token_fault fault);
