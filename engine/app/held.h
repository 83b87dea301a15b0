/// Held: the versions of scripts and settings that must not run, though they are what lies on the disk.
///
/// A version gets here when operators rolled it back, or when it failed its trial. It stays until its file changes, or
/// until somebody says that it be tried again. A file that is gone has a version, too: so a supplier that was rolled
/// back into life is not removed by the next reload.
///
/// Threads: the builder's.
/// Memory:  owns copies of names and reasons.
#pragma once

#include "script/script_set.h"

struct settings;

struct held_version {
    enum script_kind kind;
    char *name;
    unsigned char digest[SCRIPT_DIGEST]; // zeros: the file is gone
    struct failure because;
    char *path;      // of a version that goes by its own file, whatever modules it needs; NULL: by its digest
    uint64_t source; // of that file (base/file_digest.h)
};

enum { HELD_DEEP = 8 };

struct held {
    struct held_version *versions; // of a name the oldest first
    size_t count, room;
    uint64_t settings_hash;    // of the settings on the disk that must not run; 0: none
    struct settings *settings; // what they say, held; NULL: not known
    struct failure settings_because;
};

void held_init(struct held *held);
void held_fini(struct held *held);

/// Holds a version back, beside others of the same name, of which HELD_DEEP are remembered. `digest` NULL: the file is
/// gone.
MUST_CHECK enum status held_add(struct held *held, enum script_kind kind, struct text name, const unsigned char *digest,
                                const struct failure *because);
/// This version, which was added and is what lies in the file now, is told by what that file itself holds: other
/// modules do not make it another one.
MUST_CHECK enum status held_by_source(struct held *held, enum script_kind kind, struct text name,
                                      const unsigned char *digest, const char *path);
/// Holds settings back whose files have this hash.
void held_add_settings(struct held *held, uint64_t hash, const struct failure *because);

/// script_order.refuses; `held` is a struct held.
bool held_refuses(void *held, enum script_kind kind, struct text name, const unsigned char *digest,
                  struct failure *because);
/// The same, with what they say: a comment more does not bring them back.
void held_add_settings_values(struct held *held, struct settings *settings, const struct failure *because);
/// Settings were read: when they say what is held back, they are it.
void held_meet_settings(struct held *held, const struct settings *read);
/// Must the settings of this hash not run?
bool held_refuses_settings(const struct held *held, uint64_t hash, struct failure *because);

/// Lets a script of this name, or "settings", be tried again. False: nothing of that name is held back.
bool held_retry(struct held *held, struct text name);
/// The name that was probably meant, of what is held back; NULL: none. It lives as long as that is held.
const char *held_nearest(const struct held *held, struct text name);
/// Forgets what runs, because somebody said so: it must not be refused by the next load. `settings_hash` is of those
/// that run.
void held_forget_running(struct held *held, const struct script_set *now, uint64_t settings_hash);
/// Forgets what an ordinary load that made `now` did not meet any more: its file has changed. A script whose file is
/// gone is remembered, for it may come back as it was. `settings_hash` is of what was read.
void held_forget_changed(struct held *held, const struct script_changes *changes, const struct script_set *now,
                         uint64_t settings_hash);
