#include "bench/policy/clairvoyant.h"

/// The soonest that anything asked of the supplier could be back.
static uint64_t soonest(const struct trace *trace, size_t search, size_t supplier)
{
    uint64_t best_us = UINT64_MAX;

    for (uint32_t endpoint = 0; endpoint < trace->population->suppliers[supplier].endpoints; endpoint++) {
        for (uint32_t number = 0; number < TRACE_CALLS; number++) {
            struct trace_draw draw = trace_draw(trace, search, supplier, endpoint, number);
            if (draw.fate == TRACE_ANSWERS && draw.after_us < best_us) {
                best_us = draw.after_us;
            }
        }
    }
    return best_us;
}

struct clairvoyant_reply clairvoyant_play(const struct trace *trace, size_t search, uint64_t budget_us,
                                          uint64_t start_us)
{
    struct clairvoyant_reply reply = { .took_us = start_us };
    size_t count = trace->population->count;

    for (size_t i = 0; i < count; i++) {
        uint64_t back_us = soonest(trace, search, i);
        if (back_us == UINT64_MAX || start_us + back_us > budget_us) {
            continue;
        }
        reply.answered |= UINT64_C(1) << i;
        reply.requests++;
        reply.completeness += 1 / (double)count;
        reply.connection_us += (double)back_us;
        reply.took_us = start_us + back_us > reply.took_us ? start_us + back_us : reply.took_us;
    }
    return reply;
}
