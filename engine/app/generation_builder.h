/// Generation builder: what the parts share while a generation is made, and the parts of one supplier's account.
///
/// Threads: one.
/// Memory:  everything made lives in `arena`, which becomes the generation's.
#pragma once

#include "app/generation.h"
#include "base/json_write.h"
#include "model/catalogue.h"
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

/// Whose fault findings may be (app/generation_blame.h).
enum generation_suspect_kind {
    SUSPECT_NOBODY,
    SUSPECT_SUPPLIER,
    SUSPECT_SHADOW,
    SUSPECT_GONE,
    SUSPECT_PRODUCT,
    SUSPECT_PRODUCTS
};
struct generation_suspect {
    enum generation_suspect_kind kind;
    struct text name;
};

struct generation_blames;

struct generation_builder {
    const struct settings *settings;
    const struct generation_order *order; // NULL for parts of a generation only
    const struct catalogue *previous;     // of the generation that runs; NULL: none does
    struct generation_blames *blames;     // NULL for parts of a generation only
    struct script_changes *changes;       // likewise
    const struct script_set *set;         // once it is loaded
    struct generation_suspect suspect;
    struct arena arena;
    settings_finding report;
    void *context;
    size_t findings;
    size_t aside_count; // findings that stop nobody who is needed
    struct missing_secret *missing;
    size_t missing_count;
    uint32_t account_count; // made so far
    uint32_t login_count;   // accounts that log in, so far
};

/// One attempt at a generation, without a number. STATUS_OK also when scripts were blamed: it is of no use then.
MUST_CHECK enum status generation_build_once(const struct generation_order *order, struct generation_blames *blames,
                                             settings_finding report, void *context, struct script_changes *changes,
                                             struct generation **generation);
void generation_take_number(struct generation *generation);

/// What the settings say to policies; of last known answers also of one supplier, which may be NULL.
struct breaker_settings generation_breaker(const struct settings *settings);
struct admission_settings generation_admission(const struct settings *settings);
struct patience_settings generation_patience(const struct settings *settings);
struct extra_settings generation_extra(const struct settings *settings);
struct last_known_settings generation_last_known(const struct settings *settings);
uint64_t generation_linger_us(const struct settings *settings);
struct last_known_terms generation_last_known_terms(const struct settings_supplier *settings);
/// Beside the products of the set: name and digest, so that what one script understood is never taken for another's.
/// NULL: no memory.
const struct text *generation_product_scripts(const struct script_set *set, struct arena *arena);

/// Reports a finding; `file` NULL: no place.
void generation_find(struct generation_builder *builder, const char *file, uint32_t line, uint32_t column,
                     enum code code, const char *help, const char *format, ...) PRINTF_LIKE(7, 8);

/// Reports a finding, unless the same one was reported before: for loaders; `builder` is the context. It counts unless
/// somebody is blamed for it.
void generation_forward(void *builder, const struct failure *failure);
/// Tells it as one that stops nobody who is needed.
void generation_aside(void *builder, const struct failure *failure);
/// The same, and it never counts.
void generation_tell(void *builder, const struct failure *failure);

/// Makes an account of a supplier: options, secrets, hosts, markets, route. `settings` may be NULL; without `is_wanted`
/// secrets are not looked for. Findings are reported, missing secrets are added to the builder.
MUST_CHECK enum status generation_make_account(struct generation_builder *builder, const struct script_supplier *script,
                                               const struct settings_account *settings, bool is_wanted,
                                               struct script_account *account);

/// Gives the supplier, which has its accounts, those of the shadow that the set has of it. What is wrong with it is
/// blamed on it, and it is left out. It asks nobody: its accounts have neither permits nor a login of their own.
MUST_CHECK enum status generation_make_shadow(struct generation_builder *builder,
                                              const struct settings_supplier *settings,
                                              struct catalogue_supplier *supplier);

/// Writes the secrets of `account`, whose name is set, into an open JSON object; likewise.
MUST_CHECK enum status generation_write_secrets(struct generation_builder *builder,
                                                const struct script_supplier *script,
                                                const struct settings_account *settings,
                                                const struct script_account *account, bool is_wanted,
                                                struct json_writer *writer);

/// Tells of a supplier that is off for want of secrets, the first of which is `missing`, unless it was so before. A
/// changed script that made it so is blamed.
void generation_tell_off(struct generation_builder *builder, const struct script_supplier *script,
                         const struct catalogue_supplier *supplier, const struct missing_secret *missing);

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
