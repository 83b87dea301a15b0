#include "cli/admin_ask.h"

#include "cli/search_client.h"

#include <stdlib.h>
#include <string.h>

/// Is this the code of the problem that was answered?
static bool has_code(const struct http_response *response, const char *code)
{
    char quoted[64];
    struct text body = block_text(response->body);
    int length = snprintf(quoted, sizeof(quoted), "\"%s\"", code);

    return body.length > 0 && memmem(body.data, body.length, quoted, (size_t)length) != NULL;
}

static int refuse(const struct cli_options *options, const struct http_response *response)
{
    struct failure why = { .code = CODE_ENGINE_REFUSED };

    if (response->status == 401 && getenv("LASTCALL_ADMIN_TOKEN") != NULL) {
        failure_set(&why, "the admin listener at %s does not take the token in LASTCALL_ADMIN_TOKEN", options->admin);
        failure_help(&why, "the engine reads its token where `admin.token_env` says; is it another engine's?");
    } else if (response->status == 401) {
        failure_set(&why, "the admin listener at %s wants a token", options->admin);
        failure_help(&why, "put it into the environment variable LASTCALL_ADMIN_TOKEN");
    } else if (response->status == 404 && has_code(response, "unknown_search")) {
        failure_set(&why, "the engine at %s does not know it (HTTP 404)", options->admin);
        failure_help(&why, "it keeps the newest 1,024 searches; older ones are in the attribution file");
    } else if (response->status == 503 && has_code(response, "draining")) {
        failure_set(&why, "the engine at %s is stopping", options->admin);
        failure_help(&why, "it changes no more; ask the one that takes its place");
    } else if (response->status == 503) {
        failure_set(&why, "the engine at %s is stopping, or has no memory (HTTP 503)", options->admin);
        failure_help(&why, "ask again, or another one");
    } else {
        failure_set(&why, "the admin listener at %s refused: HTTP %u", options->admin, response->status);
        failure_help(&why, "is it the admin listener? The public one is another port");
    }
    return cli_fail(options, &why, CLI_REFUSED);
}

/// Besides a 200.
enum wanted { WANTED_NOTHING, WANTED_REFUSAL, WANTED_SWITCH };

static bool is_wanted(const struct http_response *response, enum wanted also)
{
    bool is_of_switch = response->status == 409 || (response->status == 404 && has_code(response, "unknown_supplier"));

    return response->status == 200 || (response->status == 422 && also != WANTED_NOTHING) ||
           (also == WANTED_SWITCH && is_of_switch);
}

/// The answer, when it is wanted; else the reason is printed.
static int ask(const struct cli_options *options, struct search_client_question *question, enum wanted also,
               struct http_response **response)
{
    struct failure why = { 0 };

    question->url = options->admin;
    question->token = getenv("LASTCALL_ADMIN_TOKEN");
    *response = NULL;
    enum status status = search_client_ask(question, response, &why);
    if (status != STATUS_OK) {
        failure_code(&why, status == STATUS_INVALID ? CODE_NONE : CODE_ENGINE_UNREACHABLE);
        return cli_fail(options, &why, status == STATUS_INVALID ? CLI_USAGE : CLI_UNREACHABLE);
    }
    if (!is_wanted(*response, also)) {
        int code = refuse(options, *response);
        http_response_destroy(response);
        return code;
    }
    return CLI_OK;
}

int admin_fetch(const struct cli_options *options, const char *path, struct http_response **response)
{
    struct search_client_question question = { .path = path };

    return ask(options, &question, WANTED_NOTHING, response);
}

int admin_ask(const struct cli_options *options, const char *path, struct http_response **response)
{
    int code = admin_fetch(options, path, response);
    if (code == CLI_OK && options->is_json) {
        struct text body = block_text((*response)->body);
        cli_put(stdout, body);
        (void)fputc('\n', stdout);
        http_response_destroy(response);
    }
    return code;
}

int admin_change(const struct cli_options *options, const char *path, struct text body, struct http_response **response)
{
    struct search_client_question question = { .path = path, .body = body, .patience_ms = ADMIN_CHANGE_PATIENCE_MS };

    return ask(options, &question, WANTED_REFUSAL, response);
}

int admin_switch_ask(const struct cli_options *options, const char *path, struct text body,
                     struct http_response **response)
{
    struct search_client_question question = { .path = path, .body = body, .patience_ms = ADMIN_CHANGE_PATIENCE_MS };

    return ask(options, &question, WANTED_SWITCH, response);
}

int admin_is_not_ours(const struct cli_options *options)
{
    struct failure why = { 0 };

    failure_set(&why, "what answers at %s is not lastcall's admin listener", options->admin);
    failure_help(&why, "say where it is with --admin");
    return cli_fail(options, &why, CLI_REFUSED);
}
