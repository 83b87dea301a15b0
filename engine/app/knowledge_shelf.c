#include "app/knowledge_shelf.h"

#include <stdlib.h>

void knowledge_shelf_init(struct knowledge_shelf *shelf)
{
    *shelf = (struct knowledge_shelf){ .current = NULL };
    require(pthread_mutex_init(&shelf->lock, NULL) == 0);
}

void knowledge_shelf_fini(struct knowledge_shelf *shelf)
{
    knowledge_drop(&shelf->current);
    pthread_mutex_destroy(&shelf->lock);
}

void knowledge_shelf_set(struct knowledge_shelf *shelf, double held_cost)
{
    pthread_mutex_lock(&shelf->lock);
    shelf->held_cost = held_cost;
    pthread_mutex_unlock(&shelf->lock);
}

struct knowledge *knowledge_shelf_take(struct knowledge_shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    struct knowledge *taken = knowledge_hold(shelf->current);
    pthread_mutex_unlock(&shelf->lock);
    return taken;
}

void knowledge_shelf_note(struct knowledge_shelf *shelf, uint64_t kind, double items, bool has_won, uint64_t now_us)
{
    pthread_mutex_lock(&shelf->lock);
    worth_note(&shelf->worth, kind, items, has_won, now_us);
    pthread_mutex_unlock(&shelf->lock);
}

struct known *knowledge_shelf_make(const struct latency_curve *curve)
{
    struct known *known = malloc(sizeof(*known));

    if (known != NULL) {
        known->curve = *curve;
    }
    return known;
}

void knowledge_shelf_put(struct knowledge_shelf *shelf, struct known *known, uint32_t fits)
{
    pthread_mutex_lock(&shelf->lock);
    known->worth = shelf->worth;
    double held_cost = shelf->held_cost;
    pthread_mutex_unlock(&shelf->lock);

    known_finish(known, held_cost);
    struct knowledge *fresh = &known->knowledge;
    pthread_mutex_lock(&shelf->lock);
    if ((int32_t)(fits - shelf->fits) > 0) { // another loop may have been quicker with a later one
        struct knowledge *former = shelf->current;
        shelf->current = fresh;
        shelf->fits = fits;
        fresh = former;
    }
    pthread_mutex_unlock(&shelf->lock);
    knowledge_drop(&fresh);
}
