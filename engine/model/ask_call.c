#include "model/ask_call.h"

#include <stdlib.h>

struct ask_call *ask_call_create(enum ask_what what, struct block *facts, struct block *input,
                                 struct http_response *response)
{
    struct ask_call *ask = calloc(1, sizeof(*ask));

    if (ask == NULL) {
        return NULL;
    }
    script_call_init(&ask->call, SCRIPT_CALL_ASK);
    ask->what = what;
    ask->facts = block_acquire(facts);
    ask->input = block_acquire(input);
    ask->part = ask->parts = ask->step = 1;
    ask->response = response;
    ask->verdict = SCRIPT_DROPPED;
    return ask;
}

void ask_call_destroy(struct ask_call *ask)
{
    block_release(&ask->facts);
    block_release(&ask->input);
    block_release(&ask->result);
    block_release(&ask->hidden);
    block_release(&ask->state);
    block_release(&ask->next.state);
    http_request_destroy(&ask->next.request);
    login_drop(&ask->login);
    http_response_destroy(&ask->response);
    http_request_destroy(&ask->request);
    free(ask);
}
