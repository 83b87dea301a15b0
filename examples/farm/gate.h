/// Gate: what a supplier asks for before it answers: a login, or a signature on each request.
///
///     login=oauth     POST /oauth/token     grant_type=client_credentials, client_id, client_secret as a form
///                     {"access_token", "token_type": "Bearer", "expires_in"}; then "Authorization: Bearer TOKEN"
///     login=session   POST /v1/sessions     {"user", "password"}
///                     {"session", "idle_s"}; then "X-Session: SESSION"
///     sign=sha256     "X-Api-Key: KEY" and "X-Signature: " hex of SHA-256 over key, secret and the second that it is
///     sign=sha512     "Authorization: FARM key=KEY,signature=HEX,timestamp=SECOND", SHA-512 over key, secret, second,
///                     method, target (path and query) and body
///
/// Key, client and user are the supplier's name; the secret is GATE_SECRET. A signature counts for GATE_WINDOW_S after
/// its second. Without a good login the answer is 401, without a good signature 403. A login ends when its time is over
/// or the admin endpoint revokes it.
///
/// Threads: the loop's.
/// Memory:  plain values.
#pragma once

#include "base/status.h"
#include "farm/request.h"

#define GATE_SECRET "farm-secret-of-all"

enum { GATE_WINDOW_S = 5, GATE_TOKEN_MAX = 64, GATE_BODY_MAX = 256 };

enum gate_login { GATE_NO_LOGIN, GATE_OAUTH, GATE_SESSION, GATE_LOGINS };
enum gate_signature { GATE_UNSIGNED, GATE_SHA256, GATE_SHA512, GATE_SIGNATURES };

struct gate {
    enum gate_login login;
    enum gate_signature signature;
    uint64_t granted; // logins so far
    uint64_t revoked; // so many of them, the first ones
};

/// "oauth", "sha512"; of the first value NULL.
const char *gate_login_name(enum gate_login login);
const char *gate_signature_name(enum gate_signature signature);

/// Is it a request for a login?
bool gate_is_login(const struct gate *gate, const struct request *request);

enum gate_verdict { GATE_PASSED, GATE_NOT_LOGGED_IN, GATE_NOT_SIGNED, GATE_BAD_CREDENTIALS };

/// May a request pass that asks for offers?
enum gate_verdict gate_check(const struct gate *gate, const char *name, uint64_t seed, const struct request *request,
                             uint64_t wall_us);

/// Are the credentials of a request for a login right?
enum gate_verdict gate_check_login(const struct gate *gate, const char *name, const struct request *request);

/// Grants a login; writes the answer's body into GATE_BODY_MAX bytes and returns its length.
size_t gate_grant(struct gate *gate, const char *name, uint64_t seed, double life_s, uint64_t wall_us, char *out);
