/// Play: one search over the real search/ in a virtual world, and what one may expect of it.
///
/// Threads: one.
/// Memory:  a plain value; play_finish frees what it took.
#pragma once

#include "search/search.h"
#include "support/fold.h"
#include "support/virtual_world.h"

enum { PLAY_SUPPLIERS = 64, MS = 1000, RESERVE_US = 10 * MS };

struct play {
    struct virtual_world virtual;
    struct virtual_supplier suppliers[PLAY_SUPPLIERS];
    struct catalogue_supplier catalogue_suppliers[PLAY_SUPPLIERS];
    struct script_account accounts[PLAY_SUPPLIERS];
    struct catalogue catalogue;
    struct search *search;
    size_t count;
    int replies;
    uint16_t status;
    bool is_complete, was_cut_by_budget;
    uint64_t replied_at_us;
    char *body;
    struct fold *fold; // NULL: not streaming
    // options
    uint64_t budget_us;
    uint32_t max_items, max_offers_per_item;
    enum sort sort;
    bool whole_or_nothing;
    struct virtual_store_given store; // with a read slice of 15 ms
    struct virtual_stored stored[PLAY_SUPPLIERS];
    struct text only[PLAY_SUPPLIERS];
    size_t only_count;
};

/// Two seconds, 200 items of 5 offers, nobody yet.
void play_init(struct play *play);
/// A supplier that answers after that time with so many offers; more can be set in what is returned.
struct virtual_supplier *play_add(struct play *play, const char *name, uint64_t after_us, uint32_t offers);
/// Makes the world; returns its time.
uint64_t play_start(struct play *play);
/// Starts the search.
void play_search(struct play *play);
/// Runs the play to its reply.
void play_run_once(struct play *play);
/// The same play for a streaming caller: the fold of what it is told equals the single reply.
void play_compare_stream(const struct play *play);
/// Both: to its reply, and once more as a stream.
void play_run(struct play *play);
/// Everything that was taken is given back, and there were so many replies.
void play_finish(struct play *play, int replies);
/// The entry of one supplier in the reply, up to its closing brace; free it.
char *play_entry(const struct play *play, const char *name);
/// Fails unless the supplier's entry holds that part.
void play_expect_entry(const struct play *play, const char *name, const char *part);
/// Fails unless the reply holds that part.
void play_expect_body(const struct play *play, const char *part);
/// The search's on_reply, for tests that start one themselves; `owner` is the play.
void play_on_reply(void *owner, const struct search_reply *reply);
