/// Script version: one product's or supplier's file as it was read and checked, shared by all sets in which it runs.
///
/// It is told by its kind, name, path and digest. It keeps the modules it was checked with, so one that is kept back
/// while others move on keeps its old modules too. What is counted of it is its life, which goes on when the same
/// version has to be checked again because something else changed.
///
/// Threads: made by the loader; read by all once it is in a set.
/// Memory:  counted; the last drop frees it, and what its file declares.
#pragma once

#include "base/arena.h"
#include "model/extra_terms.h"
#include "model/request_limits.h"
#include "script/script_life.h"
#include "script/script_shelf.h"

enum script_kind {
    SCRIPT_KIND_PRODUCT,
    SCRIPT_KIND_SUPPLIER,
    SCRIPT_KIND_SCRIPTS, // a module, the airports, a folder
    SCRIPT_KIND_TABLE,   // of the settings: what else a reload may change
    SCRIPT_KIND_RATES,
    SCRIPT_KIND_SECRETS // of a supplier
};

/// What `lastcall new` makes up for a supplier of that name, until somebody says better.
#define SCRIPT_MADE_DOCS "https://developer.%.*s.example"
#define SCRIPT_MADE_OWNER "%.*s@example.com"
enum { SCRIPT_MADE_SIZE = 160 };

/// What a supplier's table declares; texts live as long as its version.
struct script_supplier {
    struct text name;
    struct text display_name;
    struct text file;
    struct text label; // "acme@3f9a": name and the head of the version's digest
    struct text product;
    struct text *hosts;
    size_t host_count;
    struct text *secrets; // names
    size_t secret_count;
    struct text *wants; // extras of the search that it may see: "client"
    size_t want_count;
    struct request_limits limits;
    bool has_docs;            // it links to documentation
    bool has_made_docs;       // … as `lastcall new` made it up
    bool has_made_owner;      // likewise
    bool signs;               // it has `sign`
    struct extra_terms extra; // of calls made twice
    bool logs_in;             // it has `login`
    bool revalidates;         // it has `revalidate`
    struct text options;      // JSON object of defaults
    struct sells_term *sells; // what it sells (script/sells.h); none: everything
    size_t sells_count;
    uint64_t body_cap; // limits.body, or the default
};

/// A look-up in a script that names its table.
struct script_look_up {
    struct text table;
    struct text file;
    uint32_t line;
    ptrdiff_t supplier; // index in the set; -1: in a product or module
};

/// A fact of a product's searches that rules may ask for.
enum script_segment_kind { SEGMENT_TEXT, SEGMENT_INTEGER, SEGMENT_COUNTRY, SEGMENT_FLAG, SEGMENT_CHOICE };
struct script_segment {
    struct text product;
    struct text name;
    enum script_segment_kind kind;
    struct text *values; // of SEGMENT_CHOICE
    size_t value_count;
};

struct script_version {
    atomic_uint holds;
    enum script_kind kind;
    struct script_file file;
    unsigned char digest[SCRIPT_DIGEST];
    struct text label;
    struct script_supplier declared; // of a supplier
    const struct script_look_up *look_ups;
    size_t look_up_count;
    const struct script_segment *segments; // of a product
    size_t segment_count;
    struct script_life *life;
    struct arena arena;            // of the file
    struct arena memory;           // of what it declares
    struct script_version *origin; // whose texts it shares; held; NULL: they are its own
};

enum { SCRIPT_LABEL_SIZE = 256 };

/// "acme@3f9a", written to `label`.
struct text script_label(struct text name, const unsigned char digest[SCRIPT_DIGEST], char label[SCRIPT_LABEL_SIZE]);

/// Of a file whose source is there; copies it and holds the shelf. NULL without memory.
MUST_CHECK struct script_version *script_version_create(enum script_kind kind, const struct script_file *file,
                                                        struct script_shelf *shelf);
/// The same file once more, nothing declared yet, with the same life. NULL without memory.
MUST_CHECK struct script_version *script_version_again(const struct script_version *version);
/// The same with what it declares, and a life of its own. NULL without memory.
MUST_CHECK struct script_version *script_version_apart(struct script_version *version);
struct script_version *script_version_hold(struct script_version *version);
void script_version_drop(struct script_version **version);

/// The same kind, name, path and digest?
bool script_version_equals(const struct script_version *one, const struct script_version *other);

/// How many there are in the process.
size_t script_version_count_live(void);
