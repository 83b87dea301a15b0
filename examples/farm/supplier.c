#include "farm/supplier.h"

#include <math.h>

// The tail's exponent: heavy enough that one answer in ten of the tail takes more than five times its start.
static const double tail_exponent = 1.4;

static enum fault draw_fault(struct supplier *supplier, enum fault_place place)
{
    double left = 0;
    bool is_drawn = false;

    for (unsigned i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
        double share = supplier->now.shares[i];
        if (share <= 0 || fault_row((enum fault)i)->place != place) {
            continue;
        }
        if (!is_drawn) {
            left = draw_unit(&supplier->draw);
            is_drawn = true;
        }
        if (left < share) {
            return (enum fault)i;
        }
        left -= share;
    }
    return FAULT_NONE;
}

const struct behaviour_field *behaviour_field(size_t index)
{
    enum { LONGEST_MS = 600000 };
    static const struct behaviour_field fields[BEHAVIOUR_FIELDS] = {
        { "median_ms", LONGEST_MS, offsetof(struct behaviour, median_ms) },
        { "sigma", 5, offsetof(struct behaviour, sigma) },
        { "tail", 1, offsetof(struct behaviour, tail) },
        { "cap_ms", LONGEST_MS, offsetof(struct behaviour, cap_ms) },
        { "name_delay_ms", LONGEST_MS, offsetof(struct behaviour, name_delay_ms) },
        { "other_ms", LONGEST_MS, offsetof(struct behaviour, other_ms) },
        { "other_share", 1, offsetof(struct behaviour, other_share) },
        { "peak_ms", LONGEST_MS, offsetof(struct behaviour, peak_ms) },
        { "over_ms", LONGEST_MS, offsetof(struct behaviour, over_ms) },
        { "outage_from_ms", LONGEST_MS, offsetof(struct behaviour, outage_from_ms) },
        { "outage_ms", LONGEST_MS, offsetof(struct behaviour, outage_ms) },
        { "login_ms", LONGEST_MS, offsetof(struct behaviour, login_ms) },
        { "login_life_s", LONGEST_MS, offsetof(struct behaviour, login_life_s) },
        { "outage_every_ms", LONGEST_MS, offsetof(struct behaviour, outage_every_ms) },
    };
    require(index < BEHAVIOUR_FIELDS);
    return &fields[index];
}

double *behaviour_number(struct behaviour *behaviour, const struct behaviour_field *field)
{
    return (double *)(void *)((char *)behaviour + field->offset);
}

const struct behaviour_field *behaviour_find(struct text name)
{
    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        if (text_equals_c(name, behaviour_field(i)->name)) {
            return behaviour_field(i);
        }
    }
    return NULL;
}

const char *latency_model_name(enum latency_model model)
{
    static const char *const names[LATENCY_MODELS] = {
        [LATENCY_CONSTANT] = "constant", [LATENCY_LOGNORMAL] = "lognormal", [LATENCY_BIMODAL] = "bimodal",
        [LATENCY_RAMP] = "ramp",         [LATENCY_RECOVERY] = "recovery",
    };
    require(model < LATENCY_MODELS);
    return names[model];
}

const char *supplier_cannot_play(const struct supplier *supplier, enum fault fault)
{
    switch (fault_row(fault)->need) {
    case FAULT_NEEDS_TLS:
        return supplier->speaks_tls ? NULL : "this supplier does not speak TLS";
    case FAULT_NEEDS_SOURCES:
        return supplier->shape == SUPPLIER_PARTS ? NULL : "this supplier has no sources";
    case FAULT_NEEDS_LOGIN:
        return supplier->gate.login != GATE_NO_LOGIN ? NULL : "this supplier has no login";
    case FAULT_NEEDS_FIELD:
        return supplier->now.field[0] != '\0' || supplier->planned.field[0] != '\0' ? NULL : "no field is set";
    case FAULT_NEEDS_NOTHING:
        break;
    }
    return NULL;
}

void supplier_reset(struct supplier *supplier, uint64_t seed, uint64_t now_us)
{
    supplier->seed = seed;
    supplier->began_us = now_us;
    supplier->draw.state = draw_mix(seed, supplier->index);
    supplier->now = supplier->planned;
    supplier->is_forced = false;
    supplier->forced = FAULT_NONE;
    supplier->door = draw_fault(supplier, FAULT_AT_DOOR);
    supplier->name_fault = draw_fault(supplier, FAULT_AT_NAME);
}

static double elapsed_ms(const struct supplier *supplier, uint64_t now_us)
{
    return now_us > supplier->began_us ? (double)(now_us - supplier->began_us) / 1000.0 : 0.0;
}

/// Time since the window began that is or was the last one; negative: none has begun.
static double since_outage_ms(const struct behaviour *now, double at_ms)
{
    double since_ms = at_ms - now->outage_from_ms;

    if (now->outage == FAULT_NONE) {
        return -1;
    }
    return since_ms > 0 && now->outage_every_ms > 0 ? fmod(since_ms, now->outage_every_ms) : since_ms;
}

enum fault supplier_fault(struct supplier *supplier, enum fault_place place, uint64_t now_us)
{
    if (supplier->is_forced) {
        return fault_row(supplier->forced)->place == place ? supplier->forced : FAULT_NONE;
    }
    if (place == FAULT_AT_DOOR) {
        return supplier->door;
    }
    if (place == FAULT_AT_NAME) {
        return supplier->name_fault;
    }
    double since_ms = since_outage_ms(&supplier->now, elapsed_ms(supplier, now_us));
    if (place == FAULT_AT_ANSWER && since_ms >= 0 && since_ms < supplier->now.outage_ms) {
        return supplier->now.outage;
    }
    return draw_fault(supplier, place);
}

void supplier_count_fault(struct supplier *supplier, enum fault fault)
{
    supplier->counters.faults[fault]++;
}

/// How far a change that takes `over_ms` has come after `ms`.
static double progress(double ms, double over_ms)
{
    return ms >= over_ms ? 1.0 : ms / over_ms;
}

static double model_ms(struct supplier *supplier, double at_ms)
{
    const struct behaviour *now = &supplier->now;
    double since_ms;

    switch (now->model) {
    case LATENCY_LOGNORMAL:
        return now->median_ms * exp(now->sigma * draw_normal(&supplier->draw));
    case LATENCY_BIMODAL:
        return draw_unit(&supplier->draw) < now->other_share ? now->other_ms : now->median_ms;
    case LATENCY_RAMP:
        return now->median_ms + (now->peak_ms - now->median_ms) * progress(at_ms, now->over_ms);
    case LATENCY_RECOVERY:
        since_ms = since_outage_ms(now, at_ms);
        if (now->outage != FAULT_NONE && since_ms < now->outage_ms) {
            return now->median_ms; // before the first outage, or within one
        }
        since_ms = now->outage != FAULT_NONE ? since_ms - now->outage_ms : at_ms;
        return now->peak_ms + (now->median_ms - now->peak_ms) * progress(since_ms, now->over_ms);
    default:
        return now->median_ms;
    }
}

uint64_t supplier_latency_us(struct supplier *supplier, uint64_t now_us)
{
    const struct behaviour *now = &supplier->now;
    double latency_ms;

    if (now->tail > 0 && draw_unit(&supplier->draw) < now->tail) {
        latency_ms = 2.0 * now->median_ms * pow(draw_unit(&supplier->draw), -1.0 / tail_exponent);
    } else {
        latency_ms = model_ms(supplier, elapsed_ms(supplier, now_us));
    }
    return (uint64_t)(fmin(latency_ms, now->cap_ms) * 1000.0);
}

bool supplier_has_templates(const struct supplier *supplier)
{
    return supplier->shape < SUPPLIER_HOTELS;
}

const char *supplier_script(const struct supplier *supplier)
{
    if (supplier->gate.login != GATE_NO_LOGIN) {
        return supplier->gate.login == GATE_OAUTH ? "farm_oauth" : "farm_session";
    }
    if (supplier->gate.signature != GATE_UNSIGNED) {
        return "farm_signed";
    }
    return supplier_shape_row(supplier->shape)->script;
}

const struct supplier_shape_row *supplier_shape_row(enum supplier_shape shape)
{
    static const struct supplier_shape_row rows[SUPPLIER_SHAPES] = {
        [SUPPLIER_SHAPE_A] = { "a", "/v1/offers", "farm_a", QUERY_SHAPE_A },
        [SUPPLIER_SHAPE_B] = { "b", "/search", "farm_b", QUERY_SHAPE_B },
        [SUPPLIER_POLL_ADD] = { "poll_add", "/v1/searches", "farm_poll_add", QUERY_SHAPE_A },
        [SUPPLIER_POLL_REPLACE] = { "poll_replace", "/v1/searches", "farm_poll_replace", QUERY_SHAPE_A },
        [SUPPLIER_PAGES] = { "pages", "/v1/pages", "farm_pages", QUERY_SHAPE_A },
        [SUPPLIER_PARTS] = { "parts", "/v1/sources", "farm_parts", QUERY_SHAPE_A },
        [SUPPLIER_MAPS] = { "maps", "/v3/search/create", "farm_maps", QUERY_SHAPE_A },
        [SUPPLIER_TABLES] = { "tables", "/v4/offers/shop", "farm_tables", QUERY_SHAPE_A },
        [SUPPLIER_XML] = { "xml", "/xml", "farm_xml", QUERY_SHAPE_A },
        [SUPPLIER_RATES] = { "rates", "/v3/properties/availability", "farm_rates", QUERY_SHAPE_A },
        [SUPPLIER_HOTELS] = { "h", "/v2/rates", "farm_hotels", QUERY_SHAPE_A },
        [SUPPLIER_FILE] = { "file", "/air/offer_requests", "duffel", QUERY_SHAPE_A },
        [SUPPLIER_RECORDING] = { "recording", "", "duffel", QUERY_SHAPE_A },
        [SUPPLIER_PROMPTED] = { "prompted", "", "", QUERY_SHAPE_A },
    };
    require(shape < SUPPLIER_SHAPES);
    return &rows[shape];
}
