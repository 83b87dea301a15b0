/// Support for tests of the script host: script sets made from the test data, and accounts for their suppliers.
///
/// Threads: one test.
#pragma once

#include "model/script_call.h"
#include "script/script_set.h"
#include "unit/script_stick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SUPPORT_DATA "tests/unit/data/script"

enum { SUPPORT_MAX = 64 };

/// Findings of a load, as lines "file:line: message (help)".
struct support_findings {
    size_t count;
    char text[8192];
};

static inline void support_on_finding(void *context, const struct failure *failure)
{
    struct support_findings *findings = context;
    size_t length = strlen(findings->text);
    findings->count++;
    snprintf(findings->text + length, sizeof findings->text - length, "%s:%u: %s (%s)\n", failure->file, failure->line,
             failure->message, failure->help);
}

/// A script set of up to SUPPORT_MAX suppliers in the making; files of its own are written to a temporary folder.
struct support_world {
    char folder[64];
    struct script_source sources[SUPPORT_MAX];
    struct script_account accounts[SUPPORT_MAX];
    char names[SUPPORT_MAX][64];
    char files[SUPPORT_MAX][160];
    size_t count;
    struct script_set *set;
};

static inline void support_open(struct support_world *world)
{
    memset(world, 0, sizeof *world);
    stick_add(); // faulty.lua and the product call it
    snprintf(world->folder, sizeof world->folder, "/tmp/lastcall-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
}

static inline size_t support_add(struct support_world *world, const char *name, const char *file)
{
    size_t index = world->count++;
    assert_true(index < SUPPORT_MAX);
    snprintf(world->names[index], sizeof world->names[index], "%s", name);
    snprintf(world->files[index], sizeof world->files[index], "%s", file);
    world->sources[index] = (struct script_source){ text_of(world->names[index]), text_of(world->files[index]) };
    return index;
}

/// A supplier whose source is written to a file of its own.
static inline size_t support_add_source(struct support_world *world, const char *name, const char *source)
{
    char file[160];
    snprintf(file, sizeof file, "%s/%s.lua", world->folder, name);
    FILE *stream = fopen(file, "we");
    assert_non_null(stream);
    fputs(source, stream);
    assert_int_equal(fclose(stream), 0);
    return support_add(world, name, file);
}

static inline size_t support_add_faulty(struct support_world *world, const char *fault, const char *place)
{
    char name[64];
    char source[256];
    snprintf(name, sizeof name, "%s_%s", fault, place);
    snprintf(source, sizeof source, "return require(\"faulty\").supplier(\"%s\", \"%s\", \"%s\")\n", name, fault,
             place);
    return support_add_source(world, name, source);
}

static inline uint64_t support_serial(void)
{
    static uint64_t serial = 100;
    return ++serial;
}

/// Loads the set and makes an account for each supplier, with the hosts its script declares.
static inline void support_load_from(struct support_world *world, const char *scripts_dir)
{
    struct support_findings findings = { .count = 0 };
    enum status status =
        script_set_load(scripts_dir, world->sources, world->count, support_on_finding, &findings, &world->set);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), findings.text);
    }
    for (size_t i = 0; i < world->count; i++) {
        const struct script_supplier *supplier = script_set_supplier(world->set, i);
        char context[512];
        snprintf(context, sizeof context,
                 "{\"account\":\"main\",\"options\":%.*s,\"secret\":{\"GOOD_KEY\":\"k-1\",\"DUFFEL_TOKEN\":\"t-1\"}}",
                 TEXT_ARGS(supplier->options));
        world->accounts[i] = (struct script_account){ .serial = support_serial(),
                                                      .supplier = (uint32_t)i,
                                                      .name = TEXT("main"),
                                                      .context = text_of(strdup(context)),
                                                      .hosts = supplier->hosts,
                                                      .host_count = supplier->host_count };
    }
}

static inline void support_load(struct support_world *world)
{
    support_load_from(world, SUPPORT_DATA "/scripts");
}

static inline void support_close(struct support_world *world)
{
    for (size_t i = 0; i < world->count; i++) {
        free((void *)(uintptr_t)world->accounts[i].context.data);
        if (strncmp(world->files[i], world->folder, strlen(world->folder)) == 0) {
            remove(world->files[i]);
        }
    }
    script_set_release(&world->set);
    remove(world->folder);
}
