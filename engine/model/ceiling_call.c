#include "model/ceiling_call.h"

#include <stdlib.h>

uint32_t search_progress_changes(const struct search_progress *before, const struct search_progress *after)
{
    uint32_t changes = PROGRESS_TIME;

    changes |= before->offers != after->offers ? PROGRESS_OFFERS : 0;
    changes |= before->answered != after->answered ? PROGRESS_ANSWERED : 0;
    changes |= before->eligible != after->eligible ? PROGRESS_ELIGIBLE : 0;
    changes |= before->cheapest_micros != after->cheapest_micros ? PROGRESS_CHEAPEST : 0;
    return changes;
}

struct ceiling_call *ceiling_call_create(struct block *facts, struct block *client_facts, size_t ask_count)
{
    struct ceiling_call *call = calloc(1, sizeof(*call) + ask_count * sizeof(call->asks[0]));

    if (call == NULL) {
        return NULL;
    }
    script_call_init(&call->call, SCRIPT_CALL_CEILING);
    call->facts = block_acquire(facts);
    call->client_facts = block_acquire(client_facts);
    call->progress.cheapest_micros = INT64_MAX;
    call->ask_count = ask_count;
    for (size_t i = 0; i < ask_count; i++) {
        call->asks[i].verdict = SCRIPT_DROPPED;
    }
    return call;
}

void ceiling_call_destroy(struct ceiling_call *call)
{
    block_release(&call->facts);
    block_release(&call->client_facts);
    for (size_t i = 0; i < call->ask_count; i++) {
        free(call->asks[i].trouble);
        knowledge_drop(&call->asks[i].knowledge);
    }
    free(call);
}
