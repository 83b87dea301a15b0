#include "app/reload_again.h"

void reload_again_later(struct reload_again *again, enum reload_source source, uint64_t first_us, uint64_t now_us)
{
    uint64_t pause_us = again->pause_us == 0 ? first_us : 2 * again->pause_us;

    again->pause_us = pause_us < RELOAD_AGAIN_MAX_US ? pause_us : RELOAD_AGAIN_MAX_US;
    again->due_us = now_us + again->pause_us;
    again->source = source;
}

void reload_again_forget(struct reload_again *again)
{
    *again = (struct reload_again){ .due_us = 0 };
}

bool reload_again_is_due(struct reload_again *again, uint64_t now_us)
{
    bool is_due = again->due_us != 0 && now_us >= again->due_us;

    again->due_us = is_due ? 0 : again->due_us;
    return is_due;
}
