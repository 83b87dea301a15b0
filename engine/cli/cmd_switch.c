// disable, enable, drain: whether a supplier is asked; ceiling: how long it is waited for; purge: what it said last.

#include "app/switches.h"
#include "cli/switch_send.h"

#include <stdio.h>
#include <string.h>

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

int cmd_purge(const struct cli_options *options)
{
    return switch_send(options, "purge", NULL);
}

int cmd_ceiling(const struct cli_options *options)
{
    const char *value = options->arguments[1];
    bool is_taken_back = strcmp(value, "none") == 0;
    struct value_problem problem = { "", "" };
    uint64_t us = 0;

    if (!is_taken_back && !switch_read_ceiling(text_of(value), &us, &problem)) {
        char sentence[160];
        (void)snprintf(sentence, sizeof(sentence), "`%.40s` %s", value, problem.sentence);
        return switch_misused(options, sentence, problem.help);
    }
    if (!is_taken_back && options->lasts == NULL) {
        return switch_misused(options, "it has no end", "say --for 2h: what shall stay belongs into the settings");
    }
    int code = is_taken_back ? CLI_OK : check_why(options);
    return code == CLI_OK ? switch_send(options, "ceiling", value) : code;
}
