/// Stage for tests of plans: one supplier of one script set, whose `normalise` runs on this thread over bodies.
///
/// Threads: one test.
/// Memory:  open and close; the call of the last answer belongs to the stage.
#pragma once

#include "base/clock.h"
#include "script/run.h"
#include "unit/script_support.h"

enum { STAGE_GROWTH = 8 << 20, STAGE_BODY_CAP = 8 << 20, STAGE_LIMIT_US = 60 * 1000 * 1000 };

/// An answer of a supplier.
struct stage_answer {
    uint16_t status;
    struct text body;
    const char *header, *value; // one header, or NULL
};

struct plan_stage {
    struct support_world world;
    struct guard guard;
    struct run run;
    struct block *facts;
    struct normalise_call *call;
    uint64_t limit_us; // 0: a minute
    bool is_watched;   // by an author
};

static inline void stage_on_watch(void *context, uint64_t check_us)
{
    (void)context;
    (void)check_us;
}

/// Takes the suppliers of the stage's world, which must have been opened.
static inline void stage_open(struct plan_stage *stage, const char *scripts_dir, const char *facts)
{
    support_load_from(&stage->world, scripts_dir);
    stage->facts = block_create(text_of(facts));
    guard_init(&stage->guard, stage_on_watch, NULL);
    guard_attach(&stage->guard);
    stage->run = (struct run){ .guard = &stage->guard, .build_limit_us = STAGE_LIMIT_US };
    stage->run.state = state_create(stage->world.set, STAGE_GROWTH);
    assert_non_null(stage->run.state);
}

static inline void stage_close(struct plan_stage *stage)
{
    if (stage->call != NULL) {
        script_call_destroy(&stage->call->call);
        stage->call = NULL;
    }
    guard_detach(&stage->guard);
    guard_fini(&stage->guard);
    state_destroy(&stage->run.state);
    block_release(&stage->facts);
    support_close(&stage->world);
}

/// A response of the answer; its body is a block of exactly its size.
static inline struct http_response *stage_respond(const struct stage_answer *answer)
{
    struct http_response *response = http_response_create();

    assert_non_null(response);
    response->status = answer->status;
    response->body = block_create(answer->body);
    if (answer->header != NULL) {
        response->headers = malloc(sizeof(struct header));
        response->headers[0] = (struct header){ text_of(answer->header), text_of(answer->value) };
        response->header_count = 1;
    }
    return response;
}

/// Runs `normalise` of a supplier over an answer.
static inline const struct normalise_call *stage_normalise(struct plan_stage *stage, size_t supplier,
                                                           const struct stage_answer *answer)
{
    uint64_t now_us = clock_now_us();
    uint64_t limit_us = stage->limit_us != 0 ? stage->limit_us : STAGE_LIMIT_US;

    if (stage->call != NULL) {
        script_call_destroy(&stage->call->call);
    }
    stage->call = normalise_call_create(TEXT("s-1"), stage->facts, stage_respond(answer));
    assert_non_null(stage->call);
    stage->call->call.set = stage->world.set;
    stage->call->account = &stage->world.accounts[supplier];
    stage->call->body_cap = STAGE_BODY_CAP;
    stage->call->wants_notes = stage->is_watched;
    stage->call->times = (struct script_times){ now_us, now_us + STAGE_LIMIT_US, clock_wall_us() };
    stage->call->allocation_end_us = stage->call->times.end_us;
    stage->run.normalise_limit_us = limit_us;
    assert_true(run_normalise(&stage->run, stage->call));
    return stage->call;
}
