// Completion for shells, made of the tables of commands and options. What both shells understand is written once.

#include "cli/cli_commands.h"

#include "base/code.h"
#include "base/text.h"

#include <string.h>

enum { COMPLETION_OUTPUT_CAP = 1 << 20 };

static const char BASH_HEAD[] =
    "# lastcall: completion for bash. To have it in every shell, put into ~/.bashrc:\n"
    "#     source <(lastcall completion bash)\n"
    "\n"
    "_lastcall_words() {\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$word\"))\n"
    "}\n"
    "\n"
    "_lastcall_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    if [ -n \"$1\" ]; then\n"
    "        COMPREPLY=($(compgen -f -X \"!*$1\" -- \"$word\") $(compgen -d -- \"$word\"))\n"
    "    else\n"
    "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
    "    fi\n"
    "}\n";

static const char BASH_TAIL[] = "\n"
                                "_lastcall() {\n"
                                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                "    local command=${COMP_WORDS[1]} position=1 i\n"
                                "    COMPREPLY=()\n"
                                "    [ \"$COMP_CWORD\" -eq 1 ] && command=\n"
                                "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                                "        case \"${COMP_WORDS[i]}\" in\n"
                                "        -*) _lastcall_takes_value \"${COMP_WORDS[i]}\" && ((i++)) ;;\n"
                                "        *) ((position++)) ;;\n"
                                "        esac\n"
                                "    done\n"
                                "    _lastcall_complete\n"
                                "}\n"
                                "\n"
                                "complete -F _lastcall lastcall\n";

static const char ZSH_HEAD[] =
    "#compdef lastcall\n"
    "# lastcall: completion for zsh. To have it in every shell, put into ~/.zshrc, behind compinit:\n"
    "#     source <(lastcall completion zsh)\n"
    "\n"
    "_lastcall_words() {\n"
    "    compadd -- ${=1}\n"
    "}\n"
    "\n"
    "_lastcall_files() {\n"
    "    _files -g \"*$1\"\n"
    "}\n";

static const char ZSH_TAIL[] = "\n"
                               "_lastcall() {\n"
                               "    local word=${words[CURRENT]} before=${words[CURRENT-1]} command=${words[2]}\n"
                               "    local position=1 i\n"
                               "    (( CURRENT == 2 )) && command=\n"
                               "    for ((i = 3; i < CURRENT; i++)); do\n"
                               "        case \"${words[i]}\" in\n"
                               "        -*) _lastcall_takes_value \"${words[i]}\" && ((i++)) ;;\n"
                               "        *) ((position++)) ;;\n"
                               "        esac\n"
                               "    done\n"
                               "    _lastcall_complete\n"
                               "}\n"
                               "\n"
                               "if [ \"${funcstack[1]}\" = \"_lastcall\" ]; then\n"
                               "    _lastcall \"$@\"\n"
                               "else\n"
                               "    compdef _lastcall lastcall\n"
                               "fi\n";

/// The directories are those of lastcall.yaml, as far as they stand in one line. Only names that suppliers may have are
/// given: `compgen -W` expands its words, so that any other file's name could run commands.
static const char SUPPLIERS[] = "\n"
                                "_lastcall_directories() {\n"
                                "    local dirs\n"
                                "    dirs=$(sed -n 's/^suppliers_dir:[[:blank:]]*//p' lastcall.yaml 2>/dev/null | sed "
                                "'s/[[:blank:]]#.*//' | tr -d '[],\"')\n"
                                "    echo \"${dirs:-suppliers}\"\n"
                                "}\n"
                                "\n"
                                "_lastcall_suppliers() {\n"
                                "    _lastcall_directories | xargs ls -- 2>/dev/null | "
                                "LC_ALL=C sed -n 's/^\\([a-z][a-z0-9_]*\\)\\.lua$/\\1/p'\n"
                                "}\n"
                                "\n"
                                "_lastcall_fixtures() {\n"
                                "    local dirs name=${word%%/*}\n"
                                "    case \"$word\" in */*) ;; *) return ;; esac\n"
                                "    case \"$name\" in '' | *[!a-z0-9_]*) return ;; esac\n"
                                "    dirs=$(_lastcall_directories)\n"
                                "    echo \"$dirs\" | xargs -n 1 echo | sed \"s|\\$|/$name.test|\" | xargs ls -- "
                                "2>/dev/null |\n"
                                "        LC_ALL=C sed -n \"s/^\\([A-Za-z0-9_-]*\\)\\.json\\$/$name\\/\\1/p\"\n"
                                "}\n";

static void write_codes(struct buffer *out)
{
    size_t count;
    const struct code_row *rows = code_rows(&count);
    char number[CODE_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s", i > 0 ? " " : "", code_print(rows[i].code, number));
    }
}

static void write_commands(struct buffer *out)
{
    size_t count;
    const struct cli_command *commands = cli_commands(&count);

    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s", i > 0 ? " " : "", commands[i].name);
    }
}

/// What completes a word of a kind: "suppliers", "fixtures" (and suppliers), "json", "files", "codes", "commands", or
/// words parted by bars.
static void write_kind(struct text kind, struct buffer *out)
{
    if (text_equals_c(kind, "suppliers")) {
        buffer_append_c(out, "_lastcall_words \"$(_lastcall_suppliers)\"");
    } else if (text_equals_c(kind, "fixtures")) {
        buffer_append_c(out, "_lastcall_words \"$(_lastcall_suppliers) $(_lastcall_fixtures)\"");
    } else if (text_equals_c(kind, "json")) {
        buffer_append_c(out, "_lastcall_files .json");
    } else if (text_equals_c(kind, "files")) {
        buffer_append_c(out, "_lastcall_files ''");
    } else {
        buffer_append_c(out, "_lastcall_words \"");
        if (text_equals_c(kind, "codes")) {
            write_codes(out);
        } else if (text_equals_c(kind, "commands")) {
            write_commands(out);
        } else {
            for (size_t i = 0; i < kind.length; i++) {
                buffer_append_byte(out, kind.data[i] == '|' ? ' ' : kind.data[i]);
            }
        }
        buffer_append_byte(out, '"');
    }
}

/// What help calls a value says what completes it.
static struct text kind_of_value(const char *value)
{
    static const struct {
        const char *value, *kind;
    } KINDS[] = { { "FILE", "files" }, { "NAME", "suppliers" } };

    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        if (strcmp(value, KINDS[i].value) == 0) {
            return text_of(KINDS[i].kind);
        }
    }
    return strchr(value, '|') != NULL ? text_of(value) : (struct text){ 0 };
}

static void write_option_pattern(const struct cli_option_row *row, struct buffer *out)
{
    if (row->short_name != 0) {
        buffer_printf(out, "-%c | ", row->short_name);
    }
    buffer_printf(out, "--%s)", row->name);
}

static void write_takes_value(struct buffer *out)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    buffer_append_c(out, "\n_lastcall_takes_value() {\n    case \"$1\" in\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].value != NULL) {
            buffer_append_c(out, "    ");
            write_option_pattern(&rows[i], out);
            buffer_append_c(out, " return 0 ;;\n");
        }
    }
    buffer_append_c(out, "    esac\n    return 1\n}\n");
}

static void write_values(struct buffer *out)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    buffer_append_c(out, "    case \"$before\" in\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].value == NULL) {
            continue;
        }
        struct text kind = kind_of_value(rows[i].value);
        buffer_append_c(out, "    ");
        write_option_pattern(&rows[i], out);
        buffer_append_byte(out, ' ');
        if (kind.data != NULL) {
            write_kind(kind, out);
            buffer_append_c(out, "; ");
        }
        buffer_append_c(out, "return ;;\n");
    }
    buffer_append_c(out, "    esac\n");
}

static void write_options(const struct cli_command *command, struct buffer *out)
{
    size_t count;
    const struct cli_option_row *rows = cli_option_rows(&count);

    buffer_printf(out, "    %s:-*) _lastcall_words \"", command->name);
    for (size_t i = 0; i < count; i++) {
        if (cli_command_takes(command, rows[i].name)) {
            buffer_printf(out, "--%s ", rows[i].name);
        }
    }
    buffer_append_c(out, "--help\" ;;\n");
}

/// A pattern "COMMAND:POSITION" for each argument; the last kind goes on when more may come.
static void write_arguments(const struct cli_command *command, struct buffer *out)
{
    size_t position = 1;

    for (struct text rest = text_of(command->arguments); rest.data != NULL; position++) {
        struct text kind = text_split(rest, ' ', &rest);
        if (rest.data == NULL && command->most_arguments > position) {
            buffer_printf(out, "    %s:*) ", command->name);
        } else {
            buffer_printf(out, "    %s:%zu) ", command->name, position);
        }
        write_kind(kind, out);
        buffer_append_c(out, " ;;\n");
    }
}

static void write_complete(struct buffer *out)
{
    size_t count;
    const struct cli_command *commands = cli_commands(&count);

    buffer_append_c(out, "\n_lastcall_complete() {\n    if [ -z \"$command\" ]; then\n"
                         "        case \"$word\" in -*) _lastcall_words \"--help --version\"; return ;; esac\n"
                         "        _lastcall_words \"");
    write_commands(out);
    buffer_append_c(out, "\"\n        return\n    fi\n");
    write_values(out);
    buffer_append_c(out, "    case \"$command:$word\" in\n");
    for (size_t i = 0; i < count; i++) {
        write_options(&commands[i], out);
    }
    buffer_append_c(out, "    *) _lastcall_argument ;;\n    esac\n}\n\n_lastcall_argument() {\n"
                         "    case \"$command:$position\" in\n");
    for (size_t i = 0; i < count; i++) {
        write_arguments(&commands[i], out);
    }
    buffer_append_c(out, "    esac\n}\n");
}

int cmd_completion(const struct cli_options *options)
{
    const char *shell = options->arguments[0];
    bool is_zsh = strcmp(shell, "zsh") == 0;
    struct buffer out;

    if (!is_zsh && strcmp(shell, "bash") != 0) {
        return cli_usage_error("one of: bash, zsh", "there is no completion for the shell `%.40s`", shell);
    }
    buffer_init(&out, COMPLETION_OUTPUT_CAP);
    buffer_append_c(&out, is_zsh ? ZSH_HEAD : BASH_HEAD);
    buffer_append_c(&out, SUPPLIERS);
    write_takes_value(&out);
    write_complete(&out);
    buffer_append_c(&out, is_zsh ? ZSH_TAIL : BASH_TAIL);
    require(!out.is_full);
    cli_flush(stdout, &out);
    buffer_fini(&out);
    return CLI_OK;
}
