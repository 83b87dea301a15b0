/// Pasted call: a curl command taken apart into what a supplier's script says of a request.
///
/// Options that say nothing about the request (--silent, --output) are passed over; those that mean something the
/// script cannot say, and unknown ones, become notes. Values are as they stand in the command: nothing here knows what
/// is a secret.
///
/// Threads: any; plain functions.
/// Memory:  everything lives in the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/json_tree.h"
#include "base/status.h"

enum { PASTED_PAIRS_MAX = 256, PASTED_NOTES_MAX = 64, PASTED_INPUT_MAX = 1 << 20 };

struct pasted_pair {
    struct text name, value; // decoded
};

struct pasted_list {
    struct pasted_pair *items;
    size_t count;
};

enum pasted_body { PASTED_NOTHING, PASTED_JSON, PASTED_FORM, PASTED_RAW };

struct pasted_call {
    struct text method;
    struct text base; // "https://api.acme.example", without a path
    struct text path; // from its "/" on, as it stands in the URL
    struct pasted_list query, headers, form;
    enum pasted_body kind;
    struct text body;       // of PASTED_RAW
    struct json_node *json; // of PASTED_JSON
    struct text user;       // "name:password"; absent: none
    struct text notes[PASTED_NOTES_MAX];
    size_t note_count;
};

/// STATUS_INVALID: no curl command, or one that cannot be a script's request; `why` says so.
MUST_CHECK enum status pasted_call_read(struct arena *arena, struct text input, struct pasted_call *call,
                                        struct failure *why);
