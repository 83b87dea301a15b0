#include "cli/change_send.h"

static void write_names(const struct cli_options *options, struct json_writer *json)
{
    const struct {
        const char *key, *name;
    } fields[] = {
        { "retry", options->retry },
        { "shadow", options->shadow },
        { "promote", options->promote },
        { "drop", options->drop },
    };

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (fields[i].name != NULL) {
            json_field_c(json, fields[i].key, fields[i].name);
        }
    }
}

int cmd_reload(const struct cli_options *options)
{
    return change_send(options, "/admin/v1/reload", write_names);
}
