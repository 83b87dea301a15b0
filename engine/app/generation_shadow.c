// The accounts of a shadow: what its supplier's settings make of another script.

#include "app/generation_blame.h"
#include "model/catalogue.h"

/// A secret that only the shadow wants must not switch the supplier off.
static void find_missing(struct generation_builder *builder, const struct script_supplier *script,
                         size_t missing_before)
{
    if (builder->missing_count > missing_before) {
        const struct missing_secret *missing = &builder->missing[missing_before];
        generation_find(builder, script->file.data, 0, 0, CODE_SECRET_MISSING, "set it before the shadow is there",
                        "secret %.*s, which the shadow of `%.*s` wants, %.*s", TEXT_ARGS(missing->secret),
                        TEXT_ARGS(script->name), TEXT_ARGS(missing->why));
        builder->missing_count = missing_before;
    }
}

static enum status make_accounts(struct generation_builder *builder, const struct script_supplier *script, size_t index,
                                 const struct settings_supplier *settings, struct catalogue_supplier *supplier)
{
    size_t count = catalogue_account_count(supplier);
    struct script_account *accounts = arena_alloc_array(&builder->arena, count, sizeof(*accounts));
    enum status status = accounts == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        accounts[i].supplier = (uint32_t)index;
        accounts[i].number = supplier->account[i].number;
        accounts[i].mode = supplier->account[i].mode;
        status = generation_make_account(builder, script, settings == NULL ? NULL : &settings->accounts[i],
                                         supplier->is_enabled, &accounts[i]);
    }
    supplier->shadow = accounts;
    return status;
}

enum status generation_make_shadow(struct generation_builder *builder, const struct settings_supplier *settings,
                                   struct catalogue_supplier *supplier)
{
    ptrdiff_t index = script_set_find_shadow(builder->set, supplier->name);
    size_t missing_before = builder->missing_count;
    size_t findings_before = builder->findings;

    if (index < 0) {
        return STATUS_OK;
    }
    const struct script_supplier *script = script_set_supplier(builder->set, (size_t)index);
    generation_suspect_shadow(builder, supplier->name);
    if (!text_equals(script->product, supplier->product)) {
        generation_find(builder, script->file.data, 0, 0, CODE_SETTING_CONFLICT,
                        "a shadow reads the answers to searches of the same product",
                        "`%.*s` sells %.*s, and its shadow %.*s", TEXT_ARGS(supplier->name),
                        TEXT_ARGS(supplier->product), TEXT_ARGS(script->product));
    }
    enum status status = make_accounts(builder, script, (size_t)index, settings, supplier);
    find_missing(builder, script, missing_before);
    generation_suspect_nobody(builder);
    if (builder->order->fixed != NULL && builder->findings > findings_before) {
        builder->findings = findings_before; // a way back must not fail for it
        supplier->shadow = NULL;
    }
    return status;
}
