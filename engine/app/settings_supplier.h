/// Settings of suppliers: what the file says of each, and of its accounts.
///
/// Threads: immutable once read.
/// Memory:  in the arena of their settings.
#pragma once

#include "base/text.h"
#include "model/mode.h"
#include "model/request_limits.h"

struct settings_pair {
    struct text key;
    struct text value;
    bool is_plain;    // written without quotes: may be a number or a flag
    const char *file; // where the value stands, for errors; the variable's name when it came from the environment
    uint32_t line, column;
};

struct settings_account {
    struct text name;
    struct settings_pair *options; // values as written
    size_t option_count;
    struct settings_pair *secrets; // the script's name of it -> the environment variable
    size_t secret_count;
    struct text *markets; // none: any search
    size_t market_count;
    struct text certificate_file, key_file; // absent: none
    struct text proxy;                      // absent: none
    struct request_limits limits;           // over the script's, one by one
    uint64_t body_cap;                      // likewise; 0: the script's
    struct text mode;                       // live, dark, test; absent: the supplier's
    const char *file;
    uint32_t line, column;
};

struct settings_supplier {
    struct text name;
    struct text uses;         // whose file plays it; its own name when not set
    struct text display_name; // absent: the script's
    bool is_enabled;
    struct text because;
    uint64_t ceiling_us; // 0: the script's
    uint64_t weight;     // millionths
    struct text mode;    // live, dark, test; absent: live
    uint64_t max_age_us; // of its last known answers; 0: as those of all
    uint64_t fresh_for_us;
    uint64_t price_guard;              // millionths
    uint64_t traffic;                  // millionths of searches that reach a dark account; 0: the default
    struct settings_account *accounts; // at least one: "main"; in the order in which they are tried
    size_t account_count;
    const char *file; // where it stands, for errors
    uint32_t line, column;
    const char *uses_file; // where `uses` stands; NULL: it does not
    uint32_t uses_line, uses_column;
};

/// The mode of an account: its own, else its supplier's.
enum mode settings_mode_of(const struct settings_supplier *supplier, const struct settings_account *account);
