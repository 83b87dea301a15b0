/// Exchange: one HTTP request and what came of it, as plain data.
///
/// A script worker makes a request, the search owns it, the fetcher sends it; the response travels back the same way.
///
/// Threads: one owner at a time.
/// Memory:  a request is one allocation; a response owns its header bytes and shares its body.
#pragma once

#include "base/block.h"
#include "base/status.h"
#include "model/outcome.h"

struct ground; // model/ground.h

struct header {
    struct text name; // as sent; of a response: lower case
    struct text value;
};

struct http_request {
    struct text method; // upper case
    struct text url;    // absolute, http or https
    struct text body;   // absent: no body
    struct header *headers;
    size_t header_count;
    size_t signed_count;       // how many of them, the last ones, its signature is made of
    uint64_t signed_us;        // when that was; 0: it is not signed
    struct http_request *next; // the request of the next part; owned by this one
};

/// A deep copy in one allocation (values may point anywhere), without a next part; NULL without memory.
MUST_CHECK struct http_request *http_request_create(const struct http_request *values);
/// Frees the request and those of the parts after it.
void http_request_destroy(struct http_request **request);

/// The parts of an absolute http(s) URL, views into it. False: not one (user info is refused as well).
struct url_parts {
    bool is_https;
    struct text host;   // without brackets
    bool is_literal;    // an IPv4 or IPv6 address
    uint16_t port;      // the scheme's own when not written
    struct text target; // path and query, from its "/" or "?" on; absent when the URL ends at the host
};
MUST_CHECK bool url_split(struct text url, struct url_parts *parts);

/// What stands for a host among those of an account: "host", "host:port", "[address]", "[address]:port". `*port` is 0
/// when none is written: the scheme's own. False: what is written is no port.
MUST_CHECK bool host_split(struct text written, struct text *host, uint16_t *port);

struct http_response {
    uint16_t status;
    struct header *headers; // names lower case; repeated ones stand repeatedly
    size_t header_count;
    struct buffer header_bytes; // what the views of `headers` point into
    struct block *body;         // as it came over the wire, still encoded; NULL: none
};

/// An empty response; NULL without memory.
MUST_CHECK struct http_response *http_response_create(void);
/// The same status and head, and the same body, shared. NULL without memory.
MUST_CHECK struct http_response *http_response_copy(const struct http_response *response);
void http_response_destroy(struct http_response **response);

/// The first header of that name (lower case), or the absent text.
struct text http_response_header(const struct http_response *response, const char *name);

enum fetch_result {
    FETCH_OK,         // a whole response, whatever its status
    FETCH_DNS_FAILED, // a server answered that there is none, or refused
    FETCH_CONNECT_FAILED,
    FETCH_TLS_FAILED,
    FETCH_SEND_FAILED,
    FETCH_RECEIVE_FAILED, // reset, cut short, no HTTP
    FETCH_TOO_LARGE,      // head or body over its cap
    FETCH_REFUSED,        // address not allowed, URL not usable: nothing was sent
    FETCH_ENDED,          // its end time came first
    FETCH_NO_MEMORY,
    FETCH_LOST, // the other of its race sent its request first: nothing of this one went out
};

struct fetch;

/// Two fetches of one request, of which only the one that is connected first sends it. Its owner outlives both.
struct fetch_race {
    const struct fetch *winner; // NULL: nobody is connected yet
};

/// How requests travel, beside their URL: whose client certificate, over which proxy. Immutable, and there as long as
/// the ground of a fetch that uses it.
struct fetch_route {
    uint64_t id;             // of its content: connections of different routes are never shared
    struct text certificate; // PEM, with its chain; absent: none
    struct text key;         // PEM
    struct text proxy;       // "http://host:port", terminated; absent: none
    struct text proxy_host;  // without brackets
    bool proxy_is_literal;
    uint16_t proxy_port;
};

/// One HTTP exchange in progress. Filled by the owner up to `body_cap`, by the fetcher below.
struct fetch {
    const struct http_request *request; // borrowed until done or cancelled
    const struct fetch_route *route;    // borrowed likewise; NULL: straight to the URL, nobody's certificate
    struct ground *ground;              // borrowed: what the route stands on; NULL: it stays. A fetch that is given up
                                        // is held by the fetcher's transport for a while yet, and then it, too
    uint64_t end_us;                    // absolute; the fetcher ends it with FETCH_ENDED then
    uint64_t body_cap;                  // bytes on the wire
    struct fetch_race *race;            // borrowed likewise; NULL: none. It may be given until the request is sent
    bool is_fresh;                      // over no kept connection
    void (*on_done)(struct fetch *fetch);

    enum fetch_result result;
    enum phase phase;               // where it stands, or stood when it ended
    struct http_response *response; // owned by the owner of the fetch once done; NULL unless FETCH_OK
    uint64_t started_us, connected_us, sent_us, first_byte_us, done_us; // 0: not reached
    uint64_t named_us;                                                  // its peer's address is known; 0: not reached
    uint64_t tls_took_us;                                               // of connected_us, once it is over; 0: unknown
    bool is_reused;                                                     // sent over a kept connection
    char detail[256];                                                   // the transport's own words when it failed
    void *impl;                                                         // the fetcher's
};
