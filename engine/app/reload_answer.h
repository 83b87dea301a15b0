/// Reload answer: what became of one reload: what runs now, what changed, what was kept back and why.
///
/// It is the same one for everybody who asked, whatever the source, and it is made from what was published: a row that
/// says that something runs names what the published generation holds.
///
/// Threads: filled by one (the builder); from then on read by any.
/// Memory:  counted; the last release frees it. All texts are copies, failures without secrets.
#pragma once

#include "base/arena.h"
#include "base/json_write.h"
#include "base/status.h"

enum reload_source { RELOAD_START, RELOAD_COMMAND, RELOAD_SIGNAL, RELOAD_WATCH, RELOAD_TRIAL, RELOAD_SOURCE_COUNT };
enum reload_outcome { RELOAD_PUBLISHED, RELOAD_UNCHANGED, RELOAD_REFUSED, RELOAD_OUTCOME_COUNT };

const char *reload_source_name(enum reload_source source);
const char *reload_outcome_name(enum reload_outcome outcome);

/// A script, table or the settings, of which something changed or was kept. Absent texts are left out.
struct reload_row {
    const char *kind; // a constant: "supplier", "product", "scripts", "table", "rates", "secrets", "settings"
    /// A constant: "changed", "added", "removed", "went_back", "kept", "left_out", "failing", "waits", "refused".
    const char *fate;
    struct text name, file;
    struct text running, before, on_disk; // labels: "acme@3f9a"
    struct failure because;               // of what was kept; an empty message: none
    /// A constant: what a restart would do about what was kept: "fails" (it would not start), "runs" (what is on the
    /// disk), "off" (the supplier would be off). NULL: nothing else than what is so now.
    const char *on_restart;
    uint64_t since_wall_us; // of what was kept: the first reload that said so; 0: not known yet
};

/// A setting that needs a restart and differs from what runs.
struct reload_restart {
    struct text setting, file;
    uint32_t line;
};

enum { RELOAD_ROWS_MAX = 4096, RELOAD_FINDINGS_MAX = 64 };

struct reload_answer {
    enum reload_outcome outcome;
    bool is_draining; // refused because the engine stops
    bool is_passing;  // refused for what passes by itself: the same may be published a little later
    bool is_rollback;
    bool is_disk_refused;          // what lies on the disk refused it, and the kept rows tell what does not run
    uint32_t roll_back_to;         // of a rollback
    uint32_t generation, previous; // what runs now, what ran before
    enum reload_source source;
    struct text who, why; // absent: nobody said
    uint64_t began_wall_us, took_us;
    size_t requests; // how many asked for it
    struct reload_row *changed;
    size_t changed_count;
    struct reload_row *kept;
    size_t kept_count;
    bool settings_changed;
    struct text *settings_names; // those that changed: "deadline.max", "suppliers.acme"
    size_t settings_name_count;
    struct reload_restart *restarts;
    size_t restart_count;
    struct failure *findings; // why it was refused; of more than RELOAD_FINDINGS_MAX the first
    size_t finding_count, finding_more;
    struct text shadows;     // a finished list of objects; absent: there are none
    struct failure *remarks; // what was asked for in vain, though the rest was done
    size_t remark_count;
    size_t rows_left_out; // rows that found no room
    struct arena arena;
};

/// NULL without memory.
MUST_CHECK struct reload_answer *reload_answer_create(enum reload_source source, struct text who, struct text why);
struct reload_answer *reload_answer_acquire(struct reload_answer *answer);
void reload_answer_release(struct reload_answer **answer);

/// Adds a row; a copy of it is kept.
void reload_answer_add_changed(struct reload_answer *answer, const struct reload_row *row);
void reload_answer_add_kept(struct reload_answer *answer, const struct reload_row *row);
void reload_answer_add_restart(struct reload_answer *answer, const char *setting, const char *file, uint32_t line);
void reload_answer_add_settings_name(struct reload_answer *answer, struct text name);
void reload_answer_add_finding(struct reload_answer *answer, const struct failure *failure);
void reload_answer_add_remark(struct reload_answer *answer, const struct failure *failure);
/// Makes it a refusal for this one reason.
void reload_answer_refuse(struct reload_answer *answer, const char *message, const char *help);

/// A finished list, which is copied.
void reload_answer_set_shadows(struct reload_answer *answer, struct text json);

/// The kept row of this name, or NULL.
const struct reload_row *reload_answer_find_kept(const struct reload_answer *answer, const char *kind,
                                                 struct text name);

/// The whole answer, one object.
void reload_answer_write(const struct reload_answer *answer, struct json_writer *json);
/// What is kept back now, as fields of an object: the rows with `since`, settings that wait, and what a restart would
/// do. NULL: nothing is.
void reload_answer_write_standing(const struct reload_answer *standing, struct json_writer *json);
/// One line for the log: "published generation=43 previous=42 … changed=acme:changed kept=bravo:kept …".
void reload_answer_print(const struct reload_answer *answer, struct buffer *out);
