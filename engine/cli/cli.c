#include "cli/cli.h"

#include "base/plain.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/cli_commands.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_usage_error(const char *help, const char *format, ...)
{
    char sentence[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    fprintf(stderr, "error: %s\nhelp: %s\n", sentence, help);
    return CLI_USAGE;
}

enum { NAMES_MAX = 128 };

int cli_unknown_command(const char *name)
{
    const char *names[NAMES_MAX];
    char help[128] = "`lastcall help` lists the commands";
    size_t count;
    const struct cli_command *commands = cli_commands(&count);

    require(count <= COUNT_OF(names));
    for (size_t i = 0; i < count; i++) {
        names[i] = commands[i].name;
    }
    const char *nearest = text_nearest(text_of(name), names, count);
    if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean `lastcall %s`?", nearest);
    }
    return cli_usage_error(help, "there is no command `%s`", name);
}

/// The row of "--name", "--name=value" or "-c"; `*value` is what stands after "=", else NULL.
static const struct cli_option_row *find_option(const char *argument, const char **value)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    *value = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct cli_option_row *row = &rows[i];
        size_t length = strlen(row->name);
        if (row->short_name != 0 && argument[1] == row->short_name && argument[2] == '\0') {
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

/// A number that the row allows, or the exit code after the reason was told.
static int read_number(const struct cli_option_row *row, const char *value, uint64_t *number)
{
    char help[128];

    if (!text_to_u64(text_of(value), number) || *number < row->least || *number > row->most) {
        (void)snprintf(help, sizeof(help), "give a whole number from %llu to %llu", (unsigned long long)row->least,
                       (unsigned long long)row->most);
        return cli_usage_error(help, "`%s` is no value for --%s", value, row->name);
    }
    return CLI_OK;
}

static int store_in_list(struct cli_options *options, const struct cli_option_row *row, struct cli_list *list,
                         const char *value)
{
    uint64_t number;

    if (list->count == CLI_MAX_ITEMS) {
        return cli_usage_error("say it less often", "more than %d times --%s", CLI_MAX_ITEMS, row->name);
    }
    list->bodies[list->count] = options->bodies.count;
    list->items[list->count++] = value;
    return row->most > 0 ? read_number(row, value, &number) : CLI_OK;
}

static int store_option(struct cli_options *options, const struct cli_option_row *row, const char *value)
{
    char *place = (char *)options + row->offset;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return CLI_OK;
    case OPTION_TEXT:
        *(const char **)(void *)place = value;
        return CLI_OK;
    case OPTION_FILE:
        if (options->file_count == CLI_MAX_FILES) {
            return cli_usage_error("put the settings into fewer files", "more than %d times --config", CLI_MAX_FILES);
        }
        options->files[options->file_count++] = value;
        return CLI_OK;
    case OPTION_LIST:
        return store_in_list(options, row, (struct cli_list *)(void *)place, value);
    case OPTION_NUMBER:
        break;
    }
    return read_number(row, value, (uint64_t *)(void *)place);
}

static int unknown_option(const struct cli_command *command, const char *argument)
{
    const char *names[NAMES_MAX];
    size_t count, found = 0;
    char help[128];
    const struct cli_option_row *rows = cli_option_rows(&count);

    require(count <= COUNT_OF(names));
    for (size_t i = 0; i < count; i++) {
        if (cli_command_takes(command, rows[i].name)) {
            names[found++] = rows[i].name;
        }
    }
    const char *bare = argument + strspn(argument, "-");
    bool is_url = text_starts_with(text_of(bare), TEXT("url")) && (bare[3] == '\0' || bare[3] == '=');
    if (is_url && cli_command_takes(command, "admin")) {
        return cli_usage_error("it asks the admin listener, which has an address of its own: --admin URL (default: "
                               "http://127.0.0.1:8081)",
                               "`lastcall %s` knows no option %s", command->name, argument);
    }
    const char *nearest = text_nearest(text_of(bare), names, found);
    if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean --%s?", nearest);
    } else {
        (void)snprintf(help, sizeof(help), "`lastcall help %s` lists its options", command->name);
    }
    return cli_usage_error(help, "`lastcall %s` knows no option %s", command->name, argument);
}

/// "suppliers/acme.lua" and "acme.test/" are acme: a shell completes files. Cut where it stands.
static const char *supplier_of_path(char *argument)
{
    static const char *const ENDS[] = { ".lua", ".test" };
    size_t length = strlen(argument);

    length -= length > 1 && argument[length - 1] == '/' ? 1 : 0;
    for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
        size_t end = strlen(ENDS[i]);
        if (length > end && strncmp(argument + length - end, ENDS[i], end) == 0) {
            argument[length - end] = '\0';
            const char *slash = strrchr(argument, '/');
            return slash == NULL ? argument : slash + 1;
        }
    }
    return argument;
}

static int store_argument(const struct cli_command *command, char *argument, struct cli_options *options)
{
    char help[256];
    bool is_name = command->arguments != NULL && strcmp(command->arguments, "suppliers") == 0;

    if (options->argument_count < command->most_arguments) {
        options->arguments[options->argument_count++] = is_name ? supplier_of_path(argument) : argument;
        return CLI_OK;
    }
    (void)snprintf(help, sizeof(help), "usage: lastcall %s %s", command->name, command->usage);
    return cli_usage_error(help, "`%s` is one argument too many", argument);
}

/// The option at argv[*index]; its value may be the next word.
static int take_option(const struct cli_command *command, int argc, char **argv, int *index,
                       struct cli_options *options)
{
    const char *argument = argv[*index], *value;
    const struct cli_option_row *row = find_option(argument, &value);

    if (row == NULL || !cli_command_takes(command, row->name)) {
        return unknown_option(command, argument);
    }
    if (row->value == NULL && value != NULL) {
        return cli_usage_error("leave out what stands after `=`", "--%s takes no value", row->name);
    }
    if (row->value != NULL && value == NULL) {
        if (*index + 1 == argc) {
            return cli_usage_error(row->help, "--%s needs a value", row->name);
        }
        value = argv[++*index];
    }
    return store_option(options, row, value);
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int parse_options(const struct cli_command *command, int argc, char **argv, struct cli_options *options)
{
    bool only_arguments = false;
    int code = CLI_OK;

    for (int i = 0; i < argc && code == CLI_OK; i++) {
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == '\0') {
            code = store_argument(command, argv[i], options);
        } else if (strcmp(argv[i], "--") == 0) {
            only_arguments = true;
        } else if (is_help(argv[i])) {
            options->asks_help = true;
        } else {
            code = take_option(command, argc, argv, &i, options);
        }
    }
    return code;
}

/// Has something that was printed been lost, other than because nobody reads on?
static bool is_output_lost;
static int output_error; // of the first write that failed; 0: none did

/// What does not fit a buffer of stdio is written before it is flushed.
static void put_bytes(FILE *stream, const char *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, stream) != length && output_error == 0) {
        output_error = errno;
    }
}

static void flush_or_tell(FILE *stream)
{
    if (fflush(stream) != 0 && output_error == 0) {
        output_error = errno;
    }
    if (output_error != 0 && output_error != EPIPE && !is_output_lost) {
        is_output_lost = true;
        fprintf(stderr, "error: the output could not be written: %s\nhelp: %s\n", strerror(output_error),
                output_error == EBADF ? "standard output is closed: give it a file, or a terminal"
                                      : "is the disk full?");
    }
}

static int run(const struct cli_command *command, int argc, char **argv)
{
    struct cli_options options = { .url = "http://127.0.0.1:8080", .admin = "http://127.0.0.1:8081", .seed = 1 };
    int code = parse_options(command, argc, argv, &options);

    if (code != CLI_OK) {
        return code;
    }
    if (options.asks_help) {
        return cli_print_command(command, options.is_json);
    }
    if (options.argument_count < command->least_arguments) {
        char help[256];
        (void)snprintf(help, sizeof(help), "usage: lastcall %s %s", command->name, command->usage);
        return cli_usage_error(help, "`lastcall %s` needs an argument", command->name);
    }
    if (options.file_count == 0 && access("lastcall.yaml", F_OK) == 0) {
        options.files[options.file_count++] = "lastcall.yaml";
    }
    return command->run(&options);
}

int cli_main(int argc, char **argv)
{
    static char help_name[] = "help", version_name[] = "version";

    (void)signal(SIGPIPE, SIG_IGN); // a reader that has enough (`| head`) is no error
    if (argc < 2) {
        cli_print_commands(stderr);
        return CLI_USAGE;
    }
    char *name = is_help(argv[1]) ? help_name : strcmp(argv[1], "--version") == 0 ? version_name : argv[1];
    const struct cli_command *command = cli_command_find(name);
    if (command == NULL) {
        return cli_unknown_command(name);
    }
    is_output_lost = false;
    output_error = 0;
    int code = run(command, argc - 2, argv + 2);
    flush_or_tell(stdout);
    return is_output_lost && code == CLI_OK ? CLI_CANNOT_LOAD : code;
}

static bool wants_colour(FILE *stream, bool is_colourless)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return !is_colourless && (no_colour == NULL || no_colour[0] == '\0') && isatty(fileno(stream)) == 1 &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void cli_print_failure(FILE *stream, const struct failure *given, bool is_colourless)
{
    bool has_colour = wants_colour(stream, is_colourless);
    struct failure clean = *given;
    const struct failure *failure = &clean;

    failure_clean(&clean);

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
        fprintf(stream, "%s%.*s\n", note.length > 0 && note.data[0] == ' ' ? "" : "   = ", (int)note.length, note.data);
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

/// What may not be shown, as JSON says it; the others than ASCII are of two bytes or three.
static void put_hidden(FILE *stream, const char *bytes, size_t length)
{
    unsigned code = (unsigned char)bytes[0] & (length == 2 ? 0x1FU : 0x0FU);

    for (size_t i = 1; i < length; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3FU);
    }
    fprintf(stream, "\\u%04x", code);
}

void cli_put(FILE *stream, struct text text)
{
    size_t begin = 0;

    if (text.length == 0) {
        return;
    }

    for (size_t i = 0; i < text.length;) {
        size_t step = utf8_length(text.data + i, text.length - i);
        if (step >= 2 && plain_is_hidden(text.data + i, step)) {
            put_bytes(stream, text.data + begin, i - begin);
            put_hidden(stream, text.data + i, step);
            begin = i + step;
        }
        i += step > 0 ? step : 1;
    }
    put_bytes(stream, text.data + begin, text.length - begin);
}

void cli_flush(FILE *stream, const struct buffer *out)
{
    cli_put(stream, buffer_text(out));
    flush_or_tell(stream);
}
