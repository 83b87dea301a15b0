// The secrets of an account. One that cannot be found any more while the engine runs is kept, as a table is, and nobody
// who ran is off without a word.

#include "app/generation_blame.h"
#include "app/secret.h"
#include "app/settings_apply.h"
#include "base/json_read.h"
#include "model/catalogue.h"

#include <stdio.h>
#include <string.h>

static const struct settings_pair *pair_of(const struct settings_pair *pairs, size_t count, struct text key)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals(pairs[i].key, key)) {
            return &pairs[i];
        }
    }
    return NULL;
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
            generation_find(builder, pair->file, pair->line, pair->column, CODE_SETTING_UNKNOWN, help,
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

// ---- kept

// Where the settings that run find the secret of an account; NULL: under its own name.
static const struct settings_pair *pair_before(const struct generation_builder *builder, struct text supplier,
                                               struct text account, struct text secret)
{
    const struct settings *settings = generation_settings(builder->order->previous);
    for (size_t i = 0; i < settings->supplier_count; i++) {
        const struct settings_supplier *found = &settings->suppliers[i];
        for (size_t j = 0; text_equals(found->name, supplier) && j < found->account_count; j++) {
            if (text_equals(found->accounts[j].name, account)) {
                return pair_of(found->accounts[j].secrets, found->accounts[j].secret_count, secret);
            }
        }
    }
    return NULL;
}

static const struct catalogue_supplier *supplier_before(const struct generation_builder *builder, struct text name)
{
    for (size_t i = 0; builder->previous != NULL && i < builder->previous->supplier_count; i++) {
        if (text_equals(builder->previous->suppliers[i].name, name)) {
            return &builder->previous->suppliers[i];
        }
    }
    return NULL;
}

static const struct script_account *account_before(const struct generation_builder *builder, struct text supplier,
                                                   struct text account)
{
    const struct catalogue_supplier *found = supplier_before(builder, supplier);
    for (size_t i = 0; found != NULL && i < found->account_count; i++) {
        if (text_equals(found->account[i].name, account)) {
            return &found->account[i];
        }
    }
    return NULL;
}

// The value in the context of an account, for a while; absent: it has no such secret.
static struct text value_before(const struct script_account *account, struct text secret, struct buffer *scratch)
{
    struct json_reader reader;
    bool is_inside = false;

    json_reader_init(&reader, account->context);
    if (json_next(&reader) != JSON_BEGIN_OBJECT) {
        return (struct text){ 0 };
    }
    while (json_next(&reader) == JSON_KEY) {
        buffer_clear(scratch);
        bool is_it = text_equals(json_unescape(&reader, scratch), is_inside ? secret : TEXT("secret"));
        enum json_token token = json_next(&reader);
        if (is_it && is_inside && token == JSON_STRING) {
            buffer_clear(scratch);
            return json_unescape(&reader, scratch);
        }
        is_inside = is_it && token == JSON_BEGIN_OBJECT;
        if (!is_inside && !json_skip(&reader, token)) {
            break;
        }
    }
    return (struct text){ 0 };
}

// One row a supplier, of the first that is kept.
static void tell_kept(struct generation_builder *builder, const struct script_supplier *script,
                      const struct failure *kept)
{
    generation_tell(builder, kept);
    for (size_t i = 0; builder->changes != NULL && i < builder->changes->count; i++) {
        const struct script_change *change = &builder->changes->items[i];
        if (change->kind == SCRIPT_KIND_SECRETS && text_equals(change->name, script->name)) {
            return;
        }
    }
    generation_tell_change(builder, SCRIPT_KIND_SECRETS, script->name, script->file, SCRIPT_KEPT, kept);
}

// The value that runs goes on where the settings still look for the secret at the same place: it is being written, or
// was taken away by mistake. Whoever wants the supplier off says so in the settings.
static bool keep_secret(struct generation_builder *builder, const struct script_supplier *script,
                        const struct script_account *account, struct text secret, const struct settings_pair *pair,
                        const struct failure *why, struct json_writer *writer)
{
    const struct script_account *before = account_before(builder, script->name, account->name);
    if (before == NULL) {
        return false;
    }
    const struct settings_pair *old = pair_before(builder, script->name, account->name, secret);
    if ((old == NULL) != (pair == NULL) || (old != NULL && !text_equals(old->value, pair->value))) {
        return false;
    }
    struct buffer scratch;
    buffer_init(&scratch, (size_t)8 * SECRET_MAX); // escaped, at the most
    struct text value = value_before(before, secret, &scratch);
    bool is_kept = value.data != NULL;
    if (is_kept) {
        struct failure kept = { 0 };
        failure_at(&kept, pair != NULL ? pair->file : script->file.data, pair != NULL ? pair->line : 0,
                   pair != NULL ? pair->column : 0);
        failure_code(&kept, CODE_SECRET_MISSING);
        failure_set(&kept, "account `%.*s`: secret %.*s %s", TEXT_ARGS(account->name), TEXT_ARGS(secret), why->message);
        failure_help(&kept, "%s", why->help);
        json_key_text(writer, secret);
        json_text(writer, value);
        tell_kept(builder, script, &kept);
    }
    if (scratch.data != NULL) {
        explicit_bzero(scratch.data, scratch.length);
    }
    buffer_fini(&scratch);
    return is_kept;
}

// ---- off

void generation_tell_off(struct generation_builder *builder, const struct script_supplier *script,
                         const struct catalogue_supplier *supplier, const struct missing_secret *missing)
{
    const struct catalogue_supplier *before = supplier_before(builder, supplier->name);
    struct failure why = { 0 };

    if (builder->previous == NULL ||
        (before != NULL && !before->is_enabled && text_equals(before->because, supplier->because))) {
        return;
    }
    failure_at(&why, missing->file.data, missing->line, missing->column);
    failure_code(&why, CODE_SECRET_MISSING);
    failure_set(&why, "account `%.*s`: secret %.*s %.*s", TEXT_ARGS(missing->account), TEXT_ARGS(missing->secret),
                TEXT_ARGS(missing->why));
    failure_help(&why, "%.*s", TEXT_ARGS(missing->help));
    generation_tell(builder, &why);
    bool was_on = before != NULL && before->is_enabled;
    if (!was_on || !generation_blame(builder, &why)) {
        generation_tell_change(builder, SCRIPT_KIND_SECRETS, script->name, script->file, SCRIPT_LEFT_OUT, &why);
    }
}

// ---- all

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
        if (keep_secret(builder, script, account, secret, pair, &why, writer)) {
            return STATUS_OK;
        }
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

enum status generation_write_secrets(struct generation_builder *builder, const struct script_supplier *script,
                                     const struct settings_account *settings, const struct script_account *account,
                                     bool is_wanted, struct json_writer *writer)
{
    enum status status = settings == NULL ? STATUS_OK : find_unknown_secrets(builder, script, settings);
    for (size_t i = 0; i < script->secret_count && is_wanted && status == STATUS_OK; i++) {
        status = write_secret(builder, script, settings, account, script->secrets[i], writer);
    }
    return status;
}
