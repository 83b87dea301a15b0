/// Settings test support: documents as files, findings as an array, an environment without our variables.
///
/// Threads: one.
/// Memory:  the caller's.
#pragma once

#include "app/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINDINGS_MAX = 8, DOCUMENTS_MAX = 4 };

struct findings {
    struct failure items[FINDINGS_MAX];
    size_t count;
};

static inline void on_finding(void *context, const struct failure *failure)
{
    struct findings *findings = context;
    if (findings->count < FINDINGS_MAX) {
        findings->items[findings->count] = *failure;
    }
    findings->count++;
}

static inline void write_file(char *path, const char *content, size_t length)
{
    strcpy(path, "/tmp/app_settings_test.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, length), (ssize_t)length);
    close(fd);
}

// Reads the documents as files, in order.
static inline enum status read_documents(const char *const *documents, size_t count, struct findings *findings,
                                         struct settings **settings)
{
    char paths[DOCUMENTS_MAX][64];
    const char *names[DOCUMENTS_MAX];
    findings->count = 0;
    for (size_t i = 0; i < count; i++) {
        write_file(paths[i], documents[i], strlen(documents[i]));
        names[i] = paths[i];
    }
    enum status status = settings_read(names, count, on_finding, findings, settings);
    for (size_t i = 0; i < count; i++) {
        unlink(paths[i]);
    }
    return status;
}

static inline int clear_environment(void **state)
{
    (void)state;
    for (char **variable = environ; *variable != NULL;) {
        const char *equals = strchr(*variable, '=');
        if (strncmp(*variable, "LASTCALL__", 10) == 0 && equals != NULL) {
            char name[256];
            snprintf(name, sizeof(name), "%.*s", (int)(equals - *variable), *variable);
            unsetenv(name);
            variable = environ;
        } else {
            variable++;
        }
    }
    return 0;
}
