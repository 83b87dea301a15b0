// disable, enable, drain: whether a supplier is asked.

#include "cli/switch_send.h"

static int check_why(const struct cli_options *options)
{
    return options->why != NULL && options->why[0] != '\0'
               ? CLI_OK
               : switch_misused(options, "it has no reason", "say --why \"…\": whoever finds it so wants to know");
}

int cmd_disable(const struct cli_options *options)
{
    int code = check_why(options);

    return code == CLI_OK ? switch_send(options, "disable", NULL) : code;
}

int cmd_enable(const struct cli_options *options)
{
    return switch_send(options, "enable", NULL);
}

int cmd_drain(const struct cli_options *options)
{
    return switch_send(options, "drain", NULL);
}
