#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef LASTCALL_VERSION
#define LASTCALL_VERSION "0.1.0"
#endif

static int cmd_help(const struct cli_options *options);
static int cmd_version(const struct cli_options *options);

static const struct cli_command commands[] = {
    { "serve", "[-c FILE]...", "run the engine until SIGTERM or Ctrl-C",
      "Reads the settings, checks all scripts and serves searches. On SIGTERM it is no longer ready, finishes the\n"
      "searches it has and exits with 0; at a second signal they reply at once with what they have, a third one cuts\n"
      "them. It exits with 6 when it took longer than `shutdown.flush` to end.\n",
      "c", 0, 0, cmd_serve },
    { "search", "SEARCH.json [--url URL] [--budget MS]", "send a search to a running engine and draw its waterfall",
      "SEARCH.json is the body of POST /v1/search; - reads it from standard input. The waterfall has a line for each\n"
      "supplier on a time axis from the arrival of the search to its deadline: who answered when, who was cut by\n"
      "which bound and where it stood. --budget can only shorten the budget that the file asks for.\n",
      "jnubw", 1, 1, cmd_search },
    { "check", "[-c FILE]... [--secrets]", "load settings and all scripts, open no socket, report every finding",
      "Findings are one line each, with file and line, and exit code 1; 3 when a file ran for too long while it was\n"
      "loaded. --secrets makes a finding of each secret that is not set in the environment.\n",
      "cjns", 0, 0, cmd_check },
    { "test", "[NAME]... [-c FILE]... [--update]", "run the fixtures of suppliers",
      "Plays suppliers/NAME.test/*.json through the scripts, without a socket, and tells what came that was not\n"
      "expected. Without a name all suppliers are tested. --update writes what came into the fixtures.\n",
      "cjnU", 0, CLI_MAX_ARGUMENTS, cmd_test },
    { "explain", "SEARCH_ID|CODE [--admin URL]", "draw what became of a recent search, or say what an error code means",
      "Asks a running engine for the record of a search: who was asked, answered, was cut by what and where it stood.\n"
      "The engine keeps the newest 1,024. A token is taken from LASTCALL_ADMIN_TOKEN.\n"
      "A code as `error[E0421]` has, its number or its name, needs no engine; `lastcall explain codes` lists them.\n",
      "jnaw", 1, 1, cmd_explain },
    { "status", "[--check] [--admin URL]", "say how a running engine is",
      "Generation, readiness, script threads, attribution, which script runs for each supplier and which are off and\n"
      "why, what is stale (on the disk, but not what runs), and what a restart would do. --check makes the exit code "
      "1\n"
      "when something is stale or the engine is not ready. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      "jnawk", 0, 0, cmd_status },
    { "reload", "[--shadow|--promote|--drop|--retry NAME] [--why TEXT] [--admin URL]",
      "let a running engine read its scripts and settings again",
      "Waits until the new generation runs, and tells what changed. What is broken on the disk keeps its last good\n"
      "version, and is told with file and line: exit code 1, as for settings that need a restart. 5: refused, and\n"
      "nothing has changed. --retry lets a script run again that was rolled back or that failed its trial; `settings`\n"
      "is a name, too. With --shadow the file of that supplier is from now on not what runs, but its shadow: it reads\n"
      "the same answers for nobody, and the report tells each field that it makes something else of; say so before "
      "you\n"
      "change the file. --promote lets the shadow run, --drop holds it back until its file changes. A token is taken\n"
      "from LASTCALL_ADMIN_TOKEN.\n",
      "jnawyrSPD", 0, 0, cmd_reload },
    { "rollback", "GENERATION [--why TEXT] [--admin URL]", "let a running engine run an earlier generation again",
      "Scripts and settings of that generation run again, as a new generation. What lies on the disk is left as it is\n"
      "and does not run until it changes, or until `lastcall reload --retry NAME`. The last 10 are kept. Exit codes "
      "are\n"
      "those of reload. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      "jnawy", 1, 1, cmd_rollback },
    { "history", "[--events] [--admin URL]", "list what a running engine ran: when, by whom and why",
      "The last 32 generations, the newest first: * runs, - is not kept and cannot be rolled back to. Then who asked "
      "for\n"
      "it, the versions that it brought, - before what it took away, and why. --events lists the last 256 things that\n"
      "one should know of instead. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      "jnawe", 0, 0, cmd_history },
    { "help", "[COMMAND]", "say what a command does and which options it takes", "", "", 0, 1, cmd_help },
    { "version", "", "print the version", "", "", 0, 0, cmd_version },
};

enum option_kind { OPTION_FILE, OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER };

static const struct option_row {
    char letter; // in cli_command.options; also the short form when `has_short`
    bool has_short;
    const char *name;  // without the dashes
    const char *value; // NULL: takes none
    enum option_kind kind;
    size_t offset;
    uint64_t least, most;
    const char *help;
} option_rows[] = {
    { 'c', true, "config", "FILE", OPTION_FILE, 0, 0, 0,
      "settings; may be repeated, later ones win (default: lastcall.yaml, if there is one)" },
    { 'j', false, "json", NULL, OPTION_FLAG, offsetof(struct cli_options, is_json), 0, 0, "print JSON" },
    { 'n', false, "no-color", NULL, OPTION_FLAG, offsetof(struct cli_options, is_colourless), 0, 0,
      "no colours (also with NO_COLOR set, or when not on a terminal)" },
    { 'u', false, "url", "URL", OPTION_TEXT, offsetof(struct cli_options, url), 0, 0,
      "where the engine listens (default: http://127.0.0.1:8080)" },
    { 'a', false, "admin", "URL", OPTION_TEXT, offsetof(struct cli_options, admin), 0, 0,
      "where the engine's admin listener is (default: http://127.0.0.1:8081)" },
    { 'b', false, "budget", "MS", OPTION_NUMBER, offsetof(struct cli_options, budget_ms), 1, 600000,
      "milliseconds the search may take" },
    { 'w', false, "width", "N", OPTION_NUMBER, offsetof(struct cli_options, width), CLI_WIDTH_MIN, CLI_WIDTH_MAX,
      "columns to draw on (default: COLUMNS, else the terminal's, else 100)" },
    { 'y', false, "why", "TEXT", OPTION_TEXT, offsetof(struct cli_options, why), 0, 0,
      "the reason, for the history and the events" },
    { 'r', false, "retry", "NAME", OPTION_TEXT, offsetof(struct cli_options, retry), 0, 0,
      "a script that is held back and shall be tried again" },
    { 'k', false, "check", NULL, OPTION_FLAG, offsetof(struct cli_options, is_checking), 0, 0,
      "exit with 1 when something is stale or the engine is not ready" },
    { 'e', false, "events", NULL, OPTION_FLAG, offsetof(struct cli_options, is_events), 0, 0,
      "what happened, in place of what ran" },
    { 'S', false, "shadow", "NAME", OPTION_TEXT, offsetof(struct cli_options, shadow), 0, 0,
      "the supplier whose file is a shadow of what runs; shows its report" },
    { 'P', false, "promote", "NAME", OPTION_TEXT, offsetof(struct cli_options, promote), 0, 0,
      "the supplier whose shadow shall run" },
    { 'D', false, "drop", "NAME", OPTION_TEXT, offsetof(struct cli_options, drop), 0, 0,
      "the supplier whose shadow shall end" },
    { 's', false, "secrets", NULL, OPTION_FLAG, offsetof(struct cli_options, has_secrets), 0, 0,
      "missing secrets are findings" },
    { 'U', false, "update", NULL, OPTION_FLAG, offsetof(struct cli_options, is_updating), 0, 0,
      "write what came into the fixtures" },
};

static int usage_error(const char *help, const char *format, ...) PRINTF_LIKE(2, 3);

static int usage_error(const char *help, const char *format, ...)
{
    char sentence[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    fprintf(stderr, "error: %s\nhelp: %s\n", sentence, help);
    return CLI_USAGE;
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COUNT_OF(commands)];
    char help[128] = "`lastcall help` lists the commands";

    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        names[i] = commands[i].name;
    }
    const char *nearest = text_nearest(text_of(name), names, COUNT_OF(names));
    if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean `lastcall %s`?", nearest);
    }
    return usage_error(help, "there is no command `%s`", name);
}

/// The row of "--name", "--name=value" or "-c"; `*value` is what stands after "=", else NULL.
static const struct option_row *find_option(const char *argument, const char **value)
{
    *value = NULL;
    for (size_t i = 0; i < COUNT_OF(option_rows); i++) {
        const struct option_row *row = &option_rows[i];
        size_t length = strlen(row->name);
        if (row->has_short && argument[1] == row->letter && argument[2] == '\0') {
            return row;
        }
        if (strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, row->name, length) == 0) {
            if (argument[2 + length] == '=') {
                *value = argument + 3 + length;
                return row;
            }
            if (argument[2 + length] == '\0') {
                return row;
            }
        }
    }
    return NULL;
}

static int store_option(struct cli_options *options, const struct option_row *row, const char *value)
{
    char *place = (char *)options + row->offset;
    char help[128];

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return CLI_OK;
    case OPTION_TEXT:
        *(const char **)(void *)place = value;
        return CLI_OK;
    case OPTION_FILE:
        if (options->file_count == CLI_MAX_FILES) {
            return usage_error("put the settings into fewer files", "more than %d times --config", CLI_MAX_FILES);
        }
        options->files[options->file_count++] = value;
        return CLI_OK;
    case OPTION_NUMBER:
        break;
    }
    uint64_t *number = (uint64_t *)(void *)place;
    if (!text_to_u64(text_of(value), number) || *number < row->least || *number > row->most) {
        (void)snprintf(help, sizeof(help), "give a whole number from %llu to %llu", (unsigned long long)row->least,
                       (unsigned long long)row->most);
        return usage_error(help, "`%s` is no value for --%s", value, row->name);
    }
    return CLI_OK;
}

static int unknown_option(const struct cli_command *command, const char *argument)
{
    const char *names[COUNT_OF(option_rows)];
    size_t count = 0;
    char help[128];

    for (size_t i = 0; i < COUNT_OF(option_rows); i++) {
        if (strchr(command->options, option_rows[i].letter) != NULL) {
            names[count++] = option_rows[i].name;
        }
    }
    const char *bare = argument + strspn(argument, "-");
    const char *nearest = text_nearest(text_of(bare), names, count);
    if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean --%s?", nearest);
    } else {
        (void)snprintf(help, sizeof(help), "`lastcall help %s` lists its options", command->name);
    }
    return usage_error(help, "`lastcall %s` knows no option %s", command->name, argument);
}

static int parse_options(const struct cli_command *command, int argc, char **argv, struct cli_options *options)
{
    bool only_arguments = false;

    for (int i = 0; i < argc; i++) {
        const char *value = NULL;
        if (!only_arguments && strcmp(argv[i], "--") == 0) {
            only_arguments = true;
            continue;
        }
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == '\0') {
            if (options->argument_count == command->most_arguments) {
                char help[256];
                (void)snprintf(help, sizeof(help), "usage: lastcall %s %s", command->name, command->usage);
                return usage_error(help, "`%s` is one argument too many", argv[i]);
            }
            options->arguments[options->argument_count++] = argv[i];
            continue;
        }
        const struct option_row *row = find_option(argv[i], &value);
        if (row == NULL || strchr(command->options, row->letter) == NULL) {
            return unknown_option(command, argv[i]);
        }
        if (row->value == NULL && value != NULL) {
            return usage_error("leave out what stands after `=`", "--%s takes no value", row->name);
        }
        if (row->value != NULL && value == NULL) {
            if (i + 1 == argc) {
                return usage_error(row->help, "--%s needs a value", row->name);
            }
            value = argv[++i];
        }
        int code = store_option(options, row, value);
        if (code != CLI_OK) {
            return code;
        }
    }
    return CLI_OK;
}

static void print_commands(FILE *stream)
{
    fputs("usage: lastcall COMMAND [OPTIONS]\n\n", stream);
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        fprintf(stream, "  %-9s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`lastcall help COMMAND` tells more.\n"
          "Exit codes: 0 fine, 1 findings, 2 usage, 3 cannot load, 4 engine unreachable, 5 engine refused,\n"
          "7 the search got no answer, 70 bug.\n",
          stream);
}

static void print_command(const struct cli_command *command)
{
    printf("usage: lastcall %s%s%s\n\n%s.\n", command->name, command->usage[0] != '\0' ? " " : "", command->usage,
           command->summary);
    if (command->help[0] != '\0') {
        printf("\n%s", command->help);
    }
    if (command->options[0] != '\0') {
        puts("\nOptions:");
    }
    for (size_t i = 0; i < COUNT_OF(option_rows); i++) {
        const struct option_row *row = &option_rows[i];
        char name[48];
        if (strchr(command->options, row->letter) == NULL) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s%c%s--%s %s", row->has_short ? "-" : "",
                       row->has_short ? row->letter : ' ', row->has_short ? ", " : "   ", row->name,
                       row->value != NULL ? row->value : "");
        printf("  %-20s %s\n", name, row->help);
    }
}

static int cmd_help(const struct cli_options *options)
{
    if (options->argument_count == 0) {
        print_commands(stdout);
        return CLI_OK;
    }
    const struct cli_command *command = find_command(options->arguments[0]);
    if (command == NULL) {
        return unknown_command(options->arguments[0]);
    }
    print_command(command);
    return CLI_OK;
}

static int cmd_version(const struct cli_options *options)
{
    (void)options;
    puts("lastcall " LASTCALL_VERSION);
    return CLI_OK;
}

int cli_main(int argc, char **argv)
{
    struct cli_options options = { .url = "http://127.0.0.1:8080", .admin = "http://127.0.0.1:8081" };
    bool asks_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);

    if (argc < 2) {
        print_commands(stderr);
        return CLI_USAGE;
    }
    if (asks_help || (argc == 2 && strcmp(argv[1], "--version") == 0)) {
        return asks_help ? cmd_help(&options) : cmd_version(&options);
    }
    const struct cli_command *command = find_command(argv[1]);
    if (command == NULL) {
        return unknown_command(argv[1]);
    }
    if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        print_command(command);
        return CLI_OK;
    }
    int code = parse_options(command, argc - 2, argv + 2, &options);
    if (code != CLI_OK) {
        return code;
    }
    if (options.argument_count < command->least_arguments) {
        char help[256];
        (void)snprintf(help, sizeof(help), "usage: lastcall %s %s", command->name, command->usage);
        return usage_error(help, "`lastcall %s` needs an argument", command->name);
    }
    if (options.file_count == 0 && access("lastcall.yaml", F_OK) == 0) {
        options.files[options.file_count++] = "lastcall.yaml";
    }
    return command->run(&options);
}

static bool wants_colour(FILE *stream, bool is_colourless)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return !is_colourless && (no_colour == NULL || no_colour[0] == '\0') && isatty(fileno(stream)) == 1 &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void cli_print_failure(FILE *stream, const struct failure *failure, bool is_colourless)
{
    bool has_colour = wants_colour(stream, is_colourless);

    if (failure->file[0] != '\0') {
        fprintf(stream, "%s:", failure->file);
        if (failure->line > 0) {
            fprintf(stream, "%u:", failure->line);
        }
        if (failure->line > 0 && failure->column > 0) {
            fprintf(stream, "%u:", failure->column);
        }
        fputc(' ', stream);
    }
    char code[CODE_TEXT_SIZE];
    code_print(failure->code, code);
    fprintf(stream, "%serror%s%s%s:%s %s\n", has_colour ? "\033[31m" : "", code[0] != '\0' ? "[" : "", code,
            code[0] != '\0' ? "]" : "", has_colour ? "\033[0m" : "", failure->message);
    struct text rest = text_of(failure->notes);
    for (struct text note = failure_next_note(&rest); note.data != NULL; note = failure_next_note(&rest)) {
        fprintf(stream, "%s%.*s\n", note.length > 0 && note.data[0] == ' ' ? "" : "   = ", (int)note.length,
                note.data);
    }
    if (failure->help[0] != '\0') {
        fprintf(stream, "%shelp:%s %s\n", has_colour ? "\033[36m" : "", has_colour ? "\033[0m" : "", failure->help);
    }
}

/// What the environment says about the encoding; the first variable that is set counts (POSIX).
static bool is_utf8_locale(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
        }
    }
    return false;
}

/// COLUMNS counts before the terminal (POSIX): it is how a pipe is told.
static uint64_t output_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = { 0 };
    uint64_t width;

    if (columns == NULL || !text_to_u64(text_of(columns), &width) || width == 0) {
        width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : CLI_WIDTH;
    }
    return width < CLI_WIDTH_MIN ? CLI_WIDTH_MIN : width > CLI_WIDTH_MAX ? CLI_WIDTH_MAX : width;
}

void cli_paint_init(struct paint *paint, const struct cli_options *options, struct buffer *out)
{
    uint64_t width = options->width != 0 ? options->width : output_width();

    *paint = (struct paint){ .out = out,
                             .width = (uint32_t)width,
                             .is_utf8 = is_utf8_locale(),
                             .has_colour = wants_colour(stdout, options->is_colourless) };
}

void cli_flush(FILE *stream, const struct buffer *out)
{
    (void)fwrite(out->data, 1, out->length, stream);
    (void)fflush(stream);
}
