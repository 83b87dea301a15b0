/// Commands: the one table of commands and the one of options. Parsing, help, suggestions, `help --json` and the
/// completion of shells come from it.
///
/// A new command is a row, and a `cmd_NAME.c`; a new option is a row, and its name in `options` of the commands that
/// take it.
///
/// Threads: the main thread.
/// Memory:  constants.
#pragma once

#include "cli/cli.h"

struct cli_command {
    const char *name;
    const char *usage;   // what follows the name
    const char *summary; // one line, for the list
    const char *example; // a line to copy; further ones after line feeds
    const char *help;    // the rest, for `help NAME`; NULL: nothing more to say
    const char *options; // names of the options it takes, separated by blanks; NULL: none
    /// What completes its arguments, one kind each, the last one for all further: `suppliers`, `json`, `files`,
    /// `codes`, `commands`, or words parted by `|`; NULL: nothing does.
    const char *arguments;
    const char *exits; // digits of the exit codes it may end with, beside 0, 2 and 70
    size_t least_arguments, most_arguments;
    int (*run)(const struct cli_options *options);
};

enum cli_option_kind { OPTION_FILE, OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_LIST };

struct cli_option_row {
    char short_name;   // 0: none
    const char *name;  // without the dashes
    const char *value; // what help calls it; FILE, NAME (a supplier) and A|B are completed; NULL: takes none
    enum cli_option_kind kind;
    size_t offset;        // in struct cli_options
    uint64_t least, most; // of a number; of a list, too, unless `most` is 0
    const char *help;
};

const struct cli_command *cli_commands(size_t *count);
const struct cli_option_row *cli_option_rows(size_t *count);

/// NULL: there is none of that name.
const struct cli_command *cli_command_find(const char *name);
bool cli_command_takes(const struct cli_command *command, const char *option);

/// What an exit code means, "findings"; NULL: it has no meaning.
const char *cli_exit_words(int code);

/// Tells what is wrong with a call, and the remedy; gives CLI_USAGE.
int cli_usage_error(const char *help, const char *format, ...) PRINTF_LIKE(2, 3);
int cli_unknown_command(const char *name);

/// The list of commands, and the page of one.
void cli_print_commands(FILE *stream);
int cli_print_command(const struct cli_command *command, bool is_json);
