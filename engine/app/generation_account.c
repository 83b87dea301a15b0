#include "app/generation_builder.h"
#include "app/secret.h"
#include "app/settings_apply.h"
#include "model/catalogue.h"

#include <stdatomic.h>
#include <stdio.h>

enum { CONTEXT_MAX = 1024 * 1024 };

static atomic_uint_fast64_t last_serial;

static const struct settings_pair *pair_of(const struct settings_pair *pairs, size_t count, struct text key)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals(pairs[i].key, key)) {
            return &pairs[i];
        }
    }
    return NULL;
}

enum status generation_add_host(struct generation_builder *builder, struct script_account *account, struct text host)
{
    for (size_t i = 0; i < account->host_count; i++) {
        if (text_equals_nocase(account->hosts[i], host)) {
            return STATUS_OK;
        }
    }
    struct text *grown = settings_grow(&builder->arena, account->hosts, account->host_count, sizeof(*account->hosts));
    struct text kept = arena_copy(&builder->arena, host);
    if (grown == NULL || kept.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    grown[account->host_count++] = kept;
    account->hosts = grown;
    return STATUS_OK;
}

// Secrets in the settings that the script does not declare.
static enum status find_unknown_secrets(struct generation_builder *builder, const struct script_supplier *script,
                                        const struct settings_account *settings)
{
    const char **names = arena_alloc_array(&builder->arena, script->secret_count + 1, sizeof(*names));
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < script->secret_count; i++) {
        struct text copy = arena_copy(&builder->arena, script->secrets[i]);
        if (copy.data == NULL) {
            return STATUS_NO_MEMORY;
        }
        names[i] = copy.data;
    }
    for (size_t i = 0; i < settings->secret_count; i++) {
        const struct settings_pair *pair = &settings->secrets[i];
        bool is_declared = false;
        for (size_t j = 0; j < script->secret_count && !is_declared; j++) {
            is_declared = text_equals(script->secrets[j], pair->key);
        }
        if (!is_declared) {
            const char *nearest = text_nearest(pair->key, names, script->secret_count);
            char help[256];
            snprintf(help, sizeof(help),
                     nearest == NULL ? "its `secrets` are in the script's table%s" : "did you mean `%s`?",
                     nearest == NULL ? "" : nearest);
            generation_find(builder, pair->file, pair->line, pair->column, help,
                            "the script of `%.*s` declares no secret `%.*s`", TEXT_ARGS(script->name),
                            TEXT_ARGS(pair->key));
        }
    }
    return STATUS_OK;
}

static enum status add_missing(struct generation_builder *builder, const struct missing_secret *missing)
{
    struct missing_secret *grown =
        settings_grow(&builder->arena, builder->missing, builder->missing_count, sizeof(*builder->missing));
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    builder->missing = grown;
    struct missing_secret *slot = &grown[builder->missing_count];
    slot->supplier = arena_copy(&builder->arena, missing->supplier);
    slot->secret = arena_copy(&builder->arena, missing->secret);
    slot->account = arena_copy(&builder->arena, missing->account);
    slot->why = arena_copy(&builder->arena, missing->why);
    slot->help = arena_copy(&builder->arena, missing->help);
    slot->file = arena_copy(&builder->arena, missing->file);
    slot->line = missing->line;
    slot->column = missing->column;
    if (slot->supplier.data == NULL || slot->secret.data == NULL || slot->why.data == NULL || slot->help.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    builder->missing_count++;
    return STATUS_OK;
}

// One secret: that of the name in the settings, else that of its own name.
static enum status write_secret(struct generation_builder *builder, const struct script_supplier *script,
                                const struct settings_account *settings, const struct script_account *account,
                                struct text secret, struct json_writer *writer)
{
    const struct settings_pair *pair =
        settings == NULL ? NULL : pair_of(settings->secrets, settings->secret_count, secret);
    struct text name = pair != NULL ? pair->value : secret;
    struct failure why = { 0 };
    struct text value;
    enum status status = secret_find(builder->settings->secrets_dir, name, &builder->arena, &value, &why);
    if (status == STATUS_OK && !text_is_utf8(value)) {
        status = STATUS_INVALID;
        failure_set(&why, "is not UTF-8");
        failure_help(&why, "write it as UTF-8 text");
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_INVALID) {
        struct missing_secret missing = { .supplier = script->name,
                                          .account = account->name,
                                          .secret = secret,
                                          .why = text_of(why.message),
                                          .help = text_of(why.help),
                                          .file = pair != NULL ? text_of(pair->file) : script->file,
                                          .line = pair != NULL ? pair->line : 0,
                                          .column = pair != NULL ? pair->column : 0 };
        return add_missing(builder, &missing);
    }
    if (status == STATUS_OK) {
        json_key_text(writer, secret);
        json_text(writer, value);
    }
    return status;
}

static enum status write_secrets(struct generation_builder *builder, const struct script_supplier *script,
                                 const struct settings_account *settings, const struct script_account *account,
                                 bool is_wanted, struct json_writer *writer)
{
    enum status status = settings == NULL ? STATUS_OK : find_unknown_secrets(builder, script, settings);
    for (size_t i = 0; i < script->secret_count && is_wanted && status == STATUS_OK; i++) {
        status = write_secret(builder, script, settings, account, script->secrets[i], writer);
    }
    return status;
}

static enum status keep_markets(struct generation_builder *builder, const struct settings_account *settings,
                                struct script_account *account)
{
    account->markets = arena_alloc_array(&builder->arena, settings->market_count + 1, sizeof(*account->markets));
    if (account->markets == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < settings->market_count; i++) {
        account->markets[i] = arena_copy(&builder->arena, settings->markets[i]);
        if (account->markets[i].data == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    account->market_count = settings->market_count;
    return STATUS_OK;
}

enum status generation_make_account(struct generation_builder *builder, const struct script_supplier *script,
                                    const struct settings_account *settings, bool is_wanted,
                                    struct script_account *account)
{
    struct buffer bytes;
    struct json_writer writer;
    enum status status = STATUS_OK;

    account->serial = atomic_fetch_add(&last_serial, 1) + 1;
    account->limits = script->limits;
    account->body_cap = script->body_cap;
    if (settings != NULL) {
        account->limits = request_limits_over(settings->limits, script->limits);
        account->body_cap = settings->body_cap != 0 ? settings->body_cap : script->body_cap;
    }
    account->name = arena_copy(&builder->arena, settings == NULL ? TEXT("main") : settings->name);
    account->kept = arena_alloc(&builder->arena, sizeof(*account->kept));
    if (account->name.data == NULL || account->kept == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (settings != NULL) {
        status = keep_markets(builder, settings, account);
    }
    if (settings != NULL && status == STATUS_OK) {
        status = generation_make_route(builder, script->name, settings, is_wanted, &account->route);
    }
    for (size_t i = 0; i < script->host_count && status == STATUS_OK; i++) {
        status = generation_add_host(builder, account, script->hosts[i]);
    }
    buffer_init(&bytes, CONTEXT_MAX);
    json_writer_init(&writer, &bytes);
    json_begin_object(&writer);
    json_field_text(&writer, "account", account->name);
    json_key(&writer, "options");
    json_begin_object(&writer);
    if (status == STATUS_OK) {
        status = generation_write_options(builder, script, settings, &writer, account);
    }
    json_end_object(&writer);
    json_key(&writer, "secret");
    json_begin_object(&writer);
    if (status == STATUS_OK) {
        status = write_secrets(builder, script, settings, account, is_wanted, &writer);
    }
    json_end_object(&writer);
    json_end_object(&writer);
    if (status == STATUS_OK) {
        account->context = bytes.is_full ? (struct text){ 0 } : arena_copy(&builder->arena, buffer_text(&bytes));
        status = account->context.data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    buffer_fini(&bytes);
    return status;
}
