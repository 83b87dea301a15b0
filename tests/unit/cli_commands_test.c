// The command line from outside: arguments in; exit code, standard output and error out.

#include "cli/cli.h"
#include "support/hosts_file.h"
#include "support/server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_ARGUMENTS = 40 };

/// c-ares 1.18.1 loses its copy of the name when "localhost" stands in the hosts file.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libcares.so";
}

/// What one call printed.
struct printed {
    char out[65536];
    char error[65536];
};

static struct printed printed;

static void capture(int fd, FILE *file, char *text, size_t room)
{
    fflush(fd == STDOUT_FILENO ? stdout : stderr);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/// Calls the command line with the words of `line`; blanks separate them.
static int lastcall(const char *line)
{
    char words[1024];
    char *arguments[MAX_ARGUMENTS + 1] = { "lastcall" };
    int count = 1;
    FILE *out = tmpfile();
    FILE *error = tmpfile();
    int old_out = dup(STDOUT_FILENO);
    int old_error = dup(STDERR_FILENO);

    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word != NULL && count < MAX_ARGUMENTS; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    fflush(stdout);
    fflush(stderr);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(error), STDERR_FILENO);
    int code = cli_main(count, arguments);
    capture(STDOUT_FILENO, out, printed.out, sizeof(printed.out));
    capture(STDERR_FILENO, error, printed.error, sizeof(printed.error));
    dup2(old_out, STDOUT_FILENO);
    dup2(old_error, STDERR_FILENO);
    close(old_out);
    close(old_error);
    return code;
}

static void assert_says(const char *printed_text, const char *expected)
{
    if (strstr(printed_text, expected) == NULL) {
        fail_msg("expected `%s` in:\n%s", expected, printed_text);
    }
}

/// A file with `text`; its name is good until the next call.
static const char *file_with(const char *text)
{
    static char path[64];

    snprintf(path, sizeof(path), "/tmp/lastcall-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static int search(struct server_world *world, const char *text, const char *prefix, const char *options)
{
    char line[512];
    const char *path = file_with(text);

    snprintf(line, sizeof(line), "search %s --url http://127.0.0.1:%u%s %s", path, http_server_port(world->server),
             prefix, options);
    int code = lastcall(line);
    unlink(path);
    return code;
}

static void without_a_command_it_lists_them(void **state)
{
    (void)state;
    assert_int_equal(lastcall(""), CLI_USAGE);
    assert_says(printed.error, "usage: lastcall COMMAND");
    assert_int_equal(lastcall("help"), CLI_OK);
    static const char *const names[] = { "serve",  "search", "check",    "test", "explain",
                                         "status", "reload", "rollback", "help", "version" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_says(printed.out, names[i]);
    }
    assert_int_equal(lastcall("--help"), CLI_OK);
    assert_int_equal(lastcall("version"), CLI_OK);
    assert_says(printed.out, "lastcall ");
}

static void an_unknown_command_gets_a_suggestion(void **state)
{
    (void)state;
    assert_int_equal(lastcall("serach"), CLI_USAGE);
    assert_says(printed.error, "error: there is no command `serach`\nhelp: did you mean `lastcall search`?\n");
    assert_int_equal(lastcall("zzzzzzzz"), CLI_USAGE);
    assert_says(printed.error, "help: `lastcall help` lists the commands");
    assert_int_equal(lastcall("help chek"), CLI_USAGE);
    assert_says(printed.error, "did you mean `lastcall check`?");
}

static void an_unknown_option_gets_a_suggestion(void **state)
{
    (void)state;
    assert_int_equal(lastcall("search a.json --budgt 5"), CLI_USAGE);
    assert_says(printed.error, "did you mean --budget?");
    assert_int_equal(lastcall("check --url http://x"), CLI_USAGE); // an option of another command
    assert_says(printed.error, "`lastcall check` knows no option --url");
}

static void a_code_is_explained_without_an_engine(void **state)
{
    (void)state;
    assert_int_equal(lastcall("explain E0421"), CLI_OK);
    assert_says(printed.out, "E0421 nil_field: a field is missing where it is used\n\n");
    assert_int_equal(lastcall("explain 0421"), CLI_OK);
    assert_says(printed.out, "E0421");
    assert_int_equal(lastcall("explain script_timeout"), CLI_OK);
    assert_says(printed.out, "E0501");
    assert_int_equal(lastcall("explain nil_field --json"), CLI_OK);
    assert_says(printed.out, "{\"code\":\"E0421\",\"name\":\"nil_field\",");
    assert_int_equal(lastcall("explain E0429"), CLI_USAGE);
    assert_says(printed.error, "there is no code `E0429`\nhelp: did you mean `lastcall explain E042");
    assert_int_equal(lastcall("explain nil_feild"), CLI_USAGE);
    assert_says(printed.error, "did you mean `lastcall explain nil_field`?");
    assert_int_equal(lastcall("explain codes"), CLI_OK);
    assert_says(printed.out, "\n  E0501  timeout ");
}

static void each_word_of_replies_that_one_code_is_about_is_explained(void **state)
{
    static const struct {
        const char *word, *begins;
    } words[] = {
        { "script_error", "E0401 raised: " },
        { "script_timeout", "E0501 timeout: " },
        { "script_memory", "E0502 memory: " },
        { "too_large", "E0505 body_too_large: " },
        { "failed", "E0607 transport: " },
        { "rejected", "E0704 refused: " },
        { "unparsable", "E0701 unparsable: " },
        { "offers_dropped", "E0702 offer_dropped: " },
        { "bad_query", "E0803 search_invalid: " },
        { "e0421", "E0421 nil_field: " },
        { "421", "E0421 nil_field: " },
        { "cut", NULL },
        { "script_timeouts", NULL },
    };
    char line[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        (void)snprintf(line, sizeof line, "explain %s", words[i].word);
        if (words[i].begins == NULL) {
            assert_int_equal(lastcall(line), CLI_USAGE);
            continue;
        }
        assert_int_equal(lastcall(line), CLI_OK);
        assert_memory_equal(printed.out, words[i].begins, strlen(words[i].begins));
    }
}

static void the_guide_has_the_page_of_codes(void **state)
{
    (void)state;
    static char guide[1024 * 1024], page[sizeof(printed.out) + 64];
    FILE *file = fopen("suppliers/README.md", "r");

    assert_non_null(file);
    guide[fread(guide, 1, sizeof(guide) - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(lastcall("explain page"), CLI_OK);
    snprintf(page, sizeof(page), "<!-- codes: begin -->\n%s<!-- codes: end -->\n", printed.out);
    if (strstr(guide, page) == NULL) {
        fail_msg("the codes in suppliers/README.md are not those of the table: put what `lastcall explain page` says "
                 "between the two marks");
    }
}

static void a_failure_is_told_with_code_and_notes(void **state)
{
    (void)state;
    char text[1024] = "";
    FILE *file = tmpfile();
    struct failure why = { .line = 0 };

    failure_at(&why, "suppliers/acme.lua", 58, 0);
    failure_code(&why, CODE_NIL_FIELD);
    failure_set(&why, "field `total` is missing here");
    failure_note(&why, "   58 |   price = f.total.amount,");
    failure_note(&why, "f is body.offers[2]: { id }");
    failure_help(&why, "guard it");
    cli_print_failure(file, &why, true);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, "suppliers/acme.lua:58: error[E0421]: field `total` is missing here\n"
                              "   58 |   price = f.total.amount,\n"
                              "   = f is body.offers[2]: { id }\n"
                              "help: guard it\n");
}

static void values_of_options_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = { "search a.json --budget 0",
                                       "search a.json --budget 2s",
                                       "search a.json --budget -1",
                                       "search a.json --width 10",
                                       "search a.json --width",
                                       "search a.json --json=yes",
                                       "search a.json --budget=",
                                       "search a.json b.json",
                                       "search",
                                       "check --config",
                                       "version now" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (lastcall(bad[i]) != CLI_USAGE) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_says(printed.error, "error: ");
        assert_says(printed.error, "help: ");
    }
}

static void help_lists_the_options_of_a_command(void **state)
{
    (void)state;
    assert_int_equal(lastcall("help search"), CLI_OK);
    assert_says(printed.out, "usage: lastcall search SEARCH.json");
    assert_says(printed.out, "--budget MS");
    assert_null(strstr(printed.out, "--secrets"));
    assert_int_equal(lastcall("check --help"), CLI_OK);
    assert_says(printed.out, "-c, --config FILE");
}

static void a_search_that_cannot_be_read_is_not_sent(void **state)
{
    struct server_world *world = *state;

    assert_int_equal(lastcall("search /nowhere/search.json"), CLI_CANNOT_LOAD);
    assert_says(printed.error, "error: cannot open /nowhere/search.json: No such file or directory\nhelp: ");
    assert_int_equal(search(world, "", "", ""), CLI_CANNOT_LOAD);
    assert_says(printed.error, "is empty");
    assert_int_equal(world->requests, 0);
}

static void an_engine_that_is_not_there_is_exit_4(void **state)
{
    struct server_world *world = *state;
    char line[256];
    uint16_t port = http_server_port(world->server);

    server_world_stop(world);
    const char *path = file_with("{}");
    snprintf(line, sizeof(line), "search %s --url http://127.0.0.1:%u", path, port);
    assert_int_equal(lastcall(line), CLI_UNREACHABLE);
    assert_says(printed.error, "error[E0801]: no engine answers at http://127.0.0.1:");
    assert_says(printed.error, "help: start one with `lastcall serve`");
    snprintf(line, sizeof(line), "search %s --url ftp://127.0.0.1", path);
    assert_int_equal(lastcall(line), CLI_USAGE);
    unlink(path);
}

static void operators_questions_go_to_the_admin_listener(void **state)
{
    struct server_world *world = *state;
    char line[256];

    assert_int_equal(lastcall("explain ../status"), CLI_USAGE); // an id becomes a part of a path
    assert_says(printed.error, "error: `../status` is no id of a search\nhelp: ");
    assert_int_equal(lastcall("explain"), CLI_USAGE);
    assert_int_equal(lastcall("status --url http://127.0.0.1:1"), CLI_USAGE); // an option of another command
    snprintf(line, sizeof(line), "status --admin http://127.0.0.1:%u/status/401", http_server_port(world->server));
    assert_int_equal(lastcall(line), CLI_REFUSED);
    assert_says(printed.error, "wants a token\nhelp: put it into the environment variable LASTCALL_ADMIN_TOKEN");
    snprintf(line, sizeof(line), "explain X --admin http://127.0.0.1:%u/status/404", http_server_port(world->server));
    assert_int_equal(lastcall(line), CLI_REFUSED);
    assert_says(printed.error, "help: is it the admin listener? The public one is another port");
    setenv("LASTCALL_ADMIN_TOKEN", "another-token-than-the-engines", 1);
    snprintf(line, sizeof(line), "status --admin http://127.0.0.1:%u/status/401", http_server_port(world->server));
    assert_int_equal(lastcall(line), CLI_REFUSED);
    assert_says(printed.error, "does not take the token in LASTCALL_ADMIN_TOKEN");
    unsetenv("LASTCALL_ADMIN_TOKEN");
    snprintf(line, sizeof(line), "status --admin http://127.0.0.1:%u", http_server_port(world->server));
    assert_int_equal(lastcall(line), CLI_REFUSED); // it answers, but not as lastcall does
    assert_says(printed.error, "is not lastcall's admin listener");
    server_world_stop(world);
    assert_int_equal(lastcall(line), CLI_UNREACHABLE);
    assert_says(printed.error, "or say where it listens with --admin");
}

static void a_change_is_posted_with_who_and_why_and_its_exit_code_tells(void **state)
{
    struct server_world *world = *state;
    char line[256];
    uint16_t port = http_server_port(world->server);

    assert_int_equal(lastcall("rollback"), CLI_USAGE);
    assert_int_equal(lastcall("rollback last"), CLI_USAGE);
    assert_says(printed.error, "error: `last` is no number of a generation\nhelp: ");
    assert_int_equal(lastcall("rollback 0"), CLI_USAGE);
    assert_int_equal(lastcall("rollback 1 --retry acme"), CLI_USAGE); // an option of reload
    assert_int_equal(world->requests, 0);
    snprintf(line, sizeof(line), "reload --why rates --admin http://127.0.0.1:%u", port);
    assert_int_equal(lastcall(line), CLI_REFUSED); // it gives the request back, which is no answer of ours
    assert_says(printed.error, "is not lastcall's admin listener");
    snprintf(line, sizeof(line), "reload --admin http://127.0.0.1:%u/status/401", port);
    assert_int_equal(lastcall(line), CLI_REFUSED);
    assert_says(printed.error, "wants a token");
    snprintf(line, sizeof(line), "rollback 3 --admin http://127.0.0.1:%u/status/503", port);
    assert_int_equal(lastcall(line), CLI_REFUSED);
    assert_says(printed.error, "is stopping");
    server_world_stop(world);
    snprintf(line, sizeof(line), "rollback 3 --admin http://127.0.0.1:%u", port);
    assert_int_equal(lastcall(line), CLI_UNREACHABLE);
}

static void the_reply_is_drawn_or_printed_as_it_came(void **state)
{
    struct server_world *world = *state;
    const char *reply = "{\"search_id\":\"s1\",  \"took_ms\":7,\"budget\":{\"effective_ms\":50},\"suppliers\":"
                        "[{\"name\":\"acme\",\"outcome\":\"answered\",\"offers\":3,\"took_ms\":5}]}";

    assert_int_equal(search(world, reply, "", "--width 100 --no-color"), CLI_OK);
    assert_says(printed.out, "Search s1");
    assert_says(printed.out, "1 supplier answered.");
    assert_string_equal(printed.error, "");
    assert_int_equal(search(world, reply, "", "--json"), CLI_OK);
    assert_int_equal(strncmp(printed.out, reply, strlen(reply)), 0);
    assert_string_equal(printed.out + strlen(reply), "\n");
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        size_t columns = paint_columns((struct text){ line, length });
        widest = columns > widest ? columns : widest;
        line += length + (line[length] == '\n');
    }
    return widest;
}

static void a_pipe_is_as_wide_as_columns_says(void **state)
{
    struct server_world *world = *state;
    const char *reply = "{\"search_id\":\"s1\",\"took_ms\":7,\"budget\":{\"effective_ms\":50},\"suppliers\":"
                        "[{\"name\":\"acme\",\"outcome\":\"answered\",\"offers\":3,\"took_ms\":5}]}";
    static const struct {
        const char *columns, *options;
        size_t least, most;
    } cases[] = { { "150", "", 101, 150 },
                  { "7", "", 60, 80 },
                  { "99999", "", 151, 240 },
                  { "many", "", 80, 100 },
                  { "150", "--width 80", 60, 80 } };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("COLUMNS", cases[i].columns, 1);
        assert_int_equal(search(world, reply, "", cases[i].options), CLI_OK);
        size_t widest = widest_line(printed.out);
        if (widest < cases[i].least || widest > cases[i].most) {
            fail_msg("COLUMNS=%s %s: %zu columns", cases[i].columns, cases[i].options, widest);
        }
    }
    unsetenv("COLUMNS");
}

static void a_name_in_the_url_is_resolved(void **state)
{
    struct server_world *world = *state;
    char line[256];
    if (!hosts_file_names_localhost()) {
        print_message("SKIPPED: /etc/hosts does not name localhost\n");
        skip();
    }
    const char *path = file_with("{\"search_id\":\"named\"}");

    snprintf(line, sizeof(line), "search %s --url=http://localhost:%u/", path, http_server_port(world->server));
    assert_int_equal(lastcall(line), CLI_OK);
    assert_says(printed.out, "Search named");
    unlink(path);
}

static void refusals_have_exit_codes_of_their_own(void **state)
{
    struct server_world *world = *state;
    const char *problem = "{\"title\":\"No\",\"status\":422,\"code\":\"bad_query\",\"errors\":[]}";

    assert_int_equal(search(world, problem, "/status/422", ""), CLI_REFUSED);
    assert_says(printed.out, "error: No (HTTP 422, bad_query)");
    assert_int_equal(search(world, "{\"title\":\"No\",\"status\":504}", "/status/504", "--json"), CLI_CALL_FAILED);
    assert_int_equal(search(world, "{\"title\":\"No\",\"status\":503}", "/status/503", ""), CLI_REFUSED);
    assert_int_equal(search(world, "{}", "/status/404", ""), CLI_REFUSED);
    assert_says(printed.out, "error: the engine refused (HTTP 404)");
    assert_int_equal(search(world, "<html>", "", ""), CLI_REFUSED);
    assert_says(printed.error, "the reply is not what lastcall sends");
}

static void check_reports_every_finding_and_opens_no_socket(void **state)
{
    char line[256];
    (void)state;

    const char *path = file_with("listen: 1\nnonsense: true\n");
    snprintf(line, sizeof(line), "check -c %s", path);
    assert_int_equal(lastcall(line), CLI_FINDINGS);
    snprintf(line, sizeof(line), "%s:2:1: error[E0102]: ", path);
    assert_says(printed.out, line);
    assert_says(printed.out, " findings\n");
    snprintf(line, sizeof(line), "check --json --config=%s", path);
    assert_int_equal(lastcall(line), CLI_FINDINGS);
    assert_says(printed.out, "{\"findings\":[{\"file\":\"/tmp/");
    snprintf(line, sizeof(line), "serve -c %s", path);
    assert_int_equal(lastcall(line), CLI_CANNOT_LOAD);
    assert_says(printed.error, ":2:1: error[E0102]: ");
    unlink(path);
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, server_world_setup, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_command_it_lists_them),
        cmocka_unit_test(an_unknown_command_gets_a_suggestion),
        cmocka_unit_test(an_unknown_option_gets_a_suggestion),
        cmocka_unit_test(a_code_is_explained_without_an_engine),
        cmocka_unit_test(each_word_of_replies_that_one_code_is_about_is_explained),
        cmocka_unit_test(the_guide_has_the_page_of_codes),
        cmocka_unit_test(a_failure_is_told_with_code_and_notes),
        cmocka_unit_test(values_of_options_are_checked),
        cmocka_unit_test(help_lists_the_options_of_a_command),
        WITH_SERVER(a_pipe_is_as_wide_as_columns_says),
        WITH_SERVER(a_search_that_cannot_be_read_is_not_sent),
        WITH_SERVER(an_engine_that_is_not_there_is_exit_4),
        WITH_SERVER(operators_questions_go_to_the_admin_listener),
        WITH_SERVER(a_change_is_posted_with_who_and_why_and_its_exit_code_tells),
        WITH_SERVER(the_reply_is_drawn_or_printed_as_it_came),
        WITH_SERVER(a_name_in_the_url_is_resolved),
        WITH_SERVER(refusals_have_exit_codes_of_their_own),
        cmocka_unit_test(check_reports_every_finding_and_opens_no_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
