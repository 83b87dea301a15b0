/// Shadow report: what was learnt of one shadow beside the version that runs.
///
/// Threads: counts are atomic; `telling` guards the rest once the report is in use.
/// Memory:  one block; words are copies without secrets, cut to what fits.
#pragma once

#include "app/shadow.h"
#include "app/shadow_compare.h"
#include "base/list.h"

#include <pthread.h>

enum shadow_state {
    SHADOW_WAITS,  // the file is what runs
    SHADOW_BROKEN, // it could not be loaded
    SHADOW_RUNS,
};

enum { SHADOW_WORDS = 200, SHADOW_SEARCH_ID = 32 };

struct shadow_entry {
    char search_id[SHADOW_SEARCH_ID];
    char offer[SHADOW_WORDS], pointer[SHADOW_WORDS], live[SHADOW_WORDS], shadow[SHADOW_WORDS];
    bool has_offer, has_live, has_shadow;
};

struct shadow_report {
    struct list node;
    unsigned holds; // the registry's lock guards it
    char name[SCRIPT_LABEL_SIZE], live[SCRIPT_LABEL_SIZE], shadow[SCRIPT_LABEL_SIZE];
    unsigned char live_digest[SCRIPT_DIGEST], shadow_digest[SCRIPT_DIGEST];
    enum shadow_state state;
    char because[512];
    uint64_t since_wall_us;
    atomic_uint_fast64_t answers, same, different, skipped, errors, out_of_memory;

    pthread_mutex_t telling; // of all that follows
    char first_error[256];
    uint64_t only_live, only_shadow; // offers
    uint64_t differences;            // more than there are entries, maybe
    size_t entry_count;
    struct shadow_entry entries[SHADOW_DIFFERENCES];
};

/// With one hold. NULL without memory.
MUST_CHECK struct shadow_report *shadow_report_create(struct text name);
void shadow_report_destroy(struct shadow_report **report);

/// Compares an answer and takes what differs.
void shadow_report_take(struct shadow_report *report, const char *search_id, const struct shadow_side *live,
                        const struct shadow_side *shadow);
void shadow_report_write(struct shadow_report *report, bool has_differences, struct json_writer *json);
