// `endpoints` of a supplier, and what its `limits` say of calls that are made a second time.

#include "model/exchange.h"
#include "script/bind_support.h"
#include "script/script_check.h"

#include <lauxlib.h>
#include <string.h>

#define CALL_COST_MAX 1e6

struct extra_check {
    lua_State *L;
    struct script_check *check;
    const struct script_file *file;
    struct script_supplier *supplier;
    const char *name;
    uint32_t line;
};

static void find(const struct extra_check *extra, const char *help, const char *sentence)
{
    script_check_report(extra->check, extra->file, extra->line, CODE_FIELD_VALUE, help, "%s %s", extra->name, sentence);
}

static void take_retry_on(const struct extra_check *extra)
{
    static const char HELP[] = "write a list of statuses, such as { 503, 504 }; {} means none";
    struct extra_terms *terms = &extra->supplier->extra;
    lua_State *L = extra->L;

    (void)bind_unwrap(L, lua_gettop(L));
    if (!lua_istable(L, -1) || lua_objlen(L, -1) > EXTRA_STATUSES_MAX) {
        find(extra, HELP, "is no list of at most 16 statuses");
        return;
    }
    terms->has_retry_on = true;
    size_t count = lua_objlen(L, -1);
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, (int)i);
        double number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
        lua_pop(L, 1);
        if (!(number >= 500 && number <= 599) || number != (double)(uint16_t)number) {
            find(extra, "only a status from 500 to 599 can be worth asking again",
                 "has what is no status of a failure");
            return;
        }
        terms->retry_on[terms->retry_on_count++] = (uint16_t)number;
    }
}

bool script_check_extra_limit(lua_State *L, struct script_check *check, const struct script_file *file,
                              struct script_supplier *supplier, const char *key, uint32_t line)
{
    struct extra_check extra = { L, check, file, supplier, key, script_check_line_of(file, key, line) };

    if (strcmp(key, "hedge") == 0) {
        supplier->extra.may_hedge = lua_toboolean(L, -1) != 0;
        if (!lua_isboolean(L, -1)) {
            find(&extra, "true: a request that is likely to be late may be sent a second time",
                 "must be true or false");
        }
        return true;
    }
    if (strcmp(key, "call_cost") == 0) {
        double cost = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
        supplier->extra.call_cost = cost;
        if (!(cost > 0 && cost <= CALL_COST_MAX)) {
            find(&extra, "write what a request costs, in offers: a number above 0, up to 1000000",
                 "is no number above 0");
        }
        return true;
    }
    if (strcmp(key, "retry_on") == 0) {
        lua_pushvalue(L, -1);
        take_retry_on(&extra);
        lua_pop(L, 1);
        return true;
    }
    return false;
}

/// "https://b.acme.example" and nothing behind it.
static bool is_origin(struct text endpoint, struct url_parts *parts)
{
    return url_split(endpoint, parts) && parts->target.data == NULL;
}

/// Scheme, host and port of a URL: all before its target.
static struct text origin_of(struct text url)
{
    struct url_parts parts;

    if (!url_split(url, &parts)) {
        return (struct text){ NULL, 0 };
    }
    return (struct text){ url.data, parts.target.data != NULL ? (size_t)(parts.target.data - url.data) : url.length };
}

/// Where an endpoint leads is among the supplier's hosts. False: no memory.
static bool add_host(const struct extra_check *extra, struct text endpoint)
{
    struct script_supplier *supplier = extra->supplier;
    struct text host = { strstr(endpoint.data, "://") + 3, 0 };
    host.length = (size_t)(endpoint.data + endpoint.length - host.data);
    struct text *hosts = arena_alloc_array(extra->check->arena, supplier->host_count + 2, sizeof *hosts);

    if (hosts == NULL) {
        return false;
    }
    for (size_t i = 0; i < supplier->host_count; i++) {
        hosts[i] = supplier->hosts[i];
        if (text_equals(hosts[i], host)) {
            return true;
        }
    }
    hosts[supplier->host_count++] = host;
    supplier->hosts = hosts;
    return true;
}

static void take_base_url(const struct extra_check *extra)
{
    lua_State *L = extra->L;
    struct text url = { NULL, 0 };

    lua_getfield(L, 1, "options");
    (void)bind_unwrap(L, lua_gettop(L));
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "base_url");
        if (lua_type(L, -1) == LUA_TSTRING) {
            url.data = lua_tolstring(L, -1, &url.length);
        }
        extra->supplier->extra.origin = url.data != NULL ? arena_copy(extra->check->arena, origin_of(url)) : url;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void script_check_endpoints(lua_State *L, struct script_check *check, const struct script_file *file,
                            struct script_supplier *supplier)
{
    struct extra_check extra = { L, check, file, supplier, "endpoints", script_check_line_of(file, "endpoints", 1) };
    struct url_parts parts;

    lua_getfield(L, 1, "endpoints");
    (void)bind_unwrap(L, lua_gettop(L));
    size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
    if (count > EXTRA_ENDPOINTS_MAX) {
        find(&extra, "name those that are asked first", "has more than 8 items");
        count = 0;
    }
    struct text *endpoints = arena_alloc_array(check->arena, count + 1, sizeof *endpoints);
    for (size_t i = 0; i < count && endpoints != NULL; i++) {
        struct text endpoint = { NULL, 0 };
        lua_rawgeti(L, -1, (int)i + 1);
        if (lua_type(L, -1) == LUA_TSTRING) {
            endpoint.data = lua_tolstring(L, -1, &endpoint.length);
        }
        endpoint = arena_copy(check->arena, endpoint);
        lua_pop(L, 1);
        if (endpoint.data == NULL || !is_origin(endpoint, &parts)) {
            find(&extra, "write scheme and host alone, such as \"https://b.acme.example\"; paths are the request's own",
                 "names what is no origin");
        } else if (add_host(&extra, endpoint)) {
            endpoints[supplier->extra.endpoint_count++] = endpoint;
        }
    }
    supplier->extra.endpoints = endpoints;
    lua_pop(L, 1);
    take_base_url(&extra);
}
