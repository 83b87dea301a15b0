/// Generation sources: which suppliers there are: the files of the suppliers directories and the names that `uses`
/// adds.
///
/// Threads: one, while a generation is built.
/// Memory:  the builder's arena.
#pragma once

#include "app/generation_builder.h"

struct generation_source {
    struct text name;
    struct text file;
    const struct settings_supplier *settings; // NULL: the settings do not name it
    bool is_alias;                            // by `uses`
    const struct failure *doubled;            // by another file of its name: neither is loaded; NULL: it is not
};

struct generation_sources {
    struct generation_source *items; // sorted by name
    size_t count;
};

/// The source of that name, or NULL.
const struct generation_source *generation_source_of(const struct generation_sources *sources, struct text name);

/// Adds the sources of suppliers that the set has although no file plays them any more.
MUST_CHECK enum status generation_complete_sources(struct generation_builder *builder,
                                                   struct generation_sources *sources, const struct script_set *set);

/// Reads the directories and joins them with the settings; reports what does not fit. STATUS_OK also with findings.
MUST_CHECK enum status generation_find_sources(struct generation_builder *builder, struct generation_sources *sources);
