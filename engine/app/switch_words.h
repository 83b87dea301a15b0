/// Switch words: what operators are told of switches: in answers, events and the log.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include "app/switch_desk.h"
#include "model/catalogue.h"

/// The sentence of the event: what was done, by whom, until when and why; what is in force now is known.
void switch_words_of(const struct switch_request *request, uint64_t now_us, uint64_t wall_us, struct failure *sentence);
void switch_words_of_over(const struct switch_item *over, struct failure *sentence);
/// Those that were kept over a restart.
void switch_words_of_start(const struct switch_item *items, size_t count, struct failure *sentence);

/// Fills `request->because`: nobody is called so; what was meant?
void switch_words_on_stranger(struct switch_request *request, const struct catalogue *catalogue);
void switch_words_on_strange_account(struct switch_request *request, const struct catalogue_supplier *supplier);
/// Of `enable`: why it may not be asked all the same. `supplier` NULL: it is gone.
void switch_words_on_enabled(struct switch_request *request, const struct catalogue_supplier *supplier, bool is_back,
                             bool is_off_still);

/// Of `disable` and `drain`, when nobody would ask it anyway.
void switch_words_on_disabled(struct switch_request *request, const struct catalogue_supplier *supplier);

/// The field `kept`.
void switch_words_write_kept(const struct switch_keeping *keeping, struct json_writer *json);
/// The answer to a request that was done.
void switch_words_write(const struct switch_request *request, uint64_t now_us, uint64_t wall_us,
                        struct json_writer *json);
