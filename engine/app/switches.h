/// Switches: what operators have said of suppliers while the engine runs: not to be asked, a breaker held open or
/// closed, a ceiling.
///
/// They are known by the names of supplier and account, so they stay whatever generation comes, and wait for a supplier
/// that is gone to come back. Of a supplier, and of each account, there is at most one for each thing: whether it is
/// asked, its breaker, its ceiling. One with an end is over by the monotonic clock, whatever is done to the time of
/// day.
///
/// Threads: find from any, which costs a read while there is none, and a short lock else; all the rest from one.
/// Memory:  SWITCHES_MAX of them in one block.
#pragma once

#include "app/settings_value.h"
#include "base/json_write.h"
#include "base/status.h"
#include "base/text.h"

enum {
    SWITCHES_MAX = 256,
    SWITCH_NAME_SIZE = 64, // as long as names of suppliers and accounts may be
    SWITCH_WHO_SIZE = 401,
    SWITCH_WHY_SIZE = 401,
};

enum switch_kind {
    SWITCH_DISABLED, // it is not asked
    SWITCH_DRAINING, // likewise; it was said with the wish that nothing of it is under way any more
    SWITCH_BREAKER_OPEN,
    SWITCH_BREAKER_CLOSED,
    SWITCH_CEILING, // how long it is waited for, whoever says otherwise
    SWITCH_KIND_COUNT,
};
/// "disabled", "draining", "breaker_open", "breaker_closed", "ceiling".
const char *switch_kind_name(enum switch_kind kind);
/// False: it is none.
MUST_CHECK bool switch_kind_read(struct text name, enum switch_kind *kind);

/// What a switch is about: one takes the place of another about the same.
enum switch_about { SWITCH_ABOUT_ASKING, SWITCH_ABOUT_BREAKER, SWITCH_ABOUT_CEILING };
enum switch_about switch_about_of(enum switch_kind kind);

/// The longest that one may last, as one with an end.
#define SWITCH_LONGEST_US (UINT64_C(366) * 86400 * 1000000)
#define SWITCH_NEVER UINT64_MAX
#define SWITCH_CEILING_MOST_US (UINT64_C(300) * 1000000)

struct switch_item {
    enum switch_kind kind;
    char supplier[SWITCH_NAME_SIZE];
    char account[SWITCH_NAME_SIZE]; // empty: all of its accounts
    char who[SWITCH_WHO_SIZE];      // empty: nobody said
    char why[SWITCH_WHY_SIZE];      // likewise; both without secrets
    uint64_t since_wall_us;         // when it was said
    uint64_t ceiling_us;            // of SWITCH_CEILING
    uint64_t until_us;              // monotonic; SWITCH_NEVER: until somebody takes it back
};

struct switches;

MUST_CHECK enum status switches_create(struct switches **switches);
void switches_destroy(struct switches **switches);

/// Is there none at all? Costs a read, and no clock; also when `switches` is NULL.
bool switches_are_none(struct switches *switches);
/// The one in force now for this account, or for all of its supplier, which counts first; `account` absent: only the
/// latter. `found` may be NULL. False: there is none; also when `switches` is NULL.
bool switches_find(struct switches *switches, enum switch_about about, struct text supplier, struct text account,
                   uint64_t now_us, struct switch_item *found);
/// The one of exactly these names; an empty account is all of the supplier.
bool switches_look(struct switches *switches, enum switch_about about, struct text supplier, struct text account,
                   uint64_t now_us, struct switch_item *found);

/// Puts it in the place of another of the same names about the same. STATUS_FULL: there are SWITCHES_MAX.
MUST_CHECK enum status switches_set(struct switches *switches, const struct switch_item *item);
/// Takes one away; false: there was none.
bool switches_remove(struct switches *switches, enum switch_about about, struct text supplier, struct text account);
/// Takes one away whose end has come; false: there is none.
MUST_CHECK bool switches_take_over(struct switches *switches, uint64_t now_us, struct switch_item *over);

/// Copies all of them; `items` has room for SWITCHES_MAX. How many there are.
size_t switches_list(struct switches *switches, struct switch_item *items);
/// When the next one ends; SWITCH_NEVER: none does.
uint64_t switches_next_us(struct switches *switches);

/// "30m", "90s", "2h", "7d": from a second to a year. False: `problem` says what is wrong with it.
MUST_CHECK bool switch_read_for(struct text words, uint64_t *for_us, struct value_problem *problem);

/// "900ms", "2s": from a millisecond to five minutes. False: `problem` says what is wrong with it.
MUST_CHECK bool switch_read_ceiling(struct text words, uint64_t *ceiling_us, struct value_problem *problem);

/// For people: "by ann@gateway until 2026-11-30T21:00:00.000Z: it answers nonsense", as much of it as is known;
/// terminated, cut to `size`.
void switch_print(const struct switch_item *item, uint64_t now_us, uint64_t wall_us, char *out, size_t size);

/// An object: kind, account if it is about one, who, why, since, until and for how long from now.
void switch_write(const struct switch_item *item, uint64_t now_us, uint64_t wall_us, struct json_writer *json);
