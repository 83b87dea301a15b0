/// Generation data: the look-up tables that the settings declare, loaded, and the scripts' use of them checked.
///
/// Threads: one, while a generation is built.
/// Memory:  the set is the caller's; it may be there even when findings were reported.
#pragma once

#include "app/generation_sources.h"
#include "model/data_set.h"

/// Loads all tables; every finding is reported and counted in the builder. STATUS_OK also with findings. The set is
/// empty when no table is declared.
MUST_CHECK enum status generation_load_data(struct generation_builder *builder, struct data_set **data);

/// The table of exchange rates likewise; NULL when the settings name none.
MUST_CHECK enum status generation_load_rates(struct generation_builder *builder, struct rates **rates);

/// The very same tables under the same names?
bool generation_is_same_data(const struct data_set *data, const struct data_set *running);

/// The order's own table of that name, or the running one when it says the same. False: it is read from its file.
MUST_CHECK bool generation_take_table(struct generation_builder *builder, const struct settings_table *settings,
                                      struct data_table **table);
/// The order's own rates likewise.
MUST_CHECK bool generation_take_rates(struct generation_builder *builder, struct rates **rates);
/// Must a table or rates of this content not run? It is told as kept then, and what runs stays.
MUST_CHECK bool generation_holds_back(struct generation_builder *builder, enum script_kind kind, struct text name,
                                      struct text file, uint64_t content);

/// Reports each look-up of a script, unless its supplier is switched off, that names a table which is not declared.
void generation_check_tables(struct generation_builder *builder, const struct generation_sources *sources,
                             const struct script_set *set);
