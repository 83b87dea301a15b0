/// Script shelf: the modules of a scripts folder as they were read together, for `require`.
///
/// A file reaches the modules that its text, or a module that it reaches, names in `require("…")`; all of them when its
/// text uses the word otherwise. Its digest counts those and no others: a file that reaches no changed module has not
/// changed. A module that is broken breaks what reaches it.
///
/// Threads: made by one, read by all.
/// Memory:  counted; the last drop frees it.
#pragma once

#include "base/arena.h"
#include "base/status.h"

#include <lua.h>

enum { SCRIPT_DIGEST = 32, SCRIPT_SHELF_MODULES_MAX = 1000 };

struct script_shelf;
struct script_look_up;

/// One Lua file as it was read.
struct script_file {
    struct text name;           // of the supplier, product or module
    struct text path;           // as shown in errors
    struct text source;         // absent: it could not be read
    struct script_shelf *shelf; // where its `require` looks; borrowed; NULL: nowhere
};

/// A module and what was found when it was loaded by itself.
struct script_module {
    struct script_file file;
    unsigned char digest[SCRIPT_DIGEST];
    bool is_broken;
    struct failure because; // why it is
};

/// An empty shelf; NULL without memory.
MUST_CHECK struct script_shelf *script_shelf_create(void);
struct script_shelf *script_shelf_hold(struct script_shelf *shelf);
void script_shelf_drop(struct script_shelf **shelf);

/// While it is filled: adds a copy of the file, whose source may be absent; NULL without memory. Names ascend.
MUST_CHECK struct script_module *script_shelf_add(struct script_shelf *shelf, const struct script_file *file);
/// Takes look-ups that were found in a module. False: no memory.
MUST_CHECK bool script_shelf_keep_look_ups(struct script_shelf *shelf, const struct script_look_up *items,
                                           size_t count);
/// Once it is full: which module reaches which.
MUST_CHECK enum status script_shelf_close(struct script_shelf *shelf);

size_t script_shelf_count(const struct script_shelf *shelf);
/// Its maker may still write what was found.
struct script_module *script_shelf_module(const struct script_shelf *shelf, size_t index);
const struct script_module *script_shelf_find(const struct script_shelf *shelf, struct text name);
const struct script_look_up *script_shelf_look_ups(const struct script_shelf *shelf, size_t *count);

/// The same modules with the same texts?
bool script_shelf_equals(const struct script_shelf *one, const struct script_shelf *other);

/// SHA-256 of a source and of the modules that it reaches; of the source alone when it reaches none.
void script_shelf_digest(const struct script_shelf *shelf, struct text source, unsigned char digest[SCRIPT_DIGEST]);
/// The first broken module that a source reaches; NULL: none.
const struct script_module *script_shelf_first_broken(const struct script_shelf *shelf, struct text source);
/// The module of that name, when a source reaches it; NULL: it does not, or there is none.
const struct script_module *script_shelf_reached(const struct script_shelf *shelf, struct text source,
                                                 struct text name);

/// The file of that path, or whose path ends like one that is cut at its beginning: "...helpers/dates.lua".
bool script_file_is(const struct script_file *file, struct text shown);
/// The module that is so shown; NULL: none.
const struct script_file *script_shelf_shown(const struct script_shelf *shelf, struct text shown);

/// `find_module` of sandboxes whose files are loaded by script_shelf_load. False: `path` is the name that may be meant,
/// or absent.
bool script_shelf_on_require(void *context, struct text name, struct text *path, struct text *source);
/// In a protected call: sandbox_load of a file, whose `require` looks on its own shelf from then on.
bool script_shelf_load(lua_State *L, const struct script_file *file);
