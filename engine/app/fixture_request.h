/// Fixture request: a request that a script made, held against what an exchange expects of it.
///
/// Of a url the part before `?` and each parameter are told apart, so are headers, fields of forms and of JSON.
///
/// Threads: one.
/// Memory:  findings and edits are the fixture's.
#pragma once

#include "app/fixture.h"

/// Reports each difference, or notes it as an edit. `path` is what `expect_request` is called in findings.
void fixture_match_request(struct fixture *fixture, const char *path, const struct json_node *expected,
                           const struct http_request *request);

/// How many differences there are; nothing is reported. `first` (of `size` bytes) gets the first of them in words.
size_t fixture_count_differences(struct fixture *fixture, const struct json_node *expected,
                                 const struct http_request *request, char *first, size_t size);

/// The exchange that the request fits best, by its index, with the number of differences, and the first of them; those
/// that expect nothing do not count. SIZE_MAX: there is none.
size_t fixture_nearest_exchange(struct fixture *fixture, const struct fixture_exchanges *exchanges,
                                const struct http_request *request, size_t *differences, char *first, size_t size);
