#include "farm/gate.h"

#include "base/json_read.h"
#include "farm/draw.h"
#include "farm/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNED_MAX = 64 << 10, NUMBER_DIGITS = 16 };

const char *gate_login_name(enum gate_login login)
{
    static const char *const names[GATE_LOGINS] = { [GATE_OAUTH] = "oauth", [GATE_SESSION] = "session" };

    require(login < GATE_LOGINS);
    return names[login];
}

const char *gate_signature_name(enum gate_signature signature)
{
    static const char *const names[GATE_SIGNATURES] = { [GATE_SHA256] = "sha256", [GATE_SHA512] = "sha512" };

    require(signature < GATE_SIGNATURES);
    return names[signature];
}

static const char *login_path(enum gate_login login)
{
    return login == GATE_OAUTH ? "/oauth/token" : "/v1/sessions";
}

bool gate_is_login(const struct gate *gate, const struct request *request)
{
    return gate->login != GATE_NO_LOGIN && text_equals_c(request->path, login_path(gate->login));
}

// -------------------------------------------------------------------------------------------------------------- tokens

// A token is three numbers: which login it is, when it ends, and what only the farm can make of these two and its seed.

static uint64_t token_mark(const char *name, uint64_t seed, uint64_t number, uint64_t ends_us)
{
    return draw_mix(draw_mix(seed, text_hash(text_of(name))), draw_mix(number, ends_us));
}

static bool read_hex(struct text *rest, uint64_t *number)
{
    char digits[NUMBER_DIGITS + 1], *end;

    if (rest->length < NUMBER_DIGITS) {
        return false;
    }
    memcpy(digits, rest->data, NUMBER_DIGITS);
    digits[NUMBER_DIGITS] = '\0';
    *number = strtoull(digits, &end, 16);
    *rest = (struct text){ rest->data + NUMBER_DIGITS, rest->length - NUMBER_DIGITS };
    return *end == '\0';
}

static bool token_is_good(const struct gate *gate, const char *name, uint64_t seed, struct text token, uint64_t wall_us)
{
    uint64_t number, ends_us, mark;

    return read_hex(&token, &number) && read_hex(&token, &ends_us) && read_hex(&token, &mark) && token.length == 0 &&
           mark == token_mark(name, seed, number, ends_us) && number > gate->revoked && wall_us < ends_us;
}

size_t gate_grant(struct gate *gate, const char *name, uint64_t seed, double life_s, uint64_t wall_us, char *out)
{
    uint64_t number = ++gate->granted;
    uint64_t ends_us = wall_us + (uint64_t)(life_s * 1e6);
    char token[GATE_TOKEN_MAX];

    snprintf(token, sizeof(token), "%016llx%016llx%016llx", (unsigned long long)number, (unsigned long long)ends_us,
             (unsigned long long)token_mark(name, seed, number, ends_us));
    int length =
        gate->login == GATE_OAUTH
            ? snprintf(out, GATE_BODY_MAX, "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":%.10g}",
                       token, life_s)
            : snprintf(out, GATE_BODY_MAX, "{\"session\":\"%s\",\"idle_s\":%.10g}", token, life_s);
    require(length > 0 && length < GATE_BODY_MAX);
    return (size_t)length;
}

// --------------------------------------------------------------------------------------------------------- credentials

static struct text form_value(struct text form, const char *name)
{
    while (form.length > 0) {
        struct text value;
        struct text key = text_split(text_split(form, '&', &form), '=', &value);
        if (text_equals_c(key, name)) {
            return value;
        }
    }
    return (struct text){ NULL, 0 };
}

static bool is_session_request(struct text body, const char *name)
{
    struct json_reader reader;
    bool has_user = false, has_password = false;

    json_reader_init(&reader, body);
    if (json_next(&reader) != JSON_BEGIN_OBJECT) {
        return false;
    }
    while (json_next(&reader) == JSON_KEY) {
        struct text key = reader.value;
        if (json_next(&reader) != JSON_STRING) {
            return false;
        }
        has_user = has_user || (text_equals_c(key, "user") && text_equals_c(reader.value, name));
        has_password = has_password || (text_equals_c(key, "password") && text_equals_c(reader.value, GATE_SECRET));
    }
    return has_user && has_password;
}

enum gate_verdict gate_check_login(const struct gate *gate, const char *name, const struct request *request)
{
    struct text body = request->body;

    if (gate->login == GATE_SESSION) {
        return is_session_request(body, name) ? GATE_PASSED : GATE_BAD_CREDENTIALS;
    }
    return text_equals_c(form_value(body, "grant_type"), "client_credentials") &&
                   text_equals_c(form_value(body, "client_id"), name) &&
                   text_equals_c(form_value(body, "client_secret"), GATE_SECRET)
               ? GATE_PASSED
               : GATE_BAD_CREDENTIALS;
}

// ---------------------------------------------------------------------------------------------------------- signatures

static bool is_signature(struct text given, unsigned bits, struct text bytes)
{
    char hex[TLS_DIGEST_HEX_MAX];

    return tls_digest(bits, bytes, hex) && text_equals_c(given, hex);
}

/// The second is not told: it is one of the last few.
static bool is_signed_sha256(const char *name, const struct request *request, uint64_t now_s)
{
    struct text given = request_header(request, "x-signature");
    char bytes[128];

    if (!text_equals_c(request_header(request, "x-api-key"), name)) {
        return false;
    }
    for (uint64_t back = 0; back <= GATE_WINDOW_S; back++) {
        int length = snprintf(bytes, sizeof(bytes), "%s%s%llu", name, GATE_SECRET, (unsigned long long)(now_s - back));
        if (is_signature(given, 256, (struct text){ bytes, (size_t)length })) {
            return true;
        }
    }
    return false;
}

static struct text pair_value(struct text pairs, const char *name)
{
    while (pairs.length > 0) {
        struct text value;
        struct text key = text_split(text_split(pairs, ',', &pairs), '=', &value);
        if (text_equals_c(key, name)) {
            return value;
        }
    }
    return (struct text){ NULL, 0 };
}

static bool is_signed_sha512(const char *name, const struct request *request, uint64_t now_s)
{
    struct text rest;
    struct text scheme = text_split(request_header(request, "authorization"), ' ', &rest);
    uint64_t second = 0;
    struct buffer bytes;

    if (!text_equals_c(scheme, "FARM") || !text_equals_c(pair_value(rest, "key"), name) ||
        !text_to_u64(pair_value(rest, "timestamp"), &second) || second > now_s || now_s > second + GATE_WINDOW_S) {
        return false;
    }
    buffer_init(&bytes, SIGNED_MAX + request->body.length);
    buffer_printf(&bytes, "%s%s%llu%.*s%.*s", name, GATE_SECRET, (unsigned long long)second, TEXT_ARGS(request->method),
                  TEXT_ARGS(request->target));
    buffer_append_text(&bytes, request->body);
    bool is_right = !bytes.is_full && is_signature(pair_value(rest, "signature"), 512, buffer_text(&bytes));
    buffer_fini(&bytes);
    return is_right;
}

enum gate_verdict gate_check(const struct gate *gate, const char *name, uint64_t seed, const struct request *request,
                             uint64_t wall_us)
{
    uint64_t now_s = wall_us / 1000000;

    if (gate->login == GATE_NO_LOGIN && gate->signature == GATE_UNSIGNED) {
        return GATE_PASSED;
    }
    struct text token = request_header(request, gate->login == GATE_OAUTH ? "authorization" : "x-session");
    if (gate->login == GATE_OAUTH) {
        struct text scheme = text_split(token, ' ', &token);
        token = text_equals_c(scheme, "Bearer") ? token : (struct text){ NULL, 0 };
    }
    if (gate->login != GATE_NO_LOGIN && !token_is_good(gate, name, seed, token, wall_us)) {
        return GATE_NOT_LOGGED_IN;
    }
    if ((gate->signature == GATE_SHA256 && !is_signed_sha256(name, request, now_s)) ||
        (gate->signature == GATE_SHA512 && !is_signed_sha512(name, request, now_s))) {
        return GATE_NOT_SIGNED;
    }
    return GATE_PASSED;
}
