/// Generation blame: whose fault a finding is while a generation is built over another.
///
/// A finding that a changed script may have caused does not refuse the whole: the script is blamed, and the generation
/// is built again with the version of it that runs. Whether it was the cause shows then: a finding that comes again
/// stands with what ran before, so it is the settings', and refuses. A file that vanished although the settings name
/// its supplier is blamed likewise: what ran goes on.
///
/// Threads: one, while a generation is built.
/// Memory:  an arena that outlives the attempts.
#pragma once

#include "app/generation_builder.h"

/// A script that must not run.
struct generation_blame {
    enum script_kind kind;
    struct text name;
    bool is_gone;                        // its file, that is
    unsigned char digest[SCRIPT_DIGEST]; // of one that is there
    struct failure because;
};

struct generation_blames {
    struct arena arena;
    const struct script_set *running; // NULL: nothing runs, so nobody is blamed
    struct generation_blame *items;
    size_t count;
    size_t heeded;          // those that the scripts were loaded by
    script_refuses refuses; // others that must not run; NULL: none
    void *refuses_context;
    uint64_t *reported; // hashes of the findings that were told
    size_t reported_count;
    bool is_out_of_memory;
};

void generation_blames_init(struct generation_blames *blames, const struct script_set *running);
void generation_blames_fini(struct generation_blames *blames);

/// For script_order.refuses; the blames are the context.
bool generation_refuses(void *blames, enum script_kind kind, struct text name, const unsigned char *digest,
                        struct failure *because);

/// True the first time that this very finding is told, over all attempts.
MUST_CHECK bool generation_is_news(struct generation_blames *blames, const struct failure *failure);

/// From now on findings may be this supplier's fault, its shadow's, or that of whoever took its file away, this
/// product's, that of any product that changed; nobody's.
void generation_suspect_supplier(struct generation_builder *builder, struct text name);
void generation_suspect_shadow(struct generation_builder *builder, struct text name);
void generation_suspect_gone(struct generation_builder *builder, struct text name);
void generation_suspect_product(struct generation_builder *builder, struct text name);
void generation_suspect_products(struct generation_builder *builder);
void generation_suspect_nobody(struct generation_builder *builder);

/// Are the suspects, if it was they, nobody who is needed (generation_order.needed)?
MUST_CHECK bool generation_is_beside(const struct generation_builder *builder);

/// Blames the suspects that are not what runs. False: there are none, the finding refuses the whole.
MUST_CHECK bool generation_blame(struct generation_builder *builder, const struct failure *failure);

/// Was that supplier left out because its new file is broken?
bool generation_is_left_out(const struct generation_builder *builder, struct text supplier);

/// Adds a row of what became of a file that is no script; without changes to tell, nothing.
void generation_tell_change(struct generation_builder *builder, enum script_kind kind, struct text name,
                            struct text file, enum script_fate fate, const struct failure *because);
