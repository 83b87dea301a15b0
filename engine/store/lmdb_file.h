/// LMDB file: the tables of one directory, the only part that sees LMDB.
///
/// A turn is a look at all tables as they are at one moment, or a change of them that comes whole or not at all. One
/// process at a time has a directory. A file that is damaged, or larger than it may be, is put aside and begun anew.
///
/// Commits are on the disk but for the last (MDB_NOMETASYNC): the death of the process loses none of them, that of the
/// machine the last one at most, and neither damages the file.
///
/// Threads: one reads, one writes; lmdb_file_open forks a child for a moment.
/// Memory:  what a turn finds is the file's, until the turn ends.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>

struct lmdb_file;

/// HEADS and ANSWERS are of store_lmdb.h; NOTES are of their names.
enum lmdb_table { LMDB_HEADS, LMDB_ANSWERS, LMDB_NOTES, LMDB_TABLES };
enum { LMDB_KEY_MAX = 511 };

/// Makes the directory if it is missing. STATUS_INVALID: another process has it; STATUS_IO: it cannot be used, and
/// `why` says how to mend that. `was_begun_anew`: what stood there could not be used.
MUST_CHECK enum status lmdb_file_open(const char *directory, uint64_t max_bytes, struct lmdb_file **file,
                                      bool *was_begun_anew, struct failure *why);
void lmdb_file_close(struct lmdb_file **file); // no turn is under way

/// The writer, outside of a turn: throws all of it away, because it turned out to be damaged or cannot be made smaller.
MUST_CHECK enum status lmdb_file_begin_anew(struct lmdb_file *file);
/// Whatever was committed is on the disk then.
MUST_CHECK enum status lmdb_file_sync(struct lmdb_file *file);

struct lmdb_turn {
    struct lmdb_file *file;
    void *transaction;
    bool is_write;
};

MUST_CHECK enum status lmdb_read(struct lmdb_file *file, struct lmdb_turn *turn);
MUST_CHECK enum status lmdb_write(struct lmdb_file *file, struct lmdb_turn *turn);
/// Of a look; of a change: nothing was changed. After a commit, in whichever way it went, the turn is over as well.
void lmdb_end(struct lmdb_turn *turn);
MUST_CHECK enum status lmdb_commit(struct lmdb_turn *turn);

// STATUS_NOT_FOUND; STATUS_FULL: the file has no room, and the turn can only be ended; STATUS_INVALID: it is damaged;
// STATUS_IO: the system said no. What was said in full: lmdb_trouble.

MUST_CHECK enum status lmdb_get(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text *value);
/// The first entry whose key is not before `key`; an absent one: the very first.
MUST_CHECK enum status lmdb_seek(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text *found,
                                 struct text *value);
MUST_CHECK enum status lmdb_last(struct lmdb_turn *turn, enum lmdb_table table, struct text *found);
MUST_CHECK enum status lmdb_put(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text value);
/// Room for a value of that length, to be filled before anything else is done.
MUST_CHECK enum status lmdb_put_room(struct lmdb_turn *turn, enum lmdb_table table, struct text key, size_t length,
                                     char **room);
MUST_CHECK enum status lmdb_delete(struct lmdb_turn *turn, enum lmdb_table table, struct text key);

struct lmdb_sizes {
    uint64_t entries[LMDB_TABLES];
    uint64_t bytes[LMDB_TABLES];
};
void lmdb_sizes(struct lmdb_turn *turn, struct lmdb_sizes *sizes);

/// What LMDB or the system said last, a constant.
const char *lmdb_trouble(const struct lmdb_file *file);
