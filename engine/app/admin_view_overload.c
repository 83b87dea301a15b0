#include "app/admin_view_overload.h"

#include "app/io_thread.h"
#include "telemetry/metrics.h"

#include <limits.h>

void admin_view_write_overload(struct engine *engine, const struct catalogue *catalogue, struct json_writer *json)
{
    struct gate_view sum = { .most = 0 };
    bool is_bounded = false;

    for (size_t i = 0; i < atomic_load(&engine->threads_live); i++) {
        struct gate_view view;
        gate_look(&engine->threads[i].gate, &view);
        sum.level = view.level > sum.level ? view.level : sum.level;
        sum.refused += view.refused;
        sum.pressed += view.pressed;
        is_bounded = is_bounded || view.most != UINT_MAX;
        sum.most += view.most != UINT_MAX ? view.most : 0;
    }
    json_key(json, "overload");
    json_begin_object(json);
    json_field_bool(json, "enabled", catalogue->admission.is_on);
    json_field_c(json, "level", overload_level_name(sum.level));
    if (is_bounded) {
        json_field_u64(json, "most_at_once", sum.most);
    }
    json_field_u64(json, "refused", sum.refused);
    json_field_u64(json, "times", sum.pressed);
    json_end_object(json);
}

void admin_view_sample_overload(struct engine *engine)
{
    for (size_t i = 0; i < atomic_load(&engine->threads_live); i++) {
        struct gate_view view;
        gate_look(&engine->threads[i].gate, &view);
        metrics_set(engine->metrics, METRIC_OVERLOAD_LEVEL, i, view.level);
        metrics_set(engine->metrics, METRIC_OVERLOAD_REFUSED, i, view.refused);
    }
}
