// What a script's text tells of the names that it declares.

#include "script/script_uses.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool reads(const char *source, const char *owner, const char *name)
{
    const struct script_file file = { .name = TEXT("acme"), .path = TEXT("acme.lua"), .source = text_of(source) };
    return script_uses_field(&file, owner, text_of(name));
}

static void a_name_behind_a_dot_is_read(void **state)
{
    (void)state;
    assert_true(reads("secrets = { \"KEY\" }, f = function(c) return c.secret.KEY end", "secret", "KEY"));
    assert_true(reads("local o = c.options\nreturn o.size", "options", "size"));
}

static void a_declaration_alone_is_not(void **state)
{
    (void)state;
    assert_false(reads("secrets = { \"KEY\" }", "secret", "KEY"));
    assert_false(reads("options = { size = 50 }", "options", "size"));
}

static void a_longer_name_is_another(void **state)
{
    (void)state;
    assert_false(reads("secrets = { \"KEY\" } return c.secret.KEY_TWO", "secret", "KEY"));
    assert_false(reads("secrets = { \"KEY\" } return c.secret.MY_KEY", "secret", "KEY"));
}

static void a_second_string_of_that_name_is_read(void **state)
{
    (void)state;
    assert_true(reads("secrets = { \"KEY\" } local name = 'KEY'", "secret", "KEY"));
    assert_true(reads("secrets = { \"KEY\" } return c.secret[\"KEY\"]", "secret", "KEY"));
}

static void a_comment_reads_nothing(void **state)
{
    (void)state;
    assert_false(reads("secrets = { \"KEY\" } -- c.secret.KEY\n", "secret", "KEY"));
    assert_true(reads("-- a comment\nreturn c.secret.KEY", "secret", "KEY"));
}

static void what_is_taken_by_a_variable_or_whole_reads_all(void **state)
{
    (void)state;
    assert_true(reads("options = { size = 50 } return c.options[name]", "options", "size"));
    assert_true(reads("options = { size = 50 } return sorted_pairs(c.options)", "options", "size"));
    assert_true(reads("options = { size = 50 } return build(c.options, 1)", "options", "size"));
    assert_false(reads("options = { size = 50 } return c.options[\"other\"]", "options", "size"));
}

static void an_absent_source_reads_nothing(void **state)
{
    const struct script_file file = { .name = TEXT("acme") };

    (void)state;
    assert_false(script_uses_field(&file, "secret", TEXT("KEY")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_behind_a_dot_is_read),
        cmocka_unit_test(a_declaration_alone_is_not),
        cmocka_unit_test(a_longer_name_is_another),
        cmocka_unit_test(a_second_string_of_that_name_is_read),
        cmocka_unit_test(a_comment_reads_nothing),
        cmocka_unit_test(what_is_taken_by_a_variable_or_whole_reads_all),
        cmocka_unit_test(an_absent_source_reads_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
