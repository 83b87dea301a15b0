// What the commands that load settings and scripts themselves have in common: the loading, and how findings are told.

#include "cli/cli.h"

#include "app/generation.h"
#include "base/json_write.h"

#include <errno.h>
#include <string.h>

struct loading {
    void (*report)(void *context, const struct failure *failure);
    void *context;
    size_t findings;
};

static void load_report(void *context, const struct failure *failure)
{
    struct loading *loading = context;

    loading->findings++;
    loading->report(loading->context, failure);
}

/// In a line, for it is not what the command is about.
static void load_aside(void *context, const struct failure *given)
{
    struct failure failure = *given;
    char code[CODE_TEXT_SIZE], line[sizeof(failure.file) + sizeof(failure.message) + 128];
    bool has_code = failure.code != CODE_NONE;

    (void)context;
    failure_set(&failure, "warning%s%s%s: not needed here, so it is left out: %s", has_code ? "[" : "",
                has_code ? code_print(failure.code, code) : "", has_code ? "]" : "", given->message);
    failure_clean(&failure);
    (void)failure_print(&failure, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
}

/// The supplier's name in "acme", "acme/ok-one-way" and "suppliers/acme.lua".
static struct text load_name(const char *written)
{
    static const struct text LUA = { ".lua", 4 };
    const char *slash = strrchr(written, '/');
    struct text file = text_of(slash == NULL ? written : slash + 1), behind;

    if (file.length > LUA.length && memcmp(file.data + file.length - LUA.length, LUA.data, LUA.length) == 0) {
        return (struct text){ file.data, file.length - LUA.length };
    }
    return text_split(text_of(written), '/', &behind);
}

enum status cli_load_for(const struct cli_options *options, const char *const *names, size_t name_count,
                         void (*report)(void *context, const struct failure *failure), void *context,
                         struct settings **settings, struct generation **generation)
{
    struct loading loading = { report, context, 0 };
    struct text needed[CLI_MAX_ARGUMENTS];

    for (size_t i = 0; i < name_count; i++) {
        needed[i] = load_name(names[i]);
    }
    // Settings first: without them there is nothing to load scripts by.
    enum status status = settings_read(options->files, options->file_count, load_report, &loading, settings);
    if (status == STATUS_OK) {
        const struct generation_order order = { .settings = *settings,
                                                .needed = name_count > 0 ? needed : NULL,
                                                .needed_count = name_count,
                                                .aside = load_aside };
        status = generation_build_over(&order, load_report, &loading, generation, NULL);
    }
    if (status != STATUS_OK && loading.findings == 0) {
        struct failure why = { .message = "the settings or scripts could not be loaded: out of memory" };
        report(context, &why);
    }
    return status;
}

enum status cli_load(const struct cli_options *options, void (*report)(void *context, const struct failure *failure),
                     void *context, struct settings **settings, struct generation **generation)
{
    return cli_load_for(options, NULL, 0, report, context, settings, generation);
}

void cli_tell_finding(struct json_writer *json, const struct failure *given, bool is_colourless)
{
    struct failure clean = *given;
    const struct failure *failure = &clean;

    if (json == NULL) {
        cli_print_failure(stdout, given, is_colourless);
        return;
    }
    failure_clean(&clean);
    json_begin_object(json);
    json_field_c(json, "file", failure->file);
    json_field_u64(json, "line", failure->line);
    json_field_u64(json, "column", failure->column);
    char code[CODE_TEXT_SIZE];
    if (failure->code != CODE_NONE) {
        json_field_c(json, "code", code_print(failure->code, code));
    }
    json_field_c(json, "message", failure->message);
    json_key(json, "notes");
    json_begin_array(json);
    struct text rest = text_of(failure->notes);
    for (struct text note = failure_next_note(&rest); note.data != NULL; note = failure_next_note(&rest)) {
        json_text(json, note);
    }
    json_end_array(json);
    json_field_c(json, "help", failure->help);
    json_end_object(json);
}

bool cli_read_input(const char *path, struct buffer *input, struct failure *why)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char piece[65536];
    size_t got = 0;

    if (file == NULL) {
        failure_set(why, "cannot open %s: %s", path, strerror(errno));
        return false;
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0 && buffer_append(input, piece, got)) {
    }
    bool has_failed = ferror(file) != 0;
    if (file != stdin) {
        (void)fclose(file);
    }
    if (has_failed || input->is_full || input->length == 0) {
        failure_set(why, "%s %s", path, has_failed ? "cannot be read" : input->is_full ? "is too large" : "is empty");
        return false;
    }
    return true;
}
