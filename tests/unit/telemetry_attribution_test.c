// Attribution: records become lines, and nobody waits for them.
#include "telemetry/attribution.h"

#include "base/json_read.h"
#include "base/redact.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char folder[64];
    char file[96];
    char moved[96];
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    strcpy(place->folder, "/tmp/telemetry_attribution_test.XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->file, sizeof(place->file), "%s/a.ndjson", place->folder);
    snprintf(place->moved, sizeof(place->moved), "%s/a.1", place->folder);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    unlink(place->file);
    unlink(place->moved);
    rmdir(place->folder);
    free(place);
    return 0;
}

static struct attribution *start(const char *path, size_t queue, size_t keep)
{
    struct attribution_options options = { .path = path, .queue = queue, .keep = keep };
    struct attribution *attribution = NULL;
    struct failure why = { 0 };
    if (attribution_create(&options, &attribution, &why) != STATUS_OK) {
        fail_msg("%s", why.message);
    }
    return attribution;
}

static struct search_record *record_with(const char *id, const char *detail)
{
    struct search_record *record = search_record_create(1, 512);
    assert_non_null(record);
    record->search_id = search_record_keep(record, text_of(id));
    record->product = search_record_keep(record, TEXT("flights"));
    record->status = 200;
    record->entries[0].name = search_record_keep(record, TEXT("acme"));
    record->entries[0].outcome = OUTCOME_FAILED;
    record->entries[0].ceiling_us = UINT64_MAX;
    record->entries[0].detail = search_record_keep(record, text_of(detail));
    return record;
}

static struct attribution_counts counts_of(struct attribution *attribution)
{
    struct attribution_counts counts;
    attribution_counts(attribution, &counts);
    return counts;
}

static char *contents(const char *path)
{
    struct stat facts = { 0 };
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    size_t size = (size_t)facts.st_size;
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

/// How many lines the file has; each must be strict JSON, but for those that `broken` counts.
static size_t lines_of(const char *path, size_t *broken)
{
    char *text = contents(path);
    struct text rest = text_of(text);
    size_t lines = 0;
    size_t bad = 0;

    while (rest.length > 0) {
        struct text line = text_split(rest, '\n', &rest);
        size_t offset = 0;
        const char *sentence = "";
        lines++;
        bad += json_is_valid(line, &offset, &sentence) ? 0 : 1;
    }
    free(text);
    if (broken != NULL) {
        *broken = bad;
    } else {
        assert_int_equal(bad, 0);
    }
    return lines;
}

static bool file_has(const char *path, const char *part)
{
    char *text = contents(path);
    bool has = strstr(text, part) != NULL;
    free(text);
    return has;
}

static void each_record_is_one_line_in_its_order(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);
    char id[16];

    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof(id), "id%03d", i);
        attribution_submit(attribution, record_with(id, "two\nlines"));
    }
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_int_equal(counts.written + counts.dropped, 100);
    assert_int_equal(counts.dropped, 0);
    assert_int_equal(counts.kept, 100);
    attribution_destroy(&attribution);
    assert_null(attribution);
    assert_int_equal(lines_of(place->file, NULL), 100);
    char *text = contents(place->file);
    assert_true(strstr(text, "id000") < strstr(text, "id001"));
    assert_true(strstr(text, "id098") < strstr(text, "id099"));
    free(text);
}

static void what_is_queued_is_written_before_it_ends(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);

    for (int i = 0; i < 50; i++) {
        attribution_submit(attribution, record_with("id", ""));
    }
    attribution_destroy(&attribution);
    assert_int_equal(lines_of(place->file, NULL), 50);
}

static void it_appends_to_what_is_there(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 2; i++) {
        struct attribution *attribution = start(place->file, 0, 0);
        attribution_submit(attribution, record_with("id", ""));
        attribution_destroy(&attribution);
    }
    assert_int_equal(lines_of(place->file, NULL), 2);
}

static void a_full_queue_drops_and_counts(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 2, 4);
    int submitted = 0;

    // The writer has two places and is at the lowest priority: sooner or later it is behind.
    while (counts_of(attribution).dropped == 0 && submitted < 1000000) {
        attribution_submit(attribution, record_with("id", "x"));
        submitted++;
    }
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_true(counts.dropped > 0);
    assert_int_equal(counts.written + counts.dropped, submitted);
    assert_int_equal(counts.taken, counts.written);
    assert_int_equal(counts.kept, counts.taken < 4 ? counts.taken : 4);
    attribution_destroy(&attribution);
}

static void after_a_move_the_path_is_opened_again(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);

    attribution_submit(attribution, record_with("first", ""));
    attribution_settle(attribution);
    assert_int_equal(rename(place->file, place->moved), 0);
    attribution_submit(attribution, record_with("second", ""));
    attribution_settle(attribution);
    attribution_reopen(attribution);
    attribution_submit(attribution, record_with("third", ""));
    attribution_destroy(&attribution);
    assert_int_equal(lines_of(place->moved, NULL), 2);
    assert_true(file_has(place->moved, "second"));
    assert_int_equal(lines_of(place->file, NULL), 1);
    assert_true(file_has(place->file, "third"));
}

static void a_path_that_cannot_be_opened_again_keeps_the_old_file(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);

    assert_int_equal(rename(place->file, place->moved), 0);
    assert_int_equal(mkdir(place->file, 0700), 0); // a folder stands where the file was
    attribution_reopen(attribution);
    attribution_submit(attribution, record_with("kept", ""));
    attribution_settle(attribution);
    assert_true(file_has(place->moved, "kept"));
    assert_int_equal(rmdir(place->file), 0);
    attribution_submit(attribution, record_with("healed", "")); // tried again by itself
    attribution_destroy(&attribution);
    assert_true(file_has(place->file, "healed"));
}

static void a_full_disk_costs_lines_and_nothing_else(void **state)
{
    (void)state;
    struct attribution *attribution = start("/dev/full", 0, 0);

    for (int i = 0; i < 10; i++) {
        attribution_submit(attribution, record_with("lost", ""));
    }
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_int_equal(counts.written, 0);
    assert_int_equal(counts.failed, 10);
    assert_int_equal(counts.kept, 10);
    struct block *found = attribution_find(attribution, TEXT("lost"));
    assert_non_null(found);
    block_release(&found);
    attribution_destroy(&attribution);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_line_that_was_cut_spoils_no_other(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);
    struct stat first;
    size_t broken = 0;

    signal(SIGXFSZ, SIG_IGN);
    attribution_submit(attribution, record_with("first", ""));
    attribution_settle(attribution);
    assert_int_equal(stat(place->file, &first), 0);
    set_file_limit((rlim_t)first.st_size + 100); // the next line fits in part
    attribution_submit(attribution, record_with("second", ""));
    attribution_submit(attribution, record_with("third", ""));
    attribution_settle(attribution);
    set_file_limit(RLIM_INFINITY);
    attribution_submit(attribution, record_with("fourth", ""));
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_int_equal(counts.written, 2);
    assert_int_equal(counts.failed, 2);
    attribution_destroy(&attribution);
    assert_int_equal(lines_of(place->file, &broken), 3);
    assert_int_equal(broken, 1);
    assert_true(file_has(place->file, "\n{\"search_id\":\"fourth\""));
}

static void a_pipe_that_nobody_reads_holds_nobody(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo(place->file, 0600), 0);
    FILE *reader = fopen(place->file, "r+");
    struct attribution *attribution = start(place->file, 0, 0);
    char long_text[400];

    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    for (int i = 0; i < 500; i++) { // more than a pipe takes
        attribution_submit(attribution, record_with("id", long_text));
    }
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_true(counts.written > 0);
    assert_true(counts.failed > 0);
    assert_int_equal(counts.written + counts.failed, 500);
    attribution_destroy(&attribution);
    fclose(reader);
}

static void a_file_that_cannot_be_opened_is_told_at_the_start(void **state)
{
    (void)state;
    struct attribution_options options = { .path = "/nowhere/a.ndjson" };
    struct attribution *attribution = NULL;
    struct failure why = { 0 };

    assert_int_equal(attribution_create(&options, &attribution, &why), STATUS_IO);
    assert_null(attribution);
    assert_non_null(strstr(why.message, "/nowhere/a.ndjson cannot be opened: No such file or directory"));
}

static void secrets_are_taken_out_at_the_sink(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 0);
    struct search_record *record = record_with("id", "url https://x/?key=s3cr3t\"quoted failed");

    assert_int_equal(redact_add(TEXT("s3cr3t\"quoted")), STATUS_OK);
    attribution_submit(attribution, record);
    record = record_with("cut", "the key was s3cr3t");
    record->entries[0].is_detail_cut = true;
    attribution_submit(attribution, record);
    attribution_settle(attribution);
    assert_true(file_has(place->file, "key=*** failed"));
    assert_false(file_has(place->file, "s3cr3t"));
    struct block *found = attribution_find(attribution, TEXT("id"));
    assert_non_null(found);
    assert_null(memmem(block_text(found).data, block_text(found).length, "s3cr3t", 6));
    block_release(&found);
    attribution_destroy(&attribution);
}

static bool search_has(struct attribution *attribution, const char *id, const char *part)
{
    struct block *found = attribution_find(attribution, text_of(id));
    assert_non_null(found);
    bool has = memmem(block_text(found).data, block_text(found).length, part, strlen(part)) != NULL;
    block_release(&found);
    return has;
}

static struct search_record *late_of(const char *id, const char *detail)
{
    struct search_record *record = record_with(id, detail);
    record->kind = RECORD_LATE;
    return record;
}

static void what_went_on_joins_its_search_before_it_or_after(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 4);
    assert_int_equal(redact_add(TEXT("s3cr3t")), STATUS_OK);

    attribution_submit(attribution, late_of("first", "before"));
    attribution_submit(attribution, record_with("first", ""));
    attribution_submit(attribution, record_with("other", ""));
    attribution_submit(attribution, late_of("first", "key=s3cr3t"));
    assert_true(search_has(attribution, "first", "\"afterwards\":[{\"line\":\"late\""));
    assert_true(search_has(attribution, "first", "\"detail\":\"before\""));
    assert_true(search_has(attribution, "first", "\"detail\":\"key=***\""));
    assert_false(search_has(attribution, "other", "afterwards"));
    assert_int_equal(lines_of(place->file, NULL), 4);
    assert_false(file_has(place->file, "s3cr3t"));
    for (int i = 0; i < 100; i++) { // they push out one another, never a search
        attribution_submit(attribution, late_of("another", ""));
        attribution_settle(attribution);
    }
    assert_false(search_has(attribution, "first", "afterwards"));
    assert_int_equal(counts_of(attribution).kept, 2);
    assert_null(attribution_find(attribution, TEXT("another")));
    attribution_destroy(&attribution);
}

static void a_revalidation_is_found_by_its_id_and_pushes_out_no_search(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 0, 4);

    attribution_submit(attribution, record_with("search", ""));
    for (int i = 0; i < 10; i++) {
        struct search_record *record = record_with(i == 9 ? "asked" : "before", "");
        record->kind = RECORD_REVALIDATION;
        record->revalidation.status = REVALIDATION_SOLD_OUT;
        attribution_submit(attribution, record);
        attribution_settle(attribution);
    }
    assert_true(search_has(attribution, "asked", "\"revalidation_id\":\"asked\""));
    assert_true(search_has(attribution, "asked", "\"status\":\"sold_out\""));
    assert_true(search_has(attribution, "search", "\"search_id\":\"search\""));
    assert_int_equal(lines_of(place->file, NULL), 11);
    attribution_destroy(&attribution);
}

static void the_newest_records_can_be_asked_for_without_a_file(void **state)
{
    (void)state;
    struct attribution *attribution = start(NULL, 0, 3);
    char id[16];

    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof(id), "id%d", i);
        attribution_submit(attribution, record_with(id, ""));
        attribution_settle(attribution);
    }
    struct block *found = attribution_find(attribution, TEXT("id4"));
    assert_non_null(found);
    assert_true(text_starts_with(block_text(found), TEXT("{\"search_id\":\"id4\",")));
    block_release(&found);
    assert_null(attribution_find(attribution, TEXT("id1"))); // three newer ones
    assert_null(attribution_find(attribution, TEXT("id")));

    struct buffer out;
    struct json_writer json;
    buffer_init(&out, 4096);
    json_writer_init(&json, &out);
    attribution_write_latest(attribution, 2, &json);
    buffer_append_byte(&out, '\0');
    assert_non_null(strstr(out.data, "[{\"search_id\":\"id4\""));
    assert_non_null(strstr(out.data, ",{\"search_id\":\"id3\""));
    assert_null(strstr(out.data, "id2"));
    buffer_fini(&out);
    assert_int_equal(counts_of(attribution).written, 0);
    assert_int_equal(counts_of(attribution).failed, 0);
    attribution_destroy(&attribution);
}

enum { PRODUCERS = 4, EACH = 2000 };

static void *submit_many(void *argument)
{
    for (int i = 0; i < EACH; i++) {
        attribution_submit(argument, record_with("id", "x"));
    }
    return NULL;
}

static void several_threads_lose_nothing_uncounted(void **state)
{
    struct place *place = *state;
    struct attribution *attribution = start(place->file, 64, 16);
    pthread_t threads[PRODUCERS];

    for (int i = 0; i < PRODUCERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, attribution), 0);
    }
    for (int i = 0; i < 20; i++) {
        struct block *found = attribution_find(attribution, TEXT("id"));
        block_release(&found);
        attribution_reopen(attribution);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(threads[i], NULL);
    }
    attribution_settle(attribution);
    struct attribution_counts counts = counts_of(attribution);
    assert_int_equal(counts.written + counts.dropped, PRODUCERS * EACH);
    attribution_destroy(&attribution);
    assert_int_equal(lines_of(place->file, NULL), counts.written);
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(each_record_is_one_line_in_its_order),
        PLAY(what_is_queued_is_written_before_it_ends),
        PLAY(it_appends_to_what_is_there),
        PLAY(a_full_queue_drops_and_counts),
        PLAY(after_a_move_the_path_is_opened_again),
        PLAY(a_path_that_cannot_be_opened_again_keeps_the_old_file),
        cmocka_unit_test(a_full_disk_costs_lines_and_nothing_else),
        PLAY(a_line_that_was_cut_spoils_no_other),
        PLAY(a_pipe_that_nobody_reads_holds_nobody),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_told_at_the_start),
        PLAY(secrets_are_taken_out_at_the_sink),
        PLAY(what_went_on_joins_its_search_before_it_or_after),
        PLAY(a_revalidation_is_found_by_its_id_and_pushes_out_no_search),
        cmocka_unit_test(the_newest_records_can_be_asked_for_without_a_file),
        PLAY(several_threads_lose_nothing_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
