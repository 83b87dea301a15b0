// What becomes of a store whose file or disk is not as it should be.
#include "unit/store_lmdb_stage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static void where_nothing_can_be_written_it_is_told_at_once(void **state)
{
    struct fixture *fixture = *state;
    static const char *const PLACES[] = { "/proc/lastcall", "/dev/null", "/dev/null/store" };

    for (size_t i = 0; i < COUNT_OF(PLACES); i++) {
        struct failure why = { 0 };
        struct store *store = NULL;
        struct store_lmdb_options options = { .directory = PLACES[i],
                                              .max_bytes = 64 * MIB,
                                              .deliver = store_stage_deliver };
        assert_int_equal(store_lmdb_open(&options, &store, &why), STATUS_IO);
        assert_null(store);
        assert_non_null(strstr(why.message, PLACES[i]));
        assert_true(why.help[0] != '\0');
    }
    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
}

static void write_over(const struct fixture *fixture, off_t at, size_t length)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/data.mdb", fixture->directory);
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    for (size_t i = 0; i < length; i++) {
        char byte = (char)(i * 167 + 13);
        assert_int_equal(pwrite(fd, &byte, 1, at + (off_t)i), 1);
    }
    close(fd);
}

static void fill(struct fixture *fixture, int answers)
{
    for (int i = 0; i < answers; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        assert_int_equal(keep(fixture, "acme", query, 20), STORE_FOUND);
    }
}

static void a_file_that_is_damaged_is_put_aside_and_begun_anew(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    struct stat facts;
    static const struct {
        off_t at;
        size_t length;
    } DAMAGES[] = { { 0, 8192 }, { 0, 1 << 20 }, { 8192, 4096 * 40 } };

    for (size_t i = 0; i < COUNT_OF(DAMAGES); i++) {
        fill(fixture, 50);
        close_store(fixture);
        write_over(fixture, DAMAGES[i].at, DAMAGES[i].length);
        open_store(fixture, 64 * MIB);
        assert_int_equal(report_of(fixture).entries, 0);
        assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
        assert_int_equal(state_of(fixture, STORE_READ, "acme", "q"), STORE_FOUND);
    }
    (void)snprintf(path, sizeof path, "%s/data.mdb.damaged", fixture->directory);
    assert_int_equal(stat(path, &facts), 0);
}

static void a_file_that_was_cut_is_begun_anew(void **state)
{
    struct fixture *fixture = *state;
    char path[128];

    (void)snprintf(path, sizeof path, "%s/data.mdb", fixture->directory);
    for (off_t length = 0; length < 200000; length += 40000) {
        fill(fixture, 30);
        close_store(fixture);
        assert_int_equal(truncate(path, length), 0);
        open_store(fixture, 64 * MIB);
        assert_int_equal(report_of(fixture).entries, 0);
        assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
    }
}

// Any page, whatever it is: each answer is right, or gone.
static void one_damaged_page_costs_what_is_on_it(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    struct stat facts;
    size_t right = 0, gone = 0;

    (void)snprintf(path, sizeof path, "%s/data.mdb", fixture->directory);
    for (int page = 2; page < 100; page += 7) {
        fill(fixture, 40);
        close_store(fixture);
        assert_int_equal(stat(path, &facts), 0);
        write_over(fixture, (off_t)page * 4096 + 1000, 300);
        open_store(fixture, 64 * MIB);
        for (int i = 0; i < 40; i++) {
            char query[16];
            (void)snprintf(query, sizeof query, "q%d", i);
            struct store_call *call = look(fixture, STORE_READ, "acme", query);
            if (call->entries[0].state == STORE_FOUND) {
                assert_int_equal(call->entries[0].offers->count, 20);
                right++;
            } else {
                gone++;
            }
            store_call_destroy(&call);
        }
    }
    assert_true(right > 0 && gone > 0);
}

static void an_entry_that_cannot_be_read_goes(void **state)
{
    struct fixture *fixture = *state;
    struct store_report report;

    for (int page = 2; page < 40; page++) { // the middle of its offers is on one of them
        assert_int_equal(keep(fixture, "acme", "q", 20), STORE_FOUND);
        close_store(fixture);
        write_over(fixture, (off_t)page * 4096 + 1000, 100);
        open_store(fixture, 64 * MIB);
        if (state_of(fixture, STORE_READ, "acme", "q") == STORE_FAULT) {
            break;
        }
    }
    do {
        struct timespec pause = { .tv_nsec = 1000000 };
        (void)nanosleep(&pause, NULL);
        report = report_of(fixture);
    } while (report.entries > 0);
    assert_int_equal(report.corrupt, 1);
    assert_int_equal(state_of(fixture, STORE_INDEX, "acme", "q"), STORE_ABSENT);
}

static void a_file_larger_than_it_may_be_is_begun_anew(void **state)
{
    struct fixture *fixture = *state;

    close_store(fixture);
    open_store(fixture, 64 * MIB);
    for (int i = 0; i < 80; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        assert_int_equal(keep(fixture, "acme", query, 800), STORE_FOUND); // 320 kB each
    }
    close_store(fixture);
    open_store(fixture, 16 * MIB);
    assert_int_equal(report_of(fixture).entries, 0);
    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
}

static void a_disk_that_is_full_drops_and_counts_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit before, small;
    char path[128];
    struct stat facts;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

    assert_int_equal(keep(fixture, "acme", "before", 3), STORE_FOUND);
    (void)snprintf(path, sizeof path, "%s/data.mdb", fixture->directory);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = (rlim_t)facts.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(keep(fixture, "acme", "q", 800), STORE_FAULT);
    struct store_report report = report_of(fixture);
    assert_false(report.is_up);
    assert_true(report.trouble[0] != '\0');
    assert_int_equal(report.dropped, 1);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "before"), STORE_FOUND); // what is there is there
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    while (keep(fixture, "acme", "q", 800) != STORE_FOUND) { // it is tried again after a while
        struct timespec pause = { .tv_nsec = 50000000 };
        (void)nanosleep(&pause, NULL);
    }
    report = report_of(fixture);
    assert_true(report.is_up);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q"), STORE_FOUND);
    (void)signal(SIGXFSZ, handler);
}

int main(void)
{
    now_ms = clock_wall_us() / 1000;
    const struct CMUnitTest tests[] = {
        STORE_TEST(where_nothing_can_be_written_it_is_told_at_once),
        STORE_TEST(a_file_that_is_damaged_is_put_aside_and_begun_anew),
        STORE_TEST(a_file_that_was_cut_is_begun_anew),
        STORE_TEST(one_damaged_page_costs_what_is_on_it),
        STORE_TEST(an_entry_that_cannot_be_read_goes),
        STORE_TEST(a_file_larger_than_it_may_be_is_begun_anew),
        STORE_TEST(a_disk_that_is_full_drops_and_counts_and_goes_on),
    };
    return cmocka_run_group_tests_name("store/lmdb damage", tests, NULL, NULL);
}
