// What a reload answers, as it is written for programs and for the log.

#include "app/reload_answer.h"
#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char written[1 << 16];

static void write_down(const struct reload_answer *answer)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, sizeof(written) - 1);
    json_writer_init(&json, &out);
    reload_answer_write(answer, &json);
    assert_false(out.is_full);
    memcpy(written, out.data, out.length);
    written[out.length] = '\0';
    buffer_fini(&out);
}

static void assert_written(const char *part)
{
    if (strstr(written, part) == NULL) {
        fail_msg("expected `%s` in\n%s", part, written);
    }
}

static struct reload_answer *example(void)
{
    struct reload_answer *answer = reload_answer_create(RELOAD_COMMAND, TEXT("ann@desk"), TEXT("new rates"));
    struct reload_row changed = {
        .kind = "supplier",
        .fate = "changed",
        .name = TEXT("acme"),
        .file = TEXT("suppliers/acme.lua"),
        .before = TEXT("acme@3f9a"),
        .running = TEXT("acme@77aa"),
    };
    struct reload_row kept = {
        .kind = "supplier",
        .fate = "kept",
        .name = TEXT("bravo"),
        .running = TEXT("bravo@1111"),
        .on_disk = TEXT("bravo@2222"),
    };

    assert_non_null(answer);
    failure_at(&kept.because, "suppliers/bravo.lua", 12, 3);
    failure_set(&kept.because, "unexpected symbol");
    failure_help(&kept.because, "mend it");
    answer->outcome = RELOAD_PUBLISHED;
    answer->generation = 43;
    answer->previous = 42;
    answer->took_us = 119600;
    reload_answer_add_changed(answer, &changed);
    reload_answer_add_kept(answer, &kept);
    reload_answer_add_restart(answer, "io_threads", "lastcall.yaml", 3);
    return answer;
}

static void all_of_it_is_written(void **state)
{
    struct reload_answer *answer = example();
    (void)state;

    write_down(answer);
    assert_written("{\"outcome\":\"published\",\"generation\":43,\"previous\":42,\"at\":\"20");
    assert_written("\"source\":\"command\",\"who\":\"ann@desk\",\"why\":\"new rates\",\"requests\":1,\"took_ms\":120,");
    assert_written("\"changed\":[{\"kind\":\"supplier\",\"name\":\"acme\",\"file\":\"suppliers/acme.lua\","
                   "\"fate\":\"changed\",\"running\":\"acme@77aa\",\"before\":\"acme@3f9a\"}]");
    assert_written("\"kept\":[{\"kind\":\"supplier\",\"name\":\"bravo\",\"fate\":\"kept\",\"running\":\"bravo@1111\","
                   "\"on_disk\":\"bravo@2222\",\"because\":\"suppliers/bravo.lua:12: unexpected symbol\","
                   "\"help\":\"mend it\"}]");
    assert_written("\"settings\":{\"changed\":false,\"needs_restart\":[{\"setting\":\"io_threads\","
                   "\"file\":\"lastcall.yaml\",\"line\":3}]},\"findings\":[]}");
    assert_non_null(reload_answer_find_kept(answer, "supplier", TEXT("bravo")));
    assert_null(reload_answer_find_kept(answer, "product", TEXT("bravo")));
    assert_null(reload_answer_find_kept(answer, "supplier", TEXT("acme")));
    reload_answer_release(&answer);
    assert_null(answer);
}

static void the_line_of_the_log_counts_it(void **state)
{
    struct reload_answer *answer = example();
    struct buffer line;
    (void)state;

    buffer_init(&line, 1024);
    reload_answer_print(answer, &line);
    assert_true(text_equals_c(buffer_text(&line),
                              "published generation=43 previous=42 source=command who=ann@desk took_ms=120 "
                              "needs_restart=1 findings=0 changed=acme:changed kept=bravo:kept settings=same "
                              "why=\"new rates\""));
    buffer_fini(&line);
    reload_answer_release(&answer);
}

static void a_refusal_says_why_and_says_so_when_there_is_more(void **state)
{
    struct reload_answer *answer = reload_answer_create(RELOAD_SIGNAL, (struct text){ 0 }, (struct text){ 0 });
    struct failure failure = { 0 };
    (void)state;

    reload_answer_refuse(answer, "the settings are bad", "mend them");
    failure_at(&failure, "lastcall.yaml", 3, 1);
    failure_set(&failure, "bad");
    for (int i = 0; i < RELOAD_FINDINGS_MAX + 1; i++) {
        reload_answer_add_finding(answer, &failure);
    }
    write_down(answer);
    assert_written("{\"outcome\":\"refused\"");
    assert_written("\"findings\":[{\"finding\":\"the settings are bad\",\"help\":\"mend them\"},"
                   "{\"finding\":\"lastcall.yaml:3: bad\"},");
    assert_written("\"findings_left_out\":2}");
    assert_null(strstr(written, "\"who\""));
    reload_answer_release(&answer);
}

static void secrets_do_not_get_out(void **state)
{
    struct reload_answer *answer;
    struct reload_row row = { .kind = "supplier", .fate = "kept", .name = TEXT("acme") };
    (void)state;

    assert_int_equal(redact_add(TEXT("s3cr3t-value")), STATUS_OK);
    answer = reload_answer_create(RELOAD_TRIAL, TEXT("trial"), TEXT("it raised s3cr3t-value"));
    failure_set(&row.because, "bad header s3cr3t-value");
    failure_help(&row.because, "not s3cr3t-value");
    reload_answer_add_kept(answer, &row);
    write_down(answer);
    assert_written("it raised ***");
    assert_null(strstr(written, "s3cr3t"));
    reload_answer_release(&answer);
}

static void the_last_release_ends_it(void **state)
{
    struct reload_answer *answer = example();
    struct reload_answer *second = reload_answer_acquire(answer);
    (void)state;

    reload_answer_release(&answer);
    assert_true(text_equals_c(second->who, "ann@desk"));
    reload_answer_release(&second);
    reload_answer_release(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_written),
        cmocka_unit_test(the_line_of_the_log_counts_it),
        cmocka_unit_test(a_refusal_says_why_and_says_so_when_there_is_more),
        cmocka_unit_test(secrets_do_not_get_out),
        cmocka_unit_test(the_last_release_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
