#include "cli/admin_ask.h"

#include "cli/search_client.h"

#include <stdlib.h>
#include <string.h>

static int fail(const struct cli_options *options, const struct failure *why, int code)
{
    cli_print_failure(stderr, why, options->is_colourless);
    return code;
}

/// Only the admin listener knows of searches that are kept no more.
static bool is_unknown_search(const struct http_response *response)
{
    static const char CODE[] = "\"unknown_search\"";
    struct text body = block_text(response->body);
    return body.length > 0 && memmem(body.data, body.length, CODE, sizeof(CODE) - 1) != NULL;
}

static int refuse(const struct cli_options *options, const struct http_response *response)
{
    struct failure why = { 0 };

    if (response->status == 401) {
        failure_set(&why, "the admin listener at %s wants a token", options->admin);
        failure_help(&why, "put it into the environment variable LASTCALL_ADMIN_TOKEN");
    } else if (response->status == 404 && is_unknown_search(response)) {
        failure_set(&why, "the engine at %s does not know it (HTTP 404)", options->admin);
        failure_help(&why, "it keeps the newest 1,024 searches; older ones are in the attribution file");
    } else if (response->status == 503) {
        failure_set(&why, "the engine at %s is stopping, or has no memory (HTTP 503)", options->admin);
        failure_help(&why, "ask again, or another one");
    } else {
        failure_set(&why, "the admin listener at %s refused: HTTP %u", options->admin, response->status);
        failure_help(&why, "is it the admin listener? The public one is another port");
    }
    return fail(options, &why, CLI_REFUSED);
}

/// The answer, when its status is 200 or `also`; else the reason is printed.
static int ask(const struct cli_options *options, struct search_client_question *question, uint16_t also,
               struct http_response **response)
{
    struct failure why = { 0 };

    question->url = options->admin;
    question->token = getenv("LASTCALL_ADMIN_TOKEN");
    *response = NULL;
    enum status status = search_client_ask(question, response, &why);
    if (status != STATUS_OK) {
        return fail(options, &why, status == STATUS_INVALID ? CLI_USAGE : CLI_UNREACHABLE);
    }
    if ((*response)->status != 200 && (*response)->status != also) {
        int code = refuse(options, *response);
        http_response_destroy(response);
        return code;
    }
    return CLI_OK;
}

int admin_ask(const struct cli_options *options, const char *path, struct http_response **response)
{
    struct search_client_question question = { .path = path };

    int code = ask(options, &question, 200, response);
    if (code == CLI_OK && options->is_json) {
        struct text body = block_text((*response)->body);
        (void)fwrite(body.data, 1, body.length, stdout);
        (void)fputc('\n', stdout);
        http_response_destroy(response);
    }
    return code;
}

int admin_change(const struct cli_options *options, const char *path, struct text body, struct http_response **response)
{
    struct search_client_question question = { .path = path, .body = body, .patience_ms = ADMIN_CHANGE_PATIENCE_MS };

    return ask(options, &question, 422, response);
}
