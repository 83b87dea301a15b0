/// Command line: what a command is given, and its exit codes (contract.md section 7). The table of commands is in
/// cli/cli_commands.h.
///
/// Threads: the main thread.
/// Memory:  options point into argv.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "cli/paint.h"

#include <stdio.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FINDINGS = 1,
    CLI_USAGE = 2,
    CLI_CANNOT_LOAD = 3,
    CLI_UNREACHABLE = 4,
    CLI_REFUSED = 5,
    CLI_THRESHOLD = 6,
    CLI_CALL_FAILED = 7,
    CLI_NOT_ASKED = 8,
    CLI_BUG = 70,
};

enum {
    CLI_MAX_FILES = 16,
    CLI_MAX_ARGUMENTS = 16,
    CLI_MAX_ITEMS = 16,
    CLI_WIDTH = 100,
    CLI_WIDTH_MIN = 80,
    CLI_WIDTH_MAX = 240
};

/// What may be said several times.
struct cli_list {
    const char *items[CLI_MAX_ITEMS];
    size_t bodies[CLI_MAX_ITEMS]; // how many --body stood before each
    size_t count;
};

struct cli_options {
    const char *files[CLI_MAX_FILES]; // -c, in order; ./lastcall.yaml when none is given and it exists
    size_t file_count;
    const char *arguments[CLI_MAX_ARGUMENTS];
    size_t argument_count;
    const char *url, *admin;
    const char *why, *retry;             // NULL: not given
    const char *shadow, *promote, *drop; // names of suppliers; NULL: not given
    const char *account, *lasts, *waits; // of commands that switch a supplier; NULL: not given
    uint64_t budget_ms;                  // 0: not given
    uint64_t width;                      // 0: the terminal's
    struct cli_list bodies;              // saved answers
    struct cli_list statuses, headers;   // of the --body before each
    const char *login, *keep, *as;       // NULL: not given
    bool shows_all, is_forced;
    bool is_json, is_colourless, has_secrets, is_strict, is_updating, is_checking, is_events;
    const char *product, *from; // of `new`; NULL: not given
    bool has_origin;
    bool asks_help;
    const char *listen, *latency, *fault, *settings, *tls; // of mock; NULL: not given
    uint64_t seed, once;                                   // of mock; once 0: for good
};

int cli_main(int argc, char **argv);

int cmd_serve(const struct cli_options *options);
int cmd_search(const struct cli_options *options);
int cmd_check(const struct cli_options *options);
int cmd_test(const struct cli_options *options);
int cmd_try(const struct cli_options *options);
int cmd_record(const struct cli_options *options);
int cmd_mock(const struct cli_options *options);
int cmd_explain(const struct cli_options *options);
bool explain_is_code(struct text word);
int explain_code(const struct cli_options *options);
int cmd_status(const struct cli_options *options);
int cmd_reload(const struct cli_options *options);
int cmd_rollback(const struct cli_options *options);
int cmd_history(const struct cli_options *options);
int cmd_suppliers(const struct cli_options *options);
int cmd_breaker(const struct cli_options *options);
int cmd_disable(const struct cli_options *options);
int cmd_enable(const struct cli_options *options);
int cmd_drain(const struct cli_options *options);
int cmd_ceiling(const struct cli_options *options);
int cmd_purge(const struct cli_options *options);
int cmd_new(const struct cli_options *options);
int cmd_config(const struct cli_options *options);
int cmd_completion(const struct cli_options *options);
int cmd_help(const struct cli_options *options);
int cmd_version(const struct cli_options *options);

/// `place: error[code]: sentence`, the notes, then `help: remedy`. The first line can be read by an editor.
void cli_print_failure(FILE *stream, const struct failure *failure, bool is_colourless);

/// A finding: an object in the list that `json` has open, or, when that is NULL, lines on standard output.
struct json_writer;
void cli_tell_finding(struct json_writer *json, const struct failure *failure, bool is_colourless);

/// Why a command did nothing: lines on standard error, or with --json an object on standard output whose only finding
/// it is. Gives the exit code.
int cli_fail(const struct cli_options *options, const struct failure *why, int code);

/// Settings and scripts, with every finding reported, one at least unless the status is OK.
struct settings;
struct generation;
MUST_CHECK enum status cli_load(const struct cli_options *options,
                                void (*report)(void *context, const struct failure *failure), void *context,
                                struct settings **settings, struct generation **generation);

/// Likewise for the suppliers named, each as "acme", "acme/fixture" or "suppliers/acme.lua": what is wrong with what
/// they do not need stops nobody, and is told in a line of standard error. Without names they are all needed.
MUST_CHECK enum status cli_load_for(const struct cli_options *options, const char *const *names, size_t name_count,
                                    void (*report)(void *context, const struct failure *failure), void *context,
                                    struct settings **settings, struct generation **generation);

/// The whole file, or standard input for "-", up to the buffer's ceiling. False: `why` says why not; also when it is
/// empty.
MUST_CHECK bool cli_read_input(const char *path, struct buffer *input, struct failure *why);

/// How to draw on standard output: its width, encoding and colours.
void cli_paint_init(struct paint *paint, const struct cli_options *options, struct buffer *out);

/// Writes what may hold words of others; of those, what is not to be shown (base/plain.h) becomes the escape of JSON.
/// Ours may hold controls of ASCII: ends of lines, colours.
void cli_put(FILE *stream, struct text text);

/// Writes the whole buffer so; an output that is closed early (`| head`) is no error.
void cli_flush(FILE *stream, const struct buffer *out);
