#include "cli/trying.h"

#include "app/generation.h"
#include "app/hide.h"
#include "app/try_record.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/cli_commands.h"
#include "cli/findings.h"

#include <errno.h>
#include <string.h>

enum { NEXT_MAX = 64 << 10 };

// ------------------------------------------------------------------------------------------------------------- reading

static bool read_stream(FILE *file, struct buffer *out)
{
    char piece[65536];
    size_t got;

    while ((got = fread(piece, 1, sizeof(piece), file)) > 0 && buffer_append(out, piece, got)) {
    }
    return ferror(file) == 0 && !out->is_full;
}

static bool read_input(const char *path, const char *what, struct buffer *out, struct failure *why)
{
    struct file_facts facts = { .why = "it cannot be read whole" };
    bool is_stdin = strcmp(path, "-") == 0;
    bool is_read = is_stdin ? read_stream(stdin, out) : file_read(path, out, &facts) == STATUS_OK;

    if (!is_read) {
        failure_code(why, CODE_SEARCH_INVALID);
        failure_set(why, "%s `%s` cannot be read: %s", what, is_stdin ? "standard input" : path, facts.why);
        failure_help(why, "give the path of a file, or - for standard input");
    }
    return is_read;
}

static bool read_headers(struct trying *trying, struct failure *why)
{
    const struct cli_list *headers = &trying->options->headers;

    for (size_t i = 0; i < headers->count; i++) {
        struct text value;
        struct text name = text_split(text_of(headers->items[i]), ':', &value);
        bool is_one_line = strpbrk(headers->items[i], "\r\n") == NULL;
        if (value.data == NULL || text_trim(name).length == 0 || !is_one_line) {
            failure_set(why, "`%s` is no header", headers->items[i]);
            failure_help(why, "such as --header \"Content-Type: application/json\"");
            return false;
        }
        char *lower = arena_alloc(&trying->run.arena, name.length + 1);
        for (size_t j = 0; lower != NULL && j < name.length; j++) {
            lower[j] = (char)(name.data[j] >= 'A' && name.data[j] <= 'Z' ? name.data[j] | 0x20 : name.data[j]);
        }
        trying->headers[i] =
            (struct header){ text_trim((struct text){ lower, lower == NULL ? 0 : name.length }), text_trim(value) };
    }
    return true;
}

/// Which answer the item of a list is about: the one before it. Where there is only one, it may stand before that.
static bool answer_of(const struct trying *trying, const char *option, const struct cli_list *list, size_t item,
                      size_t *answer, struct failure *why)
{
    if (list->bodies[item] == 0 && trying->options->bodies.count > 1) {
        failure_set(why, "--%s %s stands before all --body: it is not known which it is about", option,
                    list->items[item]);
        failure_help(why, "put it behind its own: --body FILE --%s …", option);
        return false;
    }
    *answer = list->bodies[item] == 0 ? 0 : list->bodies[item] - 1;
    return true;
}

/// Status and headers, each to its answer. The headers of one stand in a row, as they were given.
static bool give_to_answers(struct trying *trying, struct failure *why)
{
    const struct cli_options *options = trying->options;
    bool has_status[CLI_MAX_ITEMS] = { false };
    uint64_t status = 0;
    size_t at = 0;

    for (size_t i = 0; i < options->statuses.count; i++) {
        if (!answer_of(trying, "status", &options->statuses, i, &at, why)) {
            return false;
        }
        if (has_status[at]) {
            failure_set(why, "--status %s is the second one of --body %s", options->statuses.items[i],
                        options->bodies.items[at]);
            failure_help(why, "an answer has one; each stands behind its own --body");
            return false;
        }
        has_status[at] = true;
        require(text_to_u64(text_of(options->statuses.items[i]), &status)); // the command line was checked
        trying->answers[at].status = (uint16_t)status;
    }
    for (size_t i = 0; i < options->headers.count; i++) {
        if (!answer_of(trying, "header", &options->headers, i, &at, why)) {
            return false;
        }
        struct try_answer *answer = &trying->answers[at];
        answer->headers = answer->header_count++ == 0 ? &trying->headers[i] : answer->headers;
    }
    return true;
}

static bool read_answers(struct trying *trying, struct failure *why)
{
    const struct cli_options *options = trying->options;
    size_t count = options->bodies.count;

    if (count == 0 && (options->statuses.count > 0 || options->headers.count > 0 || options->login != NULL)) {
        failure_set(why, "--status, --header and --login are about a saved answer, and there is none");
        failure_help(why, "add --body FILE");
        return false;
    }
    size_t from_stdin = strcmp(options->arguments[1], "-") == 0 ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        from_stdin += strcmp(options->bodies.items[i], "-") == 0 ? 1 : 0;
    }
    if (from_stdin > 1) {
        failure_set(why, "only one file can be standard input");
        failure_help(why, "give the path of the others");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        buffer_init(&trying->bodies[i], FIXTURE_BODY_MAX);
        if (!read_input(options->bodies.items[i], "the answer", &trying->bodies[i], why)) {
            return false;
        }
        trying->answers[i] = (struct try_answer){ .body = buffer_text(&trying->bodies[i]), .status = 200 };
    }
    return read_headers(trying, why) && give_to_answers(trying, why);
}

int trying_open(struct trying *trying, const struct cli_options *options)
{
    struct failure why = { .code = CODE_NONE };
    struct buffer search;

    *trying = (struct trying){ .options = options };
    trying->has_log = log_start(LOG_ERROR) == STATUS_OK; // what the log would say is shown
    try_run_init(&trying->run);
    buffer_init(&search, TRY_SEARCH_MAX);
    bool has_answers = read_answers(trying, &why);
    if (!has_answers || !read_input(options->arguments[1], "the search", &search, &why)) {
        buffer_fini(&search);
        return cli_fail(trying->options, &why, has_answers ? CLI_CANNOT_LOAD : CLI_USAGE);
    }
    struct findings findings;
    findings_begin(&findings, options);
    enum status status =
        cli_load_for(options, options->arguments, 1, findings_tell, &findings, &trying->settings, &trying->generation);
    findings_end(&findings);
    if (status != STATUS_OK) {
        buffer_fini(&search);
        return CLI_CANNOT_LOAD;
    }
    bool is_found = try_find(&trying->subject, trying->settings, trying->generation, options->arguments[0], &why);
    bool is_read = is_found && try_take_search(&trying->run, &trying->subject, buffer_text(&search), &why);
    buffer_fini(&search);
    return is_read ? CLI_OK : cli_fail(trying->options, &why, CLI_USAGE);
}

int trying_run(struct trying *trying)
{
    const struct cli_options *options = trying->options;
    struct failure why = { .code = CODE_NONE };
    bool is_run;

    if (options->bodies.count > 0) {
        is_run = try_run_answers(&trying->run, &trying->subject, trying->answers, options->bodies.count,
                                 text_of(options->login),
                                 trying->run.clock_us != 0 ? trying->run.clock_us : clock_wall_us(), &why);
    } else {
        is_run = try_run_live(&trying->run, &trying->subject, &why);
    }
    return is_run ? CLI_OK : cli_fail(trying->options, &why, CLI_CANNOT_LOAD);
}

void trying_close(struct trying *trying)
{
    try_run_fini(&trying->run);
    for (size_t i = 0; i < trying->options->bodies.count; i++) {
        buffer_fini(&trying->bodies[i]);
    }
    generation_release(&trying->generation);
    settings_release(&trying->settings);
    if (trying->has_log) {
        log_stop();
    }
}

// ---------------------------------------------------------------------------------------------------------- what is
// next

/// A word as a shell takes it.
static void put_word(struct buffer *out, const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-:=@%+,";
    bool is_plain = word[0] != '\0' && word[strspn(word, PLAIN)] == '\0';

    buffer_append_c(out, is_plain ? " " : " '");
    for (const char *at = word; *at != '\0'; at++) {
        if (*at == '\'') {
            buffer_append_c(out, "'\\''");
        } else {
            buffer_append_byte(out, *at);
        }
    }
    buffer_append_c(out, is_plain ? "" : "'");
}

static void put_option(struct buffer *out, const char *option, const char *value)
{
    buffer_printf(out, " --%s", option);
    put_word(out, value);
}

/// A header of an answer as one may see it.
static void put_header(struct buffer *out, const char *header)
{
    struct text value, name = text_split(text_of(header), ':', &value);
    struct buffer shown;
    struct hide hide;

    hide_init(&hide, false);
    buffer_init(&shown, NEXT_MAX);
    buffer_printf(&shown, "%.*s: ", TEXT_ARGS(text_trim(name)));
    hide_header(&hide, text_trim(name), text_trim(value), &shown);
    buffer_append_byte(&shown, '\0');
    put_option(out, "header", shown.data);
    buffer_fini(&shown);
    hide_fini(&hide);
}

/// Those of one answer, or (0) those that stand before all.
static void put_list(struct buffer *out, const char *option, const struct cli_list *list, size_t answer)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->bodies[i] == answer && strcmp(option, "header") == 0) {
            put_header(out, list->items[i]);
        } else if (list->bodies[i] == answer) {
            put_option(out, option, list->items[i]);
        }
    }
}

void trying_put_settings(const struct cli_options *options, struct buffer *out)
{
    bool is_found = options->file_count == 1 && strcmp(options->files[0], "lastcall.yaml") == 0;

    for (size_t i = 0; i < options->file_count && !is_found; i++) {
        buffer_append_c(out, " -c");
        put_word(out, options->files[i]);
    }
}

/// The name that `record` would choose, where a fixture of one's own has it already: one that is free.
static void put_name(const struct trying *trying, struct buffer *out)
{
    struct try_recording recording = { .subject = &trying->subject, .run = &trying->run };
    struct failure why;
    char name[TRY_NAME_SIZE];

    try_record_choose(&recording);
    if (try_record_check(&recording, &why)) {
        return;
    }
    for (int number = 2; number < 100; number++) {
        (void)snprintf(name, sizeof(name), "%.50s-%d", recording.chosen, number);
        recording.name = name;
        if (try_record_check(&recording, &why)) {
            put_option(out, "as", name);
            return;
        }
    }
}

void trying_put_record(const struct trying *trying, struct buffer *out)
{
    const struct cli_options *options = trying->options;

    buffer_printf(out, "lastcall record %.*s", TEXT_ARGS(trying->subject.supplier->name));
    put_word(out, options->arguments[1]);
    put_list(out, "status", &options->statuses, 0);
    put_list(out, "header", &options->headers, 0);
    for (size_t i = 0; i < options->bodies.count; i++) {
        put_option(out, "body", options->bodies.items[i]);
        put_list(out, "status", &options->statuses, i + 1);
        put_list(out, "header", &options->headers, i + 1);
    }
    if (options->login != NULL) {
        buffer_append_c(out, " --login …"); // perhaps a real one
    }
    put_name(trying, out);
    trying_put_settings(options, out);
}

// ---------------------------------------------------------------------------------------------------------- exit codes

int trying_exit_code(const struct trying *trying)
{
    static const char *const FINE[] = { "answered", "empty" };
    struct text outcome = try_outcome(&trying->run);

    if (outcome.data == NULL) {
        return CLI_USAGE; // the product said no
    }
    if (text_equals(outcome, TEXT("skipped"))) {
        return CLI_NOT_ASKED;
    }
    if (try_is_mistake(&trying->run) || json_tree_member(try_report(&trying->run), "offers_dropped") != NULL) {
        return CLI_FINDINGS;
    }
    for (size_t i = 0; i < COUNT_OF(FINE); i++) {
        if (text_equals_c(outcome, FINE[i])) {
            return CLI_OK;
        }
    }
    if (trying->run.is_live) {
        return CLI_CALL_FAILED;
    }
    bool is_finding = text_equals(outcome, TEXT("too_large")) || try_is_untold(&trying->run);
    return is_finding ? CLI_FINDINGS : CLI_OK; // a refusal that the script tells was meant to be one
}
