/// Try, recorded: a run becomes a fixture, `suppliers/NAME.test/ok-….json` with its bodies beside it.
///
/// Answers are kept as they came, unpacked and without secrets; requests are not kept but made again: the script runs
/// once more over those answers with secrets of a test, and what it sends then is what the fixture expects. So nothing
/// that was made of a real secret can be in it, not even a signature. The finished fixture is run as `lastcall test`
/// does.
///
/// Threads: one.
/// Memory:  nothing is left but files.
#pragma once

#include "app/try.h"

enum { TRY_PATH_SIZE = 4096, TRY_NAME_SIZE = 64 };

struct try_recording {
    const struct try_subject *subject;
    const struct try_run *run;
    const char *name;        // "ok-one-way"; NULL: try_record_choose is called after the run
    struct text login;       // as of try_run_answers
    bool is_forced;          // one that does not pass is kept
    settings_finding report; // of what does not pass
    void *context;
    // out
    char path[TRY_PATH_SIZE];
    size_t findings;
    bool is_kept;
    char chosen[TRY_NAME_SIZE];   // the name, where nobody gave one
    char invented[TRY_PATH_SIZE]; // an ok fixture beside it whose answer is invented; empty: there is none
    bool is_invented_gone;        // … and which this one, whose name was chosen, has replaced
    size_t renewed;               // odd fixtures beside it that are invented, and now ask for the same
};

/// The name that what came of the search has when nobody gives another one: "ok-return", "odd-refused".
const char *try_record_name_of(const struct try_run *run);

/// Takes that name.
void try_record_choose(struct try_recording *recording);

/// Is it a name for a fixture of this supplier, and one that is not taken, unless by one whose answer is invented? To
/// be asked before anybody is called; fills in the path.
MUST_CHECK bool try_record_check(struct try_recording *recording, struct failure *why);

/// May what came of the search have that name? An ok fixture must not fail. False: `why`, with its cause.
MUST_CHECK bool try_record_fits(const struct try_recording *recording, struct failure *why);

/// False: it could not be made, and `why` says why; otherwise `findings` says whether it passes.
MUST_CHECK bool try_record(struct try_recording *recording, struct failure *why);

// ------------------------------------------------------------------------------------ between the files of try_record

/// Writes a file, with what stands there set aside. False: `why`, and nothing has changed.
MUST_CHECK bool try_record_write(const char *path, struct text bytes, struct failure *why);
/// Takes a written file away again: what was set aside comes back.
void try_record_undo(const char *path);
/// The file stays: what was set aside goes.
void try_record_settle(const char *path);
/// The bodies that a fixture of this name may have, from 0 on, "ok-one-way.2.body.json". False: there are no more.
MUST_CHECK bool try_record_body_path(const struct try_recording *recording, size_t number, char path[TRY_PATH_SIZE]);

/// Looks for fixtures in the folder whose answers are invented: an ok one is told, odd ones get the search of this one.
void try_record_meet_invented(struct try_recording *recording);

/// Writes what a request is to look like, as `expect_request`; `*has_form`: a form stands there empty.
void try_record_request(const struct http_request *request, struct buffer *out, bool *has_form);
/// Writes what came of a search, as `expect`.
void try_record_expect(const struct try_run *run, struct buffer *out);
