// suppliers, breaker: how they stand, and what an operator says of their breakers.

#include "cli/admin_ask.h"
#include "cli/suppliers_print.h"
#include "cli/switch_send.h"

#include <string.h>

enum { SUPPLIERS_OUTPUT_CAP = 4 << 20, SUPPLIERS_ARENA = 64 << 20 };

/// "did you mean": of those that the answer lists.
static int no_such(const struct cli_options *options, const struct json_node *root, const char *name)
{
    const struct json_node *list = json_tree_member(root, "suppliers");
    struct failure why = { 0 };
    const char *nearest = NULL;
    char candidate[64];
    char best[64];

    for (const struct json_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        struct text other = json_tree_text(one, "name");
        (void)snprintf(candidate, sizeof(candidate), "%.*s", TEXT_ARGS(other));
        const char *candidates[] = { candidate, nearest };
        const char *found = text_nearest(text_of(name), candidates, nearest != NULL ? 2 : 1);
        if (found == candidate) {
            memcpy(best, candidate, sizeof(best));
            nearest = best;
        }
    }
    if (options->account != NULL) {
        failure_set(&why, "`%.60s` has no account that is called `%.60s`", name, options->account);
        failure_help(&why, "`lastcall breaker %.60s` lists them", name);
        return cli_fail(options, &why, CLI_USAGE);
    }
    failure_set(&why, "no supplier is called `%.60s`", name);
    if (nearest != NULL) {
        failure_help(&why, "did you mean `%s`?", nearest);
    } else {
        failure_help(&why, "`lastcall suppliers` lists those that there are");
    }
    return cli_fail(options, &why, CLI_USAGE);
}

/// The object of one supplier, as it came.
static struct text source_of(const struct json_node *root, const char *name)
{
    const struct json_node *list = json_tree_member(root, "suppliers");

    for (const struct json_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        if (text_equals_c(json_tree_text(one, "name"), name)) {
            return one->source;
        }
    }
    return TEXT("null");
}

/// All of them, or those of a name.
static int print_table(const struct cli_options *options, struct text body, const char *name)
{
    struct json_node *root = NULL;
    struct arena arena;
    struct buffer out;
    struct paint paint;
    const char *sentence;
    size_t offset;
    int code = CLI_OK;

    arena_init(&arena, SUPPLIERS_ARENA);
    buffer_init(&out, SUPPLIERS_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    if (json_tree_read(&arena, body, &root, &offset, &sentence) != STATUS_OK ||
        json_tree_member(root, "suppliers") == NULL) {
        code = admin_is_not_ours(options);
    } else if (suppliers_print(&paint, root, name, options->account) == 0 && name != NULL) {
        code = no_such(options, root, name);
    } else if (options->is_json) {
        cli_put(stdout, name != NULL ? source_of(root, name) : body);
        (void)fputc('\n', stdout);
    } else {
        cli_flush(stdout, &out);
    }
    buffer_fini(&out);
    arena_fini(&arena);
    return code;
}

static int show(const struct cli_options *options, const char *name)
{
    struct http_response *response = NULL;
    int code = admin_fetch(options, "/admin/v1/suppliers", &response);

    if (code == CLI_OK) {
        code = print_table(options, block_text(response->body), name);
        http_response_destroy(&response);
    }
    return code;
}

int cmd_suppliers(const struct cli_options *options)
{
    return show(options, NULL);
}

int cmd_breaker(const struct cli_options *options)
{
    static const char *const STATES[] = { "open", "close", "reset" };
    const char *state = options->argument_count > 1 ? options->arguments[1] : NULL;

    if (state == NULL && (options->lasts != NULL || options->why != NULL)) {
        return switch_misused(options, "it is not said what shall become of the breaker",
                              "say open, close or reset behind the name");
    }
    if (state == NULL) {
        return show(options, options->arguments[0]);
    }
    for (size_t i = 0; i < COUNT_OF(STATES); i++) {
        bool needs_why = i < 2 && (options->why == NULL || options->why[0] == '\0');
        if (strcmp(state, STATES[i]) != 0) {
            continue;
        }
        return needs_why
                   ? switch_misused(options, "it has no reason", "say --why \"…\": whoever finds it so wants to know")
                   : switch_send(options, "breaker", state);
    }
    return switch_misused(options, "a breaker takes open, close and reset",
                          "`lastcall help breaker` tells what they do");
}
