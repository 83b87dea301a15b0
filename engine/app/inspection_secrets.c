// Secrets that nothing can hide: they are shorter than what is looked for.

#include "app/inspection.h"

#include "base/json_tree.h"
#include "base/redact.h"

static void tell_account(const struct inspection *inspection, size_t index, const struct script_account *account)
{
    struct json_node *context = NULL;
    struct arena arena;
    const char *why;
    size_t offset;

    arena_init(&arena, 16 << 20);
    const struct json_node *secrets = json_tree_read(&arena, account->context, &context, &offset, &why) == STATUS_OK
                                          ? json_tree_member(context, "secret")
                                          : NULL;
    for (const struct json_node *at = secrets == NULL ? NULL : secrets->first; at != NULL; at = at->next) {
        if (at->kind == JSON_STRING && at->text.length < REDACT_SECRET_MIN) {
            inspection_tell(
                inspection, INSPECTION_WARNING, CODE_SECRET_SHORT, inspection_place(inspection, index, "secrets"),
                "ask for a longer one; until then it may be read wherever it is repeated",
                "the secret %.*s is shorter than %d bytes, so nothing hides it", TEXT_ARGS(at->key), REDACT_SECRET_MIN);
        }
    }
    arena_fini(&arena);
}

void inspection_run_secrets(const struct inspection *inspection)
{
    const struct catalogue *catalogue = inspection->catalogue;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        bool is_wanted = inspection_is_about(inspection, catalogue->suppliers[i].name);
        for (size_t j = 0; is_wanted && j < catalogue_account_count(&catalogue->suppliers[i]); j++) {
            tell_account(inspection, i, &catalogue->suppliers[i].account[j]);
        }
    }
}
