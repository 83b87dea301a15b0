/// Fixture match, XML: two bodies of XML held against each other element by element, so that what differs is told by
/// its place: `body.Body.Search.Way[1].@from: expected "MAD", got "BCN"`. Prefixes and blanks between elements are
/// passed over here.
///
/// Threads: one.
/// Memory:  trees of its own; findings are the fixture's.
#pragma once

#include "app/fixture.h"

/// Reports the first differences at `at`. False: there is none, or one of the texts is no XML.
MUST_CHECK bool fixture_match_xml(struct fixture *fixture, const char *path, const struct json_node *at,
                                  struct text expected, struct text got);
