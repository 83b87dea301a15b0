/// Switch ledger: the last words of operators, those that other engines were told among them, and the document in which
/// engines tell each other.
///
/// Of a supplier or account there is one word about each thing (its asking, its breaker, its ceiling): the latest, by
/// the time at which it was said, which is later than of any word that its engine had heard of. So all engines that
/// have read the same document agree, whoever wrote it and however often. A word that takes something back from a whole
/// supplier takes back what was said of its accounts before. Words that leave nothing in force are kept for a week, so
/// that who was away hears them.
///
/// Threads: one.
/// Memory:  one block.
#pragma once

#include "app/switch_desk.h"

enum { SWITCH_LEDGER_MAX = 2 * SWITCHES_MAX };
#define SWITCH_WORD_KEPT_US (UINT64_C(7) * 86400 * 1000000)

struct switch_word {
    enum switch_action action;
    char supplier[SWITCH_NAME_SIZE], account[SWITCH_NAME_SIZE];
    char who[SWITCH_WHO_SIZE], why[SWITCH_WHY_SIZE];
    uint64_t said_us;  // wall clock; the order of words
    uint64_t until_us; // wall clock; 0: without an end
    uint64_t ceiling_us;
};

/// What a switch that is in force was when it was said, and the word of a request.
struct switch_word switch_word_of_item(const struct switch_item *item, uint64_t now_us, uint64_t wall_us);
struct switch_word switch_word_of_request(const struct switch_request *request, uint64_t wall_us);
/// Does it leave nothing in force: it takes something back, was for a moment, or is over?
bool switch_word_is_past(const struct switch_word *word, uint64_t wall_us);

struct switch_ledger;

MUST_CHECK enum status switch_ledger_create(struct switch_ledger **ledger);
void switch_ledger_destroy(struct switch_ledger **ledger);

/// True: it is news, later than what was known of it. Full: the oldest word that leaves nothing in force makes room; if
/// there is none, the word is not kept, and it is news.
bool switch_ledger_put(struct switch_ledger *ledger, const struct switch_word *word, uint64_t wall_us);
/// When the latest word was said; 0: there is none.
uint64_t switch_ledger_latest_us(const struct switch_ledger *ledger);
size_t switch_ledger_count(const struct switch_ledger *ledger);

/// Reads what others have written; each word that is news is told once. `*lacks`: it does not have all that is known
/// here. STATUS_INVALID: it is no such document, and nothing of it counts; `why` says where. The document absent: there
/// is none.
MUST_CHECK enum status switch_ledger_merge(struct switch_ledger *ledger, struct text document, uint64_t wall_us,
                                           void (*on_news)(void *context, const struct switch_word *word),
                                           void *context, bool *lacks, struct failure *why);
/// All that is known, without what is kept no longer.
void switch_ledger_write(struct switch_ledger *ledger, uint64_t wall_us, struct buffer *out);
