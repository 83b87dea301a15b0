#include "app/admin_wait.h"

#include "app/problem.h"

void admin_wait_begin(struct admin_wait *wait, struct loop *loop, struct http_call *call,
                      void (*on_receive)(struct message *message))
{
    wait->message.on_receive = on_receive;
    wait->loop = loop;
    wait->call = call;
    http_call_set_owner(call, wait);
}

void admin_wait_done(struct admin_wait *wait)
{
    loop_post(wait->loop, &wait->message);
}

struct http_call *admin_wait_end(struct admin_wait *wait)
{
    struct http_call *call = wait->call;

    if (call != NULL) {
        http_call_set_owner(call, NULL);
        wait->call = NULL;
    }
    return call;
}

void admin_wait_on_gone(struct http_call *call)
{
    struct admin_wait *wait = http_call_owner(call);

    if (wait != NULL) {
        wait->call = NULL;
    }
}

void admin_refuse_draining(struct http_call *call)
{
    struct header_pair retry = { "Retry-After", "1" };
    struct problem problem;

    problem_init(&problem, 503, "draining", "The engine is stopping");
    problem_reply(call, &problem, &retry, 1);
}

void admin_refuse_memory(struct http_call *call)
{
    struct problem problem;

    problem_init(&problem, 503, "out_of_memory", "There was no memory for the request");
    problem_reply(call, &problem, NULL, 0);
}

void admin_reply_json(struct http_call *call, uint16_t status, struct buffer *out)
{
    struct header_pair no_store = { "Cache-Control", "no-store" };
    struct block *body = block_from_buffer(out);

    buffer_fini(out);
    if (body == NULL) {
        admin_refuse_memory(call);
        return;
    }
    struct http_reply http = {
        .status = status,
        .content_type = "application/json",
        .body = body,
        .headers = &no_store,
        .header_count = 1,
    };
    http_call_reply(call, &http);
    block_release(&body);
}
