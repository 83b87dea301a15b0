/// Event: what a streaming caller is told while a search runs.
///
/// Threads: its search's.
/// Memory:  the JSON is valid during the call.
#pragma once

#include "base/text.h"

enum search_event {
    SEARCH_EVENT_SEARCH,
    SEARCH_EVENT_OFFERS,
    SEARCH_EVENT_RETRACT,
    SEARCH_EVENT_SUPPLIER,
    SEARCH_EVENT_DONE,
};
const char *search_event_name(enum search_event event);

/// `json` is valid during the call.
typedef void (*search_on_event)(void *owner, enum search_event event, struct text json);
