#include "cli/admin_ask.h"
#include "cli/reload_print.h"
#include "model/exchange.h"

enum {
    HISTORY_OUTPUT_CAP = 4 << 20,
    HISTORY_ARENA = 64 << 20,
    NUMBER_COLUMNS = 6,
    TIME_COLUMNS = 24,
    WORD_COLUMNS = 20
};

static bool is_true(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);
    return member != NULL && member->kind == JSON_TRUE;
}

/// "acme@77aa, -echo, settings": what changed, in the order of the answer.
static void print_changes(struct paint *paint, const struct json_node *reload)
{
    const struct json_node *changed = json_tree_member(reload, "changed");
    const char *separator = "";

    for (const struct json_node *row = changed != NULL ? changed->first : NULL; row != NULL; row = row->next) {
        struct text running = json_tree_text(row, "running");
        bool is_removed = text_equals_c(json_tree_text(row, "fate"), "removed");
        buffer_append_c(paint->out, separator);
        buffer_append_c(paint->out, is_removed ? "-" : "");
        paint_text(paint, running.length > 0 ? running : json_tree_text(row, "name"), 80);
        separator = ", ";
    }
    if (is_true(json_tree_member(reload, "settings"), "changed")) {
        buffer_append_c(paint->out, separator);
        buffer_append_c(paint->out, "settings");
    }
}

static void print_generation(struct paint *paint, const struct json_node *entry)
{
    const struct json_node *reload = json_tree_member(entry, "reload");
    struct text who = json_tree_text(reload, "who");
    struct text why = json_tree_text(reload, "why");

    paint_cell(paint, json_tree_text(entry, "generation"), NUMBER_COLUMNS, PAINT_RIGHT);
    buffer_append_c(paint->out, is_true(entry, "running") ? " * " : is_true(entry, "kept") ? "   " : " - ");
    paint_cell(paint, json_tree_text(reload, "at"), TIME_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 2);
    paint_cell(paint, who.length > 0 ? who : json_tree_text(reload, "source"), WORD_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 2);
    print_changes(paint, reload);
    if (why.length > 0) {
        buffer_append_c(paint->out, ": ");
        paint_text(paint, why, why.length);
    }
    buffer_append_byte(paint->out, '\n');
}

static void print_event(struct paint *paint, const struct json_node *event)
{
    struct text message = json_tree_text(event, "message");
    struct text file = json_tree_text(event, "file");
    struct text line = json_tree_text(event, "line");

    paint_cell(paint, json_tree_text(event, "generation"), NUMBER_COLUMNS, PAINT_RIGHT);
    buffer_append_c(paint->out, "   ");
    paint_cell(paint, json_tree_text(event, "at"), TIME_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 2);
    paint_cell(paint, json_tree_text(event, "event"), WORD_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 2);
    paint_text(paint, json_tree_text(event, "name"), 80);
    buffer_append_c(paint->out, json_tree_text(event, "name").length > 0 ? ": " : "");
    if (file.length > 0) {
        paint_text(paint, file, 300);
        buffer_append_c(paint->out, line.length > 0 ? ":" : "");
        paint_text(paint, line, 20);
        buffer_append_c(paint->out, ": ");
    }
    paint_text(paint, message, message.length);
    buffer_append_byte(paint->out, '\n');
}

/// The newest first, one line each.
static int print_list(const struct cli_options *options, struct text body)
{
    struct arena arena;
    struct buffer out;
    struct paint paint;
    struct json_node *root = NULL;
    const char *sentence;
    size_t offset;
    int code = CLI_OK;

    arena_init(&arena, HISTORY_ARENA);
    buffer_init(&out, HISTORY_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    if (json_tree_read(&arena, body, &root, &offset, &sentence) != STATUS_OK) {
        root = NULL;
    }
    const struct json_node *list = json_tree_member(root, options->is_events ? "events" : "generations");
    if (list != NULL && list->kind == JSON_BEGIN_ARRAY) {
        for (const struct json_node *item = list->first; item != NULL; item = item->next) {
            (options->is_events ? print_event : print_generation)(&paint, item);
        }
        cli_flush(stdout, &out);
    } else {
        code = admin_is_not_ours(options);
    }
    buffer_fini(&out);
    arena_fini(&arena);
    return code;
}

int cmd_history(const struct cli_options *options)
{
    struct http_response *response = NULL;
    int code = admin_ask(options, options->is_events ? "/admin/v1/events" : "/admin/v1/generations", &response);

    if (code == CLI_OK && response != NULL) {
        code = print_list(options, block_text(response->body));
    }
    http_response_destroy(&response);
    return code;
}
