/// Support for tests of loads over another set: a scripts folder that is written to while sets are loaded from it.
///
/// Threads: one test.
#pragma once

#include "script/script_set_parts.h"
#include "unit/script_support.h"

#include <sys/stat.h>
#include <unistd.h>

enum { OVER_SUPPLIERS_MAX = 48 };

struct over_world {
    char folder[64];
    char names[OVER_SUPPLIERS_MAX][32];
    char files[OVER_SUPPLIERS_MAX][128];
    struct script_source sources[OVER_SUPPLIERS_MAX];
    size_t count;
    struct script_order order; // what the next load is asked for, but `previous`
    struct script_set *set;    // what runs
    struct script_changes changes;
    struct support_findings findings;
};

static inline void over_write(struct over_world *world, const char *file, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", world->folder, file);
    FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static inline void over_remove(struct over_world *world, const char *file)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", world->folder, file);
    assert_int_equal(remove(path), 0);
}

/// A supplier whose file does what `more` says, above the table; `fields` go into it.
static inline void over_write_supplier(struct over_world *world, const char *name, const char *more, const char *fields)
{
    char file[64];
    char source[2048];
    snprintf(file, sizeof file, "suppliers/%s.lua", name);
    snprintf(source, sizeof source,
             "%s\nreturn { name = \"%s\", product = \"shop\", owner = \"o\", hosts = { \"a.example\" },\n"
             "build_request = function() end, normalise = function() end,\n%s }\n",
             more, name, fields);
    over_write(world, file, source);
}

static inline void over_add(struct over_world *world, const char *name, const char *more, const char *fields)
{
    size_t i = world->count++;
    assert_true(i < OVER_SUPPLIERS_MAX);
    over_write_supplier(world, name, more, fields);
    snprintf(world->names[i], sizeof world->names[i], "%s", name);
    char file[sizeof world->files[0]];
    snprintf(file, sizeof file, "%s/suppliers/%s.lua", world->folder, name);
    memcpy(world->files[i], file, sizeof file);
    world->sources[i] = (struct script_source){ text_of(world->names[i]), text_of(world->files[i]) };
}

/// The product: a thing with a price; `fields` go into its table, `offer` into its offer.
static inline void over_write_product(struct over_world *world, const char *offer, const char *fields)
{
    char source[2048];
    snprintf(source, sizeof source,
             "local offer = { { \"id\", \"text\", required = true }, { \"price\", { { \"total\", \"money\", required "
             "= true }, { \"currency\", \"currency\", required = true } }, required = true },\n"
             "{ \"thing\", \"text\", item = true, key = true, required = true }, %s }\n"
             "return { name = \"shop\", item_prefix = \"th\", offer = offer, query = function() end, %s }\n",
             offer, fields);
    over_write(world, "scripts/products/shop.lua", source);
}

static inline void over_open(struct over_world *world)
{
    static const char *const folders[] = { "scripts", "scripts/products", "scripts/data", "suppliers" };
    static char scripts[80];
    char path[96];

    memset(world, 0, sizeof *world);
    stick_add();
    snprintf(world->folder, sizeof world->folder, "/tmp/lastcall-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", world->folder, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(scripts, sizeof scripts, "%s/scripts", world->folder);
    world->order = (struct script_order){ .scripts_dir = scripts, .sources = world->sources };
    script_changes_init(&world->changes);
    over_write_product(world, "", "");
}

static inline void over_close(struct over_world *world)
{
    char command[96];

    script_set_release(&world->set);
    script_changes_fini(&world->changes);
    snprintf(command, sizeof command, "rm -rf '%s'", world->folder);
    assert_int_equal(system(command), 0);
}

/// Loads over what runs; the result is what runs from now on, the one before is given back (and may be NULL).
static inline struct script_set *over_load(struct over_world *world)
{
    struct script_set *before = world->set;

    script_changes_fini(&world->changes);
    script_changes_init(&world->changes);
    memset(&world->findings, 0, sizeof world->findings);
    world->order.count = world->count;
    world->order.previous = before;
    enum status status =
        script_set_load_over(&world->order, support_on_finding, &world->findings, &world->set, &world->changes);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), world->findings.text);
    }
    return before;
}

/// The same, and the one before is let go.
static inline void over_load_on(struct over_world *world)
{
    struct script_set *before = over_load(world);
    script_set_release(&before);
}

/// The change of that name; fails when there is none.
static inline const struct script_change *over_change(const struct over_world *world, enum script_kind kind,
                                                      const char *name)
{
    for (size_t i = 0; i < world->changes.count; i++) {
        if (world->changes.items[i].kind == kind && text_equals_c(world->changes.items[i].name, name)) {
            return &world->changes.items[i];
        }
    }
    static const struct script_change none;
    fail_msg("nothing is said of %s; findings: %s", name, world->findings.text);
    return &none;
}

static inline void over_expect(const struct over_world *world, enum script_kind kind, const char *name,
                               enum script_fate fate, const char *because)
{
    const struct script_change *change = over_change(world, kind, name);
    assert_int_equal(change->fate, fate);
    if (strstr(change->because.message, because) == NULL) {
        fail_msg("%s: no \"%s\" in: %s:%u: %s", name, because, change->because.file, change->because.line,
                 change->because.message);
    }
}

static inline const struct script_version *over_version(const struct script_set *set, const char *name)
{
    ptrdiff_t index = script_set_find_supplier(set, text_of(name));
    assert_true(index >= 0);
    return script_set_supplier_version(set, (size_t)index);
}

static inline bool over_says(const struct script_set *set, const char *name, const char *word)
{
    return strstr(over_version(set, name)->file.source.data, word) != NULL;
}

/// The source of a module as a supplier of the set sees it.
static inline bool over_module_says(const struct script_set *set, const char *name, const char *module,
                                    const char *word)
{
    const struct script_module *found = script_shelf_find(over_version(set, name)->file.shelf, text_of(module));
    return found != NULL && strstr(found->file.source.data, word) != NULL;
}
