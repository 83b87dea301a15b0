// What the store over LMDB costs, in one process: a file full of answers of 9 KB, the heads of 40 suppliers looked up.
//
//   bench_store DIRECTORY [MIB]
//
// A search's index is one call for 40 suppliers of one query; its twin is 40 plain gets of the same keys, in the thread
// that asks. Cold is the page cache without the file: what was looked at once stays, so each query is looked up once.

#include "base/clock.h"
#include "store/lmdb_answer.h"
#include "store/store_lmdb.h"
#include "support/store_stage.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { SUPPLIERS = 40, OFFERS = 10, OFFER_BYTES = 780, SALTS = 64, FLYING = 256, LOOKS = 4000, COLD = 60 };

static struct store_stage stage;
static struct offer_batch *batches[SALTS];
static uint64_t now_ms;

static void open_or_die(const char *directory, uint64_t bytes)
{
    struct failure why = { 0 };
    struct store_lmdb_options options = { .directory = directory, .max_bytes = bytes, .deliver = store_stage_deliver };

    if (store_lmdb_open(&options, &stage.store, &why) != STATUS_OK) {
        (void)fprintf(stderr, "bench_store: %s\n", why.message);
        exit(1);
    }
}

static void close_store(void)
{
    stage.store->ops->close(&stage.store, 10000000);
}

static void name_query(uint64_t number, char out[24])
{
    (void)snprintf(out, 24, "query %llu", (unsigned long long)number);
}

static void name_supplier(size_t number, char out[24])
{
    (void)snprintf(out, 24, "supplier%02zu", number);
}

static void settle(uint64_t *flying)
{
    struct store_call *call = store_stage_await(&stage);

    if (call->state != STORE_FOUND) {
        (void)fprintf(stderr, "bench_store: an answer was not kept\n");
        exit(1);
    }
    store_call_destroy(&call);
    --*flying;
}

/// Keeps answers until the oldest make room, and as many again; how many queries there were.
static uint64_t fill(void)
{
    struct store_report report = { 0 };
    uint64_t query = 0, flying = 0, began_us = clock_now_us(), most = 0;

    for (; most == 0 || query < most; query++) {
        char query_name[24], supplier[24];
        name_query(query, query_name);
        for (size_t i = 0; i < SUPPLIERS; i++) {
            name_supplier(i, supplier);
            store_stage_submit(&stage, store_stage_keep_call(&stage, supplier, "main", query_name,
                                                             batches[(query * SUPPLIERS + i) % SALTS], now_ms,
                                                             now_ms + 86400000, now_ms));
            for (flying++; flying >= FLYING;) {
                settle(&flying);
            }
        }
        store_report_fill(stage.store, &report);
        if (most == 0 && report.evicted > 0) {
            most = 2 * query;
        }
    }
    while (flying > 0) {
        settle(&flying);
    }
    double seconds = (double)(clock_now_us() - began_us) / 1e6;
    store_report_fill(stage.store, &report);
    printf("full      %llu answers, %.0f MiB of %.0f; %llu evicted\n", (unsigned long long)report.entries,
           (double)report.bytes / 1048576, (double)report.max_bytes / 1048576, (unsigned long long)report.evicted);
    printf("write     %.0f answers a second, %.1f MB/s\n", (double)report.kept / seconds,
           (double)report.kept * OFFERS * OFFER_BYTES / 1e6 / seconds);
    return query;
}

// ------------------------------------------------------------------------------------------------------------- figures

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *name, double *us, size_t count)
{
    qsort(us, count, sizeof *us, compare);
    printf("%-26s p50 %8.1f us   p99 %8.1f us   max %8.1f us\n", name, us[count / 2], us[count * 99 / 100],
           us[count - 1]);
}

/// From handing over to the end of its work: with its way to the thread, and without the way back.
static double look(enum store_job job, uint64_t query)
{
    char query_name[24], supplier[24];

    name_query(query, query_name);
    struct store_call *call = store_call_create(job, TEXT("hotels@1"), text_of(query_name), SUPPLIERS, 0);
    for (size_t i = 0; i < SUPPLIERS; i++) {
        name_supplier(i, supplier);
        (void)!store_call_name(call, i, text_of(supplier), TEXT("main"));
        call->entries[i].status = PRICE_INDICATIVE;
    }
    call->now_ms = now_ms;
    call = store_stage_do(&stage, call);
    for (size_t i = 0; i < SUPPLIERS; i++) {
        if (call->entries[i].state != STORE_FOUND) {
            (void)fprintf(stderr, "bench_store: query %llu is not there\n", (unsigned long long)query);
            exit(1);
        }
    }
    double us = (double)(call->done_us - call->queued_us);
    store_call_destroy(&call);
    return us;
}

static uint64_t any_of(uint64_t least, uint64_t most, uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return least + (*state >> 33) % (most - least);
}

static void look_warm(enum store_job job, const char *name, uint64_t least, uint64_t most, size_t looks)
{
    static double us[LOOKS];
    uint64_t state = 1;

    for (size_t i = 0; i < looks; i++) {
        us[i] = look(job, any_of(least, most, &state));
    }
    print_row(name, us, looks);
}

/// The file leaves the page cache, but for pages that this process has looked at.
static void forget_pages(const char *directory)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/data.mdb", directory);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
        (void)fdatasync(fd);
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
}

static void look_cold(const char *directory, enum store_job job, const char *name, uint64_t least)
{
    double us[COLD];

    for (uint64_t i = 0; i < COLD; i++) {
        forget_pages(directory);
        us[i] = look(job, least + i);
    }
    print_row(name, us, COLD);
}

// ---------------------------------------------------------------------------------------------------------- plain gets

static struct lmdb_name names[SUPPLIERS];

static void name_all(uint64_t query)
{
    char query_name[24], supplier[24];
    uint8_t digest[STORE_DIGEST];

    name_query(query, query_name);
    struct store_call *call = store_call_create(STORE_INDEX, TEXT("hotels@1"), text_of(query_name), 1, 0);
    store_digest(call, digest);
    for (size_t i = 0; i < SUPPLIERS; i++) {
        name_supplier(i, supplier);
        struct store_entry entry = { .supplier = text_of(supplier), .account = TEXT("main") };
        (void)!lmdb_name_make(&names[i], &entry, digest);
    }
    store_call_destroy(&call);
}

/// 40 plain gets within one turn; `with_values`: and the first bytes of each answer, as if its head stood there.
static double get_plain(struct lmdb_file *file, bool with_values)
{
    struct lmdb_turn turn;
    struct lmdb_head head;
    struct text value;
    static volatile uint64_t touched;
    uint64_t began_us = clock_now_us();

    if (lmdb_read(file, &turn) != STATUS_OK) {
        exit(1);
    }
    for (size_t i = 0; i < SUPPLIERS; i++) {
        if (lmdb_get(&turn, LMDB_HEADS, lmdb_name_text(&names[i]), &value) != STATUS_OK) {
            exit(1);
        }
        if (with_values && lmdb_head_read(value, &head)) {
            struct lmdb_number number = lmdb_number_of(head.number);
            if (lmdb_get(&turn, LMDB_ANSWERS, lmdb_number_text(&number), &value) != STATUS_OK) {
                exit(1);
            }
        }
        touched = touched + (uint8_t)value.data[0];
    }
    lmdb_end(&turn);
    return (double)(clock_now_us() - began_us);
}

static void look_plain(const char *directory, uint64_t bytes, uint64_t least, uint64_t most)
{
    static double heads[LOOKS], values[LOOKS];
    struct failure why = { 0 };
    struct lmdb_file *file = NULL;
    bool was_begun_anew = false;
    uint64_t state = 1;

    if (lmdb_file_open(directory, bytes, &file, &was_begun_anew, &why) != STATUS_OK) {
        exit(1);
    }
    for (uint64_t i = 0; i < COLD; i++) {
        name_all(least + 2 * COLD + i);
        forget_pages(directory);
        values[i] = get_plain(file, true);
    }
    print_row("heads in values, cold", values, COLD);
    for (uint64_t query = least; query < most; query++) { // all of it warm once more
        name_all(query);
        (void)get_plain(file, true);
    }
    for (size_t i = 0; i < LOOKS; i++) {
        name_all(any_of(least, most, &state));
        heads[i] = get_plain(file, false);
    }
    print_row("plain, 40 gets, warm", heads, LOOKS);
    for (size_t i = 0; i < LOOKS; i++) {
        name_all(any_of(least, most, &state));
        values[i] = get_plain(file, true);
    }
    print_row("heads in values, warm", values, LOOKS);
    lmdb_file_close(&file);
}

int main(int count, char **arguments)
{
    uint64_t mib = count > 2 ? strtoull(arguments[2], NULL, 10) : 1024, queries = 0;
    char command[4200];

    if (count < 2 || mib < 64) {
        (void)fprintf(stderr, "usage: bench_store DIRECTORY [MIB]\n");
        return 2;
    }
    (void)snprintf(command, sizeof command, "%s/data.mdb", arguments[1]);
    if (access(command, F_OK) == 0) {
        (void)fprintf(stderr, "bench_store: there is a store in %s already\n", arguments[1]);
        return 2;
    }
    now_ms = clock_wall_us() / 1000;
    store_stage_init(&stage);
    for (uint32_t i = 0; i < SALTS; i++) {
        batches[i] = store_stage_batch(OFFERS, OFFER_BYTES, i);
    }
    open_or_die(arguments[1], mib << 20);
    queries = fill();
    struct store_report report;
    store_report_fill(stage.store, &report);
    uint64_t least = queries - report.entries / SUPPLIERS + 2;
    look_warm(STORE_INDEX, "index of 40, warm", least, queries, LOOKS);
    look_warm(STORE_READ, "answers of 40, warm", least, queries, LOOKS / 10);
    close_store();
    uint64_t began_us = clock_now_us();
    open_or_die(arguments[1], mib << 20);
    printf("%-26s     %8.1f ms\n", "opening", (double)(clock_now_us() - began_us) / 1e3);
    look_cold(arguments[1], STORE_INDEX, "index of 40, cold", least);
    look_cold(arguments[1], STORE_READ, "answers of 40, cold", least + COLD);
    close_store();
    look_plain(arguments[1], mib << 20, least, queries);
    for (uint32_t i = 0; i < SALTS; i++) {
        offer_batch_release(&batches[i]);
    }
    store_stage_fini(&stage);
    return 0;
}
