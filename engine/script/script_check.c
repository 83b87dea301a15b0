// Lua keeps no line of a table's field, so the line of a finding is where the source first assigns a field of that
// name.

#include "script/script_check.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/ceiling_check.h"
#include "script/check_job.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/sells.h"

#include "script/trouble.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHECK_LIST_MAX = 64 };

enum check_need { CHECK_OPTIONAL, CHECK_REQUIRED, CHECK_UNSUPPORTED };

struct check_field {
    const char *name;
    int type; // LUA_T…
    enum check_need need;
};

static const struct check_field supplier_fields[] = {
    { "name", LUA_TSTRING, CHECK_REQUIRED },
    { "product", LUA_TSTRING, CHECK_REQUIRED },
    { "owner", LUA_TSTRING, CHECK_REQUIRED },
    { "hosts", LUA_TTABLE, CHECK_REQUIRED },
    { "build_request", LUA_TFUNCTION, CHECK_REQUIRED },
    { "normalise", LUA_TFUNCTION, CHECK_REQUIRED },
    { "display_name", LUA_TSTRING, CHECK_OPTIONAL },
    { "docs", LUA_TSTRING, CHECK_OPTIONAL },
    { "secrets", LUA_TTABLE, CHECK_OPTIONAL },
    { "options", LUA_TTABLE, CHECK_OPTIONAL },
    { "limits", LUA_TTABLE, CHECK_OPTIONAL },
    { "wants", LUA_TTABLE, CHECK_OPTIONAL },
    { "skip", LUA_TFUNCTION, CHECK_OPTIONAL },
    { "ceiling", LUA_TFUNCTION, CHECK_OPTIONAL },
    { "sells", LUA_TTABLE, CHECK_OPTIONAL },
    { "endpoints", LUA_TTABLE, CHECK_OPTIONAL },
    { "sign", LUA_TFUNCTION, CHECK_OPTIONAL },
    { "login", LUA_TTABLE, CHECK_OPTIONAL },
    { "revalidate", LUA_TTABLE, CHECK_OPTIONAL },
};

static const struct check_field product_fields[] = {
    { "name", LUA_TSTRING, CHECK_REQUIRED },
    { "query", LUA_TFUNCTION, CHECK_REQUIRED },
    { "offer", LUA_TNIL, CHECK_REQUIRED }, // its shape is the schema's affair
    { "item_prefix", LUA_TSTRING, CHECK_OPTIONAL },
    { "key", LUA_TNIL, CHECK_OPTIONAL }, // these have checks of their own
    { "segments", LUA_TNIL, CHECK_OPTIONAL },
    { "example", LUA_TNIL, CHECK_OPTIONAL },
};

static const char *const revalidate_names[] = { "build_request", "read" };

struct text script_check_basename(struct text path)
{
    for (size_t i = path.length; i > 0; i--) {
        if (path.data[i - 1] == '/') {
            path = (struct text){ path.data + i, path.length - i };
            break;
        }
    }
    if (path.length > 4 && memcmp(path.data + path.length - 4, ".lua", 4) == 0) {
        path.length -= 4;
    }
    return path;
}

uint64_t script_check_limit_us(const struct script_check *check)
{
    return check->run_us != 0 ? check->run_us : SCRIPT_CHECK_RUN_US;
}

void script_check_report(struct script_check *check, const struct script_file *file, uint32_t line, enum code code,
                         const char *help, const char *format, ...)
{
    struct failure failure = { .code = code, .line = line };
    va_list arguments;

    snprintf(failure.file, sizeof failure.file, "%.*s", TEXT_ARGS(file->path));
    va_start(arguments, format);
    vsnprintf(failure.message, sizeof failure.message, format, arguments);
    va_end(arguments);
    if (help != NULL) {
        snprintf(failure.help, sizeof failure.help, "%s", help);
    } else {
        trouble_part_help(&failure);
    }
    check->findings++;
    check->report(check->context, &failure);
}

static bool check_is_word(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/// Does the source say `word =` at `at`?
static bool check_assigns_at(struct text source, size_t at, struct text word)
{
    if (at + word.length > source.length || memcmp(source.data + at, word.data, word.length) != 0 ||
        (at > 0 && check_is_word(source.data[at - 1]))) {
        return false;
    }
    size_t next = at + word.length;
    while (next < source.length && (source.data[next] == ' ' || source.data[next] == '\t')) {
        next++;
    }
    return next < source.length && source.data[next] == '=' &&
           (next + 1 == source.length || source.data[next + 1] != '=');
}

uint32_t script_check_line_of(const struct script_file *file, const char *word, uint32_t first)
{
    struct text wanted = text_of(word);
    uint32_t line = 1;

    for (size_t i = 0; i < file->source.length; i++) {
        if (file->source.data[i] == '\n') {
            line++;
        } else if (line >= first && check_assigns_at(file->source, i, wanted)) {
            return line;
        }
    }
    return 0;
}

static const char *check_nearest_field(const char *word, const struct check_field *fields, size_t count)
{
    const char *names[CHECK_LIST_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
    }
    return text_nearest(text_of(word), names, count);
}

/// A value and the article that its type's name takes.
static const char *check_type_words(int type)
{
    return type == LUA_TSTRING ? "a string" : type == LUA_TTABLE ? "a table" : "a function";
}

/// Tables of functions are called where they stand, so they are made in the file itself.
static bool check_holds_functions(const char *name)
{
    return strcmp(name, "login") == 0 || strcmp(name, "revalidate") == 0;
}

/// How a field is written, for the remedy; NULL: there is nothing to say.
static const char *check_example(const char *name)
{
    static const struct {
        const char *name, *example;
    } examples[] = {
        { "name", "such as name = \"acme\", the file's own" },
        { "product", "such as product = \"flights\"" },
        { "owner", "such as owner = \"flights@example.com\": whom to write to" },
        { "hosts", "such as hosts = { \"api.acme.example\" }" },
        { "secrets", "such as secrets = { \"ACME_KEY\" }" },
        { "options", "such as options = { base_url = \"https://api.acme.example\" }" },
        { "limits", "such as limits = { rps = 40, body = \"2MiB\" }" },
        { "sells", "such as sells = { trip_types = { \"one_way\" }, max_party = 9 }" },
        { "wants", "such as wants = { \"client\" }" },
        { "build_request", "such as build_request = function(search, ctx) return { path = \"/search\" } end" },
        { "normalise", "such as normalise = plan { each = \"offers[]\", offer = { … } }, or a function" },
        { "ceiling", "such as ceiling = function(search, progress) return 1200 end" },
        { "skip", "such as skip = function(search) return nil end: a reason to leave it out, or nil" },
        { "sign", "such as sign = function(request, ctx) return { [\"x-signature\"] = … } end" },
        { "login", "a table { build_request = …, read = … }, made here; what a module gives goes into it by name" },
        { "revalidate",
          "a table { build_request = …, read = … }, made here; what a module gives goes into it by name" },
    };
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        if (strcmp(examples[i].name, name) == 0) {
            return examples[i].example;
        }
    }
    return NULL;
}

/// The field of the file's table; of a list or map that a module gave, which is read-only, what is behind it.
static void check_get_field(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    (void)bind_unwrap(L, lua_gettop(L));
}

static void check_known_field(lua_State *L, struct check_job *job, const struct check_field *field)
{
    if (field->type == LUA_TTABLE && !check_holds_functions(field->name)) {
        check_get_field(L, field->name);
    } else {
        lua_getfield(L, 1, field->name);
    }
    int type = lua_type(L, -1);
    if (type == LUA_TNIL) {
        if (field->need == CHECK_REQUIRED) {
            script_check_report(job->check, job->file, script_check_line_of(job->file, "name", 1), CODE_FIELD_MISSING,
                                check_example(field->name), "field `%s` is missing", field->name);
        }
    } else if (field->need == CHECK_UNSUPPORTED) {
        script_check_report(job->check, job->file, script_check_line_of(job->file, field->name, 1), CODE_FIELD_UNKNOWN,
                            "leave it out", "field `%s` is not supported by this version", field->name);
    } else if (field->type != LUA_TNIL && type != field->type) {
        script_check_report(job->check, job->file, script_check_line_of(job->file, field->name, 1), CODE_FIELD_TYPE,
                            check_example(field->name), "field `%s` must be %s, not a %s", field->name,
                            check_type_words(field->type), lua_typename(L, type));
    }
    lua_pop(L, 1);
}

/// Reports unknown and missing fields and wrong types of the table at index 1.
static void check_fields(lua_State *L, struct check_job *job, const struct check_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_known_field(L, job, &fields[i]);
    }
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        lua_pop(L, 1);
        const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
        bool is_known = false;
        for (size_t i = 0; key != NULL && i < count; i++) {
            is_known = is_known || strcmp(key, fields[i].name) == 0;
        }
        if (is_known) {
            continue;
        }
        if (key == NULL) {
            script_check_report(job->check, job->file, 0, CODE_FIELD_UNKNOWN, NULL,
                                "the table has an item without a name");
            continue;
        }
        char help[128] = "nobody reads it: take it out; suppliers/README.md lists the fields";
        const char *nearest = check_nearest_field(key, fields, count);
        if (nearest != NULL) {
            snprintf(help, sizeof help, "did you mean `%s`?", nearest);
        }
        script_check_report(job->check, job->file, script_check_line_of(job->file, key, 1), CODE_FIELD_UNKNOWN, help,
                            "unknown field `%s`", key);
    }
}

static void check_name(lua_State *L, struct check_job *job)
{
    struct text wanted = script_check_basename(job->file->path);

    lua_getfield(L, 1, "name");
    if (lua_type(L, -1) == LUA_TSTRING && !text_equals_c(wanted, lua_tostring(L, -1))) {
        script_check_report(job->check, job->file, script_check_line_of(job->file, "name", 1), CODE_SUPPLIER_NAME,
                            "rename one of the two: they are the same word",
                            "name is \"%s\", but the file says \"%.*s\"", lua_tostring(L, -1), TEXT_ARGS(wanted));
    }
    lua_pop(L, 1);
}

/// A copy of field `name` when it is a string.
static struct text check_copy_field(lua_State *L, struct arena *arena, const char *name)
{
    struct text text = { NULL, 0 };
    lua_getfield(L, 1, name);
    if (lua_type(L, -1) == LUA_TSTRING) {
        text.data = lua_tolstring(L, -1, &text.length);
        text = arena_copy(arena, text);
    }
    lua_pop(L, 1);
    return text;
}

/// What `lastcall new` made up is no answer to whom or where to ask.
static void check_made(lua_State *L, struct check_job *job)
{
    struct text name = script_check_basename(job->file->path);
    struct text docs = check_copy_field(L, job->check->arena, "docs");
    struct text owner = check_copy_field(L, job->check->arena, "owner");
    char made[SCRIPT_MADE_SIZE];

    job->supplier->has_docs = docs.length > 0;
    (void)snprintf(made, sizeof made, SCRIPT_MADE_DOCS, TEXT_ARGS(name));
    job->supplier->has_made_docs = text_equals_c(docs, made);
    (void)snprintf(made, sizeof made, SCRIPT_MADE_OWNER, TEXT_ARGS(name));
    job->supplier->has_made_owner = text_equals_c(owner, made);
}

static bool check_is_host(struct text host)
{
    struct text rest;
    if (host.length > 2 && host.data[0] == '[') {
        struct text inner = { host.data + 1, host.length - 1 };
        struct text literal = text_split(inner, ']', &rest);
        bool is_closed = literal.length < inner.length;
        return is_closed && strspn(literal.data, "0123456789abcdef:.") >= literal.length;
    }
    struct text name = text_split(host, ':', &rest);
    if (name.length == 0 || name.length > 253 || name.data[0] == '.' || name.data[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < name.length; i++) {
        char byte = name.data[i];
        bool is_good = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
        if (!is_good) {
            return false;
        }
    }
    uint64_t port;
    return rest.data == NULL || (text_to_u64(rest, &port) && port > 0 && port < 65536);
}

static bool check_is_want(struct text want)
{
    return text_equals(want, TEXT("client"));
}

static bool check_is_secret(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (!check_is_word(name.data[i])) {
            return false;
        }
    }
    return name.length > 0;
}

/// Copies the list of strings in field `name`; each must pass `is_good`.
static void check_list(lua_State *L, struct check_job *job, const char *name, bool (*is_good)(struct text),
                       const char *expected, struct text **items, size_t *count)
{
    check_get_field(L, name);
    if (!lua_istable(L, -1)) {
        lua_pop(L, 1);
        return;
    }
    uint32_t line = script_check_line_of(job->file, name, 1);
    size_t length = lua_objlen(L, -1);
    struct text *list = arena_alloc_array(job->check->arena, length + 1, sizeof *list);
    if (length > CHECK_LIST_MAX || list == NULL) {
        script_check_report(job->check, job->file, line, CODE_FIELD_VALUE, NULL, "`%s` has more than %d items", name,
                            CHECK_LIST_MAX);
        lua_pop(L, 1);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        struct text item = { NULL, 0 };
        lua_rawgeti(L, -1, (int)i + 1);
        if (lua_type(L, -1) == LUA_TSTRING) {
            item.data = lua_tolstring(L, -1, &item.length);
        }
        if (item.data == NULL || !is_good(item)) {
            script_check_report(job->check, job->file, line, CODE_FIELD_VALUE, NULL, "%s[%zu] must be %s", name, i + 1,
                                expected);
        }
        list[i] = arena_copy(job->check->arena, item);
        lua_pop(L, 1);
    }
    *items = list;
    *count = length;
    lua_pop(L, 1);
}

static void check_options(lua_State *L, struct check_job *job)
{
    struct buffer json;

    job->supplier->options = TEXT("{}");
    check_get_field(L, "options");
    if (lua_istable(L, -1)) {
        lua_pushnil(L);
        bool is_empty = lua_next(L, -2) == 0;
        lua_pop(L, is_empty ? 0 : 2);
        buffer_init(&json, 64 * 1024);
        if (is_empty) {
            buffer_append_c(&json, "{}");
        } else if (!bind_json_encode(L, -1, &json)) {
            script_check_report(job->check, job->file, script_check_line_of(job->file, "options", 1), CODE_FIELD_VALUE,
                                NULL, "options: %s", lua_tostring(L, -1));
            lua_pop(L, 1);
        }
        job->supplier->options = arena_copy(job->check->arena, buffer_text(&json));
        buffer_fini(&json);
    }
    lua_pop(L, 1);
}

/// False: there is no such product, or nobody can tell; then nothing is held against it.
static bool check_product_is_known(struct check_job *job)
{
    const char *names[CHECK_LIST_MAX];
    size_t count = 0;
    struct text product = job->supplier->product;

    if (product.data == NULL || !job->check->knows_products) {
        return false;
    }
    for (size_t i = 0; i < job->check->product_count; i++) {
        if (text_equals(job->check->products[i].name, product)) {
            return true;
        }
        if (count < CHECK_LIST_MAX) {
            names[count++] = job->check->products[i].name.data;
        }
    }
    char help[128] = "";
    const char *nearest = text_nearest(product, names, count);
    if (nearest != NULL) {
        snprintf(help, sizeof help, "did you mean \"%s\"?", nearest);
    }
    script_check_report(job->check, job->file, script_check_line_of(job->file, "product", 1), CODE_PRODUCT, help,
                        "there is no product \"%.*s\"", TEXT_ARGS(product));
    return false;
}

static void check_logins(lua_State *L, struct check_job *job)
{
    static const char *const names[] = { "build_request", "read" };

    script_check_functions(L, job->check, job->file, "login", names, COUNT_OF(names));
    lua_getfield(L, 1, "login");
    lua_getfield(L, 1, "sign");
    job->supplier->logs_in = lua_istable(L, -2);
    job->supplier->signs = lua_isfunction(L, -1);
    lua_getfield(L, 1, "revalidate");
    job->supplier->revalidates = lua_istable(L, -1);
    lua_pop(L, 3);
}

static int check_supplier_call(lua_State *L)
{
    struct check_job *job = lua_touserdata(L, 1);
    struct arena *arena = job->check->arena;

    lua_settop(L, 0);
    check_job_run(L, job);
    script_check_globals(L, job->check, job->file);
    if (!lua_istable(L, 1)) {
        job->code = CODE_NO_TABLE;
        return luaL_error(L, "a supplier's file must return a table, not a %s", luaL_typename(L, 1));
    }
    check_fields(L, job, supplier_fields, COUNT_OF(supplier_fields));
    check_name(L, job);
    job->supplier->product = check_copy_field(L, arena, "product");
    job->supplier->display_name = check_copy_field(L, arena, "display_name");
    bool is_product_known = check_product_is_known(job);
    check_made(L, job);
    check_list(L, job, "hosts", check_is_host, "a lower-case host name, with a port at most (\"api.example.com:8443\")",
               &job->supplier->hosts, &job->supplier->host_count);
    check_list(L, job, "secrets", check_is_secret, "a name of letters, digits and _", &job->supplier->secrets,
               &job->supplier->secret_count);
    check_list(L, job, "wants", check_is_want, "\"client\"", &job->supplier->wants, &job->supplier->want_count);
    script_check_limits(L, job->check, job->file, job->supplier);
    script_check_endpoints(L, job->check, job->file, job->supplier);
    if (is_product_known) {
        sells_check(L, job->check, job->file, job->supplier);
    }
    check_options(L, job);
    check_logins(L, job);
    script_check_functions(L, job->check, job->file, "revalidate", revalidate_names, COUNT_OF(revalidate_names));
    script_check_plans(L, job->check, job->file, job->supplier->product);
    return 0;
}

static int check_product_call(lua_State *L)
{
    struct check_job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    check_job_run(L, job);
    script_check_globals(L, job->check, job->file);
    if (!lua_istable(L, 1)) {
        job->code = CODE_NO_TABLE;
        return luaL_error(L, "a product's file must return a table, not a %s", luaL_typename(L, 1));
    }
    check_fields(L, job, product_fields, COUNT_OF(product_fields));
    check_name(L, job);
    script_check_product_lists(L, job->check, job->file);
    ceiling_check_example(L, job->check, job->file);
    if (!offers_compile_product(L, 1)) {
        script_check_report(job->check, job->file, script_check_line_of(job->file, "offer", 1), CODE_PRODUCT, NULL,
                            "%s",
                            lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "the offer's schema is not valid");
    }
    return 0;
}

static int check_module_call(lua_State *L)
{
    struct check_job *job = lua_touserdata(L, 1);
    lua_settop(L, 0);
    check_job_run(L, job);
    script_check_globals(L, job->check, job->file);
    return 0;
}

void script_check_module(struct script_check *check, const struct script_file *file)
{
    struct check_job job = { .check = check, .file = file, .limit_us = script_check_limit_us(check) };
    check_job_call(&job, check_module_call);
}

void script_check_product(struct script_check *check, const struct script_file *file)
{
    struct check_job job = { .check = check, .file = file, .limit_us = script_check_limit_us(check) };
    check_job_call(&job, check_product_call);
}

void script_check_supplier(struct script_check *check, const struct script_file *file, struct script_supplier *supplier)
{
    struct check_job job = {
        .check = check, .file = file, .supplier = supplier, .limit_us = script_check_limit_us(check)
    };
    check_job_call(&job, check_supplier_call);
    if (check->findings == 0) {
        ceiling_check(check, file, supplier);
    }
}
