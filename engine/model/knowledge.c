#include "model/knowledge.h"

#include <stdlib.h>

struct knowledge *knowledge_hold(struct knowledge *knowledge)
{
    if (knowledge != NULL) {
        atomic_fetch_add_explicit(&knowledge->references, 1, memory_order_relaxed);
    }
    return knowledge;
}

void knowledge_drop(struct knowledge **knowledge)
{
    struct knowledge *gone = *knowledge;

    *knowledge = NULL;
    if (gone != NULL && atomic_fetch_sub_explicit(&gone->references, 1, memory_order_acq_rel) == 1) {
        free(gone);
    }
}
