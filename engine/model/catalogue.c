#include "model/catalogue.h"

#include "model/ground.h"

#include <stdio.h>

enum { NUMBER_ROOM = 24 };

static bool is_taken(const struct catalogue_supplier *suppliers, size_t count, size_t but, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        if (i != but && text_equals(suppliers[i].display_name, name)) {
            return true;
        }
    }
    return false;
}

bool catalogue_tell_apart(struct catalogue_supplier *suppliers, size_t count, struct arena *arena)
{
    for (size_t i = 1; i < count; i++) {
        struct text plain = suppliers[i].display_name;
        struct text name = plain;
        if (!is_taken(suppliers, i, i, plain)) { // the first of that name keeps it
            continue;
        }
        for (unsigned number = 2; is_taken(suppliers, count, i, name); number++) {
            char *room = arena_alloc(arena, plain.length + NUMBER_ROOM);
            if (room == NULL) {
                return false;
            }
            int length = snprintf(room, plain.length + NUMBER_ROOM, "%.*s %u", TEXT_ARGS(plain), number);
            name = (struct text){ room, (size_t)length };
        }
        suppliers[i].display_name = name;
    }
    return true;
}

void catalogue_carry(const struct catalogue *catalogue, struct script_call *call)
{
    require(call->ground == NULL);
    call->set = catalogue->set;
    call->data = catalogue->data;
    call->rates = catalogue->rates;
    call->ground = ground_hold(catalogue->ground);
}
