#include "model/catalogue.h"

#include "model/ground.h"

void catalogue_carry(const struct catalogue *catalogue, struct script_call *call)
{
    require(call->ground == NULL);
    call->set = catalogue->set;
    call->data = catalogue->data;
    call->rates = catalogue->rates;
    call->ground = ground_hold(catalogue->ground);
}
