/// Board: where engines that share a store hang out what the others must know: what operators say of suppliers, and
/// which accounts are left alone.
///
/// Two notes in the store, each a document of all that is known. Every BOARD_TICK_US the board reads both; what is news
/// is told to its owner, and where a document lacks something that is known here it is written anew. There is no lock
/// and no leader: whoever's words are lost when two write at once finds them missing, and writes again. While the store
/// does not answer nothing is lost either: words wait here, each engine goes by what it knows, and all agree when the
/// store is back, empty or not.
///
/// Threads: tell and stamp from any, which never wait for the store; a thread of its own (nice 10) does the work, and
///          calls the hooks.
/// Memory:  owns the thread and what is known; borrows the store.
/// Time:    the order of words is that of wall clocks; one that lags catches up with each word that it hears.
#pragma once

#include "app/park_ledger.h"
#include "app/switch_ledger.h"
#include "base/json_write.h"
#include "store/store.h"

enum { BOARD_TICK_US = 500000 };

struct board;

/// On the board's thread.
struct board_hooks {
    void (*on_switch)(void *context, const struct switch_word *word);
    void (*on_park)(void *context, const struct park_word *word);
    void *context;
};

MUST_CHECK enum status board_create(struct store *store, const struct board_hooks *hooks, struct board **board,
                                    struct failure *why);
MUST_CHECK enum status board_start(struct board *board, struct failure *why);
/// What was told and is not yet written is tried once more, for at most `grace_us`. The hooks are called no more. NULL
/// is passed over, as below.
void board_stop(struct board *board, uint64_t grace_us);
/// After the store is closed: its last calls come home here.
void board_destroy(struct board **board);

/// Before board_start: what is known from before, which is no news.
void board_remember(struct board *board, const struct switch_word *word);
void board_tell_switch(struct board *board, const struct switch_word *word);
void board_tell_park(struct board *board, const struct park_word *word);
/// A time of day that is later than any word known here; without a board the clock's.
uint64_t board_stamp_us(struct board *board);

/// An object: whether it hears the others, and since when it does or does not.
void board_write(struct board *board, struct json_writer *json);
