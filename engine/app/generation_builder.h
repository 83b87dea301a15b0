/// Generation builder: what the parts share while a generation is made, and the parts of one supplier's account.
///
/// Threads: one.
/// Memory:  everything made lives in `arena`, which becomes the generation's.
#pragma once

#include "app/settings.h"
#include "base/json_write.h"
#include "model/script_call.h"
#include "script/script_set.h"

/// A secret that is not there, or cannot be used.
struct missing_secret {
    struct text supplier;
    struct text account;
    struct text secret;
    struct text why;  // a sentence that goes on after its name
    struct text help; // the remedy
    struct text file; // where to look: the settings, or the script
    uint32_t line, column;
};

struct generation_builder {
    const struct settings *settings;
    struct arena arena;
    settings_finding report;
    void *context;
    size_t findings;
    uint64_t *reported; // hashes of what the scripts' loader reported
    size_t reported_count;
    struct missing_secret *missing;
    size_t missing_count;
    uint32_t account_count; // made so far
    uint32_t login_count;   // accounts that log in, so far
};

/// Reports a finding; `file` NULL: no place.
void generation_find(struct generation_builder *builder, const char *file, uint32_t line, uint32_t column,
                     const char *help, const char *format, ...) PRINTF_LIKE(6, 7);

/// Reports and counts a finding that a loader made, unless the same one was reported before; `builder` is the context.
void generation_forward(void *builder, const struct failure *failure);

/// Makes an account of a supplier: options, secrets, hosts, markets, route. `settings` may be NULL; without `is_wanted`
/// secrets are not looked for. Findings are reported, missing secrets are added to the builder.
MUST_CHECK enum status generation_make_account(struct generation_builder *builder, const struct script_supplier *script,
                                               const struct settings_account *settings, bool is_wanted,
                                               struct script_account *account);

/// Copies options, the account's over the script's, into an open JSON object and adds the hosts of URLs to `account`.
MUST_CHECK enum status generation_write_options(struct generation_builder *builder,
                                                const struct script_supplier *script,
                                                const struct settings_account *settings, struct json_writer *writer,
                                                struct script_account *account);

/// The client certificate and proxy of a supplier's account; NULL when it has none. Without `is_wanted` the
/// certificate's files are not looked for.
MUST_CHECK enum status generation_make_route(struct generation_builder *builder, struct text supplier,
                                             const struct settings_account *settings, bool is_wanted,
                                             const struct fetch_route **route);

/// Adds "host" or "host:port" unless it is there already.
MUST_CHECK enum status generation_add_host(struct generation_builder *builder, struct script_account *account,
                                           struct text host);
