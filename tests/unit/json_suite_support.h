/// JSON suite: runs the public collection JSONTestSuite through a reader: y_ must be accepted, n_ refused, i_ as
/// decided.
///
/// The folder is `json-suite` of LASTCALL_SHARED (default ../shared); where it is absent the tests are skipped.
///
/// Threads: one test.
#pragma once

#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Our decision for a file whose reading RFC 8259 leaves open.
struct suite_decision {
    const char *name;
    bool is_accepted;
};

typedef bool (*suite_reader)(void *context, struct text document);

static char suite_folder[4096];

/// The folder, opened; skips the test when there is none.
static inline DIR *suite_open(void)
{
    const char *shared = getenv("LASTCALL_SHARED");
    int length = snprintf(suite_folder, sizeof(suite_folder), "%s/json-suite", shared != NULL ? shared : "../shared");
    DIR *directory = length > 0 && (size_t)length < sizeof(suite_folder) ? opendir(suite_folder) : NULL;

    if (directory == NULL) {
        printf("SKIPPED: the folder %s is absent\n", suite_folder);
        skip();
    }
    return directory;
}

static inline bool suite_accepts(const char *name, suite_reader read, void *context)
{
    char path[8192];
    struct buffer bytes;
    char chunk[4096];
    size_t count;
    assert_true(snprintf(path, sizeof(path), "%s/%s", suite_folder, name) > 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    buffer_init(&bytes, 16 * 1024 * 1024);
    while ((count = fread(chunk, 1, sizeof(chunk), file)) != 0) {
        assert_true(buffer_append(&bytes, chunk, count));
    }
    assert_int_equal(ferror(file), 0);
    fclose(file);
    bool is_accepted = read(context, buffer_text(&bytes));
    buffer_fini(&bytes);
    return is_accepted;
}

/// Runs every file whose name starts with `prefix`; those that go the wrong way are named, and fail the test.
static inline void suite_run(const char *prefix, bool should_accept, size_t least, suite_reader read, void *context)
{
    DIR *directory = suite_open();
    size_t wrong = 0;
    size_t seen = 0;

    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        seen++;
        if (suite_accepts(entry->d_name, read, context) != should_accept) {
            print_error("%s is %s\n", entry->d_name, should_accept ? "refused" : "accepted");
            wrong++;
        }
    }
    closedir(directory);
    assert_int_equal(wrong, 0);
    assert_true(seen >= least);
}

/// Every file that is left open goes as decided, and none is undecided.
static inline void suite_run_decided(const struct suite_decision *decisions, size_t count, suite_reader read,
                                     void *context)
{
    DIR *directory = suite_open();
    size_t wrong = 0;

    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const struct suite_decision *found = NULL;
        for (size_t i = 0; i < count; i++) {
            found = strcmp(entry->d_name, decisions[i].name) == 0 ? &decisions[i] : found;
        }
        if (strncmp(entry->d_name, "i_", 2) == 0 &&
            (found == NULL || suite_accepts(entry->d_name, read, context) != found->is_accepted)) {
            print_error("%s is %s\n", entry->d_name, found == NULL ? "not in the table" : "not as decided");
            wrong++;
        }
    }
    closedir(directory);
    assert_int_equal(wrong, 0);
}
