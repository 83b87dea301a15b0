// Reading: the fixtures of each supplier, and the doors that its URL options ask for.

#include "app/mock_internal.h"

#include "app/fixture_folder.h"
#include "app/try_clock.h"
#include "base/redact.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 64 << 20, SCRATCH_MAX = 256 << 20 };

void mock_find(struct mock *mock, enum code code, const char *file, const char *help, const char *format, ...)
{
    struct failure failure = { 0 };
    va_list arguments;

    va_start(arguments, format);
    failure_fill(&failure, code, help, format, arguments);
    va_end(arguments);
    failure_at(&failure, file, 0, 0);
    mock->findings++;
    mock->report(mock->context, &failure);
}

static void take_finding(void *context, const struct failure *failure)
{
    struct mock *mock = context;

    mock->findings++;
    mock->report(mock->context, failure);
}

const struct settings_supplier *mock_settings_of(const struct settings *settings, struct text name)
{
    for (size_t i = 0; i < settings->supplier_count; i++) {
        if (text_equals(settings->suppliers[i].name, name)) {
            return &settings->suppliers[i];
        }
    }
    return NULL;
}

// ---- names: "acme", "acme/odd-busy", "acme/odd-busy.json"

static struct text supplier_of(const char *name)
{
    struct text rest;
    return text_split(text_of(name), '/', &rest);
}

/// Does the argument ask for this fixture, by its file's name?
static bool asks_for(const char *name, struct text supplier, const char *file)
{
    struct text wanted;
    struct text stem = { file, strlen(file) - (sizeof(".json") - 1) };

    return text_equals(text_split(text_of(name), '/', &wanted), supplier) && wanted.data != NULL &&
           (text_equals(wanted, stem) || text_equals_c(wanted, file));
}

static bool is_wanted(const struct mock_order *order, struct text name)
{
    bool is_named = order->name_count == 0;

    for (size_t i = 0; i < order->name_count && !is_named; i++) {
        is_named = text_equals(supplier_of(order->names[i]), name);
    }
    return is_named;
}

/// Is a supplier of this file switched on?
static bool is_in_use(const struct mock_order *order, struct text file)
{
    const struct script_set *set = order->catalogue->set;
    bool is_used = false;

    for (size_t i = 0; i < script_set_supplier_count(set) && !is_used; i++) {
        const struct script_supplier *script = script_set_supplier(set, i);
        const struct settings_supplier *settings = mock_settings_of(order->settings, script->name);
        is_used = text_equals(script->file, file) && (settings == NULL || settings->is_enabled);
    }
    return is_used;
}

// ---- the fixtures of one supplier

static bool add_play(struct mock *mock, struct mock_supplier *supplier, struct fixture *fixture,
                     const struct fixture_exchanges *exchanges, bool is_chosen)
{
    struct mock_play *plays =
        arena_alloc_array(&mock->arena, supplier->play_count + 1, sizeof(*plays)); // a few: the old ones may stay
    uint32_t *uses = arena_alloc_array(&mock->arena, exchanges->count + 1, sizeof(*uses));

    if (plays == NULL || uses == NULL) {
        mock_find(mock, CODE_NONE, fixture->path.data, "", "there is no memory for its exchanges");
        return false;
    }
    memset(uses, 0, (exchanges->count + 1) * sizeof(*uses));
    if (supplier->play_count > 0) {
        memcpy(plays, supplier->plays, supplier->play_count * sizeof(*plays));
    }
    plays[supplier->play_count++] = (struct mock_play){ .fixture = fixture,
                                                        .exchanges = *exchanges,
                                                        .uses = uses,
                                                        .is_good = fixture->must_not_fail,
                                                        .is_chosen = is_chosen,
                                                        .logs_in = supplier->script->logs_in };
    supplier->plays = plays;
    return true;
}

static void add_revalidations(struct mock *mock, struct mock_supplier *supplier, struct fixture *fixture,
                              bool is_chosen)
{
    size_t index = 0;

    for (const struct json_node *one = fixture->revalidate == NULL ? NULL : fixture->revalidate->first; one != NULL;
         one = one->next, index++) {
        struct fixture_exchanges exchanges;
        if (fixture_read_exchanges(fixture, one, &exchanges) && exchanges.count > 0 &&
            add_play(mock, supplier, fixture, &exchanges, is_chosen)) {
            struct mock_play *play = &supplier->plays[supplier->play_count - 1];
            (void)snprintf(play->where, sizeof(play->where), "revalidate[%zu].", index);
        }
    }
}

/// What differs is told in words; test values of secrets must not be among them.
static void hide_secrets(const struct fixture *fixture)
{
    for (const struct json_node *secret = fixture->secrets == NULL ? NULL : fixture->secrets->first; secret != NULL;
         secret = secret->next) {
        if (secret->kind == JSON_STRING && redact_add(secret->text) != STATUS_OK) {
            continue; // too short to hide
        }
    }
}

static bool read_fixture(struct mock *mock, struct mock_supplier *supplier, const char *path, bool is_chosen)
{
    struct fixture *fixture = malloc(sizeof(*fixture));

    if (fixture == NULL) {
        mock_find(mock, CODE_NONE, path, "", "there is no memory for it");
        return false;
    }
    supplier->fixtures[supplier->fixture_count++] = fixture;
    if (!fixture_read(fixture, path, take_finding, mock)) {
        return false;
    }
    hide_secrets(fixture);
    if (fixture->exchanges.count > 0 && !add_play(mock, supplier, fixture, &fixture->exchanges, is_chosen)) {
        return false;
    }
    add_revalidations(mock, supplier, fixture, is_chosen);
    return true;
}

/// Each name of the caller that means a fixture of this supplier means one that there is.
static void check_names(struct mock *mock, const struct mock_order *order, struct text supplier, const char *folder,
                        struct dirent **entries, int count)
{
    for (size_t i = 0; i < order->name_count; i++) {
        bool is_known = strchr(order->names[i], '/') == NULL || !text_equals(supplier_of(order->names[i]), supplier);
        for (int j = 0; j < count && !is_known; j++) {
            is_known = asks_for(order->names[i], supplier, entries[j]->d_name);
        }
        if (!is_known) {
            mock_find(mock, CODE_FIXTURE_MISSING, folder, "write SUPPLIER/FIXTURE, without the `.json`",
                      "there is no fixture `%s`", strchr(order->names[i], '/') + 1);
        }
    }
}

static void read_folder(struct mock *mock, const struct mock_order *order, struct mock_supplier *supplier,
                        const char *folder)
{
    struct text name = supplier->script->name;
    struct dirent **entries = NULL;
    char path[FIXTURE_PATH_SIZE + 300];
    int count = scandir(folder, &entries, fixture_folder_has, alphasort);

    if (count < 0 && errno != ENOENT) {
        mock_find(mock, CODE_FIXTURE_UNREADABLE, folder, "", "the fixtures cannot be read: %s", strerror(errno));
    } else if (count <= 0 && supplier->is_named) {
        mock_find(mock, CODE_FIXTURE_MISSING, folder,
                  "`lastcall record` makes one of a live answer; suppliers/README.md tells how they are written",
                  "`%.*s` has no fixtures, so there is nothing to play", TEXT_ARGS(name));
    }
    supplier->fixtures = arena_alloc_array(&mock->arena, count > 0 ? (size_t)count : 1, sizeof(struct fixture *));
    check_names(mock, order, name, folder, entries, count > 0 ? count : 0);
    for (int i = 0; i < count; i++) {
        bool is_chosen = false;
        for (size_t j = 0; j < order->name_count && !is_chosen; j++) {
            is_chosen = asks_for(order->names[j], name, entries[i]->d_name);
        }
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (supplier->fixtures != NULL) {
            (void)!read_fixture(mock, supplier, path, is_chosen); // a finding says why not
        }
        free(entries[i]);
    }
    free(entries);
}

// ---- all of them

/// The names that no file stands for.
static void find_unknown(struct mock *mock, const struct mock_order *order)
{
    enum { CANDIDATES = 256 };
    const struct script_set *set = order->catalogue->set;
    const char *candidates[CANDIDATES];
    char folder[FIXTURE_PATH_SIZE], help[160];
    size_t count = 0;

    for (size_t i = 0; i < script_set_supplier_count(set) && count < CANDIDATES; i++) {
        if (fixture_folder_of(script_set_supplier(set, i), folder)) {
            candidates[count++] = script_set_supplier(set, i)->name.data;
        }
    }
    for (size_t i = 0; i < order->name_count; i++) {
        struct text name = supplier_of(order->names[i]);
        bool is_known = false;
        for (size_t j = 0; j < count && !is_known; j++) {
            is_known = text_equals_c(name, candidates[j]);
        }
        if (!is_known) {
            const char *nearest = text_nearest(name, candidates, count);
            (void)snprintf(help, sizeof(help),
                           nearest == NULL ? "it is the name of a file in `suppliers_dir`%s" : "did you mean `%s`?",
                           nearest == NULL ? "" : nearest);
            mock_find(mock, CODE_SUPPLIER_NAME, NULL, help, "there is no supplier `%.*s`", TEXT_ARGS(name));
            mock->unknown++;
        }
    }
}

/// Opens the doors of a supplier. One that could still reach the real supplier gets none: it is a finding, or, when
/// nobody asked for this one, it is not played.
static void lead_here(struct mock *mock, struct mock_supplier *supplier)
{
    const struct script_supplier *script = supplier->script;
    const struct mock_play *play;
    size_t doors = mock->door_count;
    struct text query; // may hold a key

    if (!mock_open_doors(mock, supplier)) {
        return; // a finding says why
    }
    const struct json_node *stray = supplier->option_count == 0 ? NULL : mock_find_stray(supplier, &play);
    if (stray != NULL && supplier->is_named) {
        mock_find(mock, CODE_FIELD_MISSING, play->fixture->path.data,
                  "make the URL an option of the script, so that settings can lead it elsewhere",
                  "no option of `%.*s` leads to %.*s: the request would go to the real supplier",
                  TEXT_ARGS(script->name), TEXT_ARGS(text_split(stray->text, '?', &query)));
    } else if (supplier->option_count == 0 && supplier->is_named) {
        mock_find(mock, CODE_FIELD_MISSING, script->file.data,
                  "give it options = { base_url = \"https://…\" } and requests a `path`",
                  "`%.*s` has no option that is a URL: its requests cannot be led to a mock", TEXT_ARGS(script->name));
    }
    if (stray != NULL) {
        supplier->option_count = 0;
        mock->door_count = doors;
    }
}

static void read_supplier(struct mock *mock, const struct mock_order *order, const struct script_supplier *script,
                          const char *folder)
{
    struct mock_supplier *supplier = arena_alloc(&mock->arena, sizeof(*supplier));

    if (supplier == NULL) {
        mock_find(mock, CODE_NONE, folder, "", "there is no memory for its fixtures");
        return;
    }
    *supplier = (struct mock_supplier){ .script = script, .is_named = order->name_count > 0 };
    mock->suppliers[mock->supplier_count++] = supplier;
    read_folder(mock, order, supplier, folder);
    if (supplier->fixture_count > 0) {
        lead_here(mock, supplier);
    }
}

static void read_all(struct mock *mock, const struct mock_order *order)
{
    const struct script_set *set = order->catalogue->set;
    char folder[FIXTURE_PATH_SIZE];

    mock->suppliers =
        arena_alloc_array(&mock->arena, script_set_supplier_count(set) + 1, sizeof(struct mock_supplier *));
    if (mock->suppliers == NULL) {
        mock_find(mock, CODE_NONE, NULL, "", "there is no memory for the suppliers");
        return;
    }
    find_unknown(mock, order);
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        const struct script_supplier *script = script_set_supplier(set, i);
        bool is_played = is_wanted(order, script->name) && (order->name_count > 0 || is_in_use(order, script->file));
        if (is_played && fixture_folder_of(script, folder)) {
            read_supplier(mock, order, script, folder);
        }
    }
    if (mock->findings == 0 && mock->door_count == 0) {
        mock_find(mock, CODE_FIXTURE_MISSING, NULL,
                  "a fixture is ok-….json or odd-….json in the folder NAME.test beside NAME.lua",
                  "no supplier has fixtures, so there is nothing to play");
    }
}

enum status mock_open(const struct mock_order *order, struct mock **mock)
{
    struct mock *made = calloc(1, sizeof(*made));

    *mock = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->settings = order->settings;
    made->catalogue = order->catalogue;
    made->report = order->report;
    made->context = order->context;
    arena_init(&made->arena, ARENA_MAX);
    arena_init(&made->scratch, SCRATCH_MAX);
    read_all(made, order);
    if (made->findings > 0) {
        enum status status = made->unknown > 0 ? STATUS_NOT_FOUND : STATUS_INVALID;
        mock_close(&made);
        return status;
    }
    *mock = made;
    return STATUS_OK;
}

void mock_close(struct mock **mock)
{
    if (*mock == NULL) {
        return;
    }
    for (size_t i = 0; i < (*mock)->supplier_count; i++) {
        struct mock_supplier *supplier = (*mock)->suppliers[i];
        for (size_t j = 0; j < supplier->fixture_count; j++) {
            fixture_fini(supplier->fixtures[j]);
            free(supplier->fixtures[j]);
        }
    }
    arena_fini(&(*mock)->scratch);
    arena_fini(&(*mock)->arena);
    free(*mock);
    *mock = NULL;
}

// ---- what there is

size_t mock_door_count(const struct mock *mock)
{
    return mock->door_count;
}

struct text mock_door_supplier(const struct mock *mock, size_t door)
{
    return mock->doors[door].supplier->script->name;
}

struct text mock_door_origin(const struct mock *mock, size_t door)
{
    return mock->doors[door].origin;
}

size_t mock_supplier_count(const struct mock *mock)
{
    size_t count = 0;

    for (size_t i = 0; i < mock->supplier_count; i++) {
        count += mock->suppliers[i]->option_count > 0;
    }
    return count;
}

size_t mock_fixture_count(const struct mock *mock)
{
    size_t count = 0;

    for (size_t i = 0; i < mock->supplier_count; i++) {
        count += mock->suppliers[i]->option_count > 0 ? mock->suppliers[i]->fixture_count : 0;
    }
    return count;
}

void mock_tell_unreachable(const struct mock *mock, struct buffer *out)
{
    for (size_t i = 0; i < mock->supplier_count; i++) {
        const struct mock_supplier *supplier = mock->suppliers[i];
        if (supplier->fixture_count > 0 && supplier->option_count == 0) {
            buffer_printf(out, "%s%.*s", out->length == 0 ? "" : ", ", TEXT_ARGS(supplier->script->name));
        }
    }
}

void mock_tell_over(const struct mock *mock, uint64_t real_us, struct buffer *out)
{
    for (size_t i = 0; i < mock->supplier_count; i++) {
        const struct mock_supplier *supplier = mock->suppliers[i];
        size_t good = 0, over = 0;
        for (size_t j = 0; j < supplier->play_count; j++) {
            const struct mock_play *play = &supplier->plays[j];
            good += play->is_good ? 1 : 0;
            over += play->is_good && try_clock_is_over(play->fixture->search, real_us) ? 1 : 0;
        }
        if (good > 0 && over == good) {
            buffer_printf(out, "%s%.*s", out->length == 0 ? "" : ", ", TEXT_ARGS(supplier->script->name));
        }
    }
}
