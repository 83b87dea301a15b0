// Help: the list of commands, the page of one, and both as JSON.

#include "cli/cli_commands.h"

#include "base/json_write.h"
#include "base/text.h"

#include <string.h>

#ifndef LASTCALL_VERSION
#define LASTCALL_VERSION "0.1.0"
#endif

enum { HELP_OUTPUT_CAP = 1 << 20 };

static const struct {
    int code;
    const char *words;
} EXITS[] = {
    { CLI_OK, "fine" },
    { CLI_FINDINGS, "findings" },
    { CLI_USAGE, "usage" },
    { CLI_CANNOT_LOAD, "cannot load" },
    { CLI_UNREACHABLE, "engine unreachable" },
    { CLI_REFUSED, "engine refused" },
    { CLI_THRESHOLD, "a threshold was crossed" },
    { CLI_CALL_FAILED, "the live call failed" },
    { CLI_NOT_ASKED, "nobody was asked" },
    { CLI_BUG, "bug" },
};

const char *cli_exit_words(int code)
{
    for (size_t i = 0; i < COUNT_OF(EXITS); i++) {
        if (EXITS[i].code == code) {
            return EXITS[i].words;
        }
    }
    return NULL;
}

/// Every command may end with 0, 2 and 70.
static bool may_exit(const struct cli_command *command, int code)
{
    return code == CLI_OK || code == CLI_USAGE || code == CLI_BUG ||
           (command->exits != NULL && strchr(command->exits, '0' + code) != NULL);
}

void cli_print_commands(FILE *stream)
{
    size_t count;
    const struct cli_command *commands = cli_commands(&count);

    fputs("  lastcall serve -c lastcall.yaml\n\nusage: lastcall COMMAND [OPTIONS]\n\n", stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`lastcall help COMMAND` tells more.\nExit codes:", stream);
    for (size_t i = 0; i < COUNT_OF(EXITS); i++) {
        fprintf(stream, "%s%s%d %s", i == 0 ? " " : ",",
                i == 5   ? "\n"
                : i == 0 ? ""
                         : " ",
                EXITS[i].code, EXITS[i].words);
    }
    fputs(".\n", stream);
}

enum { OPTION_COLUMNS = 22, HELP_COLUMNS = 100 };

/// Behind the name of an option; further lines stand below it.
static void print_option_help(const char *name, const char *help)
{
    size_t room = HELP_COLUMNS - OPTION_COLUMNS;

    printf("  %-*s ", OPTION_COLUMNS - 2, name);
    if (strlen(name) > OPTION_COLUMNS - 2) {
        printf("\n%*s", OPTION_COLUMNS + 1, "");
    }
    while (strlen(help) > room) {
        size_t length = room;
        while (length > 0 && help[length] != ' ') {
            length--;
        }
        length = length == 0 ? room : length;
        printf("%.*s\n%*s", (int)length, help, OPTION_COLUMNS + 1, "");
        help += length + (help[length] == ' ');
    }
    puts(help);
}

static void print_options(const struct cli_command *command)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    puts("\nOptions:");
    for (size_t i = 0; i < count; i++) {
        const struct cli_option_row *row = &rows[i];
        char name[48];
        if (!cli_command_takes(command, row->name)) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s%c%s--%s%s%s", row->short_name != 0 ? "-" : "",
                       row->short_name != 0 ? row->short_name : ' ', row->short_name != 0 ? ", " : "   ", row->name,
                       row->value != NULL ? " " : "", row->value != NULL ? row->value : "");
        print_option_help(name, row->help);
    }
    print_option_help("-h, --help", "print this");
}

static void print_examples(const char *examples)
{
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");
        printf("  %.*s\n", (int)length, examples);
        examples += length + (examples[length] == '\n');
    }
}

static void print_exits(const struct cli_command *command)
{
    int column = printf("\nExit codes:") - 1;
    const char *separator = "";
    char words[64];

    for (size_t i = 0; i < COUNT_OF(EXITS); i++) {
        if (!may_exit(command, EXITS[i].code)) {
            continue;
        }
        (void)snprintf(words, sizeof(words), "%d %s", EXITS[i].code, EXITS[i].words);
        bool fits = (size_t)column + strlen(words) + 2 < HELP_COLUMNS;
        column = (fits ? column : 0) + printf("%s%s%s", separator, fits ? " " : "\n", words);
        separator = ",";
    }
    puts(".");
}

static void print_page(const struct cli_command *command)
{
    print_examples(command->example);
    printf("\nusage: lastcall %s%s%s\n\n%s.\n", command->name, command->usage[0] != '\0' ? " " : "", command->usage,
           command->summary);
    if (command->help != NULL) {
        printf("\n%s", command->help);
    }
    print_options(command);
    print_exits(command);
}

static void write_option(struct json_writer *json, const struct cli_option_row *row)
{
    char short_name[2] = { row->short_name, '\0' };

    json_begin_object(json);
    json_field_c(json, "name", row->name);
    if (row->short_name != 0) {
        json_field_c(json, "short", short_name);
    }
    if (row->value != NULL) {
        json_field_c(json, "value", row->value);
    }
    json_field_c(json, "help", row->help);
    json_end_object(json);
}

static void write_command(struct json_writer *json, const struct cli_command *command)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    json_begin_object(json);
    json_field_c(json, "name", command->name);
    json_field_c(json, "usage", command->usage);
    json_field_c(json, "summary", command->summary);
    json_field_c(json, "example", command->example);
    if (command->help != NULL) {
        json_field_c(json, "help", command->help);
    }
    json_key(json, "options");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        if (cli_command_takes(command, rows[i].name)) {
            write_option(json, &rows[i]);
        }
    }
    json_end_array(json);
    json_key(json, "exit_codes");
    json_begin_object(json);
    for (size_t i = 0; i < COUNT_OF(EXITS); i++) {
        char number[8];
        (void)snprintf(number, sizeof(number), "%d", EXITS[i].code);
        if (may_exit(command, EXITS[i].code)) {
            json_field_c(json, number, EXITS[i].words);
        }
    }
    json_end_object(json);
    json_end_object(json);
}

/// NULL: all commands.
static void print_json(const struct cli_command *command)
{
    struct json_writer json;
    struct buffer out;
    size_t count;
    const struct cli_command *commands = cli_commands(&count);

    buffer_init(&out, HELP_OUTPUT_CAP);
    json_writer_init(&json, &out);
    if (command != NULL) {
        write_command(&json, command);
    } else {
        json_begin_array(&json);
        for (size_t i = 0; i < count; i++) {
            write_command(&json, &commands[i]);
        }
        json_end_array(&json);
    }
    buffer_append_byte(&out, '\n');
    cli_flush(stdout, &out);
    buffer_fini(&out);
}

int cli_print_command(const struct cli_command *command, bool is_json)
{
    if (is_json) {
        print_json(command);
    } else {
        print_page(command);
    }
    return CLI_OK;
}

int cmd_help(const struct cli_options *options)
{
    const char *name = options->argument_count == 0 ? NULL : options->arguments[0];
    const struct cli_command *command = name == NULL ? NULL : cli_command_find(name);

    if (name != NULL && command == NULL) {
        return cli_unknown_command(name);
    }
    if (command != NULL) {
        return cli_print_command(command, options->is_json);
    }
    if (options->is_json) {
        print_json(NULL);
    } else {
        cli_print_commands(stdout);
    }
    return CLI_OK;
}

int cmd_version(const struct cli_options *options)
{
    if (options->is_json) {
        puts("{\"version\":\"" LASTCALL_VERSION "\"}");
    } else {
        puts("lastcall " LASTCALL_VERSION);
    }
    return CLI_OK;
}
