/// Fixture: one test of a supplier as data, `suppliers/NAME.test/ok-….json` (contract.md section 5), read and checked.
///
/// A search, what the supplier answers to each request, and what must come of it. Everything that is wrong with a
/// fixture, or with what it met, is a finding at its line.
///
/// Threads: one.
/// Memory:  owns its bytes and everything read from them.
#pragma once

#include "app/settings.h"
#include "base/json_tree.h"
#include "model/exchange.h"

enum { FIXTURE_FILE_MAX = 4 << 20, FIXTURE_BODY_MAX = 64 << 20, FIXTURE_EXCHANGES_MAX = 256 };

/// One request of the supplier's script, and the answer that is played to it.
struct fixture_exchange {
    const struct json_node *node;   // the entry
    const struct json_node *expect; // of the request; NULL: anything
    uint16_t status;
    uint64_t after_us; // from the sending to the last byte
    struct header *headers;
    size_t header_count;
    struct text body;
};

struct fixture_exchanges {
    const struct json_node *node; // the list, or what it is missing from
    struct fixture_exchange *items;
    size_t count;
};

/// Bytes of the file that `--update` puts others in place of.
struct fixture_edit {
    size_t from, length;
    struct text text;
    struct fixture_edit *next;
};

struct fixture {
    struct text path;
    struct arena arena;
    struct buffer bytes;
    const struct json_node *root;
    bool must_not_fail;             // ok-…
    bool is_invented;               // its answer is nobody's: FIXTURE_INVENTED
    uint64_t wall_us;               // `now`
    const struct json_node *search; // the others may be NULL
    const struct json_node *secrets, *options, *login, *expect, *ceilings, *revalidate;
    struct fixture_exchanges exchanges;
    settings_finding report;
    void *context;
    size_t findings;
    enum code differs; // what is said of a difference: of which kind it is
    bool is_updating;  // what differs becomes an edit
    bool is_counting;  // what differs is only counted: a body of text counts as one
    struct fixture_edit *edits;
    size_t edit_count;
    uint64_t needs_us;             // what its exchanges take, one after the other as they were asked for, with pauses
    uint64_t ceiling_us;           // that the script said; 0: none
    uint64_t hosts_asked;          // a bit for each of the script's `hosts`
    struct text bug;               // of the script, which nobody expected; its suite tells it
    enum code bug_code;            // of its kind, when nothing better is known
    const struct failure *trouble; // what a person is told of the bug; NULL: its words are all there is
};

/// How `about` ends of a fixture whose answer nobody ever gave: `lastcall new` writes it.
#define FIXTURE_INVENTED "the answer is invented"

/// Is the answer of the fixture of that path invented? What cannot be read is not.
bool fixture_is_invented_at(const char *path);

/// Reads the file; `path` is copied. False: it cannot be played, and a finding says why. fixture_fini either way.
MUST_CHECK bool fixture_read(struct fixture *fixture, const char *path, settings_finding report, void *context);
/// The same of bytes that stand in no file yet (copied); `path` is what findings call it, and where its bodies are.
MUST_CHECK bool fixture_read_text(struct fixture *fixture, const char *path, struct text json, settings_finding report,
                                  void *context);
void fixture_fini(struct fixture *fixture);

/// Reads `exchanges`, a member of `owner`; none is an empty list. False: a finding says why.
MUST_CHECK bool fixture_read_exchanges(struct fixture *fixture, const struct json_node *owner,
                                       struct fixture_exchanges *exchanges);

/// Reports a finding at `node`; NULL: the file as such.
void fixture_find(struct fixture *fixture, const struct json_node *node, enum code code, const char *help,
                  const char *format, ...) PRINTF_LIKE(5, 6);

/// Reports the members of `object` that are none of the names, and those that stand twice; `where` is "" or "expect.".
void fixture_check_members(struct fixture *fixture, const struct json_node *object, const char *where,
                           const char *const *names, size_t count);
/// The same for one member. False: it was reported.
bool fixture_check_member(struct fixture *fixture, const struct json_node *member, const char *where,
                          const char *const *names, size_t count);

/// Notes that `text` (copied) takes the place of the node's bytes.
void fixture_edit(struct fixture *fixture, const struct json_node *node, struct text text);
/// Notes that the member goes. Those of an object go in their order.
void fixture_remove(struct fixture *fixture, const struct json_node *member);
/// Notes a new member at the end of the object.
void fixture_add_member(struct fixture *fixture, const struct json_node *object, const char *key, struct text text);
/// Writes the file with its edits. False: a finding says why.
MUST_CHECK bool fixture_save(struct fixture *fixture);
