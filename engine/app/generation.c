#include "app/generation.h"

#include "app/generation_blame.h"
#include "app/generation_data.h"
#include "app/generation_rules.h"
#include "app/generation_sources.h"
#include "app/settings_apply.h"
#include "base/log.h"
#include "model/ground.h"
#include "script/rates.h"
#include "script/script_check.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 64 * 1024 * 1024, TRAFFIC_DEFAULT = 50000, BECAUSE_MAX = 4096 };

struct generation {
    struct ground ground;
    char apart[64]; // a cache line: all loops write before it, and only read what follows
    struct list node;
    void (*on_end)(void *context, struct generation *generation); // NULL: whoever lets go last frees it
    void *end_context;
    struct arena arena;
    struct settings *settings;
    struct script_set *set;
    struct data_set *data;
    struct rates *rates;
    struct catalogue catalogue;
    struct text *hosts;
    size_t host_count;
    struct missing_secret *missing;
    size_t missing_count;
};

static atomic_uint last_number;

void generation_find(struct generation_builder *builder, const char *file, uint32_t line, uint32_t column,
                     enum code code, const char *help, const char *format, ...)
{
    struct failure failure = { 0 };
    va_list arguments;
    va_start(arguments, format);
    failure_fill(&failure, code, help, format, arguments);
    va_end(arguments);
    failure_at(&failure, file, line, column);
    if (generation_is_beside(builder)) {
        generation_aside(builder, &failure);
        return;
    }
    builder->findings += generation_blame(builder, &failure) ? 0 : 1;
    if (builder->previous == NULL || generation_is_news(builder->blames, &failure)) {
        builder->report(builder->context, &failure);
    }
}

// What somebody is blamed for is told, and does not count.
void generation_forward(void *context, const struct failure *failure)
{
    struct generation_builder *builder = context;
    if (generation_is_beside(builder)) {
        generation_aside(builder, failure);
        return;
    }
    builder->findings += generation_blame(builder, failure) ? 0 : 1;
    generation_tell(builder, failure);
}

void generation_aside(void *context, const struct failure *failure)
{
    struct generation_builder *builder = context;
    builder->aside_count++;
    if (generation_is_news(builder->blames, failure)) {
        builder->order->aside(builder->context, failure);
    }
}

void generation_tell(void *context, const struct failure *failure)
{
    struct generation_builder *builder = context;
    if (generation_is_news(builder->blames, failure)) {
        builder->report(builder->context, failure);
    }
}

// Over another, the loader says itself whether there is a set, and the changes tell of what it kept back.
static enum status load_set(struct generation_builder *builder, const struct generation_sources *sources,
                            struct script_set **set)
{
    const struct generation_order *order = builder->order;
    struct script_set *running = builder->previous == NULL ? NULL : builder->previous->set;
    if (order->fixed != NULL) {
        *set = script_set_acquire(order->fixed);
        return builder->changes == NULL ? STATUS_OK : script_changes_between(running, *set, builder->changes);
    }
    struct script_source *given = arena_alloc_array(&builder->arena, sources->count + 1, sizeof(*given));
    if (given == NULL) {
        return STATUS_NO_MEMORY;
    }
    size_t count = 0;
    for (size_t i = 0; i < sources->count; i++) {
        const struct generation_source *source = &sources->items[i];
        if (source->doubled == NULL) {
            given[count++] = (struct script_source){ .name = source->name, .file = source->file };
        }
    }
    const struct script_order asked = { .scripts_dir = builder->settings->scripts_dir.data,
                                        .sources = given,
                                        .count = count,
                                        .previous = running,
                                        .candidate = order->candidate,
                                        .refuses = running == NULL ? NULL : generation_refuses,
                                        .refuses_context = builder->blames,
                                        .shadows = order->shadows,
                                        .shadow_count = order->shadow_count,
                                        .needed = order->needed,
                                        .needed_count = order->needed_count,
                                        .aside = generation_aside };
    builder->blames->heeded = builder->blames->count;
    return script_set_load_over(&asked, running == NULL ? generation_forward : generation_tell, builder, set,
                                builder->changes);
}

static struct text keep(struct arena *arena, struct text text, bool *is_out_of_memory)
{
    struct text kept = arena_copy(arena, text);
    *is_out_of_memory = *is_out_of_memory || (text.data != NULL && kept.data == NULL);
    return kept;
}

// Another account of the supplier may lack the same one.
static bool is_told(const struct missing_secret *first, const struct missing_secret *missing)
{
    while (first < missing && !text_equals(first->secret, missing->secret)) {
        first++;
    }
    return first < missing;
}

// The secrets that switch the supplier off, each once.
static struct text because_of_secrets(struct generation_builder *builder, size_t missing_before, bool *is_out_of_memory)
{
    const struct missing_secret *first = &builder->missing[missing_before];
    struct buffer because;

    buffer_init(&because, BECAUSE_MAX);
    for (const struct missing_secret *at = first; at < builder->missing + builder->missing_count; at++) {
        if (!is_told(first, at)) {
            buffer_printf(&because, "%ssecret %.*s %.*s", at == first ? "" : ", ", TEXT_ARGS(at->secret),
                          TEXT_ARGS(at->why));
        }
    }
    struct text kept = keep(&builder->arena, buffer_text(&because), is_out_of_memory);
    buffer_fini(&because);
    return kept;
}

// What all accounts are; LIVE when they differ: then each search finds out.
static enum mode common_mode(const struct script_account *accounts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (accounts[i].mode != accounts[0].mode) {
            return MODE_LIVE;
        }
    }
    return accounts[0].mode;
}

// The accounts of a supplier, in the order in which they are tried.
static enum status make_accounts(struct generation_builder *builder, const struct generation_source *source,
                                 const struct script_supplier *script, size_t index, bool is_wanted,
                                 struct catalogue_supplier *supplier)
{
    const struct settings_supplier *settings = source->settings;
    size_t count = settings == NULL ? 1 : settings->account_count;
    struct script_account *accounts = arena_alloc_array(&builder->arena, count, sizeof(*accounts));
    enum status status = accounts == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        accounts[i].supplier = (uint32_t)index;
        accounts[i].number = builder->account_count++;
        accounts[i].login = script->logs_in ? ++builder->login_count : 0;
        accounts[i].mode = settings == NULL ? MODE_LIVE : settings_mode_of(settings, &settings->accounts[i]);
        status = generation_make_account(builder, script, settings == NULL ? NULL : &settings->accounts[i], is_wanted,
                                         &accounts[i]);
        if (status == STATUS_OK && is_wanted && accounts[i].host_count == 0) {
            generation_find(builder, script->file.data, 0, 0, CODE_FIELD_VALUE,
                            "name the host in `hosts`, or give its URL in an option such as `base_url`",
                            "`%.*s` can ask nobody: `hosts` is empty and no option is a URL", TEXT_ARGS(source->name));
        }
    }
    supplier->account = accounts;
    supplier->account_count = count;
    supplier->mode = common_mode(accounts, count);
    supplier->traffic = settings != NULL && settings->traffic != 0 ? settings->traffic : TRAFFIC_DEFAULT;
    return status;
}

// A missing secret of any account switches all off: a search must not fall through to the contract of another market.
static enum status make_supplier(struct generation_builder *builder, const struct generation_source *source,
                                 const struct script_supplier *script, size_t index,
                                 struct catalogue_supplier *supplier)
{
    const struct settings_supplier *settings = source->settings;
    bool is_wanted = settings == NULL || settings->is_enabled;
    bool is_out_of_memory = false;
    size_t missing_before = builder->missing_count;
    struct text display_name = source->is_alias ? source->name : script->display_name;
    if (settings != NULL && settings->display_name.data != NULL) {
        display_name = settings->display_name;
    }
    *supplier = (struct catalogue_supplier){ .name = source->name,
                                             .display_name = keep(&builder->arena, display_name, &is_out_of_memory),
                                             .product = script->product,
                                             .script = script->label,
                                             .is_enabled = is_wanted,
                                             .wants_client = script->want_count > 0,
                                             .signs = script->signs,
                                             .revalidates = script->revalidates,
                                             .extra = &script->extra,
                                             .body_cap = script->body_cap,
                                             .ceiling_us = settings == NULL ? 0 : settings->ceiling_us,
                                             .weight = settings == NULL ? 0 : settings->weight,
                                             .last_known = generation_last_known_terms(settings) };
    enum status status = make_accounts(builder, source, script, index, is_wanted, supplier);
    if (status != STATUS_OK) {
        return status;
    }
    if (!is_wanted) {
        struct text because = settings->because.data != NULL ? settings->because : TEXT("switched off in the settings");
        supplier->because = keep(&builder->arena, because, &is_out_of_memory);
    } else if (builder->missing_count > missing_before) {
        supplier->is_enabled = false;
        supplier->because = because_of_secrets(builder, missing_before, &is_out_of_memory);
        generation_tell_off(builder, script, supplier, &builder->missing[missing_before]);
    }
    return is_out_of_memory ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status fill_catalogue(struct generation_builder *builder, const struct generation_sources *sources,
                                  struct generation *generation)
{
    const struct settings *settings = builder->settings;
    struct arena *arena = &builder->arena;
    size_t product_count = script_set_product_count(generation->set);
    size_t supplier_count = script_set_supplier_count(generation->set);
    struct catalogue_supplier *suppliers = arena_alloc_array(arena, supplier_count + 1, sizeof(*suppliers));
    struct text *products = arena_alloc_array(arena, product_count + 1, sizeof(*products));
    const struct text *product_scripts = generation_product_scripts(generation->set, arena);
    if (suppliers == NULL || products == NULL || product_scripts == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < product_count; i++) {
        products[i] = script_set_product(generation->set, i);
    }
    // The script set keeps its suppliers sorted by name, as the catalogue is.
    for (size_t i = 0; i < supplier_count; i++) {
        const struct script_supplier *script = script_set_supplier(generation->set, i);
        const struct generation_source *source = generation_source_of(sources, script->name);
        require(source != NULL);
        generation_suspect_supplier(builder, script->name);
        size_t aside_before = builder->aside_count;
        enum status status = make_supplier(builder, source, script, i, &suppliers[i]);
        if (builder->aside_count > aside_before) {
            suppliers[i].is_enabled = false;
            suppliers[i].because = TEXT("its script does not go with the settings");
        }
        if (status == STATUS_OK) {
            status = generation_make_shadow(builder, source->settings, &suppliers[i]);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    generation_suspect_nobody(builder);
    if (!catalogue_tell_apart(suppliers, supplier_count, arena)) {
        return STATUS_NO_MEMORY;
    }
    generation->catalogue = (struct catalogue){ .set = generation->set,
                                                .data = generation->data,
                                                .rates = generation->rates,
                                                .suppliers = suppliers,
                                                .supplier_count = supplier_count,
                                                .login_count = builder->login_count,
                                                .products = products,
                                                .product_scripts = product_scripts,
                                                .product_count = product_count,
                                                .deadline_default_us = settings->deadline_default_us,
                                                .deadline_min_us = settings->deadline_min_us,
                                                .deadline_max_us = settings->deadline_max_us,
                                                .breaker = generation_breaker(settings),
                                                .admission = generation_admission(settings),
                                                .patience = generation_patience(settings),
                                                .extra = generation_extra(settings),
                                                .last_known = generation_last_known(settings),
                                                .linger_learn = settings->linger_learn,
                                                .linger_us = generation_linger_us(settings) };
    return STATUS_OK;
}

// The name to resolve in "host" or "host:port"; absent for a literal.
static struct text name_of_host(struct text host)
{
    char terminated[256];
    struct in6_addr address;
    struct text rest;
    if (host.length == 0 || host.length >= sizeof(terminated) || host.data[0] == '[') {
        return (struct text){ 0 };
    }
    memcpy(terminated, host.data, host.length);
    terminated[host.length] = 0;
    if (inet_pton(AF_INET6, terminated, &address) == 1) {
        return (struct text){ 0 };
    }
    struct text name = text_split(host, ':', &rest);
    terminated[name.length] = 0;
    return inet_pton(AF_INET, terminated, &address) == 1 ? (struct text){ 0 } : name;
}

static enum status add_name(struct generation *generation, struct arena *arena, struct text name)
{
    for (size_t i = 0; i < generation->host_count; i++) {
        if (text_equals_nocase(generation->hosts[i], name)) {
            return STATUS_OK;
        }
    }
    struct text *grown = settings_grow(arena, generation->hosts, generation->host_count, sizeof(*grown));
    struct text kept = arena_copy(arena, name);
    if (grown == NULL || kept.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    grown[generation->host_count++] = kept;
    generation->hosts = grown;
    return STATUS_OK;
}

// The names to resolve for one account: its proxy's when it has one, for then nobody else is connected to.
static enum status collect_account(struct generation *generation, struct arena *arena,
                                   const struct script_account *account)
{
    const struct fetch_route *route = account->route;
    enum status status = STATUS_OK;
    if (route != NULL && route->proxy.data != NULL) {
        return route->proxy_is_literal ? STATUS_OK : add_name(generation, arena, route->proxy_host);
    }
    for (size_t i = 0; i < account->host_count && status == STATUS_OK; i++) {
        struct text name = name_of_host(account->hosts[i]);
        status = name.data != NULL ? add_name(generation, arena, name) : STATUS_OK;
    }
    return status;
}

static enum status collect_hosts(struct generation *generation, struct arena *arena)
{
    const struct catalogue *catalogue = &generation->catalogue;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; supplier->is_enabled && j < supplier->account_count && status == STATUS_OK; j++) {
            status = collect_account(generation, arena, &supplier->account[j]);
        }
    }
    return status;
}

static enum status build(struct generation_builder *builder, struct generation *generation)
{
    struct generation_sources sources = { 0 };
    enum status status = builder->order->fixed != NULL ? STATUS_OK : generation_find_sources(builder, &sources);
    if (status == STATUS_OK) {
        status = load_set(builder, &sources, &generation->set);
    }
    if (status == STATUS_OK) {
        builder->set = generation->set;
        status = generation_complete_sources(builder, &sources, generation->set);
    }
    if (status == STATUS_OK || status == STATUS_INVALID) { // the findings of both are told at once
        enum status data_status = generation_load_data(builder, &generation->data);
        status = data_status == STATUS_OK ? status : data_status;
        enum status rates_status = generation_load_rates(builder, &generation->rates);
        status = rates_status == STATUS_OK ? status : rates_status;
    }
    if (status == STATUS_OK) {
        generation_check_tables(builder, &sources, generation->set);
    }
    if (status == STATUS_OK) {
        status = fill_catalogue(builder, &sources, generation);
    }
    if (status == STATUS_OK) {
        status = generation_make_rules(builder, &generation->catalogue);
    }
    if (status == STATUS_OK) {
        status = collect_hosts(generation, &builder->arena);
        generation->catalogue.hosts = generation->hosts;
        generation->catalogue.host_count = generation->host_count;
    }
    if (status == STATUS_OK && builder->findings > 0) {
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK && sources.count == 0) {
        log_line(LOG_WARNING, "generation", "there is no supplier in the suppliers directories");
    }
    return status;
}

void generation_destroy(struct generation **generation)
{
    struct generation *gone = *generation;

    *generation = NULL;
    script_set_release(&gone->set);
    data_set_release(&gone->data);
    rates_release(&gone->rates);
    arena_fini(&gone->arena);
    settings_release(&gone->settings);
    free(gone);
}

struct list *generation_node(struct generation *generation)
{
    return &generation->node;
}

struct generation *generation_of_node(struct list *node)
{
    return CONTAINER_OF(node, struct generation, node);
}

static void generation_end(struct ground *ground)
{
    struct generation *generation = CONTAINER_OF(ground, struct generation, ground);

    if (generation->on_end != NULL) {
        generation->on_end(generation->end_context, generation);
    } else {
        generation_destroy(&generation);
    }
}

enum status generation_build_once(const struct generation_order *order, struct generation_blames *blames,
                                  settings_finding report, void *context, struct script_changes *changes,
                                  struct generation **generation)
{
    *generation = NULL;
    struct generation *built = calloc(1, sizeof(*built));
    if (built == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct generation_builder builder = { .settings = order->settings,
                                          .order = order,
                                          .previous =
                                              order->previous == NULL ? NULL : generation_catalogue(order->previous),
                                          .blames = blames,
                                          .changes = changes,
                                          .report = report,
                                          .context = context };
    arena_init(&builder.arena, ARENA_MAX);
    ground_init(&built->ground, generation_end);
    list_init(&built->node);
    built->settings = settings_acquire(order->settings);
    enum status status = build(&builder, built);
    built->arena = builder.arena;
    built->missing = builder.missing;
    built->missing_count = builder.missing_count;
    if (status == STATUS_OK && blames->is_out_of_memory) {
        status = STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        generation_release(&built);
        return status;
    }
    built->catalogue.ground = &built->ground;
    *generation = built;
    return STATUS_OK;
}

void generation_take_number(struct generation *generation)
{
    generation->catalogue.generation = atomic_fetch_add(&last_number, 1) + 1;
}

struct generation *generation_acquire(struct generation *generation)
{
    if (generation != NULL) {
        (void)ground_hold(&generation->ground);
    }
    return generation;
}

void generation_release(struct generation **generation)
{
    struct ground *ground = *generation == NULL ? NULL : &(*generation)->ground;
    *generation = NULL;
    ground_drop(&ground);
}

void generation_give_end(struct generation *generation, void (*on_end)(void *context, struct generation *generation),
                         void *context)
{
    require(generation->on_end == NULL);
    generation->on_end = on_end;
    generation->end_context = context;
}

uint32_t generation_number(const struct generation *generation)
{
    return generation->catalogue.generation;
}

const struct catalogue *generation_catalogue(const struct generation *generation)
{
    return &generation->catalogue;
}

const struct settings *generation_settings(const struct generation *generation)
{
    return generation->settings;
}

const struct text *generation_hosts(const struct generation *generation, size_t *count)
{
    *count = generation->host_count;
    return generation->hosts;
}

static void tell_missing(const struct generation *generation, const struct missing_secret *missing,
                         settings_finding report, void *context)
{
    struct failure failure = { .code = CODE_SECRET_MISSING };
    ptrdiff_t script = script_set_find_supplier(generation->set, missing->supplier);
    uint32_t line = missing->line;

    if (line == 0 && script >= 0) { // it stands in no settings
        line = script_check_line_of(script_set_supplier_file(generation->set, (size_t)script), "secrets", 1);
    }
    if (missing->file.data != NULL) {
        failure_at(&failure, missing->file.data, line, missing->column);
    }
    failure_set(&failure, "supplier `%.*s`, account `%.*s`: secret %.*s %.*s", TEXT_ARGS(missing->supplier),
                TEXT_ARGS(missing->account), TEXT_ARGS(missing->secret), TEXT_ARGS(missing->why));
    failure_help(&failure, "%.*s, or switch the supplier off with `enabled: false`", TEXT_ARGS(missing->help));
    report(context, &failure);
}

size_t generation_missing_secrets_of(const struct generation *generation, struct text supplier, settings_finding report,
                                     void *context)
{
    size_t count = 0;

    for (size_t i = 0; i < generation->missing_count; i++) {
        if (text_equals(generation->missing[i].supplier, supplier)) {
            tell_missing(generation, &generation->missing[i], report, context);
            count++;
        }
    }
    return count;
}

size_t generation_missing_secrets(const struct generation *generation, settings_finding report, void *context)
{
    for (size_t i = 0; i < generation->missing_count; i++) {
        tell_missing(generation, &generation->missing[i], report, context);
    }
    return generation->missing_count;
}
