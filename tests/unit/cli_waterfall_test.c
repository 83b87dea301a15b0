// The drawing of a fixed reply, letter by letter, and what must hold for any reply.

#include "cli/reply_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// clang-format off
static const char fixed_reply[] =
    "{ \"search_id\": \"01JDX8Z5K3T9\", \"took_ms\": 1993, \"generation\": 42,"
    "\"budget\": { \"requested_ms\": 2000, \"effective_ms\": 2000, \"reserve_ms\": 100, \"clamped\": false },"
    "\"coverage\": { \"complete\": false, \"percent\": 62, \"eligible\": 10, \"answered\": 5, \"empty\": 1, \"missing\": 4, \"reasons\": [\"budget\"], \"offers_found\": 1200, \"offers_returned\": 310 },"
    "\"suppliers\": ["
    "{\"name\":\"s07\",\"outcome\":\"failed\",\"phase\":\"connect\",\"detail\":\"Connection refused\",\"began_ms\":2,\"took_ms\":1},"
    "{\"name\":\"duffel\",\"account\":\"main\",\"outcome\":\"answered\",\"offers\":68,\"began_ms\":3,\"took_ms\":412,\"allocated_ms\":887,\"ceiling_ms\":900,\"ceiling_from\":\"script\"},"
    "{\"name\":\"s01\",\"outcome\":\"answered\",\"offers\":30,\"began_ms\":2,\"took_ms\":81},"
    "{\"name\":\"s02\",\"outcome\":\"answered\",\"offers\":30,\"offers_dropped\":2,\"first_dropped\":\"[7].price.total: required, but the map has nothing\",\"began_ms\":2,\"took_ms\":1240,\"ceiling_ms\":1600},"
    "{\"name\":\"s03\",\"outcome\":\"answered\",\"offers\":30,\"partial\":true,\"began_ms\":2,\"took_ms\":730},"
    "{\"name\":\"s04\",\"outcome\":\"empty\",\"began_ms\":2,\"took_ms\":530},"
    "{\"name\":\"s05\",\"outcome\":\"cut\",\"bound\":\"ceiling\",\"phase\":\"first_byte\",\"began_ms\":2,\"took_ms\":798,\"ceiling_ms\":800},"
    "{\"name\":\"s06\",\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"tls\",\"began_ms\":2,\"took_ms\":1898},"
    "{\"name\":\"s08\",\"outcome\":\"rejected\",\"kind\":\"quota\",\"http_status\":429,\"detail\":\"HTTP status 429\",\"began_ms\":2,\"took_ms\":200,\"retry_in_ms\":3000},"
    "{\"name\":\"s09\",\"outcome\":\"script_error\",\"detail\":\"suppliers/s09.lua:58: attempt to index field 'total' (a nil value)\",\"began_ms\":2,\"took_ms\":900},"
    "{\"name\":\"golf\",\"outcome\":\"skipped\",\"reason\":\"multi-city not sold\"},"
    "{\"name\":\"farm_a\",\"outcome\":\"disabled\",\"reason\":\"template\"} ],"
    "\"items\": {\"a1\":{\"slices\":[{\"segments\":[{\"carrier\":\"BA\",\"number\":\"117\",\"origin\":\"LHR\",\"destination\":\"JFK\",\"departs\":{\"local\":\"2030-05-01T08:30:00\"},\"arrives\":{\"local\":\"2030-05-01T11:20:00\"}}]},{\"segments\":[{\"carrier\":\"BA\",\"number\":\"178\",\"origin\":\"JFK\",\"destination\":\"BOS\",\"departs\":{\"local\":\"2030-05-09T20:10:00\"}},{\"carrier\":\"BA\",\"number\":\"179\",\"origin\":\"BOS\",\"destination\":\"LHR\",\"departs\":{\"local\":\"2030-05-09T23:10:00\"}}]}]}},"
    "\"offers\": [ {\"id\":\"duffel:1\",\"supplier\":\"duffel\",\"item\":\"a1\",\"price\":{\"total\":\"412.30\",\"currency\":\"EUR\"}},{\"id\":\"s01:1\",\"supplier\":\"s01\",\"item\":\"zz\",\"price\":{\"total\":\"1412.30\",\"currency\":\"EUR\"},\"flags\":[\"taxes_unknown\",\"other_currency\"]},{\"id\":\"s02:1\",\"supplier\":\"s02\",\"item\":\"a1\",\"price\":{\"total\":\"12.30\",\"currency\":\"EUR\"}} ], \"facets\": {} }";

static const char drawing_100[] =
    "Search 01JDX8Z5K3T9 · reply after 1,993 of 2,000 ms · reserve 100 ms\n"
    "████████████░░░░░░░░ 62 % not complete · 6 of 10 suppliers · 1,200 offers, 310 returned\n"
    "\n"
    "supplier outcome      0         500       1000          2000 ms      took offers      cheapest\n"
    "                      ┬─────────┬─────────┬─────────┬────────▼│\n"
    "s01      answered     █▋                                    ┊┊│     81 ms     30   1412.30 EUR\n"
    "duffel   answered     ████████▎         ◇                   ┊┊│    412 ms     68    412.30 EUR\n"
    "s03      answered     ██████████████▋                       ┊┊│    730 ms     30               part\n"
    "s02      answered     ████████████████████████▊       ◇     ┊┊│  1,240 ms     30     12.30 EUR 2 bad\n"
    "s04      empty        ▒▒▒▒▒▒▒▒▒▒▒                           ┊┊│    530 ms      0\n"
    "s07      failed       ✗                                     ┊┊│      1 ms  connect: Connection refu…\n"
    "s08      rejected     ░░░░✗                                 ┊┊│    200 ms  quota: HTTP 429, retry i…\n"
    "s09      script_error ░░░░░░░░░░░░░░░░░░✗                   ┊┊│    900 ms  s09.lua:58: attempt to i…\n"
    "s05      cut          ░░░░░░░░░░░░░░░◆                      ┊┊│    798 ms  ceiling: first byte\n"
    "s06      cut          ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░┫┊┊│  1,898 ms  budget: tls\n"
    "\n"
    "golf     skipped      multi-city not sold\n"
    "farm_a   disabled     template\n"
    "\n"
    "█ answered   ▒ had nothing   ░ waited in vain   ◆ cut by its ceiling   ┫ cut by the budget\n"
    "✗ failed   ◇ ceiling   ┊ reserve   │ deadline   ▼ reply sent\n"
    "\n"
    "s02 2 bad, the first: [7].price.total: required, but the map has nothing\n"
    "s07 failed: connect: Connection refused\n"
    "s08 rejected: quota: HTTP 429, retry in 3000 ms\n"
    "s09 script_error: suppliers/s09.lua:58: attempt to index field 'total' (a nil value)\n"
    "\n"
    "Best offers\n"
    "       412.30 EUR  duffel  LHR-JFK 08:30 BA117 | JFK-LHR 20:10 BA178+BA179\n"
    "      1412.30 EUR  s01     zz (taxes_unknown)\n"
    "        12.30 EUR  s02     LHR-JFK 08:30 BA117 | JFK-LHR 20:10 BA178+BA179\n"
    "\n"
    "4 suppliers answered, 1 had nothing to offer, 1 was cut by the budget, 1 was cut by its ceiling, 2\n"
    "failed or refused, 1 was lost to its script, 1 does not sell this, 1 is switched off.\n";

static const char drawing_80_ascii[] =
    "Search 01JDX8Z5K3T9, reply after 1,993 of 2,000 ms, reserve 100 ms\n"
    "######.... 62 % not complete, 6 of 10 suppliers, 1,200 offers, 310 returned\n"
    "\n"
    "supplier outcome      0            1000   2000 ms      took offers      cheapest\n"
    "                      +------------+-----------v|\n"
    "s01      answered     ##                      ::|     81 ms     30   1412.30 EUR\n"
    "duffel   answered     ######     c            ::|    412 ms     68    412.30 EUR\n"
    "s03      answered     ##########              ::|    730 ms     30\n"
    "s02      answered     #################   c   ::|  1,240 ms     30     12.30 EUR\n"
    "s04      empty        =======                 ::|    530 ms      0\n"
    "s07      failed       x                       ::|      1 ms  connect: Connectio~\n"
    "s08      rejected     ..x                     ::|    200 ms  quota: HTTP 429, r~\n"
    "s09      script_error ...........x            ::|    900 ms  s09.lua:58: attemp~\n"
    "s05      cut          ..........C             ::|    798 ms  ceiling: first byte\n"
    "s06      cut          ........................]:|  1,898 ms  budget: tls\n"
    "\n"
    "golf     skipped      multi-city not sold\n"
    "farm_a   disabled     template\n"
    "\n"
    "# answered   = had nothing   . waited in vain   C cut by its ceiling\n"
    "] cut by the budget   x failed   c ceiling   : reserve   | deadline\n"
    "v reply sent\n"
    "\n"
    "s02 2 bad, the first: [7].price.total: required, but the map has nothing\n"
    "s07 failed: connect: Connection refused\n"
    "s08 rejected: quota: HTTP 429, retry in 3000 ms\n"
    "s09 script_error: suppliers/s09.lua:58: attempt to index field 'total' (a nil\n"
    "value)\n"
    "\n"
    "Best offers\n"
    "       412.30 EUR  duffel  LHR-JFK 08:30 BA117 | JFK-LHR 20:10 BA178+BA179\n"
    "      1412.30 EUR  s01     zz (taxes_unknown)\n"
    "        12.30 EUR  s02     LHR-JFK 08:30 BA117 | JFK-LHR 20:10 BA178+BA179\n"
    "\n"
    "4 suppliers answered, 1 had nothing to offer, 1 was cut by the budget, 1 was cut\n"
    "by its ceiling, 2 failed or refused, 1 was lost to its script, 1 does not sell\n"
    "this, 1 is switched off.\n";
// clang-format on

/// Draws `reply`; the caller frees the text. NULL: the reply was refused.
static char *draw(const char *reply, uint32_t width, bool is_utf8, bool has_colour)
{
    struct block *bytes = block_create(text_of(reply));
    struct reply_view view;
    struct failure why;
    struct buffer out;
    struct paint paint = { .out = &out, .width = width, .is_utf8 = is_utf8, .has_colour = has_colour };
    char *drawn = NULL;

    if (reply_view_read(bytes, &view, &why) == STATUS_OK) {
        buffer_init(&out, 1 << 20);
        reply_print(&paint, &view);
        drawn = buffer_take(&out);
        reply_view_fini(&view);
    }
    block_release(&bytes);
    return drawn;
}

static void assert_drawing(const char *drawn, const char *expected)
{
    if (drawn == NULL || strcmp(drawn, expected) != 0) {
        fprintf(stderr, "expected:\n%s\ndrawn:\n%s\n", expected,
                drawn != NULL ? drawn : "(nothing)"); // print_error cuts
        fail();
    }
}

static void what_was_known_is_told_with_its_age(void **state)
{
    (void)state;
    static const char reply[] =
        "{\"search_id\":\"x\",\"took_ms\":10,\"budget\":{\"requested_ms\":2000,\"effective_ms\":2000},"
        "\"coverage\":{\"complete\":false,\"percent\":33,\"eligible\":3,\"answered\":0,\"empty\":0,\"cached\":1,"
        "\"indicative\":2,\"missing\":0,\"offers_found\":20,\"offers_returned\":20},\"suppliers\":["
        "{\"name\":\"a\",\"outcome\":\"cached\",\"offers\":5,\"last_known\":{\"offers\":5,\"age_s\":59}},"
        "{\"name\":\"b\",\"outcome\":\"breaker_open\",\"detail\":\"failed too often\","
        "\"last_known\":{\"offers\":12,\"age_s\":1340}},"
        "{\"name\":\"c\",\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"first_byte\",\"took_ms\":1990,"
        "\"last_known\":{\"offers\":3,\"age_s\":7300}}]}";
    static const char *const parts[] = { "1 of 3 suppliers, 2 by what they said last", " 59 s old",
                                         "failed too often; 12 offers of 22 min ago", "; 3 offers of 2 h ago" };
    char *drawn = draw(reply, 140, true, false);

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (drawn == NULL || strstr(drawn, parts[i]) == NULL) {
            fail_msg("`%s` is not in\n%s", parts[i], drawn != NULL ? drawn : "(nothing)");
        }
    }
    free(drawn);
}

static void rules_are_told_by_the_lines_where_they_stand(void **state)
{
    (void)state;
    static const char reply[] =
        "{\"search_id\":\"x\",\"took_ms\":10,\"budget\":{\"requested_ms\":2000,\"effective_ms\":1500,\"from\":\"rule\","
        "\"rule\":\"site.yaml:4\"},\"suppliers\":["
        "{\"name\":\"a\",\"outcome\":\"answered\",\"ceiling_ms\":900,\"rules\":[\"site.yaml:5\"]},"
        "{\"name\":\"b\",\"outcome\":\"answered\",\"ceiling_ms\":800,\"rules\":[]},"
        "{\"name\":\"c\",\"outcome\":\"answered\",\"ceiling_ms\":720,\"rules\":[\"site.yaml:5\",\"site.yaml:6\"]}]}";
    static const char expected[] = "\nRules\n"
                                   "  site.yaml:4  deadline 1,500 ms\n"
                                   "  site.yaml:5  ceiling of a (900 ms), c (720 ms)\n"
                                   "  site.yaml:6  ceiling of c (720 ms)\n"
                                   "\n";
    char *drawn = draw(reply, 100, true, false);
    if (drawn == NULL || strstr(drawn, expected) == NULL) {
        fail_msg("%s", drawn != NULL ? drawn : "(nothing)");
    }
    free(drawn);
    drawn = draw(fixed_reply, 100, true, false);
    assert_null(strstr(drawn, "Rules"));
    free(drawn);
    assert_null(draw("{\"suppliers\":[{\"name\":\"a\",\"rules\":[", 100, true, false));
    drawn =
        draw("{\"suppliers\":[{\"name\":\"a\",\"rules\":[1,\"x:1\",{},\"x:2\",\"x:3\"]},{\"name\":\"b\",\"rules\":7}]}",
             100, true, false);
    assert_non_null(strstr(drawn, "x:2"));
    assert_null(strstr(drawn, "x:3"));
    free(drawn);
}

static void a_reply_is_drawn_as_designed(void **state)
{
    (void)state;
    char *drawn = draw(fixed_reply, 100, true, false);
    assert_drawing(drawn, drawing_100);
    free(drawn);
}

static void without_utf8_it_is_drawn_in_ascii(void **state)
{
    (void)state;
    char *drawn = draw(fixed_reply, 80, false, false);
    assert_drawing(drawn, drawing_80_ascii);
    for (const char *at = drawn; *at != '\0'; at++) {
        assert_true((unsigned char)*at < 0x80);
    }
    free(drawn);
}

/// Without what begins with ESC and ends with m.
static void strip_colours(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (*from == '\033') {
            from = strchr(from, 'm');
            continue;
        }
        *to++ = *from;
    }
    *to = '\0';
}

static void colours_change_nothing_but_the_colour(void **state)
{
    (void)state;
    char *drawn = draw(fixed_reply, 100, true, true);
    assert_non_null(strstr(drawn, "\033[32m"));
    strip_colours(drawn);
    // Coloured blanks at the end of a line are the only thing that may differ.
    assert_drawing(drawn, drawing_100);
    free(drawn);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    const char *large =
        "{\"search_id\":\"01JDX8Z5K3T901JDX8Z5K3T9\",\"took_ms\":600000,\"budget\":{\"effective_ms\":600000},"
        "\"coverage\":{\"percent\":100,\"answered\":4000,\"eligible\":4000,\"offers_found\":12000000,"
        "\"offers_returned\":4000000},\"suppliers\":[{\"name\":\"a_supplier_with_a_very_long_name\","
        "\"outcome\":\"finished_early\",\"took_ms\":600000},{\"name\":\"b\",\"outcome\":\"disabled\","
        "\"reason\":\"The contract ended long ago and nobody has found the time to take this supplier out of "
        "the settings; see the ticket, the wiki, the mail of last year and the minutes of the meeting. This "
        "sentence is longer than any terminal that the test draws on.\"}]}";
    for (uint32_t width = 160; width <= 480; width++) {
        char *drawn = draw(width % 2 == 0 ? fixed_reply : large, width / 2, true, false);
        for (char *line = drawn; *line != '\0'; line = strchr(line, '\n') + 1) {
            size_t length = (size_t)(strchr(line, '\n') - line);
            if (paint_columns((struct text){ line, length }) > width / 2) {
                fail_msg("%.*s is wider than %u", (int)length, line, width / 2);
            }
        }
        free(drawn);
    }
}

static void a_problem_shows_where_and_why(void **state)
{
    (void)state;
    char *drawn =
        draw("{\"type\":\"about:blank\",\"title\":\"The query is not valid\",\"status\":422,\"code\":\"bad_query\","
             "\"errors\":[{\"pointer\":\"/query/slices/0/date\",\"code\":\"past\",\"detail\":\"lies in the past\"},"
             "{\"pointer\":\"\",\"code\":\"odd\"}]}",
             100, true, false);
    assert_drawing(drawn, "error: The query is not valid (HTTP 422, bad_query)\n"
                          "  /query/slices/0/date: lies in the past\n"
                          "  (the whole document): odd\n");
    free(drawn);
}

static void a_504_still_draws_its_suppliers(void **state)
{
    (void)state;
    char *drawn =
        draw("{\"type\":\"about:blank\",\"title\":\"No supplier answered\",\"status\":504,"
             "\"code\":\"no_answer\",\"search_id\":\"x1\",\"took_ms\":290,"
             "\"budget\":{\"requested_ms\":50,\"effective_ms\":300,\"reserve_ms\":10,\"clamped\":true},"
             "\"coverage\":{\"complete\":false,\"percent\":0,\"eligible\":1,\"missing\":1},"
             "\"suppliers\":[{\"name\":\"slow\",\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"script_queue\","
             "\"began_ms\":1,\"took_ms\":289}]}",
             80, false, false);
    assert_non_null(strstr(drawn, "error: No supplier answered (HTTP 504, no_answer)\n"));
    assert_non_null(strstr(drawn, "reply after 290 of 300 ms (50 were asked for)"));
    assert_non_null(strstr(drawn, "...]"));
    assert_non_null(strstr(drawn, "budget: script que~"));
    assert_non_null(strstr(drawn, "No supplier answered, 1 was cut by the budget.\n"));
    free(drawn);
}

/// Draws a reply whose only supplier, if there is one, was not asked for that reason, and looks for `words`.
static void assert_nobody(const char *suppliers, const char *words)
{
    char reply[400];

    (void)snprintf(
        reply, sizeof(reply),
        "{\"search_id\":\"x1\",\"took_ms\":1,\"budget\":{\"effective_ms\":300,\"reserve_ms\":10},\"coverage\":"
        "{\"complete\":false,\"percent\":0,\"eligible\":0},\"suppliers\":[%s]}",
        suppliers);
    char *drawn = draw(reply, 100, false, false);
    assert_non_null(drawn);
    bool is_there = strstr(drawn, words) != NULL, has_help = strstr(drawn, "help: ") != NULL;
    if (!is_there || has_help != (words[0] != '\0')) {
        fail_msg("no `%s` in:\n%s", words, drawn);
    }
    free(drawn);
}

static void a_search_that_asked_nobody_says_what_to_look_at(void **state)
{
    (void)state;
    assert_nobody("", "help: there is nobody to ask: `lastcall new NAME` drafts a supplier");
    assert_nobody("{\"name\":\"a\",\"outcome\":\"disabled\",\"reason\":\"secret X is not set\"}",
                  "help: nobody was asked: `lastcall status` says why");
    assert_nobody("{\"name\":\"a\",\"outcome\":\"skipped\",\"reason\":\"trip_type\"}",
                  "help: nobody was asked: `lastcall explain x1` says why not");
    assert_nobody("{\"name\":\"a\",\"outcome\":\"skipped\"},{\"name\":\"b\",\"outcome\":\"failed\",\"took_ms\":1}", "");
}

static void a_reply_without_details_is_a_table_and_no_chart(void **state)
{
    (void)state;
    char *drawn =
        draw("{\"search_id\":\"x1\",\"took_ms\":290,\"budget\":{\"effective_ms\":300,\"reserve_ms\":10},"
             "\"coverage\":{\"percent\":50,\"eligible\":4,\"answered\":1,\"empty\":1,\"offers_found\":30,"
             "\"offers_returned\":2},\"suppliers\":[{\"name\":\"Sunny Air\",\"outcome\":\"answered\"},"
             "{\"name\":\"Luna\",\"outcome\":\"none\"},{\"name\":\"s02\",\"outcome\":\"late\"},"
             "{\"name\":\"s03\",\"outcome\":\"unavailable\"}],\"items\":{},\"offers\":["
             "{\"supplier\":\"Sunny Air\",\"item\":\"i\",\"price\":{\"total\":\"9.00\",\"currency\":\"EUR\"}},"
             "{\"supplier\":\"Sunny Air\",\"item\":\"i\",\"price\":{\"total\":\"9.50\",\"currency\":\"EUR\"}}]}",
             80, true, false);
    assert_drawing(drawn, "Search x1 · reply after 290 of 300 ms · reserve 10 ms\n"
                          "█████░░░░░ 50 % not complete · 2 of 4 suppliers · 30 offers, 2 returned\n"
                          "\n"
                          "supplier  outcome     returned        cheapest\n"
                          "Sunny Air answered           2        9.00 EUR\n"
                          "Luna      none\n"
                          "s02       late\n"
                          "s03       unavailable\n"
                          "\n"
                          "Best offers\n"
                          "         9.00 EUR  Sunny Air  i\n"
                          "         9.50 EUR  Sunny Air  i\n"
                          "\n"
                          "1 supplier answered, 1 had nothing to offer, 1 was not waited for, 1 failed or\n"
                          "refused.\n");
    free(drawn);
}

static void a_stranger_cannot_steer_the_terminal(void **state)
{
    (void)state;
    char *drawn = draw(
        "{\"search_id\":\"a\\u001b]0;x\\u0007b\",\"took_ms\":1,\"budget\":{\"effective_ms\":10},"
        "\"suppliers\":[{\"name\":\"s\\u009bm\",\"outcome\":\"failed\",\"took_ms\":1,"
        "\"detail\":\"bad\\r\\n\\u001b[2Jgone\"}],"
        "\"items\":{\"i\":{\"slices\":[{\"segments\":[{\"origin\":\"\\u001b[31m\",\"carrier\":\"X\"}]}]}},"
        "\"offers\":[{\"supplier\":\"s\",\"item\":\"i\",\"price\":{\"total\":\"1\\u001b\",\"currency\":\"EUR\"}}]}",
        120, true, false);
    assert_non_null(drawn);
    for (const char *at = drawn; *at != '\0'; at++) {
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
        assert_false((unsigned char)at[0] == 0xC2 && (unsigned char)at[1] < 0xA0);
    }
    free(drawn);
}

/// In eighths of a cell, what is drawn in the row of `name`.
static size_t bar_eighths(const char *drawn, const char *name)
{
    const char *row = strstr(drawn, name);
    size_t eighths = 0;

    assert_non_null(row);
    for (const char *at = row + 1; *at != '\n'; at++) {
        unsigned char last = (unsigned char)at[2];
        if (strncmp(at, "\xE2\x96", 2) == 0 && last >= 0x88 && last <= 0x8F) {
            eighths += 0x90u - last; // U+2588 is the full block, U+258F one eighth
        }
    }
    return eighths;
}

static void a_later_answer_never_has_the_shorter_bar(void **state)
{
    char reply[512];
    (void)state;

    for (uint32_t width = 60; width <= 200; width += 7) {
        size_t before = 0;
        for (unsigned took_ms = 1; took_ms <= 2000; took_ms += 3) {
            snprintf(reply, sizeof(reply),
                     "{\"took_ms\":1990,\"budget\":{\"effective_ms\":2000},\"suppliers\":[{\"name\":\"zz\","
                     "\"outcome\":\"answered\",\"offers\":1,\"began_ms\":0,\"took_ms\":%u}]}",
                     took_ms);
            char *drawn = draw(reply, width, true, false);
            size_t now = bar_eighths(drawn, "\nzz ");
            if (now < before || now == 0) {
                fail_msg("%u ms at %u columns: %zu eighths after %zu", took_ms, width, now, before);
            }
            before = now;
            free(drawn);
        }
    }
}

static void absurd_times_do_not_break_the_axis(void **state)
{
    (void)state;
    char *drawn =
        draw("{\"took_ms\":18446744073709551615,\"budget\":{\"effective_ms\":1,\"reserve_ms\":18446744073709551615},"
             "\"suppliers\":[{\"name\":\"a\",\"outcome\":\"answered\",\"began_ms\":18446744073709551615,"
             "\"took_ms\":18446744073709551615,\"ceiling_ms\":18446744073709551615},"
             "{\"name\":\"b\",\"outcome\":\"new_in_2031\",\"took_ms\":5}]}",
             100, true, false);
    assert_non_null(drawn);
    assert_non_null(strstr(drawn, "new_in_2031"));
    assert_non_null(strstr(drawn, "reply after 1,000,000,000,000 of 1 ms"));
    free(drawn);
    drawn = draw("{}", 100, true, false);
    assert_non_null(drawn);
    free(drawn);
}

static void what_is_no_reply_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "[]", "<html>", "{", "{\"suppliers\":[{]}", "{} {}", "\"text\"" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_null(draw(bad[i], 100, true, false));
    }
    // Fields of another kind than expected are passed over.
    char *drawn =
        draw("{\"took_ms\":\"5\",\"suppliers\":{\"a\":1},\"offers\":[1,[2],null],\"coverage\":7,\"items\":[]}", 100,
             true, false);
    assert_non_null(drawn);
    free(drawn);
}

static void a_reply_without_details_is_counted_by_its_four_words(void **state)
{
    (void)state;
    char *drawn = draw("{\"took_ms\":800,\"budget\":{\"effective_ms\":800},\"suppliers\":["
                       "{\"name\":\"A\",\"outcome\":\"answered\"},{\"name\":\"B\",\"outcome\":\"none\"},"
                       "{\"name\":\"C\",\"outcome\":\"late\"},{\"name\":\"D\",\"outcome\":\"unavailable\"}]}",
                       120, true, false);
    assert_non_null(drawn);
    assert_non_null(strstr(drawn, "1 supplier answered, 1 had nothing to offer, 1 was not waited for, "
                                  "1 failed or refused."));
    free(drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_is_drawn_as_designed),
        cmocka_unit_test(what_was_known_is_told_with_its_age),
        cmocka_unit_test(rules_are_told_by_the_lines_where_they_stand),
        cmocka_unit_test(without_utf8_it_is_drawn_in_ascii),
        cmocka_unit_test(colours_change_nothing_but_the_colour),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(a_problem_shows_where_and_why),
        cmocka_unit_test(a_504_still_draws_its_suppliers),
        cmocka_unit_test(a_search_that_asked_nobody_says_what_to_look_at),
        cmocka_unit_test(a_reply_without_details_is_a_table_and_no_chart),
        cmocka_unit_test(a_stranger_cannot_steer_the_terminal),
        cmocka_unit_test(absurd_times_do_not_break_the_axis),
        cmocka_unit_test(what_is_no_reply_is_refused),
        cmocka_unit_test(a_reply_without_details_is_counted_by_its_four_words),
        cmocka_unit_test(a_later_answer_never_has_the_shorter_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
