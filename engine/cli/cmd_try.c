#include "cli/try_folder.h"
#include "cli/try_print.h"
#include "cli/trying.h"

#include "app/try_write.h"
#include "base/redact.h"

#include <string.h>

enum { OUTPUT_MAX = 256 << 20, NEXT_MAX = 64 << 10 };

static void print(const struct trying *trying, struct text json)
{
    struct json_node *root;
    struct paint paint;
    struct buffer out;
    struct arena arena;
    const char *sentence;
    size_t offset;

    arena_init(&arena, OUTPUT_MAX);
    buffer_init(&out, OUTPUT_MAX);
    cli_paint_init(&paint, trying->options, &out);
    if (json_tree_read(&arena, json, &root, &offset, &sentence) == STATUS_OK) {
        try_print(&paint, root, trying->options->shows_all);
    } else {
        buffer_append_text(&out, json);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    arena_fini(&arena);
}

/// What comes next: the same answer kept as a fixture, as a command that can be typed as it is.
static void print_next(const struct trying *trying)
{
    const struct cli_options *options = trying->options;
    bool is_typed = strcmp(options->arguments[1], "-") != 0; // else it would wait for what is gone
    struct buffer out;

    for (size_t i = 0; i < options->bodies.count; i++) {
        is_typed = is_typed && strcmp(options->bodies.items[i], "-") != 0;
    }
    if (!is_typed) {
        return;
    }
    buffer_init(&out, NEXT_MAX);
    buffer_append_c(&out, "\nnext       ");
    trying_put_record(trying, &out);
    buffer_append_c(&out, "\n");
    out.length = redact_apply(out.data, out.length, false);
    cli_flush(stdout, &out);
    buffer_fini(&out);
}

static int show(struct trying *trying, const char *folder)
{
    const struct try_view view = {
        .run = &trying->run, .subject = &trying->subject, .folder = folder, .tell = cli_tell_finding
    };
    struct failure why = { .code = CODE_NONE }, failure;
    struct buffer out;

    buffer_init(&out, OUTPUT_MAX);
    bool is_saved = try_write(&view, &out, &why);
    if (trying->options->is_json) {
        buffer_append_byte(&out, '\n');
        cli_flush(stdout, &out);
    } else {
        print(trying, buffer_text(&out));
        if (try_failure(&trying->run, &trying->subject, &failure)) {
            cli_print_failure(stdout, &failure, trying->options->is_colourless);
        } else if (text_equals(try_outcome(&trying->run), TEXT("answered"))) {
            print_next(trying);
        }
    }
    buffer_fini(&out);
    if (!is_saved) {
        cli_print_failure(stderr, &why, trying->options->is_colourless);
    }
    int code = trying_exit_code(trying);
    return is_saved || code != CLI_OK ? code : CLI_CANNOT_LOAD;
}

int cmd_try(const struct cli_options *options)
{
    char folder[TRY_FOLDER_SIZE];
    struct failure why = { .code = CODE_NONE };
    struct trying trying;

    int code = trying_open(&trying, options);
    if (code == CLI_OK && !try_folder_make(options->keep, folder, &why)) {
        code = cli_fail(options, &why, CLI_CANNOT_LOAD);
    } else if (code == CLI_OK) {
        code = trying_run(&trying);
        code = code == CLI_OK ? show(&trying, folder) : code;
        try_folder_leave(options->keep, folder);
    }
    trying_close(&trying);
    return code;
}
