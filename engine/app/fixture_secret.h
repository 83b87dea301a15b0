/// Fixture secret: fixtures are shared, so a secret of this process has no place in one.
///
/// Threads: one.
/// Memory:  none of its own.
#pragma once

#include "app/fixture_run.h"

enum { FIXTURE_SECRET_MIN = 8 };

/// Reports each secret of the script whose value, by its environment variable here, stands in the fixture's file or in
/// a body of it, in whatever spelling. Values shorter than FIXTURE_SECRET_MIN, and those that begin with "test", are
/// made up or nobody's.
void fixture_find_secrets(struct fixture *fixture, const struct fixture_subject *subject);

/// The value that stands for a secret where none may be: of the same kind, and the same each time.
void fixture_test_secret(struct text name, struct text value, struct buffer *out);
