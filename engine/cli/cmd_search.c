#include "cli/cli.h"

#include "cli/reply_print.h"
#include "cli/search_client.h"

enum { SEARCH_FILE_CAP = 16 * 1024 * 1024, SEARCH_OUTPUT_CAP = 16 * 1024 * 1024 };

static int search_exit_code(uint16_t status)
{
    if (status < 300) {
        return CLI_OK;
    }
    return status == 504 ? CLI_CALL_FAILED : CLI_REFUSED;
}

static int search_print(const struct cli_options *options, const struct http_response *response)
{
    struct reply_view view;
    struct failure why = { 0 };
    struct buffer out;
    struct paint paint;

    if (reply_view_read(response->body, &view, &why) != STATUS_OK) {
        char sentence[sizeof(why.message)];
        (void)snprintf(sentence, sizeof(sentence), "%s", why.message);
        failure_set(&why, "HTTP %u: %.400s", response->status, sentence);
        failure_help(&why, "is it lastcall that listens at %s? --json prints the reply as it came", options->url);
        return cli_fail(options, &why, CLI_REFUSED);
    }
    if (response->status >= 300 && view.status == 0) {
        view.status = response->status;
    }
    buffer_init(&out, SEARCH_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    reply_print(&paint, &view);
    cli_flush(stdout, &out);
    buffer_fini(&out);
    reply_view_fini(&view);
    return search_exit_code(response->status);
}

int cmd_search(const struct cli_options *options)
{
    struct http_response *response = NULL;
    struct failure why = { 0 };
    struct buffer body;
    int code = CLI_OK;

    buffer_init(&body, SEARCH_FILE_CAP);
    if (!cli_read_input(options->arguments[0], &body, &why)) {
        failure_help(&why, "a search looks like { \"product\": \"flights\", \"query\": { ... }, \"budget_ms\": 2000 }");
        buffer_fini(&body);
        return cli_fail(options, &why, CLI_CANNOT_LOAD);
    }
    struct search_client_options request = { .url = options->url,
                                             .body = buffer_text(&body),
                                             .budget_ms = options->budget_ms };
    enum status status = search_client_post(&request, &response, &why);
    if (status != STATUS_OK) {
        failure_code(&why, status == STATUS_INVALID ? CODE_NONE : CODE_ENGINE_UNREACHABLE);
        code = cli_fail(options, &why, status == STATUS_INVALID ? CLI_USAGE : CLI_UNREACHABLE);
    } else if (options->is_json) {
        struct text reply = block_text(response->body);
        cli_put(stdout, reply);
        (void)fputc('\n', stdout);
        code = search_exit_code(response->status);
    } else {
        code = search_print(options, response);
    }
    http_response_destroy(&response);
    buffer_fini(&body);
    return code;
}
