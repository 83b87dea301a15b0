#include "app/fixture_secret.h"

#include "app/secret.h"
#include "base/redact_pattern.h"

#include <ctype.h>
#include <stdlib.h>

static bool holds(struct text text, const struct redact_secret *secret)
{
    for (size_t i = 0; text.data != NULL && i < text.length; i++) {
        struct text rest = { text.data + i, text.length - i };
        for (size_t j = 0; j < REDACT_PATTERNS; j++) {
            bool is_cut;
            if (redact_pattern_match(&secret->patterns[j], rest, &is_cut) > 0) {
                return true;
            }
        }
    }
    return false;
}

static void find_value(struct fixture *fixture, struct text variable, struct text value)
{
    static const char help[] = "fixtures are shared: put a made-up value there; if it was real, have it changed";
    struct redact_secret *secret = redact_secret_create(value);

    if (secret == NULL) {
        return;
    }
    if (holds(buffer_text(&fixture->bytes), secret)) {
        fixture_find(fixture, NULL, CODE_FIXTURE_SECRET, help, "the value of %.*s stands in it", TEXT_ARGS(variable));
    }
    for (size_t i = 0; i < fixture->exchanges.count; i++) {
        const struct fixture_exchange *exchange = &fixture->exchanges.items[i];
        const struct json_node *response = json_tree_member(exchange->node, "response");
        if (json_tree_member(response, "body_file") != NULL && holds(exchange->body, secret)) {
            fixture_find(fixture, exchange->node, CODE_FIXTURE_SECRET, help, "the value of %.*s stands in its body",
                         TEXT_ARGS(variable));
        }
    }
    free(secret);
}

/// Wherever the process would find it: the environment, or a file of its name in the directory of secrets.
static void find_named(struct fixture *fixture, const struct settings *settings, struct text name)
{
    struct failure why = { .code = CODE_NONE };
    struct arena arena;
    struct text value;

    arena_init(&arena, 2 * SECRET_MAX);
    bool is_found = secret_find(settings->secrets_dir, name, &arena, &value, &why) == STATUS_OK;
    if (is_found && value.length >= FIXTURE_SECRET_MIN && !text_starts_with(value, TEXT("test"))) {
        find_value(fixture, name, value);
    }
    arena_fini(&arena);
}

void fixture_find_secrets(struct fixture *fixture, const struct fixture_subject *subject)
{
    const struct script_supplier *script = subject->script;
    const struct settings *settings = subject->settings;

    for (size_t i = 0; i < script->secret_count; i++) {
        find_named(fixture, settings, script->secrets[i]);
    }
    for (size_t i = 0; i < settings->supplier_count; i++) {
        const struct settings_supplier *supplier = &settings->suppliers[i];
        bool is_its = text_equals(supplier->uses.length > 0 ? supplier->uses : supplier->name, script->name);
        for (size_t j = 0; is_its && j < supplier->account_count; j++) {
            for (size_t k = 0; k < supplier->accounts[j].secret_count; k++) {
                const struct settings_pair *pair = &supplier->accounts[j].secrets[k];
                if (!text_equals(pair->key, pair->value)) {
                    find_named(fixture, settings, pair->value);
                }
            }
        }
    }
}

// ---- made-up ones

static bool is_hexadecimal(struct text value)
{
    bool is_all = value.length >= 8 && value.length % 2 == 0;

    for (size_t i = 0; i < value.length && is_all; i++) {
        is_all = isxdigit((unsigned char)value.data[i]) != 0;
    }
    return is_all;
}

void fixture_test_secret(struct text name, struct text value, struct buffer *out)
{
    static const char DIGITS[] = "7e57";

    if (is_hexadecimal(value)) {
        for (size_t i = 0; i < value.length; i++) {
            buffer_append_byte(out, DIGITS[i % 4]);
        }
        return;
    }
    buffer_append_c(out, "test-");
    for (size_t i = 0; i < name.length; i++) {
        char byte = name.data[i];
        buffer_append_byte(out, byte == '_' ? '-' : (char)tolower((unsigned char)byte));
    }
}
