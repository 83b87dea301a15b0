// What has to stand in the settings so that an engine asks the mock. Strings in JSON spelling are YAML, too.

#include "app/mock_internal.h"

#include "base/json_write.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { RANGE_SIZE = INET6_ADDRSTRLEN + 8, V4_MAPPED_BITS = 96 };

static void write_quoted(struct buffer *out, struct text text)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_text(&json, text);
}

static void write_range(struct buffer *out, const struct address_range *range)
{
    char address[INET6_ADDRSTRLEN] = "";
    bool is_v4 = IN6_IS_ADDR_V4MAPPED(&range->network) && range->prefix >= V4_MAPPED_BITS;

    if (is_v4) {
        (void)inet_ntop(AF_INET, range->network.s6_addr + 12, address, sizeof(address));
    } else {
        (void)inet_ntop(AF_INET6, &range->network, address, sizeof(address));
    }
    buffer_printf(out, "\"%s/%u\"", address, (unsigned)range->prefix - (is_v4 ? V4_MAPPED_BITS : 0U));
}

/// The addresses of the doors, beside what is allowed already: a list of a later file takes the place of an earlier
/// one.
static void write_network(const struct mock *mock, const char *const *urls, const char *ca_file, struct buffer *out)
{
    struct text before = { 0 };

    buffer_printf(out, "network:\n  allow_private: [");
    for (size_t i = 0; i < mock->settings->allow_private_count; i++) {
        write_range(out, &mock->settings->allow_private[i]);
        buffer_append_c(out, ", ");
    }
    for (size_t i = 0; i < mock->door_count; i++) {
        struct url_parts parts;
        if (url_split(text_of(urls[i]), &parts) && !text_equals(parts.host, before)) {
            buffer_printf(out, "%s\"%.*s/32\"", before.data == NULL ? "" : ", ", TEXT_ARGS(parts.host));
            before = parts.host;
        }
    }
    buffer_append_c(out, "]\n");
    if (ca_file != NULL) {
        buffer_append_c(out, "  ca_file: ");
        write_quoted(out, text_of(ca_file));
        buffer_append_byte(out, '\n');
    }
}

/// `NAME: { options: { base_url: "…" } }`
static void write_account(const struct mock_supplier *supplier, struct text name, const char *const *urls,
                          struct buffer *out)
{
    buffer_printf(out, "      %.*s: { options: {", TEXT_ARGS(name));
    for (size_t i = 0; i < supplier->option_count; i++) {
        const struct mock_option *option = &supplier->options[i];
        struct buffer url;
        buffer_init(&url, (size_t)1 << 16);
        buffer_printf(&url, "%s%.*s", urls[option->door], TEXT_ARGS(option->path));
        buffer_printf(out, "%s %.*s: ", i == 0 ? "" : ",", TEXT_ARGS(option->key));
        write_quoted(out, buffer_text(&url));
        buffer_fini(&url);
    }
    buffer_append_c(out, " } }\n");
}

/// The supplier of whose file this one is; NULL: it is not played.
static const struct mock_supplier *played_as(const struct mock *mock, const struct script_supplier *script)
{
    const struct mock_supplier *found = NULL;

    for (size_t i = 0; i < mock->supplier_count && found == NULL; i++) {
        const struct mock_supplier *supplier = mock->suppliers[i];
        if (supplier->option_count > 0 && text_equals(supplier->script->file, script->file)) {
            found = supplier;
        }
    }
    return found;
}

static void write_supplier(const struct mock *mock, const struct script_supplier *script, const char *const *urls,
                           struct buffer *out)
{
    const struct mock_supplier *supplier = played_as(mock, script);
    const struct settings_supplier *settings = mock_settings_of(mock->settings, script->name);
    bool is_own = supplier != NULL && supplier->script == script;

    if (supplier == NULL) {
        buffer_printf(out, "  %.*s: { enabled: false, because: \"not played by the mock\" }\n",
                      TEXT_ARGS(script->name));
        return;
    }
    buffer_printf(out, "  %.*s:\n", TEXT_ARGS(script->name));
    if (is_own && supplier->is_named) {
        buffer_append_c(out, "    enabled: true\n");
    }
    buffer_append_c(out, "    accounts:\n");
    for (size_t i = 0; settings != NULL && i < settings->account_count; i++) {
        write_account(supplier, settings->accounts[i].name, urls, out);
    }
    if (settings == NULL || settings->account_count == 0) {
        write_account(supplier, TEXT("main"), urls, out);
    }
}

void mock_write_settings(const struct mock *mock, const char *const *urls, const char *ca_file, struct buffer *out)
{
    const struct script_set *set = mock->catalogue->set;

    buffer_append_c(
        out, "# Leads suppliers to `lastcall mock`; written by it. Read it behind the settings it was started by:\n"
             "#     lastcall serve -c lastcall.yaml -c THIS_FILE\n");
    write_network(mock, urls, ca_file, out);
    buffer_append_c(out, "suppliers:\n");
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        write_supplier(mock, script_set_supplier(set, i), urls, out);
    }
}

// ---- secrets

/// A fixture's value of it, one of ok-… if there is one.
static struct text value_of(const struct mock_supplier *supplier, struct text secret)
{
    struct text value = { 0 };

    for (int good = 1; good >= 0; good--) {
        for (size_t i = 0; i < supplier->fixture_count && value.data == NULL; i++) {
            const struct fixture *fixture = supplier->fixtures[i];
            const struct json_node *node = json_tree_member_text(fixture->secrets, secret);
            if (node != NULL && node->kind == JSON_STRING && (int)fixture->must_not_fail == good) {
                value = node->text;
            }
        }
    }
    return value;
}

static void write_export(struct buffer *out, struct text variable, struct text value)
{
    buffer_printf(out, "export %.*s='", TEXT_ARGS(variable));
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] == '\'') {
            buffer_append_c(out, "'\\''");
        } else {
            buffer_append_byte(out, value.data[i]);
        }
    }
    buffer_append_c(out, "'\n");
}

/// What to do with a variable of a played supplier.
typedef void (*take_variable)(struct buffer *out, struct text variable, struct text value);

/// The variables that accounts of a script's suppliers read a secret from, each once.
static size_t each_variable(const struct mock *mock, const struct mock_supplier *supplier, struct text secret,
                            take_variable take, struct buffer *out)
{
    enum { SEEN_MAX = 64 };
    struct text seen[SEEN_MAX];
    size_t count = 0;

    seen[count++] = secret; // the one of accounts that say nothing else
    for (size_t i = 0; i < mock->settings->supplier_count; i++) {
        const struct settings_supplier *settings = &mock->settings->suppliers[i];
        if (!text_equals(settings->uses, supplier->script->name)) {
            continue;
        }
        for (size_t j = 0; j < settings->account_count; j++) {
            const struct settings_account *account = &settings->accounts[j];
            for (size_t k = 0; k < account->secret_count && count < SEEN_MAX; k++) {
                if (text_equals(account->secrets[k].key, secret)) {
                    seen[count++] = account->secrets[k].value;
                }
            }
        }
    }
    struct text value = value_of(supplier, secret);
    size_t taken = 0;
    for (size_t i = 0; i < count && value.data != NULL; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i; j++) {
            is_new = is_new && !text_equals(seen[i], seen[j]);
        }
        if (is_new) {
            take(out, seen[i], value);
            taken++;
        }
    }
    return taken;
}

static size_t each_secret(const struct mock *mock, take_variable take, struct buffer *out)
{
    size_t count = 0;

    for (size_t i = 0; i < mock->supplier_count; i++) {
        const struct mock_supplier *supplier = mock->suppliers[i];
        for (size_t j = 0; supplier->option_count > 0 && j < supplier->script->secret_count; j++) {
            count += each_variable(mock, supplier, supplier->script->secrets[j], take, out);
        }
    }
    return count;
}

static void write_name(struct buffer *out, struct text variable, struct text value)
{
    (void)value;
    buffer_printf(out, "%s%.*s", out->length == 0 ? "" : ", ", TEXT_ARGS(variable));
}

size_t mock_write_secrets(const struct mock *mock, struct buffer *out)
{
    return each_secret(mock, write_export, out);
}

void mock_tell_secrets(const struct mock *mock, struct buffer *out)
{
    (void)each_secret(mock, write_name, out);
}
