/// Settings table: every setting once.
///
/// A row tells its key, kind, range, default and sentence; reading, errors, help and `config show` come from it. A `*`
/// in a key stands for a name that the operator chooses, or for the number of a rule. A row of kind SETTING_LATER names
/// what this version does not act on: it, and everything below it, is refused.
///
/// Threads: any; constants.
/// Memory:  owns nothing.
#pragma once

#include "base/buffer.h"

enum setting_kind {
    SETTING_DURATION,        // uint64_t, µs
    SETTING_SIZE,            // uint64_t, bytes
    SETTING_SHARE,           // uint64_t, millionths
    SETTING_DECIMAL,         // uint64_t, millionths
    SETTING_INTEGER,         // uint32_t
    SETTING_TEXT,            // struct text, not empty
    SETTING_NAME,            // struct text, a supplier's name
    SETTING_ADDRESS,         // struct text, "host:port"
    SETTING_ADDRESS_OR_NONE, // the same, or empty
    SETTING_VARIABLE,        // struct text, an environment variable's name
    SETTING_FLAG,            // bool
    SETTING_LIST,            // struct text *, then size_t; one text counts as a list of one
    SETTING_NAMES,           // the same of different names, may be empty
    SETTING_ORIGINS,         // the same of "*" or origins ("https://www.example.com"), may be empty
    SETTING_RANGES,          // struct address_range *, then size_t
    SETTING_NAME_SERVERS,    // const char **, then size_t
    SETTING_PAIR,            // an entry of a struct settings_pair array: the name is the last part of the key
    SETTING_SECRET,          // the same, its value an environment variable's name
    SETTING_LATER,
};

/// What `offset` counts from.
enum setting_owner {
    SETTING_OF_ENGINE,
    SETTING_OF_SUPPLIER,
    SETTING_OF_ACCOUNT,
    SETTING_OF_TABLE,
    SETTING_OF_RULE,
    SETTING_OF_CONDITION,
};

struct setting {
    const char *key; // "deadline.min", "suppliers.*.uses"
    enum setting_kind kind;
    enum setting_owner owner;
    size_t offset;
    size_t count_offset; // of lists
    const char *least;   // as written, inclusive; NULL: no range
    const char *most;
    const char *preset;  // the default as written, items separated by commas; NULL: not set
    const char *choices; // words that are allowed, separated by blanks; of numbers: instead of one, stored as 0
                         // (integers) or SETTINGS_AUTO
    const char *about;   // one sentence
    bool needs_restart;
};

extern const struct setting SETTINGS[];
extern const size_t SETTINGS_COUNT;

enum { SETTING_PARTS_MAX = 17 };

/// Where one stands in the tree: "suppliers", "acme", "uses".
struct setting_path {
    struct text parts[SETTING_PARTS_MAX];
    size_t count;
};

enum setting_match {
    SETTING_NONE,
    SETTING_ROW,     // a row, or something below a row of kind SETTING_LATER
    SETTING_SECTION, // rows lie below it
};
MUST_CHECK enum setting_match setting_find(const struct setting_path *path, const struct setting **row);

/// The path with dots, for people.
void setting_path_write(const struct setting_path *path, struct buffer *out);

/// Appends the setting that was probably meant by an unknown path whose upper parts are right. False: none is near.
MUST_CHECK bool setting_nearest(const struct setting_path *path, struct buffer *out);

/// Appends the names right below a section: "default, min, max".
void setting_children_write(const struct setting_path *path, struct buffer *out);
