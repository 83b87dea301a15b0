#include "cli/change_send.h"

static void write_retry(const struct cli_options *options, struct json_writer *json)
{
    if (options->retry != NULL) {
        json_field_c(json, "retry", options->retry);
    }
}

int cmd_reload(const struct cli_options *options)
{
    return change_send(options, "/admin/v1/reload", write_retry);
}
