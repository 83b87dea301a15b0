/// Exchange note: what went out and came back, as notes of a failure, for a person.
///
/// Names of headers and of query parameters are told, their values are not: they may be secrets, or somebody's own.
/// What is known as a secret is taken out of the rest, too.
///
/// Threads: any.
/// Memory:  none of its own.
#pragma once

#include "model/exchange.h"

/// "request   POST https://api.acme.example/v2/search?page=*** (x-key: ***)". `why` and `request` may be NULL.
void exchange_note_request(struct failure *why, const struct http_request *request);

/// "response  200 application/json 18.4 kB in 412 ms, saved to FILE"; `took_us` 0: not known. `saved_to` NULL: nowhere.
/// `why` and `response` may be NULL.
void exchange_note_response(struct failure *why, const struct http_response *response, uint64_t took_us,
                            const char *saved_to);

/// "response  none: connection refused, while connecting, after 12 ms": of a fetch that brought none.
void exchange_note_fetch(struct failure *why, const struct fetch *fetch);
