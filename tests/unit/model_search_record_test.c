// The record of a search: what it holds, and how it reads.
#include "model/search_record.h"

#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct search_record *make(size_t entries, size_t text_bytes)
{
    struct search_record *record = search_record_create(entries, text_bytes);
    assert_non_null(record);
    for (size_t i = 0; i < entries; i++) {
        record->entries[i].ceiling_us = UINT64_MAX;
    }
    return record;
}

/// Renders, checks that it is one line of strict JSON, and returns it terminated.
static const char *render(const struct search_record *record)
{
    static char line[16384];
    struct buffer out;
    struct json_writer json;
    size_t offset = 0;
    const char *sentence = "";

    buffer_init(&out, sizeof(line) - 1);
    json_writer_init(&json, &out);
    search_record_write(record, &json);
    assert_false(out.is_full);
    if (!json_is_valid(buffer_text(&out), &offset, &sentence)) {
        fail_msg("no JSON: %s at %zu", sentence, offset);
    }
    assert_null(memchr(out.data, '\n', out.length));
    memcpy(line, out.data, out.length);
    line[out.length] = '\0';
    buffer_fini(&out);
    return line;
}

static void assert_has(const char *line, const char *expected)
{
    if (strstr(line, expected) == NULL) {
        fail_msg("expected `%s` in\n%s", expected, line);
    }
}

static void assert_lacks(const char *line, const char *unwanted)
{
    if (strstr(line, unwanted) != NULL) {
        fail_msg("`%s` stands in\n%s", unwanted, line);
    }
}

static void fill_search(struct search_record *record)
{
    record->search_id = search_record_keep(record, TEXT("01ABC"));
    record->product = search_record_keep(record, TEXT("flights"));
    record->generation = 7;
    record->arrival_wall_us = UINT64_C(1700000000123456);
    record->requested_us = 2000000;
    record->effective_us = 1500000;
    record->reserve_us = 11000;
    record->is_clamped = true;
    record->budget_from = "rule";
    record->rule = TEXT("site.yaml:3");
    record->status = 200;
    record->took_us = 1489400;
    record->was_sent = true;
    record->sent_us = 1490000;
    record->percent = 50;
    record->eligible = 2;
    record->answered = record->missing = 1;
    record->offers_found = 40;
    record->offers_returned = 31;
    record->was_cut_by_budget = true;
}

static void fill_entries(struct search_record *record)
{
    record->entries[0] = (struct search_record_entry){
        .name = TEXT("acme"),
        .account = TEXT("main"),
        .script = TEXT("acme@3f9a"),
        .outcome = OUTCOME_ANSWERED,
        .was_asked = true,
        .began_us = 2000,
        .took_us = 412000,
        .allocated_us = 887000,
        .ceiling_us = 900000,
        .ceiling_from = CEILING_FROM_SCRIPT,
        .rules = { TEXT("site.yaml:4") },
        .http_status = 200,
        .offers = 40,
        .dropped = 2,
        .is_partial = true,
        .parts_sent = 4,
        .parts_ok = 3,
        .parts_failed = 1,
        .requests = 6,
    };
    record->entries[1] = (struct search_record_entry){
        .name = TEXT("omni"),
        .outcome = OUTCOME_CUT,
        .bound = BOUND_BUDGET,
        .phase = PHASE_FIRST_BYTE,
        .was_asked = true,
        .took_us = 1476000,
        .ceiling_us = UINT64_MAX,
        .requests = 1,
        .detail = TEXT("line\nbreak \"quoted\""),
    };
}

static void a_record_tells_everything_in_one_line(void **state)
{
    (void)state;
    struct search_record *record = make(2, 256);
    fill_search(record);
    fill_entries(record);

    const char *line = render(record);
    assert_has(line,
               "{\"search_id\":\"01ABC\",\"at\":\"2023-11-14T22:13:20.123Z\",\"product\":\"flights\",\"generation\":7,"
               "\"status\":200,\"sent\":true,\"took_ms\":1489,\"sent_ms\":1490,\"cut_by_budget\":true,");
    assert_has(line, "\"budget\":{\"requested_ms\":2000,\"effective_ms\":1500,\"reserve_ms\":11,\"clamped\":true,"
                     "\"from\":\"rule\",\"rule\":\"site.yaml:3\"}");
    assert_has(line, "\"coverage\":{\"complete\":false,\"percent\":50,\"eligible\":2,\"answered\":1,\"empty\":0,"
                     "\"missing\":1,\"offers_found\":40,\"offers_returned\":31}");
    assert_has(line,
               "{\"name\":\"acme\",\"account\":\"main\",\"outcome\":\"answered\",\"http_status\":200,\"partial\":true,"
               "\"parts\":{\"sent\":4,\"ok\":3,\"failed\":1},\"offers\":40,\"offers_dropped\":2,\"began_ms\":2,"
               "\"took_ms\":412,\"requests\":6,\"allocated_ms\":887,\"ceiling_ms\":900,"
               "\"ceiling_from\":\"script\",\"rules\":[\"site.yaml:4\"],\"script\":\"acme@3f9a\"}");
    assert_has(line, "{\"name\":\"omni\",\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"first_byte\","
                     "\"detail\":\"line\\nbreak \\\"quoted\\\"\",\"began_ms\":0,\"took_ms\":1476,\"requests\":1}");
    search_record_destroy(&record);
    assert_null(record);
}

static void a_field_that_is_not_known_is_absent(void **state)
{
    (void)state;
    struct search_record *record = make(1, 0);
    record->search_id = record->product = TEXT("x");
    record->entries[0].name = TEXT("golf");
    record->entries[0].outcome = OUTCOME_SKIPPED;
    record->entries[0].detail = TEXT("not sold");

    const char *line = render(record);
    assert_has(line, "{\"name\":\"golf\",\"outcome\":\"skipped\",\"reason\":\"not sold\"}");
    assert_lacks(line, "null");
    assert_lacks(line, "caller");
    assert_lacks(line, "late");
    assert_lacks(line, "store");
    assert_lacks(line, "cached");
    search_record_destroy(&record);
}

static void what_was_known_stands_beside_the_outcome(void **state)
{
    (void)state;
    struct search_record *record = make(2, 256);
    fill_search(record);
    fill_entries(record);
    record->cached = 1;
    record->indicative = 1;
    record->store = (struct search_record_store){
        .was_asked = true, .has_answered = true, .index_us = 1900, .found = 2, .absent = 3, .late = 1
    };
    record->entries[0].outcome = OUTCOME_CACHED;
    record->entries[0].has_last_known = record->entries[1].has_last_known = true;
    record->entries[0].last_offers = 40;
    record->entries[1].last_offers = 12;
    record->entries[1].last_age_ms = 1340999;

    const char *line = render(record);
    assert_has(line, "\"empty\":0,\"cached\":1,\"indicative\":1,\"missing\":1,");
    assert_has(line, "\"store\":{\"index_ms\":2,\"found\":2,\"absent\":3,\"late\":1}");
    assert_has(line, "\"offers\":40,\"last_known\":{\"offers\":40,\"age_s\":0}");
    assert_has(line, "\"last_known\":{\"offers\":12,\"age_s\":1340}");
    record->store.has_answered = false;
    assert_has(render(record), "\"store\":{\"found\":2,");
    search_record_destroy(&record);
}

static void a_caller_who_left_has_no_status(void **state)
{
    (void)state;
    struct search_record *record = make(0, 0);
    const char *line = render(record);
    assert_has(line, "\"cancelled\":true");
    assert_lacks(line, "\"status\"");
    assert_lacks(line, "sent_ms");
    search_record_destroy(&record);
}

static void a_slow_reader_does_not_make_a_reply_late(void **state)
{
    (void)state;
    struct search_record *record = make(0, 0);
    record->status = 200;
    record->effective_us = 1000;
    record->sent_us = 1001;
    assert_false(search_record_is_late(record)); // it was not sent
    record->was_sent = true;
    assert_true(search_record_is_late(record));
    assert_has(render(record), "\"late\":true");
    record->was_client_slow = true;
    assert_false(search_record_is_late(record));
    assert_has(render(record), "\"client_slow\":true");
    record->was_client_slow = false;
    record->sent_us = 1000;
    assert_false(search_record_is_late(record));
    search_record_destroy(&record);
}

static void texts_are_copied_into_the_record_and_cut_to_its_room(void **state)
{
    (void)state;
    struct search_record *record = make(1, 10);
    char bytes[] = "abcdef";
    struct text kept = search_record_keep(record, text_of(bytes));
    bytes[0] = 'X';
    assert_true(text_equals_c(kept, "abcdef"));
    assert_null(search_record_keep(record, (struct text){ NULL, 0 }).data);
    assert_null(search_record_keep(record, TEXT("")).data);
    assert_true(text_equals_c(search_record_keep(record, TEXT("ghijkl")), "ghij"));
    assert_null(search_record_keep(record, TEXT("m")).data);
    search_record_destroy(&record);
    assert_null(search_record_create(SIZE_MAX, 1)); // no overflow
    assert_null(search_record_create(1, SIZE_MAX));
}

static struct search_record *make_late(enum search_record_kind kind)
{
    struct search_record *record = make(1, 64);

    record->kind = kind;
    record->search_id = search_record_keep(record, TEXT("01LATE"));
    record->product = search_record_keep(record, TEXT("flights"));
    record->generation = 3;
    record->took_us = 1140000;
    record->late = (struct search_record_late){ 140000, true, 3, 1 };
    record->entries[0].name = search_record_keep(record, TEXT("acme"));
    record->entries[0].outcome = OUTCOME_ANSWERED;
    record->entries[0].bound = BOUND_BUDGET;
    record->entries[0].offers = 12;
    record->entries[0].was_asked = true;
    record->entries[0].took_us = 1130000;
    return record;
}

static void what_went_on_is_a_line_of_its_own_with_the_searchs_id(void **state)
{
    (void)state;
    struct search_record *record = make_late(RECORD_LATE);

    assert_has(render(record), "{\"line\":\"late\",\"search_id\":\"01LATE\",\"product\":\"flights\",\"generation\":3,"
                               "\"at\":\"1970-01-01T00:00:01.140Z\",\"late_ms\":140,\"new_items\":3,"
                               "\"cheapest_items\":1,\"supplier\":{\"name\":\"acme\",\"outcome\":\"answered\",");
    assert_has(render(record), "\"bound\":\"budget\",\"offers\":12,\"began_ms\":0,\"took_ms\":1130,\"requests\":0");
    record->late.is_compared = false;
    assert_lacks(render(record), "items");
    record->late.is_compared = true;
    record->entries[0].outcome = OUTCOME_CUT;
    assert_lacks(render(record), "items");
    record->kind = RECORD_PROBE;
    assert_has(render(record), "{\"line\":\"probe\",");
    assert_lacks(render(record), "late_ms");
    search_record_destroy(&record);
}

static void a_revalidation_is_a_line_of_its_own(void **state)
{
    (void)state;
    struct search_record *record = make_late(RECORD_REVALIDATION);
    struct search_record_revalidation *told = &record->revalidation;

    *told = (struct search_record_revalidation){ .status = REVALIDATION_PRICE_CHANGED,
                                                 .because = TEXT("answered"),
                                                 .was = TEXT("120.00 EUR"),
                                                 .now = TEXT("125.00 EUR"),
                                                 .age_ms = 65000,
                                                 .has_joined = true };
    record->entries[0].requests = 3;
    assert_has(render(record),
               "{\"line\":\"revalidation\",\"revalidation_id\":\"01LATE\",\"at\":\"1970-01-01T00:00:00.000Z\","
               "\"product\":\"flights\",\"generation\":3,\"status\":\"price_changed\",\"because\":\"answered\","
               "\"took_ms\":1140,\"offer_age_s\":65,\"was\":\"120.00 EUR\",\"now\":\"125.00 EUR\",\"joined\":true,"
               "\"supplier\":\"acme\",\"requests\":3");
    *told = (struct search_record_revalidation){ .status = REVALIDATION_RETRY, .because = TEXT("cut") };
    record->entries[0].phase = PHASE_FIRST_BYTE;
    assert_has(render(record), "\"status\":\"retry\",\"because\":\"cut\"");
    assert_has(render(record), "\"phase\":\"first_byte\"");
    assert_lacks(render(record), "joined");
    assert_lacks(render(record), "was");
    search_record_destroy(&record);
}

static void a_search_is_told_with_what_went_on_of_it(void **state)
{
    (void)state;
    struct search_record *search = make(0, 64);
    struct search_record *afterwards[] = { make_late(RECORD_PROBE), make_late(RECORD_LATE) };
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, 4096);
    json_writer_init(&json, &out);
    search_record_write_joined(search, (const struct search_record *const *)afterwards, 2, &json);
    assert_true(buffer_append_byte(&out, '\0'));
    assert_has(out.data, "\"suppliers\":[],\"afterwards\":[{\"line\":\"probe\",\"at\":");
    assert_has(out.data, "{\"line\":\"late\",\"at\":\"1970-01-01T00:00:01.140Z\",\"late_ms\":140,");
    assert_lacks(render(search), "afterwards");
    buffer_fini(&out);
    search_record_destroy(&search);
    search_record_destroy(&afterwards[0]);
    search_record_destroy(&afterwards[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_tells_everything_in_one_line),
        cmocka_unit_test(a_field_that_is_not_known_is_absent),
        cmocka_unit_test(what_was_known_stands_beside_the_outcome),
        cmocka_unit_test(a_caller_who_left_has_no_status),
        cmocka_unit_test(a_slow_reader_does_not_make_a_reply_late),
        cmocka_unit_test(what_went_on_is_a_line_of_its_own_with_the_searchs_id),
        cmocka_unit_test(a_revalidation_is_a_line_of_its_own),
        cmocka_unit_test(a_search_is_told_with_what_went_on_of_it),
        cmocka_unit_test(texts_are_copied_into_the_record_and_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
