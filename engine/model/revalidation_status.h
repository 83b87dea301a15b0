/// Revalidation status: what a caller is told of an offer that was asked for once more. THE table; names in JSON and
/// metrics come from it. Only the first two give a way to book.
///
/// Threads: any; constants.
#pragma once

#include "base/text.h"

enum revalidation_status {
    REVALIDATION_CONFIRMED,
    REVALIDATION_PRICE_CHANGED,
    REVALIDATION_CHANGED,
    REVALIDATION_SOLD_OUT,
    REVALIDATION_EXPIRED,
    REVALIDATION_RETRY,
    REVALIDATION_CANCELLED, // its caller left: counted, never told
    REVALIDATION_STATUS_COUNT
};

const char *revalidation_status_name(enum revalidation_status status);
/// REVALIDATION_RETRY: it is none of those that are told.
enum revalidation_status revalidation_status_of(struct text name);
