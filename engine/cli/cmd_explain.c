#include "base/json_tree.h"
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

/// False: it is a search's record.
static bool print_revalidation(const struct cli_options *options, struct text body)
{
    static const struct {
        const char *label, *name;
    } WORDS[] = { { "At ", "at" },           { "Status ", "status" }, { "Because ", "because" },
                  { "Price was ", "was" },   { "Price now ", "now" }, { "Supplier ", "supplier" },
                  { "Account ", "account" }, { "Script ", "script" }, { "Phase ", "phase" },
                  { "Kind ", "kind" },       { "Code ", "code" },     { "Detail ", "detail" } };
    struct json_node *root = NULL;
    const char *sentence = NULL;
    struct arena arena;
    struct buffer out;
    struct paint paint;
    size_t offset = 0;

    arena_init(&arena, EXPLAIN_OUTPUT_CAP);
    bool is_one = json_tree_read(&arena, body, &root, &offset, &sentence) == STATUS_OK &&
                  text_equals_c(json_tree_text(root, "line"), "revalidation");
    buffer_init(&out, EXPLAIN_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    for (size_t i = 0; is_one && i < COUNT_OF(WORDS); i++) {
        print_word(&paint, WORDS[i].label, json_tree_text(root, WORDS[i].name));
    }
    const struct json_node *took = json_tree_member(root, "took_ms"), *requests = json_tree_member(root, "requests");
    if (is_one && took != NULL && requests != NULL) {
        buffer_printf(&out, "Took %.*s ms, requests %.*s%s\n", TEXT_ARGS(took->source), TEXT_ARGS(requests->source),
                      json_tree_member(root, "joined") != NULL ? ", begun for another caller" : "");
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    arena_fini(&arena);
    return is_one;
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
        failure_help(&why, "a reply tells its id as search_id or revalidation_id");
        return cli_fail(options, &why, CLI_USAGE);
    }
    (void)snprintf(path, sizeof(path), "/admin/v1/searches/%s", options->arguments[0]);
    int code = admin_ask(options, path, &response);
    if (code != CLI_OK || response == NULL) {
        return code;
    }
    if (print_revalidation(options, block_text(response->body))) {
        code = CLI_OK;
    } else if (reply_view_read(response->body, &view, &why) == STATUS_OK) {
        print_record(options, &view);
        reply_view_fini(&view);
    } else {
        cli_print_failure(stderr, &why, options->is_colourless);
        code = CLI_REFUSED;
    }
    http_response_destroy(&response);
    return code;
}
