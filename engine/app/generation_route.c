#include "app/generation_builder.h"

#include "io/identity.h"

#include <stdio.h>
#include <string.h>

static enum status take_proxy(struct generation_builder *builder, struct text proxy, struct fetch_route *route)
{
    struct url_parts parts;
    char written[300];

    require(url_split(proxy, &parts)); // checked with the settings
    bool is_ip6 = memchr(parts.host.data, ':', parts.host.length) != NULL;
    snprintf(written, sizeof(written), is_ip6 ? "http://[%.*s]:%u" : "http://%.*s:%u", TEXT_ARGS(parts.host),
             parts.port);
    for (char *c = written; *c != 0; c++) { // names are kept in lower case
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
    route->proxy = arena_copy(&builder->arena, text_of(written));
    if (route->proxy.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    require(url_split(route->proxy, &parts));
    route->proxy_host = parts.host;
    route->proxy_is_literal = parts.is_literal;
    route->proxy_port = parts.port;
    return STATUS_OK;
}

// The files are read once, here: no search waits for them.
static enum status take_identity(struct generation_builder *builder, const struct settings_account *settings,
                                 struct fetch_route *route)
{
    struct failure why = { 0 };
    enum status status = identity_load(settings->certificate_file.data, settings->key_file.data, &builder->arena,
                                       &route->certificate, &route->key, &why);
    if (status == STATUS_INVALID) {
        generation_find(builder, settings->file, settings->line, settings->column, CODE_DATA_FILE, why.help,
                        "account `%.*s`: %s", TEXT_ARGS(settings->name), why.message);
        status = STATUS_OK;
    }
    return status;
}

// The same account with the same certificate and proxy travels the same way in every generation, so that connections
// and TLS sessions are kept over a reload; no two accounts do.
static uint64_t route_id(struct text supplier, const struct settings_account *settings, const struct fetch_route *route)
{
    const struct text parts[] = { supplier, settings->name, route->certificate, route->key, route->proxy };
    uint64_t id = identity_fingerprint(parts, COUNT_OF(parts));
    return id == 0 ? 1 : id; // 0 is the plain way
}

enum status generation_make_route(struct generation_builder *builder, struct text supplier,
                                  const struct settings_account *settings, bool is_wanted,
                                  const struct fetch_route **route)
{
    enum status status = STATUS_OK;

    *route = NULL;
    if (settings->certificate_file.data == NULL && settings->proxy.data == NULL) {
        return STATUS_OK;
    }
    struct fetch_route *made = arena_alloc(&builder->arena, sizeof(*made));
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (settings->proxy.data != NULL) {
        status = take_proxy(builder, settings->proxy, made);
    }
    if (settings->certificate_file.data != NULL && is_wanted && status == STATUS_OK) {
        status = take_identity(builder, settings, made);
    }
    made->id = route_id(supplier, settings, made);
    *route = made;
    return status;
}
