#include "model/request_call.h"

#include <stdlib.h>

struct request_call *request_call_create(enum request_job job, struct block *facts, const struct login *login,
                                         struct http_request *request)
{
    struct request_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return NULL;
    }
    script_call_init(&call->call, SCRIPT_CALL_REQUEST);
    call->job = job;
    call->facts = block_acquire(facts);
    call->login = login_hold(login);
    call->request = request;
    call->verdict = SCRIPT_DROPPED;
    call->part = call->parts = call->step = 1;
    return call;
}

struct login_call *login_call_create(struct http_response *response)
{
    struct login_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return NULL;
    }
    script_call_init(&call->call, SCRIPT_CALL_LOGIN);
    call->response = response;
    call->verdict = SCRIPT_DROPPED;
    return call;
}

void request_call_destroy(struct request_call *request)
{
    block_release(&request->facts);
    login_drop(&request->login);
    http_request_destroy(&request->request);
    free(request);
}

void login_call_destroy(struct login_call *login)
{
    http_response_destroy(&login->response);
    http_request_destroy(&login->request);
    block_release(&login->value);
    free(login);
}
