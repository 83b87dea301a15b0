#include "app/complaints.h"

static const uint64_t QUIET_US = 60000000;

void complaints_init(struct complaints *complaints)
{
    *complaints = (struct complaints){ .is_ready = true };
    pthread_mutex_init(&complaints->lock, NULL);
}

void complaints_fini(struct complaints *complaints)
{
    if (complaints->is_ready) {
        pthread_mutex_destroy(&complaints->lock);
        complaints->is_ready = false;
    }
}

/// The script's place, or one to give it: a free one, or that of the one told longest ago.
static struct complaint *complaints_find(struct complaints *complaints, uint64_t script)
{
    struct complaint *place = &complaints->items[0];

    for (size_t i = 0; i < COMPLAINTS_MAX; i++) {
        struct complaint *at = &complaints->items[i];
        if (at->told_us == 0) {
            return at; // they are filled in order: it has none
        }
        if (at->script == script) {
            return at;
        }
        place = at->told_us < place->told_us ? at : place;
    }
    return place;
}

bool complaints_admit(struct complaints *complaints, struct text script, uint64_t now_us, uint64_t *kept_quiet)
{
    uint64_t hash = text_hash(script);

    pthread_mutex_lock(&complaints->lock);
    struct complaint *complaint = complaints_find(complaints, hash);
    bool is_new = complaint->told_us == 0 || complaint->script != hash;
    bool is_due = is_new || now_us >= complaint->told_us + QUIET_US;
    if (is_due) {
        *kept_quiet = is_new ? 0 : complaint->kept_quiet;
        *complaint = (struct complaint){ .script = hash, .told_us = now_us };
    } else {
        complaint->kept_quiet++;
    }
    pthread_mutex_unlock(&complaints->lock);
    return is_due;
}
