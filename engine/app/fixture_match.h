/// Fixture match: what a fixture expects held against what came, path by path.
///
/// Threads: one.
/// Memory:  findings and edits are the fixture's.
#pragma once

#include "app/fixture.h"

enum fixture_match {
    MATCH_NAMED, // members that are not expected may be there
    MATCH_WHOLE, // none may
};

/// Reports each difference at its line, or notes it as an edit. `path` is what the value is called in findings;
/// `got` NULL: there is none, which null expects.
void fixture_match(struct fixture *fixture, const char *path, const struct json_node *expected,
                   const struct json_node *got, enum fixture_match how);

/// Reports that at `path` other bytes were expected; of long ones the part where they begin to differ is shown.
void fixture_tell_difference(struct fixture *fixture, const struct json_node *at, const char *help, const char *path,
                             struct text expected, struct text got);
