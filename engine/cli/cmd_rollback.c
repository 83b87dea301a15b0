#include "cli/change_send.h"

static void write_generation(const struct cli_options *options, struct json_writer *json)
{
    uint64_t number = 0;

    (void)!text_to_u64(text_of(options->arguments[0]), &number);
    json_field_u64(json, "generation", number);
}

int cmd_rollback(const struct cli_options *options)
{
    struct failure why = { 0 };
    uint64_t number = 0;

    if (!text_to_u64(text_of(options->arguments[0]), &number) || number == 0 || number > UINT32_MAX) {
        failure_set(&why, "`%.80s` is no number of a generation", options->arguments[0]);
        failure_help(&why, "a reload tells its number, and `lastcall history` lists the last ones");
        return cli_fail(options, &why, CLI_USAGE);
    }
    return change_send(options, "/admin/v1/rollback", write_generation);
}
