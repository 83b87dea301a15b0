// What a supplier of the farm asks for before it answers: logins and signatures.

#include "farm/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WALL_US UINT64_C(1796000000000000)

static enum gate_verdict ask(const struct gate *gate, uint64_t wall_us, const char *format, ...)
{
    static char bytes[2048];
    struct request request;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(bytes, sizeof(bytes), format, arguments);
    va_end(arguments);
    assert_int_equal(request_read(&request, bytes, strlen(bytes)), REQUEST_WHOLE);
    return gate_is_login(gate, &request) ? gate_check_login(gate, "s01", &request)
                                         : gate_check(gate, "s01", 7, &request, wall_us);
}

/// The token in an answer to a login.
static const char *grant(struct gate *gate, double life_s)
{
    static char token[GATE_TOKEN_MAX];
    char body[GATE_BODY_MAX + 1];
    size_t length = gate_grant(gate, "s01", 7, life_s, WALL_US, body);

    body[length] = '\0';
    assert_int_equal(sscanf(body, "{\"%*[a-z_]\":\"%48[0-9a-f]\"", token), 1);
    assert_int_equal(strlen(token), 48);
    return token;
}

static void a_token_counts_until_its_time_is_over_or_it_is_revoked(void **state)
{
    struct gate gate = { .login = GATE_OAUTH };
    const char *line = "POST /v1/offers HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n";
    (void)state;

    const char *token = grant(&gate, 2);
    assert_int_equal(ask(&gate, WALL_US, line, token), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US + 1999999, line, token), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US + 2000000, line, token), GATE_NOT_LOGGED_IN);
    assert_int_equal(ask(&gate, WALL_US, line, "made-up"), GATE_NOT_LOGGED_IN);
    assert_int_equal(ask(&gate, WALL_US, "POST /v1/offers HTTP/1.1\r\n\r\n"), GATE_NOT_LOGGED_IN);
    gate.revoked = gate.granted;
    assert_int_equal(ask(&gate, WALL_US, line, token), GATE_NOT_LOGGED_IN);
    assert_int_equal(ask(&gate, WALL_US, line, grant(&gate, 2)), GATE_PASSED);
}

static void a_session_is_shown_by_its_header(void **state)
{
    struct gate gate = { .login = GATE_SESSION };
    (void)state;

    const char *session = grant(&gate, 10);
    assert_int_equal(ask(&gate, WALL_US, "GET /v1/searches/1 HTTP/1.1\r\nx-session: %s\r\n\r\n", session), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US, "GET /v1/searches/1 HTTP/1.1\r\nAuthorization: %s\r\n\r\n", session),
                     GATE_NOT_LOGGED_IN);
}

static enum gate_verdict log_in(enum gate_login login, const char *path, const char *body)
{
    const struct gate gate = { .login = login };

    return ask(&gate, WALL_US, "POST %s HTTP/1.1\r\nContent-Length: %zu\r\n\r\n%s", path, strlen(body), body);
}

static void a_login_wants_name_and_secret(void **state)
{
    (void)state;
    assert_int_equal(log_in(GATE_OAUTH, "/oauth/token",
                            "client_id=s01&client_secret=farm-secret-of-all&grant_type=client_credentials"),
                     GATE_PASSED);
    assert_int_equal(log_in(GATE_OAUTH, "/oauth/token",
                            "client_id=s02&client_secret=farm-secret-of-all&grant_type=client_credentials"),
                     GATE_BAD_CREDENTIALS);
    assert_int_equal(log_in(GATE_OAUTH, "/oauth/token", "client_id=s01&client_secret=farm-secret-of-all"),
                     GATE_BAD_CREDENTIALS);
    assert_int_equal(log_in(GATE_SESSION, "/v1/sessions", "{\"password\":\"farm-secret-of-all\",\"user\":\"s01\"}"),
                     GATE_PASSED);
    assert_int_equal(log_in(GATE_SESSION, "/v1/sessions", "{\"password\":\"farm-secret\",\"user\":\"s01\"}"),
                     GATE_BAD_CREDENTIALS);
    assert_int_equal(log_in(GATE_SESSION, "/v1/sessions", "{\"user\":\"s01\""), GATE_BAD_CREDENTIALS);
}

// printf 's01farm-secret-of-all1796000000' | sha256sum
#define SIGNATURE_256 "a5ac74a65024766dfb872a81cfaedf67b4b0e0eba16327c534778cd30707592b"
// printf 's01farm-secret-of-all1796000000POST/v1/pages?cursor=ab{}' | sha512sum
#define SIGNATURE_512                                                                                                  \
    "29dc2db572d0a4f6bf69fe72210f61b05223603b1466dd4d629f555de1a4061c"                                                 \
    "6b90356e5b33516785357b1ee2ecc6d547aef03676a06fddf283312f9c5fe7bf"

static void a_digest_of_key_secret_and_second_counts_for_five_seconds(void **state)
{
    const struct gate gate = { .signature = GATE_SHA256 };
    const char *line = "POST /v1/pages HTTP/1.1\r\nX-Api-Key: %s\r\nX-Signature: %s\r\n\r\n";
    (void)state;

    assert_int_equal(ask(&gate, WALL_US, line, "s01", SIGNATURE_256), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US + 5999999, line, "s01", SIGNATURE_256), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US + 6000000, line, "s01", SIGNATURE_256), GATE_NOT_SIGNED);
    assert_int_equal(ask(&gate, WALL_US - 1, line, "s01", SIGNATURE_256), GATE_NOT_SIGNED); // of a second to come
    assert_int_equal(ask(&gate, WALL_US, line, "s02", SIGNATURE_256), GATE_NOT_SIGNED);
}

static void a_digest_of_all_that_goes_out_counts_for_that_alone(void **state)
{
    const struct gate gate = { .signature = GATE_SHA512 };
    const char *line = "POST /v1/pages?cursor=%s HTTP/1.1\r\nContent-Length: 2\r\n"
                       "Authorization: FARM key=s01,signature=%s,timestamp=1796000000\r\n\r\n%s";
    (void)state;

    assert_int_equal(ask(&gate, WALL_US, line, "ab", SIGNATURE_512, "{}"), GATE_PASSED);
    assert_int_equal(ask(&gate, WALL_US + 6000000, line, "ab", SIGNATURE_512, "{}"), GATE_NOT_SIGNED);
    assert_int_equal(ask(&gate, WALL_US, line, "ac", SIGNATURE_512, "{}"), GATE_NOT_SIGNED);
    assert_int_equal(ask(&gate, WALL_US, line, "ab", SIGNATURE_512, "[]"), GATE_NOT_SIGNED);
}

static void who_asks_nobody_lets_everybody_pass(void **state)
{
    const struct gate gate = { 0 };
    (void)state;

    assert_int_equal(ask(&gate, WALL_US, "POST /oauth/token HTTP/1.1\r\n\r\n"), GATE_PASSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_counts_until_its_time_is_over_or_it_is_revoked),
        cmocka_unit_test(a_session_is_shown_by_its_header),
        cmocka_unit_test(a_login_wants_name_and_secret),
        cmocka_unit_test(a_digest_of_key_secret_and_second_counts_for_five_seconds),
        cmocka_unit_test(a_digest_of_all_that_goes_out_counts_for_that_alone),
        cmocka_unit_test(who_asks_nobody_lets_everybody_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
