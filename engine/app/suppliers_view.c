#include "app/suppliers_view.h"

#include "app/permits.h"
#include "app/switch_desk.h"
#include "base/clock.h"
#include "model/mode.h"

#include <stdlib.h>

static void write_ms(struct json_writer *json, const char *name, uint64_t us)
{
    json_key(json, name);
    if (us > 0) {
        json_u64(json, us / 1000);
    } else {
        json_null(json); // nobody knows
    }
}

static void write_breaker(const struct permits_view *view, struct json_writer *json)
{
    json_field_c(json, "state", breaker_state_name(view->breaker));
    json_field_u64(json, "percent", view->breaker_percent);
    json_field_u64(json, "trips", view->breaker_trips);
    if (view->breaker_refuses_us > 0) {
        json_field_u64(json, "retry_in_ms", view->breaker_refuses_us / 1000);
    }
}

void suppliers_view_health(const struct permits_view *view, struct json_writer *json)
{
    json_key(json, "breaker");
    json_begin_object(json);
    write_breaker(view, json);
    json_end_object(json);
    json_key(json, "latency");
    json_begin_object(json);
    json_field_u64(json, "samples", (uint64_t)view->samples);
    write_ms(json, "p50_ms", view->median_us);
    write_ms(json, "p95_ms", view->p95_us);
    json_end_object(json);
}

/// A field with the switch of exactly these names, if there is one.
static bool write_switch(struct engine *engine, const char *field, enum switch_about about, struct text supplier,
                         struct text account, struct json_writer *json)
{
    struct switch_item item;
    uint64_t now_us = clock_now_us();
    struct text exact = account.length > 0 ? account : TEXT("");

    if (!switches_look(engine->switches, about, supplier, exact, now_us, &item)) {
        return false;
    }
    json_key(json, field);
    switch_write(&item, now_us, clock_wall_us(), json);
    return true;
}

bool suppliers_view_switch(struct engine *engine, struct text supplier, struct text account, struct json_writer *json)
{
    bool is_off = write_switch(engine, "switch", SWITCH_ABOUT_ASKING, supplier, account, json);

    (void)write_switch(engine, "breaker_held", SWITCH_ABOUT_BREAKER, supplier, account, json);
    (void)write_switch(engine, "ceiling_override", SWITCH_ABOUT_CEILING, supplier, account, json);
    return is_off;
}

bool suppliers_view_is_off(struct engine *engine, const struct catalogue_supplier *supplier, bool *is_wholly)
{
    uint64_t now_us = clock_now_us();
    size_t count = catalogue_account_count(supplier), off = 0;

    *is_wholly = switches_find(engine->switches, SWITCH_ABOUT_ASKING, supplier->name, (struct text){ 0 }, now_us, NULL);
    for (size_t i = 0; i < count; i++) {
        off += switches_find(engine->switches, SWITCH_ABOUT_ASKING, supplier->name, supplier->account[i].name, now_us,
                             NULL);
    }
    *is_wholly = *is_wholly || off == count;
    return off > 0;
}

static void write_account(struct engine *engine, const struct catalogue_supplier *supplier,
                          const struct script_account *account, struct json_writer *json)
{
    struct permits_view view;
    char until[CLOCK_UTC_SIZE];

    permits_look(engine->permits, account, &view);
    json_begin_object(json);
    json_field_text(json, "name", account->name);
    json_field_c(json, "mode", mode_name(account->mode));
    (void)suppliers_view_switch(engine, supplier->name, account->name, json);
    suppliers_view_health(&view, json);
    if (view.blocked_us > 0) {
        clock_print_utc(clock_wall_us() + view.blocked_us, until);
        json_field_c(json, "parked_until", until);
        json_field_u64(json, "parked_for_ms", view.blocked_us / 1000);
    }
    json_field_u64(json, "calls", view.calls);
    json_field_u64(json, "answered", view.answered);
    json_field_u64(json, "out", view.out);
    json_field_u64(json, "running", view.running);
    json_end_object(json);
}

static void write_supplier(struct engine *engine, const struct catalogue_supplier *supplier, struct json_writer *json)
{
    json_begin_object(json);
    json_field_text(json, "name", supplier->name);
    json_field_text(json, "product", supplier->product);
    json_field_text(json, "script", supplier->script);
    json_field_bool(json, "enabled", supplier->is_enabled);
    if (!supplier->is_enabled && supplier->because.length > 0) {
        json_field_text(json, "because", supplier->because);
    }
    json_field_c(json, "mode", mode_name(supplier->mode));
    (void)suppliers_view_switch(engine, supplier->name, (struct text){ 0 }, json);
    json_key(json, "accounts");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue_account_count(supplier); i++) {
        write_account(engine, supplier, &supplier->account[i], json);
    }
    json_end_array(json);
    json_end_object(json);
}

static bool is_in(const struct catalogue *catalogue, const struct switch_item *item)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        if (!text_equals_c(supplier->name, item->supplier)) {
            continue;
        }
        bool has_account = item->account[0] == '\0';
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            has_account = has_account || text_equals_c(supplier->account[j].name, item->account);
        }
        return has_account;
    }
    return false;
}

/// What was said of suppliers and accounts that there are none of now: it counts again when they come back.
static void write_absent(struct engine *engine, const struct catalogue *catalogue, struct json_writer *json)
{
    struct switch_item *items = calloc(SWITCHES_MAX, sizeof(*items));
    size_t count = items != NULL ? switches_list(engine->switches, items) : 0;

    json_key(json, "absent");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        if (!is_in(catalogue, &items[i])) {
            json_begin_object(json);
            json_field_c(json, "name", items[i].supplier);
            json_key(json, "switch");
            switch_write(&items[i], clock_now_us(), clock_wall_us(), json);
            json_end_object(json);
        }
    }
    json_end_array(json);
    free(items);
}

void suppliers_view_write(struct engine *engine, struct json_writer *json)
{
    struct generation *generation = engine_generation(engine); // kept while it is told of
    const struct catalogue *catalogue = generation_catalogue(generation);

    json_begin_object(json);
    json_field_u64(json, "generation", catalogue->generation);
    json_field_bool(json, "breakers", catalogue->breaker.is_on);
    if (engine->switch_desk != NULL) {
        switch_desk_write_kept(engine->switch_desk, json);
    }
    json_key(json, "suppliers");
    json_begin_array(json);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        write_supplier(engine, &catalogue->suppliers[i], json);
    }
    json_end_array(json);
    write_absent(engine, catalogue, json);
    json_end_object(json);
    generation_release(&generation);
}
