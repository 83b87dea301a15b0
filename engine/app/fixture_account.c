// An account as generations make them, but for its secrets, which are the fixture's and not the environment's.

#include "app/fixture_run.h"
#include "app/fixture_secret.h"
#include "app/generation_builder.h"

#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { CONTEXT_MAX = 1 << 20, SECRETS_MAX = 64 };

/// A finding of the builder is the fixture's.
static void take_finding(void *context, const struct failure *failure)
{
    struct fixture *fixture = context;
    fixture->findings++;
    fixture->report(fixture->context, failure);
}

/// The options of the fixture, as the settings would have them.
static bool read_options(struct fixture *fixture, struct settings_account *settings)
{
    const struct json_node *object = fixture->options;
    size_t count = object == NULL ? 0 : object->count;

    settings->options = arena_alloc_array(&fixture->arena, count + 1, sizeof(*settings->options));
    if (settings->options == NULL) {
        return false;
    }
    for (const struct json_node *at = object == NULL ? NULL : object->first; at != NULL; at = at->next) {
        struct text bytes = buffer_text(&fixture->bytes);
        struct json_place place = json_place_of(bytes, (size_t)(at->source.data - bytes.data));
        if (at->kind == JSON_BEGIN_OBJECT || at->kind == JSON_BEGIN_ARRAY || at->kind == JSON_NULL) {
            fixture_find(fixture, at, CODE_FIXTURE_FIELD, "", "option `%.*s`: a text, number or flag expected, got %s",
                         TEXT_ARGS(at->key), json_tree_kind(at));
            continue;
        }
        settings->options[settings->option_count++] =
            (struct settings_pair){ .key = arena_copy(&fixture->arena, at->key),
                                    .value = at->kind == JSON_STRING ? at->text : at->source,
                                    .is_plain = at->kind != JSON_STRING,
                                    .file = fixture->path.data,
                                    .line = place.line,
                                    .column = place.column };
    }
    return true;
}

static bool is_secret(const struct script_supplier *script, struct text name)
{
    bool is_known = false;

    for (size_t i = 0; i < script->secret_count && !is_known; i++) {
        is_known = text_equals(script->secrets[i], name);
    }
    return is_known;
}

struct hint {
    char text[160];
};

static struct hint nearest_secret(const struct script_supplier *script, struct text name)
{
    struct hint hint = { "its `secrets` are in the script's table; `lastcall test --update` takes them" };
    const char *names[SECRETS_MAX];
    size_t count = 0;

    for (; count < script->secret_count && count < SECRETS_MAX; count++) {
        names[count] = script->secrets[count].data;
    }
    const char *nearest = text_nearest(name, names, count);
    if (nearest != NULL) {
        (void)snprintf(hint.text, sizeof(hint.text), "did you mean `%s`?", nearest);
    }
    return hint;
}

/// The names of the script, with the values that the fixture has for them and made-up ones for those that it lacks;
/// where that differs, it is written.
static void renew_secrets(struct fixture *fixture, const struct script_supplier *script, struct json_writer *json)
{
    const struct json_node *given = fixture->secrets;
    size_t kept = 0;
    struct buffer made;

    buffer_init(&made, CONTEXT_MAX);
    buffer_append_byte(&made, '{');
    json_begin_object(json);
    for (size_t i = 0; i < script->secret_count; i++) {
        const struct json_node *secret = json_tree_member_text(given, script->secrets[i]);
        bool is_there = secret != NULL && secret->kind == JSON_STRING;
        struct buffer value;
        buffer_init(&value, CONTEXT_MAX);
        if (!is_there) {
            fixture_test_secret(script->secrets[i], TEXT(""), &value);
        }
        struct text word = is_there ? secret->text : buffer_text(&value);
        json_key_text(json, script->secrets[i]);
        json_text(json, word);
        buffer_printf(&made, "%s \"%.*s\": ", i > 0 ? "," : "", TEXT_ARGS(script->secrets[i]));
        struct json_writer one;
        json_writer_init(&one, &made);
        json_text(&one, word);
        kept += is_there;
        buffer_fini(&value);
    }
    json_end_object(json);
    buffer_append_c(&made, script->secret_count > 0 ? " }" : "}");
    bool is_same = kept == script->secret_count && (given == NULL || given->count == kept);
    if (!is_same && given != NULL) {
        fixture_edit(fixture, given, buffer_text(&made));
    } else if (!is_same) {
        fixture_add_member(fixture, fixture->root, "secrets", buffer_text(&made));
    }
    buffer_fini(&made);
}

static void write_secrets(struct fixture *fixture, const struct script_supplier *script, struct json_writer *json)
{
    const struct json_node *given = fixture->secrets;

    if (fixture->is_updating) {
        renew_secrets(fixture, script, json);
        return;
    }
    json_begin_object(json);
    for (size_t i = 0; i < script->secret_count; i++) {
        const struct json_node *secret = json_tree_member_text(given, script->secrets[i]);
        if (secret == NULL || secret->kind != JSON_STRING) {
            fixture_find(fixture,
                         secret != NULL  ? secret
                         : given != NULL ? given
                                         : fixture->root,
                         CODE_SECRET_MISSING,
                         "a fixture brings its own: \"secrets\": { \"NAME\": \"test-key\" }; `lastcall test --update` "
                         "makes one up",
                         "secret `%.*s` is %s", TEXT_ARGS(script->secrets[i]), secret == NULL ? "missing" : "no text");
            continue;
        }
        json_key_text(json, secret->key);
        json_text(json, secret->text);
    }
    json_end_object(json);
    for (const struct json_node *at = given == NULL ? NULL : given->first; at != NULL; at = at->next) {
        if (!is_secret(script, at->key)) {
            struct hint help = nearest_secret(script, at->key);
            fixture_find(fixture, at, CODE_FIXTURE_FIELD, help.text, "the script declares no secret `%.*s`",
                         TEXT_ARGS(at->key));
        }
    }
}

/// The context that was made, with the fixture's secrets in place of none.
static struct text write_context(struct fixture *fixture, const struct script_supplier *script, struct text made)
{
    struct json_node *root;
    struct json_writer json;
    struct buffer out;
    size_t offset;
    const char *why;
    struct text context = { 0 };

    if (json_tree_read(&fixture->arena, made, &root, &offset, &why) != STATUS_OK) {
        return context;
    }
    buffer_init(&out, CONTEXT_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    for (const struct json_node *at = root->first; at != NULL; at = at->next) {
        json_key_text(&json, at->key);
        if (text_equals(at->key, TEXT("secret"))) {
            write_secrets(fixture, script, &json);
        } else {
            json_raw(&json, at->source);
        }
    }
    json_end_object(&json);
    context = arena_copy(&fixture->arena, buffer_text(&out));
    buffer_fini(&out);
    return context;
}

const struct script_account *fixture_account(struct fixture *fixture, const struct fixture_subject *subject)
{
    struct generation_builder builder = { .settings = subject->settings, .report = take_finding, .context = fixture };
    struct settings_account settings = { .name = TEXT("main"), .file = fixture->path.data };
    struct script_account *account = arena_alloc(&fixture->arena, sizeof(*account));
    size_t before = fixture->findings;

    arena_init(&builder.arena, CONTEXT_MAX);
    bool is_made = account != NULL && read_options(fixture, &settings) &&
                   generation_make_account(&builder, subject->script, &settings, false, account) == STATUS_OK;
    if (is_made) {
        account->supplier = (uint32_t)subject->index;
        account->login = subject->script->logs_in ? 1 : 0;
        account->context = write_context(fixture, subject->script, account->context);
        account->name = TEXT("main");
        account->markets = NULL;
        account->kept = NULL;
        struct text *hosts = arena_alloc_array(&fixture->arena, account->host_count + 1, sizeof(*hosts));
        for (size_t i = 0; i < account->host_count && hosts != NULL; i++) {
            hosts[i] = arena_copy(&fixture->arena, account->hosts[i]);
        }
        account->hosts = hosts;
        is_made = account->context.data != NULL && hosts != NULL;
    }
    arena_fini(&builder.arena);
    if (!is_made && fixture->findings == before) {
        fixture_find(fixture, NULL, CODE_NONE, "", "there is no memory for its account");
    }
    return fixture->findings == before ? account : NULL;
}
