/// Hide: takes secrets out of what is shown or kept of an exchange: those that are known by their value, in every
/// spelling (base/redact.h), and what stands under a name that only secrets have: `access_token`, `Set-Cookie`.
///
/// What is shown has *** in their place. What is kept as a fixture has values of tests instead, the same for the same,
/// so that a script still finds what it looks for.
///
/// Threads: one.
/// Memory:  an arena for what it has replaced.
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

enum { HIDE_VALUES_MAX = 1024 };

struct hide_value {
    struct text value, stand_in;
};

struct hide {
    struct arena arena;
    bool has_stand_ins; // for fixtures
    bool is_of_request; // what follows is what we send: who we are is hidden, too
    bool is_of_login;   // what follows is the answer to a login: whatever may tell the account goes, too
    struct hide_value values[HIDE_VALUES_MAX];
    size_t count;
};

void hide_init(struct hide *hide, bool has_stand_ins);
void hide_fini(struct hide *hide);

/// From now on this stands for that value, wherever it is seen as it is.
void hide_add(struct hide *hide, struct text value, struct text stand_in);

/// Is it a name that only secrets have, in whatever spelling?
bool hide_is_name(struct text name);

/// The same, for what follows: in a request also names of those who ask, in the answer to a login also names and values
/// that tell whose account it is.
bool hide_is_named(const struct hide *hide, struct text name, struct text value);

// All of them append what is left of the text.

/// A text in which names say nothing.
void hide_text(struct hide *hide, struct text text, struct buffer *out);
/// A header's value, by its name.
void hide_header(struct hide *hide, struct text name, struct text value, struct buffer *out);
/// A URL, whose query has names.
void hide_url(struct hide *hide, struct text url, struct buffer *out);
/// A body: JSON and XML by what they look like; a form when it is said to be one.
void hide_body(struct hide *hide, struct text body, bool is_form, struct buffer *out);
