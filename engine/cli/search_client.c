#include "cli/search_client.h"

#include "base/clock.h"
#include "io/fetch.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CLIENT_HEADERS = 4 };

struct client {
    struct loop *loop;
    struct fetch_pool *pool;
    struct resolver *resolver; // NULL: the URL has an address
    struct message book_message;
    atomic_bool is_book_posted;
    struct fetch fetch;
};

static void client_on_done(struct fetch *fetch)
{
    loop_stop(CONTAINER_OF(fetch, struct client, fetch)->loop);
}

static void client_on_book(struct message *message)
{
    struct client *client = CONTAINER_OF(message, struct client, book_message);

    atomic_store(&client->is_book_posted, false);
    if (client->pool != NULL && client->resolver != NULL) {
        fetch_pool_set_book(client->pool, resolver_book(client->resolver));
    }
}

/// On the resolver's thread. A message that is under way already will see this book too.
static void client_on_names(void *context)
{
    struct client *client = context;

    if (!atomic_exchange(&client->is_book_posted, true)) {
        loop_post(client->loop, &client->book_message);
    }
}

/// An operator chooses the address, so every one is allowed.
static bool allow_everything(struct address_range ranges[2])
{
    return address_range_parse(TEXT("0.0.0.0/0"), &ranges[0]) && address_range_parse(TEXT("::/0"), &ranges[1]);
}

static enum status client_open(struct client *client, struct failure *why)
{
    struct address_range everything[2];
    struct fetch_pool_options options = { .allowed = everything, .allowed_count = COUNT_OF(everything) };

    require(allow_everything(everything));
    enum status status = loop_create(&client->loop);
    return status == STATUS_OK ? fetch_pool_create(client->loop, &options, &client->pool, why) : status;
}

static enum status client_resolve(struct client *client, struct text host, struct failure *why)
{
    struct address_range everything[2];
    struct resolver_options options = {
        .allowed = everything, .allowed_count = COUNT_OF(everything), .on_change = client_on_names, .context = client
    };

    require(allow_everything(everything));
    client->book_message.on_receive = client_on_book;
    enum status status = resolver_create(&options, &client->resolver, why);
    if (status == STATUS_OK) {
        status = resolver_set_names(client->resolver, &host, 1);
    }
    if (status == STATUS_OK) {
        fetch_pool_set_book(client->pool, resolver_book(client->resolver));
    }
    return status;
}

/// The resolver goes first: its thread posts to the loop.
static void client_close(struct client *client)
{
    if (client->resolver != NULL) {
        resolver_destroy(&client->resolver);
    }
    if (client->pool != NULL) {
        fetch_pool_destroy(&client->pool);
    }
    if (client->loop != NULL) {
        loop_destroy(&client->loop);
    }
}

/// Whom to ask, and what to say when nobody answers.
struct client_call {
    const char *url; // as the user wrote it
    const char *path;
    const char *option; // that names the URL
    uint64_t patience_ms;
};

static void explain_silence(const struct client_call *call, const struct fetch *fetch, struct failure *why)
{
    const char *reason = fetch->detail[0] != '\0' ? fetch->detail : "no answer";

    if (fetch->result == FETCH_ENDED) {
        failure_set(why, "%s did not answer in time", call->url);
        failure_help(why, "look at the engine's log, and whether it is ready: GET /readyz");
        return;
    }
    failure_set(why, "no engine answers at %s: %s", call->url, reason);
    failure_help(why, "start one with `lastcall serve`, or say where it listens with %s", call->option);
}

static enum status client_run(struct client *client, const struct client_call *call, const struct http_request *request,
                              struct failure *why)
{
    client->fetch = (struct fetch){
        .request = request,
        .end_us = clock_now_us() + call->patience_ms * 1000,
        .body_cap = SEARCH_CLIENT_REPLY_CAP,
        .on_done = client_on_done,
    };
    enum status status = fetch_start(client->pool, &client->fetch);
    if (status != STATUS_OK) {
        failure_set(why, "the request could not be sent: %s", status_name(status));
        return status;
    }
    loop_run(client->loop);
    if (client->fetch.result != FETCH_OK) {
        explain_silence(call, &client->fetch, why);
        return STATUS_IO;
    }
    return STATUS_OK;
}

/// Sends `request`, whose URL is made of the call's.
static enum status client_exchange(const struct client_call *call, struct http_request *request,
                                   struct http_response **response, struct failure *why)
{
    struct client client = { 0 };
    struct url_parts parts;
    char url[2048];
    size_t length = strlen(call->url);

    while (length > 0 && call->url[length - 1] == '/') {
        length--;
    }
    int url_length = snprintf(url, sizeof(url), "%.*s%s", (int)length, call->url, call->path);
    if (url_length >= (int)sizeof(url) || !url_split(text_of(url), &parts)) {
        failure_set(why, "`%s` is no URL of an engine", call->url);
        failure_help(why, "write http://ADDRESS:PORT, for example http://127.0.0.1:8080");
        return STATUS_INVALID;
    }
    request->url = text_of(url);
    (void)signal(SIGPIPE, SIG_IGN);
    failure_set(why, "the request could not be sent: out of memory");
    enum status status = client_open(&client, why);
    if (status == STATUS_OK && !parts.is_literal) {
        status = client_resolve(&client, parts.host, why);
    }
    if (status == STATUS_OK) {
        status = client_run(&client, call, request, why);
    }
    if (status == STATUS_OK) {
        *response = client.fetch.response;
    }
    client_close(&client);
    return status;
}

enum status search_client_post(const struct search_client_options *options, struct http_response **response,
                               struct failure *why)
{
    struct client_call call = { options->url, "/v1/search", "--url", options->budget_ms + SEARCH_CLIENT_PATIENCE_MS };
    char budget[32];
    struct header headers[CLIENT_HEADERS] = {
        { TEXT("Content-Type"), TEXT("application/json") },
        { TEXT("Accept"), TEXT("application/json") },
        { TEXT("Accept-Encoding"), TEXT("identity") },
    };
    struct http_request request = {
        .method = TEXT("POST"), .body = options->body, .headers = headers, .header_count = 3
    };

    if (options->budget_ms > 0) {
        (void)snprintf(budget, sizeof(budget), "%llu", (unsigned long long)options->budget_ms);
        headers[request.header_count++] = (struct header){ TEXT("Search-Budget-Ms"), text_of(budget) };
    }
    return client_exchange(&call, &request, response, why);
}

enum status search_client_ask(const struct search_client_question *question, struct http_response **response,
                              struct failure *why)
{
    uint64_t patience_ms = question->patience_ms > 0 ? question->patience_ms : SEARCH_CLIENT_PATIENCE_MS;
    struct client_call call = { question->url, question->path, "--admin", patience_ms };
    char bearer[1024];
    struct header headers[CLIENT_HEADERS] = {
        { TEXT("Accept"), TEXT("application/json") },
        { TEXT("Accept-Encoding"), TEXT("identity") },
    };
    struct http_request request = { .method = TEXT("GET"), .headers = headers, .header_count = 2 };

    if (question->body.data != NULL) {
        request.method = TEXT("POST");
        request.body = question->body;
        headers[request.header_count++] = (struct header){ TEXT("Content-Type"), TEXT("application/json") };
    }
    if (question->token != NULL) {
        (void)snprintf(bearer, sizeof(bearer), "Bearer %s", question->token);
        headers[request.header_count++] = (struct header){ TEXT("Authorization"), text_of(bearer) };
    }
    return client_exchange(&call, &request, response, why);
}
