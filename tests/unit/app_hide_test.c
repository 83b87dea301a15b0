// Secrets taken out of what is shown, and replaced in what is kept.
#include "app/hide.h"
#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct hide hide;
static struct buffer out;

static int set_up(void **state)
{
    (void)state;
    buffer_init(&out, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_fini(&out);
    hide_fini(&hide);
    return 0;
}

static void assert_out(const char *expected)
{
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    buffer_clear(&out);
}

static void names_that_only_secrets_have_are_known_in_any_spelling(void **state)
{
    static const char *const SECRETS[] = { "access_token", "AccessToken", "client-secret", "Set-Cookie", "sessionId",
                                           "JSESSIONID",   "Password",    "x-api-key",     "id_token",   "Signature" };
    static const char *const OTHERS[] = { "token_type", "key", "hash", "secretary", "id", "total", "expires_in", "" };
    (void)state;

    hide_init(&hide, false);
    for (size_t i = 0; i < COUNT_OF(SECRETS); i++) {
        assert_true(hide_is_name(text_of(SECRETS[i])));
    }
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++) {
        assert_false(hide_is_name(text_of(OTHERS[i])));
    }
}

static void a_json_body_keeps_all_bytes_but_those_of_secrets(void **state)
{
    (void)state;

    hide_init(&hide, false);
    hide_body(&hide, TEXT("{ \"access_token\" : \"abc\",\n \"n\": 1.50, \"list\": [ {\"password\": \"x\"} ] }"), false,
              &out);
    assert_out("{ \"access_token\" : \"***\",\n \"n\": 1.50, \"list\": [ {\"password\": \"***\"} ] }");
}

static void an_xml_body_hides_elements_attributes_and_cdata(void **state)
{
    (void)state;

    hide_init(&hide, false);
    hide_body(&hide,
              TEXT("<a:Login session=\"s1\" key=\"k1\"><Password>p</Password><Token><![CDATA[t]]></Token><Empty/>"
                   "<Total>1.00</Total></a:Login>"),
              false, &out);
    assert_out("<a:Login session=\"***\" key=\"k1\"><Password>***</Password><Token><![CDATA[***]]></Token><Empty/>"
               "<Total>1.00</Total></a:Login>");
}

static void broken_markup_is_no_trap(void **state)
{
    static const char *const BODIES[] = {
        "<",  "<a", "<a b", "<a b=", "<a b=\"",        "<password>",         "<password/>",
        "</", "<!", "{",    "[\"",   "<a token=\"x\"", "<token><b/></token>"
    };
    (void)state;

    hide_init(&hide, false);
    for (size_t i = 0; i < COUNT_OF(BODIES); i++) {
        hide_body(&hide, text_of(BODIES[i]), false, &out);
    }
    assert_false(out.is_full);
}

static void urls_and_forms_hide_parameters_by_name(void **state)
{
    (void)state;

    hide_init(&hide, false);
    hide_url(&hide, TEXT("https://a.example/x?key=1&from=LHR&sig=2&flag"), &out);
    assert_out("https://a.example/x?key=***&from=LHR&sig=***&flag");
    hide_body(&hide, TEXT("grant=x&client_secret=y&empty="), true, &out);
    assert_out("grant=x&client_secret=***&empty=");
}

static void headers_keep_the_scheme_and_the_name_of_a_cookie(void **state)
{
    (void)state;

    hide_init(&hide, false);
    hide_header(&hide, TEXT("Authorization"), TEXT("Bearer abc"), &out);
    assert_out("Bearer ***");
    hide_header(&hide, TEXT("set-cookie"), TEXT("sid=abc; Path=/; HttpOnly"), &out);
    assert_out("sid=***; Path=/; HttpOnly");
    hide_header(&hide, TEXT("content-type"), TEXT("application/json"), &out);
    assert_out("application/json");
}

static void the_same_value_has_the_same_stand_in_wherever_it_comes(void **state)
{
    (void)state;

    hide_init(&hide, true);
    hide_body(&hide, TEXT("{\"session\":\"0123456789\",\"again\":\"0123456789\",\"token\":\"other-one\"}"), false,
              &out);
    assert_out("{\"session\":\"test-session-1\",\"again\":\"test-session-1\",\"token\":\"test-token-2\"}");
    hide_text(&hide, TEXT("bad session 0123456789"), &out);
    assert_out("bad session test-session-1");
}

static void a_known_secret_goes_in_every_spelling_and_its_stand_in_stays(void **state)
{
    (void)state;

    assert_int_equal(redact_add(TEXT("sesame-open-9")), STATUS_OK);
    hide_init(&hide, true);
    hide_add(&hide, TEXT("sesame-open-9"), TEXT("test-key"));
    hide_text(&hide, TEXT("a sesame-open-9 b 736573616d652d6f70656e2d39 c"), &out);
    assert_out("a test-key b *** c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_that_only_secrets_have_are_known_in_any_spelling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_json_body_keeps_all_bytes_but_those_of_secrets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_xml_body_hides_elements_attributes_and_cdata, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_markup_is_no_trap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(urls_and_forms_hide_parameters_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_keep_the_scheme_and_the_name_of_a_cookie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_value_has_the_same_stand_in_wherever_it_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_known_secret_goes_in_every_spelling_and_its_stand_in_stays, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
