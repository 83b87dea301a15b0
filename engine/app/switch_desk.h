/// Switch desk: does what operators want of suppliers while the engine runs, keeps it on the disk, and ends what has an
/// end.
///
/// A request is first done, then written down (`state_dir`), then answered: who has the answer will find it again after
/// a kill. When it cannot be written it is done all the same, and the answer says that a restart forgets it, and why.
/// What is done or over is an event and a line of the log.
///
/// Threads: submit and look from any; a thread of its own (nice 10) does the work, so that neither a slow disk nor a
///          reload holds up loops or other answers.
/// Memory:  owns the thread; borrows the engine and its switches.
#pragma once

#include "app/switch_file.h"
#include "base/list.h"

struct engine;
struct switch_desk;

enum switch_action {
    SWITCH_DISABLE,
    SWITCH_DRAIN,
    SWITCH_ENABLE,
    SWITCH_OPEN, // the breaker: with an end it is held so, without one it opens and tries the supplier out as ever
    SWITCH_CLOSE,
    SWITCH_RESET, // likewise as new, and held no more
    SWITCH_SET_CEILING,
    SWITCH_DROP_CEILING,
    SWITCH_PURGE, // what it said last is forgotten
    SWITCH_ACTION_COUNT,
};

enum switch_end {
    SWITCH_DONE,
    SWITCH_UNCHANGED, // it was so already
    SWITCH_NO_SUPPLIER,
    SWITCH_NO_ACCOUNT,
    SWITCH_REFUSED,
};

/// Whether what is in force outlives a restart.
struct switch_keeping {
    char path[SWITCH_FILE_PATH_SIZE]; // empty: it is kept nowhere
    bool is_kept;
    struct failure trouble; // why not, where there is a path
    struct failure lost;    // what was wrong with what stood there at the start; an empty message: nothing
};

struct switch_request {
    struct list node; // the desk's
    enum switch_action action;
    char supplier[SWITCH_NAME_SIZE], account[SWITCH_NAME_SIZE]; // no account: all
    char who[SWITCH_WHO_SIZE], why[SWITCH_WHY_SIZE];            // without secrets
    uint64_t for_us;                                            // 0: until it is taken back
    uint64_t ceiling_us;                                        // of SWITCH_SET_CEILING
    bool is_told;     // it was said to another engine: it is done without asking whom this one knows, and not passed on
    bool is_past;     // of such a one: its end has come, so it only takes back what was said before
    uint64_t said_us; // of such a one: when, by the wall clock; else set by the desk
    /// On the desk's thread, exactly once.
    void (*on_done)(struct switch_request *request);

    // out
    enum switch_end end;
    struct failure because; // why not; of a success what one should know besides; an empty message: nothing
    bool has_now, has_was;
    struct switch_item now, was; // what is in force of these names, and what was
    uint32_t out;                // attempts of it that are under way
    uint64_t purged;             // of SWITCH_PURGE: answers
    struct switch_keeping keeping;
};

/// Reads what was kept; `why` is only for what keeps the engine from starting. A bad file does not.
MUST_CHECK enum status switch_desk_create(struct engine *engine, struct switch_desk **desk, struct failure *why);
/// From here on it works; events go to the reload's.
MUST_CHECK enum status switch_desk_start(struct switch_desk *desk, struct failure *why);
/// All requests have been answered, and later ones are refused. NULL is passed over, as below.
void switch_desk_stop(struct switch_desk *desk);
void switch_desk_destroy(struct switch_desk **desk);

/// STATUS_CLOSED: it has stopped.
MUST_CHECK enum status switch_desk_submit(struct switch_desk *desk, struct switch_request *request);

/// The field `kept`: whether switches outlive a restart, where they are kept, or why they are not.
void switch_desk_write_kept(struct switch_desk *desk, struct json_writer *json);
