#include "cli/admin_ask.h"
#include "cli/reply_print.h"

#include <string.h>

enum { EXPLAIN_OUTPUT_CAP = 16 * 1024 * 1024 };

/// What an id may be made of: it becomes a part of a path.
static bool is_search_id(const char *id)
{
    size_t length = strspn(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_");
    return length > 0 && length <= 64 && id[length] == '\0';
}

static void print_word(struct paint *paint, const char *label, struct text value)
{
    if (value.length > 0) {
        buffer_append_c(paint->out, label);
        paint_text(paint, value, 80);
        buffer_append_byte(paint->out, '\n');
    }
}

/// A record has the status of the reply that was sent; only a problem of this answer itself would have been one.
static void print_record(const struct cli_options *options, struct reply_view *view)
{
    struct buffer out;
    struct paint paint;
    uint64_t status = view->status;

    view->status = 0;
    buffer_init(&out, EXPLAIN_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    if (status == 0) {
        buffer_append_c(&out, "The caller left before the reply.\n");
    } else if (status != 200) {
        buffer_printf(&out, "The reply was HTTP %llu.\n", (unsigned long long)status);
    }
    print_word(&paint, "Caller ", view->caller);
    print_word(&paint, "Trace ", view->trace_id);
    reply_print(&paint, view);
    cli_flush(stdout, &out);
    buffer_fini(&out);
}

int cmd_explain(const struct cli_options *options)
{
    struct http_response *response = NULL;
    struct reply_view view;
    struct failure why = { 0 };
    char path[128];

    if (explain_is_code(text_of(options->arguments[0]))) {
        return explain_code(options);
    }
    if (!is_search_id(options->arguments[0])) {
        failure_set(&why, "`%.80s` is no id of a search", options->arguments[0]);
        failure_help(&why, "a reply tells its id as search_id");
        return cli_fail(options, &why, CLI_USAGE);
    }
    (void)snprintf(path, sizeof(path), "/admin/v1/searches/%s", options->arguments[0]);
    int code = admin_ask(options, path, &response);
    if (code != CLI_OK || response == NULL) {
        return code;
    }
    if (reply_view_read(response->body, &view, &why) == STATUS_OK) {
        print_record(options, &view);
        reply_view_fini(&view);
    } else {
        cli_print_failure(stderr, &why, options->is_colourless);
        code = CLI_REFUSED;
    }
    http_response_destroy(&response);
    return code;
}
