/// Settings: lastcall.yaml as one checked value.
///
/// One table (settings_table.c) lists every setting once: key, kind, range, default, sentence, whether a change needs a
/// restart. Reading, errors, environment overrides and `config show` all come from it. Precedence: built-in < file
/// (several, later wins) < environment LASTCALL__SECTION__KEY.
///
/// Threads: immutable once read; acquire and release from any.
/// Memory:  counted; one arena.
#pragma once

#include "app/settings_rule.h"
#include "app/settings_supplier.h"
#include "base/arena.h"
#include "base/status.h"
#include "io/resolver.h"

#include <stdatomic.h>

/// A look-up table for scripts.
struct settings_table {
    struct text name;
    struct text file;
    struct text *keys; // columns
    size_t key_count;
    const char *place_file; // where its section stands, for errors
    uint32_t line, column;
    const char *keys_file; // where `key` stands
    uint32_t keys_line, keys_column;
};

/// A duration for which `auto` stands.
#define SETTINGS_AUTO UINT64_MAX

/// One of the files, as it was read.
struct settings_file {
    const char *path; // as it was given
    bool is_empty;    // it sets nothing
    bool has_end;     // its last byte is a line feed
};

struct settings {
    struct arena arena;
    atomic_uint references;
    struct settings_file *files; // in the order in which they were given
    size_t file_count;
    uint64_t files_hash;           // of the bytes of all of them
    struct settings_place *places; // where each row of the table that is the engine's was set; NULL in it: the default

    struct text listen;
    struct text admin_listen;     // empty: none
    struct text admin_token_env;  // absent: no token
    struct text attribution_file; // absent: none
    struct text *callers;         // the known ones
    size_t caller_count;
    struct text *cors_origins; // "*" or origins; none: browsers are not served
    size_t cors_origin_count;
    uint64_t cors_max_age_us;
    uint64_t deadline_default_us, deadline_min_us, deadline_max_us;
    bool honours_deadline_headers;
    uint32_t io_threads;
    uint32_t script_threads;     // 0: auto
    struct text *suppliers_dirs; // one or several
    size_t suppliers_dir_count;
    struct text scripts_dir;
    struct text secrets_dir;                                             // absent: as the environment says
    struct text state_dir;                                               // absent: none
    struct text store_backend, store_path;                               // app/store_desk.h says what they mean
    struct text store_url, store_user, store_password_env, store_prefix; // absent but the last: not set
    uint64_t store_max_size, store_read_slice_us, store_compress_above;
    struct address_range *allow_private;
    size_t allow_private_count;
    struct text ca_file;
    const char **dns_servers;
    size_t dns_server_count;
    uint32_t max_items, max_offers_per_item;
    struct text reply_detail;    // auto, full or public
    struct text reply_token_env; // absent: no token
    bool tokens_are_on;
    struct text *offer_keys, *booking_keys; // names of secrets, newest first; none: the engine's own
    size_t offer_key_count, booking_key_count;
    uint64_t offer_life_us, booking_life_us; // of tokens
    uint64_t revalidation_budget_us;
    uint64_t revalidation_quota_share; // millionths
    uint64_t reply_max_age_us;         // 0: replies are not to be kept
    uint64_t script_build_us, script_normalise_us, script_memory;
    uint64_t notice_us; // SIGTERM: how long searches are still taken; SETTINGS_AUTO: see app/shutdown.c
    uint64_t drain_us;  // then: how long open searches may go on
    uint64_t flush_us;  // then: how long the rest may take
    uint64_t max_body;  // bytes of a request
    bool reload_watches;
    uint64_t reload_settle_us, reload_scan_us;
    uint32_t reload_trial_calls; // 0: nothing is on trial
    uint32_t reload_trial_errors;
    bool breaker_is_on;
    uint64_t breaker_window_us;
    uint32_t breaker_min_calls;
    uint64_t breaker_failure_share; // millionths
    uint64_t linger_learn;          // millionths; 0: none
    bool linger_fills;
    uint64_t linger_limit_us, last_known_max_age_us, last_known_empty_max_age_us;
    bool admission_is_on;
    uint64_t admission_target_us, admission_interval_us;
    bool patience_finishes_early;
    uint64_t patience_delay_cost, patience_least_gain, patience_held_cost; // millionths
    uint32_t patience_novelty;
    bool extra_is_on, extra_coalesces;
    uint64_t extra_per_supplier, extra_engine; // millionths
    struct text log_level;
    struct text timing_file; // absent: none
    struct text fx_file;     // the table of exchange rates; absent: nothing is converted
    uint64_t fx_max_age_us;
    struct settings_table *tables;
    size_t table_count;
    struct text *segments; // the facts that rules may ask for
    size_t segment_count;
    struct settings_place segments_place; // NULL: the default
    struct settings_rule *rules;          // in the order in which they are tried
    size_t rule_count;
    struct settings_supplier *suppliers; // those named in the file
    size_t supplier_count;
};

typedef void (*settings_finding)(void *context, const struct failure *failure);

/// Reads the files in order, then the environment. Paths in a file are relative to the working directory. All findings
/// are reported; on any of them the result is STATUS_INVALID and `*settings` NULL. No file at all: the defaults.
MUST_CHECK enum status settings_read(const char *const *files, size_t count, settings_finding report, void *context,
                                     struct settings **settings);
struct settings *settings_acquire(struct settings *settings); // NULL gives NULL
void settings_release(struct settings **settings);
