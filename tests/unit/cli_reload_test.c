// The page that a reload prints, and its exit codes, from answers as an engine gives them.

#include "cli/reload_print.h"
#include "model/exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char page[65536];

/// Prints the answer with both streams into `page`; the exit code.
static int print(const char *answer, bool is_json)
{
    struct cli_options options = { .admin = "http://127.0.0.1:8081", .is_json = is_json, .is_colourless = true };
    struct http_response response = { .status = 200, .body = block_create(text_of(answer)) };
    FILE *file = tmpfile();
    int out = dup(STDOUT_FILENO);
    int error = dup(STDERR_FILENO);

    fflush(stdout);
    fflush(stderr);
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int code = reload_print(&options, &response);
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    close(out);
    close(error);
    rewind(file);
    page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
    fclose(file);
    block_release(&response.body);
    return code;
}

static void assert_page(const char *part)
{
    if (strstr(page, part) == NULL) {
        fail_msg("expected `%s` in\n%s", part, page);
    }
}

#define SAME "\"settings\":{\"changed\":false,\"needs_restart\":[]},\"findings\":[]}"

static void what_was_published_is_fine(void **state)
{
    (void)state;
    assert_int_equal(
        print("{\"outcome\":\"published\",\"generation\":43,\"previous\":42,\"source\":\"command\","
              "\"took_ms\":120,\"changed\":[{\"kind\":\"supplier\",\"name\":\"acme\",\"fate\":\"changed\","
              "\"running\":\"acme@77aa\",\"before\":\"acme@3f9a\"},{\"kind\":\"supplier\",\"name\":\"delta\","
              "\"fate\":\"removed\",\"before\":\"delta@1\"}],\"kept\":[]," SAME,
              false),
        CLI_OK);
    assert_page("Generation 43 runs, before it 42 (120 ms)\n");
    assert_page("  changed     supplier  acme                 acme@3f9a -> acme@77aa\n");
    assert_page("  removed     supplier  delta                delta@1\n");
    assert_null(strstr(page, "settings"));
}

static void what_was_asked_for_in_vain_is_said(void **state)
{
    (void)state;
    const char *answer = "{\"outcome\":\"unchanged\",\"generation\":42,\"previous\":42,\"took_ms\":3,\"changed\":[],"
                         "\"kept\":[],\"remarks\":[{\"remark\":\"nothing called `acne` is held back\","
                         "\"help\":\"did you mean `acme`?\"}]," SAME;

    assert_int_equal(print(answer, false), CLI_FINDINGS);
    assert_page("nothing called `acne` is held back\n");
    assert_page("help: did you mean `acme`?\n");
    assert_int_equal(print(answer, true), CLI_FINDINGS);
}

static void what_has_no_label_runs_all_the_same(void **state)
{
    (void)state;
    assert_int_equal(
        print("{\"outcome\":\"unchanged\",\"generation\":42,\"previous\":42,\"took_ms\":3,\"changed\":[],"
              "\"kept\":[{\"kind\":\"rates\",\"name\":\"fx\",\"fate\":\"kept\",\"on_disk\":\"fx@3f9a\"}]," SAME,
              false),
        CLI_FINDINGS);
    assert_page("  kept        rates     fx                   the one before runs, fx@3f9a is on the disk\n");
}

static void nothing_changed_is_said_so(void **state)
{
    (void)state;
    const char *answer = "{\"outcome\":\"unchanged\",\"generation\":42,\"previous\":42,\"took_ms\":3,\"changed\":[],"
                         "\"kept\":[]," SAME;

    assert_int_equal(print(answer, false), CLI_OK);
    assert_string_equal(page, "Nothing changed: generation 42 runs on (3 ms)\n");
    assert_int_equal(print(answer, true), CLI_OK);
    assert_int_equal(strncmp(page, answer, strlen(answer)), 0);
}

static void what_was_kept_back_is_a_finding_with_its_place_and_remedy(void **state)
{
    (void)state;
    const char *answer =
        "{\"outcome\":\"published\",\"generation\":43,\"previous\":42,\"took_ms\":1,\"changed\":[],"
        "\"kept\":[{\"kind\":\"supplier\",\"name\":\"bravo\",\"fate\":\"kept\",\"running\":\"bravo@1\","
        "\"on_disk\":\"bravo@2\",\"because\":\"bravo.lua:12: unexpected\",\"help\":\"mend it\"},"
        "{\"kind\":\"supplier\",\"name\":\"new\",\"fate\":\"left_out\",\"on_disk\":\"new@3\","
        "\"because\":\"new.lua:1: empty\"}]," SAME;

    assert_int_equal(print(answer, false), CLI_FINDINGS);
    assert_page("  kept        supplier  bravo                bravo@1 runs, bravo@2 is on the disk\n");
    assert_page("              bravo.lua:12: unexpected\n              help: mend it\n");
    assert_page("nothing runs, new@3 is on the disk\n");
    assert_int_equal(print(answer, true), CLI_FINDINGS);
}

static void a_setting_that_waits_for_a_restart_is_a_finding(void **state)
{
    (void)state;
    const char *answer = "{\"outcome\":\"unchanged\",\"generation\":42,\"previous\":42,\"took_ms\":1,\"changed\":[],"
                         "\"kept\":[],\"settings\":{\"changed\":true,\"needs_restart\":[{\"setting\":\"io_threads\","
                         "\"file\":\"lastcall.yaml\",\"line\":3}]},\"findings\":[]}";

    assert_int_equal(print(answer, false), CLI_FINDINGS);
    assert_page("  changed     settings\n");
    assert_page("io_threads           lastcall.yaml:3: takes effect after a restart only\n");
    assert_int_equal(print(answer, true), CLI_FINDINGS);
}

static void a_refusal_says_why(void **state)
{
    (void)state;
    const char *answer = "{\"outcome\":\"refused\",\"generation\":42,\"previous\":42,\"took_ms\":1,\"changed\":[],"
                         "\"kept\":[],\"settings\":{\"changed\":false,\"needs_restart\":[]},\"findings\":[{\"finding\":"
                         "\"lastcall.yaml:3: no duration\",\"help\":\"write 2s\"}],\"findings_left_out\":7}";

    assert_int_equal(print(answer, false), CLI_REFUSED);
    assert_page("Refused: generation 42 runs on, unchanged (1 ms)\n");
    assert_page("lastcall.yaml:3: no duration\n              help: write 2s\n  and 7 more\n");
    assert_int_equal(print(answer, true), CLI_REFUSED);
}

static void a_problem_is_told_and_anything_else_is_not_ours(void **state)
{
    (void)state;
    assert_int_equal(
        print("{\"title\":\"No\",\"errors\":[{\"pointer\":\"/who\",\"detail\":\"expected a text\"}]}", false),
        CLI_REFUSED);
    assert_page("error: No: expected a text\n");
    assert_int_equal(print("{}", false), CLI_REFUSED);
    assert_page("is not lastcall's admin listener");
    assert_int_equal(print("<html>", false), CLI_REFUSED);
    assert_int_equal(print("[]", true), CLI_REFUSED);
    assert_int_equal(print("", false), CLI_REFUSED);
}

static void words_of_strangers_do_not_steer_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(
        print("{\"outcome\":\"published\",\"generation\":1,\"changed\":[],\"kept\":[{\"kind\":\"supplier\","
              "\"name\":\"a\",\"fate\":\"kept\",\"because\":\"x\\u001b[31my\"}]," SAME,
              false),
        CLI_FINDINGS);
    assert_null(strchr(page, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_published_is_fine),
        cmocka_unit_test(nothing_changed_is_said_so),
        cmocka_unit_test(what_was_asked_for_in_vain_is_said),
        cmocka_unit_test(what_has_no_label_runs_all_the_same),
        cmocka_unit_test(what_was_kept_back_is_a_finding_with_its_place_and_remedy),
        cmocka_unit_test(a_setting_that_waits_for_a_restart_is_a_finding),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(a_problem_is_told_and_anything_else_is_not_ours),
        cmocka_unit_test(words_of_strangers_do_not_steer_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
