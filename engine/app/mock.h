/// Mock: the fixtures of suppliers as what answers their requests.
///
/// Each supplier file with fixtures has a door for each origin (scheme, host, port) that its URL options name; a
/// request at a door is put back to the URL that the fixture knows, and the exchange that fits best answers it. Method
/// and path must fit: a path fits, too, when only pieces with digits differ, such as dates. Of those that fit counts,
/// in this order: asked for by name ("acme/odd-busy"); an exact one that says a body or query; ok-… before odd-…; the
/// same path; fewest differences in query and body; fewest in headers; the fixture that answered last; one that was not
/// used yet. Equal requests of one fixture get its answers in their order, whoever
/// sends them: of two searches at once each may get what was meant for the other.
///
/// What comes and what goes are plain data: sockets, time and faults are the farm's (examples/farm/prompter.h).
///
/// Threads: one.
/// Memory:  owns the fixtures; borrows settings and catalogue. Replies are views that live until the next one.
#pragma once

#include "app/settings.h"
#include "base/buffer.h"
#include "model/catalogue.h"
#include "model/exchange.h"

enum { MOCK_DOORS_MAX = 250, MOCK_DIFFERENCES_MAX = 8 };

struct mock;

struct mock_order {
    const struct settings *settings;
    const struct catalogue *catalogue; // of a generation
    const char *const *names;          // "acme", "acme/odd-busy"; none: all that have fixtures and are not switched off
    size_t name_count;
    settings_finding report;
    void *context;
};

/// Reads the fixtures. STATUS_INVALID: findings were reported and `*mock` is NULL; STATUS_NOT_FOUND: one of them is
/// that nobody has a name.
MUST_CHECK enum status mock_open(const struct mock_order *order, struct mock **mock);
void mock_close(struct mock **mock);

/// Doors are numbered from 0 on.
size_t mock_door_count(const struct mock *mock);
/// The supplier of a door.
struct text mock_door_supplier(const struct mock *mock, size_t door);
/// The origin that it stands for: "https://api.acme.example".
struct text mock_door_origin(const struct mock *mock, size_t door);
/// How many suppliers have a door, and how many fixtures they have.
size_t mock_supplier_count(const struct mock *mock);
size_t mock_fixture_count(const struct mock *mock);
/// The suppliers that have fixtures and are not played, because no option leads all of their requests here: "a, b".
void mock_tell_unreachable(const struct mock *mock, struct buffer *out);

/// Appends the names of suppliers of whose good fixtures no search could be asked any more, for its days are over.
void mock_tell_over(const struct mock *mock, uint64_t real_us, struct buffer *out);

struct mock_reply {
    bool is_found;       // false: nothing fits, and the reply is a 404 in JSON that tells what came nearest
    struct text fixture; // its path, of the exchange that fits or is nearest; absent: there is none
    const char *where;   // "" or "revalidate[0]."
    size_t exchange;     // from 0 on, as the fixture counts
    size_t differences;  // all of them
    struct text told[MOCK_DIFFERENCES_MAX]; // the first ones in words, without secrets and values of headers
    size_t told_count;
    uint16_t status;
    uint64_t after_ms;
    struct text head; // header lines, without the length
    struct text body;
};

/// The answer to a request at a door; its URL is a target, "/v1/offers?limit=1".
void mock_answer(struct mock *mock, size_t door, const struct http_request *request, bool is_strict,
                 struct mock_reply *reply);

/// Writes settings that lead the suppliers to their doors, to be read behind those that the mock was opened by; `urls`
/// has one for each door: "http://127.0.0.1:9000". All other suppliers are switched off, so that nothing leaves the
/// machine. `ca_file` NULL: doors speak no TLS.
void mock_write_settings(const struct mock *mock, const char *const *urls, const char *ca_file, struct buffer *out);

/// Writes the secrets of the fixtures, to be read by a shell: export NAME='value'. Returns their number.
size_t mock_write_secrets(const struct mock *mock, struct buffer *out);
/// Their names: "A, B".
void mock_tell_secrets(const struct mock *mock, struct buffer *out);
