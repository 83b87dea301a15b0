/// Mock match: how well an exchange fits a request, and which exchange fits best.
///
/// Threads: one.
/// Memory:  nothing is left.
#pragma once

#include "app/mock_internal.h"

enum mock_path { MOCK_PATH_SAME, MOCK_PATH_ALIKE, MOCK_PATH_UNSAID, MOCK_PATH_OTHER };

/// How one exchange fits; what comes first weighs more.
struct mock_fit {
    bool is_other_method;
    enum mock_path path;
    size_t pieces;  // of the path that differ
    bool says_what; // it expects a body or a query
    size_t what;    // differences in query and body
    size_t silence; // what it does not say of URL and body, in differences that this is taken for
    size_t headers; // differences in headers
};

struct mock_choice {
    struct mock_play *play; // NULL: there is no exchange at all
    size_t exchange;
    struct mock_fit fit;
    bool can_answer;
};

/// The request as the fixture would see it: its URL back at the origin that the option has there.
struct text mock_url_of(struct arena *arena, const struct mock_play *play, const struct mock_supplier *supplier,
                        size_t door, struct text target);

struct mock_fit mock_fit_of(struct mock_play *play, size_t exchange, const struct http_request *request);

/// The best of a supplier, whether it can answer or not; the URL of the request is a target.
struct mock_choice mock_choose(struct mock *mock, struct mock_supplier *supplier, size_t door,
                               const struct http_request *request, bool is_strict);

/// Tells each difference, by its words.
struct mock_listener {
    void (*on_difference)(struct mock_listener *listener, struct text words);
};
void mock_tell_differences(struct mock_play *play, size_t exchange, const struct http_request *request,
                           struct mock_listener *listener);
