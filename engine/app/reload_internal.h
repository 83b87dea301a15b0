/// Reload internal: what the parts of the reloader share. Only reload*.c see it.
///
/// Threads: the builder's, but for what `mutex` guards.
/// Memory:  one block.
#pragma once

#include "app/held.h"
#include "app/history.h"
#include "app/reload.h"
#include "app/trials.h"

#include <pthread.h>
#include <stdatomic.h>

enum { QUARANTINES_TOLD = 64, SHADOWS_MAX = 64 };

/// The suppliers whose files are shadows.
struct reload_shadows {
    char *kept[SHADOWS_MAX];
    struct text names[SHADOWS_MAX]; // views into `kept`
    unsigned char digests[SHADOWS_MAX][SCRIPT_DIGEST];
    bool has_digest[SHADOWS_MAX]; // there is a shadow, loaded or broken, and that is it
    size_t count;
    const unsigned char *promoted; // the only version of `promotes` that may run besides what does; NULL: any
    struct text promotes;
};

struct reload {
    struct engine *engine;
    pthread_t thread;
    bool is_running;

    pthread_mutex_t mutex; // of all until the next blank line
    struct list queue;     // struct reload_request
    bool is_asked[RELOAD_SOURCE_COUNT];
    bool is_stopping;
    struct reload_answer *last;      // of what was read or published last; a look of the watch in vain is none
    struct reload_answer *published; // of what runs; NULL: since the start
    struct reload_answer *standing;  // whose kept rows hold
    char *on_trial; // labels, each with a line end; NULL: none
    uint64_t counts[RELOAD_OUTCOME_COUNT];

    atomic_bool is_draining;
    int wake_fd;              // somebody asked
    struct file_watch *watch; // NULL: files are not watched
    uint64_t retry_us;        // when what was asked for without an answer is tried again; 0: never
    bool is_retried[RELOAD_SOURCE_COUNT];
    struct history history;
    struct events events;
    struct held held;
    struct trials trials;
    struct reload_shadows shadows;
    uint32_t settings_generation; // the first one of the settings that run
    char *quarantined;            // labels that were told, each with a line end; NULL: none
};

/// One generation in the making, with the answer that tells of it.
struct reload_making {
    struct reload *reload;
    struct reload_answer *answer;
    struct generation *running; // acquired
    struct settings *settings;  // acquired; what the new one is made of
    uint64_t disk_hash;         // of the settings that were read; 0: none were
    struct data_set *data;      // borrowed; with scripts that are fixed: their tables and rates; NULL: those on disk
    struct rates *rates;
    struct generation *built; // acquired; NULL: not yet
    struct script_changes changes;
    struct held failing; // versions whose fixtures failed
};

void reload_making_init(struct reload_making *making, struct reload *reload, struct reload_answer *answer);
void reload_making_fini(struct reload_making *making);

/// The settings of a generation, acquired.
struct settings *reload_settings_of(const struct generation *generation);
/// The files of these settings once more, as they are now.
MUST_CHECK enum status reload_read_settings(const struct settings *running, settings_finding report, void *context,
                                            struct settings **fresh);
/// settings_finding: kept in the answer until it is known whether they refuse the whole.
void reload_on_finding(void *making, const struct failure *failure);

/// Builds over what runs: of what is on the disk, or of the scripts `fixed`. False: the answer says why not.
MUST_CHECK bool reload_build(struct reload_making *making, struct script_set *candidate, struct script_set *fixed);
/// Waits for room and publishes what was built. False: the answer says why not.
MUST_CHECK bool reload_publish(struct reload_making *making);

/// Rows of what was kept back.
void reload_tell_kept(struct reload_making *making, const struct script_changes *changes);
/// Rows of what changed in what was built, and whether its settings did.
void reload_tell_changes(struct reload_making *making);
/// The row of settings on the disk that must not run.
void reload_tell_kept_settings(struct reload_making *making, const struct failure *because);
/// Rows of a reload that the disk refused: the settings that do not run, and what waits behind them.
void reload_tell_refused(struct reload_making *making);
const char *reload_kind_name(enum script_kind kind);
const char *reload_fate_name(enum script_fate fate);

/// Does one of these, with a reload.
void reload_change_shadow(struct reload *reload, enum reload_shadow change, struct text name,
                          struct reload_answer *answer);
/// Must this version not run, because another one is to be promoted?
bool reload_is_not_promoted(const struct reload_making *making, enum script_kind kind, struct text name,
                            const unsigned char *digest, struct failure *because);
/// The generation built runs now: reports begin and end, and the answer tells of them. Without `was_read` nothing is
/// known of the disk.
void reload_follow_shadows(struct reload_making *making, bool was_read);
/// All end.
void reload_end_shadows(struct reload_making *making);
void reload_shadows_fini(struct reload_shadows *shadows);

/// One reload of what lies on the disk.
void reload_from_disk(struct reload *reload, struct reload_answer *answer);
/// One rollback.
void reload_roll_back(struct reload *reload, uint32_t number, struct reload_answer *answer);
/// Ends trials, and goes back where one was lost.
void reload_judge_trials(struct reload *reload);
/// Tells readers which versions are on trial now.
void reload_tell_trials(struct reload *reload);

/// The watch over the files of the running generation; without `reload.watch` there is none, and all this does nothing.
/// What was changed before it began to look is found by a first reload.
MUST_CHECK enum status reload_watch_open(struct reload *reload);
void reload_watch_close(struct reload *reload);
/// The settings changed: from now on their files.
void reload_watch_follow(struct reload *reload);
int reload_watch_fd(const struct reload *reload);
uint64_t reload_watch_next_us(const struct reload *reload);
/// Looks, and asks for a reload when files have changed and come to rest.
void reload_watch_step(struct reload *reload);

/// Notes what became of a reload: history, events, log, counts, what the status shows.
void reload_note(struct reload *reload, struct reload_answer *answer);
/// What is kept back now that this answer was given: the answer itself, or one made of it; NULL: as before. Rows that
/// were told before keep their time.
struct reload_answer *reload_stand(struct reload_answer *answer, struct reload_answer *standing);
/// The event and the log line of each thing that is kept back since this answer, and of each that is no more.
void reload_note_kept(struct reload *reload, const struct reload_answer *now, const struct reload_answer *before);

/// Tells of scripts that are in quarantine now.
void reload_tell_quarantines(struct reload *reload);
