#include "app/generation_builder.h"
#include "app/settings_apply.h"
#include "model/catalogue.h"

#include <stdatomic.h>

enum { CONTEXT_MAX = 1024 * 1024 };

static atomic_uint_fast64_t last_serial;

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
    if (builder->settings->tokens_are_on && script->revalidates) {
        account->limits.kept_share = (uint32_t)builder->settings->revalidation_quota_share;
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
        status = generation_write_secrets(builder, script, settings, account, is_wanted, &writer);
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
