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

void supplier_reset(struct supplier *supplier, uint64_t seed)
{
    supplier->seed = seed;
    supplier->draw.state = draw_mix(seed, supplier->index);
    supplier->now = supplier->planned;
    supplier->is_forced = false;
    supplier->forced = FAULT_NONE;
    supplier->door = draw_fault(supplier, FAULT_AT_DOOR);
    supplier->name_fault = draw_fault(supplier, FAULT_AT_NAME);
}

enum fault supplier_fault(struct supplier *supplier, enum fault_place place)
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
    return draw_fault(supplier, place);
}

void supplier_count_fault(struct supplier *supplier, enum fault fault)
{
    supplier->counters.faults[fault]++;
}

uint64_t supplier_latency_us(struct supplier *supplier)
{
    const struct behaviour *now = &supplier->now;
    double latency_ms = now->median_ms;

    if (now->tail > 0 && draw_unit(&supplier->draw) < now->tail) {
        latency_ms = 2.0 * now->median_ms * pow(draw_unit(&supplier->draw), -1.0 / tail_exponent);
    } else if (now->model == LATENCY_LOGNORMAL) {
        latency_ms = now->median_ms * exp(now->sigma * draw_normal(&supplier->draw));
    }
    return (uint64_t)(fmin(latency_ms, now->cap_ms) * 1000.0);
}

bool supplier_has_templates(const struct supplier *supplier)
{
    return supplier->shape == SUPPLIER_SHAPE_A || supplier->shape == SUPPLIER_SHAPE_B;
}

const char *supplier_path(const struct supplier *supplier)
{
    static const char *const paths[] = {
        [SUPPLIER_SHAPE_A] = "/v1/offers",
        [SUPPLIER_SHAPE_B] = "/search",
        [SUPPLIER_HOTELS] = "/v2/rates",
        [SUPPLIER_FILE] = "/air/offer_requests",
        [SUPPLIER_RECORDING] = "",
    };
    return paths[supplier->shape];
}
