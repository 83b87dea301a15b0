#include "app/complaints.h"

#include <stdlib.h>

static const uint64_t QUIET_US = 60000000;

enum status complaints_init(struct complaints *complaints, size_t supplier_count)
{
    complaints->items = calloc(supplier_count + 1, sizeof(*complaints->items));
    if (complaints->items == NULL) {
        return STATUS_NO_MEMORY;
    }
    complaints->count = supplier_count;
    pthread_mutex_init(&complaints->lock, NULL);
    return STATUS_OK;
}

void complaints_fini(struct complaints *complaints)
{
    if (complaints->items != NULL) {
        pthread_mutex_destroy(&complaints->lock);
        free(complaints->items);
        complaints->items = NULL;
    }
}

bool complaints_admit(struct complaints *complaints, size_t supplier, uint64_t now_us, uint64_t *kept_quiet)
{
    require(supplier < complaints->count);
    pthread_mutex_lock(&complaints->lock);
    struct complaint *complaint = &complaints->items[supplier];
    bool is_due = complaint->told_us == 0 || now_us >= complaint->told_us + QUIET_US;
    if (is_due) {
        *kept_quiet = complaint->kept_quiet;
        *complaint = (struct complaint){ .told_us = now_us };
    } else {
        complaint->kept_quiet++;
    }
    pthread_mutex_unlock(&complaints->lock);
    return is_due;
}
