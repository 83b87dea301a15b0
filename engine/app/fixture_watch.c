// What was sent, held against the exchanges: one for each request, in their order. Where a request is not what its
// exchange expects, the one that it fits, or nearly fits, says what went wrong: an order, or one field.

#include "app/fixture_request.h"
#include "app/fixture_run.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 128, WORDS_SIZE = 150 };

/// A request for which there is no exchange left.
static void find_surplus(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                         size_t index, const struct http_request *request)
{
    char words[WORDS_SIZE] = "", help[sizeof(((struct failure *)0)->help)];
    size_t differences = 0;
    size_t nearest = fixture_nearest_exchange(fixture, exchanges, request, &differences, words, sizeof(words));

    if (nearest != SIZE_MAX && differences == 0) {
        (void)snprintf(
            help, sizeof(help),
            "it is what exchanges[%zu] expects: is it sent again, or does `next` never end? Else each request "
            "has its exchange, in their order",
            nearest);
    } else if (nearest != SIZE_MAX) {
        (void)snprintf(help, sizeof(help), "add an exchange for it; nearest is exchanges[%zu], but %s", nearest, words);
    } else {
        (void)snprintf(help, sizeof(help), "each request that is sent has its exchange, in their order");
    }
    fixture_find(fixture, exchanges->node,
                 nearest != SIZE_MAX && differences == 0 ? CODE_STEPS_ENDLESS : CODE_EXCHANGE_COUNT, help,
                 "%sexchanges: request %zu was sent, %.*s %.*s, but there are %zu", where, index + 1,
                 TEXT_ARGS(request->method), TEXT_ARGS(request->url), exchanges->count);
}

/// Says so when another exchange fits better.
static void find_nearer(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                        size_t index, const struct http_request *request)
{
    char words[WORDS_SIZE] = "", help[sizeof(((struct failure *)0)->help)];
    const struct fixture_exchange *own = &exchanges->items[index];
    size_t differences = 0;
    size_t here = fixture_count_differences(fixture, own->expect, request, words, sizeof(words));
    size_t nearest = fixture_nearest_exchange(fixture, exchanges, request, &differences, words, sizeof(words));

    if (here == 0 || nearest == index || differences >= here) {
        return;
    }
    if (differences == 0) {
        (void)snprintf(help, sizeof(help), "it is what exchanges[%zu] expects: put them in the order of the requests",
                       nearest);
    } else {
        (void)snprintf(help, sizeof(help), "nearest is exchanges[%zu], but %s", nearest, words);
    }
    fixture_find(fixture, own->node, CODE_REQUEST_DIFFERS, help,
                 "%sexchanges[%zu]: request %zu, %.*s %.*s, is not what it expects", where, index, index + 1,
                 TEXT_ARGS(request->method), TEXT_ARGS(request->url));
}

void fixture_watch(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                   const struct fixture_exchange *exchange, size_t index, const struct http_request *request)
{
    char path[PATH_SIZE];

    if (exchange == NULL) {
        find_surplus(fixture, where, exchanges, index, request);
    } else if (exchange->expect != NULL) {
        if (!fixture->is_updating) {
            find_nearer(fixture, where, exchanges, index, request);
        }
        (void)snprintf(path, sizeof(path), "%sexchanges[%zu].expect_request", where, index);
        fixture_match_request(fixture, path, exchange->expect, request);
    }
}

void fixture_check_sent(struct fixture *fixture, const char *where, const struct fixture_exchanges *exchanges,
                        size_t sent)
{
    for (size_t i = sent; i < exchanges->count; i++) {
        fixture_find(fixture, exchanges->items[i].node, CODE_EXCHANGE_COUNT,
                     "the script asked for nothing more: take the exchange out, or look at what `next` it gave",
                     "%sexchanges[%zu]: no such request was sent", where, i);
    }
}
