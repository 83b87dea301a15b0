// A set lives as long as an owner or a holder does. All owners together hold it once; the last one to release gives
// that hold back and thereby retires the set. Everything it consists of is in one arena, but what each supplier's file
// declares, which is in one of its own: a file that gets stuck while it is loaded keeps a thread, which may touch
// nothing that others use.

#include "script/script_set.h"
#include "base/file.h"
#include "base/places.h"
#include "script/bind.h"
#include "script/check_task.h"
#include "script/drift.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET_FILE_MAX = 1 << 20, SET_FILES_MAX = 1000 };

#define SET_MEMORY ((size_t)256 << 20)

struct set_files {
    struct script_file *items;
    size_t count;
};

/// What is known of one script's behaviour; workers of all threads write it.
struct script_health {
    atomic_bool is_quarantined;
    atomic_bool is_told;                               // `place` is written
    char place[128];                                   // where it was stopped the last time; empty: it was stuck
    atomic_uint next;                                  // the slot of the next time-out
    _Atomic uint64_t timeouts_us[SCRIPT_TIMEOUTS_MAX]; // 0: none yet
    _Atomic uint64_t limits[SCRIPT_LIMIT_COUNT];
    _Atomic uint64_t log_second; // and how many lines were logged in it: in the lowest 16 bits
};

struct script_set {
    atomic_uint owners;
    atomic_uint holds;
    struct arena arena;
    struct set_files products;
    struct set_files modules;
    struct set_files sources;          // of suppliers
    struct script_supplier *suppliers; // beside `sources`
    struct arena *declared;            // beside `suppliers`: what they consist of
    struct places *places;             // NULL: none
    const struct script_look_up *look_ups;
    size_t look_up_count;
    const struct script_segment *segments;
    size_t segment_count;
    struct script_health *product_health;
    struct script_health *supplier_health;
    struct drift *drifts; // beside `suppliers`
    size_t drift_count;
};

/// Reads the file at `file->path`; what goes wrong is a finding.
static void set_read_file(struct script_check *check, struct script_file *file)
{
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, SET_FILE_MAX);
    enum status status = file_read(file->path.data, &content, &facts);
    if (status == STATUS_FULL) {
        script_check_report(check, file, 0, NULL, "is larger than 1 MiB");
    } else if (status == STATUS_NO_MEMORY) {
        script_check_report(check, file, 0, NULL, "not enough memory to keep it");
    } else if (status != STATUS_OK) {
        script_check_report(check, file, 0, NULL, "cannot be read: %s", facts.why);
    } else if (content.length == 0) {
        script_check_report(check, file, 0, NULL, "is empty");
    } else {
        file->source = arena_copy(check->arena, buffer_text(&content));
        if (file->source.data == NULL) {
            script_check_report(check, file, 0, NULL, "not enough memory to keep it");
        }
    }
    buffer_fini(&content);
}

static int set_is_lua(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0;
}

/// Reads all Lua files of a folder, sorted by name. False: there is no such folder, and that is a finding.
static bool set_read_folder(struct script_check *check, const char *folder, struct set_files *files)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, set_is_lua, alphasort);
    struct script_file place = { .path = text_of(folder) };

    if (found < 0) {
        script_check_report(check, &place, 0, "set `scripts_dir` to the scripts folder of lastcall",
                            "cannot be read: %s", strerror(errno));
        return false;
    }
    size_t count = found > SET_FILES_MAX ? SET_FILES_MAX : (size_t)found;
    files->items = arena_alloc_array(check->arena, count + 1, sizeof *files->items);
    for (size_t i = 0; i < (size_t)found; i++) {
        char path[1024];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (files->items == NULL || i >= count || length < 0 || (size_t)length >= sizeof path) {
            script_check_report(check, &place, 0, NULL, "holds too many files, or their names are too long");
            continue;
        }
        struct script_file *file = &files->items[files->count++];
        file->path = arena_copy(check->arena, text_of(path));
        file->name = arena_copy(check->arena, script_check_basename(file->path));
        set_read_file(check, file);
    }
    free(entries);
    return true;
}

static void set_read_sources(struct script_check *check, struct script_set *set, const struct script_source *sources,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct script_file *file = &set->sources.items[i];
        file->name = arena_copy(check->arena, sources[i].name);
        file->path = arena_copy(check->arena, sources[i].file);
        set->sources.count++;
        if (file->path.data != NULL) {
            set_read_file(check, file);
        }
    }
}

/// "acme@3f9a": the name and the head of the digest of the source.
static struct text set_label(struct arena *arena, const struct script_file *file)
{
    unsigned char digest[32];
    char label[256];

    bind_crypto_sha256(file->source, digest);
    snprintf(label, sizeof label, "%.*s@%02x%02x", TEXT_ARGS(file->name), digest[0], digest[1]);
    return arena_copy(arena, text_of(label));
}

/// Checks a file, if it could be read; what it found is counted.
static void set_check_file(struct script_check *check, struct script_set *set, const struct script_file *file,
                           enum check_kind kind, struct script_supplier *supplier, struct arena *memory)
{
    if (file->source.data != NULL && check_task_run(check, set, file, kind, supplier, memory) == STATUS_TIMEOUT) {
        check->is_overdue = true;
    }
}

static void set_check_suppliers(struct script_check *check, struct script_set *set)
{
    for (size_t i = 0; i < set->sources.count; i++) {
        const struct script_file *file = &set->sources.items[i];
        struct script_supplier *supplier = &set->suppliers[i];
        supplier->name = file->name;
        supplier->file = file->path;
        if (file->source.data == NULL) {
            continue; // reported
        }
        supplier->label = set_label(&set->arena, file);
        check->supplier = (ptrdiff_t)i;
        set_check_file(check, set, file, CHECK_SUPPLIER, supplier, &set->declared[i]);
        if (supplier->display_name.data == NULL) {
            supplier->display_name = supplier->name;
        }
    }
}

static const struct script_file *set_find(const struct set_files *files, struct text name)
{
    for (size_t i = 0; i < files->count; i++) {
        if (text_equals(files->items[i].name, name)) {
            return &files->items[i];
        }
    }
    return NULL;
}

static bool set_find_module(void *context, struct text name, struct text *path, struct text *source)
{
    const struct script_set *set = context;
    const struct script_file *file = set_find(&set->modules, name);
    if (file == NULL || file->source.data == NULL) {
        return false;
    }
    *path = file->path;
    *source = file->source;
    return true;
}

static struct script_set *set_create(size_t source_count)
{
    struct script_set *set = calloc(1, sizeof *set);
    if (set == NULL) {
        return NULL;
    }
    atomic_init(&set->owners, 1);
    atomic_init(&set->holds, 1);
    arena_init(&set->arena, SET_MEMORY);
    set->suppliers = arena_alloc_array(&set->arena, source_count + 1, sizeof *set->suppliers);
    set->declared = arena_alloc_array(&set->arena, source_count + 1, sizeof *set->declared);
    set->sources.items = arena_alloc_array(&set->arena, source_count + 1, sizeof *set->sources.items);
    set->supplier_health = arena_alloc_array(&set->arena, source_count + 1, sizeof(struct script_health));
    set->drifts = arena_alloc_array(&set->arena, source_count + 1, sizeof(struct drift));
    if (set->suppliers == NULL || set->declared == NULL || set->sources.items == NULL || set->supplier_health == NULL ||
        set->drifts == NULL) {
        script_set_release(&set);
        return NULL;
    }
    set->drift_count = source_count;
    for (size_t i = 0; i < source_count; i++) {
        drift_init(&set->drifts[i]);
    }
    return set;
}

static void set_on_place_finding(void *context, const struct failure *failure)
{
    struct script_check *check = context;

    check->report(check->context, failure);
    check->findings++;
}

/// Airports are data of the scripts; a folder without them has products that need none.
static void set_read_places(struct script_check *check, struct script_set *set, const char *scripts_dir)
{
    char path[1024];
    struct script_file file = { .path = { path, 0 } };

    file.path.length = (size_t)snprintf(path, sizeof path, "%s/data/airports.txt", scripts_dir);
    if (file.path.length >= sizeof path) {
        return; // nor could its folder be read, which was reported
    }
    if (places_load(path, set_on_place_finding, check, &set->places) == STATUS_NO_MEMORY) {
        script_check_report(check, &file, 0, NULL, "not enough memory to keep it");
    }
}

static void set_load_all(struct script_check *check, struct script_set *set, const char *scripts_dir,
                         const struct script_source *sources, size_t count)
{
    char folder[1024];

    snprintf(folder, sizeof folder, "%s/products", scripts_dir);
    check->knows_products =
        set_read_folder(check, scripts_dir, &set->modules) && set_read_folder(check, folder, &set->products);
    set_read_sources(check, set, sources, count);
    set_read_places(check, set, scripts_dir);
    set->product_health = arena_alloc_array(&set->arena, set->products.count + 1, sizeof(struct script_health));

    check->places = set->places;
    check->products = set->products.items;
    check->product_count = set->products.count;
    for (size_t i = 0; i < set->modules.count; i++) {
        set_check_file(check, set, &set->modules.items[i], CHECK_MODULE, NULL, NULL);
    }
    for (size_t i = 0; i < set->products.count; i++) {
        set_check_file(check, set, &set->products.items[i], CHECK_PRODUCT, NULL, NULL);
    }
    set_check_suppliers(check, set);
    set->look_ups = check->look_ups;
    set->look_up_count = check->look_up_count;
    set->segments = check->segments;
    set->segment_count = check->segment_count;
}

enum status script_set_load(const char *scripts_dir, const struct script_source *sources, size_t count,
                            script_finding report, void *context, struct script_set **set)
{
    *set = NULL;
    struct script_set *loaded = set_create(count);
    if (loaded == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct script_check check = { .arena = &loaded->arena,
                                  .find_module = set_find_module,
                                  .find_context = loaded,
                                  .supplier = -1,
                                  .report = report,
                                  .context = context };

    set_load_all(&check, loaded, scripts_dir, sources, count);
    if (loaded->product_health == NULL) {
        script_set_release(&loaded);
        return STATUS_NO_MEMORY;
    }
    if (check.findings > 0) {
        script_set_release(&loaded);
        return check.is_overdue ? STATUS_TIMEOUT : STATUS_INVALID;
    }
    *set = loaded;
    return STATUS_OK;
}

struct script_set *script_set_acquire(struct script_set *set)
{
    atomic_fetch_add(&set->owners, 1);
    return set;
}

void script_set_release(struct script_set **set)
{
    if (*set == NULL) {
        return;
    }
    if (atomic_fetch_sub(&(*set)->owners, 1) == 1) {
        script_set_drop(set);
    }
    *set = NULL;
}

struct script_set *script_set_hold(struct script_set *set)
{
    atomic_fetch_add(&set->holds, 1);
    return set;
}

void script_set_drop(struct script_set **set)
{
    if (*set != NULL && atomic_fetch_sub(&(*set)->holds, 1) == 1) {
        for (size_t i = 0; i < (*set)->sources.count; i++) {
            arena_fini(&(*set)->declared[i]);
        }
        places_destroy(&(*set)->places);
        for (size_t i = 0; i < (*set)->drift_count; i++) {
            drift_fini(&(*set)->drifts[i]);
        }
        arena_fini(&(*set)->arena);
        free(*set);
    }
    *set = NULL;
}

const struct places *script_set_places(const struct script_set *set)
{
    return set->places;
}

bool script_set_is_retired(const struct script_set *set)
{
    return atomic_load(&set->owners) == 0;
}

size_t script_set_supplier_count(const struct script_set *set)
{
    return set->sources.count;
}

const struct script_supplier *script_set_supplier(const struct script_set *set, size_t index)
{
    require(index < set->sources.count);
    return &set->suppliers[index];
}

size_t script_set_product_count(const struct script_set *set)
{
    return set->products.count;
}

struct text script_set_product(const struct script_set *set, size_t index)
{
    return script_set_product_file(set, index)->name;
}

const struct script_look_up *script_set_look_ups(const struct script_set *set, size_t *count)
{
    *count = set->look_up_count;
    return set->look_ups;
}

const struct script_segment *script_set_segments(const struct script_set *set, size_t *count)
{
    *count = set->segment_count;
    return set->segments;
}

const struct script_file *script_set_supplier_file(const struct script_set *set, size_t index)
{
    require(index < set->sources.count);
    return &set->sources.items[index];
}

const struct script_file *script_set_product_file(const struct script_set *set, size_t index)
{
    require(index < set->products.count);
    return &set->products.items[index];
}

const struct script_file *script_set_module_file(const struct script_set *set, struct text name)
{
    return set_find(&set->modules, name);
}

struct drift *script_set_drift(const struct script_set *set, size_t supplier)
{
    require(supplier < set->drift_count);
    return &set->drifts[supplier];
}

ptrdiff_t script_set_find_product(const struct script_set *set, struct text name)
{
    const struct script_file *file = set_find(&set->products, name);
    return file == NULL ? -1 : file - set->products.items;
}

static struct script_health *set_health(const struct script_set *set, struct script_id script)
{
    if (script.is_product) {
        require(script.index < set->products.count);
        return &set->product_health[script.index];
    }
    require(script.index < set->sources.count);
    return &set->supplier_health[script.index];
}

/// Only the one who takes the script out of service writes why.
static bool set_quarantine(struct script_health *health, const char *place)
{
    if (atomic_exchange(&health->is_quarantined, true)) {
        return false;
    }
    snprintf(health->place, sizeof health->place, "%s", place);
    atomic_store(&health->is_told, true);
    return true;
}

bool script_set_quarantine(struct script_set *set, struct script_id script)
{
    return set_quarantine(set_health(set, script), "");
}

bool script_set_note_timeout(struct script_set *set, struct script_id script, const char *place, uint64_t now_us)
{
    struct script_health *health = set_health(set, script);
    unsigned slot = atomic_fetch_add(&health->next, 1) % SCRIPT_TIMEOUTS_MAX;
    atomic_store(&health->timeouts_us[slot], now_us);

    // The slot after this one holds the oldest of the last SCRIPT_TIMEOUTS_MAX.
    uint64_t oldest_us = atomic_load(&health->timeouts_us[(slot + 1) % SCRIPT_TIMEOUTS_MAX]);
    bool is_often = oldest_us != 0 && now_us - oldest_us <= SCRIPT_TIMEOUTS_WITHIN_US;
    return is_often && !script.is_product && set_quarantine(health, place);
}

void script_set_note_limit(struct script_set *set, struct script_id script, enum script_limit limit, uint64_t times)
{
    atomic_fetch_add(&set_health(set, script)->limits[limit], times);
}

uint64_t script_set_limit_count(const struct script_set *set, struct script_id script, enum script_limit limit)
{
    return atomic_load(&set_health(set, script)->limits[limit]);
}

uint32_t script_set_log_lines_left(const struct script_set *set, struct script_id script, uint64_t now_us)
{
    uint64_t logged = atomic_load(&set_health(set, script)->log_second);
    uint64_t lines = logged >> 16 == now_us / 1000000 ? logged & 0xffff : 0;

    return lines < SCRIPT_LOG_LINES_MAX ? (uint32_t)(SCRIPT_LOG_LINES_MAX - lines) : 0;
}

void script_set_note_log_lines(struct script_set *set, struct script_id script, uint64_t now_us, uint32_t lines)
{
    _Atomic uint64_t *place = &set_health(set, script)->log_second;
    uint64_t logged = atomic_load(place);
    uint64_t then;

    do {
        uint64_t before = logged >> 16 == now_us / 1000000 ? logged & 0xffff : 0;
        uint64_t sum = before + lines < 0xffff ? before + lines : 0xffff;
        then = now_us / 1000000 << 16 | sum;
    } while (!atomic_compare_exchange_weak(place, &logged, then));
}

bool script_set_is_quarantined(const struct script_set *set, struct script_id script)
{
    return atomic_load(&set_health(set, script)->is_quarantined);
}

bool script_set_tell_quarantine(const struct script_set *set, struct script_id script, char *sentence, size_t size)
{
    const struct script_health *health = set_health(set, script);

    if (!atomic_load(&health->is_quarantined)) {
        return false;
    }
    if (atomic_load(&health->is_told) && health->place[0] != '\0') {
        snprintf(sentence, size, "quarantined: used up its time %d times within %d s, the last time at %s",
                 SCRIPT_TIMEOUTS_MAX, SCRIPT_TIMEOUTS_WITHIN_US / 1000000, health->place);
    } else {
        snprintf(sentence, size, "quarantined: it was stuck inside a function of C, where nothing stops it");
    }
    return true;
}
