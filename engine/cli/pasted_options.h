/// Pasted options: what those of curl say of a request.
///
/// Threads: any; constants.
/// Memory:  owns nothing.
#pragma once

#include "base/text.h"

enum pasted_meaning {
    MEANS_PASSED_OVER, // says nothing about the request
    MEANS_NOTED,       // says something that belongs elsewhere
    MEANS_REFUSED,
    MEANS_METHOD,
    MEANS_HEADER,
    MEANS_DATA,     // `@FILE` is a file
    MEANS_DATA_RAW, // no files
    MEANS_DATA_URLENCODE,
    MEANS_DATA_JSON,
    MEANS_USER,
    MEANS_BEARER,
    MEANS_COOKIE,
    MEANS_AGENT,
    MEANS_REFERER,
    MEANS_QUERY, // --get: the data belong to the query
    MEANS_HEAD,
    MEANS_URL,
    MEANS_NEXT,
};

struct pasted_option {
    char letter; // 0: none
    const char *name;
    bool takes_value;
    enum pasted_meaning meaning;
    const char *note; // of those that are noted or refused: what to do instead
};

/// NULL: it is not known.
const struct pasted_option *pasted_option_named(struct text name);
const struct pasted_option *pasted_option_lettered(char letter);
