#include "app/search_refusal.h"

#include "app/io_thread.h"
#include "app/problem.h"

static struct block *body_of(const char *code, const char *title)
{
    struct problem problem;

    problem_init(&problem, 503, code, title);
    return problem_body(&problem);
}

void search_refusal_init(struct search_refusal *refusal)
{
    *refusal = (struct search_refusal){
        .overloaded = body_of("overloaded", "This engine is overloaded"),
        .draining = body_of("draining", "This engine is about to stop"),
    };
}

void search_refusal_fini(struct search_refusal *refusal)
{
    block_release(&refusal->overloaded);
    block_release(&refusal->draining);
}

static const struct http_reply *refusal_say(struct search_refusal *refusal, const struct http_call *call,
                                            struct block *body)
{
    trace_of_call(&refusal->trace, call);
    refusal->headers[0] = (struct header_pair){ "Cache-Control", "no-store" };
    refusal->headers[1] = (struct header_pair){ "Retry-After", "1" };
    refusal->headers[2] = (struct header_pair){ "traceparent", refusal->trace.parent };
    refusal->reply = (struct http_reply){
        .status = 503,
        .content_type = "application/problem+json",
        .body = body,
        .headers = refusal->headers,
        .header_count = SEARCH_REFUSAL_HEADERS,
    };
    return &refusal->reply;
}

static bool is_admitted(struct io_thread *thread)
{
    struct generation *generation = engine_generation(thread->engine);
    bool may_begin = gate_admits(&thread->gate, generation_catalogue(generation)->admission);

    generation_release(&generation);
    return may_begin;
}

const struct http_reply *search_refusal_ask(struct io_thread *thread, const struct http_call *call)
{
    struct search_refusal *refusal = &thread->refusal;

    if (atomic_load(&thread->engine->refuses_searches)) {
        return refusal_say(refusal, call, refusal->draining);
    }
    return is_admitted(thread) ? NULL : refusal_say(refusal, call, refusal->overloaded);
}
