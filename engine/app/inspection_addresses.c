// Addresses that are written as such, for no name is asked for: what is private and not allowed is refused by every
// request. `localhost` is this machine wherever it is asked for.

#include "app/inspection.h"

#include "io/resolver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/// False: it is a name, or allowed.
static bool is_refused(const struct settings *settings, struct text host)
{
    struct sockaddr_storage address = { 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&address;
    char terminated[INET6_ADDRSTRLEN + 1];

    host = text_equals_nocase(host, TEXT("localhost")) ? TEXT("127.0.0.1") : host;
    if (host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']') {
        host = (struct text){ host.data + 1, host.length - 2 };
    }
    if (host.length >= sizeof(terminated)) {
        return false;
    }
    (void)snprintf(terminated, sizeof(terminated), "%.*s", TEXT_ARGS(host));
    if (inet_pton(AF_INET, terminated, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
    } else if (inet_pton(AF_INET6, terminated, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
    } else {
        return false;
    }
    return !address_is_allowed((const struct sockaddr *)&address, settings->allow_private,
                               settings->allow_private_count);
}

/// The account's settings; NULL: there are none.
static const struct settings_account *settings_of(const struct settings_supplier *supplier, struct text account)
{
    for (size_t i = 0; supplier != NULL && i < supplier->account_count; i++) {
        if (text_equals(supplier->accounts[i].name, account)) {
            return &supplier->accounts[i];
        }
    }
    return NULL;
}

/// Where the host is written: at an option of the account, or in the script.
static struct settings_place place_of(const struct inspection *inspection, size_t index,
                                      const struct settings_account *settings, struct text host)
{
    const struct script_supplier *script = script_set_supplier(inspection->catalogue->set, index);
    struct url_parts parts;

    for (size_t i = 0; settings != NULL && i < settings->option_count; i++) {
        const struct settings_pair *pair = &settings->options[i];
        if (url_split(pair->value, &parts) && text_equals_nocase(parts.host, host)) {
            return (struct settings_place){ pair->file, pair->line, pair->column };
        }
    }
    for (size_t i = 0; i < script->host_count; i++) {
        struct text declared;
        uint16_t port;
        if (host_split(script->hosts[i], &declared, &port) && text_equals_nocase(declared, host)) {
            return inspection_place(inspection, index, "hosts");
        }
    }
    return inspection_place(inspection, index, "options");
}

static void tell(const struct inspection *inspection, struct settings_place place, const char *what, struct text host,
                 struct text supplier)
{
    inspection_tell(inspection, INSPECTION_FINDING, CODE_ADDRESS, place,
                    "allow it where it is meant: network: { allow_private: [ADDRESS/32] }",
                    "%s %.*s of `%.*s` is a private address, and `network.allow_private` does not allow it", what,
                    TEXT_ARGS(host), TEXT_ARGS(supplier));
}

static void inspect_account(const struct inspection *inspection, size_t index, const struct script_account *account)
{
    const struct catalogue_supplier *supplier = &inspection->catalogue->suppliers[index];
    const struct settings_account *settings =
        settings_of(inspection_settings_of(inspection, supplier->name), account->name);
    const struct fetch_route *route = account->route;

    if (route != NULL && route->proxy.data != NULL) { // nobody else is connected to
        if (is_refused(inspection->settings, route->proxy_host)) {
            const struct settings_place place = { settings == NULL ? NULL : settings->file,
                                                  settings == NULL ? 0 : settings->line,
                                                  settings == NULL ? 0 : settings->column };
            tell(inspection, place, "the proxy", route->proxy_host, supplier->name);
        }
        return;
    }
    for (size_t i = 0; i < account->host_count; i++) {
        struct text host;
        uint16_t port;
        if (host_split(account->hosts[i], &host, &port) && is_refused(inspection->settings, host)) {
            tell(inspection, place_of(inspection, index, settings, host), "the host", host, supplier->name);
        }
    }
}

void inspection_run_addresses(const struct inspection *inspection)
{
    const struct catalogue *catalogue = inspection->catalogue;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        const struct settings_supplier *settings = inspection_settings_of(inspection, supplier->name);
        bool is_wanted = settings == NULL || settings->is_enabled; // off for want of a secret it is mended soon
        is_wanted = is_wanted && inspection_is_about(inspection, supplier->name);
        for (size_t j = 0; is_wanted && j < catalogue_account_count(supplier); j++) {
            inspect_account(inspection, i, &supplier->account[j]);
        }
    }
}
