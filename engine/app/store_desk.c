#include "app/store_desk.h"

#include "app/secret.h"
#include "app/store_home.h"
#include "app/store_thread.h"
#include "base/log.h"
#include "store/store_lmdb.h"
#include "telemetry/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const NAMES[] = { "none", "lmdb", "redis" };

const char *store_backend_name(enum store_backend backend)
{
    return NAMES[backend];
}

enum store_backend store_desk_backend(const struct settings *settings)
{
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (text_equals_c(settings->store_backend, NAMES[i])) {
            return (enum store_backend)i;
        }
    }
    return settings->state_dir.data != NULL ? STORE_BACKEND_LMDB : STORE_BACKEND_NONE;
}

bool store_desk_path(const struct settings *settings, char path[STORE_PATH_SIZE])
{
    bool is_own = settings->store_path.data != NULL;
    struct text directory = is_own ? settings->store_path : settings->state_dir;
    int length = snprintf(path, STORE_PATH_SIZE, "%.*s%s", TEXT_ARGS(directory), is_own ? "" : "/store");

    return length > 0 && length < STORE_PATH_SIZE;
}

/// False: it is not known where its directory is.
static bool has_place(const struct settings *settings, char path[STORE_PATH_SIZE], struct failure *why)
{
    if (settings->store_path.data == NULL && settings->state_dir.data == NULL) {
        failure_set(why, "store.backend is lmdb, and neither store.path nor state_dir says where");
        failure_help(why, "set store.path to a directory that the engine may write");
        return false;
    }
    if (!store_desk_path(settings, path)) {
        failure_set(why, "store.path: its name is too long");
        return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------
// opening

/// The directory of all state is made when it is missing, whoever comes first.
static void make_state_dir(const struct settings *settings)
{
    enum { MODE = 0750 };

    if (settings->store_path.data == NULL && settings->state_dir.data != NULL) {
        (void)mkdir(settings->state_dir.data, MODE); // what cannot be made is told of what is to be in it
    }
}

static enum status open_lmdb(const struct settings *settings, struct store **store, struct failure *why)
{
    char path[STORE_PATH_SIZE];

    if (!has_place(settings, path, why)) {
        return STATUS_INVALID;
    }
    make_state_dir(settings);
    struct store_lmdb_options options = { .directory = path,
                                          .max_bytes = settings->store_max_size,
                                          .deliver = store_home_deliver };
    return store_lmdb_open(&options, store, why);
}

/// Braces are for Redis Cluster, which keeps names with the same word in braces together.
static bool is_prefix(struct text prefix)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-{}";
    enum { PREFIX_MAX = 64 };

    bool is_one = prefix.length > 0 && prefix.length <= PREFIX_MAX;
    for (size_t i = 0; is_one && i < prefix.length; i++) {
        is_one = memchr(ALLOWED, prefix.data[i], sizeof ALLOWED - 1) != NULL;
    }
    return is_one;
}

static enum status read_url(const struct settings *settings, struct store_url *url, struct failure *why)
{
    if (settings->store_url.data == NULL) {
        failure_set(why, "store.backend is redis, and store.url does not say where that is");
        failure_help(why, "write it as redis://host:6379/0 or unix:///run/redis/redis.sock?db=0");
        return STATUS_INVALID;
    }
    if (settings->store_user.data != NULL && settings->store_password_env.data == NULL) {
        failure_set(why, "store.user is set, and store.password_env is not");
        failure_help(why, "name the secret that holds the password of this user in store.password_env");
        return STATUS_INVALID;
    }
    if (!is_prefix(settings->store_prefix)) {
        failure_set(why, "store.prefix is no word of 1 to 64 letters, digits and .:_-{}");
        failure_help(why, "take the name of this deployment, like lastcall-staging");
        return STATUS_INVALID;
    }
    return store_url_read(settings->store_url, url, why);
}

static enum status read_password(const struct settings *settings, struct arena *memory, struct text *password,
                                 struct failure *why)
{
    struct failure reason = { 0 };

    if (settings->store_password_env.data == NULL) {
        return STATUS_OK;
    }
    enum status status = secret_find(settings->secrets_dir, settings->store_password_env, memory, password, &reason);
    if (status != STATUS_OK) {
        failure_set(why, "store.password_env: the secret %.*s %s", TEXT_ARGS(settings->store_password_env),
                    reason.message);
        failure_help(why, "%s", reason.help);
    }
    return status == STATUS_NOT_FOUND ? STATUS_INVALID : status;
}

static enum status open_redis(const struct settings *settings, struct store **store, struct failure *why)
{
    struct store_thread_options options = { .user = settings->store_user,
                                            .prefix = settings->store_prefix,
                                            .press_above = settings->store_compress_above,
                                            .deliver = store_home_deliver };
    struct arena memory;

    arena_init(&memory, 2 * SECRET_MAX);
    enum status status = read_url(settings, &options.url, why);
    if (status == STATUS_OK) {
        status = read_password(settings, &memory, &options.password, why);
    }
    if (status == STATUS_OK) {
        status = store_thread_open(&options, store, why);
    }
    arena_fini(&memory);
    return status;
}

enum status store_desk_open(const struct settings *settings, struct store **store, struct failure *why)
{
    enum store_backend backend = store_desk_backend(settings);
    enum status status = STATUS_OK;

    *store = NULL;
    switch (backend) {
    case STORE_BACKEND_LMDB:
        status = open_lmdb(settings, store, why);
        break;
    case STORE_BACKEND_REDIS:
        status = open_redis(settings, store, why);
        break;
    default:
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        struct store_report report;
        store_report_fill(*store, &report);
        log_line(LOG_INFO, "store", "open backend=%s entries=%llu", NAMES[backend], (unsigned long long)report.entries);
    }
    return status;
}

/// What stands there, or the first directory above it, can be written.
static bool is_writable(char *path, struct failure *why)
{
    struct stat facts;
    bool is_there = stat(path, &facts) == 0;

    if (is_there && S_ISDIR(facts.st_mode) && access(path, W_OK | X_OK) == 0) {
        return true;
    }
    if (!is_there && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return is_writable((char[]){ "." }, why);
        }
        slash[slash == path ? 1 : 0] = '\0';
        return is_writable(path, why);
    }
    failure_set(why, "store.path: %s cannot be written: %s", path,
                is_there && !S_ISDIR(facts.st_mode) ? "it is no directory" : strerrordesc_np(errno));
    failure_help(why, "see to it that the engine can write there, or name another directory");
    return false;
}

enum status store_desk_check(const struct settings *settings, struct failure *why)
{
    enum store_backend backend = store_desk_backend(settings);
    char path[STORE_PATH_SIZE];
    struct store_url url;

    if (backend == STORE_BACKEND_REDIS) {
        return read_url(settings, &url, why);
    }
    if (backend != STORE_BACKEND_LMDB) {
        return STATUS_OK;
    }
    return has_place(settings, path, why) && is_writable(path, why) ? STATUS_OK : STATUS_INVALID;
}

// ---------------------------------------------------------------------------------------------------------------
// telling

static void write_report(const struct store_report *report, struct json_writer *json)
{
    json_field_bool(json, "up", report->is_up);
    if (report->trouble[0] != '\0') {
        json_field_c(json, "trouble", report->trouble);
    }
    json_field_u64(json, "entries", report->entries);
    json_field_u64(json, "bytes", report->bytes);
    if (report->max_bytes > 0) {
        json_field_u64(json, "max_bytes", report->max_bytes);
    }
    json_field_u64(json, "found", report->found);
    json_field_u64(json, "absent", report->absent);
    json_field_u64(json, "faults", report->faults);
    json_field_u64(json, "late", report->late);
    json_field_u64(json, "kept", report->kept);
    json_field_u64(json, "dropped", report->dropped);
    json_field_u64(json, "evicted", report->evicted);
    json_field_u64(json, "purged", report->purged);
    json_field_u64(json, "corrupt", report->corrupt);
}

void store_desk_write(struct store *store, const struct settings *settings, struct json_writer *json)
{
    json_key(json, "store");
    json_begin_object(json);
    json_field_c(json, "backend", store != NULL ? NAMES[store_desk_backend(settings)] : NAMES[STORE_BACKEND_NONE]);
    if (store != NULL) {
        struct store_report report;
        store_report_fill(store, &report);
        write_report(&report, json);
    }
    json_end_object(json);
}

void store_desk_sample(struct store *store, struct metrics *metrics)
{
    struct store_report report = { 0 };

    if (store != NULL) {
        store_report_fill(store, &report);
    }
    const struct {
        enum metric metric;
        uint64_t value;
    } rows[] = {
        { METRIC_STORE_UP, report.is_up ? 1 : 0 }, { METRIC_STORE_ENTRIES, report.entries },
        { METRIC_STORE_BYTES, report.bytes },      { METRIC_STORE_FOUND, report.found },
        { METRIC_STORE_ABSENT, report.absent },    { METRIC_STORE_FAULTS, report.faults },
        { METRIC_STORE_LATE, report.late },        { METRIC_STORE_KEPT, report.kept },
        { METRIC_STORE_DROPPED, report.dropped },  { METRIC_STORE_EVICTED, report.evicted },
        { METRIC_STORE_PURGED, report.purged },    { METRIC_STORE_CORRUPT, report.corrupt },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        metrics_set(metrics, rows[i].metric, 0, rows[i].value);
    }
}
