/// Request call: the script calls that make requests apart from a search's start: those that had to wait for a login,
/// or for so long that they are signed anew, and those of logins themselves.
///
/// Threads: handed over whole, as every script call.
/// Memory:  one allocation with its parts.
#pragma once

#include "model/script_call.h"

enum request_job {
    REQUEST_BUILD, // build_request, then sign: the requests of all parts
    REQUEST_SIGN,  // sign, over the request that is given
};

struct request_call {
    struct script_call call;
    // in
    enum request_job job;
    const struct script_account *account;
    struct block *facts;
    struct script_times times;
    uint64_t allocation_end_us;
    struct login login;
    uint32_t part, parts, step;
    uint32_t attempt; // which try it is; 0 is 1
    bool is_hedge;    // it goes out beside another one
    // in and out
    struct http_request *request; // to sign; then what came of it, parts chained; owned by the call until taken
    // out
    enum script_verdict verdict;
    char message[256];
    char code[64];
    uint64_t retry_after_ms;
};

/// Without a response it builds the login's request, with one it reads what came.
struct login_call {
    struct script_call call;
    // in
    const struct script_account *account;
    struct http_response *response; // owned by the call
    uint64_t body_cap;
    uint64_t began_us, end_us; // of the login
    uint64_t began_wall_us;
    // out
    enum script_verdict verdict;
    struct http_request *request; // owned by the call until taken
    struct block *value;          // likewise; JSON
    uint64_t life_us;             // UINT64_MAX: it does not expire
    char message[256];
    char code[64];
    uint64_t retry_after_ms;
};

/// Acquires facts and login, takes the request; NULL without memory (the request is then still the caller's).
MUST_CHECK struct request_call *request_call_create(enum request_job job, struct block *facts,
                                                    const struct login *login, struct http_request *request);
/// Takes the response; NULL without memory (it is then still the caller's).
MUST_CHECK struct login_call *login_call_create(struct http_response *response);

/// For script_call_destroy.
void request_call_destroy(struct request_call *request);
void login_call_destroy(struct login_call *login);
