/// XML lists: which elements of an answer come several times within another, for an author whose plan looks for a list
/// that is not there.
///
/// Names only, never values; those without secrets.
///
/// Threads: any.
/// Memory:  the caller's text; the document is read once, as events.
/// Time:    one pass over the body, for what has failed already.
#pragma once

#include "script/xml_names.h"

enum { XML_LISTS_SIZE = 400 };

/// "Envelope.Body.Found has the lists Flight[], Offer[], Offer[].Way[]", those further out first, as `each` names them
/// with the plan's prefixes. Empty: there are none, or the body could not be read.
void xml_lists(struct text body, const struct xml_names *names, char out[XML_LISTS_SIZE]);
