// A curl command, as it is copied from browsers and documentation, taken apart.

#include "cli/pasted_call.h"
#include "cli/pasted_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct pasted_call call;
static struct failure why;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    why = (struct failure){ 0 };
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void assert_words(const char *input, const char *joined)
{
    struct pasted_words words;
    char out[1024] = "";

    assert_int_equal(pasted_words_read(&arena, text_of(input), &words, &why), STATUS_OK);
    for (size_t i = 0; i < words.count; i++) {
        size_t length = strlen(out);
        snprintf(out + length, sizeof(out) - length, "[%.*s]", TEXT_ARGS(words.items[i]));
    }
    assert_string_equal(out, joined);
}

static void words_are_cut_as_a_shell_cuts_them(void **state)
{
    (void)state;
    assert_words("curl  a\tb\n", "[curl][a][b]");
    assert_words("curl 'a b' \"c d\" e\\ f", "[curl][a b][c d][e f]");
    assert_words("curl \\\n  -s \\\r\n x", "[curl][-s][x]");
    assert_words("curl 'it'\\''s' ''", "[curl][it's][]");
    assert_words("curl \"a\\\"b\\n$X\"", "[curl][a\"b\\n$X]");
    assert_words("curl $'a\\n\\x41\\u00e9\\'\\101'", "[curl][a\nA\u00e9'A]");
    assert_words("curl \"a\\\nb\"", "[curl][ab]");
    assert_words("curl x | jq .", "[curl][x]");
    assert_words("curl a|b x&y", "[curl][a|b][x&y]"); // within a word it belongs to a URL
    assert_words("curl ^\"a^\" ^\n -d ^\"^{^\\^\"k^\\^\":1^}^\"", "[curl][a][-d][{\"k\":1}]");
}

static void a_quote_that_never_ends_is_told_with_its_line(void **state)
{
    struct pasted_words words;

    (void)state;
    assert_int_equal(pasted_words_read(&arena, TEXT("curl \\\n -H 'a\n"), &words, &why), STATUS_INVALID);
    assert_int_equal(why.line, 2);
    assert_non_null(strstr(why.message, "never closed"));
}

static void read_call(const char *input)
{
    why = (struct failure){ 0 };
    enum status status = pasted_call_read(&arena, text_of(input), &call, &why);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", input, why.message);
    }
}

static void assert_text(struct text text, const char *expected)
{
    if (!text_equals_c(text, expected)) {
        fail_msg("expected `%s`, got `%.*s`", expected, TEXT_ARGS(text));
    }
}

static void the_url_is_base_path_and_query(void **state)
{
    (void)state;
    read_call("curl 'https://api.acme.example:8443/v1/a%20b?x=1&y=a+b%26c&z#end'");
    assert_text(call.base, "https://api.acme.example:8443");
    assert_text(call.path, "/v1/a%20b");
    assert_int_equal(call.query.count, 3);
    assert_text(call.query.items[1].value, "a b&c");
    assert_text(call.query.items[2].value, "");
    assert_text(call.method, "GET");
    read_call("curl acme.example");
    assert_text(call.base, "http://acme.example");
    assert_text(call.path, "/");
    read_call("curl --url https://u:p%40q@acme.example?a=b");
    assert_text(call.base, "https://acme.example");
    assert_text(call.user, "u:p@q");
    assert_text(call.path, "/");
}

static void the_method_follows_from_the_body(void **state)
{
    (void)state;
    read_call("curl https://a.example -d x=1");
    assert_text(call.method, "POST");
    read_call("curl -XPUT https://a.example -d x=1");
    assert_text(call.method, "PUT");
    read_call("curl -I https://a.example");
    assert_text(call.method, "HEAD");
    read_call("curl -G https://a.example -d x=1 --data-urlencode 'y=a b' --data-urlencode 'c&d'");
    assert_text(call.method, "GET");
    assert_int_equal(call.kind, PASTED_NOTHING);
    assert_int_equal(call.query.count, 3);
    assert_text(call.query.items[1].value, "a b");
    assert_text(call.query.items[2].name, "c&d");
}

static void bodies_are_json_forms_or_texts(void **state)
{
    (void)state;
    read_call("curl https://a.example -d '{\"a\": [1, 2]}'"); // whatever its type says
    assert_int_equal(call.kind, PASTED_JSON);
    assert_int_equal(json_tree_member(call.json, "a")->count, 2);
    read_call("curl https://a.example --json '{\"a\":' --json '1}'");
    assert_int_equal(call.kind, PASTED_JSON);
    read_call("curl https://a.example -d a=1 -d b=2");
    assert_int_equal(call.kind, PASTED_FORM);
    assert_int_equal(call.form.count, 2);
    read_call("curl https://a.example -H 'Content-Type: text/xml' -d '<a b=\"1\"/>'");
    assert_int_equal(call.kind, PASTED_RAW);
    assert_text(call.body, "<a b=\"1\"/>");
    read_call("curl https://a.example -H 'Content-Type: application/json' -d '{a: 1}'");
    assert_int_equal(call.kind, PASTED_RAW);
    assert_int_equal(call.note_count, 1);
}

static void headers_come_from_all_the_options_that_make_one(void **state)
{
    (void)state;
    read_call("curl -HAccept:x -H 'X-Empty;' -H ':authority: a' -b 'a=b' -A agent -e ref --oauth2-bearer tok "
              "https://a.example");
    static const char *const names[] = { "accept", "x-empty", "cookie", "user-agent", "referer", "authorization" };
    assert_int_equal(call.headers.count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_text(call.headers.items[i].name, names[i]);
    }
    assert_text(call.headers.items[5].value, "Bearer tok");
}

static void options_without_a_meaning_here_are_told_and_harmless_ones_are_not(void **state)
{
    (void)state;
    read_call("curl -sSvk --compressed -o out.json --unheard-of value -Z https://a.example --no-keepalive");
    assert_int_equal(call.note_count, 4);
    assert_text(call.notes[0],
                "--insecure: certificates are always checked; `network.ca_file` names those that are trusted");
    assert_text(call.notes[1], "--unheard-of: an option that is not known here, left out");
    assert_text(call.notes[2], "-Z: an option that is not known here, left out");
    assert_text(call.base, "https://a.example");
    read_call("curl https://a.example --secretly=hunter2");
    assert_text(call.notes[0], "--secretly: an option that is not known here, left out");
}

static void what_is_no_request_of_a_script_is_refused(void **state)
{
    static const char *const bad[] = { "curl -F a=b https://a.example",
                                       "curl -T file https://a.example",
                                       "curl https://a.example https://b.example",
                                       "curl",
                                       "wget https://a.example",
                                       "curl ws://a.example",
                                       "curl https://a.example -H",
                                       "curl https:///path",
                                       "curl -H 'no colon' https://a.example",
                                       "curl -K file" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        why = (struct failure){ 0 };
        assert_int_equal(pasted_call_read(&arena, text_of(bad[i]), &call, &why), STATUS_INVALID);
        assert_true(why.message[0] != '\0' && why.help[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_are_cut_as_a_shell_cuts_them, begin, end),
        cmocka_unit_test_setup_teardown(a_quote_that_never_ends_is_told_with_its_line, begin, end),
        cmocka_unit_test_setup_teardown(the_url_is_base_path_and_query, begin, end),
        cmocka_unit_test_setup_teardown(the_method_follows_from_the_body, begin, end),
        cmocka_unit_test_setup_teardown(bodies_are_json_forms_or_texts, begin, end),
        cmocka_unit_test_setup_teardown(headers_come_from_all_the_options_that_make_one, begin, end),
        cmocka_unit_test_setup_teardown(options_without_a_meaning_here_are_told_and_harmless_ones_are_not, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_request_of_a_script_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
