#include "app/generation_builder.h"
#include "app/store_desk.h"

#include <string.h>

enum { SCRIPT_BYTES = 16 }; // of a digest that tell a product's script from any other
enum { HEX_OF_BYTE = 2 };

struct breaker_settings generation_breaker(const struct settings *settings)
{
    return (struct breaker_settings){ .is_on = settings->breaker_is_on,
                                      .window_s = (uint32_t)(settings->breaker_window_us / 1000000),
                                      .min_calls = settings->breaker_min_calls,
                                      .failure_share = (double)settings->breaker_failure_share / 1e6 };
}

struct admission_settings generation_admission(const struct settings *settings)
{
    return (struct admission_settings){ .is_on = settings->admission_is_on,
                                        .target_us = settings->admission_target_us,
                                        .interval_us = settings->admission_interval_us };
}

struct patience_settings generation_patience(const struct settings *settings)
{
    return (struct patience_settings){ .finishes_early = settings->patience_finishes_early,
                                       .delay_cost = (double)settings->patience_delay_cost / 1e6,
                                       .least_gain = (double)settings->patience_least_gain / 1e6,
                                       .novelty = (double)settings->patience_novelty,
                                       .held_cost = (double)settings->patience_held_cost / 1e6 };
}

struct extra_settings generation_extra(const struct settings *settings)
{
    return (struct extra_settings){ .is_on = settings->extra_is_on,
                                    .coalesces = settings->extra_coalesces,
                                    .per_supplier = (double)settings->extra_per_supplier / 1e6,
                                    .engine = (double)settings->extra_engine / 1e6 };
}

struct last_known_settings generation_last_known(const struct settings *settings)
{
    return (struct last_known_settings){ .is_on = store_desk_backend(settings) != STORE_BACKEND_NONE,
                                         .fills = settings->linger_fills,
                                         .slice_us = settings->store_read_slice_us,
                                         .max_age_ms = settings->last_known_max_age_us / 1000,
                                         .empty_max_age_ms = settings->last_known_empty_max_age_us / 1000 };
}

uint64_t generation_linger_us(const struct settings *settings)
{
    struct last_known_settings last_known = generation_last_known(settings);
    bool fills = last_known.is_on && last_known.fills;

    return settings->breaker_is_on || settings->linger_learn > 0 || fills ? settings->linger_limit_us : 0;
}

struct last_known_terms generation_last_known_terms(const struct settings_supplier *settings)
{
    if (settings == NULL) {
        return (struct last_known_terms){ 0 };
    }
    return (struct last_known_terms){ .max_age_ms = settings->max_age_us / 1000,
                                      .fresh_for_ms = settings->fresh_for_us / 1000,
                                      .price_guard = settings->price_guard };
}

const struct text *generation_product_scripts(const struct script_set *set, struct arena *arena)
{
    static const char DIGITS[] = "0123456789abcdef";
    size_t count = script_set_product_count(set);
    struct text *scripts = arena_alloc_array(arena, count + 1, sizeof *scripts);

    for (size_t i = 0; i < count && scripts != NULL; i++) {
        struct text name = script_set_product(set, i);
        const unsigned char *digest = script_set_product_digest(set, i);
        size_t length = name.length + 1 + (size_t)SCRIPT_BYTES * HEX_OF_BYTE;
        char *at = arena_alloc(arena, length);
        if (at == NULL) {
            return NULL;
        }
        scripts[i] = (struct text){ at, length };
        memcpy(at, name.data, name.length);
        at += name.length;
        *at++ = '@';
        for (size_t j = 0; j < SCRIPT_BYTES; j++) {
            *at++ = DIGITS[digest[j] >> 4];
            *at++ = DIGITS[digest[j] & 15];
        }
    }
    return scripts;
}
